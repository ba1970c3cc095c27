"""Pictures of the pocket world to describe, in answers of a dozen tokens."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path

import numpy as np

from sci_book.files import write_whole
from sci_book.pocket.curriculum import seed_of
from sci_book.pocket.dialogue import CHOOSE, DESCRIBE
from sci_book.pocket.draw import png
from sci_book.pocket.questions import description
from sci_book.pocket.twins import LOT
from sci_book.pocket.world import sample_scene

FILE = "descriptions.tsv"
SCENES = 750
"""600 test pictures and 150 of validation, by the paper's split of rows."""


def write(folder: Path) -> None:
    """Draw the pictures into `FILE`, unless it is there: a line each with what it shows in words.

    A scene depends on its number alone, and on a seed that nobody chose.
    """
    path = folder / FILE
    if path.exists():
        return
    seed = seed_of(next(iter(CHOOSE)), "descriptions")  # of the first family; any would do
    text = io.StringIO(newline="")
    lines = csv.writer(text, delimiter="\t")
    lines.writerow(["index", "image", "question", "answer"])
    for number in range(SCENES):
        scene = sample_scene(np.random.default_rng([seed, number]), LOT)
        picture = base64.b64encode(png(scene)).decode()
        lines.writerow([number, picture, DESCRIBE[0], description(scene).en])
    write_whole(path, text.getvalue().encode())
