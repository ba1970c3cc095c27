"""Bootstrap intervals that stay honest where all rows are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sci_book.results.statistics import NOWHERE, Interval, Rows, cluster_bootstrap, resample, wilson


def share(values: Rows, groups: Rows, level: float = 0.95) -> Interval:
    """The share of rows that are 1, with its cluster bootstrap interval; of no row, nowhere.

    Where all rows are alike, so is every draw of them, and a bootstrap would call that certainty:
    there the interval is Wilson's, of as many rows as there are groups.
    """
    found = difference(values, groups, level)
    if found.n and np.isnan(found.low) and found.estimate in (0, 1):
        known = wilson(int(found.estimate) * found.clusters, found.clusters, level=level)
        return found._replace(low=known.low, high=known.high)
    return found


def difference(values: Rows, groups: Rows, level: float = 0.95) -> Interval:
    """The mean of rows' differences with its cluster bootstrap interval; of no row, nowhere."""
    rows, labels = np.asarray(values, dtype=float), np.asarray(groups, dtype=object)
    return drop_equal_bounds(cluster_bootstrap(rows, labels, level=level))


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


def drop_equal_bounds(interval: Interval) -> Interval:
    """Drops the bounds where all bootstrap draws are equal; a claim about it is inconclusive."""
    if interval.low != interval.high:
        return interval
    return interval._replace(low=np.nan, high=np.nan)
