"""Intervals of what is no mean over rows."""

from collections.abc import Sequence

import numpy as np

from sci_book.results.statistics import (
    Interval,
    Rows,
    measure,
    of_mean,
    of_several,
    ratio,
    wilson,
)


def mean_of_means(trainings: Sequence[Sequence[tuple[np.ndarray, Rows]]]) -> Interval:
    """The mean of the means of several samples, over trainings; `n` counts the rows of all.

    So the paper takes two data sets together, whatever their sizes.
    """
    found = of_several(trainings, lambda *means: np.mean([*map(ratio, means)], axis=0))
    rows = [sum(len(groups) for _, groups in samples) for samples in trainings]
    return found._replace(n=round(np.mean(rows))) if found.n else found


def counted(trainings: Sequence[tuple[Rows, Rows]]) -> Interval:
    """The share of 1s among 0s and 1s, of few rows: of a single training Wilson's.

    Args:
        trainings: of each, the values and a group a row.
    """
    if len(trainings) > 1:
        return measure([of_mean(*each) for each in trainings], ratio, span=(0.0, 1.0))
    ((values, _),) = trainings
    return wilson(int(np.sum(values)), len(values))


def ordered_pairs(trainings: Sequence[tuple[Rows, Rows, Rows]]) -> Interval:
    """Of a row that is right and one that is not, how often the right one has the higher score.

    The area under the ROC curve, ties counted as halves, with its interval over groups.

    Args:
        trainings: of each, finite scores, 1 or 0 a row, of both some, and a group a row.
    """
    return measure([_area(*each) for each in trainings], _area_of)


def _area_of(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[0] + sums[1] / sums[2])


def _area(scores: Rows, right: Rows, groups: Rows) -> tuple[np.ndarray, Rows]:
    """How far each row moves the area; the area in every row, and 1, whose ratio none moves."""
    scores, right = np.asarray(scores, dtype=float), np.asarray(right, dtype=bool)

    def beaten(among: np.ndarray) -> np.ndarray:
        """Share of these scores that each row's score exceeds, ties as halves."""
        ends = (np.searchsorted(np.sort(among), scores, side) for side in ("left", "right"))
        return sum(ends) / (2 * len(among))

    won = np.where(right, beaten(scores[~right]), 1 - beaten(scores[right]))
    area = float(won[right].mean())
    # How far a row moves the area (DeLong, DeLong and Clarke-Pearson 1988).
    moves = (won - area) / np.where(right, right.sum(), (~right).sum())
    return np.stack([moves, np.full(len(moves), area), np.ones(len(moves))]), groups
