"""Questions about the presence of an object, in the released formats of ORIC.

ORIC-Bench is a JSON list of `id, image, target_object, problem` (four wordings) and `solution`;
its training file has one wording with the tags of Figure 11 and a tagged solution.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from sci_book.data.answers.rules import yes_no
from sci_book.data.rows import DatasetError
from sci_book.data.tables import read_table
from sci_book.files import json_text, write_whole
from sci_book.papers.oric.annotations import LeavesOut, Problem

Label = Literal["yes", "no"]
LABELS: tuple[Label, Label] = ("yes", "no")
Said = Literal["yes", "no", "unknown", "failed"]
"""What an answer says; "failed" where there is none, which is no answer of the model's."""

WORDINGS = (
    "Is there {object} in the image?",
    "Does the image contain {object}?",
    "Have you noticed {object} in the image?",
    "Can you see {object} in the image?",
)
"""Appendix B.2; `{object}` has its article."""
PROMPT = "Question: {question}\nPlease answer the question based on the given image."
"""Figure 7, behind the picture."""
INSTRUCTED = "{question} Please answer yes or no."
"""What pocket models are told in its place, and other models here by default."""
PROMPT_INSTRUCTED = f"{PROMPT} Please answer yes or no."
"""Figure 7's words, with the instruction that SCI's rewritten prompts need (`rewrite`) behind."""
CHAIN_OF_THOUGHT = (
    "Question: {question}\nLet's think step-by-step and then answer the question based on the "
    "given image."
)
"""Figure 12, behind the picture."""

_SOLUTION = re.compile(r"<SOLUTION>\s*(yes|no)\s*</SOLUTION>")


@dataclass(frozen=True)
class Question:
    """One object asked about on one picture, in one or several wordings."""

    image: str
    target: str
    label: Label
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class Questions(LeavesOut):
    """The usable questions of a file, in its order, and those left out."""

    items: tuple[Question, ...]
    problems: tuple[Problem, ...]


def explicit(text: str) -> Said:
    """The yes or no that an answer states by the book's own rule, else "unknown" (section 4.1).

    The paper puts to a text model what states neither. Here its share stands beside every result.
    """
    return yes_no(text) or "unknown"


def with_article(noun: str) -> str:
    """ "an" before a vowel's letter, else "a", as in the released questions."""
    return f"{'an' if noun[:1].lower() in 'aeiou' and noun else 'a'} {noun}"


def wordings(target: str) -> tuple[str, ...]:
    """The four questions about an object."""
    return tuple(wording.format(object=with_article(target)) for wording in WORDINGS)


def load(path: str | Path) -> Questions:
    """Read a released file of ORIC, the benchmark or the training questions.

    Raises:
        DatasetError: if the file is missing, is no JSON list, or lacks a column.
    """
    path, names = Path(path), ("id", "image", "target_object", "problem", "solution")
    if not path.is_file():
        raise DatasetError(f"{path} does not exist; expected questions with {', '.join(names)}.")
    items: list[Question] = []
    problems: list[Problem] = []
    for number, record in enumerate(read_table(path, "json", list(names)), start=1):
        image, target, asked = (record[key] for key in ("image", "target_object", "problem"))
        said = record["solution"]
        tagged = _SOLUTION.fullmatch(said) if isinstance(said, str) else None
        asked = [asked] if isinstance(asked, str) else asked
        question = _question(image, target, tagged[1] if tagged else said, asked, f"row {number}")
        (items if isinstance(question, Question) else problems).append(question)
    return Questions(tuple(items), tuple(problems))


def label_counts(questions: Sequence[Question]) -> dict[Label, int]:
    """How many questions have each label."""
    counts = Counter(question.label for question in questions)
    return {label: counts[label] for label in LABELS}


def balanced(questions: Sequence[Question], size: int) -> list[Question]:
    """A draw of training questions, half of either label, in random order."""
    rng = np.random.default_rng(0)
    drawn = []
    for label in LABELS:
        mine = [number for number, question in enumerate(questions) if question.label == label]
        if size % 2 or len(mine) < size // 2:
            raise ValueError(
                f"{size} training questions, half of each label, came to be drawn from "
                f"{len(mine)} with the label {label}; expected an even size and enough of both."
            )
        drawn += rng.choice(mine, size // 2, replace=False).tolist()
    return [questions[index] for index in rng.permutation(drawn)]


def write(questions: Sequence[Question], path: str | Path) -> Path:
    """Write questions as the released benchmark has them, under the name only when whole."""
    path = Path(path)
    records = [
        {
            "id": number,
            "image": question.image,
            "target_object": question.target,
            "problem": list(question.wordings),
            "solution": question.label,
        }
        for number, question in enumerate(questions, start=1)
    ]
    write_whole(path, json_text(records, indent=4, ensure_ascii=False).encode())
    return path


def write_dataset(
    questions: Sequence[Question],
    folder: str | Path,
    pictures: str,
    *,
    name: str,
    prompt: str = INSTRUCTED,
) -> Path:
    """Write the benchmark's JSON and beside it the manifest, the path for `sci evaluate --data`.

    Args:
        pictures: the pictures' folder, relative to `folder` and below it.
        name: of both files, and so of the data set; no name of this project's own sets.
        prompt: with `{question}` and an instruction that `rewrite` knows; without one
            `sci evaluate` records an error in place of every answer.
    """
    if "{question}" not in prompt:
        raise ValueError(f"The prompt {prompt!r} has no {{question}} in it.")
    if not questions:
        raise ValueError(f"No question came for {name}; what was left out, and why, is counted.")
    folder = Path(folder)
    write(questions, folder / f"{name}.json")
    manifest = {
        "title": f"{name}: objects where one does not expect them",
        "file": f"{name}.json",
        "rows": sum(len(question.wordings) for question in questions),
        "format": "json",
        "columns": {
            "index": "id", "image": "image", "question": "problem", "answer": "solution",
            "category": "target_object", "group": "image",
        },
        "pictures": "files",
        "picture_folder": pictures,
        "question_type": "yesno",
        "prompt": prompt,
    }  # fmt: skip
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(manifest, sort_keys=False), encoding="utf-8")
    return path


def _question(image: Any, target: Any, label: Any, asked: Any, where: str) -> Question | Problem:
    if not isinstance(image, str) or not image:
        return Problem(where, "no picture", str(image)[:80])
    if not isinstance(asked, list) or not asked or not all(_is_text(text) for text in asked):
        return Problem(where, "no question", str(asked)[:80])
    if not _is_text(target):
        return Problem(where, "no object", str(asked[0])[:80])
    label = label.strip().lower() if isinstance(label, str) else label
    if label not in LABELS:
        return Problem(where, "answer that is neither yes nor no", str(label)[:80])
    return Question(image, target, label, tuple(asked))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
