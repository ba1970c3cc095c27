"""The questions that a page shows one by one, chosen from records by a rule and not by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sci_book.data.answers.rules import letter
from sci_book.data.rows import Row
from sci_book.results.drbench import split, subsets
from sci_book.results.records import Records


class Examples(NamedTuple):
    """Rows by kind, as (data set, index), and a sentence on each kind that has none."""

    rows: dict[str, tuple[str, int]]
    missing: list[str]


class Replies(NamedTuple):
    """What the base and the method write as an answer to one question."""

    base: str
    method: str


def multiple_choice(records: Records, method: str) -> Examples:
    """The first multiple-choice test row of B and of S∖B that `method` corrects, and one it spoils.

    "biased" (B) and "sensitive" (S∖B) is a row that the base answers wrongly and `method` rightly;
    if there is none, one that `method` answers rightly; if there is none of these either, any row
    of the kind. "spoiled" is a row that the base answers rightly and `method` wrongly. Where a
    model has no row of any kind, the first multiple-choice test row stands in, "ordinary".

    Raises:
        RecordsError: the records hold no answers of `method`.
    """
    sets = subsets(records)
    choice = (records.frame["question_type"] == "mcq").to_numpy()
    asked = choice & sets["all"].to_numpy() & (split(records) == "test")
    base_right, method_right = records.correct("base"), records.correct(method)
    rows, missing = {}, []
    for kind, subset in {"biased": sets["B"], "sensitive": sets["S∖B"]}.items():
        members = subset.to_numpy() & asked
        preferred = (members & method_right & ~base_right, members & method_right, members)
        candidates = next((mask for mask in preferred if mask.any()), None)
        if candidates is not None:
            rows[kind] = _first(records, candidates)
        else:
            missing.append(
                f"No test row is both {kind} and multiple choice with this model: no such question "
                "is shown."
            )
    spoiled = asked & base_right & ~method_right
    if spoiled.any():
        rows["spoiled"] = _first(records, spoiled)
    else:
        missing.append(
            f"{method} spoils no multiple-choice test row of this model (the base is right on none "
            f"that {method} answers wrongly): no such question is shown."
        )
    if not rows and asked.any():
        rows["ordinary"] = _first(records, asked)
        missing.append("The first multiple-choice test row stands in.")
    return Examples(rows, missing)


def outcome(kind: str, row: Row, replies: Replies, method: str) -> str:
    """What base and method answer to a question and what is right, as one line of Markdown.

    An answer that has the right option's words behind another letter is explained: the letter is
    what is scored. `kind` is the question's, such as "biased".
    """
    right = f"{row.answer}. {row.options[row.answer]}"
    said = {"the base": replies.base, method: replies.method}
    parts = [
        f"{speaker} says “{_one_line(text)}” ({_verdict(text, row)})"
        for speaker, text in said.items()
    ]
    line = (
        f"**{kind.capitalize()}**, “{_one_line(row.question)}”: {', '.join(parts)}; the right "
        f"answer is “{_one_line(right)}”."
    )
    slips = [who for who, text in said.items() if right_in_word_only(text, row.options, row.answer)]
    if slips:
        speakers = " and ".join(slips).replace("the base", "The base", 1)
        verb = "is" if len(slips) == 1 else "are"
        line += (
            f" {speakers} {verb} right in word and wrong in letter, and "
            "the letter is what is scored."
        )
    return line


def right_in_word_only(text: str, options: Mapping[str, str], answer: str) -> bool:
    """Whether a text such as "D. right" has the right option's words behind another letter."""
    opening = re.match(r"\s*\(?(\w+)[.):,、．：]+\s*(.+)", text, re.DOTALL)
    if not opening or opening[1] not in options or opening[1] == answer:
        return False
    return _bare(opening[2]) == _bare(options[answer]) != _bare(options[opening[1]])


def departures(
    records: Records, chosen: Mapping[str, tuple[str, int]], rows: Mapping[str, Row],
    replies: Mapping[str, Replies], method: str,
) -> list[str]:  # fmt: skip
    """A sentence on each answer of a page that is read otherwise than the recorded one.

    By kind, `chosen` are the rows of `multiple_choice`, `replies` what is written on the page.
    """
    sentences = []
    for kind, key in chosen.items():
        place = records.keys.index(key)
        for policy, text in zip(("base", method), replies[kind], strict=True):
            here, there = letter(text, rows[kind].options), records.parsed(policy)[place]
            if here != there:
                sentences.append(
                    f"On the {kind} question {policy} answers {here or 'no option'} here and "
                    f"{there or 'no option'} in the records, by which the question was chosen."
                )
    return sentences


def _verdict(text: str, row: Row) -> str:
    chosen = letter(text, row.options)
    return "no option" if chosen is None else "right" if chosen == row.answer else "wrong"


def _bare(text: str) -> str:
    return _one_line(text).strip(" .").casefold()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first(records: Records, members: np.ndarray) -> tuple[str, int]:
    place = int(np.flatnonzero(members)[0])
    return records.frame["dataset"][place], int(records.frame["index"][place])
