"""Confidence and calibration (section 3.6, equations 2 and 3; Tables 6 and 11 to 14; Figure 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sci_book.results.records import Records, RecordsError
from sci_book.results.statistics import Rows

BINS = 10
"""M of equation (3)."""


def recorded_confidence(records: Records, policy: str = "base") -> np.ndarray:
    """Equation (2) for every recorded answer, over the steps whose logits are recorded.

    These are all steps of a short answer, and the first step of the others, whose answer it is
    (the paper calls this proxy cleaner for yes and no). Probabilities are those of the original
    round's raw logits, over the whole vocabulary, whichever policy ("base", a round, or a method)
    gave the answer.

    Returns:
        `[rows]`, NaN for a row with an error, an empty answer, or one that opens with a token that
        was not kept.

    Raises:
        RecordsError: if the records hold no such policy.
    """
    written = "original" if policy == "base" else policy
    if written not in records.policies:
        raise RecordsError(
            f"Confidence of {policy!r}: these records hold the answers of "
            f"{', '.join(records.policies)}."
        )
    nodes, which = records.nodes, records.rounds.index("original")
    column = records.table[f"tokens:{written}"].to_pylist()
    total, steps = np.zeros(len(column)), np.zeros(len(column))
    for node, (row, prefix) in enumerate(zip(nodes.row.tolist(), nodes.prefix, strict=True)):
        answer = tuple(column[row] or ())
        if len(prefix) >= len(answer) or answer[: len(prefix)] != prefix:
            continue
        slots = np.flatnonzero(nodes.tokens[node] == answer[len(prefix)])
        steps[row] += 1
        log_norm = nodes.log_norm[which, node]
        total[row] += nodes.logits[which, node, slots[0]] - log_norm if len(slots) else np.nan
    known = records.ok & (steps > 0)
    total = np.minimum(total, 0)  # single precision may place a certain token above probability 1
    return np.where(known, np.exp(total / np.maximum(steps, 1)), np.nan)


def reliability(confidence: Rows, correct: Rows) -> pd.DataFrame:
    """The reliability diagram: a line for each non-empty bin, as in Tables 11 to 14.

    Bins are of equal width over [0, 1], closed below and open above, the last one closed. Columns:
    `low`, `high`, `count`, mean `confidence` and `accuracy` (shares).

    Raises:
        ValueError: if the lengths differ or a confidence is outside [0, 1].
    """
    confidence, correct = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if confidence.shape != correct.shape:
        raise ValueError(
            f"One confidence a row is expected; got {len(confidence)} for {len(correct)} rows."
        )
    outside = int((~((confidence >= 0) & (confidence <= 1))).sum())  # NaN included
    if outside:
        raise ValueError(
            f"{outside} of {len(confidence)} confidences are outside [0, 1]; leave rows without "
            "one out, and show their count."
        )
    frame = pd.DataFrame({"confidence": confidence, "accuracy": correct})
    diagram = frame.groupby(bin_of(confidence)).agg(
        count=("accuracy", "size"), confidence=("confidence", "mean"), accuracy=("accuracy", "mean")
    )
    diagram.insert(0, "low", diagram.index / BINS)
    diagram.insert(1, "high", (diagram.index + 1) / BINS)
    return diagram.reset_index(drop=True)


def ece(diagram: pd.DataFrame) -> float:
    """Equation (3): the gap between accuracy and confidence, weighted by the bins' sizes.

    ``ECE = sum_m |B_m| / N |acc(B_m) - conf(B_m)|`` over the lines of `reliability`. NaN of no row.
    """
    total = diagram["count"].sum()
    if not total:
        return float("nan")
    gaps = (diagram["accuracy"] - diagram["confidence"]).abs()
    return float((diagram["count"] * gaps).sum() / total)


def terms(confidence: Rows, correct: Rows) -> np.ndarray:
    """`[bins + 1, rows]`: a row's correctness less confidence in the line of its bin, and ones.

    Their sums over some rows give the ECE of these rows: `ece_of_sums`.
    """
    confidence, correct = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    mine = bin_of(confidence) == np.arange(BINS)[:, None]
    return np.vstack([np.where(mine, correct - confidence, 0.0), np.ones(len(confidence))])


def ece_of_sums(sums: np.ndarray) -> np.ndarray:
    """The ECE from sums of `terms` over rows: ``sum_m |sum of (correct - confidence)| / N``."""
    return np.asarray(np.abs(sums[:BINS]).sum(axis=0) / sums[BINS])


def bin_of(confidence: Rows) -> np.ndarray:
    """The bin of every confidence, from 0; the last one is closed above."""
    return np.digitize(np.asarray(confidence, dtype=float), np.arange(1, BINS) / BINS)
