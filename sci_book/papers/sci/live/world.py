"""Scenes of the pocket world for the page, and all that they and changed ones are drawn from.

`book/_assets/live/world.js` draws as `sci_book/pocket/draw.py` does; here stands what it cannot
compute: renderings of the places, and the strokes of things, which Pillow draws.
"""

import base64
from typing import Any

import numpy as np

from sci_book.pocket import backgrounds
from sci_book.pocket.pen import PAINT, Pen, tint
from sci_book.pocket.shapes import SHAPES, draw_shape, draw_symbol
from sci_book.pocket.world import CELLS, COLOURS, KINDS, PLACES, SYMBOLS, Lot, Scene, sample_scene

SCENES_OF_A_PLACE = 2
_SEED = 46
_LOT = Lot(skew=0.5, kinds=3, dim=0.25)
_SIZES, _SIGN_SIZES = (21, 24, 27, 30), (28, 30)  # as in draw.py
_LONGEST = 255  # a run of pixels, which one byte counts


def scenes() -> list[Scene]:
    """The scenes that the page offers, by lot, as many of each place and with two kinds or more."""
    rng = np.random.default_rng(_SEED)
    found: dict[str, list[Scene]] = {place: [] for place in PLACES}
    while any(len(of_place) < SCENES_OF_A_PLACE for of_place in found.values()):
        scene = sample_scene(rng, _LOT)
        of_place = found[scene.place]
        if len(of_place) < SCENES_OF_A_PLACE and len(scene.kinds) > 1 and len(scene.things) < 8:
            of_place.append(scene)
    return [scene for of_place in found.values() for scene in of_place]


def exported() -> dict[str, Any]:
    """Scenes, and what draws them.

    scenes    place, light, seed and things, which have kind, colour, cell, on and text
    places    by place and variant of the scenes, [side, side, 3] bytes
    sheets    by thing and size its strokes: runs of (index, length) over [4 size, 4 size], index 0
              transparent, and the colours of the other indices by colour of the thing
    outlines  by colour
    """
    offered = scenes()
    names = [*KINDS, "lit lamp", *(f"sign {text}" for text in SYMBOLS)]
    return {
        "scenes": [as_json(scene) for scene in offered],
        "side": backgrounds.SIDE,
        "places": {place: _renderings(place, offered) for place in PLACES},
        "sheets": {
            name: {
                size: _strokes(name, size)
                for size in (_SIGN_SIZES if name.startswith("sign ") else _SIZES)
            }
            for name in names
        },
        "outlines": {colour: tint(colour).outline for colour in PAINT},
        "kinds": [*KINDS],
        "colours": COLOURS,
        "cells": CELLS,
        "symbols": SYMBOLS,
    }


def as_json(scene: Scene) -> dict[str, Any]:
    """A scene as the page has it."""
    things = [
        {name: value for name, value in vars(thing).items() if value is not None}
        for thing in scene.things
    ]
    return {"place": scene.place, "light": scene.light, "seed": scene.seed, "things": things}


def variant_of(scene: Scene) -> int:
    """Which rendering of its place a scene shows (`draw.draw`)."""
    chance = np.random.Generator(np.random.PCG64(scene.seed)).integers(0, 1 << 16, (10, 8))
    return int(chance[9, 0]) % backgrounds.VARIANTS


def _renderings(place: str, offered: list[Scene]) -> dict[int, str]:
    variants = sorted({variant_of(scene) for scene in offered if scene.place == place})
    return {
        variant: _coded(backgrounds.background(place, variant).astype(np.uint8))
        for variant in variants
    }


def _strokes(name: str, size: int) -> dict[str, Any]:
    colours = ("white",) if name.startswith("sign ") else COLOURS
    drawn = np.stack([_drawn(name, colour, size) for colour in colours], axis=2)
    pixels = drawn.reshape(-1, 4 * len(colours))
    whole = pixels.view(f"V{pixels.shape[1]}").ravel()  # sorted ten times as fast as rows are
    _, first, index = np.unique(whole, return_index=True, return_inverse=True)
    shades = pixels[first]
    opaque = np.flatnonzero(shades[:, 3])
    number = np.zeros(len(shades), np.uint8)
    number[opaque] = np.arange(1, len(opaque) + 1)
    of_colour = shades[opaque].reshape(len(opaque), len(colours), 4)[..., :3]
    return {
        "runs": _coded(_runs(number[index.ravel()])),
        "palette": {colour: of_colour[:, place].tolist() for place, colour in enumerate(colours)},
    }


def _drawn(name: str, colour: str, size: int) -> np.ndarray:
    """Strokes without outline, uint8 [4 size, 4 size, 4]; transparent ones without a colour."""
    pen, shades = Pen(size), tint(colour)
    shape, _, text = name.partition(" ") if name not in SHAPES else (name, "", "")
    draw_shape(pen, shades, shape)
    if text:
        draw_symbol(pen, shades, text)
    sheet = np.asarray(pen.sheet)
    return np.where(sheet[..., 3:] > 0, sheet, 0)


def _runs(values: np.ndarray) -> np.ndarray:
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    pairs = []
    for start, length in zip(starts, np.diff(starts, append=len(values)), strict=True):
        whole, rest = divmod(int(length), _LONGEST)
        lengths = [_LONGEST] * whole + [rest] * bool(rest)
        pairs += [(values[start], each) for each in lengths]
    return np.array(pairs, np.uint8)


def _coded(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode()
