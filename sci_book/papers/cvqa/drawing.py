"""Pictures of puzzles, at any size at which their parts stay apart.

Everything is drawn `_SUPERSAMPLING` times too large and averaged down, so that edges are smooth
and a place is as exact as at the full size. Pillow alone; no chance enters.
"""

from __future__ import annotations

import math

from PIL import Image, ImageDraw

from sci_book.papers.cvqa.puzzles import (
    CIRCLE_RADIUS,
    CIRCLES,
    DOT_RADIUS,
    EDGE_WIDTH,
    FLOWER_RADIUS,
    Dots,
    Flowers,
)

SMALLEST = 96  # pixels; below it the gap between two flowers is thinner than two pixels
LARGEST = 2048
_SUPERSAMPLING = 4

_PAPER, _INK = (255, 255, 255), (40, 40, 40)
_RGB = {
    "red": (222, 36, 36), "black": (0, 0, 0), "purple": (128, 40, 168), "green": (24, 150, 56),
    "orange": (255, 140, 0), "blue": (30, 70, 220), "yellow": (245, 215, 0),
    "pink": (255, 130, 195),
}  # fmt: skip
# Petals and heart of each flower style: no colour of a polygon.
_FLOWERS = (
    (5, (0, 140, 140), (250, 240, 200)),
    (6, (140, 90, 50), (250, 240, 200)),
    (8, (96, 110, 130), (250, 240, 200)),
)  # fmt: skip


def draw(drawing: Flowers | Dots, size: int) -> Image.Image:
    """The picture of a puzzle's drawing, RGB, `size` pixels a side.

    Raises:
        ValueError: for a size at which it cannot be drawn so that its parts can be counted.
    """
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(
            f"A puzzle cannot be drawn at {size} x {size} pixels: below {SMALLEST} its flowers and "
            f"dots run into each other, above {LARGEST} the canvas takes too much memory; ask for "
            f"a size of {SMALLEST} to {LARGEST}."
        )
    side = size * _SUPERSAMPLING
    canvas = Image.new("RGB", (side, side), _PAPER)
    pen = ImageDraw.Draw(canvas)
    if isinstance(drawing, Flowers):
        _draw_flowers(pen, drawing, side)
    else:
        _draw_dots(pen, drawing, side)
    return canvas.reduce(_SUPERSAMPLING)


def _draw_flowers(pen: ImageDraw.ImageDraw, drawing: Flowers, side: int) -> None:
    for polygon in drawing.polygons:
        points = [(x * side, y * side) for x, y in polygon.corners]
        # The first edge twice, so that the last corner is rounded like the others.
        pen.line(
            [*points, *points[:2]], _RGB[polygon.colour], round(EDGE_WIDTH * side), joint="curve"
        )
    for (x, y), style in zip(drawing.centres, drawing.styles, strict=True):
        petals, colour, heart = _FLOWERS[style]
        for k in range(petals):
            angle = 2 * math.pi * k / petals
            reach, width = 0.58 * FLOWER_RADIUS, 0.42 * FLOWER_RADIUS
            _disc(pen, (x + reach * math.cos(angle), y + reach * math.sin(angle)), width, colour,
                  side)  # fmt: skip
        _disc(pen, (x, y), 0.62 * FLOWER_RADIUS, colour, side)
        _disc(pen, (x, y), 0.26 * FLOWER_RADIUS, heart, side)


def _draw_dots(pen: ImageDraw.ImageDraw, drawing: Dots, side: int) -> None:
    for centre, dots in zip(CIRCLES, drawing.circles, strict=True):
        outer = CIRCLE_RADIUS + EDGE_WIDTH / 2
        box = [(c + sign * outer) * side for sign in (-1, 1) for c in centre]
        pen.ellipse(box, outline=_RGB["blue"], width=round(EDGE_WIDTH * side))
        for dot in dots:
            _disc(pen, dot, DOT_RADIUS, _INK, side)


def _disc(pen: ImageDraw.ImageDraw, centre, radius: float, colour, side: int) -> None:
    pen.ellipse([(c + sign * radius) * side for sign in (-1, 1) for c in centre], fill=colour)
