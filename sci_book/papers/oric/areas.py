"""Areas of objects and the split into ROI and non-ROI (equation 2, section 3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels, as in COCO's files."""


def union_area(boxes: Sequence[Box]) -> float:
    """Equation (2): the area that boxes cover together, in square pixels.

    ``A_i = area(B_i1 ∪ … ∪ B_im)``, summed over the cells between all edges. Exact but for the
    rounding of the products.
    """
    if len(boxes) == 1:
        return boxes[0][2] * boxes[0][3]
    sides = [(left, left + width, top, top + height) for left, top, width, height in boxes]
    x, y = (np.unique([side[at : at + 2] for side in sides]) for at in (0, 2))
    covered = np.zeros((max(len(x) - 1, 0), max(len(y) - 1, 0)), dtype=bool)
    for left, right, top, bottom in sides:
        across, down = np.searchsorted(x, [left, right]), np.searchsorted(y, [top, bottom])
        covered[slice(*across), slice(*down)] = True
    return math.fsum(np.outer(np.diff(x), np.diff(y))[covered])


def split(areas: Mapping[str, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """ROI and non-ROI: the objects whose area is below the median, and the others.

    An object at the median is non-ROI. Both keep the order of `areas`.
    """
    if not areas:
        raise ValueError("No object came; the median of no area is not defined.")
    middle = median(areas.values())
    roi = tuple(name for name, area in areas.items() if area < middle)
    return roi, tuple(name for name in areas if name not in roi)
