"""What Visual-RFT of a pocket model needs beside ORIC questions: lessons, and a held-out probe.

A *lesson* is a scene and an object to ask about, every other one there. A *probe* is a claim about
anything but the presence of an object, true or false in turn, as AMBER asks about attributes and
relations. Their scenes lie behind the two splits of ORIC's twin (`oric`), so that none is shared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sci_book.pocket.oric import SPLITS, scene
from sci_book.pocket.questions import FAMILIES
from sci_book.pocket.world import KINDS, WORLD, Scene, pick

PROBED = ("colour", "count", "position", "place", "content")
"""Families of `questions.FAMILIES`."""

_SEED = WORLD + 11  # next to those of the other twins


class Lesson(NamedTuple):
    """A scene of the training split, its number there, and the object asked about."""

    number: int
    scene: Scene
    target: str


class Probe(NamedTuple):
    """A scene of the other split, its number there, and a claim about it with its truth."""

    number: int
    scene: Scene
    family: str
    claim: str
    label: str


def lesson(index: int) -> Lesson:
    """Lesson number `index`; it depends on these two alone."""
    number = SPLITS["train"] + index
    view = scene("train", 0, number)
    there = index % 2 == 0
    kinds = [kind for kind in KINDS if (kind in view.kinds) == there]
    rng = np.random.default_rng([_SEED, 0, 0, index])
    return Lesson(number, view, pick(rng, kinds))


def probe(index: int) -> Probe:
    """Probe number `index`; it depends on these two alone. The false claim is the most tempting."""
    number = SPLITS["val"] + index
    view = scene("val", 0, number)
    true = index % 2 == 0
    rng = np.random.default_rng([_SEED, 0, 1, index])
    first = index // 2
    # A scene may not allow a family: then the next one that it does, and a place it always has.
    for offset in range(len(PROBED)):
        family = PROBED[(first + offset) % len(PROBED)]
        query = FAMILIES[family](view, rng)
        if query is not None and query.claims:
            break
    claim = query.claims[0 if true else 1]
    return Probe(number, view, family, claim.en, "yes" if true else "no")
