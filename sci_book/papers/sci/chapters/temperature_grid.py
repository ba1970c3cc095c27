"""The grid of tau1, tau2 and beta around a preset, and what noise does to the search over it.

Greedy decoding asks only which score is largest, so of the three constants two numbers are left:
the weight of TC and VC against each other, tau1 / tau2, and the margin of the constraint in logits,
tau1 ln(1 / beta). All steps of the grid are by the square root of two, so that many of its points
share both numbers, and with them every answer: each such *place* is replayed once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.sweeps import UNSETTLED, Outcome, outcome
from sci_core.methods import SCI5, Method

STEP = sqrt(2)
TAU1_STEPS, TAU2_STEPS, BETA_STEPS = range(-7, 8), range(-4, 8), range(-7, 5)
SPLITS = 500
PRESET = SCI5


class Point(NamedTuple):
    """A point of the grid by its steps from the preset; each step is by the square root of two."""

    tau1: int
    tau2: int
    beta: int

    @property
    def method(self) -> Method:
        """SCI5 with these constants; a step up in beta's exponent loosens the constraint."""
        if self == (0, 0, 0):
            return PRESET
        return replace(
            PRESET,
            tau1=PRESET.tau1 * STEP**self.tau1,
            tau2=PRESET.tau2 * STEP**self.tau2,
            beta=PRESET.beta**STEP**self.beta,
        )

    @property
    def place(self) -> tuple[int, int]:
        """What settles its answers, in steps: the weight tau1 / tau2, and the margin."""
        return self.tau1 - self.tau2, self.tau1 + self.beta


def grid_points() -> list[Point]:
    """All points, those with the fewest steps from the preset first."""
    points = map(Point._make, product(TAU1_STEPS, TAU2_STEPS, BETA_STEPS))
    return sorted(points, key=lambda point: (sum(map(abs, point)), point))


@dataclass(frozen=True, eq=False)
class Grid:
    """Outcomes of every point of the grid on the same rows.

    Attributes:
        points: of `grid_points`; by place, the first is the nearest to the preset.
        places: the distinct places, in the order of their first points; the preset's is the first.
        right: [places, rows] 1 or 0, unsettled rows counted as wrong.
        unsettled: [places] share of rows that the records leave open.
        groups: [rows] question groups.
    """

    points: list[Point]
    places: list[tuple[int, int]]
    right: np.ndarray
    unsettled: np.ndarray
    groups: np.ndarray

    @property
    def allowed(self) -> np.ndarray:
        """[places] whether the records settle enough rows for the value to stand."""
        return self.unsettled <= UNSETTLED

    @property
    def accuracies(self) -> np.ndarray:
        """[places] in percent, NaN where there is no row or the records leave too many open."""
        if not self.right.shape[1]:
            return np.full(len(self.right), np.nan)
        return np.where(self.allowed, 100 * self.right.mean(axis=1), np.nan)

    @property
    def best(self) -> int:
        """The best place; of several, the one nearest the preset; the preset without rows."""
        accuracies = self.accuracies
        return 0 if np.isnan(accuracies).all() else int(np.nanargmax(accuracies))

    def method(self, place: int) -> Method:
        """Of the point at a place that is nearest the preset."""
        return next(point for point in self.points if point.place == self.places[place]).method

    def counts(self, mask: np.ndarray) -> int:
        """How many points lie at the places of a mask."""
        chosen = {place for place, inside in zip(self.places, mask, strict=True) if inside}
        return sum(point.place in chosen for point in self.points)


def sweep(subject: Subject) -> Grid:
    """Every point of the grid on all rows of a subject; give it those of validation BS alone."""
    points, ok = grid_points(), subject.records.ok
    first = {point.place: point for point in reversed(points)}
    places = list(dict.fromkeys(point.place for point in points))
    outcomes = [outcome(subject, first[place].method) for place in places]
    right = np.stack([result.read[ok] for result in outcomes]).astype(float)
    unsettled = np.array([result.unsettled(ok) for result in outcomes])
    return Grid(points, places, right, unsettled, subject.groups[ok])


def chosen_and_preset(subject: Subject, grid: Grid) -> dict[str, Outcome]:
    """Outcomes on all rows of a subject of the grid's best point, then of the preset."""
    methods = {"chosen": grid.method(grid.best), "preset": PRESET}
    return {name: outcome(subject, method) for name, method in methods.items()}


class Curse(NamedTuple):
    """What the search over half of the groups promised against the preset, and what it kept.

    Mean gains of the chosen point in points: on the half it was chosen on, and on the other half.
    """

    promised: float
    kept: float


def winners_curse(grid: Grid) -> Curse:
    """The best point's gain over the preset where it was chosen, and where it was not.

    The question groups are cut in halves at random, many times; the best place of one half is
    scored on both. The difference is what choosing the largest of many noisy numbers adds.
    """
    codes, labels = pd.factorize(grid.groups)
    if len(labels) < 2:
        return Curse(np.nan, np.nan)
    sums = np.stack([np.bincount(codes, weights=right) for right in grid.right], axis=1)
    sizes = np.bincount(codes)
    generator = np.random.Generator(np.random.Philox(0))
    order = generator.random((SPLITS, len(labels))).argsort(axis=1)
    half = (order < len(labels) // 2).astype(float)
    shares = [half @ sums / (half @ sizes)[:, None] for half in (half, 1 - half)]
    chosen = np.where(grid.allowed, shares[0], -1.0).argmax(axis=1)
    lines = np.arange(SPLITS)
    return Curse(*(100 * float((share[lines, chosen] - share[:, 0]).mean()) for share in shares))
