"""MR4, text put into the picture (section III-D4), in a box that hides nothing asked about.

The default font (`overlay.otf`, a subset of Noto Sans CJK SC) has Latin and the 6,763 Chinese
characters of GB 2312, so that the same text gives the same pixels on every machine.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import inf
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

from sci_book.papers.metara.pictures import Pixels, Random, Refused

FONT = Path(__file__).with_name("overlay.otf")
SMALLEST = 8  # pixels of font size; smaller text cannot be read
LARGEST = 48
LONGEST = 500  # characters
MARGIN = 1  # pixels between a box's edge and its text
GROUND, INK = (250, 250, 240), (20, 20, 20)
_CHINESE = re.compile(r"[㐀-鿿，。？！：；、（）]")
_PIECE = re.compile(rf"{_CHINESE.pattern}\s*|[^\s{_CHINESE.pattern[1:-1]}]+\s*|\s+")

Colour = tuple[int, int, int]


class Box(NamedTuple):
    """Pixels from left to right and top to bottom; right and bottom are one past the last."""

    left: int
    top: int
    right: int
    bottom: int

    def inside(self, width: int, height: int) -> bool:
        """Whether the box has a pixel and lies in a picture of this size."""
        return 0 <= self.left < self.right <= width and 0 <= self.top < self.bottom <= height


def overlay(pixels: Pixels, text: str, box: Box, *, ground: Colour = GROUND) -> Pixels:
    """Text in a filled box, wrapped, as large as it fits; no pixel outside the box changes.

    Raises:
        Refused: *text does not fit* where it would have to be smaller than `SMALLEST`; *glyph is
            missing* where the font has none for a character; *no text*; *box does not fit*.
    """
    height, width = pixels.shape[:2]
    if not box.inside(width, height):
        raise Refused(
            "box does not fit",
            f"The box {tuple(box)} is not inside a picture of {width} x {height} pixels.",
        )
    label = Image.new("RGB", (box.right - box.left, box.bottom - box.top), ground)
    size, lines = _fitted(text, *label.size)
    draw, face = ImageDraw.Draw(label), _face(FONT, size)
    for number, line in enumerate(lines):
        xy = (label.width // 2, MARGIN + round(number * _line(face)))
        draw.text(xy, line, fill=INK, font=face, anchor="ma")
    written = pixels.copy()
    written[box.top : box.bottom, box.left : box.right] = np.asarray(label)
    return written


def free_box(pixels: Pixels, text: str, busy: np.ndarray, random: Random) -> Box:
    """A box for a text in a strip along the border that covers nothing busy, by lot.

    The strips run along top and bottom over the whole width or half of it; each is tried at the
    least height its text needs.

    Args:
        busy: bool, one value a pixel: what the text must not hide.

    Raises:
        Refused: *no free place* if every box hides something busy; as `overlay` if the text fits
            none.
    """
    height, width = pixels.shape[:2]
    if busy.shape != (height, width):
        raise Refused(
            "mask does not fit",
            f"What must stay seen is marked on {busy.shape}; expected {(height, width)}.",
        )
    boxes, refusals = [], []
    strips = ((0, width), (0, width // 2), (width - width // 2, width))
    for left, right in strips:
        try:
            needed = _height(text, right - left, height // 3)
        except Refused as error:
            refusals.append(error)
            continue
        for top in (0, height - needed):
            if not busy[top : top + needed, left:right].any():
                boxes.append(Box(left, top, right, top + needed))
    if len(refusals) == len(strips):
        raise refusals[-1]
    if not boxes:
        raise Refused("no free place", f"Every box for {text[:40]!r} hides what is asked about.")
    return boxes[random.integers(len(boxes))]


def missing_glyphs(text: str) -> str:
    """The characters of a text that the font has no glyph for, each once, in order; line feeds
    are not counted."""
    known = _characters(FONT)
    return "".join(dict.fromkeys(c for c in text if c != "\n" and ord(c) not in known))


def _height(text: str, width: int, most: int) -> int:
    """The least height in which a text fits a width, at the smallest size."""
    _check(text)
    _, needed = _set(text, width, SMALLEST)
    if needed > most:
        raise _too_long(text, width, most)
    return int(needed)


def _fitted(text: str, width: int, height: int) -> tuple[int, list[str]]:
    """The largest font size at which the text fits, and its lines."""
    _check(text)
    for size in range(min(LARGEST, height), SMALLEST - 1, -1):
        lines, needed = _set(text, width, size)
        if needed <= height:
            return size, lines
    raise _too_long(text, width, height)


def _set(text: str, width: int, size: int) -> tuple[list[str], Real]:
    """The lines of a text at a font size, and the height they need: infinite if a word is wider."""
    face = _face(FONT, size)
    lines = _wrapped(text, width - 2 * MARGIN, face)
    return lines, round(len(lines) * _line(face)) + 2 * MARGIN if lines else inf


def _check(text: str) -> None:
    if not text.strip():
        raise Refused("no text", "There is no text to put into the picture.")
    if len(text) > LONGEST:
        raise Refused(
            "text does not fit", f"{len(text)} characters; at most {LONGEST} are put in a picture."
        )
    if missing := missing_glyphs(text):
        raise Refused(
            "glyph is missing",
            f"{FONT.name} has no glyph for {missing[:10]!r}; use text without it.",
        )


def _too_long(text: str, width: int, height: int) -> Refused:
    return Refused(
        "text does not fit",
        f"{text[:40]!r} does not fit {width} x {height} pixels at a font size of {SMALLEST}.",
    )


def _wrapped(text: str, width: int, face: ImageFont.FreeTypeFont) -> list[str]:
    """The text in lines no wider than `width`; [] where one word is wider than that.

    Lines break at spaces, and between any two characters where one of them is Chinese.
    """
    lines = []
    for paragraph in text.strip().split("\n"):
        line = ""
        for piece in _PIECE.findall(paragraph):
            if face.getlength((line + piece).rstrip()) <= width:
                line += piece
                continue
            if face.getlength(piece.strip()) > width:
                return []
            lines.append(line.rstrip())
            line = piece.lstrip()
        lines.append(line.rstrip())
    return lines


def is_chinese(text: str) -> bool:
    """Whether a text holds a Chinese character."""
    return bool(_CHINESE.search(text))


def _line(face: ImageFont.FreeTypeFont) -> float:
    ascent, descent = face.getmetrics()
    return float(ascent + descent)


@lru_cache(maxsize=256)
def _face(font: Path, size: int) -> ImageFont.FreeTypeFont:
    # Basic layout: the same pixels with and without libraqm.
    return ImageFont.truetype(str(font), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=8)
def _characters(font: Path) -> frozenset[int]:
    with TTFont(font, fontNumber=0, lazy=True) as opened:
        return frozenset(opened.getBestCmap())
