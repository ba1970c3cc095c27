"""Intervals of what is no mean over rows."""

from collections.abc import Sequence

import numpy as np

from sci_book.results.statistics import Interval, Rows, of_several, of_sums, ratio


def mean_of_means(trainings: Sequence[Sequence[tuple[np.ndarray, Rows]]]) -> Interval:
    """The mean of the means of several samples, over trainings; `n` counts the rows of all.

    So the paper takes two data sets together, whatever their sizes.
    """
    found = of_several(trainings, lambda *means: np.mean([*map(ratio, means)], axis=0))
    rows = [sum(len(groups) for _, groups in samples) for samples in trainings]
    return found._replace(n=round(np.mean(rows))) if found.n else found


def ordered_pairs(scores: Rows, right: Rows, groups: Rows) -> Interval:
    """Of a row that is right and one that is not, how often the right one has the higher score.

    The area under the ROC curve, ties counted as halves, with its interval over groups.

    Args:
        scores: finite.
        right: 1 or 0 a row, of both some.
    """
    scores, right = np.asarray(scores, dtype=float), np.asarray(right, dtype=bool)

    def beaten(among: np.ndarray) -> np.ndarray:
        """Share of these scores that each row's score exceeds, ties as halves."""
        ends = (np.searchsorted(np.sort(among), scores, side) for side in ("left", "right"))
        return sum(ends) / (2 * len(among))

    won = np.where(right, beaten(scores[~right]), 1 - beaten(scores[right]))
    area = float(won[right].mean())
    # How far a row moves the area (DeLong, DeLong and Clarke-Pearson 1988).
    moves = (won - area) / np.where(right, right.sum(), (~right).sum())
    return of_sums(moves[None], groups, lambda sums: area + sums[0])
