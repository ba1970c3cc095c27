"""What a rewritten prompt does to the answers: how many change, from what, and to what.

A base answer has changed if the rewritten prompt's answer is another one; an answer that cannot be
parsed equals none, so a row that is *unknown* before or after has changed (as in DRBench's S).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from sci_book.data.datasets import Row
from sci_book.papers.sci.chapters.shapes import Subjects, differs, less, of_kind, points
from sci_book.papers.shared.chapters import SplitBy, Subject, paper_values, row
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table
from sci_book.results.metrics import KINDS

ROUNDS = ("V1", "V2", "V3")
FLOWS = ("right → wrong", "wrong → right", "wrong → other wrong", "to unknown", "from unknown")
EXAMPLE_TYPES = ("mcq", "yesno", "short")


def rows_of(subject: Subject, split_by: SplitBy) -> np.ndarray:
    """The test rows, errors left out: the rows of every table here."""
    return subject.sets("any", split_by)["all"].to_numpy()


def changed(subject: Subject, name: str) -> np.ndarray:
    """Whether the answer to a rewritten prompt is another than the base's, for every row."""
    return differs(subject.records.parsed("base"), subject.records.parsed(name))


def flow(subject: Subject, name: str) -> np.ndarray:
    """Which of `FLOWS` every row is in; "" where the answer did not change."""
    records = subject.records
    unknown = [pd.isna(records.parsed(policy)) for policy in ("base", name)]
    conditions = [~changed(subject, name), *unknown, records.correct("base"), records.correct(name)]
    return np.select(conditions, ["", FLOWS[4], FLOWS[3], FLOWS[0], FLOWS[1]], default=FLOWS[2])


def shares(subject: Subject, split_by: SplitBy) -> Table:
    """The share of answers that each rewrite changes, by question type and by data set."""
    rows, datasets = rows_of(subject, split_by), subject.records.frame["dataset"]
    moved = {name: changed(subject, name) for name in ROUNDS}
    parts = {kind: of_kind(subject, kind) for kind in KINDS}
    parts |= {n.replace("_", " "): (datasets == n).to_numpy() for n in datasets.unique()}
    lines = {}
    for part, mask in parts.items():
        among = rows & mask
        spans = {n: subject.share(moved[n], among) for n in ROUNDS}
        lines[part] = {"n": f"{among.sum():,}"} | {n: points(span, 1) for n, span in spans.items()}
    caption = f"Answers that a rewrite changes, {subject.shown}, % of n, with {INTERVAL}s"
    return table_of(lines, name=f"changed-{subject.name}", caption=caption)


def flows(subject: Subject, split_by: SplitBy) -> Table:
    """What becomes of the changed rows, in rows: right and wrong, and answers not understood."""
    rows, lines = rows_of(subject, split_by), {}
    for name in ROUNDS:
        states = flow(subject, name)[rows]
        lines[name] = {"changed": int((states != "").sum())}
        lines[name] |= {state: int((states == state).sum()) for state in FLOWS}
    caption = f"Rows whose answer a rewrite changes, {subject.shown}, of {rows.sum():,}"
    return table_of(lines, name=f"flows-{subject.name}", caption=caption)


def net_change(subjects: Subjects, split_by: SplitBy) -> pd.DataFrame:
    """Accuracy of each rewrite less the base's, in points, all test rows; rows of `compare`.

    The paper's differences are those of its Table 10. Nothing is claimed of them.
    """
    printed, lines = paper_values("table10"), {}
    for subject, name in product(subjects, ROUNDS):
        rows, right = rows_of(subject, split_by), subject.records.correct
        gaps = right(name) - right("base").astype(float)
        paper = less(printed, *((subject.label, one, "all", "Overall") for one in (name, "base")))
        lines[f"{subject.brief}: {name} − base"] = row(subject.difference(gaps, rows), paper=paper)
    return pd.DataFrame.from_dict(lines, orient="index")


def examples(subject: Subject, rows: Mapping[tuple[str, int], Row], split_by: SplitBy) -> Table:
    """For each rewrite and question type the changed test row whose name has the smallest hash.

    So nobody picked it. The question is shown where its data set is at hand.
    """
    records, among = subject.records, rows_of(subject, split_by)
    frame = records.frame
    texts = {name: records.text(name) for name in ("base", *ROUNDS)}
    moved = {name: among & changed(subject, name) for name in ROUNDS}
    keys = list(zip(frame["dataset"], frame["index"].astype(int), strict=True))
    lines = []
    for name, question_type in product(ROUNDS, EXAMPLE_TYPES):
        of_type = (frame["question_type"] == question_type).to_numpy()
        places = np.flatnonzero(moved[name] & of_type)
        if not len(places):
            continue
        place = min(places, key=lambda place: order_of(*keys[place]))
        question = rows.get(keys[place])
        shown = MISSING if question is None else _question(question)
        said = (texts[policy][place] or MISSING for policy in ("base", name))
        lines.append((name, " ".join(map(str, keys[place])), shown, frame["truth"][place], *said))
    columns = ["rewrite", "row", "question", "truth", "base", "rewritten"]
    table = pd.DataFrame(lines, columns=columns).set_index("rewrite").rename_axis(index=None)
    caption = f"The first changed test row of each rewrite and question type, {subject.shown}"
    return Table(f"prose-examples-{subject.name}", table, caption)


def order_of(dataset: str, index: int) -> str:
    """A fixed order of rows that has nothing to do with what they ask."""
    return hashlib.sha256(f"{dataset}:{index}".encode()).hexdigest()


def _question(row: Row) -> str:
    options = ", ".join(f"{letter}. {text}" for letter, text in row.options.items())
    return f"{row.question} {options}".strip().replace("\n", " ⏎ ")
