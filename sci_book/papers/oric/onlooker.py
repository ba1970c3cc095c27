"""Labels by rule in place of people's: the pocket counterpart of Table 5(b).

In ORIC's Table 5(b) people label 200 questions anew, and an object that the annotations name but
nobody makes out is not there. Nobody was asked about the pocket world. Its onlooker is a rule: a
thing is there if its colour stands out against what surrounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from sci_book.pocket import oric
from sci_book.pocket.draw import draw, masks
from sci_book.pocket.world import Scene

STANDS_OUT = 32
"""Least difference of mean colours in some channel, of 255: an eighth of the range."""
_AROUND = 4  # pixels beyond a thing's box


def sees(scene: Scene, kind: str) -> bool:
    """Whether some thing of a kind stands out: its visible pixels against those around its box."""
    covered, picture = masks(scene), draw(scene).astype(float)
    bare = ~covered.any(axis=0)
    for number, thing in enumerate(scene.things):
        visible = covered[number] & ~covered[number + 1 :].any(axis=0)
        if thing.kind != kind or not visible.any():
            continue
        rows, columns = np.nonzero(visible)
        near = np.zeros_like(bare)
        near[
            max(rows.min() - _AROUND, 0) : rows.max() + 1 + _AROUND,
            max(columns.min() - _AROUND, 0) : columns.max() + 1 + _AROUND,
        ] = True
        around = near & bare
        ground = picture[around if around.any() else bare].mean(axis=0)
        if np.abs(picture[visible].mean(axis=0) - ground).max() >= STANDS_OUT:
            return True
    return False


def relabel(images: Sequence[str], kinds: Iterable[str], labels: Iterable[str]) -> list[str]:
    """The annotations' labels of questions about the split "val", "yes" only where one sees it."""
    return [
        "yes" if label == "yes" and sees(_scene(image), kind) else "no"
        for image, kind, label in zip(images, kinds, labels, strict=True)
    ]


@cache
def _scene(image: str) -> Scene:
    return oric.scene("val", 0, int(image.removesuffix(".png").rpartition("_")[2]))
