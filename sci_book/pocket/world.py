"""The pocket world: what exists in it, what is usual there, and how a scene is drawn by lot.

A scene is a place with things on a 3 x 3 grid. Every attribute a question can ask about has a
*usual* value: the colour, number and position of a kind, the kinds of a place, the letter on its
sign, a lamp that is on. Training draws the usual value more often (`skew`), which gives a model a
language prior to lean on; evaluation asks as often where the prior is wrong. The phenomena of the
five papers so have a cause that is known here, and only here.

This file knows nothing of pictures (`draw.py`) or questions (`questions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sci_book.pocket.words import manifest

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "brown", "white", "black")
PLACES = ("sea", "field", "kitchen", "street", "bedroom", "garden")
LIGHTS = ("clear", "dusk", "fog", "grain")
SYMBOLS = ("E", "H", "K", "S", "T", "X", "3", "5", "7", "9")
CELLS = (
    "top left", "top", "top right",
    "left", "center", "right",
    "bottom left", "bottom", "bottom right",
)  # fmt: skip
MOST_OF_A_KIND = 5  # counts go from 1 to this
WORLD = 569_950_603
"""The seed of every test world: `curriculum.seed_of` of the first family and "world"."""
BEFORE = 8_000_000
"""That of the world before it, which what every input alone has right is judged on."""
T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """A kind of thing and its usual colour, number, cell (0..8, row by row) and places."""

    name: str
    colour: str
    count: int
    cell: int
    places: tuple[str, ...]


_USUAL = manifest("usual.yaml")
KINDS = {
    name: Kind(name, colour, count, cell, tuple(places))
    for name, (colour, count, cell, places) in _USUAL["kinds"].items()
}
USUAL_SYMBOL: dict[str, str] = _USUAL["symbol"]
"""What the sign of a place says."""


@dataclass(frozen=True)
class Thing:
    """One thing in one cell. `on` is the state of a lamp, `text` what a sign says."""

    kind: str
    colour: str
    cell: int
    on: bool | None = None
    text: str | None = None


@dataclass(frozen=True)
class Scene:
    """A place, its things (no two in one cell), its light, and the seed of its texture."""

    place: str
    things: tuple[Thing, ...]
    light: str
    seed: int

    def of(self, kind: str) -> tuple[Thing, ...]:
        """The things of one kind, in cell order."""
        return tuple(thing for thing in self.things if thing.kind == kind)

    def count(self, kind: str) -> int:
        """How many things of one kind there are."""
        return len(self.of(kind))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds in the scene, signs left out, each once, in order of first cell."""
        return tuple(dict.fromkeys(t.kind for t in self.things if t.kind != "sign"))

    @property
    def sign(self) -> Thing | None:
        """The scene's sign, if it has one."""
        return next((thing for thing in self.things if thing.kind == "sign"), None)


@dataclass(frozen=True)
class Lot:
    """How scenes are drawn by lot.

    `skew` is the probability that an attribute takes its usual value (the others share the rest
    evenly); `kinds` the largest number of kinds in a scene; `dim` the share of scenes in dusk, fog
    or grain; `sign` the share of scenes with a sign.
    """

    skew: float
    kinds: int = 3
    dim: float = 0.15
    sign: float = 0.3


def pick(rng: np.random.Generator, values: Sequence[T]) -> T:
    """One of the values, by lot."""
    return values[rng.integers(len(values))]


def _usual_or_other(rng: np.random.Generator, usual, others, skew: float):
    """`usual` with probability `skew`, else one of `others` evenly."""
    others = [value for value in others if value != usual]
    if not others or rng.random() < skew:
        return usual
    return pick(rng, others)


def sample_scene(rng: np.random.Generator, lot: Lot) -> Scene:
    """One scene: a place, one to `lot.kinds` kinds in their numbers, perhaps a sign, a light."""
    place = pick(rng, PLACES)
    free = list(range(len(CELLS)))
    things: list[Thing] = []

    def take(cell: int | None = None) -> int:
        taken = cell if cell in free else pick(rng, free)
        free.remove(taken)
        return taken

    if rng.random() < lot.sign:
        text = _usual_or_other(rng, USUAL_SYMBOL[place], SYMBOLS, lot.skew)
        things.append(Thing("sign", "white", take(), text=text))
    at_home = [name for name, kind in KINDS.items() if place in kind.places]
    abroad = [name for name in KINDS if name not in at_home]
    names: list[str] = []
    for _ in range(int(rng.integers(1, lot.kinds + 1))):
        name = pick(rng, at_home if rng.random() < lot.skew else abroad)
        if name not in names:
            names.append(name)
    for name in names:
        kind = KINDS[name]
        colour = _usual_or_other(rng, kind.colour, COLOURS, lot.skew)
        count = _usual_or_other(rng, kind.count, range(1, MOST_OF_A_KIND + 1), lot.skew)
        on = bool(rng.random() < lot.skew) if name == "lamp" else None
        # One free cell is kept for each kind still to come, so that no kind is crowded out.
        count = min(count, len(free) - (len(names) - 1 - names.index(name)))
        usual = kind.cell if rng.random() < lot.skew else None
        for index in range(count):
            things.append(Thing(name, colour, take(usual if index == 0 else None), on=on))
    light = "clear"
    if rng.random() < lot.dim:
        light = pick(rng, LIGHTS[1:])
    things.sort(key=lambda thing: thing.cell)
    return Scene(place, tuple(things), light, int(rng.integers(2**31)))
