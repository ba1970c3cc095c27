"""Table 5 as the paper has it: its rows and their numbers, and which of them cannot be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.shapley import Coalition
from sci_book.papers.shared.chapters import PAPER, Subject
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


def table05(subject: Subject, sets: pd.DataFrame, right: Mapping[Coalition, np.ndarray]) -> Table:
    """Table 5: the paper's rows on BS, single inputs first, the paper's numbers beside."""
    paper, records = printed(subject.label), subject.records
    odd = unfit("table05", subject.label, "rounds")
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
