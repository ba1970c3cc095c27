"""The six places of the pocket world: textured, rather pale, slightly larger than a picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from sci_book.pocket.pen import RGB, blend
from sci_book.pocket.world import pick

SIDE = 112  # pixels: 16 more than a picture, so that each picture shows another crop
OVERSAMPLE = 3
FULL = SIDE * OVERSAMPLE  # pixels of the sheet that is drawn on
VARIANTS = 8

Draw = ImageDraw.ImageDraw


def _tone(rng: np.random.Generator, colour: RGB, spread: int) -> RGB:
    shift = int(rng.integers(-spread, spread + 1))
    return tuple(min(255, max(0, c + shift + int(rng.integers(-3, 4)))) for c in colour)


def _slope(draw: Draw, top: int, bottom: int, a: RGB, b: RGB) -> None:
    """A vertical gradient between two rows."""
    for y in range(top, bottom):
        draw.line((0, y, FULL, y), fill=blend(a, b, y - top, bottom - top))


def _strokes(
    draw: Draw, rng: np.random.Generator, number: int, box: tuple[int, int, int, int],
    colour: RGB, spread: int, reach: tuple[int, int],
) -> None:  # fmt: skip
    """Short strokes strewn over a box, each up to `reach` long in x and y."""
    for _ in range(number):
        x, y = int(rng.integers(box[0], box[2])), int(rng.integers(box[1], box[3]))
        dx = int(rng.integers(-reach[0], reach[0] + 1))
        dy = int(rng.integers(reach[1] // 2, reach[1] + 1))
        draw.line((x, y, x + dx, y - dy), fill=_tone(rng, colour, spread), width=2)


def _dots(
    draw: Draw, rng: np.random.Generator, number: int, box: tuple[int, int, int, int],
    colour: RGB, spread: int, size: tuple[int, int],
) -> None:  # fmt: skip
    """Ellipses strewn over a box, each `size` wide and high."""
    for _ in range(number):
        x, y = int(rng.integers(box[0], box[2])), int(rng.integers(box[1], box[3]))
        fill = _tone(rng, colour, spread)
        draw.ellipse((x, y, x + size[0], y + size[1]), fill=fill)


def _ridge(rng: np.random.Generator, base: int, swing: int, step: int) -> list[tuple[int, int]]:
    """The points of a hilly line across the sheet."""
    return [
        (x, base + int(rng.integers(-swing, swing + 1)))
        for x in range(-step, FULL + 2 * step, step)
    ]


def _fill_below(draw: Draw, line: list[tuple[int, int]], colour: RGB) -> None:
    draw.polygon([*line, (line[-1][0], FULL), (line[0][0], FULL)], fill=colour)


def _clouds(draw: Draw, rng: np.random.Generator, sky: RGB, bottom: int) -> None:
    for _ in range(4):
        x, y = int(rng.integers(0, FULL)), int(rng.integers(0, bottom))
        for _ in range(4):
            dx, dy = int(rng.integers(-24, 24)), int(rng.integers(-4, 5))
            draw.ellipse(
                (x + dx - 18, y + dy - 6, x + dx + 18, y + dy + 6),
                fill=blend(sky, (240, 240, 238), 1, 2),
            )


def _sea(draw: Draw, rng: np.random.Generator) -> None:
    horizon = int(rng.integers(84, 120))
    sky = _tone(rng, (182, 200, 212), 8)
    _slope(draw, 0, horizon, sky, (214, 216, 210))
    _clouds(draw, rng, sky, horizon - 12)
    _slope(draw, horizon, FULL, _tone(rng, (126, 158, 172), 8), _tone(rng, (142, 182, 182), 8))
    draw.line((0, horizon, FULL, horizon), fill=(112, 142, 158), width=3)
    for _ in range(150):
        y = int(rng.integers(horizon + 6, FULL))
        x, reach = int(rng.integers(-10, FULL)), 5 + (y - horizon) // 16
        colour = _tone(rng, (196, 214, 214) if rng.integers(2) else (104, 142, 156), 8)
        draw.arc((x, y, x + 2 * reach, y + reach), 200, 340, fill=colour, width=2)
    shore = int(rng.integers(270, 300))
    beach = [(x, y + (FULL // 2 - x) // 10) for x, y in _ridge(rng, shore, 5, 24)]
    _fill_below(draw, [(x, y - 7) for x, y in beach], (206, 214, 206))
    _fill_below(draw, beach, (206, 190, 158))
    _dots(draw, rng, 160, (0, shore + 14, FULL, FULL + 6), (190, 172, 140), 20, (3, 2))


def _field(draw: Draw, rng: np.random.Generator) -> None:
    sky = _tone(rng, (186, 202, 210), 8)
    _slope(draw, 0, 130, sky, (216, 218, 208))
    _clouds(draw, rng, sky, 70)
    far = int(rng.integers(84, 104))
    _fill_below(draw, _ridge(rng, far, 14, 52), _tone(rng, (146, 168, 160), 6))
    _fill_below(draw, _ridge(rng, far + 22, 12, 44), _tone(rng, (140, 164, 132), 6))
    near = far + 42
    _fill_below(draw, _ridge(rng, near, 7, 60), _tone(rng, (146, 166, 112), 6))
    for i in range(5):
        y = near + 30 + 40 * i + int(rng.integers(-8, 9))
        _fill_below(draw, _ridge(rng, y, 8, 48), _tone(rng, (148 - 3 * i, 168 - 3 * i, 106), 5))
    _strokes(draw, rng, 900, (0, near + 8, FULL, FULL), (142, 162, 100), 22, (4, 12))
    for x in range(int(rng.integers(0, 20)), FULL, 34):
        draw.line((x, near + 4, x, near - 12), fill=(136, 124, 102), width=3)
    draw.line((0, near - 8, FULL, near - 6), fill=(142, 130, 108), width=2)
    _dots(draw, rng, 26, (0, near + 20, FULL, FULL), (214, 206, 170), 12, (4, 4))


def _kitchen(draw: Draw, rng: np.random.Generator) -> None:
    tile, wall = int(rng.integers(26, 36)), _tone(rng, (202, 204, 194), 10)
    counter = int(rng.integers(216, 248))
    draw.rectangle((0, 0, FULL, FULL), fill=blend(wall, (150, 148, 140), 1, 2))
    for y in range(-int(rng.integers(0, tile)), counter, tile):
        for x in range(-int(rng.integers(0, 2)) * tile // 2, FULL, tile):
            face = _tone(rng, wall, 7)
            draw.rectangle((x + 1, y + 1, x + tile - 2, y + tile - 2), fill=face)
            draw.line((x + 2, y + 2, x + tile - 4, y + 2), fill=blend(face, (255,) * 3, 1, 3))
            if rng.integers(7) == 0:
                m = tile // 2
                motif = blend(face, (112, 134, 160), 1, 3)
                draw.polygon((x + m, y + 6, x + tile - 6, y + m, x + m, y + tile - 6, x + 6, y + m),
                             outline=motif)  # fmt: skip
    wood = _tone(rng, (184, 156, 126), 10)
    draw.rectangle((0, counter, FULL, FULL), fill=wood)
    draw.rectangle((0, counter, FULL, counter + 5), fill=blend(wood, (255, 250, 240), 1, 3))
    draw.rectangle((0, counter - 4, FULL, counter - 1), fill=blend(wall, (90, 86, 80), 1, 3))
    for _ in range(120):
        x, y = int(rng.integers(-40, FULL)), int(rng.integers(counter + 8, FULL))
        draw.line((x, y, x + int(rng.integers(20, 80)), y + int(rng.integers(-2, 3))),
                  fill=_tone(rng, wood, 20), width=2)  # fmt: skip
    front, door = counter + 30, int(rng.integers(84, 110))
    dark = blend(wood, (90, 70, 50), 1, 3)
    draw.rectangle((0, front - 6, FULL, front), fill=dark)
    for x in range(-int(rng.integers(0, door)), FULL, door):
        face = _tone(rng, blend(wood, (226, 218, 204), 2, 5), 4)
        draw.rectangle((x, front + 1, x + door - 3, FULL), fill=face)
        draw.rectangle((x + 10, front + 12, x + door - 13, FULL + 9), outline=dark, width=2)
        draw.ellipse((x + door - 11, front + 20, x + door - 5, front + 26), fill=dark)


def _street(draw: Draw, rng: np.random.Generator) -> None:
    wall = _tone(rng, pick(rng, ((190, 170, 156), (186, 184, 174), (176, 180, 184))), 8)
    pavement = int(rng.integers(176, 200))
    draw.rectangle((0, 0, FULL, pavement), fill=blend(wall, (120, 112, 106), 1, 3))
    for row, y in enumerate(range(0, pavement, 9)):
        for x in range(-(row % 2) * 9 - 9, FULL, 18):
            draw.rectangle((x + 1, y + 1, x + 16, y + 7), fill=_tone(rng, wall, 8))
    frame, pane = blend(wall, (236, 232, 224), 2, 3), _tone(rng, (146, 158, 166), 8)
    for y in (int(rng.integers(12, 28)), int(rng.integers(100, 112))):
        for x in range(int(rng.integers(-20, 16)), FULL, 72):
            draw.rectangle((x, y, x + 38, y + 52), fill=frame)
            draw.rectangle((x + 3, y + 3, x + 35, y + 48), fill=_tone(rng, pane, 10))
            draw.line((x + 6, y + 34, x + 28, y + 8), fill=blend(pane, (255,) * 3, 1, 3), width=4)
            draw.line((x + 19, y + 3, x + 19, y + 48), fill=frame, width=2)
            draw.line((x + 3, y + 24, x + 35, y + 24), fill=frame, width=2)
            draw.rectangle((x - 3, y + 52, x + 41, y + 56), fill=blend(wall, (90,) * 3, 1, 3))
    slab = _tone(rng, (182, 180, 174), 6)
    kerb = pavement + 48
    draw.rectangle((0, pavement, FULL, kerb), fill=blend(slab, (110, 108, 104), 1, 3))
    for x in range(-20, FULL + 20, 36):
        draw.rectangle((x, pavement + 2, x + 33, pavement + 22), fill=_tone(rng, slab, 7))
        draw.rectangle((x - 14, pavement + 25, x + 19, kerb), fill=_tone(rng, slab, 7))
    draw.rectangle((0, kerb, FULL, kerb + 9), fill=(200, 198, 190))
    draw.rectangle((0, kerb + 9, FULL, kerb + 12), fill=(118, 118, 120))
    draw.rectangle((0, kerb + 12, FULL, FULL), fill=_tone(rng, (144, 144, 146), 8))
    for x in range(int(rng.integers(-60, 0)), FULL, 74):
        draw.polygon((x, kerb + 64, x + 40, kerb + 64, x + 36, kerb + 72, x - 4, kerb + 72),
                     fill=(194, 192, 182))  # fmt: skip
    _dots(draw, rng, 420, (0, kerb + 13, FULL, FULL), (142, 142, 144), 26, (2, 2))


def _bedroom(draw: Draw, rng: np.random.Generator) -> None:
    papers = ((206, 196, 184), (190, 202, 196), (204, 192, 200), (192, 198, 210))
    paper = _tone(rng, pick(rng, papers), 6)
    floor = int(rng.integers(212, 244))
    draw.rectangle((0, 0, FULL, floor), fill=paper)
    stripe, mark = blend(paper, (150, 140, 136), 1, 5), blend(paper, (130, 112, 124), 2, 5)
    step = int(rng.integers(22, 32))
    for column, x in enumerate(range(0, FULL, step)):
        draw.rectangle((x, 0, x + step // 3, floor), fill=stripe)
        for y in range(8 + (column % 2) * 13, floor - 6, 26):
            m = x + 2 * step // 3
            draw.polygon((m, y - 5, m + 4, y, m, y + 5, m - 4, y), fill=mark)
            draw.line((m, y + 5, m, y + 10), fill=mark, width=1)
    draw.rectangle((0, floor - 12, FULL, floor), fill=blend(paper, (244, 242, 236), 2, 3))
    draw.line((0, floor - 12, FULL, floor - 12), fill=blend(paper, (90, 80, 80), 1, 3), width=2)
    wood = _tone(rng, (176, 146, 116), 10)
    draw.rectangle((0, floor, FULL, FULL), fill=wood)
    for y in range(floor, FULL, 20):
        for x in range(-int(rng.integers(0, 90)), FULL, 90):
            plank = _tone(rng, wood, 9)
            draw.rectangle((x, y, x + 88, y + 18), fill=plank)
            for _ in range(5):
                gx, gy = x + int(rng.integers(0, 50)), y + int(rng.integers(2, 17))
                draw.line((gx, gy, gx + 34, gy), fill=blend(plank, (100, 76, 54), 1, 4))
    cloth, side = _tone(rng, blend(paper, (150, 140, 150), 1, 3), 8), int(rng.integers(2))
    hem, broad = floor - int(rng.integers(14, 40)), int(rng.integers(40, 64))
    for i in range(0, broad, 8):
        x = FULL - 8 - i if side else i
        fold = blend(cloth, (255, 250, 245) if i % 16 else (120, 110, 120), 1, 5)
        draw.rectangle((x, 0, x + 7, hem + i % 16 // 4), fill=fold)
    x, rug = int(rng.integers(90, 246)), _tone(rng, (176, 164, 160), 14)
    for inset, part in ((0, 1), (6, 0), (14, 2)):
        draw.ellipse((x - 90 + 2 * inset, floor + 28 + inset, x + 90 - 2 * inset, FULL - 6 - inset),
                     fill=blend(rug, (120, 110, 120), part, 5))  # fmt: skip


def _garden(draw: Draw, rng: np.random.Generator) -> None:
    _slope(draw, 0, 60, _tone(rng, (190, 204, 208), 6), (214, 216, 206))
    hedge = int(rng.integers(36, 56))
    foot = int(rng.integers(136, 156))
    top = _ridge(rng, hedge, 5, 16)
    _fill_below(draw, top, _tone(rng, (122, 148, 112), 6))
    _dots(draw, rng, 700, (-4, hedge - 3, FULL, foot), (124, 150, 112), 20, (8, 6))
    _dots(draw, rng, 30, (0, hedge + 6, FULL, foot - 8), (206, 180, 178), 14, (6, 6))
    draw.rectangle((0, foot, FULL, FULL), fill=_tone(rng, (156, 174, 124), 6))
    lean, stripe = int(rng.integers(-60, 61)), int(rng.integers(34, 50))
    for x in range(-2 * stripe, FULL + 2 * stripe, 2 * stripe):
        draw.polygon((x, foot, x + stripe, foot, x + stripe + lean, FULL, x + lean, FULL),
                     fill=_tone(rng, (140, 162, 108), 3))  # fmt: skip
    _strokes(draw, rng, 800, (0, foot + 6, FULL, FULL), (152, 172, 118), 20, (3, 10))
    draw.rectangle((0, foot, FULL, foot + 12), fill=(146, 126, 104))
    for _ in range(110):
        x, y = int(rng.integers(-4, FULL)), int(rng.integers(foot - 4, foot + 8))
        leaf = _tone(rng, (142, 168, 122), 14)
        bloom = _tone(rng, (200, 182, 176), 16)
        draw.ellipse((x, y, x + 6, y + 5), fill=leaf if rng.integers(3) else bloom)
    middle = int(rng.integers(100, 240))
    bend = int(rng.integers(-60, 61))
    for y in range(foot, FULL, 3):
        deep = y - foot
        x, half = middle + bend * deep * deep // (180 * 180), 14 + deep // 5
        draw.line((x - half, y, x + half, y), fill=(168, 160, 136), width=4)
        draw.line((x - half + 3, y, x + half - 3, y), fill=_tone(rng, (198, 188, 168), 4), width=4)
    for _ in range(110):
        y = int(rng.integers(foot + 6, FULL))
        deep = y - foot
        half = 10 + deep // 5
        x = middle + bend * deep * deep // (180 * 180) + int(rng.integers(-half, half))
        r = 2 + deep // 40
        draw.ellipse((x - r - 1, y - r, x + r + 1, y + r), fill=_tone(rng, (186, 176, 160), 18))


_PLACES: dict[str, Callable[[Draw, np.random.Generator], None]] = {
    "sea": _sea, "field": _field, "kitchen": _kitchen, "street": _street, "bedroom": _bedroom,
    "garden": _garden,
}  # fmt: skip


@cache
def background(place: str, variant: int) -> np.ndarray:
    """One rendering of a place, uint16 [SIDE, SIDE, 3] with values 0..255.

    Args:
        place: one of the six places.
        variant: 0..VARIANTS - 1.
    """
    if place not in _PLACES:
        raise ValueError(f"no place {place!r}: expected one of {tuple(_PLACES)}")
    rng = np.random.Generator(np.random.PCG64([tuple(_PLACES).index(place), variant]))
    sheet = Image.new("RGB", (FULL, FULL))
    _PLACES[place](ImageDraw.Draw(sheet), rng)
    pixels = np.asarray(sheet.reduce(OVERSAMPLE)).astype(np.int32)
    blotches = rng.integers(-48, 49, (SIDE // 4, SIDE // 4, 1)).repeat(4, 0).repeat(4, 1)
    for axis in (0, 1):  # an average of four neighbours turns squares into slopes
        blotches = sum(np.roll(blotches, shift, axis) for shift in range(4)) >> 2
    grain = rng.integers(-8, 9, (SIDE, SIDE, 1))
    return np.clip(pixels + (blotches >> 2) + grain, 0, 255).astype(np.uint16)
