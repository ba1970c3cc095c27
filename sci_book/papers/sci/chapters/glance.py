"""Results at a glance: what SCI5 gains over VCD and over the base, in the paper and here."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters import drbench_tables
from sci_book.papers.sci.chapters.shapes import Subjects, less, paired
from sci_book.papers.shared.chapters import Subject, gain, paper_values, side
from sci_book.papers.shared.figures import WIDTH, legend_below, model_colours
from sci_book.papers.shared.pages import address
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, compare, interval, signed
from sci_core.methods import METHODS

SUBSETS = ("B", "S", "S∖B", "BS", "all")
OPPONENTS = ("VCD", "base")
BETA = 0.8  # of every method on all rows, as in the paper (Table 4)
RIVAL = ("TIE", "BS")  # a method of one dummy picture, told in a sentence


def effects(subjects: Subjects) -> pd.DataFrame:
    """SCI5 less each opponent on test rows, in points; rows of `tables.compare`.

    Indexed by (model's name, opponent, subset). On all rows both methods have the constraint that
    the paper uses there, β = 0.8. Of TIE, BS alone.
    """
    lines = {}
    for subject in subjects:
        sets, table10 = subject.sets("any", "rows"), paper_values("table10")
        cases = [*product(OPPONENTS, SUBSETS)]
        cases += [RIVAL] if subject.records.policy_of(METHODS[RIVAL[0]]) else []
        for other, subset in cases:
            names = ["SCI5", other]
            paper = drbench_tables.paper_gap(subject, *names, subset)
            if subset == "all":
                paper = less(table10, *((subject.label, name, "all", "Overall") for name in names))
            beta = {"beta": BETA} if subset == "all" else {}
            pair = [replace(METHODS[name], **beta) for name in names]
            rows = sets[subset].to_numpy() & all(map(subject.holds, pair))
            gaps = np.subtract(*map(subject.right, pair)) if rows.any() else np.zeros(len(rows))
            line = paired(subject, gaps, rows, paper=paper)
            lines[subject.name, other, subset] = line
    frame = pd.DataFrame.from_dict(lines, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["model", "opponent", "subset"])
    return frame


def table(frame: pd.DataFrame, subject: Subject) -> Table:
    """`effects` of one model."""
    lines = frame.loc[subject.name]
    lines = lines.set_axis([f"SCI5 − {other}, {_title(s)}" for other, s in lines.index])
    caption = f"SCI5 beside other methods, in points, on {subject.shown}"
    return compare(lines, name=f"glance_{subject.name}", caption=caption, ours=side([subject]))


def _title(subset: str) -> str:
    return "all rows" if subset == "all" else subset


def draw(frame: pd.DataFrame, subjects: Subjects) -> Figure:
    """A panel an opponent, a line a subset and model: ours with its interval, and the paper's."""
    figure, panels = plt.subplots(
        1, len(OPPONENTS), figsize=(WIDTH, 0.9 + 0.34 * len(SUBSETS) * len(subjects)), sharey=True
    )
    colours = model_colours([subject.name for subject in subjects])
    for ax, other in zip(panels, OPPONENTS, strict=True):
        for order, subject in enumerate(subjects):
            lines = frame.xs((subject.name, other), level=("model", "opponent"))
            away = 0.3 * (order - (len(subjects) - 1) / 2)
            _draw_model(ax, lines, away, colours[subject.name], subject.shown)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_title(f"SCI5 − {other}, points")
        ax.grid(axis="y", visible=False)
    if frame["paper"].notna().any():  # of no one model's colour, since each has its own
        panels[0].plot([], [], "D", mfc="white", mec=INK, label="the paper’s models")
    panels[0].set_yticks(range(len(SUBSETS)), [_title(subset) for subset in SUBSETS])
    panels[0].invert_yaxis()
    legend_below(figure, panels[:1])
    return figure


def _draw_model(ax: Axes, lines: pd.DataFrame, away: float, shade: str, label: str) -> None:
    places = np.arange(len(SUBSETS)) + away
    lines = lines.loc[list(SUBSETS)]
    ax.hlines(places, lines["low"], lines["high"], color=shade, linewidth=2.5)
    ax.plot(lines["reproduced"], places, "o", color=shade, markersize=6, label=label)
    if lines["paper"].notna().any():
        ax.plot(lines["paper"], places, "D", mfc="white", mec=shade, markersize=6)


def sentences(frame: pd.DataFrame, subjects: Subjects) -> str:
    """What holds, what it costs, and what that does not say, in Markdown."""
    said = [_gains(frame.loc[subject.name], subject) for subject in subjects]
    said += [_costs(frame.loc[subject.name], subject) for subject in subjects]
    limit = (
        "How accurate a large model is. What may carry over from a pocket model is structure: "
        "identities, directions, costs."
    )
    if unfit := [subject.shown for subject in subjects if not subject.fit]:
        at = address("conditions")
        limit = (
            "SCI assumes that a rewording asks the same question and that a dummy picture shows "
            f"nothing. [That is not shown]({at}) of {' and '.join(unfit)}, so these "
            "numbers say little about the paper’s claims."
        )
    return "\n".join([*said, f"- **What that does not say.** {limit}"])


def _gains(lines: pd.DataFrame, subject: Subject) -> str:
    line = lines.loc["VCD", "BS"]
    if not line["n"]:
        return f"- **{subject.shown}** has no test row in BS."
    said = (
        f"- **On BS**, against VCD on {subject.shown}, SCI5 {_change(line)}. On its part S∖B it "
        f"{_change(lines.loc['VCD', 'S∖B'])}"
    )
    if RIVAL in lines.index:
        said += f"; against {RIVAL[0]} on BS it {_change(lines.loc[RIVAL])}"
    return f"{said}."


def _costs(lines: pd.DataFrame, subject: Subject) -> str:
    inside, everywhere = lines.loc["base", "S∖B"], lines.loc["base", "all"]
    return (
        f"- **Against the base**, SCI5 {_change(inside)} on S∖B on {subject.shown}; over all rows, "
        f"with the β of {BETA} that the paper takes there, it {_change(everywhere)}."
    )


def _change(line: pd.Series) -> str:
    """A difference as a verb, its interval, and the paper's number where it has one."""
    if not line["n"]:
        return gain(np.nan)
    paper = "" if pd.isna(line["paper"]) else f" (paper: {signed(line['paper'])})"
    return f"{gain(line['reproduced'])} {interval(line['low'], line['high'])}{paper}"
