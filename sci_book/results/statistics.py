"""Intervals, tests and verdicts: the one place where an interval is made, and its level stands.

Rows that share a picture or a question are not independent, and neither are the answers of several
trainings to one question, so question groups count once. What a measure varies by follows from how
far each group moves it; no draw is needed, and no digit moves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

# SciPy and statsmodels take most of a second to import: only where they are used.

Verdict = Literal["holds", "fails", "inconclusive", "not comparable"]
Rows: TypeAlias = Sequence | np.ndarray | pd.Series  # one entry a row
Side: TypeAlias = tuple[Rows, Rows]  # values and a group a row
Statistic = Callable[[np.ndarray], np.ndarray]
"""Takes sums `[quantities, ...]`, returns `[...]`; NaN where it has no value."""
Fit = Any  # statsmodels' RegressionResults, which is imported only where it is used

LEVEL = 0.95
"""Coverage of every interval of the book."""
REPLICATES = 10_000
FEWEST = 4
"""Trainings under which an interval over them says more of their number than of the measure."""
_STEP = 1e-4  # of a group's weight, up and down: far above rounding, far below curvature
_AT_A_TIME = 2_000_000  # clusters drawn at a time, to fit the processor's cache


class Interval(NamedTuple):
    """An estimate with its interval; NaN where there is none.

    Attributes:
        n: rows, in `clusters` groups; over trainings the mean number of rows.
        error: standard error; 0 where all groups are alike, NaN where the ends come of none.
        freedom: its degrees of freedom.
        key: of the quantity on its rows, whatever unit it is shown in: a hash of what was measured.
        trainings: of how many it is, those without rows aside.
    """

    estimate: float
    low: float
    high: float
    n: int
    clusters: int
    error: float = np.nan
    freedom: float = np.nan
    key: str = ""
    trainings: int = 1

    def times(self, factor: int | float) -> Interval:
        """The same in another unit, such as 100 for percent and points."""
        estimate, low, high = (factor * value for value in self[:3])
        return self._replace(estimate=estimate, low=low, high=high, error=factor * self.error)

    def p(self, margin: float = 0.0) -> float:
        """Two-sided p-value of the estimate being `margin`; NaN without a standard error."""
        if not self.error > 0:
            return np.nan
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.estimate - margin) / self.error))

    def as_json(self, estimate: str = "estimate") -> dict[str, float | None]:
        """The estimate under a name, and its ends; a missing number is None."""
        numbers = zip((estimate, "low", "high"), self[:3], strict=True)
        return {name: None if np.isnan(value) else value for name, value in numbers}


NO_DATA = Interval(np.nan, np.nan, np.nan, 0, 0, trainings=0)
"""What is known of no row."""


def measure(
    trainings: Sequence[tuple[np.ndarray, Rows]],
    statistic: Statistic,
    *,
    smooth: bool = True,
    span: tuple[float, float] | None = None,
) -> Interval:
    """A measure over the trainings of a model, each on its own rows, with its interval.

    The estimate is the plain mean of the trainings' own; one without rows is left out. Its variance
    is that between trainings and that from questions, each group of questions counting once for all
    trainings. The interaction of the two is counted twice, so the interval errs on the wide side.
    Of fewer than `FEWEST` trainings, but more than one, there is no interval; of a single one it is
    that from questions.

    Args:
        trainings: of each, columns `[quantities, rows]`, finite, and a label a row: its group.
        statistic: a function of the columns' sums over rows.
        smooth: whether a small change of the sums moves it by a small amount; where it does not (a
            maximum, a rank) groups are drawn with replacement.
        span: the least and greatest value of a row, of a mean, which its ends keep to. Where all
            groups are alike they do not tell how unlike others may be: then the interval allows for
            as many groups at either end as none of so many leaves possible (Wilson's bound);
            without a span it has no ends.

    Raises:
        ValueError: if two lengths differ or a number is not finite.
    """
    trainings = [(columns, clusters) for columns, clusters in trainings if len(clusters)]
    if not trainings:
        return NO_DATA
    sums, groups = _by_group(trainings)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.array([float(statistic(table.sum(axis=1))) for table in sums])
        moved = _moved(sums, statistic) if smooth else _drawn(sums, statistic)
    rows = round(np.mean([columns.shape[1] for columns, _ in trainings]))
    estimate = float(each.mean())
    key = _key(sums, statistic, each, span)
    bare = Interval(estimate, np.nan, np.nan, rows, groups, key=key, trainings=len(each))
    if np.isnan(estimate) or groups < 2 or 1 < len(each) < FEWEST:
        return bare
    questions = float(moved @ moved) * groups / (groups - 1)
    between = float(each.var(ddof=1)) / len(each) if len(each) > 1 else 0.0
    variance = questions + between
    if variance <= (1e-9 * max(1.0, abs(estimate))) ** 2:
        bare = bare._replace(error=0.0)
        return bare if span is None else _alike(bare, *span)
    parts = questions**2 / (groups - 1) + (between**2 / (len(each) - 1) if between else 0.0)
    freedom, error = variance**2 / parts, variance**0.5
    half = _quantile(LEVEL, freedom) * error
    least, greatest = span or (-np.inf, np.inf)
    low, high = max(estimate - half, least), min(estimate + half, greatest)
    return bare._replace(low=low, high=high, error=error, freedom=freedom)


def of_sums(columns: np.ndarray, clusters: Rows, statistic: Statistic, **how: Any) -> Interval:
    """`measure` of a single training."""
    return measure([(np.asarray(columns, dtype=float), clusters)], statistic, **how)


def mean(values: Rows, clusters: Rows, span: tuple[float, float] | None = None) -> Interval:
    """The mean of one finite number a row; of a paired difference a row's two stay together."""
    return measure([of_mean(values, clusters)], ratio, span=span)


def share(values: Rows, clusters: Rows) -> Interval:
    """The mean of outcomes: 1, 0, or a probability between."""
    return mean(values, clusters, span=(0.0, 1.0))


def difference(values: Rows, clusters: Rows) -> Interval:
    """The mean of differences of two outcomes, −1 to 1."""
    return mean(values, clusters, span=(-1.0, 1.0))


def apart(trainings: Iterable[tuple[Side, Side]]) -> Interval:
    """The mean of some rows less that of others, which may share groups; `n` counts the first.

    Args:
        trainings: both of each; see `measure`.
    """
    sides = [[of_mean(*side) for side in pair] for pair in trainings]
    return of_several(sides, lambda one, other: ratio(one) - ratio(other))


def of_several(
    trainings: Sequence[Sequence[tuple[np.ndarray, Rows]]], statistic: Callable[..., np.ndarray]
) -> Interval:
    """A function of the sums of several samples, over trainings; `n` counts the first sample.

    A group is drawn for all samples at once, so what shares groups is paired.

    Args:
        trainings: of each, its samples, each as `measure` takes one. A training with a sample that
            has no row is left out.
        statistic: a function of the sums of each sample.
    """
    trainings = [samples for samples in trainings if samples and all(len(g) for _, g in samples)]
    if not trainings:
        return NO_DATA
    from scipy.linalg import block_diag

    ends = np.cumsum([len(columns) for columns, _ in trainings[0]])[:-1]

    @wraps(statistic)  # whose name is part of the number's key
    def of_sums_together(sums: np.ndarray) -> np.ndarray:
        return statistic(*np.split(sums, ends))

    together = [
        (
            block_diag(*(columns for columns, _ in samples)),
            np.concatenate([_labels(groups) for _, groups in samples]),
        )
        for samples in trainings
    ]
    rows = round(np.mean([len(samples[0][1]) for samples in trainings]))
    return measure(together, of_sums_together)._replace(n=rows)


def of_mean(values: Rows, clusters: Rows) -> tuple[np.ndarray, Rows]:
    """A sample as `measure` takes one, whose `ratio` of sums is the mean of the values."""
    return np.stack([np.asarray(values, dtype=float), np.ones(len(values))]), clusters


def ratio(sums: np.ndarray) -> np.ndarray:
    """The first sum over the second."""
    return np.asarray(sums[0] / sums[1])


def _by_group(
    trainings: Sequence[tuple[np.ndarray, Rows]],
) -> tuple[list[np.ndarray], int]:
    """Each training's columns summed over the same groups, and how many groups there are."""
    for columns, clusters in trainings:
        _same_length(columns[0], _labels(clusters))
        _finite(columns)
    every = np.concatenate([_labels(clusters) for _, clusters in trainings])
    codes, names = pd.factorize(every)
    ends = np.cumsum([len(clusters) for _, clusters in trainings])[:-1]
    tables = zip(trainings, np.split(codes, ends), strict=True)
    return [_group_sums(columns, mine, len(names)) for (columns, _), mine in tables], len(names)


def _key(sums: Sequence[np.ndarray], statistic: Statistic, each: np.ndarray, span: object) -> str:
    """The same for the same sums by group, of which the same function gives the same numbers."""
    name = f"{statistic.__module__}.{statistic.__qualname__}"
    made = hashlib.blake2s(f"{name} {each.round(12).tolist()} {span}".encode())
    for table in sums:
        made.update(np.ascontiguousarray(table).data)
    return made.hexdigest()[:12]


def key_of(*what: object) -> str:
    """The key of a number that is no measure of rows, from what settles which number it is."""
    return hashlib.blake2s(repr(what).encode()).hexdigest()[:12]


def _moved(sums: Sequence[np.ndarray], statistic: Statistic) -> np.ndarray:
    """How far each group moves the mean over trainings: its influence, `[groups]`."""
    total: Any = 0.0
    for table in sums:
        whole, step = table.sum(axis=1, keepdims=True), _STEP * table
        total = total + (statistic(whole + step) - statistic(whole - step)) / (2 * _STEP)
    return np.asarray(total) / len(sums)


def _drawn(sums: Sequence[np.ndarray], statistic: Statistic) -> np.ndarray:
    """Numbers, one a draw of groups, whose squares add up to the variance of the statistic."""
    groups = sums[0].shape[1]
    generator = np.random.Generator(np.random.Philox(0))
    drawn = drawn_sums(np.concatenate(sums), REPLICATES, generator)
    parts = np.split(drawn, len(sums))
    values = np.mean([statistic(part) for part in parts], axis=0)
    values = values[np.isfinite(values)]
    return (values - values.mean()) / max(len(values), 1) ** 0.5 * ((groups - 1) / groups) ** 0.5


def _alike(interval: Interval, least: float, greatest: float) -> Interval:
    """Groups that are all alike: as many of the others as may have been missed lie at an end."""
    from scipy.special import ndtri

    x, z2 = interval.estimate, float(ndtri((1 + LEVEL) / 2)) ** 2
    missed = z2 / (interval.clusters + z2)  # the upper end of `wilson(0, groups)`
    return interval._replace(low=x - missed * (x - least), high=x + missed * (greatest - x))


@lru_cache(maxsize=4096)
def _quantile(level: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


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


@dataclass(frozen=True, eq=False)
class Sample:
    """Numbers of rows with their clusters: the claim is about their mean, or the first's less the
    second's where there is a second.

    what        names this part of a claim
    values      `[rows]`; clusters `[rows]`
    minus       values and clusters of other rows, perhaps of the same clusters. Of such a sample
                `n` counts the first rows alone
    span        the least and greatest value of a row
    """

    what: str
    values: np.ndarray
    clusters: np.ndarray
    minus: tuple[np.ndarray, np.ndarray] | None = None
    span: tuple[float, float] | None = None
    quartiles: ClassVar[bool] = False  # its interval's ends

    @property
    def columns(self) -> tuple[np.ndarray, Rows]:
        """The first rows as `measure` takes them: values and ones, and their clusters."""
        return of_mean(self.values, self.clusters)

    @property
    def data(self) -> Any:
        """What `over` takes of a training: the columns, or the rows of both sides."""
        return self.columns if self.minus is None else ((self.values, self.clusters), self.minus)

    def over(self, trainings: Sequence[Any]) -> Interval:
        """The number over trainings, of the `data` that each has of the same claim."""
        if self.minus is None:
            return measure(trainings, ratio, span=self.span)
        return apart(trainings)

    @property
    def interval(self) -> Interval:
        """The estimate with its interval; a sample without rows has none."""
        return self.over([self.data])


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


def slope(fit: Fit, column: int) -> Interval:
    """The slope along one column, the others held, with Student's interval."""
    low, high = fit.conf_int(alpha=1 - LEVEL)[column + 1]
    n, key = int(fit.nobs), _fit_key(fit, "slope", column)
    return Interval(float(fit.params[column + 1]), float(low), float(high), n, n, key=key)


def one_more(fit: Fit, point: Sequence[float]) -> Interval:
    """The value at a point, and the interval in which one more observation there would lie."""
    there = fit.get_prediction([[1.0, *point]])
    ((low, high),) = there.conf_int(obs=True, alpha=1 - LEVEL)
    n, key = int(fit.nobs), _fit_key(fit, "one more", *point)
    return Interval(float(there.predicted_mean[0]), float(low), float(high), n, n, key=key)


def _fit_key(fit: Fit, *what: object) -> str:
    return key_of(*what, fit.model.exog.tolist(), fit.model.endog.tolist())


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


def wilson(correct: int, n: int, level: float = LEVEL) -> Interval:
    """Wilson's interval for one proportion of `n` independent rows."""
    if n == 0:
        return NO_DATA
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(correct, n, alpha=1 - level, method="wilson")
    share = correct / n  # of none or of all, it is an end, which rounding must not put beside it
    key = hashlib.blake2s(f"{correct} of {n}".encode()).hexdigest()[:12]
    return Interval(share, min(float(low), share), max(float(high), share), n, n, key=key)


def holm(p_values: Rows) -> np.ndarray:
    """Holm's adjusted p-values, in the order given; NaN stays and is of no comparison."""
    adjusted = np.array(p_values, dtype=float)
    known = ~np.isnan(adjusted)
    if known.any():
        from statsmodels.stats.multitest import multipletests

        adjusted[known] = multipletests(adjusted[known], method="holm")[1]
    return adjusted


def beyond_chance(p: float, parts: int) -> bool:
    """Whether a part's p-value is small enough of so many parts (Bonferroni); NaN is."""
    return not p > (1 - LEVEL) / parts


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
    labels = _labels(clusters)
    _same_length(columns[0], labels)
    _finite(columns)
    codes = pd.factorize(labels)[0]
    return _group_sums(columns, codes, int(codes.max(initial=-1)) + 1)


def _group_sums(columns: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    return np.stack([np.bincount(codes, weights=column, minlength=count) for column in columns])


def _labels(clusters: Rows) -> np.ndarray:
    """Numbers as they are, which are soon told apart; all else as objects."""
    labels = np.asarray(clusters)
    return labels if labels.dtype.kind in "iu" else np.asarray(clusters, dtype=object)


def _finite(columns: np.ndarray) -> None:
    if not np.isfinite(columns).all():
        raise ValueError(
            f"{int((~np.isfinite(columns)).any(axis=0).sum())} of {columns.shape[1]} values are "
            "not finite; drop rows without a result (and show their count) before asking for an "
            "interval."
        )


def _same_length(first: np.ndarray, second: np.ndarray) -> None:
    if first.shape != second.shape:
        raise ValueError(f"Paired rows must have one length; got {first.shape} and {second.shape}.")
