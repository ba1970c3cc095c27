"""DRBench's sets against a truth table made by hand, the two quantifiers apart."""

import numpy as np
import pytest

from sci_book.results import drbench
from sci_book.results.records import Records, build_table
from tests.rows import answers, sample

ROUNDS = ["original", "V1", "V2", "black", "noise500"]


def records_of(rows, question_type="mcq"):
    """Records of samples given as (truth, original, V1, V2, black, noise500); texts = answers."""
    built = []
    for place, (truth, *given) in enumerate(rows):
        row = sample(place, group=f"x:{place // 2}", question_type=question_type, truth=truth)
        row |= {"options": "ABCD", "error": "RowError" if truth == "error" else None}
        built.append(row | answers(dict(zip(ROUNDS, given, strict=True))))
    stamp = {"rounds": ROUNDS, "methods": [], "datasets": {"x": ""}}
    return Records(build_table(built, ROUNDS), stamp, {})


# truth, original, V1, V2, black, noise500 -> B any, B all, S any, S all, L any, L all
TABLE = [
    ("A", "A", "A", "A", "A", "A", 0, 0, 0, 0, 1, 1),  # right, and the prior says the same
    ("A", "B", "B", "B", "B", "B", 1, 1, 0, 0, 1, 1),  # biased under both dummies
    ("A", "B", "B", "B", "B", "C", 1, 0, 0, 0, 1, 0),  # under one
    ("A", "B", "B", "B", "C", "D", 0, 0, 0, 0, 0, 0),  # wrong, but not blindly
    ("A", "A", "C", "A", "B", "D", 0, 0, 1, 0, 0, 0),  # one rewrite changes it
    ("A", "A", "C", "D", "A", "D", 0, 0, 1, 1, 1, 0),  # both do; right, and one dummy agrees
    ("A", "B", "C", "A", "B", "D", 1, 0, 1, 1, 1, 0),  # biased and sensitive
    ("A", None, None, None, None, None, 0, 0, 1, 1, 0, 0),  # unknowns are equal to nothing
    ("A", "B", None, "B", None, "B", 1, 0, 1, 0, 1, 0),
    ("A", None, "A", "A", "A", "A", 0, 0, 1, 1, 0, 0),
    ("error", None, None, None, None, None, 0, 0, 0, 0, 0, 0),
]


@pytest.mark.parametrize(("quantifier", "column"), [("any", 0), ("all", 1)])
def test_sets_match_the_truth_table(quantifier, column):
    sets = drbench.subsets(records_of([row[:6] for row in TABLE]), quantifier)
    B, S, L = (np.array([row[6 + 2 * k + column] for row in TABLE], bool) for k in range(3))
    ok = np.array([row[0] != "error" for row in TABLE])
    expected = {
        "all": ok, "B": B, "S": S, "BS": B | S, "S∖B": S & ~B, "S∩L": S & L, "S∖L": S & ~L,
        "outside BS": ok & ~(B | S),
    }  # fmt: skip
    assert tuple(sets.columns) == drbench.SUBSETS
    for name, members in expected.items():
        np.testing.assert_array_equal(sets[name], members, err_msg=name)


def test_the_raw_prefix_comparison_finds_the_rows_it_must():
    rows = [
        ("yes", "no", "no.", "no", "no", "No"),  # "no" and "no." differ, "No" and "no" agree
        ("cat", "dog", "dogs", "dog", "dogs", "bird"),  # "dog" and "dogs" agree
        ("1", "10", "10", "10", "10", "10"),  # "1" matches "10": the base is right
    ]
    sets = drbench.subsets(records_of(rows, "short"), comparison="raw_prefix")
    assert sets["B"].tolist() == [True, True, False]
    assert sets["S"].tolist() == [True, False, False]


def test_raw_prefix_drops_undelimited_letters_from_bias_only():
    rows = [("A", "Because", "B", "B", "B", "B"), ("A", "B. red", "B", "B", "B", "B")]
    sets = drbench.subsets(records_of(rows), comparison="raw_prefix")
    assert sets["B"].tolist() == [False, True]


def test_paper_split_leaves_the_papers_sizes():
    sizes = {4876: 3900, 2040: 1632, 1500: 1200, 2374: 1899, 900: 720}
    for rows, test in sizes.items():
        assert sum(place % 5 != 0 for place in range(rows)) == test == rows * 8 // 10
    for start in range(1, 5):  # every other place to begin fails on some data set
        assert any(sum(p % 5 != start for p in range(n)) != t for n, t in sizes.items())
    parts = drbench.split(records_of([("A", *"AAAAA")] * 11))
    assert (parts == "validation").tolist() == [True, *[False] * 4] * 2 + [True]


def test_group_split_keeps_groups_whole():
    parts = drbench.split(records_of([("A", *"AAAAA")] * 400), "groups")
    assert (parts[::2] == parts[1::2]).all()
    assert 0.1 < (parts == "validation").mean() < 0.3


def test_misspelt_variants_are_named():
    records = records_of([("A", *"AAAAA")])
    with pytest.raises(ValueError, match="no comparison 'raw'"):
        drbench.subsets.__wrapped__(records, comparison="raw")
    with pytest.raises(ValueError, match="no quantifier 'some'"):
        drbench.construct.__wrapped__(np.ones((1, 1)), np.ones((1, 1)), np.ones(1), "some")
