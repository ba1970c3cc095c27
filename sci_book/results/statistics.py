"""Intervals, tests and verdicts.

Rows that share a picture or a question are not independent, so clusters are resampled. Those of the
same (sum, size) are interchangeable: one multinomial draw over the distinct pairs is exactly a draw
of clusters, and 10,000 take milliseconds. Where hardly two are alike, each is drawn by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

# SciPy and statsmodels take most of a second to import: only where they are used.

Verdict = Literal["holds", "fails", "inconclusive", "not comparable"]
Rows = Sequence | np.ndarray | pd.Series  # one entry a row
Fit = Any  # statsmodels' RegressionResults, which is imported only where it is used
REPLICATES = 10_000
FEW = 20  # clusters, of which equal draws are no certainty
_FAR_OUT = 0.995  # of one interval among ten; beyond, 10,000 draws leave under 25 on either side
_MANY = 256  # distinct clusters, of which a multinomial draw takes some 55 ns each
_AT_A_TIME = 2_000_000  # clusters drawn at a time, to fit the processor's cache


class Interval(NamedTuple):
    """An estimate with its interval; `n` rows in `clusters` clusters. NaN where n = 0."""

    estimate: float
    low: float
    high: float
    n: int
    clusters: int

    def times(self, factor: Real) -> Interval:
        """The same in another unit, such as 100 for percent and points."""
        estimate, low, high = (factor * value for value in self[:3])
        return Interval(estimate, low, high, self.n, self.clusters)

    def as_json(self, estimate: str = "estimate") -> dict[str, float | None]:
        """The estimate under a name, and its ends; a missing number is None."""
        numbers = zip((estimate, "low", "high"), self[:3], strict=True)
        return {name: None if np.isnan(value) else value for name, value in numbers}


NOWHERE = Interval(np.nan, np.nan, np.nan, 0, 0)
"""What is known of no row."""


def cluster_bootstrap(
    values: Rows,
    clusters: Rows,
    *,
    level: float = 0.95,
    replicates: int | None = None,
    seed: int = 0,
) -> Interval:
    """The mean of `values` with a percentile interval, clusters resampled with replacement.

    Give 0 / 1 correctness for an accuracy, or the per-row difference of two methods for a paired
    comparison: rows stay paired because a cluster is drawn with all its rows.

    Args:
        values: one finite number a row.
        clusters: one label a row (picture or question group).
        level: coverage of the interval, in (0, 1); `replicates` as in `resample`.

    Raises:
        ValueError: if the two lengths differ or a value is not finite.
    """
    columns = np.stack([np.asarray(values, dtype=float), np.ones(len(values))])
    return resample(
        columns, clusters, lambda sums: sums[0] / sums[1],
        level=level, replicates=replicates, seed=seed,
    )  # fmt: skip


def resample(
    columns: np.ndarray,
    clusters: Rows,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    level: float = 0.95,
    replicates: int | None = None,
    seed: int = 0,
) -> Interval:
    """A statistic of sums over rows with a percentile interval, clusters drawn with replacement.

    Of fewer than `FEW` clusters that are all alike every draw is alike, too, and says nothing of
    how sure the estimate is: there are no bounds.

    Args:
        columns: `[quantities, rows]`, finite; `n` of the result is their number of rows.
        statistic: takes sums `[quantities, ...]` and returns the statistic `[...]`, NaN where it
            has none; such draws are left out.
        replicates: draws; by default `REPLICATES`, and ten times as many for a level above 99.5 %.

    Raises:
        ValueError: if the two lengths differ or a number is not finite.
    """
    sums = cluster_sums(columns, clusters)
    if not sums.shape[1]:
        return NOWHERE
    if replicates is None:
        replicates = REPLICATES if level <= _FAR_OUT else 10 * REPLICATES
    drawn = _drawn(sums.tobytes(), len(sums), replicates, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimates = statistic(drawn)
        estimate = statistic(sums.sum(axis=1))
    low, high = np.nanquantile(estimates, [(1 - level) / 2, (1 + level) / 2])
    if low == high and sums.shape[1] < FEW:
        low = high = np.nan
    return Interval(float(estimate), float(low), float(high), columns.shape[1], sums.shape[1])


@lru_cache(maxsize=16)  # a page asks for the same rows again, at another level or in another table
def _drawn(sums: bytes, quantities: int, replicates: int, seed: int) -> np.ndarray:
    """`sums` of clusters drawn with replacement, `[quantities, replicates]`, not to be changed."""
    table = np.frombuffer(sums).reshape(quantities, -1)
    kinds, multiplicity = np.unique(table, axis=1, return_counts=True)
    total = table.shape[1]
    generator = np.random.Generator(np.random.Philox(seed))
    if len(multiplicity) > _MANY and len(multiplicity) > total / 8:
        drawn = drawn_sums(table, replicates, generator)
    else:
        draws = generator.multinomial(total, multiplicity / total, size=replicates)
        # As floats the product is BLAS's: the same sums, ten times as fast as through integers.
        drawn = kinds @ draws.T.astype(float)
    drawn.flags.writeable = False
    return drawn


@dataclass(frozen=True, eq=False)
class Sample:
    """Numbers of rows with their clusters: the claim is about their mean, or the first's less the
    second's where there is a second.

    what        names this part of a claim
    values      `[rows]`; clusters `[rows]`
    minus       values and clusters of other rows, perhaps of the same clusters. Of such a sample
                `n` counts the first rows alone
    """

    what: str
    values: np.ndarray
    clusters: np.ndarray
    minus: tuple[np.ndarray, np.ndarray] | None = None

    def interval(self, level: float) -> Interval:
        """The estimate with its bootstrap interval; a sample without rows has none."""
        if self.minus is None:
            return cluster_bootstrap(self.values, self.clusters, level=level)
        other, clusters = self.minus
        if not (len(self.values) and len(other)):
            return NOWHERE
        first = np.concatenate([np.ones(len(self.values)), np.zeros(len(other))])
        values = np.concatenate([self.values, other])
        columns = np.stack([values * first, first, values * (1 - first), 1 - first])
        both = np.concatenate([self.clusters, clusters])
        interval = resample(
            columns, both, lambda sums: sums[0] / sums[1] - sums[2] / sums[3], level=level
        )
        return interval._replace(n=len(self.values))


def drawn_sums(sums: np.ndarray, replicates: int, generator: np.random.Generator) -> np.ndarray:
    """`cluster_sums` of all rows, `[quantities, replicates]`, clusters drawn with replacement."""
    total = sums.shape[1]
    at_a_time = max(1, _AT_A_TIME // total)
    drawn = []
    for first in range(0, replicates, at_a_time):
        count = min(at_a_time, replicates - first)
        chosen = generator.integers(total, size=(count, total)) + total * np.arange(count)[:, None]
        times = np.bincount(chosen.ravel(), minlength=count * total).reshape(count, total)
        drawn.append(sums @ times.T.astype(float))
    return np.concatenate(drawn, axis=1)


def sign_flip_test(
    differences: Rows,
    clusters: Rows,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> float:
    """Two-sided p-value that the paired difference is zero, whole clusters flipping sign.

    Under the null the two methods are exchangeable within a cluster, so its summed difference is as
    likely positive as negative. The observed arrangement counts as one of the replicates, so the
    p-value is never 0; it is 1 where no cluster differs.
    """
    differences = np.asarray(differences, dtype=float)
    (sums,) = cluster_sums(differences[None], clusters)
    sizes, multiplicity = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    if not len(sizes):
        return 1.0
    generator = np.random.Generator(np.random.Philox(seed))
    positive = generator.binomial(multiplicity, 0.5, size=(replicates, len(sizes)))
    totals = (2 * positive - multiplicity) @ sizes
    # A sum of floats reached in another order may fall short by rounding alone.
    reached = np.abs(totals) >= abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    return float((1 + reached.sum()) / (1 + replicates))


def over_trainings(values: Rows) -> Interval:
    """The mean of one number a training with Student's 95 % interval; no bounds for a single one.

    Of three trainings it has two degrees of freedom and is wide: 2.5 standard deviations each way.
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    if n == 0:
        return NOWHERE
    middle = float(values.mean())
    if n == 1:
        return Interval(middle, np.nan, np.nan, 1, 1)
    from scipy.stats import t

    wide = float(t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Interval(middle, middle - wide, middle + wide, n, n)


def least_squares(columns: Sequence[Rows], values: Rows) -> Fit:
    """The line through points that are drawn alike and independently.

    Args:
        columns: k rows of n numbers, what the n `values` may depend on.

    Raises:
        ValueError: fewer than k + 2 points, or columns of which one follows from the others.
    """
    from statsmodels.regression.linear_model import OLS

    values = np.asarray(values, dtype=float)
    design = np.column_stack([np.ones(len(values)), *columns])
    n, size = design.shape
    if n <= size or np.linalg.matrix_rank(design) < size:
        raise ValueError(
            f"A line of {size} coefficients needs more than {size} points that differ in each "
            f"column; got {n} points. Take more points, or fewer columns."
        )
    return OLS(values, design).fit()


def slope(fit: Fit, column: int, level: float) -> Interval:
    """The slope along one column, the others held, with Student's interval."""
    low, high = fit.conf_int(alpha=1 - level)[column + 1]
    n = int(fit.nobs)
    return Interval(float(fit.params[column + 1]), float(low), float(high), n, n)


def one_more(fit: Fit, point: Sequence[float], level: float) -> Interval:
    """The value at a point, and the interval in which one more observation there would lie."""
    there = fit.get_prediction([[1.0, *point]])
    ((low, high),) = there.conf_int(obs=True, alpha=1 - level)
    n = int(fit.nobs)
    return Interval(float(there.predicted_mean[0]), float(low), float(high), n, n)


def mcnemar(first: Rows, second: Rows) -> float:
    """Exact two-sided McNemar p-value for paired correctness of independent rows."""
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    _same_length(first, second)
    only_first = int((first & ~second).sum())
    only_second = int((second & ~first).sum())
    if only_first + only_second == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_first, only_first + only_second, 0.5).pvalue)


