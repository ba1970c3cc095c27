"""Construction: areas against a raster, bad annotations by name, and what the pairs must obey."""

import json
from collections import Counter
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.data.rows import DatasetError
from sci_book.papers.oric import annotations, questions
from sci_book.papers.oric.annotations import read
from sci_book.papers.oric.areas import split, union_area
from sci_book.papers.oric.construct import DESCRIPTION, build
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.judge import Case, CooccurrenceJudge, Verdict, text_judge
from sci_book.papers.shared.text_model import Completion
from tests.soak import examples
from tests.text_models import ScriptedTextModel

BOXES = st.lists(
    st.tuples(*[st.integers(0, 12)] * 2, *[st.integers(1, 9)] * 2), min_size=1, max_size=8
)


@examples(150)
@given(BOXES)
def test_union_area_is_what_a_raster_counts(boxes):
    raster = np.zeros((24, 24), bool)
    for left, top, width, height in boxes:
        raster[top : top + height, left : left + width] = True
    assert union_area([tuple(map(float, box)) for box in boxes]) == raster.sum()


@examples(60)
@given(BOXES, st.floats(0.01, 50), st.randoms(use_true_random=False))
def test_union_area_scales_and_knows_no_order(boxes, scale, chance):
    boxes = [tuple(map(float, box)) for box in boxes]
    shuffled = list(boxes)
    chance.shuffle(shuffled)
    scaled = [tuple(scale * side for side in box) for box in shuffled]
    assert union_area(scaled) == pytest.approx(scale**2 * union_area(boxes), rel=1e-9)
    assert union_area(boxes + boxes) == union_area(boxes)


def test_objects_at_the_median_are_no_roi():
    assert split({"a": 1.0, "b": 2.0, "c": 3.0}) == (("a",), ("b", "c"))
    assert split({"a": 4.0, "b": 1.0, "c": 3.0, "d": 2.0}) == (("b", "d"), ("a", "c"))
    assert split({"a": 2.0, "b": 2.0}) == ((), ("a", "b"))
    with pytest.raises(ValueError, match="the median of no area"):
        split({})


# --- annotations ---------------------------------------------------------------------------------


def content(pictures, names=("cup", "cow", "car", "cat", "cap")):
    """COCO's format; each picture a list of (category, box)."""
    return {
        "images": [{"id": 10 + i, "file_name": f"{i}.png"} for i in range(len(pictures))],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names, 1)],
        "annotations": [
            {"id": 100 * i + j, "image_id": 10 + i, "category_id": names.index(name) + 1,
             "bbox": list(box), "area": box[2] * box[3] / 2, "iscrowd": 0}
            for i, shown in enumerate(pictures)
            for j, (name, box) in enumerate(shown)
        ],
    }  # fmt: skip


ONE = content([[("cup", (0, 0, 4, 4)), ("cup", (2, 0, 4, 4)), ("cow", (5, 5, 10, 10))]])


def test_boxes_are_clipped_to_the_size_that_a_file_states():
    shown = [("cup", (-2, 1, 4, 4)), ("cow", (5, 5, 10, 10)), ("car", (8, 0, 3, 4)),
             ("cat", (0, 6, 4, 9))]  # fmt: skip
    (picture,) = read(ONE).pictures
    assert picture.areas == {"cup": 24.0, "cow": 100.0}
    assert picture.present == {"cup", "cow"} and not read(ONE).problems
    unstated = content([shown])
    (picture,) = read(unstated).pictures
    assert picture.areas == {"cup": 8.0, "cow": 100.0, "car": 12.0, "cat": 36.0}
    stated = content([shown])
    stated["images"][0] |= {"width": 8, "height": 6}
    found = read(stated)
    assert found.pictures[0].areas == {"cup": 8.0, "cow": 3.0}
    assert found.reasons() == {"box outside the picture": 2}
    assert found.pictures[0].present == {"cup", "cow", "car", "cat"}
    for nonsense in (None, "8", 0, -3, float("nan"), True):
        stated["images"][0] |= {"width": nonsense, "height": nonsense}
        assert read(stated).pictures == read(unstated).pictures


