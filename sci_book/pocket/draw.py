"""Pictures of scenes: 96 x 96 pixels, the same on every machine.

A picture is a crop of one rendering of the place, the things laid over it cell by cell, the light,
and sensor noise. Chance comes from the scene's seed alone, and each cell has its own numbers: a
thing that changes or goes leaves the rest of the picture as it was.
"""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from PIL import Image

from sci_book.pocket import backgrounds
from sci_book.pocket.sprites import VARIANTS, Sprite, sprite
from sci_book.pocket.world import LIGHTS, Scene, Thing

SIZE = 96  # pixels; 3 x 3 cells of CELL
CELL = 32
_SIZES = (21, 24, 27, 30)
_SIGN_SIZES = (28, 30)
_NOISE_SIDE = 192

# What a light does to (red, green, blue): v * gain / 256 + lift, and its share of noise in 1/16
_GAIN = {
    "clear": (234, 234, 234), "dusk": (92, 100, 138), "fog": (112, 112, 110), "grain": (216,) * 3,
}  # fmt: skip
_LIFT = {"clear": (16, 16, 16), "dusk": (8, 10, 22), "fog": (116, 119, 122), "grain": (12,) * 3}
_NOISE = {"clear": 12, "dusk": 20, "fog": 10, "grain": 120}


@cache
def _noise(light: str) -> np.ndarray:
    """A field of bell-shaped noise, int32 [_NOISE_SIDE, _NOISE_SIDE, 3]; clear: deviation 4."""
    rng = np.random.Generator(np.random.PCG64(LIGHTS.index(light)))
    # four dice of -4..4 have the deviation 5.2
    dice = rng.integers(-4, 5, (4, _NOISE_SIDE, _NOISE_SIDE, 3)).sum(0)
    return (dice * _NOISE[light] // 16).astype(np.int32)


def _chance(scene: Scene) -> np.ndarray:
    """The scene's random numbers, [10, 8]: a row for each cell, the last for the whole picture."""
    return np.random.Generator(np.random.PCG64(scene.seed)).integers(0, 1 << 16, (10, 8))


def _placed(thing: Thing, chance: np.ndarray) -> tuple[Sprite, int, int]:
    """A thing's sprite, and the row and column of the sprite's first pixel."""
    pick, tone, dy, dx = (int(n) for n in chance[thing.cell, :4])
    sizes = _SIGN_SIZES if thing.kind == "sign" else _SIZES
    size = sizes[pick % len(sizes)]
    picture = sprite(thing.kind, thing.colour, size, tone % VARIANTS, bool(thing.on), thing.text)
    free = CELL - size
    top = thing.cell // 3 * CELL + dy % (free + 1) - picture.margin
    left = thing.cell % 3 * CELL + dx % (free + 1) - picture.margin
    return picture, top, left


def _clip(picture: Sprite, top: int, left: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Where a sprite falls on the picture, and which part of the sprite that is."""
    side = picture.mask.shape[0]
    rows = slice(max(top, 0), min(top + side, SIZE))
    columns = slice(max(left, 0), min(left + side, SIZE))
    part = (slice(rows.start - top, rows.stop - top),
            slice(columns.start - left, columns.stop - left))  # fmt: skip
    return (rows, columns), part


def draw(scene: Scene) -> np.ndarray:
    """The picture of a scene.

    Returns:
        uint8 [SIZE, SIZE, 3], red, green, blue.
    """
    if scene.light not in LIGHTS:
        raise ValueError(f"no light {scene.light!r}: expected one of {LIGHTS}")
    chance = _chance(scene)
    variant, flip, y, x, warm, bright, dy, dx = (int(n) for n in chance[9])
    room = backgrounds.SIDE - SIZE
    y, x = y % (room + 1), x % (room + 1)
    place = backgrounds.background(scene.place, variant % backgrounds.VARIANTS)
    canvas = place[y : y + SIZE, x : x + SIZE]
    canvas = (canvas[:, ::-1] if flip % 2 else canvas).copy()
    for thing in sorted(scene.things, key=lambda thing: thing.cell):
        picture, top, left = _placed(thing, chance)
        window, part = _clip(picture, top, left)
        under = canvas[window]
        under *= picture.keep[part]
        under += picture.paint[part]
        under >>= 8
    warm, bright = warm % 17 - 8, bright % 21 - 10
    cast = np.array((warm + bright, bright, bright - warm), np.int32)
    room = _NOISE_SIDE - SIZE
    dy, dx = dy % room, dx % room
    lit = canvas.astype(np.int32)
    lit *= np.array(_GAIN[scene.light], np.int32) + cast
    lit >>= 8
    lit += np.array(_LIFT[scene.light], np.int32)
    lit += _noise(scene.light)[dy : dy + SIZE, dx : dx + SIZE]
    return np.clip(lit, 0, 255, out=lit).astype(np.uint8)


def png(scene: Scene) -> bytes:
    """The PNG file of a scene's picture."""
    buffer = io.BytesIO()
    Image.fromarray(draw(scene)).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def empty_picture(rng: np.random.Generator, other: Scene) -> np.ndarray:
    """A picture of nothing: one colour, a slope between two colours, or, half of the time, static.

    Up to three in ten of the static's values are those of another scene, so that what can be made
    out under noise is no help. None of them is one of the paper's dummies: those are black, or a
    picture with bell-shaped noise added.

    Returns:
        uint8 [SIZE, SIZE, 3], red, green, blue.
    """
    kind = rng.integers(4)
    if kind >= 2:
        static = rng.integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)
        visible = rng.random(static.shape) < rng.uniform(0, 0.3)
        return np.where(visible, draw(other), static)
    first, second = rng.integers(16, 256, (2, 1, 1, 3))
    share = np.linspace(0, 1, SIZE)[:, None, None] if kind else np.zeros((1, 1, 1))
    slope = first + share * (second - first)
    return np.broadcast_to(slope.astype(np.uint8), (SIZE, SIZE, 3)).copy()


def masks(scene: Scene) -> np.ndarray:
    """Which pixels each thing covers, outline included, shadow and halo left out.

    Returns:
        bool [things, SIZE, SIZE], in the order of scene.things.
    """
    chance = _chance(scene)
    covered = np.zeros((len(scene.things), SIZE, SIZE), bool)
    for sheet, thing in zip(covered, scene.things, strict=True):
        picture, top, left = _placed(thing, chance)
        window, part = _clip(picture, top, left)
        sheet[window] = picture.mask[part]
    return covered


def boxes(scene: Scene) -> tuple[tuple[int, int, int, int], ...]:
    """The pixel box of each thing, in the order of scene.things.

    Returns:
        (left, top, right, bottom) of each; right and bottom are one past the last pixel.
    """
    return tuple(Image.fromarray(sheet).getbbox() for sheet in masks(scene))
