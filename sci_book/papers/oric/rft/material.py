"""What Visual-RFT is trained on and asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sci_book.data.rows import DatasetError
from sci_book.files import json_text
from sci_book.papers.oric.questions import Question

FORMED = "{question} Describe the picture. Please answer yes or no."
"""What a pocket model is asked in Figure 11's place, in words it knows; the tags it is taught."""


@dataclass(frozen=True)
class Sample:
    """A picture's file, the user's text behind it, and the label ("yes", "no") or full answer."""

    picture: Path
    prompt: str
    answer: str


@dataclass(frozen=True)
class Material:
    """What the experiment is made of; the questions' pictures lie in one folder.

    `lessons` teach the form and have labels that nobody reads; `samples` are trained on; `oric` and
    `probe` are held out.
    """

    pictures: Path
    lessons: tuple[Question, ...]
    samples: tuple[Sample, ...]
    oric: tuple[Question, ...]
    probe: tuple[Question, ...]


def with_pictures(samples: Iterable[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Those whose picture's file is there, and those without one; a `DatasetError` if it is all."""
    there: list[Sample] = []
    missing: list[Sample] = []
    for sample in samples:
        (there if sample.picture.is_file() else missing).append(sample)
    if not there:
        named = f", such as {missing[0].picture}" if missing else ""
        raise DatasetError(
            f"None of {len(missing)} questions has its picture{named}. Check their folder."
        )
    return there, missing


def digest(samples: Sequence[Sample]) -> str:
    """What tells one list of samples from another: SHA-256 of pictures' names and texts."""
    contents = [(sample.picture.name, sample.prompt, sample.answer) for sample in samples]
    return hashlib.sha256(json_text(contents).encode()).hexdigest()
