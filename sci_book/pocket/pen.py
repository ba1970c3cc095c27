"""What the things of the pocket world are drawn with: paints, tints and a pen."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from sci_book.pocket.words import manifest

RGB = tuple[int, int, int]
OVERSAMPLE = 4


def rgb(code: str) -> RGB:
    """The colour that "#rrggbb" names."""
    return tuple(bytes.fromhex(code[1:]))


_COLOURS = manifest("colours.yaml")
PAINT = {name: rgb(code) for name, code in _COLOURS["paint"].items()}
MATERIALS = {name: rgb(code) for name, code in _COLOURS["materials"].items()}


def blend(a: RGB, b: RGB, part: int, whole: int = 100) -> RGB:
    """The colour `part` of `whole` of the way from a to b."""
    return tuple(x + (y - x) * part // whole for x, y in zip(a, b, strict=True))


class Pen:
    """Draws on a transparent sheet of 100 x 100 units, `size * OVERSAMPLE` pixels wide."""

    def __init__(self, size: int) -> None:
        self.pixels = size * OVERSAMPLE
        self.sheet = Image.new("RGBA", (self.pixels, self.pixels))
        self._draw = ImageDraw.Draw(self.sheet)

    def _at(self, *numbers: int) -> list[int]:
        # 4 units of room on each side are for the outline
        return [(4 * 100 + n * 92) * self.pixels // 10_000 for n in numbers]

    def poly(self, fill: RGB, *numbers: int) -> None:
        """A filled polygon: x, y, x, y, …"""
        self._draw.polygon(self._at(*numbers), fill=fill)

    def oval(self, fill: RGB, left: int, top: int, right: int, bottom: int) -> None:
        """A filled ellipse."""
        self._draw.ellipse(self._at(left, top, right, bottom), fill=fill)

    def box(self, fill: RGB, left: int, top: int, right: int, bottom: int, radius: int = 0) -> None:
        """A filled rectangle, its corners rounded by `radius`."""
        self._draw.rounded_rectangle(
            self._at(left, top, right, bottom), radius * self.pixels // 100, fill=fill
        )

    def line(self, fill: RGB, width: int, *numbers: int) -> None:
        """A line with round ends and joints."""
        points = self._at(*numbers)
        thick = max(2, width * self.pixels // 100)
        self._draw.line(points, fill=fill, width=thick)
        for x, y in zip(points[::2], points[1::2], strict=True):
            r = thick // 2
            self._draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def pie(self, fill: RGB, left: int, top: int, right: int, bottom: int, a: int, b: int) -> None:
        """A slice of an ellipse between two angles in degrees, clockwise from three o'clock."""
        self._draw.pieslice(self._at(left, top, right, bottom), a, b, fill=fill)

    def ring(
        self, fill: RGB, width: int, left: int, top: int, right: int, bottom: int, a=0, b=360
    ) -> None:
        """An arc of an ellipse."""
        thick = max(2, width * self.pixels // 100)
        self._draw.arc(self._at(left, top, right, bottom), a, b, fill=fill, width=thick)


@dataclass(frozen=True)
class Tint:
    """A thing's colour, and the lighter and darker shades its parts are drawn in."""

    base: RGB
    light: RGB
    dark: RGB
    outline: RGB


def tint(colour: str) -> Tint:
    """The shades of one colour of the pocket world."""
    if colour not in PAINT:
        raise ValueError(f"no colour {colour!r}: expected one of {tuple(PAINT)}")
    base = PAINT[colour]
    outline = (112, 112, 118) if colour == "black" else blend(base, (20, 20, 28), 62)
    return Tint(base, blend(base, (255, 252, 240), 28), blend(base, (20, 18, 30), 30), outline)
