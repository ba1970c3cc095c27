"""From the bytes of a picture's file to clean RGB, or one error of a named kind.

Files come from anywhere, so the size is checked before anything is decoded, and only plain raster
formats are opened (Pillow also knows formats that start other programs, such as EPS). What the
file's own name ends in does not matter.

What a person sees in a viewer is what the model is shown:

- a picture that its EXIF orientation calls rotated is turned upright, as `transformers` and viewers
  do (VLMEvalKit does not: its numbers on such pictures are of a model that sees them lying);
- transparent pixels are laid on white: dropping alpha alone shows colours nobody has seen;
- of an animation, the first frame; of 16 bits, the upper 8; CMYK as Pillow converts it.

None of this moves a pixel of an ordinary RGB file. `oddities` names what was done to a picture.
"""

from __future__ import annotations

import io
import warnings

import numpy as np
from PIL import ExifTags, Image, ImageOps

from sci_core.images import check_image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")
DEEP_GREY = ("I", "I;16", "I;16L", "I;16B", "I;16N")


class PictureError(ValueError):
    """The bytes are no picture that can be used; `kind` is "no picture" or "picture's size"."""

    def __init__(self, sentence: str, kind: str = "no picture"):
        super().__init__(sentence)
        self.kind = kind


def decode_picture(content: bytes) -> Image.Image:
    """The picture in a file's bytes, upright, opaque, RGB.

    Raises
    ------
    PictureError : for anything that is not a whole picture of a size `check_image` accepts.
    """
    with warnings.catch_warnings():
        # check_image refuses the sizes Pillow warns of, with a sentence of its own.
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(content), formats=FORMATS)
            _check_size(image)
            image.load()
            image = _to_rgb(_upright(image))
        except PictureError:
            raise
        except Image.DecompressionBombError as error:
            raise PictureError(str(error), "picture's size") from error
        except Exception as error:
            # Decoders of damaged files raise whatever they trip over: OSError, SyntaxError,
            # struct.error, IndexError, zlib.error, MemoryError, …
            raise PictureError(str(error) or type(error).__name__) from error
        _check_size(image)  # a damaged header may have told another size
        return image


def oddities(content: bytes) -> list[str]:
    """What `decode_picture` does to this picture beyond decoding it; empty for most."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = Image.open(io.BytesIO(content), formats=FORMATS)
        _check_size(image)
        found = {
            "several frames: the first is shown": getattr(image, "is_animated", False),
            "rotated by EXIF: shown upright": _orientation(image) != 1,
            "transparent: laid on white": image.has_transparency_data,
            "more than 8 bits: the upper 8 are shown": image.mode in DEEP_GREY,
            "CMYK: converted without a profile": image.mode == "CMYK",
        }
    return [what for what, is_so in found.items() if is_so]


def _check_size(image: Image.Image) -> None:
    try:
        check_image(image)
    except ValueError as error:
        raise PictureError(str(error), "picture's size") from error


def _orientation(image: Image.Image) -> int:
    try:
        return image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # damaged EXIF beside a picture that is whole
        return 1


def _upright(image: Image.Image) -> Image.Image:
    return ImageOps.exif_transpose(image) if _orientation(image) != 1 else image


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode in DEEP_GREY:
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise PictureError("its grey values are not 16-bit, so that white is not known")
        image = Image.fromarray((values >> 8).astype(np.uint8))
    if image.mode == "F":
        raise PictureError("its grey values are fractions, so that white is not known")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        page = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(page, image)
    return image.convert("RGB")


def size_in_header(content: bytes) -> tuple[int, int]:
    """Width and height as a picture's file says them, before anything is decoded; else (0, 0)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Image.open(io.BytesIO(content), formats=FORMATS).size
        except Exception:  # whatever a damaged header leads to is said when the row is read
            return 0, 0
