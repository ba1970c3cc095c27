"""The metrics of Appendix A.4, their intervals, and recall by object size.

All are computed for each prompt and then averaged over prompts, in percent. An unknown answer is
neither yes nor no: no recall is the better for it, and no precision knows it. A precision without a
prediction, and an F1 of two zeros, are 0, as printed; a recall without a question has no value.
What failed is left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import pandas as pd

from sci_book.papers.oric.answers import Said
from sci_book.results.statistics import resample

METRICS = (
    "precision", "recall", "f1", "yes_proportion",
    "precision_yes", "recall_yes", "f1_yes", "precision_no", "recall_no", "f1_no",
)  # fmt: skip
"""Macro values first, in the order of the paper's columns."""
COUNTS = ("tp", "fp", "tn", "fn", "positives", "negatives")

SIZE_LIMITS = {
    "printed": (24.0**2, 96.0**2),
    "coco": (32.0**2, 96.0**2),
    "pocket": (834.0, 1508.0),
}
"""Square pixels where medium begins and ends: as the paper prints them, COCO's, and the pocket
world's, where small, medium and large objects have the shares that Figure 10 gives COCO's."""
SIZES = ("small", "medium", "large")


def counts(truth: Sequence[str], said: Sequence[Said]) -> dict[str, int]:
    """The table of one prompt: `COUNTS`, and beside them `unknown` and `failed`.

    ``tp`` is yes said of yes, ``fp`` yes said of no, ``tn`` no said of no, ``fn`` no said of yes;
    ``positives`` and ``negatives`` are the questions of either label that did not fail.

    Raises:
        ValueError: if there is not one answer a question, or a label is neither yes nor no.
    """
    total = count_columns(truth, said).sum(axis=1)
    return {
        **{name: int(count) for name, count in zip(COUNTS, total, strict=True)},
        "unknown": sum(answer == "unknown" for answer in said),
        "failed": sum(answer == "failed" for answer in said),
    }


def count_columns(truth: Sequence[str], said: Sequence[Said]) -> np.ndarray:
    """`COUNTS` of every question by itself, [counts, questions]."""
    label, answer = np.asarray(truth, dtype=object), np.asarray(said, dtype=object)
    if label.shape != answer.shape:
        raise ValueError(
            f"{len(answer)} answers came for {len(label)} questions; expected one each."
        )
    if not set(label) <= {"yes", "no"}:
        raise ValueError(f"Labels are yes or no; got {', '.join(sorted(map(str, set(label))))}.")
    kept = answer != "failed"
    yes, no = (label == "yes") & kept, (label == "no") & kept
    said_yes, said_no = answer == "yes", answer == "no"
    return np.stack([yes & said_yes, no & said_yes, no & said_no, yes & said_no, yes, no]).astype(
        float
    )


def metrics(table: Mapping[str, Real | np.ndarray]) -> dict[str, Real | np.ndarray]:
    """Equations (8) to (17) from `COUNTS`, in percent; counts may be arrays of one shape."""
    tp, fp, tn, fn, positives, negatives = (np.asarray(table[n], dtype=float) for n in COUNTS)
    found = {"yes_proportion": _percent(tp + fp, positives + negatives)}
    for name, right, wrong, total in (("yes", tp, fp, positives), ("no", tn, fn, negatives)):
        precision, recall = _or_zero(_percent(right, right + wrong)), _percent(right, total)
        found[f"precision_{name}"], found[f"recall_{name}"] = precision, recall
        # 2 P R / (P + R), written so that two zeros make a zero
        found[f"f1_{name}"] = _or_zero(_percent(2 * right, right + wrong + total))
    for name in ("precision", "recall", "f1"):
        found[name] = (found[f"{name}_yes"] + found[f"{name}_no"]) / 2
    return {name: found[name] for name in METRICS}


def score_table(
    truth: Sequence[str],
    said: Sequence[Sequence[Said]],
    images: Sequence[str],
) -> pd.DataFrame:
    """Tables 3 and 10: every metric, averaged over prompts, with an interval over pictures.

    Args:
        truth, images: a label and a picture a question.
        said: for each prompt an answer a question.

    Columns `metric, value, low, high`; n is the number of questions in `attrs`, beside the shares
    (in percent of all answers) `unknown` and `failed`.
    """
    columns = np.concatenate([count_columns(truth, each) for each in said])
    lines = []
    for name in METRICS:

        def mean(sums: np.ndarray, name: str = name) -> Real | np.ndarray:
            each = sums.reshape(len(said), len(COUNTS), *sums.shape[1:])
            values = metrics(dict(zip(COUNTS, np.moveaxis(each, 1, 0), strict=True)))
            return values[name].mean(axis=0)

        interval = resample(columns, images, mean)
        lines.append((name, interval.estimate, interval.low, interval.high))
    table = pd.DataFrame(lines, columns=["metric", "value", "low", "high"])
    asked = max(len(truth) * len(said), 1)
    for share in ("unknown", "failed"):
        total = sum(sum(answer == share for answer in each) for each in said)
        table.attrs[share] = 100 * total / asked
    table.attrs["n"] = len(truth)
    return table


def size_of(area: Real, limits: str = "printed") -> str | None:
    """ "small", "medium" or "large", an area at a limit being the larger; None where unknown.

    Args:
        area: square pixels.
        limits: of `SIZE_LIMITS`.
    """
    if not np.isfinite(area):
        return None
    first, second = SIZE_LIMITS[limits]
    return SIZES[int(area >= first) + int(area >= second)]


def yes_proportion_from_recalls(recall_yes: Real, recall_no: Real) -> Real:
    """The identity on balanced labels without an unknown answer: ``(R_yes + 100 - R_no) / 2``."""
    return (recall_yes + 100 - recall_no) / 2


def _percent(part: Real | np.ndarray, whole: Real | np.ndarray) -> Real | np.ndarray:
    """NaN where there is nothing to take a share of."""
    with np.errstate(invalid="ignore"):
        return 100 * np.asarray(part, dtype=float) / np.asarray(whole, dtype=float)


def _or_zero(values: Real | np.ndarray) -> Real | np.ndarray:
    return np.where(np.isnan(values), 0.0, values)
