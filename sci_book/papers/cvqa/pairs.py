"""C-VQA's questions in pairs: what a model makes of an original and its counterfactual question.

A value belongs to an item. It stands on the row of the item's original question and is NaN on every
other row of the records, as `frame.line` takes values and rows. Answers are read by the rules of
the paper's public code (`papers.cvqa.answers`); letters, for which it has none, by the book's own,
as they were recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book.data.datasets import DatasetError, file_of, read_manifest
from sci_book.data.manifests import Manifest
from sci_book.papers.cvqa import answers as rules
from sci_book.papers.cvqa.questions import SIDES, Form, Item, Questions, Side, load
from sci_book.papers.shared import chapters, frame
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.results.records import Records, build_table
from sci_core.methods import Method

FOLDER = "cvqa"  # of its records, beside a model's own
# The data sets that each part of a chapter may be read from.
SETS = {
    "real": ("pocket_cvqa_real", "cvqa_real"),
    "steps": ("pocket_cvqa_steps",),
    "yesno": ("pocket_cvqa_yesno",),
    "synthetic": ("pocket_cvqa_synthetic", "cvqa_synthetic"),
}
_TYPES: dict[Form, str] = {"number": "number", "boolean": "yesno", "letter": "mcq"}
_READ = {"number": rules.number, "yesno": rules.boolean}


def subjects(models: Names, folder: str | Path) -> Found:
    """The models of a chapter that have records of C-VQA (`chapters.companions`)."""
    return chapters.companions(models, folder, FOLDER, "C-VQA")


def writer(name: str, items: Sequence[Item], texts: Sequence[Sequence[str | None]]) -> Subject:
    """What wrote `texts [2, items]`, such as programs that ran, as a model with its answers.

    A text is None where it failed; that row counts as one with an error.

    Raises:
        ValueError: if there is not one text an item, on either side.
    """
    if len(texts) != 2 or any(len(side) != len(items) for side in texts):
        raise ValueError(
            f"{len(items)} items need one text each on either side, failed ones None; got "
            f"{' and '.join(str(len(side)) for side in texts)}."
        )
    (dataset, *_), rows = SETS["real"], []
    for place, item in enumerate(items):
        for turn, side in enumerate(SIDES):
            text, index = texts[turn][place], 2 * place + turn
            rows.append({
                "dataset": dataset, "index": index, "position": index, "group": item.image,
                "image_hash": "", "question_type": _TYPES[item.form], "category": item.kind,
                "truth": item.answer(side), "options": "", "prompt_hash": "", "prompt_tokens": 0,
                "nodes": [], "error": "NoText" if text is None else None,
                "tokens:original": [], "text:original": text,
                "parsed:original": None if text is None else rules.read(item, side, text),
            })  # fmt: skip
    stamp = {"model": name, "rounds": ["original"], "methods": [], "datasets": {dataset: ""}}
    records = Records(build_table(rows, ["original"]), stamp, {})
    return Subject(name, "ViperGPT", name, name, Path(), records)


# --- rows -----------------------------------------------------------------------------------------


def name_of(subject: Subject, part: str) -> str | None:
    """The data set behind a part of `SETS` in a model's records; None where there is none."""
    return next((name for name in SETS[part] if name in subject.records.stamp["datasets"]), None)


def of(subject: Subject, part: str) -> np.ndarray:
    """Which rows are original questions of a part of `SETS`, their counterfactual one recorded."""
    mine = subject.records.frame["dataset"].to_numpy(dtype=object) == (name_of(subject, part) or "")
    return mine & (beside(subject) >= 0)


def understood(subject: Subject) -> np.ndarray:
    """Which rows are original questions of the real set, in a wording that the model understands.

    As the paper asks; but where the records hold the yes/no questions with "Please answer yes or
    no." as well, those stand for them: a pocket model may read the paper's instruction as the sign
    of another kind of question.
    """
    real, yesno = of(subject, "real"), of(subject, "yesno")
    return real & (kinds(subject) != "boolean") | yesno if yesno.any() else real


@lru_cache(maxsize=32)
def beside(subject: Subject) -> np.ndarray:
    """The row of the counterfactual question beside each original one; −1 beside other rows."""
    rows = {key: row for row, key in enumerate(subject.records.keys)}
    keys = [(name, -1 if index % 2 else index + 1) for name, index in subject.records.keys]
    return np.array([rows.get(key, -1) for key in keys], dtype=int)


def plainly(subject: Subject) -> np.ndarray:
    """The row of the same item asked plainly beside each asked step by step; −1 beside other rows.

    Plainly in the paper's wording, booleans too: "Let's think step by step:" alone differs.
    """
    keys = list(zip(subject.groups, kinds(subject), strict=True))
    rows = {keys[row]: row for row in np.flatnonzero(of(subject, "real"))}
    steps = zip(keys, of(subject, "steps"), strict=True)
    return np.array([rows.get(key, -1) if step else -1 for key, step in steps], dtype=int)


