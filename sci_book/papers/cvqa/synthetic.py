"""C-VQA-Synthetic in its public form: a CSV and one PNG a puzzle, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sci_book.files import csv_bytes, json_text, write_whole
from sci_book.papers.cvqa.drawing import draw
from sci_book.papers.cvqa.puzzles import TYPES, puzzle
from sci_book.papers.cvqa.questions import COLUMNS
from sci_book.pocket.lock import is_drawn

FILE = "C-VQA-Synthetic_questions.csv"
STAMP = "C-VQA-Synthetic_made.json"  # seed, number and size of what lies in the folder
COUNT = 500  # puzzles of a type, as published


def write(
    folder: str | Path,
    *,
    seed: int = 0,
    per_type: int = COUNT,
    size: int = 224,
    say: Callable[[str], None] = print,
) -> Path:
    """Draw and write a set: 6 x `per_type` puzzles and their CSV; the CSV's path.

    The CSV comes last and whole, so where it is the set is complete, and is left as it is; a folder
    that holds another set is refused.
    The public set has its own seed, which is unknown: the puzzles are of its kind, not its own.

    Args:
        size: pixels a side.

    Raises:
        ValueError: for a size at which puzzles cannot be drawn, a negative seed, or a folder with
            another set.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, stamp = folder / FILE, json_text({"seed": seed, "each": per_type, "size": size})
    if is_drawn(path, folder / STAMP, stamp, "set", "that set"):
        return path
    say(f"drawing {len(TYPES) * per_type:,} puzzles")
    rows = []
    for kind in TYPES:
        for number in range(per_type):
            drawn = puzzle(seed, kind, number)
            name = f"abs_counting_{(kind - 1) * per_type + number + 1:06d}.png"
            draw(drawn.drawing, size).save(folder / name, compress_level=3)
            rows.append(
                (name, drawn.original.query, drawn.original.letter,
                 drawn.counterfactual.query, drawn.counterfactual.letter, f"abs_counting_{kind}")
            )  # fmt: skip
    (folder / STAMP).write_text(stamp, encoding="utf-8")
    write_whole(path, csv_bytes([COLUMNS, *rows]))
    return path
