"""Sequences in several orders: every order whole, the sheet faithful, the variance what it is."""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_book.papers.metara.order import HEADER, SHEET, about, order_rates, orders, sheet, turns
from tests.papers.metara.metara_pictures import refusal
from tests.soak import examples

COLOURS = ("red", "green", "blue", "yellow", "navy", "teal")


def pictures(count, size=(12, 9)):
    return [Image.new("RGB", (size[0] + n, size[1]), COLOURS[n % 6]) for n in range(count)]


@given(st.integers(1, 5), st.integers(1, 30), st.integers(0, 99))
def test_orders_are_different_permutations_natural_first(size, count, seed):
    found = orders(size, count, np.random.default_rng(seed))
    assert found[0] == tuple(range(size))
    assert len(found) == len(set(found)) == min(count, factorial(size))
    assert set(found) <= set(permutations(range(size)))
    if count >= factorial(size):
        assert set(found) == set(permutations(range(size)))


def test_every_case_is_asked_once_in_every_order_at_its_place():
    images = pictures(4)
    asked = turns(images, [f"q{n}?" for n in range(4)], key="a", count=3)
    assert len(asked) == 12
    for turn in asked:
        assert turn.images[turn.position] is images[turn.case]
        assert turn.question == f"About picture {turn.position + 1} of 4: q{turn.case}?"
    assert [(t.order, t.case) for t in asked] == [(o, c) for o in range(3) for c in range(4)]
    again = turns(images, ["q?"] * 4, key="a", count=3)
    assert [t.position for t in again] == [t.position for t in asked]
    assert about("几头牛？", 1, 3) == "关于第2张图：几头牛？" and about("Who?", 0, 1) == "Who?"
    with pytest.raises(ValueError, match="2 pictures and 1 questions"):
        turns(images[:2], ["q?"], key="a", count=3)


@examples(20)
@given(st.integers(1, 9))
def test_a_sheet_shows_every_picture_at_its_own_size(count):
    images = pictures(count)
    found = np.asarray(sheet(images))
    for image, colour in zip(images, COLOURS * 2, strict=False):
        same = (found == np.asarray(Image.new("RGB", (1, 1), colour))).all(axis=2)
        mine = [i for i in images if i.getpixel((0, 0)) == image.getpixel((0, 0))]
        assert same.sum() == sum(i.width * i.height for i in mine)
    flipped = np.asarray(sheet(images[::-1]))
    assert flipped.shape == found.shape
    assert count == 1 or not np.array_equal(found, flipped)
    outside = np.ones(found.shape[:2], bool)
    outside &= ~(found == SHEET).all(axis=2)
    assert outside[:HEADER].any()  # a number is written above


def test_sheets_too_large_and_of_nothing_are_refused():
    assert refusal(sheet, [Image.new("1", (8000, 8000))] * 2) == "picture's size"
    with pytest.raises(ValueError, match="at least one"):
        sheet([])


# --- models ---------------------------------------------------------------------------------------


def of_the_picture(images, question):
    """Answers by the picture asked about alone: invariant to order."""
    number = int(question.split()[2]) - 1 if question.startswith("About") else 0
    return COLOURS[images[number].width % 6]


def of_the_first(images, question):
    """Answers by whatever stands first."""
    return COLOURS[images[0].width % 6]


def asked_of(answer, count=4, orders=6):
    frames = []
    for key in "abcdefgh":
        asked = turns(pictures(count), ["what?"] * count, key=key, count=orders)
        truth = COLOURS[pictures(1)[0].width % 6]
        said = [answer(turn.images, turn.question) for turn in asked]
        frame = pd.DataFrame({"original": key, "group": key, "answer": said,
                              "order": [turn.order for turn in asked],
                              "case": [turn.case for turn in asked]})  # fmt: skip
        frames.append(frame.assign(failed=frame["answer"] != truth))
    return pd.concat(frames, ignore_index=True)


def test_a_model_that_ignores_the_order_has_no_order_variance():
    frame = asked_of(of_the_picture)
    found = order_rates(frame)
    assert found.variance.estimate == 0 and np.isnan(found.variance.low)  # all alike: no bounds
    assert found.changed.estimate == found.changed.low == 0 < found.changed.high  # but of a share
    assert found.failed.estimate == 1  # pictures 1 to 3 are of other widths than the truth's


def test_a_model_that_answers_by_the_first_picture_has_all_of_it():
    found = order_rates(asked_of(of_the_first, orders=24))  # all orders of four
    assert found.failed.estimate == pytest.approx(0.75)  # wrong unless the original is first
    assert found.variance.estimate == pytest.approx(0.75 * 0.25)
    assert found.changed.estimate == 1
    assert found.failed.n == found.failed.clusters == 8


def test_without_a_sequence_the_variance_is_zero_by_construction():
    alone = asked_of(of_the_first, orders=1)
    assert order_rates(alone).variance.estimate == 0


def test_unknown_answers_are_failures_and_one_answer():
    found = order_rates(asked_of(lambda images, question: None))
    assert found.failed.estimate == 1 and found.changed.estimate == 0


def test_frames_with_missing_turns_are_refused():
    frame = asked_of(of_the_first)
    with pytest.raises(ValueError, match="Every order holds every case"):
        order_rates(frame.drop(index=frame.index[5]))
