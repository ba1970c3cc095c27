"""The public CSVs of C-VQA, real and synthetic: one loader, which guesses nothing.

What is wrong with a *file* is a `DatasetError`; what is wrong with a *row* leaves that row out
under a named reason, which is counted beside every result.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from sci_book.data.datasets import DatasetError

COLUMNS = ("img_path", "query", "answer", "new query", "new answer", "type")
REAL = ("direct", "indirect", "boolean")
SYNTHETIC = tuple(f"abs_counting_{n}" for n in range(1, 7))
LETTERS = "ABCD"

Form = Literal["number", "boolean", "letter"]
Side = Literal["original", "counterfactual"]
SIDES: tuple[Side, Side] = ("original", "counterfactual")

# The words are matched one option at a time, so that an option may hold spaces.
_OPTIONS = re.compile(r"Select the correct answer:\s*A:(.+?)\s+B:(.+?)\s+C:(.+?)\s+D:(.+?)\s*$")
_LONGEST_FIELD = 1 << 17  # characters


@dataclass(frozen=True)
class Item:
    """An original question and its counterfactual one, about one picture.

    `kind` is the file's type, `image` the picture's name. Answers are "0", "12", "yes", "no" or a
    letter.
    """

    image: str
    original: str
    original_answer: str
    counterfactual: str
    counterfactual_answer: str
    kind: str

    @property
    def form(self) -> Form:
        """What an answer looks like."""
        if self.kind in SYNTHETIC:
            return "letter"
        return "boolean" if self.kind == "boolean" else "number"

    def query(self, side: Side) -> str:
        """The question of one side."""
        return self.original if side == "original" else self.counterfactual

    def answer(self, side: Side) -> str:
        """The right answer of one side."""
        return self.original_answer if side == "original" else self.counterfactual_answer


class Questions(NamedTuple):
    """The usable rows of a file, in its order, and how many were left out, by reason."""

    items: list[Item]
    left_out: Counter[str]


def load(path: str | Path) -> Questions:
    """Read a CSV of C-VQA.

    Raises:
        DatasetError: if the file is missing, is no CSV, or lacks a column.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError(
            f"{path} does not exist; expected a C-VQA file with the columns {', '.join(COLUMNS)}."
        )
    parsed = [_item(row) for row in _rows(path)]
    items = [item for item in parsed if isinstance(item, Item)]
    return Questions(items, Counter(reason for reason in parsed if isinstance(reason, str)))


def options(query: str) -> dict[str, str]:
    """The options a synthetic question ends in, by letter; empty where it ends in none."""
    match = _OPTIONS.search(query)
    return dict(zip(LETTERS, match.groups(), strict=True)) if match else {}


def _rows(path: Path):
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise DatasetError(
                    f"{path} has no column {', '.join(missing)}; its header is "
                    f"{', '.join(reader.fieldnames or ())[:200]!r}, expected {', '.join(COLUMNS)}."
                )
            yield from reader
    except (csv.Error, UnicodeDecodeError) as error:
        raise DatasetError(
            f"{path} is no readable CSV ({error}); expected UTF-8 text with commas between fields. "
            "Get it again."
        ) from error
    finally:
        csv.field_size_limit(limit)


def _item(row: dict) -> Item | str:
    """The item of a row, or why it is none."""
    if None in row or None in row.values():
        return "wrong number of fields"
    name, original, answer, counterfactual, new_answer, kind = (row[c].strip() for c in COLUMNS)
    if kind not in (*REAL, *SYNTHETIC):
        return "unknown type"
    if not original or not counterfactual:
        return "no question"
    answer, new_answer = (
        text.lower() if len(text) > 1 else text.upper() for text in (answer, new_answer)
    )
    item = Item(name, original, answer, counterfactual, new_answer, kind)
    if not all(_fits(item, side) for side in SIDES):
        return "answer of no known kind"
    if name in ("", "..") or Path(name).name != name:
        return "picture outside its folder"
    return item


def _fits(item: Item, side: Side) -> bool:
    """Whether an answer is one that its question can have."""
    answer = item.answer(side)
    if item.form == "boolean":
        return answer in ("yes", "no")
    if item.form == "number":
        return answer.isascii() and answer.isdecimal() and str(int(answer[:20])) == answer
    return answer in options(item.query(side))