BAD = {
    "missing box": {"bbox": None},
    "box that is not four numbers": {"bbox": [1, 2, 3, "4"]},
    "negative box": {"bbox": [1, 2, -3, 4]},
    "box of no area": {"bbox": [1, 2, 0, 4]},
    "box outside the picture": {"bbox": [-9, 2, 3, 4]},
    "crowd region": {"iscrowd": 1},
    "unknown category": {"category_id": 99},
    "annotation of no picture": {"image_id": 7},
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_annotations_are_counted_by_name(reason):
    bad = json.loads(json.dumps(ONE))
    bad["annotations"][2] |= BAD[reason]
    found = read(bad)
    assert found.reasons() == {reason: 1}
    assert "cow" not in found.pictures[0].boxes
    # What cannot be boxed is in the picture all the same, and never asked about as absent.
    hidden = reason in ("unknown category", "annotation of no picture")
    assert ("cow" in found.pictures[0].present) != hidden


def test_nan_boxes_and_annotations_that_are_none():
    bad = json.loads(json.dumps(ONE).replace("[5, 5, 10, 10]", "[NaN, 5, Infinity, 10]"))
    bad["annotations"].append("cow")
    left_out = read(bad).reasons()
    assert left_out == {"box that is not four numbers": 1, "annotation of no picture": 1}


def test_categories_without_a_name_and_pictures_without_a_file(tmp_path):
    bad = content([[("cup", (0, 0, 4, 4)), ("cow", (0, 0, 4, 4))]] * 5)
    bad["categories"][1]["name"] = "  "
    bad["categories"].append({"id": 1, "name": "twice"})
    bad["images"][1]["file_name"] = "../1.png"
    bad["images"][2]["file_name"] = "0.png"
    del bad["images"][3]["id"]
    (tmp_path / "0.png").touch()
    found = read(bad, tmp_path)
    assert found.reasons() == {
        "category without a name": 1,
        "category without an id of its own": 1,
        "picture outside its folder": 1,
        "picture without an id and a file of its own": 2,
        "missing image": 1,
        "annotation of a category without a name": 1,
        "annotation of no picture": 2,
    }
    assert [picture.name for picture in found.pictures] == ["0.png"]
    assert found.categories == ("cup", "car", "cat", "cap")


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "no readable JSON"), ("[]", "no list 'images'"), (None, "does not exist")],
)
def test_files_that_are_none(text, said, tmp_path):
    if text:
        (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=said):
        annotations.load(tmp_path / "a.json")


# --- judges --------------------------------------------------------------------------------------


def test_text_judge_reads_yes_no_and_neither():
    failure = Completion(None, "HTTP 500")
    model = ScriptedTextModel("Yes.", "No, it is not expected.", "It may be.", failure)
    cases = [Case("vase", ("car", "bottle"))] * 4
    verdicts = text_judge(model)(cases)
    assert [verdict.answer for verdict in verdicts] == ["yes", "no", None, None]
    assert verdicts[2].reason == "the answer is neither yes nor no"
    assert verdicts[3].reason == "HTTP 500"
    assert '["car", "bottle"]' in model.prompts[0] and '"vase"' in model.prompts[0]


def test_cooccurrence_judge_by_hand():
    judge = CooccurrenceJudge([("cow", "field")] * 8 + [("cup", "pot")] * 7 + [("cow", "cup")])
    verdicts = judge(
        [Case("cow", ("field",)), Case("cow", ("pot",)), Case("ufo", ("cup",)), Case("cow", ())]
    )
    assert [verdict.answer for verdict in verdicts] == ["yes", "no", "no", "no"]
    assert CooccurrenceJudge([("cow", "ufo")], own=True).evidence(Case("cow", ("ufo",))) == 0
    own = CooccurrenceJudge([("cow", "field")] * 9 + [("cup", "pot")] * 8, own=True)
    again = CooccurrenceJudge([("cow", "field")] * 8 + [("cup", "pot")] * 8)
    case = Case("cow", ("field",))
    assert own.evidence(case) == again.evidence(case) > 0
    # P(field | cow) = 8.5 / 10 against P(field | no cow) = 0.5 / 8
    assert judge.evidence(Case("cow", ("field",))) == pytest.approx(np.log(0.85 / 0.0625))


# --- pairs ---------------------------------------------------------------------------------------


def says(*verdict):
    """A judge that says the same of every case."""
    return lambda cases: [Verdict(*verdict) for _ in cases]


def world(n, seed=0, width=16):
    """n pictures of 2 to 8 of 20 categories with random boxes, and random vectors."""
    rng = np.random.default_rng(seed)
    names = tuple(f"thing {i}" for i in range(20))
    pictures = [
        [(names[c], tuple(map(float, rng.integers(1, 99, 4)))) for c in rng.choice(20, 2 + i % 7)]
        for i in range(n)
    ]
    found = read(content(pictures, names))
    stored = Stored(
        {picture.name: rng.normal(size=width) for picture in found.pictures},
        {DESCRIPTION.format(object=name): rng.normal(size=width) for name in names},
    )
    return found, stored


def made(found, stored, judge=None, **options):
    return build(found, judge or says("no"), stored, "pictures", **options)


@pytest.fixture(scope="module")
def drawn():
    found, stored = world(300)
    return found, stored, made(found, stored)


def test_labels_are_balanced_and_true(drawn):
    found, _, built = drawn
    assert len(built.pairs) > 50
    for samplings in product(("guided", "random"), repeat=2):
        asked = built.questions(*samplings)
        assert questions.label_counts(asked) == dict.fromkeys(("yes", "no"), 2 * len(built.pairs))
        assert len({(q.image, q.target) for q in asked}) == len(asked)
        for question in asked:
            shown = question.target in found.by_name[question.image].present
            assert shown == (question.label == "yes")


