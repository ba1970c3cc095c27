"""MetaVQA's relations hold of an oracle, and two rankings agree as far as they do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.stats import kendalltau

from sci_book.papers.metara.metavqa import around, compositions, split, violated
from sci_book.papers.metara.overlay import Box
from sci_book.papers.metara.ranking import agreement, tau_b
from sci_book.papers.metara.relations import Original, Thing
from tests.soak import examples

COLOURS = {"cow": (150, 80, 20), "boat": (250, 250, 250), "cup": (20, 40, 220)}
PLURALS = {"cow": "cows", "boat": "boats", "cup": "cups"}


def picture(cells):
    """96 x 96, with things of 20 x 20 in given cells of a 3 x 3 grid: {cell: kind}."""
    pixels = np.full((96, 96, 3), 60, np.uint8)
    things = []
    for cell, kind in cells.items():
        top, left = cell // 3 * 32 + 6, cell % 3 * 32 + 6
        pixels[top : top + 20, left : left + 20] = COLOURS[kind]
        things.append(Thing(kind, PLURALS[kind], Box(left, top, left + 20, top + 20)))
    absent = (Thing(k, PLURALS[k], Box(0, 0, 1, 1)) for k in COLOURS if k not in cells.values())
    return asked(Image.fromarray(pixels), things, absent)


def asked(image, boxes, absent=()):
    return Original("a", image, "Who?", "me", boxes=tuple(boxes), absent=tuple(absent))


def oracle(image, question):
    """Counts the pixels of each kind's colour."""
    pixels = np.asarray(image)
    for kind, colour in COLOURS.items():
        if kind in question:
            count = round((pixels == colour).all(axis=2).sum() / 400)
            if question.startswith("How many"):
                return str(count)
            if question.startswith("Is there"):
                return "yes" if count else "no"
            return kind + " colour" if count else None
    raise AssertionError(question)


cells = st.dictionaries(st.integers(0, 8), st.sampled_from(sorted(COLOURS)), min_size=1, max_size=6)


@examples(40)
@given(cells)
def test_an_oracle_violates_nothing(chosen):
    found = compositions(picture(chosen))
    assert sum(c.relation == "count" for c in found) == 3  # every kind, present or not
    types = {"count": "number", "existence": "yesno", "colour": "short"}
    for composed in found:
        whole, *parts = (oracle(i, composed.question) for i in composed.images)
        assert not violated(composed.relation, whole, parts), composed
        assert composed.question_type == types[composed.relation]


@examples(40)
@given(cells)
def test_a_cut_crosses_no_thing_and_loses_no_pixel(chosen):
    original = picture(chosen)
    first, second = split(original.image, [thing.box for thing in original.boxes])
    assert first.width * first.height + second.width * second.height == 96 * 96
    glued = np.concatenate(
        [np.asarray(first), np.asarray(second)], axis=1 if first.height == 96 else 0
    )
    assert np.array_equal(glued, np.asarray(original.image))


def test_pictures_without_a_cut_have_no_composition_of_sides():
    image = picture({4: "cow"}).image
    whole = Thing("cow", "cows", Box(2, 2, 94, 94))
    assert split(image, [whole.box]) is None
    assert compositions(asked(image, [whole])) == []  # nor is a crop of nearly all of it
    assert around(image, Box(0, 0, 6, 6)) is None


@pytest.mark.parametrize(
    ("relation", "whole", "parts", "expected"),
    [
        ("count", "3", ["1", "2"], False), ("count", "2", ["2", "2"], True),
        ("count", "2.0", ["2", "0"], False), ("count", None, ["1", "1"], True),
        ("existence", "yes", ["no", "yes"], False), ("existence", "yes", ["yes", "yes"], False),
        ("existence", "yes", ["no", "no"], True), ("existence", "no", ["no", "yes"], True),
        ("existence", "no", ["no", None], True), ("colour", "red", ["red"], False),
        ("colour", "red", ["blue"], True),
    ],
)  # fmt: skip
def test_composition_at_known_answers(relation, whole, parts, expected):
    assert violated(relation, whole, parts) is expected


def test_composition_of_what_is_none_is_refused():
    with pytest.raises(ValueError, match="no relation 'place'"):
        violated("place", "a", ["a"])
    with pytest.raises(ValueError, match="1 parts came for count"):
        violated("count", "1", ["1"])


# --- rankings ------------------------------------------------------------------------------------


@examples(60)
@given(st.data(), st.integers(2, 7))
def test_tau_is_scipys(data, models):
    values = st.lists(st.integers(0, 4), min_size=models, max_size=models)
    first, second = (np.array(data.draw(values), float) for _ in range(2))
    expected = kendalltau(first, second).statistic
    found = tau_b(first[:, None], second[:, None])
    np.testing.assert_allclose(found, [expected], atol=1e-12)


def frame(p, seed, groups=150):
    lot = np.random.default_rng(seed)
    return pd.DataFrame(
        {"group": [f"g{i}" for i in range(groups)], "value": (lot.random(groups) < p) * 1.0}
    )


def test_rankings_that_agree_and_that_do_not():
    rates = {"m1": 0.05, "m2": 0.3, "m3": 0.55, "m4": 0.8}
    first = {name: frame(p, 1) for name, p in rates.items()}
    same = agreement(first, {name: frame(p, 2) for name, p in rates.items()})
    assert same.tau.estimate == 1 and np.isnan(same.tau.low)  # the same in every draw
    assert same.p == pytest.approx(1 / 12) and same.undefined == 0
    assert same.first == same.second == {"m1": 1, "m2": 2, "m3": 3, "m4": 4}
    turned = agreement(first, {name: frame(1 - p, 2) for name, p in rates.items()})
    assert turned.tau.estimate == -1 and np.isnan(turned.tau.high)
    alike = {name: frame(0.5, number) for number, name in enumerate(rates)}
    unsure = agreement(first, alike)
    assert unsure.tau.low < unsure.tau.estimate <= unsure.tau.high
    assert unsure.tau.high - unsure.tau.low > 0.6


def test_ties_and_missing_models():
    first = {"a": frame(0.2, 0), "b": frame(0.2, 0)}
    tied = agreement(first, first)
    assert np.isnan(tied.tau.estimate) and tied.undefined == 1
    assert tied.first == tied.second == {"a": 1.5, "b": 1.5}
    three = {"a": frame(0.2, 0), "b": frame(0.1, 0), "c": frame(0.2, 0)}
    assert agreement(three, three).first == {"a": 2.5, "b": 1, "c": 2.5}
    with pytest.raises(ValueError, match="same two or more models"):
        agreement(first, {"a": first["a"]})
    with pytest.raises(ValueError, match="b has no row"):
        agreement(first, {"a": first["a"], "b": first["b"].iloc[:0]})
