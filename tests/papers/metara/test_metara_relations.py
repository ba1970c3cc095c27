"""Relations of MetaRA: which cases a relation makes, and what it refuses by name."""

from collections import Counter
from functools import partial

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_book.papers.metara import benign, local, style
from sci_book.papers.metara.pictures import Refused, apply, random_of
from sci_book.papers.metara.relations import (
    OPERATIONS,
    RELATIONS,
    Operation,
    Original,
    make_cases,
)
from tests.papers.metara.metara_pictures import box_on_blue, mask_of, pixels_of, refusal, rng, seeds
from tests.soak import examples

# --- refusals of pictures and masks --------------------------------------------------------------


def test_a_transform_that_leaves_an_empty_picture_is_refused():
    image = Image.fromarray(pixels_of(0))
    for transform, factor in (
        (benign.brightness, 0), (benign.brightness, 1e6), (benign.scale, 0.01),
    ):  # fmt: skip
        assert refusal(apply, partial(transform, factor=factor), image) == "empty picture"
    with pytest.raises(Refused, match="0 x 5"):
        apply(benign.brightness, Image.new("RGB", (0, 5)))
    plain = Image.new("RGB", (8, 8), "navy")  # of one colour before: nothing is lost
    assert apply(lambda pixels: pixels, plain).tobytes() == plain.tobytes()
    assert refusal(apply, partial(benign.scale, factor=1e4), image) == "picture's size"


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        (np.zeros((32, 40), bool), "empty mask"),
        (np.ones((32, 40), bool), "full mask"),
        (np.ones((40, 32), bool), "mask does not fit"),
        (np.ones((32, 40), np.uint8), "mask does not fit"),
    ],
    ids=["none", "all", "turned", "numbers"],
)
def test_masks_that_mark_nothing_or_all_are_refused(mask, reason):
    for transform, *rest in (
        (local.shade, 0.1), (local.texture, 0.1, rng()), (local.occlusion, 0.1, rng()),
        (style.new_background, rng()),
    ):  # fmt: skip
        assert refusal(transform, pixels_of(0), mask, *rest) == reason
    for plain in (np.full((32, 40, 3), 9, np.uint8), pixels_of(0)[:3, :3]):
        assert refusal(local.segment, plain) == "no region found"


@pytest.mark.parametrize(
    ("transform", "arguments"),
    [
        (benign.brightness, (-1,)), (benign.rotation, (float("nan"),)),
        (benign.scale, (float("inf"),)), (local.shade, (mask_of(0), -2)),
        (style.stylisation, (1.5,)), (style.colour_transfer, (np.zeros((0, 2, 3)), 1.0)),
    ],
)  # fmt: skip
def test_amounts_that_mean_nothing_are_errors(transform, arguments):
    with pytest.raises(ValueError, match="expected"):
        transform(pixels_of(0), *arguments)


MODES = ("RGB", "L", "RGBA", "P", "CMYK", "1", "LA", "I;16")


@examples(60)
@given(
    st.tuples(st.integers(1, 60), st.integers(1, 60)), st.sampled_from(MODES),
    st.sampled_from(OPERATIONS), st.booleans(), seeds,
)  # fmt: skip
def test_any_picture_gives_a_picture_or_a_named_refusal(size, mode, operation, masked, seed):
    values = rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    image = Image.fromarray(values).convert("L" if mode == "I;16" else mode)
    image = image.convert("I;16") if mode == "I;16" else image
    things = rng(seed).random((size[1], size[0])) < 0.4 if masked else None
    asked = Original("a", image, "What is it?", "noise", things=things)
    try:
        found = edited(operation, asked, seed)
    except Refused as refused:
        assert refused.reason and str(refused)
    else:
        assert found.mode == "RGB" and min(found.size) >= 1
        assert edited(operation, asked, seed).tobytes() == found.tobytes()


def edited(operation, asked, seed=0):
    return apply(partial(operation.edit, asked, rng(seed)), asked.image)


def test_pixels_do_not_depend_on_opencvs_threads():
    image = Image.fromarray(pixels_of(0, (150, 130)))
    asked = Original("a", image, "What is it?", "noise", things=mask_of(0, (150, 130)))
    operations = [operation for operation in OPERATIONS if operation.name != "text"]
    threads, found = cv2.getNumThreads(), []
    try:
        for count in (1, 2, 3):
            cv2.setNumThreads(count)
            found.append([edited(operation, asked).tobytes() for operation in operations])
    finally:
        cv2.setNumThreads(threads)
    assert found[0] == found[1] == found[2]


