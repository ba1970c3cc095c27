"""Which questions a page shows, and what it says where a model has none of a kind."""

import numpy as np
import pytest

from sci_book.papers.sci.chapters import examples
from sci_book.results.drbench import split, subsets
from tests.report.drawn_records import drawn_records

CHOICE = ("tiny_mmbench_en", "tiny_mmstar")


@pytest.fixture(scope="module")
def records():
    return drawn_records("m", spoilt=(3,))


def places(records, *masks):
    """Names of the test rows in all masks, in order."""
    rows = np.flatnonzero(np.logical_and.reduce(masks) & (split(records) == "test"))
    return [(records.frame["dataset"][row], int(records.frame["index"][row])) for row in rows]


def test_the_first_of_each_kind_that_the_method_answers_rightly(records):
    sets, right = subsets(records), records.correct("SCI5")
    choice = records.frame["dataset"].isin(CHOICE).to_numpy()
    found = examples.multiple_choice(records, "SCI5")
    assert found.rows == {
        "biased": places(records, sets["B"], choice, right)[0],
        "sensitive": places(records, sets["S∖B"], choice, right)[0],
    }
    assert found.missing == []


def test_of_what_the_method_answers_wrongly_the_first_such_row_is_taken(records):
    sets, right = subsets(records), records.correct("SCI5")
    wrong = records.take(~(right & (sets["B"] | sets["S∖B"]).to_numpy()))
    sets, choice = subsets(wrong), wrong.frame["dataset"].isin(CHOICE).to_numpy()
    found = examples.multiple_choice(wrong, "SCI5")
    assert found.rows["biased"] == places(wrong, sets["B"], choice)[0]


def test_a_kind_without_a_row_is_said_and_an_ordinary_question_stands_in(records):
    sets = subsets(records)
    one = records.take(~sets["B"].to_numpy())
    found = examples.multiple_choice(one, "SCI5")
    assert list(found.rows) == ["sensitive"]
    assert found.missing == [
        "No test row is both biased and multiple choice with this model: no such question is shown."
    ]
    neither = records.take((sets["all"] & ~sets["BS"]).to_numpy())
    found = examples.multiple_choice(neither, "SCI5")
    choice = neither.frame["dataset"].isin(CHOICE).to_numpy()
    assert found.rows == {"ordinary": places(neither, choice)[0]}
    assert all(text.startswith("No test row is both ") for text in found.missing[:2])
    assert found.missing[2] == "The first multiple-choice test row stands in."


def test_without_multiple_choice_there_is_no_question():
    found = examples.multiple_choice(drawn_records("m", datasets=("tiny_mme",)), "SCI5")
    assert found.rows == {} and len(found.missing) == 2
