"""Scores on small cases counted by hand."""

import numpy as np
import pandas as pd
import pytest

from sci_book.results import metrics
from sci_book.results.metrics import Flips, Share

pytestmark = pytest.mark.quick

FRAME = pd.DataFrame(
    {
        "dataset": ["mme"] * 6 + ["vilp"] * 6 + ["en"] * 8,
        "index": [*range(6), *range(6), 1, 1_000_001, 2_000_001, 3_000_001, 2, 1_000_002, 3, 4],
        "group": ["m:0", "m:0", "m:1", "m:1", "m:2", "m:2"]
        + ["v:0"] * 3 + ["v:1"] * 3 + ["e:1"] * 4 + ["e:2"] * 2 + ["e:3", "e:4"],
        "question_type": ["yesno"] * 6 + ["short"] * 6 + ["mcq"] * 8,
        "kind": ["Others"] * 12 + ["MCQ"] * 8,
        "category": ["existence"] * 4 + ["colour"] * 2 + [""] * 14,
        "error": [None] * 19 + ["RowError"],
    }
)  # fmt: skip
CORRECT = np.array([1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0], dtype=bool)


def test_accuracy_by_kind_and_without_rows():
    everything = np.ones(20, dtype=bool)
    found = metrics.accuracy(CORRECT, FRAME["kind"].to_numpy(), everything)
    assert found == {"MCQ": Share(6, 8), "Others": Share(7, 12), "Overall": Share(13, 20)}
    nothing = metrics.accuracy(CORRECT, FRAME["kind"].to_numpy(), ~everything)
    assert nothing["MCQ"] == Share(0, 0) and nothing["MCQ"].value is None
    half = np.where(np.arange(20) < 12, np.nan, 0.5)
    assert metrics.accuracy(half, FRAME["kind"].to_numpy(), everything)["Overall"] == Share(4, 8)


def test_accuracy_table_is_long_and_clustered():
    subsets = pd.DataFrame({"all": np.ones(20, bool), "none": np.zeros(20, bool)})
    table = metrics.accuracy_table({"base": CORRECT}, FRAME, subsets)
    assert len(table) == 6
    line = table[(table["subset"] == "all") & (table["question_type"] == "MCQ")].iloc[0]
    assert line["value"] == pytest.approx(75.0) and (line["n"], line["clusters"]) == (8, 4)
    assert line["low"] <= 75 <= line["high"]
    assert (table[table["subset"] == "none"]["n"] == 0).all()


def test_flips_are_counted_on_the_chosen_rows():
    base = np.array([1, 1, 0, 0, 1], dtype=bool)
    new = np.array([1, 0, 1, 0, 0], dtype=bool)
    rows = np.array([1, 1, 1, 1, 0], dtype=bool)
    assert metrics.flips(base, new, rows) == Flips(1, 1, 4)
