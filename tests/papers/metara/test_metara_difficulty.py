"""The difficulty's parts, its formula, and the number of cases that grows with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_book.papers.metara.difficulty import (
    LEVELS,
    WEIGHTS,
    cases_a_relation,
    count_words,
    difficulty,
    levels,
    word_overlap,
)
from sci_book.papers.metara.relations import Original
from tests.soak import examples

HALVES = Image.fromarray(np.repeat(np.uint8([[[0] * 3, [255] * 3]]), 8, axis=0))


def original(question="Where is the cow?", image=HALVES, **fields):
    return Original("a", image, question, "here", **fields)


def test_entropy_of_known_pictures():
    every = Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16))
    for image, bits in ((Image.new("RGB", (9, 7), "teal"), 0), (HALVES, 1), (every, 8)):
        assert difficulty(original("", image)) == 0.25 * bits / 8 / 0.5


def test_words_are_counted_in_both_languages():
    assert count_words("Where is the cow?") == 4 and count_words("") == 0
    assert count_words("图中有几头牛？") == 3 and count_words("红色的 car") == 3


def test_overlap_with_what_is_known_to_be_there():
    assert word_overlap("Where is the cow?", ("cow", "sea")) == 1
    assert word_overlap("Are the cows brown?", ("cow", "sea")) == 0.5
    assert word_overlap("Where is the cow?", ("boat",)) == 0
    assert word_overlap("What is this?", ("boat",)) is None  # nothing is named
    assert word_overlap("Where is the cow?", ()) is None
    assert word_overlap("牛在哪里？", ("牛",)) == 1 and word_overlap("牛在哪里？", ("船",)) == 0


def test_the_formula_at_known_values():
    known = 0.25 * 1 / 8 + 0.25 * 4 / 30
    assert difficulty(original(words=("boat",))) == pytest.approx(0.5 * 1 + known, abs=1e-15)
    assert difficulty(original(words=("cow",))) == pytest.approx(known, abs=1e-15)
    assert difficulty(original()) == pytest.approx(known / 0.5)
    assert sum(WEIGHTS.values()) == 1


@examples(40)
@given(st.integers(1, 60), st.integers(0, 255))
def test_it_lies_in_0_to_1_and_grows_with_each_part(words, grey):
    image = Image.fromarray(np.uint8([[[0] * 3, [grey] * 3]]))
    found = difficulty(original("word " * words, image, words=("word",)))
    assert 0 <= found <= 1
    assert difficulty(original("word " * words, image, words=("boat",))) >= found
    assert difficulty(original("word " * (words + 1), image, words=("word",))) >= found
    assert difficulty(original("word " * words, HALVES, words=("word",))) >= found


def test_numbers_of_cases_are_known_and_bounded():
    assert [cases_a_relation(d) for d in (0, 0.3, 0.34, 0.66, 0.67, 1)] == [1, 1, 2, 2, 3, 3]
    with pytest.raises(ValueError, match="a number in"):
        cases_a_relation(1.2)


def test_levels_are_thirds_and_equal_scores_are_together():
    assert levels([0.9, 0.1, 0.5]) == ["hard", "easy", "middle"]
    assert levels([0.3] * 5) == ["easy"] * 5 and levels([]) == []
    found = levels(np.linspace(0, 1, 300))
    assert [found.count(level) for level in LEVELS] == [100, 100, 100]
