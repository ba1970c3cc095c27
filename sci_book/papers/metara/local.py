"""MR2, local edits inside a mask (section III-D2), and the mirror of text-rich pictures (IV-C)."""

from __future__ import annotations

from numbers import Real

import cv2
import numpy as np

from sci_book.papers.metara.pictures import (
    Mask,
    Pixels,
    Random,
    Refused,
    check_mask,
    check_share,
    is_plain,
)

BORDER = 0.1  # of each side, taken for background where no mask is given
LEAST = 0.005  # of the picture; a smaller region that segmentation finds is none
ROUNDS = 3  # of GrabCut


def shade(pixels: Pixels, mask: np.ndarray, amount: Real) -> Pixels:
    """The masked region lighter by a share `amount` of the way to white, or darker to black.

    Hue stays, so a colour keeps its name under amounts up to about 0.2 either way; 0 is the
    identity.

    Args:
        mask: bool, one value a pixel.
        amount: from -1 (black) to 1 (white).
    """
    check_share(abs(amount))
    end = 255.0 if amount > 0 else 0.0
    return _inside(pixels, mask, pixels + (end - pixels) * abs(float(amount)))


def texture(pixels: Pixels, mask: np.ndarray, amount: Real, random: Random) -> Pixels:
    """A fine texture over the masked region: smooth noise of `amount` times half the range."""
    check_share(amount)
    noise = random.uniform(-1, 1, pixels.shape[:2]).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), 0.8)
    return _inside(pixels, mask, pixels + 127.5 * float(amount) * noise[..., None])


def occlusion(pixels: Pixels, mask: np.ndarray, amount: Real, random: Random) -> Pixels:
    """A disk in the region's mean colour over about a share `amount` of the masked pixels."""
    check_share(amount)
    check_mask(pixels, mask)
    rows, columns = np.nonzero(mask)
    centre = random.integers(len(rows))
    distance = (rows - rows[centre]) ** 2 + (columns - columns[centre]) ** 2
    hidden = np.argsort(distance, kind="stable")[: round(float(amount) * len(rows))]
    edited = pixels.astype(float)
    edited[rows[hidden], columns[hidden]] = pixels[mask].mean(axis=0)
    return _inside(pixels, mask, edited)


def mirror(pixels: Pixels) -> Pixels:
    """Left and right exchanged; twice is the identity."""
    return np.ascontiguousarray(pixels[:, ::-1])


def segment(pixels: Pixels) -> Mask:
    """A region mask where the data give none: GrabCut, started from all but the border.

    The same on every call: GrabCut's random numbers are seeded here.

    Raises:
        Refused: if the picture is too small or of one colour, or no region is found (*no region
            found*).
    """
    height, width = pixels.shape[:2]
    top, left = max(1, round(BORDER * height)), max(1, round(BORDER * width))
    if min(height - 2 * top, width - 2 * left) < 2 or is_plain(pixels):
        raise Refused("no region found", f"{width} x {height} pixels: nothing to segment.")
    labels = np.zeros((height, width), np.uint8)
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(
            np.ascontiguousarray(pixels[..., ::-1]), labels,
            (left, top, width - 2 * left, height - 2 * top),
            np.zeros((1, 65)), np.zeros((1, 65)), ROUNDS, cv2.GC_INIT_WITH_RECT,
        )  # fmt: skip
    except cv2.error as error:
        raise Refused("no region found", "GrabCut finds no two kinds of pixels here.") from error
    mask = np.isin(labels, (cv2.GC_FGD, cv2.GC_PR_FGD))
    if mask.mean() < LEAST:
        raise Refused("no region found", f"The region found is {mask.mean():.2%} of the picture.")
    return mask


def _inside(pixels: np.ndarray, mask: np.ndarray, edited: np.ndarray) -> np.ndarray:
    """The edited pixels where the mask is, the others as they were."""
    check_mask(pixels, mask)
    return np.where(mask[..., None], np.rint(edited.clip(0, 255)).astype(np.uint8), pixels)
