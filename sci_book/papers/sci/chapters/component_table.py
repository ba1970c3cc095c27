"""Table 5 as the paper has it: its rows and their numbers, and which of them cannot be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sci_book.papers.sci.shapley import Coalition
from sci_book.papers.shared.chapters import PAPER, Subject, paper_values
from sci_book.papers.shared.sweeps import beside_paper
from sci_book.papers.shared.tables import Table
from sci_book.results.metrics import KINDS

SUBSET = "BS"
UNFIT = " †"  # marks a printed row that no counts of answers could have given


def printed(label: str | None) -> pd.DataFrame:
    """The paper's Table 5 of one model, in its order: percent by rounds and question type."""
    frame = pd.read_csv(PAPER / "table05.csv", keep_default_na=False)
    order = list(dict.fromkeys(frame["rounds"]))
    table = frame[frame["model"] == label].pivot(
        index="rounds", columns="question_type", values="value"
    )
    return table.reindex(index=order, columns=list(KINDS)).astype(float)


def unfit(label: str | None) -> list[str]:
    """The printed rows that no counts fit: percentages of Table 1's sizes, to two places.

    MCQ and Others must each be the share of a whole number of answers, and Overall of their sum.
    """
    table, sizes = printed(label).dropna(), paper_values("table01")
    return [
        rounds
        for rounds, line in table.iterrows()
        if not _fits(line, {kind: int(sizes[label, "", SUBSET, kind]) for kind in KINDS})
    ]


def table05(subject: Subject, sets: pd.DataFrame, right: Mapping[Coalition, np.ndarray]) -> Table:
    """Table 5: the paper's rows on BS, single inputs first, the paper's numbers beside."""
    paper, records = printed(subject.label), subject.records
    rows = {}
    for rounds in paper.index:
        first, *others = rounds.split()
        if first == "original" and tuple(others) in right:
            rows[rounds] = right[tuple(others)]
        elif first in records.rounds and not others:
            rows[rounds] = np.where(records.ok, records.correct(first), np.nan)
    odd = unfit(subject.label)
    return beside_paper(
        rows, paper, subject, sets[[SUBSET]],
        {each: _row_label(each) + (UNFIT if each in odd else "") for each in rows},
        name=f"{subject.name}-table05",
        caption=f"Table 5 of {subject.shown}: accuracy on BS in %",
    )  # fmt: skip


def _row_label(rounds: str) -> str:
    names = rounds.split()
    return " + ".join(names) if len(names) > 1 else f"{names[0]} alone"


def _fits(line: pd.Series, sizes: Mapping[str, int]) -> bool:
    """Whether counts of right answers give these percentages, half a unit of the last place off."""
    ways = {
        kind: [
            count
            for count in range(sizes[kind] + 1)
            if abs(100 * count / sizes[kind] - line[kind]) <= 0.005 + 1e-9
        ]
        for kind in KINDS
    }
    return any(mcq + others in ways["Overall"] for mcq in ways["MCQ"] for others in ways["Others"])
