"""DRBench held out: rows that other rounds select than those that SCI5 decodes with.

The rounds that build DRBench (V1, V2, black, noise500) are those that SCI5 combines. A row is in S
because V1 or V2 changes its answer, and then SCI5 is asked about it with V1 and V2. Here subsets
are built with rewordings and dummies that SCI5 never reads, so that a gain cannot be the selection.
"""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.sci import printed
from sci_book.papers.sci.chapters.shapes import Frames, Subjects, built_with, paired
from sci_book.papers.shared.chapters import Subject, gain, overall
from sci_book.papers.shared.figures import WIDTH, colour, legend_below, nothing
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, compare, interval, number
from sci_book.results.drbench import split
from sci_core.counterfactuals import is_visual
from sci_core.methods import METHODS, SCI5

OWN, OTHER, ALL = (
    "built with SCI5’s rounds",
    "built with four other rounds",
    "built with all other rounds",
)
PARTS = ("B", "S∖B", "BS")
OPPONENTS = ("base", "VCD")
_MARKS = {OWN: "o", OTHER: "D"}  # the two that are drawn

Rounds = tuple[tuple[str, ...], tuple[str, ...]]  # dummies, rewordings


def rounds_of(subject: Subject) -> dict[str, Rounds]:
    """The dummies and rewordings of each construction: SCI5's own, as many others, and all others.

    Of the others noise400 is left out, which shows more of a picture than SCI5's dummies do.
    """
    own, fewer, rest = [], [], []
    for visual in (True, False):
        names = [name for name in subject.records.rounds[1:] if is_visual(name) == visual]
        own.append(tuple(name for name in names if name in SCI5.rounds))
        rest.append(tuple(name for name in names if name not in (*SCI5.rounds, "noise400")))
        fewer.append(rest[-1][: len(own[-1])])
    return {OWN: tuple(own), OTHER: tuple(fewer), ALL: tuple(rest)}


def subsets(subject: Subject, rounds: Rounds) -> pd.DataFrame:
    """`built_with` of the model's test rows."""
    test = subject.records.ok & (split(subject.records) == "test")
    return built_with(subject.records, *rounds) & test[:, None]


def gains(subject: Subject) -> pd.DataFrame:
    """SCI5 less base and less VCD on the parts of each construction: rows of `compare`.

    Indexed "SCI5 − VCD, BS built with all others". Each
    claim is that the difference is positive.
    """
    built = {label: subsets(subject, names) for label, names in rounds_of(subject).items()}
    lines = {}
    for opponent, part, label in product(OPPONENTS, PARTS, built):
        gap = subject.right(SCI5) - subject.right(METHODS[opponent])
        rows = built[label][part].to_numpy() & np.isfinite(gap)
        lines[f"SCI5 − {opponent}, {part} {label}"] = paired(subject, gap, rows)
    return pd.DataFrame.from_dict(lines, orient="index")


def gains_table(frame: pd.DataFrame, subject: Subject) -> Table:
    """`gains` as a table, with verdicts where the page claims a gain: over the base, on BS."""
    caption = f"{subject.shown}: gains of SCI5 in points; verdicts on what is claimed"
    name, claimed = f"{subject.name}-held-out", frame.index.str.startswith("SCI5 − base, BS")
    frame = frame.assign(verdict=frame["verdict"].where(claimed))
    return compare(frame, name=name, caption=caption, ours=subject.shown, paper=False)


def sizes_table(subjects: Subjects) -> Table:
    """How large each construction's subsets are, and how much of one's BS is in the other's."""
    lines = {}
    for subject in subjects:
        rounds = rounds_of(subject)
        built = {label: subsets(subject, names) for label, names in rounds.items()}
        for label, sets in built.items():
            inside, own = int(sets["BS"].sum()), built[OWN]["BS"]
            common = number(100 * (sets["BS"] & own).sum() / inside) if inside else MISSING
            lines[f"{subject.shown}, {label}"] = {
                "rounds": ", ".join(name for side in rounds[label] for name in side),
                "test rows": f"{int(sets['all'].sum()):,}",
                **{part: f"{int(sets[part].sum()):,}" for part in ("B", "S", "BS")},
                "of BS in SCI5’s, %": common,
            }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("prose-held-out-sizes", frame, "The constructions, on the rows of fifteen rounds")


def draw(frames: Frames, subjects: Subjects) -> Figure:
    """A panel a model: SCI5's gain on each part, built with its own rounds and with others."""
    figure, panels = plt.subplots(
        1, len(subjects), figsize=(WIDTH, 2.8), squeeze=False, sharey=True, sharex=True
    )
    for ax, subject in zip(panels[0], subjects, strict=True):
        frame = frames[subject.name]
        if not frame["n"].any():
            nothing(ax, "There is no row in BS.")
            continue
        for (place, part), opponent, label in product(enumerate(PARTS), OPPONENTS, _MARKS):
            line, shade = frame.loc[f"SCI5 − {opponent}, {part} {label}"], colour(opponent)
            y = place + {"base": -0.18, "VCD": 0.18}[opponent] + {OWN: -0.07, OTHER: 0.07}[label]
            ax.hlines(y, line["low"], line["high"], color=shade, linewidth=1.5)
            ax.plot(
                line["reproduced"], y, _MARKS[label], color=shade,
                mfc=shade if label == OWN else "white",
                label=None if place else f"over {opponent}, {label}",
            )  # fmt: skip
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_title(subject.shown)
        ax.set_xlabel("SCI5’s gain, points")
        ax.grid(axis="y", visible=False)
    panels[0, 0].set_yticks(range(len(PARTS)), PARTS)
    panels[0, 0].invert_yaxis()
    legend_below(figure, panels[0, :1], ncols=2)
    return figure


def answer(frame: pd.DataFrame, subject: Subject) -> str:
    """Whether SCI5's gain over the base on BS survives, in Markdown."""
    own, other, rest = (
        f"{gain(line['reproduced'])} {interval(line['low'], line['high'])}, *{line['verdict']}*"
        for line in (frame.loc[f"SCI5 − base, BS {label}"] for label in (OWN, OTHER, ALL))
    )
    return (
        f"**{subject.shown}.** Against the base SCI5 {own}, on the BS that its own rounds select. "
        f"It {other}, on the BS that four other rounds select; it {rest}, on the BS that all other "
        "rounds select."
    )


def verdict(frames: Frames) -> str:
    """Of the claim that SCI5's gain over the base on BS survives, over all models."""
    return overall(frame.loc[f"SCI5 − base, BS {OTHER}", "verdict"] for frame in frames.values())


def paper_sentence() -> str:
    """What the paper's own answer rests on: its Table 3, in Markdown."""
    texts = []
    for label in printed.labels():
        there, less = printed.own_against_others(label, ["SCI5"], ["base"])
        if there is not None and less is not None:
            own, elsewhere = number(100 * (less + there)), number(100 * there)
            texts.append(f"{label} gains {own} points on its own BS and {elsewhere} on the other’s")
    return f"In its Table 3, {', '.join(texts)}."
