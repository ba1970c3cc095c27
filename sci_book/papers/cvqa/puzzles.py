"""The six counting puzzles of C-VQA-Synthetic (paper, section 3.3 and Table 2), as geometry.

A puzzle is a drawing in the unit square, a question about it, and the question under a
counterfactual presupposition. Flowers lie in the four regions that two coloured polygons cut out;
dots lie in six circles, two rows of three. Every answer is counted off the geometry.

====  =====================================================  ================================
type  original                                               counterfactual
====  =====================================================  ================================
1     flowers outside the polygon of one colour              outside both polygons
2     flowers inside the polygon of one colour               the same, less N
3     flowers inside the polygon of one colour               inside it and outside the other
4     dots in all circles                                    the same, less N
5     dots in the top three circles                          without the right-hand column
6     most dots in one circle                                second most (the most is unique)
====  =====================================================  ================================

The counterfactual answer always differs from the original one. Puzzle (type, number) depends on
them and the seed alone. This file knows nothing of pixels (`drawing.py`) or files (`synthetic.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TYPES = (1, 2, 3, 4, 5, 6)
COLOURS = ("red", "black", "purple", "green", "orange", "blue", "yellow", "pink")
LETTERS = "ABCD"
MOST_FLOWERS = 9  # in one region, at least 1; so many stay apart at 96 pixels (public set: 12)
MOST_DOTS = 7  # in one circle, at least 1; the largest of type 6 is 4..8
FLOWER_STYLES = 3

# Lengths in units of the picture's side.
FLOWER_RADIUS = 0.022
DOT_RADIUS = 0.016
EDGE_WIDTH = 0.016
GAP = 0.024  # between any two things that must not touch
CIRCLE_RADIUS = 0.14
CIRCLES = tuple((x, y) for y in (0.3, 0.7) for x in (0.18, 0.5, 0.82))  # row by row

_TRIES = 1000  # pairs of polygons for one puzzle; a dozen suffice
_CANDIDATES = 1500  # places for flowers tried in one pair

Point = tuple[float, float]


class Polygon(NamedTuple):
    """A closed polygon without self-intersection; corners in order, in the unit square."""

    colour: str
    corners: tuple[Point, ...]


class Flowers(NamedTuple):
    """Two polygons of different colours and flowers: their centres and styles."""

    polygons: tuple[Polygon, ...]
    centres: tuple[Point, ...]
    styles: tuple[int, ...]


class Dots(NamedTuple):
    """The dots' centres in each of the six `CIRCLES`."""

    circles: tuple[tuple[Point, ...], ...]


class Question(NamedTuple):
    """A question with four options, one of them right."""

    text: str
    options: tuple[int, int, int, int]
    letter: str

    @property
    def answer(self) -> int:
        return self.options[LETTERS.index(self.letter)]

    @property
    def query(self) -> str:
        """The text as the public file has it, options included."""
        options = "  ".join(f"{x}:{n}" for x, n in zip(LETTERS, self.options, strict=True))
        return f"{self.text} Select the correct answer:{options}"


class Puzzle(NamedTuple):
    """A drawing with its original and its counterfactual question."""

    kind: int
    number: int
    drawing: Flowers | Dots
    original: Question
    counterfactual: Question


def puzzle(seed: int, kind: int, number: int) -> Puzzle:
    """One puzzle of a type, 1 to 6 (see the module).

    Four numbers in a row, from a multiple of 4 on, have four different right letters, for either
    question.

    Raises:
        ValueError: for another type, or a negative seed or number.
    """
    if kind not in TYPES or min(seed, number) < 0:
        raise ValueError(
            f"A puzzle has a type of {TYPES[0]}..{TYPES[-1]} and a seed and number of at least 0; "
            f"got type {kind}, seed {seed}, number {number}."
        )
    rng = np.random.default_rng([seed, kind, number])
    drawing, texts, answers = _flowers(rng, kind) if kind <= 3 else _dots(rng, kind)
    letters = _letters(seed, kind, number)
    original, counterfactual = (
        _question(rng, text, int(answer), letter)
        for text, answer, letter in zip(texts, answers, letters, strict=True)
    )
    return Puzzle(kind, number, drawing, original, counterfactual)


