"""A made-up row for the experiments of the Edge Reliability Gap."""

from io import BytesIO

import numpy as np
from PIL import Image

from sci_book.data.rows import Row, short_hash


def row(number, kind="short", **fields):
    """A question of a kind about a picture of noise, its own."""
    pixels = np.random.default_rng(number).integers(0, 256, (28, 28, 3), dtype=np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    content = file.getvalue()
    given = dict(
        dataset="any", index=number, position=number, group="", question_type=kind,
        question=f"What color is cow {number}?", answer="red", image_hash=short_hash(content),
        category="colour", image_bytes=content,
    )  # fmt: skip
    return Row(**(given | fields))
