"""Bootstrap intervals that stay honest where all rows are alike."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sci_book.results.statistics import (
    NOWHERE,
    REPLICATES,
    Interval,
    Rows,
    cluster_bootstrap,
    resample,
    wilson,
)

_AT_A_TIME = 500  # draws: 8 MB for 2,000 groups


def share(values: Rows, groups: Rows, level: float = 0.95) -> Interval:
    """The share of rows that are 1, with its cluster bootstrap interval; NaN without rows.

    Where all rows are alike, so is every draw of them, and a bootstrap would call that certainty:
    there the interval is Wilson's, of as many rows as there are groups.
    """
    interval = difference(values, groups, level)
    if interval.n and np.isnan(interval.low) and interval.estimate in (0, 1):
        known = wilson(int(interval.estimate) * interval.clusters, interval.clusters, level=level)
        return interval._replace(low=known.low, high=known.high)
    return interval


def difference(values: Rows, groups: Rows, level: float = 0.95) -> Interval:
    """The mean of rows' differences with its cluster bootstrap interval; NaN without rows."""
    return drop_equal_bounds(cluster_bootstrap(values, groups, level=level))


def together(parts: Sequence[tuple[Rows, Rows]]) -> Interval:
    """The mean of several means, each of its own values and groups; nowhere where one has no row.

    So the paper takes two data sets together, whatever their sizes. A part whose rows are all alike
    adds nothing to the interval's width.
    """
    if not all(len(values) for values, _ in parts):
        return NOWHERE
    which = np.repeat(np.arange(len(parts)), [len(values) for values, _ in parts])
    values = np.concatenate([np.asarray(values, dtype=float) for values, _ in parts])
    groups = np.concatenate([np.asarray(groups, dtype=object) for _, groups in parts])
    inside = (which == np.arange(len(parts))[:, None]).astype(float)

    def mean(sums: np.ndarray) -> np.ndarray:
        return np.asarray((sums[: len(parts)] / sums[len(parts) :]).mean(axis=0))

    return drop_equal_bounds(resample(np.concatenate([inside * values, inside]), groups, mean))


def ordered_pairs(scores: Rows, right: Rows, groups: Rows, level: float = 0.95) -> Interval:
    """Of a row that is right and one that is not, how often the right one has the higher score.

    The area under the ROC curve, ties counted as halves, with its cluster bootstrap interval.

    Args:
        scores: finite.
        right: 1 or 0 a row, of both some.
    """
    scores, right = np.asarray(scores, dtype=float), np.asarray(right, dtype=float)
    codes, names = pd.factorize(np.asarray(groups, dtype=object))
    ranks = np.unique(scores, return_inverse=True)[1]
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=-1))  # of each score among the sorted

    def area(times: np.ndarray) -> np.ndarray:
        """Of how often each group was drawn `[draws, groups]`."""
        weights = times[:, codes[order]]
        ours = np.add.reduceat(weights * right[order], starts, axis=1)
        theirs = np.add.reduceat(weights * (1 - right[order]), starts, axis=1)
        below = np.cumsum(theirs, axis=1) - theirs / 2
        with np.errstate(invalid="ignore"):
            return (ours * below).sum(axis=1) / (ours.sum(axis=1) * theirs.sum(axis=1))

    generator, total = np.random.Generator(np.random.Philox(0)), len(names)
    drawn = [
        area(generator.multinomial(total, np.full(total, 1 / total), size=_AT_A_TIME))
        for _ in range(REPLICATES // _AT_A_TIME)
    ]
    low, high = np.nanquantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2])
    estimate = float(area(np.ones((1, total)))[0])
    return drop_equal_bounds(Interval(estimate, float(low), float(high), len(scores), total))


def drop_equal_bounds(interval: Interval) -> Interval:
    """Drops the bounds where all bootstrap draws are equal; a claim about it is inconclusive."""
    if interval.low != interval.high:
        return interval
    return interval._replace(low=np.nan, high=np.nan)
