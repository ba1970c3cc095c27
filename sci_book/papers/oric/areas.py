"""Areas of objects and the split into ROI and non-ROI (equation 2, section 3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels, as in COCO's files."""


def union_area(boxes: Sequence[Box]) -> float:
    """Equation (2): the area that boxes cover together, in square pixels.

    ``A_i = area(B_i1 ∪ … ∪ B_im)``: the plane is swept from left to right, and between two edges
    the heights covered are added up. Exact but for the rounding of the products.
    """
    if len(boxes) == 1:
        return boxes[0][2] * boxes[0][3]
    edges = sorted({x for left, _, width, _ in boxes for x in (left, left + width)})
    by_top = sorted(boxes, key=lambda box: box[1])
    strips = []
    for start, end in pairwise(edges):
        covered, reached = [], -math.inf
        for left, top, width, height in by_top:
            bottom = top + height
            if left <= start and left + width >= end and bottom > reached:
                covered.append(bottom - max(top, reached))
                reached = bottom
        strips.append((end - start) * math.fsum(covered))
    return math.fsum(strips)


def split(areas: Mapping[str, float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """ROI and non-ROI: the objects whose area is below the median, and the others.

    An object at the median is non-ROI. Both keep the order of `areas`.

    Raises:
        ValueError: without an object.
    """
    if not areas:
        raise ValueError("No object came; the median of no area is not defined.")
    middle = median(areas.values())
    roi = tuple(name for name, area in areas.items() if area < middle)
    return roi, tuple(name for name in areas if name not in roi)