def inside(corners: tuple[Point, ...], points: np.ndarray) -> np.ndarray:
    """Which points `[n, 2]` lie inside a polygon, by the parity of edges crossed to the right."""
    x, y = points[:, 0], points[:, 1]
    within = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in _edges(corners):
        crossed = (y0 > y) != (y1 > y)
        if crossed.any():
            within ^= crossed & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return within


def edge_distance(corners: tuple[Point, ...], points: np.ndarray) -> np.ndarray:
    """The distance of points `[n, 2]` from a polygon's nearest edge."""
    nearest = np.full(len(points), np.inf)
    for start, end in _edges(corners):
        start, along = np.array(start), np.subtract(end, start)
        reach = np.clip((points - start) @ along / (along @ along), 0, 1)
        nearest = np.minimum(nearest, np.hypot(*(points - start - reach[:, None] * along).T))
    return nearest


def region_counts(drawing: Flowers) -> np.ndarray:
    """Flowers by region: entry `[i, j]` counts those inside the first (i) and second (j) polygon.

    `[1, 0]` is in1 & out2 of the paper.
    """
    centres = np.array(drawing.centres)
    first, second = (inside(polygon.corners, centres) for polygon in drawing.polygons)
    counts = np.zeros((2, 2), int)
    np.add.at(counts, (first.astype(int), second.astype(int)), 1)
    return counts


def _flowers(rng: np.random.Generator, kind: int):
    """A drawing of flowers, the two questions' texts, and their answers."""
    first, second = (COLOURS[i] for i in rng.choice(len(COLOURS), 2, replace=False))
    drawing = _field(rng, (first, second), rng.integers(1, MOST_FLOWERS + 1, (2, 2)))
    count = region_counts(drawing)
    if kind == 1:
        return drawing, (
            f"How many flowers are outside the {first} polygons?",
            f"How many flowers would be outside the {first} polygons if all polygons were {first}?",
        ), (count[0].sum(), count[0, 0])  # fmt: skip
    original = f"How many flowers are inside the {first} polygons?"
    within = count[1].sum()
    if kind == 2:
        gone = rng.integers(1, within + 1)
        removed = f"if we removed {gone} flowers in {first} polygons"
        answers = within, within - gone
    else:
        removed = f"if all flowers in {second} polygons were removed"
        answers = within, count[1, 0]
    return drawing, (
        original, f"How many flowers would be inside {first} polygons {removed}?"
    ), answers  # fmt: skip


def _dots(rng: np.random.Generator, kind: int):
    """A drawing of dots, the two questions' texts, and their answers."""
    numbers = rng.integers(1, MOST_DOTS + 1, len(CIRCLES))
    if kind == 6:
        most = rng.integers(4, MOST_DOTS + 2)
        numbers = rng.integers(1, most, len(CIRCLES))
        numbers[rng.integers(len(CIRCLES))] = most
    drawing = Dots(tuple(_spread(rng, centre, int(n)) for centre, n in zip(
        CIRCLES, numbers, strict=True)))  # fmt: skip
    count = np.array([len(dots) for dots in drawing.circles])
    if kind == 4:
        gone = rng.integers(1, count.sum() + 1)
        return drawing, (
            "How many dots are there in all the circles together?",
            "How many dots would there be in all the circles together if "
            f"{gone} dots were removed from the circles?",
        ), (count.sum(), count.sum() - gone)  # fmt: skip
    if kind == 5:
        return drawing, (
            "How many dots are there in the top three circles together?",
            "How many dots would there be in the top three circles together if the two rightmost "
            "circles and dots in them were removed from the circles?",
        ), (count[:3].sum(), count[:2].sum())  # fmt: skip
    return drawing, (
        "How many dots do a circle contain at most?",
        "How many dots would a circle contain at most if one of the circles with most dots were "
        "removed?",
    ), (count.max(), np.sort(count)[-2])  # fmt: skip


