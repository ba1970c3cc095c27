"""The questions that a page shows one by one, chosen from records by a rule and not by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sci_book.results.drbench import split, subsets
from sci_book.results.records import Records


class Examples(NamedTuple):
    """Rows by kind, as (data set, index), and a sentence on each kind that has none."""

    rows: dict[str, tuple[str, int]]
    missing: list[str]


def multiple_choice(records: Records, method: str) -> Examples:
    """The first multiple-choice test row of B and of S∖B that `method` answers rightly.

    Or simply the first such row where there is none that it answers rightly. Where a model has
    neither kind, the first multiple-choice test row stands in, "ordinary".
    """
    sets = subsets(records)
    choice = (records.frame["question_type"] == "mcq").to_numpy()
    asked = choice & sets["all"].to_numpy() & (split(records) == "test")
    right = records.correct(method)
    kinds = {"biased": sets["B"], "sensitive": sets["S∖B"]}
    rows, missing = {}, []
    for kind, members in kinds.items():
        members = members.to_numpy() & asked
        if members.any():
            rows[kind] = _first(records, members & right if (members & right).any() else members)
        else:
            missing.append(
                f"No test row is both {kind} and multiple choice with this model: no such question "
                "is shown."
            )
    if not rows and asked.any():
        rows["ordinary"] = _first(records, asked)
        missing.append("The first multiple-choice test row stands in.")
    return Examples(rows, missing)


def _first(records: Records, members: np.ndarray) -> tuple[str, int]:
    place = int(np.flatnonzero(members)[0])
    return records.frame["dataset"][place], int(records.frame["index"][place])
