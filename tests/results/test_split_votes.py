"""What a run comes to, beyond the scores: words that rounds spell in two ways."""

import pytest

from sci_book.results.records import Records, build_table
from sci_book.results.summary import split_votes, summarise_run
from tests.rows import sample

ROUNDS = ["original", "V1", "black"]


def records_of(*answers):
    """A row for each list of texts, one a round; None for a row with an error."""
    rows = []
    for place, texts in enumerate(answers):
        row = sample(place, question_type="short", error=None if texts else "RowError")
        for name, text in zip(ROUNDS, texts or (), strict=False):
            row |= {f"tokens:{name}": [1], f"text:{name}": text, f"parsed:{name}": "yes"}
        rows.append(row)
    stamp = {"rounds": ROUNDS, "methods": [], "max_new_tokens": 8, "datasets": {"made up": ""}}
    return Records(build_table(rows, ROUNDS), stamp, {})


@pytest.mark.parametrize(
    "texts",
    [
        ("Yes", " Yes", "No"), ("yes", "No", "Yes"), ("\nA cat", "B", "A dog"),
        ("yes, it is", "Yes.", "yes"), (" B. red", "B", "b"), ("Ja", "ja", "nein"),
        ("ÉTÉ", "été", ""), (" 3", "3", "4"),
    ],
)  # fmt: skip
def test_one_word_in_two_spellings_splits_a_vote(texts):
    assert split_votes(records_of(texts, ("no", "no", "yes"))).tolist() == [True, False]


@pytest.mark.parametrize(
    "texts",
    [
        ("Yes", "Yes", "Yes"), ("Yes", "No", "maybe"), ("yes, it is", "yes.", "yes"), ("", "", ""),
        ("A cat", "A dog", "B"), ("yes", "yesterday", "y"), ("是", "是的", "不"), ("(A)", "A", "B"),
        None,
    ],
)  # fmt: skip
def test_different_words_and_equal_ones_split_none(texts):
    assert split_votes(records_of(texts)).tolist() == [False]


def test_the_summary_of_a_run_counts_split_votes():
    records = records_of(("Yes", " yes", "no"), ("no", "no", "no"), ("a", "A", "A"), None)
    summary = summarise_run(records, ["base"])
    assert summary.as_json()["split_votes"] == 2
    assert any("in 2 of 3 rows (66.7%) rounds begin alike" in line for line in summary.lines())
    plain = summarise_run(records_of(("no", "no", "yes")), ["base"])
    assert plain.as_json()["split_votes"] == 0 and len(plain.lines()) == 1
