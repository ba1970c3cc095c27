"""The rewritten prompts of a row, and why a row has none in some round.

A row may bring its own. Else a prompt with an instruction is rewritten by the paper's tables. A
free question has none: V1 and V3 stand in front of it, and V2 is its translation. Where there is no
translation, or no instruction that the tables know, the rule `prefix` takes the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sci_book.data.answers.rules import FREE
from sci_book.data.rows import Row
from sci_core.counterfactuals import (
    DUMMIES,
    FRONTS,
    REWRITES,
    find_dummy,
    holds_instruction,
    is_visual,
    prefix_rewrite,
    rewrite,
)


class Rewordings(NamedTuple):
    """By textual round, the rewritten prompt; or the sentence that says why there is none."""

    texts: dict[str, str]
    refused: dict[str, str]


def reword(row: Row, prompt: str, rounds: Sequence[str]) -> Rewordings:
    """The prompt of a row in every textual round among `rounds`."""
    texts, refused = {}, {}
    for name in rounds:
        if name == "original" or is_visual(name):
            continue
        try:
            texts[name] = _reworded(row, prompt, name)
        except ValueError as error:
            refused[name] = f"{row.where}: {error}"
    return Rewordings(texts, refused)


def check_rounds(rounds: Sequence[str]) -> None:
    """Raise ValueError for a name that is no round of an evaluation; lists those that are."""
    for name in rounds:
        if is_visual(name):
            find_dummy(name)
        elif name not in ("original", *REWRITES, *FRONTS):
            dummies = ", or ".join(dummy.usage.replace("'", "") for dummy in DUMMIES.values())
            raise ValueError(
                f"Unknown round {name!r}; expected original, {', '.join((*REWRITES, *FRONTS))}, "
                f"{dummies}."
            )


def _reworded(row: Row, prompt: str, name: str) -> str:
    if row.rewrites and name.startswith("V"):
        return _own(row, prompt, name)
    if row.question_type not in FREE and holds_instruction(prompt):
        return rewrite(prompt, name)
    return prefix_rewrite(prompt, name, row.translation)


def by_prefix(row: Row, prompt: str) -> bool:
    """Whether the rule `prefix` rewords a row, for want of something better."""
    if row.question_type in FREE:
        return not (row.rewrites or row.translation)
    return not (row.rewrites or holds_instruction(prompt))


def prefix_sentence(count: int, rows: int) -> str:
    """What is said of the rows that `by_prefix` holds of."""
    return (
        f"{count:,} of {rows:,} rows hold no instruction that the paper's rewordings know, and no "
        "translation of a free question: the rule `prefix` puts a request in front of them. Name "
        "the column of rewordings of your own as columns.rewrites of the data set's YAML file."
    )


def _own(row: Row, prompt: str, name: str) -> str:
    place = list(REWRITES).index(name)
    if place >= len(row.rewrites):
        raise ValueError(
            f"{len(row.rewrites)} rewrites came and {name} is number {place + 1}. Add it to the "
            "column columns.rewrites, or leave the cell empty for the rules' own."
        )
    if row.rewrites[place] == prompt:
        raise ValueError(f"the rewrite of {name} is the prompt itself. Word it otherwise.")
    return row.rewrites[place]