def wilson(correct: int, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's interval for one proportion of `n` independent rows."""
    if n == 0:
        return NOWHERE
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(correct, n, alpha=1 - level, method="wilson")
    share = correct / n  # of none or of all, it is an end, which rounding must not put beside it
    return Interval(share, min(float(low), share), max(float(high), share), n, n)


def holm(p_values: Rows) -> np.ndarray:
    """Holm's adjusted p-values, in the order given."""
    if not len(p_values):
        return np.array([])
    from statsmodels.stats.multitest import multipletests

    return multipletests(np.asarray(p_values, dtype=float), method="holm")[1]


def simultaneous_level(level: float, claims: int) -> float:
    """The level of each of `claims` intervals that together cover with at least `level`."""
    return 1 - (1 - level) / max(claims, 1)


def verdict(
    interval: Interval, *, claim: Literal["greater", "less"] = "greater", margin: float = 0.0
) -> Verdict:
    """What the interval says of the claim "the quantity is greater (or less) than `margin`".

    *holds*: the whole interval lies on the claimed side of the margin; *fails*: it lies wholly on
    the other side; *inconclusive*: it reaches the margin; *not comparable*: there is no row. The
    point estimate is never consulted.
    """
    if interval.n == 0:
        return "not comparable"
    above, below = interval.low > margin, interval.high < margin
    if not above and not below:
        return "inconclusive"
    return "holds" if above == (claim == "greater") else "fails"


def cluster_sums(columns: np.ndarray, clusters: Rows) -> np.ndarray:
    """Sums of each column `[quantities, rows]` over each cluster, `[quantities, clusters]`."""
    labels = np.asarray(clusters, dtype=object)
    _same_length(columns[0], labels)
    if not np.isfinite(columns).all():
        raise ValueError(
            f"{int((~np.isfinite(columns)).any(axis=0).sum())} of {len(labels)} values are not "
            "finite; drop rows without a result (and show their count) before asking for an "
            "interval."
        )
    codes = pd.factorize(labels)[0]
    count = int(codes.max(initial=-1)) + 1
    return np.stack([np.bincount(codes, weights=column, minlength=count) for column in columns])


def _same_length(first: np.ndarray, second: np.ndarray) -> None:
    if first.shape != second.shape:
        raise ValueError(f"Paired rows must have one length; got {first.shape} and {second.shape}.")
