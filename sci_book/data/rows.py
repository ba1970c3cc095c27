"""What a data set is made of: rows with a picture each, and what can be wrong with them.

What is wrong with a *file* (header, length, checksum) is a `DatasetError` at once; what is wrong
with one *row* is kept in it and raised as a `RowError` when the row is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from sci_book.data.pictures import PictureError, decode_picture
from sci_book.files import json_text


class DatasetError(ValueError):
    """A data set or one of its files is not what its manifest says."""


class RowError(ValueError):
    """One row of a data set cannot be evaluated; the others can. `kind` names what is wrong."""

    def __init__(self, sentence: str, kind: str = "row"):
        super().__init__(sentence)
        self.kind = kind


class Problem(NamedTuple):
    """Why a row cannot be used: a kind that can be counted, and the sentence."""

    kind: str
    sentence: str


@dataclass(frozen=True, eq=False)
class Row:
    """One question on one picture.

    index       the row's id in its file (ViLP: 3 * question + picture, both from 0)
    position    its place among the raw rows of the full file, from 0; `limit` keeps it
    group       the question group: circular rotations, the two questions of an MME picture, the
                three pictures of a ViLP question. MMBench-EN and -CN share their groups
    options     letters and texts; empty unless `question_type` is "mcq"
    answer      the ground truth in the form in which the answer rule returns answers
    image_hash  16 hex digits of the SHA-256 over the picture's file
    translation  the whole question in the other language, which a free question needs as its V2
    rewrites    the whole prompt of V1, V2, V3 as the data set words them; empty where rules do
    problem     why the row cannot be used, or None
    image_file  where the picture lies; None if `image_bytes` holds it
    """

    dataset: str
    index: int
    position: int
    group: str
    question_type: str
    question: str
    answer: str
    image_hash: str
    hint: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    category: str = ""
    translation: str = ""
    rewrites: tuple[str, ...] = ()
    problem: Problem | None = None
    image_bytes: bytes = field(default=b"", repr=False)
    image_file: Path | None = None
    where: str = ""

    @property
    def kind(self) -> str:
        """The paper's question type, "MCQ" or "Others" (all other types)."""
        return "MCQ" if self.question_type == "mcq" else "Others"

    def image(self) -> Image.Image:
        """The picture, decoded to RGB (`pictures.decode_picture`).

        Raises:
            RowError: if the field is no picture, or one no vision tower can read.
        """
        if self.problem:
            raise RowError(self.problem.sentence, self.problem.kind)
        content = self.picture_bytes()
        try:
            return decode_picture(content)
        except PictureError as error:
            raise RowError(
                f"{self.where}: the image field ({len(content):,} bytes) is no picture "
                f"that can be used. {error} Mend or leave out the row.",
                error.kind,
            ) from error

    def picture_bytes(self) -> bytes:
        """The picture's file as it is.

        Raises:
            RowError: if it lies in a file that is gone or is no longer the one that was loaded.
        """
        if self.image_file is None:
            return self.image_bytes
        try:
            content = self.image_file.read_bytes()
        except OSError as error:
            raise RowError(
                f"{self.where}: {self.image_file} can no longer be read ({error.strerror}). "
                "Put it back.",
                "picture is missing",
            ) from error
        if short_hash(content) != self.image_hash:
            raise RowError(
                f"{self.where}: {self.image_file} changed since the data set was loaded. Load the "
                "data set again.",
                "picture changed",
            )
        return content


@dataclass(frozen=True)
class Dataset:
    """Rows of one data set or of several; `checksums` and `sizes` (all rows) by data set.

    `objects` are those that its descriptions may name, where it lists them (`objects.Objects`).
    """

    name: str
    rows: tuple[Row, ...]
    checksums: Mapping[str, str]
    sizes: Mapping[str, int]
    objects: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @cached_property
    def digest(self) -> str:
        """16 hex digits that name which rows of which files these are."""
        content = [dict(self.checksums), [(row.dataset, row.index) for row in self.rows]]
        return hashlib.sha256(json_text(content, sort_keys=True).encode()).hexdigest()[:16]


def short_hash(content: bytes) -> str:
    """16 hex digits of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]
