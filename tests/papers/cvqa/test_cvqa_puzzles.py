"""Puzzles: every answer is counted again in the rendered picture, by other means."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from scipy import ndimage

from sci_book.papers.cvqa import puzzles
from sci_book.papers.cvqa.drawing import LARGEST, SMALLEST, draw
from sci_book.papers.cvqa.puzzles import CIRCLES, TYPES, Flowers, puzzle

SIZES = (96, 150, 224)
EACH = 8
CONNECTED = np.ones((3, 3))


@cache
def drawn(kind, number, size):
    made = puzzle(3, kind, number)
    return made, np.asarray(draw(made.drawing, size)).astype(int)


def blobs(mask):
    """Centres (x, y) in units of the side of the connected components of a mask."""
    labels, count = ndimage.label(mask, CONNECTED)
    centres = np.array(ndimage.center_of_mass(mask, labels, range(1, count + 1)))
    return (centres.reshape(-1, 2)[:, ::-1] + 0.5) / mask.shape[0]


def asked_colour(question):
    return re.search(r"(\w+) polygons", question)[1]


def flowers_in_picture(made, picture):
    """Flowers are what stays when the same polygons are drawn without them; each is one blob.

    Whether it lies inside a polygon is asked of another library.
    """
    polygons = made.drawing.polygons
    empty = np.asarray(draw(Flowers(polygons, (), ()), picture.shape[0])).astype(int)
    centres = blobs(np.abs(picture - empty).sum(2) > 60)
    within = {}
    for polygon in polygons:
        outline = Outline(np.array(polygon.corners), closed=False)
        within[polygon.colour] = outline.contains_points(centres)
    return within


def dots_in_picture(picture):
    """Dots are the dark blobs; each belongs to the nearest circle."""
    centres = blobs(picture.max(2) < 150)
    nearest = np.argmin(np.linalg.norm(centres[:, None] - np.array(CIRCLES)[None], axis=2), axis=1)
    return np.bincount(nearest, minlength=6)


def answers_in_picture(made, picture):
    """Both answers, from the blobs of the picture and the words of the questions."""
    original, text = made.original.text, made.counterfactual.text
    gone = [int(n) for n in re.findall(r"\d+", text)]
    if made.kind > 3:
        count = dots_in_picture(picture).reshape(2, 3)
        if "in all the circles" in original:
            return count.sum(), count.sum() - gone[0]
        if "top three" in original:
            return count[0].sum(), count[0, :2].sum()
        return count.max(), sorted(count.ravel())[-2]
    within = flowers_in_picture(made, picture)
    mine = within.pop(asked_colour(original))
    (other,) = within.values()
    if "outside" in original:
        return (~mine).sum(), (~mine & ~other).sum()
    if gone:
        return mine.sum(), mine.sum() - gone[0]
    return mine.sum(), (mine & ~other).sum()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_answers_are_what_the_picture_shows(kind, size):
    for number in range(EACH):
        made, picture = drawn(kind, number, size)
        found = answers_in_picture(made, picture)
        assert found == (made.original.answer, made.counterfactual.answer), (kind, number, size)


@pytest.mark.parametrize("kind", (1, 2, 3))
def test_flowers_touch_no_edge_and_no_flower(kind):
    for number in range(EACH):
        made, picture = drawn(kind, number, 224)
        shapes = made.drawing
        alone, lines = (
            np.asarray(draw(part, 224)).astype(int)
            for part in (shapes._replace(polygons=()), shapes._replace(centres=(), styles=()))
        )
        white = 3 * 255
        seen = alone.sum(2) < white
        grown = ndimage.binary_dilation(seen, CONNECTED)
        assert not (grown & (lines.sum(2) < white)).any()
        assert len(blobs(seen)) == len(made.drawing.centres)
        assert (np.minimum(alone, lines) == picture).all()


def test_point_in_a_polygon_that_is_not_convex():
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 0.2), (0.0, 1.0))
    points = np.array([[0.5, 0.1], [0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [1.1, 0.1], [0.5, -0.1]])
    assert puzzles.inside(corners, points).tolist() == [True, False, True, True, False, False]
    assert puzzles.edge_distance(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)), points[3:4]) == (
        pytest.approx(0.4 / 2**0.5)
    )


def test_options_and_letters():
    letters = Counter()
    for kind in TYPES:
        for number in range(40):
            made = puzzle(1, kind, number)
            for question in (made.original, made.counterfactual):
                assert len(set(question.options)) == 4 and min(question.options) >= 0
                letters[kind, question is made.original, question.letter] += 1
            assert made.original.answer != made.counterfactual.answer
    assert set(letters.values()) == {10}  # of 40, in every type and on either side


def test_the_right_option_is_at_no_preferred_place():
    """Neither the lowest nor a middle option is the right one more often than chance."""
    rank = Counter(
        sorted(question.options).index(question.answer)
        for kind in TYPES
        for number in range(50)
        for question in [puzzle(2, kind, number).original]
        if question.answer >= 3
    )
    n = sum(rank.values())
    assert all(abs(rank[k] / n - 0.25) < 0.09 for k in range(4))


def test_a_puzzle_depends_on_seed_type_and_number_alone():
    assert puzzle(4, 2, 7) == puzzle(4, 2, 7)
    assert puzzle(4, 2, 7) != puzzle(5, 2, 7) != puzzle(5, 2, 8)
    assert puzzle(4, 1, 7).drawing != puzzle(4, 2, 7).drawing
    before = draw(puzzle(4, 2, 7).drawing, 100).tobytes()
    for kind in TYPES:
        draw(puzzle(9, kind, 1).drawing, 120)
    assert draw(puzzle(4, 2, 7).drawing, 100).tobytes() == before


@pytest.mark.parametrize("size", (0, -1, SMALLEST - 1, LARGEST + 1))
def test_a_size_that_cannot_be_drawn(size):
    with pytest.raises(ValueError, match=f"cannot be drawn at {size} x {size} pixels.*96 to 2048"):
        draw(puzzle(0, 1, 0).drawing, size)


@pytest.mark.parametrize("bad", [(0, 0, 0), (0, 7, 0), (-1, 1, 0), (0, 1, -1)])
def test_a_puzzle_that_is_none(bad):
    with pytest.raises(ValueError, match=r"has a type of 1\.\.6"):
        puzzle(*bad)


def test_flowers_that_find_no_room(monkeypatch):
    monkeypatch.setattr(puzzles, "FLOWER_RADIUS", 0.2)
    monkeypatch.setattr(puzzles, "_TRIES", 2)
    with pytest.raises(RuntimeError, match="found no room between two polygons in 2 tries"):
        puzzle(0, 1, 0)
