"""MR1, benign adjustments (section III-D1): brightness, rotation, scale. No content is cut off."""

from __future__ import annotations

from numbers import Real

import cv2
import numpy as np

from sci_book.papers.metara.pictures import Other, Pixels, Refused
from sci_core.images import MAX_PIXELS


def brightness(pixels: Pixels, factor: Real) -> Pixels:
    """Every value times a factor, cut at white; 1 is the identity."""
    if not 0 <= factor < np.inf:
        raise ValueError(f"Brightness times {factor}; expected a finite factor of 0 or more.")
    return np.rint(np.minimum(pixels * float(factor), 255)).astype(np.uint8)


def rotation(pixels: Pixels, degrees: Real) -> Pixels:
    """Turned anticlockwise about the centre; 0 is the identity, and any whole turn.

    The picture shrinks just enough that no corner is cut off, and the free triangles take the
    colour of the border beside them: mirroring would put things there a second time.
    """
    if not np.isfinite(degrees):
        raise ValueError(f"A rotation by {degrees}; expected a finite number of degrees.")
    if degrees % 360 == 0:
        return pixels
    height, width = pixels.shape[:2]
    sine, cosine = abs(np.sin(np.deg2rad(degrees))), abs(np.cos(np.deg2rad(degrees)))
    fit = min(width / (width * cosine + height * sine), height / (width * sine + height * cosine))
    centre = ((width - 1) / 2, (height - 1) / 2)
    return cv2.warpAffine(
        np.ascontiguousarray(pixels),
        cv2.getRotationMatrix2D(centre, float(degrees), float(fit)),
        (width, height),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )


def scale(pixels: Pixels, factor: Real) -> Other:
    """The picture at a factor of its size, averaged down or interpolated up; 1 is the identity.

    Raises:
        Refused: if a side would have no pixel (*empty picture*) or the picture too many.
    """
    if not 0 <= factor < np.inf:
        raise ValueError(f"A picture times {factor}; expected a finite factor of 0 or more.")
    height, width = (round(side * float(factor)) for side in pixels.shape[:2])
    if not height or not width:
        raise Refused("empty picture", f"Times {factor:g}, the picture has no pixels.")
    if height * width > MAX_PIXELS:
        raise Refused("picture's size", f"Times {factor:g}, it has {height * width:,} pixels.")
    if (height, width) == pixels.shape[:2]:
        return pixels
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=way)
