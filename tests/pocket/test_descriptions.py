"""Pictures to describe: each is another one, its truth can be read, and so can what is said."""

import pytest

from sci_book.data.datasets import load_dataset
from sci_book.data.objects import Objects
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.pocket.descriptions import SCENES, judged, phrases
from sci_book.pocket.world import KINDS

TRUTH = "3 red buses, 1 white sheep and a sign with K in a street."
BUS = {"kind": True, "number": True, "colour": True}
SIGN = {"kind": True, "symbol": True}
NOT_THERE = {"kind": False}


def test_every_picture_has_a_truth_whose_objects_are_known():
    draw_pocket("pocket_descriptions")
    dataset = load_dataset("pocket_descriptions")
    assert len(dataset) == len({row.image_hash for row in dataset}) == SCENES == 750
    assert sorted(dataset.objects) == sorted([*KINDS, "sign"])
    objects = Objects(dataset.objects)
    for row in dataset:
        told = objects.named_in(row.answer)
        assert len(told) == len(set(told)) == row.answer.count(",") + row.answer.count(" and ") + 1
        verdicts = judged(row.answer, row.answer)
        assert len(verdicts) == len(told) + 1 and all(all(each.values()) for each in verdicts)
        assert [phrase.what for phrase in phrases(row.answer)] == [*told, "place"]


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        (TRUTH, [BUS, BUS, SIGN, {"place": True}]),
        (
            "1 WHITE sheep, a sign with k and 3 red bus in a street",
            [BUS, SIGN, BUS, {"place": True}],
        ),
        ("2 red buses at the sea", [BUS | {"number": False}, {"place": False}]),
        ("3 blue buses and a sign with S", [BUS | {"colour": False}, SIGN | {"symbol": False}]),
        ("3 red cars, 3 red buses, 3 red buses", [NOT_THERE, BUS, BUS]),
        ("3 redbuses, 3 red busess, three red buses, red buses, a sign with no letter", []),
        ("", []),
    ],
)
def test_a_phrase_is_judged_in_all_that_it_says(text, verdicts):
    assert judged(text, TRUTH) == verdicts


def test_what_the_truth_does_not_have_is_wrong_in_its_kind():
    said = "2 cats, 1 red cat and a sign with E in a garden."
    assert judged(said, "1 black cup.") == [NOT_THERE, NOT_THERE, {"place": False}]
