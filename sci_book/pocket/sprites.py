"""The things of the pocket world as small shaded pictures.

Each kind is a few polygons and ellipses on a 100 x 100 sheet, drawn at four times its size and
averaged down, then outlined, shaded from the top left, roughened, and given a soft shadow. All
arithmetic after the polygons is on integers, so that the pixels are the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageChops, ImageFilter, ImageOps

from sci_book.pocket.pen import OVERSAMPLE, Pen, tint
from sci_book.pocket.shapes import SYMBOLS, draw_shape, draw_symbol
from sci_book.pocket.world import KINDS

VARIANTS = 6  # two directions to face times three tones
MARGIN = 5  # pixels around a thing, for its shadow
HALO = 13  # pixels around a lamp that is on


@dataclass(frozen=True)
class Sprite:
    """A thing ready to be laid over a picture, with room of `margin` pixels on every side.

    `paint` is colour times opacity and `keep` is 256 minus opacity, so that a picture v becomes
    (v * keep + paint) >> 8. `mask` is the thing itself, without shadow and halo.
    """

    paint: np.ndarray  # uint16 [side, side, 3], 0..65280
    keep: np.ndarray  # uint16 [side, side, 1], 0..256
    mask: np.ndarray  # bool [side, side]
    margin: int


def _rough(size: int, variant: int) -> np.ndarray:
    """Fixed fine texture, int32 [size, size, 1]: single pixels and blotches of 2 x 2."""
    rng = np.random.Generator(np.random.PCG64(1000 * size + variant))
    fine = rng.integers(-13, 14, (size, size, 1))
    half = (size + 1) // 2
    blotch = rng.integers(-10, 11, (half, half, 1)).repeat(2, 0).repeat(2, 1)[:size, :size]
    return (fine + blotch).astype(np.int32)


def _widened(alpha: Image.Image) -> Image.Image:
    """The largest value within two pixels, along columns, then along rows.

    Pillow's own filter takes ten times as long.
    """
    around = np.pad(np.asarray(alpha), 2)
    for _ in range(2):
        around = np.max([around[first : len(around) - 4 + first] for first in range(5)], 0).T
    return Image.fromarray(around)


@cache
def sprite(
    kind: str, colour: str, size: int, variant: int, on: bool = False, text: str | None = None
) -> Sprite:
    """The picture of one thing, `size` pixels wide.

    Args:
        kind: a name in `KINDS`, or "sign".
        colour: a name in `PAINT`.
        size: width and height in pixels of the thing with its outline.
        variant: 0..VARIANTS - 1: which way it faces (signs never turn), its tone and grain.
        on: whether a lamp glows.
        text: what a sign says, one of `SYMBOLS`.
    """
    pen, shades = Pen(size), tint(colour)
    if kind == "sign" and text not in SYMBOLS:
        raise ValueError(f"a sign cannot say {text!r}: its text must be one of {(*SYMBOLS,)}")
    if kind not in (*KINDS, "sign"):
        raise ValueError(f"no kind {kind!r}: expected one of {(*KINDS, 'sign')}")
    glowing = kind == "lamp" and on
    draw_shape(pen, shades, "lit lamp" if glowing else kind)
    if kind == "sign":
        draw_symbol(pen, shades, text)
    sheet = pen.sheet
    if variant % 2 and kind != "sign":
        sheet = sheet.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    margin = HALO if glowing else MARGIN
    sheet = ImageOps.expand(sheet, margin * OVERSAMPLE)
    outline = _widened(sheet.getchannel("A"))
    body = Image.new("RGBA", sheet.size, (*shades.outline, 0))
    body.putalpha(outline)
    body.alpha_composite(sheet)
    small = np.asarray(body.reduce(OVERSAMPLE)).astype(np.int32)
    side = small.shape[0]
    y, x = np.mgrid[0:side, 0:side] - margin
    shade = 26 - (44 * y + 20 * x) // size + 12 * (variant // 2 - 1)
    rgb = (small[..., :3] * (256 + shade[..., None]) >> 8) + _rough(side, variant)
    rgb = np.clip(rgb, 0, 255)
    alpha = small[..., 3:] + (small[..., 3:] >> 7)  # 0..255 to 0..256

    if glowing:
        away = 4 * (x - size // 2) ** 2 + 4 * (y - size // 3) ** 2
        reach = (2 * HALO + 3 * size // 4) ** 2
        under = np.clip(150 * (reach - away) // reach, 0, 150)[..., None]
        behind = np.array((255, 236, 176))
    else:
        shadow = ImageChops.offset(outline, OVERSAMPLE * 3 // 2, 2 * OVERSAMPLE)
        for _ in range(2):
            shadow = shadow.filter(ImageFilter.BoxBlur(OVERSAMPLE))
        under = np.asarray(shadow.reduce(OVERSAMPLE)).astype(np.int32)[..., None] * 88 >> 8
        behind = np.array((24, 24, 34))
    under = under * (256 - alpha) >> 8
    return Sprite(
        paint=(rgb * alpha + behind * under).astype(np.uint16),
        keep=(256 - alpha - under).astype(np.uint16),
        mask=small[..., 3] > 127,
        margin=margin,
    )
