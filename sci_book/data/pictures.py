"""From the bytes of a picture's file to clean RGB, or one error of a named kind.

Files come from anywhere, so the size is checked before anything is decoded, and only plain raster
formats are opened: Pillow also knows some that start other programs, such as EPS. A model is shown
what `images.prepare_image` makes of a picture; `oddities` names what was done to it.
"""

from __future__ import annotations

import io
import warnings

from PIL import Image, UnidentifiedImageError

from sci_core.images import DEEP_GREY, MAX_PIXELS, check_image, orientation, prepare_image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")


class PictureError(ValueError):
    """The bytes are no picture that can be used; `kind` is "no picture" or "picture's size"."""

    def __init__(self, sentence: str, kind: str = "no picture"):
        super().__init__(sentence)
        self.kind = kind


def decode_picture(content: bytes) -> Image.Image:
    """The picture in a file's bytes, upright, opaque, RGB.

    Raises:
        PictureError: for anything that is not a whole picture of a size `check_image` accepts.
    """
    # check_image refuses the sizes Pillow warns of, with a sentence of its own.
    with warnings.catch_warnings(action="ignore"):
        image = _open(content)
        try:
            return prepare_image(image)
        except ValueError as error:
            raise PictureError(str(error)) from error


def oddities(content: bytes) -> list[str]:
    """What `decode_picture` does to this picture beyond decoding it; empty for most."""
    with warnings.catch_warnings(action="ignore"):
        image = _open(content)
        treatments = {
            "several frames: the first is shown": getattr(image, "is_animated", False),
            "rotated by EXIF: shown upright": orientation(image) != 1,
            "transparent: laid on white": image.has_transparency_data,
            "more than 8 bits: the upper 8 are shown": image.mode in DEEP_GREY,
            "CMYK: converted without a profile": image.mode == "CMYK",
        }
    return [treatment for treatment, applies in treatments.items() if applies]


def _open(content: bytes) -> Image.Image:
    """A picture of which no more than the header is read, of a size that is accepted."""
    known = f"expected a picture as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    if not content:
        raise PictureError(f"The file is empty; {known}.")
    try:
        image = Image.open(io.BytesIO(content), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise PictureError(
            f"The picture is larger than the {MAX_PIXELS:,} pixels that are accepted. Make it "
            "smaller first.",
            "picture's size",
        ) from error
    except UnidentifiedImageError as error:  # names the object in memory, not the file
        raise PictureError(f"The file is no picture that can be opened; {known}.") from error
    except Exception as error:  # of a damaged header: OSError, SyntaxError, struct.error, …
        why = str(error) or type(error).__name__
        raise PictureError(f"The file is no whole picture ({why}); {known}.") from error
    try:
        check_image(image)
    except ValueError as error:
        raise PictureError(str(error), "picture's size") from error
    return image


def size_in_header(content: bytes) -> tuple[int, int]:
    """Width and height as a picture's file says them, before anything is decoded; else (0, 0)."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return Image.open(io.BytesIO(content), formats=FORMATS).size
        except Exception:  # whatever a damaged header leads to is said when the row is read
            return 0, 0
