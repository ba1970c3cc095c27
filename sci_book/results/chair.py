"""CHAIR: how much of what a description names is not in the picture (Rohrbach et al., 2018).

Of rows of the type `description`, whose truth names what the picture shows: as a list, or in a true
description. A mention counts as often as it is made, as in the published code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sci_book.data.objects import Objects, objects_of
from sci_book.results.records import Records

TYPE = "description"


class Chair(NamedTuple):
    """The figures of some descriptions, in percent; NaN where nothing is named.

    instances   CHAIR_i: of all mentions of objects, those of objects that are not there
    sentences   CHAIR_s: of all descriptions, those with such a mention
    recall      of all objects that are there, those named
    repetition  of all mentions of objects, those of objects that were named before
    words       of a description, on average
    rows        how many descriptions
    """

    instances: float
    sentences: float
    recall: float
    repetition: float
    words: float
    rows: int

    def __str__(self) -> str:
        return (
            f"CHAIR_i {self.instances:.2f}%, CHAIR_s {self.sentences:.2f}%, recall "
            f"{self.recall:.2f}%, {self.repetition:.2f}% of mentions repeated, {self.words:.1f} "
            f"words each, of {self.rows:,} descriptions"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain numbers; None where there is none."""
        figures = zip(("chair_i", "chair_s", *self._fields[2:]), self, strict=True)
        return {name: value if np.isfinite(value) else None for name, value in figures}


def objects_in(records: Records) -> Objects:
    """The objects of a run's data: its own list, or all that the truths name."""
    words = records.stamp.get("objects")
    if words:
        return Objects(words)
    frame = records.frame
    return objects_of(frame["truth"][frame["question_type"] == TYPE].unique())


def mentions(records: Records, policy: str) -> list[list[tuple[str, bool]]]:
    """Of every row, what its description names, in order, and whether the picture shows it.

    Empty for rows of another type and for those without an answer.
    """
    objects, asked = objects_in(records), answered(records, policy)
    shown: dict[str, set[str]] = {}
    found: list[list[tuple[str, bool]]] = []
    for text, truth, ok in zip(records.text(policy), records.frame["truth"], asked, strict=True):
        if ok and truth not in shown:
            shown[truth] = set(objects.named_in(truth))
        named = objects.named_in(text) if ok else ()
        found.append([(name, name in shown[truth]) for name in named])
    return found


def answered(records: Records, policy: str) -> np.ndarray:
    """The rows that are descriptions and have one of this policy."""
    kind = (records.frame["question_type"] == TYPE).to_numpy()
    return kind & records.answered(policy)


def counts(records: Records, policy: str) -> pd.DataFrame:
    """What `chair` sums, a row each; NaN for a row that is no answered description.

    named     mentions of objects
    invented  those of objects that are not in the picture
    objects   objects in the picture
    found     those that are named
    repeated  mentions of an object that was named before
    words     words of the description
    """
    objects, asked = objects_in(records), answered(records, policy)
    lines = np.full((len(asked), 6), np.nan)
    every = zip(
        mentions(records, policy), records.text(policy), records.frame["truth"], strict=True
    )
    for row, (named, text, truth) in enumerate(every):
        if asked[row]:
            names = {name for name, _ in named}
            there = set(objects.named_in(truth))
            invented = sum(not shown for _, shown in named)
            lines[row] = (
                len(named), invented, len(there), len(names & there), len(named) - len(names),
                len(text.split()),
            )  # fmt: skip
    columns = ["named", "invented", "objects", "found", "repeated", "words"]
    return pd.DataFrame(lines, columns=columns)


def chair(records: Records, policy: str) -> Chair:
    """The figures of a policy's descriptions."""
    found = counts(records, policy).dropna()
    sums = found.sum()

    def percent(part: float, whole: float) -> float:
        return float(100 * part / whole) if whole else np.nan

    return Chair(
        percent(sums["invented"], sums["named"]),
        percent((found["invented"] > 0).sum(), len(found)),
        percent(sums["found"], sums["objects"]),
        percent(sums["repeated"], sums["named"]),
        float(found["words"].mean()),
        len(found),
    )
