"""What a rewritten prompt does to the answers: how many change, from what, and to what.

A base answer has changed if the rewritten prompt's answer is another one; an answer that cannot be
parsed equals none, so a row that is *unknown* before or after has changed (as in DRBench's S).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sci_book.data.answers.rules import same
from sci_book.data.datasets import Row
from sci_book.papers.sci.audit import read_tables
from sci_book.papers.sci.chapters.subset_sizes import of_kind
from sci_book.papers.shared.chapters import SplitBy, Subject, row, share
from sci_book.papers.shared.tables import MISSING, Table, interval, number, plain
from sci_book.results.metrics import KINDS
from sci_book.results.statistics import cluster_bootstrap

ROUNDS = ("V1", "V2", "V3")
FLOWS = ("right → wrong", "wrong → right", "wrong → other wrong", "to unknown", "from unknown")
EXAMPLE_TYPES = ("mcq", "yesno", "short")


def rows_of(subject: Subject, split_by: SplitBy) -> np.ndarray:
    """The test rows, errors left out: the rows of every table here."""
    return subject.sets("any", split_by)["all"].to_numpy()


def changed(subject: Subject, name: str) -> np.ndarray:
    """Whether the answer to a rewritten prompt is another than the base's, for every row."""
    pairs = zip(subject.records.parsed("base"), subject.records.parsed(name), strict=True)
    return np.array([not same(before, after) for before, after in pairs], dtype=bool)


def flow(subject: Subject, name: str) -> np.ndarray:
    """Which of `FLOWS` every row is in; "" where the answer did not change."""
    before, after = subject.records.parsed("base"), subject.records.parsed(name)
    moved = changed(subject, name)
    was, now = subject.records.correct("base"), subject.records.correct(name)
    known = [np.array([each is not None for each in side], dtype=bool) for side in (before, after)]
    conditions = [~moved, ~known[0], ~known[1], was, now]
    return np.select(conditions, ["", FLOWS[4], FLOWS[3], FLOWS[0], FLOWS[1]], default=FLOWS[2])


def shares(subject: Subject, split_by: SplitBy) -> Table:
    """The share of answers that each rewrite changes, by question type and by data set."""
    rows, frame = rows_of(subject, split_by), subject.records.frame
    moved = {name: changed(subject, name) for name in ROUNDS}
    parts = {kind: of_kind(subject, kind) for kind in KINDS}
    parts |= {name: (frame["dataset"] == name).to_numpy() for name in frame["dataset"].unique()}
    lines = {}
    for part, mask in parts.items():
        among = rows & mask
        lines[part] = {"n": f"{among.sum():,}"}
        for name in ROUNDS:
            found = share(moved[name], among, subject.groups, 0.95)
            lines[part][name] = percent(found)
    caption = f"Answers that a rewrite changes, {subject.shown}, % of n, with 95 % intervals"
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table(f"changed-{subject.name}", frame, caption)


def flows(subject: Subject, split_by: SplitBy) -> Table:
    """What becomes of the changed rows, in rows: right and wrong, and answers not understood."""
    rows = rows_of(subject, split_by)
    lines = {}
    for name in ROUNDS:
        found = flow(subject, name)[rows]
        counts = {each: int((found == each).sum()) for each in FLOWS}
        lines[name] = {"changed": sum(counts.values()), **counts}
    caption = f"Rows whose answer a rewrite changes, {subject.shown}, of {rows.sum():,}"
    return plain(
        pd.DataFrame.from_dict(lines, orient="index"), name=f"flows-{subject.name}", caption=caption
    )


def net_change(subjects: Sequence[Subject], split_by: SplitBy) -> pd.DataFrame:
    """Accuracy of each rewrite less the base's, in points, all test rows; rows of `compare`.

    The paper's differences are those of its Table 10. Nothing is claimed of them.
    """
    printed = read_tables()["table10"]
    printed = printed[(printed["dataset"] == "all") & (printed["question_type"] == "Overall")]
    paper = printed.set_index(["model", "method"])["value"].to_dict()
    lines = {}
    for each in subjects:
        rows = rows_of(each, split_by)
        base = each.records.correct("base").astype(float)
        for name in ROUNDS:
            difference = each.records.correct(name) - base
            found = cluster_bootstrap(difference[rows], each.groups[rows])
            printed_pair = [paper.get((each.label, method)) for method in (name, "base")]
            gap = None if None in printed_pair else printed_pair[0] - printed_pair[1]
            lines[f"{each.brief}: {name} − base"] = row(found, paper=gap)
    return pd.DataFrame.from_dict(lines, orient="index")


def examples(subject: Subject, rows: Mapping[tuple[str, int], Row], split_by: SplitBy) -> Table:
    """For each rewrite and question type the changed test row whose name has the smallest hash.

    So nobody picked it. The question is shown where its data set is at hand.
    """
    frame, among = subject.records.frame, rows_of(subject, split_by)
    texts = {name: subject.records.text(name) for name in ("base", *ROUNDS)}
    lines = []
    for name in ROUNDS:
        moved = among & changed(subject, name)
        for question_type in EXAMPLE_TYPES:
            places = np.flatnonzero(moved & (frame["question_type"] == question_type).to_numpy())
            if not len(places):
                continue
            keys = {
                place: (frame["dataset"][place], int(frame["index"][place])) for place in places
            }
            place = min(places, key=lambda place: order_of(*keys[place]))
            asked = rows.get(keys[place])
            lines.append(
                {
                    "rewrite": name,
                    "row": f"{keys[place][0]} {keys[place][1]}",
                    "question": MISSING if asked is None else _question(asked),
                    "truth": frame["truth"][place],
                    "base": texts["base"][place] or MISSING,
                    "rewritten": texts[name][place] or MISSING,
                }
            )
    columns = ["rewrite", "row", "question", "truth", "base", "rewritten"]
    table = pd.DataFrame(lines, columns=columns).set_index("rewrite").rename_axis(index=None)
    caption = f"The first changed test row of each rewrite and question type, {subject.shown}"
    return Table(f"prose-examples-{subject.name}", table, caption)


def order_of(dataset: str, index: int) -> str:
    """A fixed order of rows that has nothing to do with what they ask."""
    return hashlib.sha256(f"{dataset}:{index}".encode()).hexdigest()


def percent(found) -> str:
    """An interval of a share, as `12.3 [11.0, 13.6]`, in percent."""
    if not found.n:
        return MISSING
    return f"{number(100 * found.estimate, 1)} {interval(100 * found.low, 100 * found.high, 1)}"


def _question(row: Row) -> str:
    options = ", ".join(f"{letter}. {text}" for letter, text in row.options.items())
    return f"{row.question} {options}".strip().replace("\n", " ⏎ ")
