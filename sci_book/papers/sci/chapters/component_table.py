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
    odd = []
    for rounds, line in table.iterrows():
        ways = {}
        for kind in KINDS:
            count = np.arange(int(sizes[label, "", SUBSET, kind]) + 1)
            ways[kind] = count[abs(100 * count / count[-1] - line[kind]) <= 0.005 + 1e-9]
        if not np.isin(np.add.outer(ways["MCQ"], ways["Others"]), ways["Overall"]).any():
            odd.append(rounds)
    return odd


def table05(subject: Subject, sets: pd.DataFrame, right: Mapping[Coalition, np.ndarray]) -> Table:
    """Table 5: the paper's rows on BS, single inputs first, the paper's numbers beside."""
    paper, records, odd = printed(subject.label), subject.records, unfit(subject.label)
    rows, labels = {}, {}
    for rounds in paper.index:
        first, *others = rounds.split()
        if first == "original" and tuple(others) in right:
            rows[rounds] = right[tuple(others)]
        elif first in records.rounds and not others:
            rows[rounds] = np.where(records.ok, records.correct(first), np.nan)
        label = " + ".join((first, *others)) if others else f"{first} alone"
        labels[rounds] = label + (UNFIT if rounds in odd else "")
    return beside_paper(
        rows, paper, subject, sets[[SUBSET]], labels,
        name=f"{subject.name}-table05",
        caption=f"Table 5 of {subject.shown}: accuracy on BS in %",
    )  # fmt: skip
