"""The sizes of DRBench's subsets, and what the paper reads off them: Table 1."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sci_book.papers.sci.chapters.shapes import Subjects, of_kind
from sci_book.papers.shared.chapters import (
    SplitBy,
    Subject,
    labelled,
    levels,
    paper_values,
    row,
    side,
)
from sci_book.papers.shared.figures import colour
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, number
from sci_book.results.drbench import Quantifier
from sci_book.results.metrics import KINDS
from sci_book.results.statistics import NO_DATA

COUNTED = ("B", "S", "BS", "overlap")
FLOORS = {"MCQ": 125, "Others": 50}  # validation rows each of B and S must have to be tuned on
_COLOURS = {"B": "B only", "S": "S only", "overlap": "B and S"}
_BS_COLOUR = "#374151"


def sizes(subject: Subject, sets: pd.DataFrame) -> pd.DataFrame:
    """Rows and share (percent of the rows of that type) of each subset, the paper's beside.

    One line a subset and question type, labelled "B, MCQ"; columns of `tables.compare` and the
    counts `rows` and `paper rows`.
    """
    printed, lines = paper_values("table01"), {}
    for subset, kind in product(COUNTED, KINDS):
        mask, among = sets[subset].to_numpy(), sets["all"].to_numpy() & of_kind(subject, kind)
        count = printed.get((subject.label, "", subset, kind), np.nan)
        percent = 100 * count / printed["", "", "all", kind]
        lines[f"{subset}, {kind}"] = {
            "rows": int((mask & among).sum()),
            "paper rows": count,
            **row(subject.share(mask, among), paper=percent),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def size_table(subject: Subject, frame: pd.DataFrame, *, name: str, caption: str) -> Table:
    """Table 1 of one model: rows, then shares with their intervals."""
    ours = side([subject])
    shares = levels(frame, name=name, caption=caption, ours=ours)
    counts = frame[["paper rows", "rows"]].map(lambda count: number(count, 0))
    counts.columns = ["paper", ours]
    both = {"rows": counts, "share of n, %": shares.frame}
    return Table(name, pd.concat(both, axis=1), caption)


def statements(
    subjects: Subjects, models: tuple[str, str], quantifier: Quantifier, split_by: SplitBy
) -> pd.DataFrame:
    """What the paper reads off Table 1 (section 3.3), tested on the subjects beside its two models.

    Each is a paired difference of two shares of the same rows, in points; rows for
    `tables.compare`. A statement about a model that is not among the subjects has no row and is
    "not comparable". Of the paper's names of `models` the first is said to be the more robust.
    """
    one, other = models
    claims = {
        f"BS, {one} − {other}": ((one, "BS"), (other, "BS"), "less"),
        f"B − S, {one}": ((one, "B"), (one, "S"), "greater"),
        f"S, {other} − {one}": ((other, "S"), (one, "S"), "greater"),
    }
    lines = {}
    for text, ((first, mine), (second, theirs), claim) in claims.items():
        pair, gap = [labelled(subjects, name) for name in (first, second)], NO_DATA
        if None not in pair:
            sets = [subject.sets(quantifier, split_by) for subject in pair]
            among = (sets[0]["all"] & sets[1]["all"]).to_numpy()
            values = sets[0][mine].to_numpy(dtype=float) - sets[1][theirs].to_numpy(dtype=float)
            gap = pair[0].difference(values, among)
        lines[text] = row(gap, claim=claim)
    return pd.DataFrame.from_dict(lines, orient="index")


def paper_numbers(subjects: Subjects, models: tuple[str, str]) -> dict[tuple[str, str], float]:
    """The paper's differences behind its three statements in points, by model and part."""
    one, other = (labelled(subjects, name) for name in models)
    printed = paper_values("table01")

    def points(*pair: tuple[str, str]) -> float:
        first, second = (printed[name, "", subset, "Overall"] for name, subset in pair)
        return 100 * (first - second) / printed["", "", "all", "Overall"]

    numbers = {}
    if one:
        numbers[one.name, "B − S"] = points((models[0], "B"), (models[0], "S"))
    if one and other:
        for subset, (first, second) in {"BS": (one, other), "S": (other, one)}.items():
            gap = points((first.label, subset), (second.label, subset))
            numbers[first.name, f"{subset}: {first.shown} − {second.shown}"] = gap
    return numbers


def floors(subject: Subject, split_by: SplitBy, quantifier: Quantifier) -> pd.DataFrame:
    """Validation rows in B and S by question type, beside the floor the pocket world was set."""
    sets, lines = subject.sets(quantifier, split_by, "validation"), {}
    for subset, (kind, floor) in product(("B", "S"), FLOORS.items()):
        count = int((sets[subset].to_numpy() & of_kind(subject, kind)).sum())
        line = {"rows": count, "floor": floor, "reached": "yes" if count >= floor else "no"}
        lines[f"{subject.shown}: {subset}, {kind}"] = line
    return pd.DataFrame.from_dict(lines, orient="index")


def draw_sizes(ax: Axes, frame: pd.DataFrame, *, title: str) -> None:
    """The shares of `sizes` from top to bottom, with intervals; the paper's as open diamonds."""
    for place, (name, line) in enumerate(frame.iterrows()):
        subset = name.split(",")[0]
        shade = _BS_COLOUR if subset == "BS" else colour(_COLOURS[subset])
        ax.hlines(place, line["low"], line["high"], color=shade, linewidth=2.5)
        ax.plot(line["reproduced"], place, "o", color=shade, markersize=6)
    (paper,) = ax.plot(frame["paper"], range(len(frame)), "D", mfc="white", mec=INK, markersize=5)
    ours = Line2D([], [], marker="o", color="#6b7280", linewidth=2.5, markersize=6)
    ax.legend([ours, paper], ["here", "paper"], loc="lower right")
    ax.set_yticks(range(len(frame)), frame.index)
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    reach = 1.08 * np.nanmax(frame[["reproduced", "high", "paper"]])
    ax.set_xlim(0, max(reach, ax.get_xlim()[1]))  # panels that share an axis keep the longest
    ax.set_title(title)
    ax.set_xlabel("share of the rows of that type, %")
