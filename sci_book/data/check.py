"""Read every row of a data set, and say what is wrong with which.

What is wrong with the file as a whole is a `DatasetError` of the loader and never comes this far.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

from sci_book.data.answers.rules import parse
from sci_book.data.pictures import oddities
from sci_book.data.prompts import build_prompt, template_families
from sci_book.data.rewordings import by_prefix, prefix_sentence, reword
from sci_book.data.rows import Dataset, Problem, Row, RowError
from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS
from sci_core.methods import SCI7

SHOWN_ROWS = 3
PLACEHOLDERS = MANIFESTS / "placeholders.yaml"


@dataclass(frozen=True)
class Findings:
    """What a check found.

    problems  by kind, the rows that cannot be used, in the file's order
    left_out  rows that cannot be reworded: methods with textual rounds leave them out
    prefixed  how many rows the rule `prefix` rewords
    notes     by what was done to them, how many pictures are shown otherwise than stored
    pictures  how many different pictures could be opened
    """

    name: str
    rows: int
    pictures: int
    problems: dict[str, list[tuple[Row, str]]]
    left_out: list[tuple[Row, str]]
    prefixed: int
    notes: Counter[str]

    @property
    def spoilt(self) -> int:
        """How many rows cannot be used."""
        return sum(map(len, self.problems.values()))

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.rows:,} rows, {self.pictures:,} pictures; "
            f"unusable rows: {self.spoilt:,}"
        ]
        kinds = sorted(self.problems.items(), key=lambda item: -len(item[1]))
        if self.left_out:
            kinds.append(("left out of SCI, since it cannot be reworded", self.left_out))
        for kind, rows in kinds:
            indices = [str(row.index) for row, _ in rows[:SHOWN_ROWS]]
            more = ", …" if len(rows) > SHOWN_ROWS else ""
            lines.append(f"  {len(rows):>7,} {kind}: rows with index {', '.join(indices)}{more}")
            lines.append(f"          {rows[0][1]}")
        if self.prefixed:
            lines.append(f"  {prefix_sentence(self.prefixed, self.rows)}")
        lines += [f"  {count:>7,} pictures {note}" for note, count in sorted(self.notes.items())]
        return "\n".join(lines)


def check(dataset: Dataset) -> Findings:
    """Open every picture, read every ground truth and reword every prompt of a loaded data set."""
    problems: dict[str, list[tuple[Row, str]]] = {}
    left_out: list[tuple[Row, str]] = []
    prefixed = 0
    notes: Counter[str] = Counter()
    opened: dict[str, Problem | None] = {}
    for row in dataset:
        if row.problem is None and row.image_hash not in opened:
            opened[row.image_hash] = _picture_problem(row)
            if opened[row.image_hash] is None:
                notes.update(oddities(row.picture_bytes()))
        problem = row.problem or opened[row.image_hash] or _placeholder_problem(row)
        problem = problem or _answer_problem(row)
        if problem:
            problems.setdefault(problem.kind, []).append((row, problem.sentence))
        elif refused := _refused(row):
            left_out.append((row, refused))
        else:
            prefixed += any(by_prefix(row, build_prompt(row, f)) for f in template_families())
    pictures = sum(problem is None for problem in opened.values())
    return Findings(dataset.name, len(dataset), pictures, problems, left_out, prefixed, notes)


def _refused(row: Row) -> str:
    """Why some family's prompt of this row has no rewording in a round of SCI7; "" if all have."""
    for family in template_families():
        refused = reword(row, build_prompt(row, family), SCI7.rounds).refused
        if refused:
            return next(iter(refused.values()))
    return ""


def _picture_problem(row: Row) -> Problem | None:
    try:
        row.image()
    except RowError as error:
        return Problem(error.kind, str(error))
    return None


@cache
def _placeholders() -> list[str]:
    return read_yaml(PLACEHOLDERS)


def _placeholder_problem(row: Row) -> Problem | None:
    """A text that a checkpoint would take for a second picture, in any part of the prompt."""
    parts = (row.question, row.hint, row.translation, *row.options.values(), *row.rewrites)
    text = "\n".join(parts)
    held = [name for name in _placeholders() if name in text]
    if not held:
        return None
    return Problem(
        "picture's placeholder",
        f"{row.where}: the prompt holds {held[0]}, which checkpoints take for a picture. Remove "
        "it: the checkpoint's own chat template puts one there.",
    )


def _answer_problem(row: Row) -> Problem | None:
    """A ground truth that its own rule does not give back is one no model can meet."""
    try:
        read = parse(row.question_type, row.answer, row.options)
    except ValueError as error:
        return Problem("answer rule", f"{row.where}: {error}")
    if read == row.answer:
        return None
    return Problem(
        "answer",
        f"{row.where}: the answer rule reads the ground truth {row.answer!r} as {read!r}, so that "
        "no model can be right. Mend or leave out the row.",
    )