# --- relations -----------------------------------------------------------------------------------


def original(key="a", seed=0, **fields):
    values = {
        "question": "How many cows are there?",
        "answer": "2",
        "things": mask_of(seed, (96, 80)),
    }
    picture = Image.fromarray(pixels_of(seed, (96, 80)))
    return Original(key, picture, **(values | fields))


def reasons(cases):
    return Counter((refusal.relation, refusal.reason) for refusal in cases.refusals)


def test_every_relation_has_operations_and_every_case_its_relation():
    assert {operation.relation for operation in OPERATIONS} == set(RELATIONS)
    asked = np.zeros((80, 96), bool)
    asked[30:50, 30:60] = True
    found = make_cases([original(asked=asked)], 4)
    assert not found.refusals
    assert Counter(case.relation for case in found.cases) == dict.fromkeys(RELATIONS, 4)
    names = {operation.name: operation.relation for operation in OPERATIONS}
    assert all(names[case.operation] == case.relation for case in found.cases)
    used = {case.operation for case in found.cases}
    assert used == set(names) - {"mirror"}  # all come in turn
    texts = {case.question for case in found.cases}
    assert "There are how many cows?" in texts and len(texts) == 5


def test_an_originals_cases_do_not_depend_on_the_others():
    alone = make_cases([original("b", 1)], 2, seed=5).cases
    among = make_cases([original("a"), original("b", 1)], 2, seed=5).cases
    mine = [case for case in among if case.original.key == "b"]
    assert [(c.operation, c.question, c.image.tobytes()) for c in alone] == [
        (c.operation, c.question, c.image.tobytes()) for c in mine
    ]
    other = make_cases([original("b", 1)], 2, seed=6).cases
    assert [c.image.tobytes() for c in other] != [c.image.tobytes() for c in alone]


def test_text_rich_pictures_are_mirrored_and_unsafe_operations_left_out():
    found = make_cases([original(text_rich=True, unsafe=("background", "colour transfer"))], 3)
    by = Counter((case.relation, case.operation) for case in found.cases)
    assert by["MR2", "mirror"] == 3 and by["MR3", "stylisation"] == 3
    nothing = make_cases([original(unsafe=("stylisation", "background", "colour transfer"))])
    assert reasons(nothing)["MR3", "no operation"] == 1


def test_refusals_are_counted_and_nothing_takes_their_place():
    crowded = original(asked=np.ones((80, 96), bool))
    mute = original("b", question=" ")
    empty = original("c", things=np.zeros((80, 96), bool))
    foreign = original("d", texts=("مرحبا",))
    vanishing = Operation("scale", "MR1", lambda one, lot, pixels: benign.scale(pixels, 0.001))
    found = make_cases([crowded, mute, empty, foreign], operations=(vanishing, *OPERATIONS[3:]))
    assert len(found.cases) + len(found.refusals) == 16
    counted = reasons(found)
    assert counted["MR1", "empty picture"] == 3 and counted["MR2", "empty mask"] == 1
    assert counted["MR4", "no free place"] == counted["MR4", "glyph is missing"] == 1
    assert all(counted[relation, "no question"] == 1 for relation in RELATIONS)
    with pytest.raises(ValueError, match="0 cases a relation"):
        make_cases([mute], 0)


def test_without_a_mask_the_region_is_segmented():
    pixels = box_on_blue((96, 80), (30, 24, 66, 58))
    bare = Original("a", Image.fromarray(pixels), "What is it?", "a box")
    local_edits = [op for op in OPERATIONS if op.relation == "MR2"]
    (case,) = make_cases([bare], operations=local_edits).cases
    changed = (np.asarray(case.image) != pixels).any(axis=2)
    assert changed.any() and not changed[:10].any() and not changed[:, :15].any()


def test_random_numbers_depend_on_their_names_alone():
    names = ((1, "a"), (1, "b"), ("1a",), (2, "a"), (1, "a"))
    assert len({random_of(*each).random() for each in names}) == 4
