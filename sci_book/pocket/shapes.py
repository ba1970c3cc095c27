"""How each thing of the pocket world is drawn: `data_manifests/pocket/shapes.yaml`."""

from __future__ import annotations

import re

from sci_book.pocket.pen import MATERIALS, RGB, Pen, Tint, blend, rgb
from sci_book.pocket.words import manifest

_DRAWINGS = manifest("shapes.yaml")
SHAPES: dict[str, list[str]] = _DRAWINGS["things"]
SYMBOLS: dict[str, list[str]] = _DRAWINGS["symbols"]


def draw_shape(pen: Pen, tint: Tint, name: str) -> None:
    """Draw one of `SHAPES`, stroke by stroke."""
    pens = (pen.line, pen.poly, pen.oval, pen.box, pen.pie, pen.ring)
    tools = {method.__name__: method for method in pens}
    for stroke in SHAPES[name]:
        tool, colour, *numbers = stroke.split()
        tools[tool](_colour(colour, tint), *map(int, numbers))


def draw_symbol(pen: Pen, tint: Tint, text: str) -> None:
    """Write one of `SYMBOLS` on a sign."""
    ink = MATERIALS["cream" if sum(tint.base) < 390 else "ink"]
    for line in SYMBOLS[text]:
        numbers = [int(number) for number in line.split()]
        points = zip(numbers[::2], numbers[1::2], strict=True)
        pen.line(ink, 11, *(n for x, y in points for n in (30 + 10 * x, 13 + 9 * y)))


def _colour(name: str, tint: Tint) -> RGB:
    """A colour as `shapes.yaml` names it."""
    first, *rest = re.split(r"[+*]", name)
    if rest:
        return blend(_colour(first, tint), _colour(rest[0], tint), int(rest[1]))
    if name.startswith("#"):
        return rgb(name)
    return MATERIALS[name] if name in MATERIALS else getattr(tint, name)
