"""Intervals of what is no mean over rows."""

from collections.abc import Sequence

import numpy as np

from sci_book.results.statistics import Interval, Rows, of_sums


def several(parts: Sequence[tuple[Rows, Rows]]) -> tuple[np.ndarray, np.ndarray]:
    """Columns and groups of several means, each of its own values and groups: `mean_of_means`.

    So the paper takes two data sets together, whatever their sizes; no row where one has none.
    """
    if not all(len(values) for values, _ in parts):
        return np.zeros((2 * len(parts), 0)), np.array([], dtype=object)
    which = np.repeat(np.arange(len(parts)), [len(values) for values, _ in parts])
    values = np.concatenate([np.asarray(values, dtype=float) for values, _ in parts])
    groups = np.concatenate([np.asarray(groups, dtype=object) for _, groups in parts])
    inside = (which == np.arange(len(parts))[:, None]).astype(float)
    return np.concatenate([inside * values, inside]), groups


def mean_of_means(sums: np.ndarray) -> np.ndarray:
    """The mean of the means of `several` samples, from the sums of their columns."""
    values, rows = np.split(sums, 2)
    return np.asarray((values / rows).mean(axis=0))


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
