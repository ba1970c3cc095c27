"""Many results on the same rows, resampled together.

One draw of question groups serves all of them. The interval that covers all at once follows from
the largest deviation of a draw: no bootstrap resolves the tails that Bonferroni's level asks for.
"""

from typing import NamedTuple

import numpy as np

from sci_book.results.statistics import REPLICATES, Interval, cluster_sums, drawn_sums


class Joint(NamedTuple):
    """Means of many columns over the same rows, and what they became in resampled groups.

    Attributes:
        estimates: [columns]; NaN where there is no row.
        draws: [replicates, columns] of one draw of groups a line.
        n: rows, in `clusters` groups.
    """

    estimates: np.ndarray
    draws: np.ndarray
    n: int
    clusters: int

    @property
    def errors(self) -> np.ndarray:
        """[columns] bootstrap standard errors."""
        return self.draws.std(axis=0)

    def pointwise(self) -> list[Interval]:
        """A percentile interval a column, each by itself at 95 %."""
        ends = np.quantile(self.draws, [0.025, 0.975], axis=0)
        return [
            Interval(float(mean), float(low), float(high), self.n, self.clusters)
            for mean, low, high in zip(self.estimates, *ends, strict=True)
        ]

    def intervals(self, level: float = 0.95) -> list[Interval]:
        """An interval a column; together they cover all columns with `level`.

        Estimate plus and minus c standard errors, where c is the `level` quantile of the largest
        deviation, in standard errors, of any column in a draw.
        """
        errors = self.errors
        moves = errors > 0
        away = np.abs(self.draws[:, moves] - self.estimates[moves]) / errors[moves]
        reach = np.quantile(away.max(axis=1, initial=0), level)
        return [
            Interval(float(mean), float(mean - reach * error), float(mean + reach * error), self.n,
                     self.clusters)
            for mean, error in zip(self.estimates, errors, strict=True)
        ]  # fmt: skip


def joint(
    columns: np.ndarray, clusters: np.ndarray, replicates: int = REPLICATES, seed: int = 0
) -> Joint:
    """Resample the means of `columns [columns, rows]` together, whole clusters with replacement."""
    count, rows = columns.shape
    if not rows:
        nothing = np.full((1, count), np.nan)
        return Joint(nothing[0], nothing, 0, 0)
    sums = cluster_sums(np.vstack([columns, np.ones(rows)]), clusters)
    drawn = drawn_sums(sums, replicates, np.random.Generator(np.random.Philox(seed)))
    return Joint(columns.mean(axis=1), (drawn[:-1] / drawn[-1]).T, rows, sums.shape[1])