def test_guided_objects_are_those_of_the_paper(drawn):
    found, stored, built = drawn
    vectors = {p.name: stored.images([Path(p.name)])[0] for p in found.pictures}
    taken = set()
    for pair in built.pairs:
        picture = found.by_name[pair.image]
        roi, _ = split(picture.areas)
        assert len(picture.boxes) >= 3 and set(pair.positives["guided"]) <= set(roi)
        distances = {
            name: 1 - float(vectors[pair.image] @ vector)
            for name, vector in vectors.items() if name != pair.image and name not in taken
        }  # fmt: skip
        assert min(distances, key=distances.get) == pair.similar
        taken.add(pair.similar)
        absent = set(found.categories) - found.by_name[pair.similar].present
        scores = {
            name: float(vectors[pair.similar] @ stored.texts([f"an image contains {name}"])[0])
            for name in absent
        }
        assert list(pair.negatives["guided"]) == sorted(scores, key=scores.get)[:-3:-1]


def test_every_picture_is_paired_or_named(drawn):
    found, _, built = drawn
    left_out = [problem.where for problem in built.problems]
    images = [pair.image for pair in built.pairs]
    assert Counter(left_out + images) == Counter(picture.name for picture in found.pictures)
    assert set(built.reasons()) <= {
        "fewer than 3 categories", "fewer than 2 unexpected objects", "no other picture is left",
    }  # fmt: skip


def test_a_seed_says_it_all(drawn):
    found, stored, built = drawn
    assert made(found, stored) == built
    assert made(found, stored, seed=1).pairs != built.pairs
    few = made(found, stored, pairs=7)
    assert few.pairs == built.pairs[:7]
    assert made(found, stored, pairs=3, k=1).pairs[0].positives["guided"] != ()


def test_a_judge_that_says_neither_leaves_nothing_out_unnamed():
    found, stored = world(30)
    built = made(found, stored, says(None, "the answer is neither yes nor no"))
    assert not built.pairs and built.reasons()["judge says neither yes nor no"] > 0


def test_pictures_that_cannot_be_read_are_named():
    found, stored = world(60)

    vectors = stored.images([Path(picture.name) for picture in found.pictures])
    vectors[::2] = np.nan
    half_blind = SimpleNamespace(images=lambda _: vectors, texts=stored.texts)
    built = made(found, half_blind)
    unread = {p.name for p in found.pictures[::2]}
    assert built.reasons()["picture that cannot be read"] == 30
    assert not unread & {name for pair in built.pairs for name in (pair.image, pair.similar)}


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 4}, {"pairs": 0}])
def test_numbers_that_are_too_small(options):
    with pytest.raises(ValueError, match="expected 1 to 3 objects, and 1 or more pairs"):
        made(*world(5), **options)


def test_written_questions_are_in_the_released_format(drawn, tmp_path):
    assert questions.wordings("oven")[0] == "Is there an oven in the image?"
    assert questions.wordings("kite")[3] == "Can you see a kite in the image?"
    *_, built = drawn
    asked = built.questions()
    path = questions.write(asked, tmp_path / "oric.json")
    assert questions.load(path).items == asked and not questions.load(path).problems
    first = json.loads(path.read_text(encoding="utf-8"))[0]
    assert list(first) == ["id", "image", "target_object", "problem", "solution"]


def test_training_questions_are_balanced_and_the_same_again(drawn):
    asked = drawn[-1].questions()
    training = questions.balanced(asked, 40)
    assert questions.label_counts(training) == {"yes": 20, "no": 20}
    assert len(set(training)) == 40 and set(training) <= set(asked)
    assert training == questions.balanced(asked, 40)
    with pytest.raises(ValueError, match="41 training questions, half of each"):
        questions.balanced(asked, 41)


def test_tagged_questions_are_read_and_bad_ones_counted_by_name(tmp_path):
    good = {"id": 1, "image": "a.png", "target_object": "cup", "problem": ["Is there?"],
            "solution": "yes"}  # fmt: skip
    tagged = good | {"problem": "Is there?", "solution": "<SOLUTION>yes</SOLUTION>"}
    rows = [good, tagged, good | {"solution": "maybe"}, good | {"problem": []},
            good | {"image": None}, good | {"target_object": " "}]  # fmt: skip
    (tmp_path / "bad.json").write_text(json.dumps(rows), encoding="utf-8")
    found = questions.load(tmp_path / "bad.json")
    assert found.items == (questions.Question("a.png", "cup", "yes", ("Is there?",)),) * 2
    assert found.reasons() == {
        "answer that is neither yes nor no": 1, "no question": 1, "no picture": 1, "no object": 1,
    }  # fmt: skip
