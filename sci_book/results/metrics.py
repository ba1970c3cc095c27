"""Accuracies, and how methods change outcomes.

Everything works on an outcome array: for each sample 1 or 0 (True or False), a probability for an
expected outcome, or NaN where there is none. A share of no rows has no value (None, shown as an
empty cell with n = 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.typing import SeriesGroupBy

from sci_book.results.statistics import Interval, share

KINDS = ("MCQ", "Others", "Overall")
_SHOWN = (*Interval._fields[:5], "key")


class Share(NamedTuple):
    """`correct` of `n`; the sum of probabilities for an expected outcome."""

    correct: float
    n: int

    @property
    def value(self) -> float | None:
        return self.correct / self.n if self.n else None


class Flips(NamedTuple):
    """How a method changed the base's outcomes on `n` rows."""

    right_to_wrong: int
    wrong_to_right: int
    n: int


def of_kind(kinds: np.ndarray, name: str) -> np.ndarray:
    """Rows of a question type; all rows for "Overall"."""
    return np.ones(len(kinds), dtype=bool) if name == "Overall" else kinds == name


def accuracy(outcome: np.ndarray, kind: np.ndarray, rows: np.ndarray) -> dict[str, Share]:
    """Top-1 accuracy on some rows (a mask): MCQ, Others and Overall. NaN outcomes are left out."""
    outcome = np.asarray(outcome, dtype=float)
    rows = rows & np.isfinite(outcome)
    masks = {name: rows & of_kind(kind, name) for name in KINDS}
    return {name: Share(float(outcome[m].sum()), int(m.sum())) for name, m in masks.items()}


def accuracy_table(
    outcomes: Mapping[str, np.ndarray],
    frame: pd.DataFrame,
    subsets: pd.DataFrame,
) -> pd.DataFrame:
    """Accuracy of every method on every subset and question type, in long form.

    Columns `method, subset, question_type, metric, value, low, high, n, clusters, key`, value and
    interval in percent, empty where n = 0; the interval is over question groups, and empty too
    where all rows are alike.

    Args:
        outcomes: an outcome array a method.
        frame: `Records.frame`, for kind and group.
        subsets: a Boolean column a subset, aligned with the frame.
    """
    kind, group = frame["kind"].to_numpy(), frame["group"].to_numpy(dtype=object)
    lines = []
    for method, outcome in outcomes.items():
        outcome = np.asarray(outcome, dtype=float)
        for subset in subsets.columns:
            for name in KINDS:
                mask = subsets[subset].to_numpy() & np.isfinite(outcome)
                mask &= of_kind(kind, name)
                interval = share(outcome[mask], group[mask])
                if interval.error == 0:  # as the base on B, which is wrong there by definition
                    interval = interval._replace(low=np.nan, high=np.nan)
                shown = (*interval.times(100)[:5], interval.key)
                lines.append((method, subset, name, "accuracy", *shown))
    columns = ("method", "subset", "question_type", "metric", *_SHOWN)
    return pd.DataFrame(lines, columns=columns).rename(columns={"estimate": "value"})


def whole_groups(groups: SeriesGroupBy) -> pd.DataFrame:
    """Sum, size and minimum of the groups without a NaN."""
    frame = groups.agg(["sum", "size", "count", "min"])
    return frame[frame["size"] == frame["count"]]


def throughout(outcome: pd.Series, *names: pd.Series) -> Share:
    """How many units are right in all their rows; those with a NaN among them are left out.

    Args:
        outcome: 1, 0 or NaN a row.
        names: what the rows of a unit have in common: their group, say, or group and picture. A
            row without a name is of no unit.
    """
    right = whole_groups(outcome.groupby(list(names)))["min"]
    return Share(float(right.sum()), len(right))


def flips(base: np.ndarray, method: np.ndarray, rows: np.ndarray) -> Flips:
    """Rows turned from right to wrong and from wrong to right, among some rows (a mask)."""
    base, method = np.asarray(base, dtype=bool), np.asarray(method, dtype=bool)
    return Flips(
        int((rows & base & ~method).sum()), int((rows & ~base & method).sum()), int(rows.sum())
    )
