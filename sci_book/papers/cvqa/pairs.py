"""C-VQA's records as pairs: the original and the counterfactual question of every item.

Answers are read by the rules of the paper's public code (`papers.cvqa.answers`); letters, for which
it has none, by the book's own, as they were recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.datasets import DatasetError, file_of, read_manifest
from sci_book.data.manifests import Manifest
from sci_book.papers.cvqa import answers
from sci_book.papers.cvqa.questions import Item, Questions, load
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.parameters import Names

FOLDER = "cvqa"  # of its records, beside a model's own
# The data sets that each part of a chapter may be read from.
SETS = {
    "real": ("pocket_cvqa_real", "cvqa_real"),
    "steps": ("pocket_cvqa_steps",),
    "yesno": ("pocket_cvqa_yesno",),
    "synthetic": ("pocket_cvqa_synthetic", "cvqa_synthetic"),
}
_READ = {"number": answers.number, "yesno": answers.boolean}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Items of one model's records: `rows` holds `[2, items]` places of the two questions."""

    subject: Subject
    rows: np.ndarray

    def __len__(self) -> int:
        return self.rows.shape[1]

    def column(self, name: str) -> np.ndarray:
        """A column of the records, `[2, items]`."""
        return self.subject.records.frame[name].to_numpy(dtype=object)[self.rows]

    @property
    def kinds(self) -> np.ndarray:
        """The type of every item."""
        return self.column("category")[0]

    @property
    def groups(self) -> np.ndarray:
        """The cluster of every item: its picture."""
        return self.column("group")[0]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Picture and type of every item: the same in every wording."""
        return list(zip(self.groups, self.kinds, strict=True))

    @property
    def numbers(self) -> np.ndarray:
        """The place of every item in its file, from 0."""
        return self.column("index")[0].astype(int) // 2

    @property
    def ok(self) -> np.ndarray:
        """Items of which both questions were answered without an error."""
        return self.subject.records.ok[self.rows].all(0)

    def answers(self, policy: str) -> np.ndarray:
        """What a policy answered, `[2, items]`; None where its text names no answer."""
        records = self.subject.records
        texts, parsed = records.text(policy), records.parsed(policy)
        kinds = records.frame["question_type"].to_numpy(dtype=object)
        read = [
            _read(kinds[row], texts[row]) if kinds[row] in _READ else parsed[row]
            for row in self.rows.ravel()
        ]
        return np.array(read, dtype=object).reshape(self.rows.shape)

    def right(self, policy: str) -> np.ndarray:
        """1 or 0 for a right or wrong answer, `[2, items]`; NaN in both where either row failed."""
        return np.where(self.ok, self.answers(policy) == self.column("truth"), np.nan)

    def unread(self, policy: str) -> np.ndarray:
        """Whether a text names no answer, `[2, items]`; False where the item failed."""
        return pd.isna(self.answers(policy)) & self.ok

    def drop(self, policy: str) -> np.ndarray:
        """Right on the original less right on the counterfactual question: −1, 0, 1 or NaN."""
        original, counterfactual = self.right(policy)
        return original - counterfactual

    def where(self, mask: np.ndarray) -> Pairs:
        """The items in a mask, or at these places."""
        return replace(self, rows=self.rows[:, mask])


def subjects(models: Names, folder: str | Path) -> Found:
    """The models of a chapter that have records of C-VQA (`chapters.companions`)."""
    return chapters.companions(models, folder, FOLDER, "C-VQA")


def name_of(subject: Subject, part: str) -> str | None:
    """The data set behind a part of `SETS` in a model's records; None where there is none."""
    return next((name for name in SETS[part] if name in subject.records.stamp["datasets"]), None)


def of(subject: Subject, part: str) -> Pairs:
    """The items of a part of `SETS`, in the file's order; none where the records lack it."""
    frame = subject.records.frame
    mine = np.flatnonzero(frame["dataset"] == (name_of(subject, part) or ""))
    places = dict(zip(frame["index"].to_numpy()[mine].tolist(), mine.tolist(), strict=True))
    items = [index for index in places if not index % 2 and index + 1 in places]
    rows = [[places[index + side] for index in items] for side in (0, 1)]
    return Pairs(subject, np.array(rows, dtype=int).reshape(2, len(items)))


def understood(subject: Subject) -> Pairs:
    """The real set's items in a wording that the model understands.

    As the paper asks; but where the records hold the yes/no questions with "Please answer yes or
    no." as well, those stand for them: a pocket model reads the paper's instruction as the sign of
    another kind of question.
    """
    real, yesno = of(subject, "real"), of(subject, "yesno")
    if not len(yesno):
        return real
    numbers = real.where(real.kinds != "boolean")
    return replace(real, rows=np.concatenate([numbers.rows, yesno.rows], axis=1))


def items_of(subject: Subject, part: str) -> list[Item] | None:
    """The questions of a part, in the file's order; None without the file that was evaluated."""
    name = name_of(subject, part)
    if name is None:
        return None
    questions = questions_of(name)
    if questions is None or questions.left_out:
        return None
    items, evaluated = questions.items, of(subject, part)
    same = len(evaluated) <= len(items) and all(
        items[number].original_answer.casefold() == str(truth).casefold()
        for number, truth in zip(evaluated.numbers, evaluated.column("truth")[0], strict=True)
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


@cache
def _read(question_type: str, text: str) -> str | None:
    return _READ[question_type](text)
