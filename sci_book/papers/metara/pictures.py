"""A picture under a transform of its pixels, and how a transform is refused.

The modules `benign`, `local`, `style` and `overlay` hold the transforms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real

import cv2
import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from sci_core.images import check_image

Pixels = UInt8[np.ndarray, "height width 3"]
Other = UInt8[np.ndarray, "other_height other_width 3"]
"""Red, green and blue; a transform may change the size, as `benign.scale` does."""
Mask = Bool[np.ndarray, "height width"]
Random = np.random.Generator


class Refused(ValueError):
    """A transform that cannot be applied here.

    `reason` is a name to count by; the message is one sentence.
    """

    def __init__(self, reason: str, sentence: str):
        super().__init__(sentence)
        self.reason = reason


def apply(transform: Callable[[np.ndarray], np.ndarray], image: Image.Image) -> Image.Image:
    """The picture under a transform, as RGB.

    Raises:
        Refused: if what is left is no picture that a model can read (*empty picture*), or has one
            colour where the picture had several (*empty picture*), or is too large (*picture's
            size*).
    """
    before = np.asarray(image.convert("RGB"))
    if not before.size:
        raise Refused("empty picture", f"The picture is {image.width} x {image.height} pixels.")
    with _without_extensions():
        after = transform(before)
    if not after.size or (is_plain(after) and not is_plain(before)):
        raise Refused("empty picture", "Nothing would be left of the picture but one colour.")
    edited = Image.fromarray(after)
    try:
        check_image(edited)
    except ValueError as error:
        raise Refused("picture's size", str(error)) from error
    return edited


def is_plain(pixels: Pixels) -> bool:
    """Whether all pixels have one colour."""
    return bool((pixels == pixels[:1, :1]).all())


def random_of(*names: str | int) -> Random:
    """Random numbers that depend on these names alone, the same on every machine."""
    content = "\0".join(map(str, names)).encode()
    key = hashlib.blake2b(content, digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


@contextmanager
def _without_extensions() -> Iterator[None]:
    """OpenCV's plain code alone: with AVX2, a pixel of some transforms is another by one level."""
    before = cv2.useOptimized()
    cv2.setUseOptimized(False)
    try:
        yield
    finally:
        cv2.setUseOptimized(before)


def check_mask(pixels: Pixels, mask: np.ndarray) -> None:
    """Refuse a mask of another size, of nothing, or of the whole picture."""
    if mask.dtype != np.bool_ or mask.shape != pixels.shape[:2]:
        raise Refused(
            "mask does not fit",
            f"The mask is {mask.dtype} {mask.shape}; expected bool {pixels.shape[:2]}, a value a "
            "pixel.",
        )
    if not mask.any():
        raise Refused("empty mask", "The mask marks no pixel: there is nothing to change.")
    if mask.all():
        raise Refused("full mask", "The mask marks every pixel: no change would be local.")


def check_share(amount: Real) -> None:
    """A ValueError for an amount that is no share."""
    if not 0 <= amount <= 1:
        raise ValueError(f"An amount of {amount}; expected a share from 0 (nothing) to 1.")
