"""Accuracies, the data sets' own scores, and what a gain has to be measured against.

Everything works on an outcome array: for each sample 1 or 0 (True or False), a probability for the
expected outcome of a null, or NaN where there is none. A share of no rows has no value (None, shown
as an empty cell with n = 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.data.answers import rules as answers
from sci_book.results.records import Records
from sci_book.results.statistics import Interval, share

KINDS = ("MCQ", "Others", "Overall")
NULLS = ("runner-up", "uniform other")
_SHOWN = (*Interval._fields[:5], "key")


class Share(NamedTuple):
    """`correct` of `n`; the sum of probabilities for a null row."""

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


def accuracy(outcome: np.ndarray, kind: np.ndarray, rows: np.ndarray) -> dict[str, Share]:
    """Top-1 accuracy on some rows (a mask): MCQ, Others and Overall. NaN outcomes are left out."""
    outcome = np.asarray(outcome, dtype=float)
    rows = rows & np.isfinite(outcome)
    masks = {name: rows & ((kind == name) | (name == "Overall")) for name in KINDS}
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
                mask &= np.isin(kind, KINDS[:2] if name == "Overall" else name)
                interval = share(outcome[mask], group[mask])
                if interval.error == 0:  # as the base on B, which is wrong there by definition
                    interval = interval._replace(low=np.nan, high=np.nan)
                shown = (*interval.times(100)[:5], interval.key)
                lines.append((method, subset, name, "accuracy", *shown))
    columns = ("method", "subset", "question_type", "metric", *_SHOWN)
    return pd.DataFrame(lines, columns=columns).rename(columns={"estimate": "value"})


def flips(base: np.ndarray, method: np.ndarray, rows: np.ndarray) -> Flips:
    """Rows turned from right to wrong and from wrong to right, among some rows (a mask)."""
    base, method = np.asarray(base, dtype=bool), np.asarray(method, dtype=bool)
    return Flips(
        int((rows & base & ~method).sum()), int((rows & ~base & method).sum()), int(rows.sum())
    )


def runner_up(records: Records) -> np.ndarray:
    """A null method: the base's second choice, as parsed answers (None where there is none).

    The original round's most likely first token that is not its best one and reads as another
    answer than the base's. Beating the base on B means little where this does too.
    """
    nodes = records.nodes
    base, frame = records.parsed("original"), records.frame
    read: dict[tuple[str, str, int], str | None] = {}
    second = np.full(len(base), None, dtype=object)
    root = np.array([not prefix for prefix in nodes.prefix], dtype=bool)
    order = np.argsort(-nodes.logits[0][root], axis=1, kind="stable")
    ranked = np.take_along_axis(nodes.tokens[root], order, axis=1)
    types, options = frame["question_type"].to_numpy(), frame["options"].to_numpy()
    for row, tokens in zip(nodes.row[root], ranked, strict=True):
        for token in tokens[tokens != tokens[0]]:
            key = (types[row], options[row], int(token))
            if key not in read:
                letters = dict.fromkeys(options[row], "")
                read[key] = answers.parse(types[row], records.pieces[int(token)], letters)
            if read[key] is not None and read[key] != base[row]:
                second[row] = read[key]
                break
    return second


def uniform_other(records: Records) -> np.ndarray:
    """A null method: any option but the base's, with equal chance; its expected outcome.

    0 where the base is right, 1 / (options - 1) where it is wrong, 1 / options where its answer is
    unknown. NaN for short answers, which have no options, and for samples with an error.
    """
    frame = records.frame
    count = frame["options"].str.len().to_numpy(dtype=float)
    count = np.where(frame["question_type"] == "yesno", 2.0, count)
    unknown = np.array([answer is None for answer in records.parsed("original")], dtype=bool)
    with np.errstate(divide="ignore"):
        chance = np.where(unknown, 1 / count, 1 / (count - 1))
    chance = np.where(records.correct("original"), 0.0, chance)
    return np.where(records.ok & (frame["question_type"] != "short"), chance, np.nan)


def null_outcomes(records: Records) -> dict[str, np.ndarray]:
    """Outcomes of the two methods without merit, which any gain on B or BS is measured against.

    "runner-up" is 1 or 0, NaN for a sample with an error and for all of records without logits;
    "uniform other" is the expected outcome.
    """
    truth = records.frame["truth"].to_numpy(dtype=object)
    known = records.ok & bool(len(records.nodes.row))
    second = np.where(known, runner_up(records) == truth, np.nan)
    return dict(zip(NULLS, (second, uniform_other(records)), strict=True))
