"""What a method that nobody decoded would have got right, and how far the records settle it.

Their answers follow from recorded logits (`results.replay`). A row stays *unsettled* where a very
loose constraint may choose a token that was not kept, or no decoded policy opened the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.shared.chapters import SplitBy, Subject, side
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.tables import INTERVAL, Table, interval, side_by_side
from sci_book.results.controls import NULLS
from sci_book.results.drbench import Quantifier
from sci_book.results.metrics import KINDS, accuracy_table
from sci_book.results.statistics import Interval, key_of, measure, of_mean, ratio
from sci_core.methods import Method

AT_MOST = " (at most)"
UNSETTLED = 0.05  # a share of unsettled rows above which a sweep shows no value


class Outcome(NamedTuple):
    """What one method got right, aligned with the records' frame; no row with an error counts.

    Attributes:
        read: whether a row is right, an open answer read off its first token.
        least: whether a row is resolved, and right.
        most: `least`, and what an unsettled row may still be: right if the best kept token reads as
            the truth, and right for a short answer whose words were not recorded. So a token that
            no round ranks near its top counts as a wrong answer here.
        resolved: whether the row's answer follows from the records.
    """

    read: np.ndarray
    least: np.ndarray
    most: np.ndarray
    resolved: np.ndarray

    def unsettled(self, rows: np.ndarray) -> float:
        """The share of unsettled rows among some (a mask); 0 of none."""
        return float((~self.resolved[rows]).mean()) if rows.any() else 0.0

    def enough(self, rows: np.ndarray) -> bool:
        """Whether so many of these rows are resolved that `read` may stand for the method."""
        return self.unsettled(rows) <= UNSETTLED

    def read_or_most(self, rows: np.ndarray) -> np.ndarray:
        """1 or 0 for every row: `read` if enough of `rows` are resolved, or else `most`."""
        return (self.read if self.enough(rows) else self.most).astype(float)


def outcome(subject: Subject, method: Method) -> Outcome:
    """The outcome of a method: as decoded, if the records hold it, or else replayed.

    A decoded method is known by its fields, not its name.

    Raises:
        RecordsError: the method needs a round that was not recorded.
    """
    records, (holding, name) = subject.records, subject.held(method)
    if name is not None:
        ok = records.ok & holding.ok
        right = holding.correct(name) & ok
        return Outcome(right, right, right, ok)
    frame = subject.replay.answers(method)
    read = frame["answer"].to_numpy(dtype=object) == records.frame["truth"].to_numpy(dtype=object)
    resolved = (frame["known"] & frame["proven"]).to_numpy()
    short = (records.frame["question_type"] == "short").to_numpy()
    open_end = short & ~resolved & records.ok
    read = read & records.ok
    return Outcome(read, read & resolved, read | open_end, resolved)


def bounded(trainings: Sequence[tuple[Outcome, Outcome, np.ndarray, np.ndarray]]) -> Interval:
    """One outcome less another on some rows, as read, in an interval that bounds open rows.

    Its low end is that of the least difference the open rows allow, its high end that of the most.

    Args:
        trainings: of each, the two, a mask of rows, and the group of every row.
    """

    def gap(first: str, second: str) -> Interval:
        sides = [
            (getattr(one, first)[rows] * 1.0 - getattr(other, second)[rows], groups[rows])
            for one, other, rows, groups in trainings
        ]
        return measure([of_mean(*each) for each in sides], ratio, span=(-1.0, 1.0))

    lowest, read, highest = gap("least", "most"), gap("read", "read"), gap("most", "least")
    resolved = (lowest.low, highest.high) == (read.low, read.high)
    # A wider interval is not that of the number as read.
    key = read.key if resolved else key_of("bounded", lowest.key, highest.key)
    return read._replace(low=lowest.low, high=highest.high, error=np.nan, key=key)


def beside_paper(
    right: Mapping[str, np.ndarray],
    paper: pd.DataFrame,
    subject: Subject,
    members: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    name: str,
    caption: str,
) -> Table:
    """A table of the paper on one subset: accuracy by question type, the interval of Overall.

    Below stand two controls, for on B and BS whatever changes an answer gains.

    Args:
        right: outcomes by row of the table; `labels` say how each row is shown.
        paper: the paper's percentages, by row and question type.
        members: membership in the subset, its only column.
    """
    right = {**right, **{name: subject.right(name) for name in NULLS}}
    paper = paper.reindex([*paper.index, *(row for row in right if row not in paper.index)])
    cells = accuracy_table(right, subject.records.frame, members)
    cells = cells.set_index(["question_type", "method"])
    rows = list(right)
    ours = pd.DataFrame({kind: cells.loc[kind, "value"] for kind in KINDS}).loc[rows].astype(float)
    mcq, others, overall = (int(cells.loc[kind, "n"].iloc[0]) for kind in KINDS)
    caption = f"{caption}; n = {overall:,} rows of ours: {mcq:,} MCQ, {others:,} Others"
    table = side_by_side(paper, ours, name=name, caption=caption, ours=side([subject]))
    total = cells.loc["Overall"].loc[rows]
    ends = zip(total["low"], total["high"], total["key"], strict=True)
    table.frame["Overall", INTERVAL] = pd.Series(
        [interval(low, high, key=key) for low, high, key in ends], rows, dtype=object
    )  # str would drop the keys
    return replace(table, frame=table.frame.rename(index=labels).rename_axis(index=None))


def part(
    subject: Subject, quantifier: Quantifier, split_by: SplitBy, name: str, subset: str = "all"
) -> Subject:
    """The same model with the rows of a subset in "test" or "validation" alone: a faster sweep.

    On the paper's validation rows a model may have records of their own, with more methods decoded.
    """
    if name == "validation" and split_by == "rows":
        subject = subject.tuned
    rows = subject.sets(quantifier, split_by, name)[subset].to_numpy()
    return subject.with_records(subject.records.take(rows))


def panels(
    count: int, *, height: float, xlabel: str, ylabel: str, sharey: bool = True
) -> tuple[Figure, list[Axes]]:
    """One panel a model, two to a row of `height` inches, labelled where rows begin, columns end.

    With `sharey` all panels have one vertical axis.
    """
    columns = min(2, count)
    lines = -(-count // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(WIDTH, 0.7 + height * lines), squeeze=False, sharex=True,
        sharey=sharey,
    )  # fmt: skip
    panel_axes = list(axes.flat)
    for ax in panel_axes[count:]:
        ax.set_axis_off()
    for ax in panel_axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(xlabel)
    for ax in axes[:, 0]:
        ax.set_ylabel(ylabel)
    return figure, panel_axes[:count]
