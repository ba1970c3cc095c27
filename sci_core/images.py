"""From a picture to what a model is shown of it: one function, for every way in."""

import numpy as np
from PIL import ExifTags, Image, ImageOps

MIN_SIDE = 2  #: Shortest side of a picture, in pixels.
MAX_PIXELS = 89_478_485  #: Pixels of the largest picture; beyond, Pillow warns of a bomb.
MAX_ASPECT = 200  #: Largest ratio of a picture's sides, the narrowest limit of the families.
PICTURE_RULES = 1  #: Edition of `prepare_image` in stamps, a new one where its pixels change.
DEEP_GREY = ("I", "I;16", "I;16L", "I;16B", "I;16N")  #: Pillow's 16-bit grey, white 65535.
DARK_GREY = 2**14  #: Where 16-bit grey is nowhere as light, it may be of 8 to 14 bits.


def prepare_image(image: Image.Image) -> Image.Image:
    """Return the picture as every round shows it: upright, opaque, RGB.

    A picture that its EXIF orientation calls rotated is turned; what is transparent is laid on
    white; of 16 bits of grey the upper 8 are taken; other modes are converted as Pillow does it. An
    ordinary RGB picture is returned as it is, and so is what was prepared before.

    Raises:
        TypeError: `image` is not a `PIL.Image.Image`.
        ValueError: its size is outside the limits of `check_image`, its file is damaged or closed,
            or its values have no known white (fractions; whole numbers beyond 16 bits, or of 8 to
            14 bits where 16 are declared).
    """
    check_image(image)
    try:
        image.load()
    except Exception as error:  # decoders of damaged files raise whatever they trip over
        if getattr(image, "fp", image) is None or "closed" in str(error):
            raise ValueError(
                "The picture was closed before it was read, as `with Image.open(path)` does at its "
                "end; call its load() inside, or use it there."
            ) from error
        raise ValueError(
            f"The picture's file cannot be decoded ({error}); expected a whole one. Save or fetch "
            "it again."
        ) from error
    check_image(image)  # a damaged header may have told another size
    image = image.convert("LA") if image.mode == "La" else image
    image = ImageOps.exif_transpose(image) if orientation(image) != 1 else image
    grey = np.asarray(image) if image.mode in DEEP_GREY else None
    ends = (0, 0xFFFF) if grey is None else (grey.min(), grey.max())
    if image.mode == "F" or ends[0] < 0 or not (ends[1] == 0 or DARK_GREY <= ends[1] <= 0xFFFF):
        values = "are fractions" if image.mode == "F" else f"lie between {ends[0]} and {ends[1]}"
        raise ValueError(
            f"The picture's grey values {values} (Pillow's mode {image.mode}), where white would "
            "be 65535, so that white is not known; expected 8 or 16 bits. Scale them to 0 to 255 "
            "and convert the picture to mode L."
        )
    if grey is not None:
        return Image.fromarray((grey >> 8).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        page = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(page, image.convert("RGBA"))
    return image if image.mode == "RGB" else image.convert("RGB")


def orientation(image: Image.Image) -> int:
    """Return how EXIF says that the picture lies, from 1 (upright) to 8."""
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # damaged EXIF beside a picture that is whole
        return 1
    return value if value in range(1, 9) else 1


def check_image(image: object) -> None:
    """Refuse what no vision tower can read: TypeError for no picture, ValueError for its size."""
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
