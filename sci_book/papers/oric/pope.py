"""POPE's own sampling of objects, so that its questions can be asked on the pictures of ORIC's.

POPE asks about any objects that are present, and about absent ones that are drawn at random, are
the commonest anywhere, or (adversarial) most often stand beside what is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from sci_book.papers.oric.annotations import Picture


def present(picture: Picture, k: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Any k objects of a picture."""
    return _of(list(rng.permutation(list(picture.boxes))), k, picture, "objects")


def adversarial(
    picture: Picture, k: int, categories: Iterable[str], pictures: Iterable[Iterable[str]]
) -> tuple[str, ...]:
    """The k absent objects that most often stand beside the picture's own, the first of equals.

    Args:
        categories: all objects, in an order that settles ties.
        pictures: the objects of each picture that is counted. An object is counted once for each of
            the picture's own that it stands beside.
    """
    beside: Counter[str] = Counter()
    for objects in map(frozenset, pictures):
        common = len(objects & picture.present)
        beside.update(dict.fromkeys(objects, common))
    absent = [name for name in categories if name not in picture.present]
    return _of(sorted(absent, key=lambda name: -beside[name]), k, picture, "absent objects")


def _of(names: list[str], k: int, picture: Picture, what: str) -> tuple[str, ...]:
    if len(names) < k:
        raise ValueError(f"{picture.name} has {len(names)} {what}; expected {k} or more.")
    return tuple(map(str, names[:k]))