def _field(rng: np.random.Generator, colours: tuple[str, str], counts: np.ndarray) -> Flowers:
    """Two polygons and so many flowers in each of their four regions, none touching an edge.

    The counts come first and polygons are drawn until the flowers fit, so that the shapes do not
    sway the answers.
    """
    for _ in range(_TRIES):
        turn = rng.uniform(0, 2 * np.pi)
        offset = 0.12 * np.array([np.cos(turn), np.sin(turn)])
        corners = _polygon(rng, 0.5 + offset), _polygon(rng, 0.5 - offset)
        border = FLOWER_RADIUS + GAP / 2
        points = rng.uniform(border, 1 - border, (_CANDIDATES, 2))
        clear = np.minimum(*(edge_distance(c, points) for c in corners))
        points = points[clear >= FLOWER_RADIUS + EDGE_WIDTH / 2 + GAP]
        first, second = (inside(c, points).astype(int) for c in corners)
        chosen = _apart(points, 2 * first + second, counts.ravel(), 2 * FLOWER_RADIUS + GAP)
        if chosen is not None:
            return Flowers(
                tuple(map(Polygon, colours, corners)),
                _points(chosen),
                tuple(rng.integers(0, FLOWER_STYLES, len(chosen)).tolist()),
            )
    raise RuntimeError(
        f"{counts.sum()} flowers found no room between two polygons in {_TRIES} tries; make "
        "FLOWER_RADIUS or GAP smaller."
    )


def _polygon(rng: np.random.Generator, centre: np.ndarray) -> tuple[Point, ...]:
    """Four to seven corners around a centre, far enough out that flowers find room."""
    corners = int(rng.integers(4, 8))
    angles = (np.arange(corners) + rng.uniform(-0.2, 0.2, corners)) * 2 * np.pi / corners
    angles += rng.uniform(0, 2 * np.pi)
    radii = rng.uniform(0.28, 0.35, corners)
    return _points(centre + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1))


def _apart(
    points: np.ndarray, regions: np.ndarray, counts: np.ndarray, distance: float
) -> np.ndarray | None:
    """The first points, in order, of each region's number and apart; None where they run out."""
    chosen = np.empty((int(counts.sum()), 2))
    missing, n = counts.copy(), 0
    for point, region in zip(points, regions, strict=True):
        if missing[region] and (((chosen[:n] - point) ** 2).sum(1) >= distance**2).all():
            chosen[n], n = point, n + 1
            missing[region] -= 1
            if not missing.any():
                return chosen
    return None


def _spread(rng: np.random.Generator, centre: Point, number: int) -> tuple[Point, ...]:
    """So many places for dots in a circle, apart from each other and from its edge."""
    reach = CIRCLE_RADIUS - EDGE_WIDTH / 2 - GAP - DOT_RADIUS
    while True:
        points = rng.uniform(-reach, reach, (60, 2))
        points = points[np.hypot(*points.T) <= reach]
        dots = _apart(points, np.zeros(len(points), int), np.array([number]), 2 * DOT_RADIUS + GAP)
        if dots is not None:
            return _points(dots + centre)


def _question(rng: np.random.Generator, text: str, answer: int, letter: str) -> Question:
    """Four distinct options, none negative; the right one is as often lowest as highest."""
    below = int(rng.integers(0, min(3, answer) + 1))
    lower = answer - rng.choice(np.arange(1, min(answer, 6) + 1), below, replace=False)
    higher = answer + rng.choice(np.arange(1, 7), 3 - below, replace=False)
    options = rng.permutation(np.concatenate([lower, higher])).tolist()
    options.insert(LETTERS.index(letter), answer)
    return Question(text, tuple(options), letter)


def _letters(seed: int, kind: int, number: int) -> tuple[str, str]:
    """The right letters of the two questions: every block of four has each letter once."""
    rng = np.random.default_rng([seed, kind, number // 4, len(LETTERS)])
    original, counterfactual = rng.permutation(4), rng.permutation(4)
    return LETTERS[original[number % 4]], LETTERS[counterfactual[number % 4]]


def _points(places: np.ndarray) -> tuple[Point, ...]:
    return tuple(map(tuple, places.tolist()))


def _edges(corners: tuple[Point, ...]):
    return zip(corners, corners[1:] + corners[:1], strict=True)
