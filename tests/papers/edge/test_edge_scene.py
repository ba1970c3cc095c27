"""What a pocket caption says, and why an answer about a pocket scene is wrong."""

import pytest

from sci_book.papers.edge.scene import described, exact, label_caption, label_question
from sci_book.pocket import edge

CAPTION = "2 brown crabs, 3 orange buses and a sign with 7 in a kitchen."


def test_a_caption_is_taken_apart():
    found = described(CAPTION)
    assert found.things == {"crab": (2, "brown"), "bus": (3, "orange")}
    assert (found.sign, found.place) == ("7", "kitchen")
    assert described("1 orange bus at the sea.").things == {"bus": (1, "orange")}


def test_every_true_caption_has_the_form():
    for number in range(30):
        text = edge.caption(number).answer
        assert described(text) is not None, text
        assert exact(text.lower(), text)


@pytest.mark.parametrize("text", ["", "no", "2 red cows", "1 red cow and 2 red cows in a field."])
def test_other_texts_are_no_captions(text):
    assert described(text) is None and not exact(text, text)


def test_order_does_not_matter_and_every_detail_does():
    other = "3 orange buses, a sign with 7 and 2 brown crabs in a kitchen."
    assert exact(other, CAPTION)
    for change in (("2 brown", "3 brown"), ("2 brown", "2 black"), ("kitchen", "garden")):
        assert not exact(CAPTION.replace(*change), CAPTION)


@pytest.mark.parametrize(
    ("family", "truth", "said", "unseen", "expected"),
    [
        ("count", "2", "3", "3", "D"),  # the paper's order: D before all
        ("position", "top", "left", "x", "D"),
        ("colour", "red", "blue", "Blue.", "C"),
        ("colour", "red", "blue", "green", "B"),
        ("existence", "yes", "no", "yes", "A"),
        ("content", "red cow", "red cat", "x", "A"),
        ("content", "red cow", "blue cow", "x", "B"),
        ("unheard of", "a", "b", "x", "E"),
        ("colour", "red", "", "x", "B"),
    ],
)
def test_a_wrong_answer_has_the_label_that_the_scene_gives(family, truth, said, unseen, expected):
    assert label_question(family, truth, said, unseen) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("2 brown", "3 brown"), "D"),
        (("brown", "black"), "B"),
        (("kitchen", "garden"), "B"),
        (("sign with 7", "sign with K"), "B"),
        (("crabs", "boats"), "A"),
        ((", 3 orange buses", ""), "A"),
        ((" in a kitchen.", ""), "E"),
    ],
)
def test_a_wrong_caption_has_the_label_that_the_scene_gives(change, expected):
    said = CAPTION.replace(*change)
    assert said != CAPTION
    assert label_caption(CAPTION, said, "1 cat") == expected
    if expected != "E":
        assert label_caption(CAPTION, said, said.upper()) == "C"