def only(rows: Callable[[Subject], np.ndarray], kind: str) -> Callable[[Subject], np.ndarray]:
    """Which of some rows are of a type; "all" keeps every type."""
    return lambda subject: rows(subject) & ((kinds(subject) == kind) | (kind == "all"))


def kinds(subject: Subject) -> np.ndarray:
    """The type of every row, such as "direct"."""
    return subject.records.frame["category"].to_numpy(dtype=object)


def numbers(subject: Subject) -> np.ndarray:
    """The place of every row's item in its file, from 0."""
    return subject.records.frame["index"].to_numpy() // 2


# --- values ---------------------------------------------------------------------------------------


@lru_cache(maxsize=128)
def answers(subject: Subject, method: Method | str) -> np.ndarray:
    """What a method or a round answered to every row; None where its text names no answer.

    Raises:
        NotRecorded: the records hold no text of it (`Subject.decoded`).
    """
    records, policy = subject.records, subject.decoded(method)
    types = records.frame["question_type"]
    texts = zip(types, records.text(policy), records.parsed(policy), strict=True)
    read = [_read(kind, text) if kind in _READ else parsed for kind, text, parsed in texts]
    return np.array(read, dtype=object)


def ok(subject: Subject) -> np.ndarray:
    """Which rows are original questions of items answered on both sides without an error."""
    answered, rows = subject.records.ok, beside(subject)
    return answered & answered[rows] & (rows >= 0)


def said(subject: Subject, method: Method | str, side: Side) -> np.ndarray:
    """The answer to one side of an item."""
    return _on(subject, answers(subject, method), side)


def truth(subject: Subject, side: Side) -> np.ndarray:
    """The right answer to one side of an item."""
    return _on(subject, subject.records.frame["truth"].to_numpy(dtype=object), side)


def right(subject: Subject, method: Method | str, side: Side) -> np.ndarray:
    """1 or 0 for a right or wrong answer to one side of an item; NaN where either side failed."""
    hits = said(subject, method, side) == truth(subject, side)
    return np.where(ok(subject), hits, np.nan)


def unread(subject: Subject, method: Method | str, side: Side) -> np.ndarray:
    """Whether the text for one side of an item names no answer; False where the item failed."""
    return pd.isna(said(subject, method, side)) & ok(subject)


def drop(subject: Subject, method: Method | str) -> np.ndarray:
    """Right on the original less right on the counterfactual question: −1, 0, 1 or NaN."""
    original, counterfactual = (right(subject, method, side) for side in SIDES)
    return original - counterfactual


def spared(subject: Subject, method: Method | str, other: Method | str = "base") -> np.ndarray:
    """What a method takes off another's drop: above 0 it loses less."""
    return drop(subject, other) - drop(subject, method)


def step_gain(subject: Subject) -> np.ndarray:
    """Right on a counterfactual question asked step by step less right on it asked plainly."""
    hits, rows = right(subject, "base", "counterfactual"), plainly(subject)
    return np.where(rows >= 0, hits - hits[rows], np.nan)


def fall(
    subject: Subject, rows: Callable[[Subject], np.ndarray], by: Method | str = "base", **keys: Any
) -> Iterator[dict[str, Any]]:
    """Lines of `frame` on the same items: the share right on either side, and the drop.

    By a method or a round. Their key `what` is "original", "counterfactual" or "drop".
    """
    for side in SIDES:
        values = partial(right, method=by, side=side)
        yield frame.line(subject, values, rows, (0.0, 1.0), what=side, **keys)
    yield frame.line(subject, partial(drop, method=by), rows, what="drop", **keys)


def _on(subject: Subject, values: np.ndarray, side: Side) -> np.ndarray:
    """Values of one side's questions, on the rows of the original ones."""
    return values if side == "original" else values[beside(subject)]


@cache
def _read(question_type: str, text: str) -> str | None:
    return _READ[question_type](text)


# --- files of questions ---------------------------------------------------------------------------


def items_of(subject: Subject, part: str) -> list[Item] | None:
    """The questions of a part, in the file's order; None without the file that was evaluated."""
    name = name_of(subject, part)
    questions = questions_of(name) if name else None
    if questions is None or questions.left_out:
        return None
    items, rows = questions.items, of(subject, part)
    truths = subject.records.frame["truth"].to_numpy(dtype=object)[rows]
    same = rows.sum() <= len(items) and all(
        items[number].original_answer.casefold() == str(truth).casefold()
        for number, truth in zip(numbers(subject)[rows], truths, strict=True)
    )
    return items if same else None


def questions_file(name: str) -> Path:
    """Where the questions of a data set lie.

    Raises:
        DatasetError: an unknown name, or a collection of several sets.
    """
    manifest = read_manifest(name)
    if not isinstance(manifest, Manifest):
        raise DatasetError(f"{name} is a collection; name one of {', '.join(manifest.parts)}.")
    return file_of(manifest, name)


def questions_of(name: str) -> Questions | None:
    """The questions of a data set; None where its file is not at hand."""
    try:
        return load(questions_file(name))
    except (DatasetError, OSError):
        return None
