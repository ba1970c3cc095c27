"""The paper's tests and intervals beyond `results.statistics` (sections 3.5, 4.4, 4.5)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm

from sci_book.results.statistics import (
    LEVEL,
    NO_DATA,
    Interval,
    Rows,
    difference,
    mcnemar,
    of_sums,
    ratio,
)


class Wald(NamedTuple):
    """A difference of two proportions with its interval, z and two-sided p."""

    estimate: float
    low: float
    high: float
    z: float
    p: float


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """The exact test's p-value from the two discordant counts alone."""
    first = np.arange(only_first + only_second) < only_first
    return mcnemar(first, ~first)


def wald_difference(
    first: int, n_first: int, second: int, n_second: int, level: float = LEVEL
) -> Wald:
    """Wald's interval and test of `second / n_second - first / n_first`, variance unpooled.

    ``z = d / sqrt(p1 (1 - p1) / n1 + p2 (1 - p2) / n2)``: Table 9's z of 5.69. Rows count as
    independent, which judgements on the same pictures are not.

    Raises:
        ValueError: a sample is empty or counts more successes than rows.
    """
    for count, n in ((first, n_first), (second, n_second)):
        if not 0 <= count <= n or n == 0:
            raise ValueError(f"{count} of {n} is no proportion; expected 0 <= count <= n, n > 0.")
    p_first, p_second = first / n_first, second / n_second
    difference = p_second - p_first
    error = sqrt(p_first * (1 - p_first) / n_first + p_second * (1 - p_second) / n_second)
    half = float(norm.ppf((1 + level) / 2)) * error
    if error:
        z = difference / error
    else:
        z = float(np.copysign(np.inf, difference)) if difference else 0.0
    return Wald(difference, difference - half, difference + half, z, float(2 * norm.sf(abs(z))))


def mcnemar_edwards(only_first: int, only_second: int, *, clamped: bool = False) -> float:
    """McNemar's p with Edwards' continuity correction: ``(|b - c| - 1)^2 / (b + c)``, 1 df.

    At b = c the textbook's numerator is (-1)^2, so equal counts are given p < 1 (0.683 at 3 and
    3, Table 7). `clamped` takes ``max(|b - c| - 1, 0)``, which a correction towards zero means,
    and gives 1 there, as does the exact test (`results.statistics.mcnemar`), which is the one
    to report. Without a discordant pair p is 1.
    """
    total = only_first + only_second
    corrected = abs(only_first - only_second) - 1
    if clamped:
        corrected = max(corrected, 0)
    return float(chi2.sf(corrected**2 / total, 1)) if total else 1.0


def sensitivity_ratio(first: Rows, second: Rows, clusters: Rows) -> tuple[Interval, str]:
    """Equation (1): rho, the first model's drop over the second's, and why its ends fail, or "".

    Where the second model does not drop there is no ratio (the paper prints infinity in Table 8),
    and where it gains the sign says nothing: the ratio is of no row then. Where its drop may be
    zero, by its own interval, the ratio's ends say nothing and are not shown (Table 7).

    Args:
        first: clean minus blurred correctness of each row (1, 0 or -1).
        second: the same of the other model, paired.
        clusters: one label a row.
    """
    columns = np.stack([np.asarray(first, dtype=float), np.asarray(second, dtype=float)])
    total = columns.sum(axis=1)
    if total[1] <= 0:
        return NO_DATA, "the second model " + ("gains" if total[1] else "does not drop")
    found = of_sums(columns, clusters, ratio)
    certain = difference(second, clusters).low > 0
    return found, "" if certain else "the second model may not drop at all"
