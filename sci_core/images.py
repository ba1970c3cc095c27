"""The pictures that are accepted: their type, and the limits of their size."""

from PIL import Image

MIN_SIDE = 2
"""Shortest side of a picture, in pixels."""

MAX_PIXELS = 89_478_485
"""Largest picture, in pixels: the size from which Pillow itself warns of a decompression bomb."""

MAX_ASPECT = 200
"""Largest ratio of a picture's sides: the narrowest limit of the families, kept for all."""


def check_image(image: object) -> None:
    """Refuse what no vision tower can read: no picture, too small, too large, too long.

    Raises:
        TypeError: `image` is not a `PIL.Image.Image`.
        ValueError: its size is outside the limits of this module.
    """
    if not isinstance(image, Image.Image):
        raise TypeError(
            f"Expected a PIL.Image.Image, got {type(image).__name__}. Open a file with "
            "PIL.Image.open(path)."
        )
    width, height = image.size
    if min(width, height) < MIN_SIDE:
        raise ValueError(
            f"The picture has {width} x {height} pixels; each side must have at least {MIN_SIDE}."
        )
    if width * height > MAX_PIXELS:
        raise ValueError(
            f"The picture has {width} x {height} = {width * height:,} pixels; at most "
            f"{MAX_PIXELS:,} are accepted. Make it smaller with Image.thumbnail first."
        )
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise ValueError(
            f"The picture has {width} x {height} pixels; one side may be at most {MAX_ASPECT} "
            "times the other. Crop or pad it first."
        )
