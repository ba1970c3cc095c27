"""The metrics of Appendix A.4, and the sizes of objects.

All are computed for each prompt and then averaged over prompts, in percent. An unknown answer is
neither yes nor no: no recall is the better for it, and no precision knows it. A precision without a
prediction, and an F1 of two zeros, are 0, as printed; a recall without a question has no value.
What failed is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real

import numpy as np

from sci_book.results.statistics import Rows

METRICS = (
    "precision", "recall", "f1", "yes_proportion",
    "precision_yes", "recall_yes", "f1_yes", "precision_no", "recall_no", "f1_no",
)  # fmt: skip
"""Macro values first, in the order of the paper's columns."""
Values = np.ndarray | np.floating
"""A statistic of draws, `[draws]`, or of one set of sums."""
COUNTS = ("tp", "fp", "tn", "fn", "positives", "negatives")

SIZE_LIMITS = (834.0, 1508.0)
"""Square pixels where medium and large begin in the pocket world: its small, medium and large
objects have about the shares that Figure 10 gives COCO's."""
SIZES = ("small", "medium", "large")


def counts(truth: Rows, said: Rows) -> dict[str, int]:
    """The table of one prompt: `COUNTS`, and beside them `unknown` and `failed`.

    ``tp`` is yes said of yes, ``fp`` yes said of no, ``tn`` no said of no, ``fn`` no said of yes;
    ``positives`` and ``negatives`` are the questions of either label that did not fail.

    Raises:
        ValueError: if there is not one answer a question, or a label is neither yes nor no.
    """
    total = columns(truth, [said]).sum(axis=1)
    return {
        **{name: int(count) for name, count in zip(COUNTS, total, strict=True)},
        "unknown": sum(answer == "unknown" for answer in said),
        "failed": sum(answer == "failed" for answer in said),
    }


def columns(truth: Rows, said: Rows) -> np.ndarray:
    """`COUNTS` of every prompt, one below the other, `[counts · prompts, questions]`.

    Args:
        truth: "yes" or "no" a question.
        said: for each prompt an answer (`Said`) a question.
    """
    label, answers = np.asarray(truth, dtype=object), np.array(said, dtype=object)
    if answers.shape[1:] != label.shape:
        raise ValueError(
            f"{answers.shape[1]} answers came for {len(label)} questions; expected one each."
        )
    if not set(label) <= {"yes", "no"}:
        raise ValueError(f"Labels are yes or no; got {', '.join(sorted(map(str, set(label))))}.")
    answered = answers != "failed"
    yes, no = (label == "yes") & answered, (label == "no") & answered
    said_yes, said_no = answers == "yes", answers == "no"
    counted = (yes & said_yes, no & said_yes, no & said_no, yes & said_no, yes, no)
    return np.concatenate(np.stack(counted, axis=1)).astype(float)


def by_count(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Sums of `columns` by the names of `COUNTS`, each `[prompts, ...]`."""
    by_prompt = sums.reshape(-1, len(COUNTS), *sums.shape[1:])
    return dict(zip(COUNTS, np.moveaxis(by_prompt, 1, 0), strict=True))


def metric(name: str) -> Callable[[np.ndarray], Values]:
    """A metric as a share, of sums of `columns`, averaged over prompts."""

    def value(sums: np.ndarray) -> Values:
        return np.asarray(metrics(by_count(sums))[name]).mean(axis=0) / 100

    value.__qualname__ = name  # by which `statistics.measure` tells one number from another
    return value


def metrics(table: Mapping[str, Real | np.ndarray]) -> dict[str, Real | np.ndarray]:
    """Equations (8) to (17) from `COUNTS`, in percent; counts may be arrays of one shape."""
    tp, fp, tn, fn, positives, negatives = (np.asarray(table[n], dtype=float) for n in COUNTS)
    values = {"yes_proportion": _percent(tp + fp, positives + negatives)}
    for name, right, wrong, total in (("yes", tp, fp, positives), ("no", tn, fn, negatives)):
        precision, recall = _or_zero(_percent(right, right + wrong)), _percent(right, total)
        values[f"precision_{name}"], values[f"recall_{name}"] = precision, recall
        # 2 P R / (P + R), written so that two zeros make a zero
        values[f"f1_{name}"] = _or_zero(_percent(2 * right, right + wrong + total))
    for name in ("precision", "recall", "f1"):
        values[name] = (values[f"{name}_yes"] + values[f"{name}_no"]) / 2
    return {name: values[name] for name in METRICS}


def size_of(area: Real) -> str | None:
    """ "small", "medium" or "large", an area at a limit being the larger; None where unknown."""
    if not np.isfinite(area):
        return None
    return SIZES[int(np.searchsorted(SIZE_LIMITS, area, side="right"))]


def _percent(part: Real | np.ndarray, whole: Real | np.ndarray) -> Real | np.ndarray:
    """NaN where there is nothing to take a share of."""
    with np.errstate(invalid="ignore"):
        return 100 * np.asarray(part, dtype=float) / np.asarray(whole, dtype=float)


def _or_zero(values: Real | np.ndarray) -> Real | np.ndarray:
    return np.where(np.isnan(values), 0.0, values)
