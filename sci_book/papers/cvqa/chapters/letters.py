"""Table 7: puzzles with four options, against chance, and which letters are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binomtest

from sci_book.papers.cvqa.chapters import pairs
from sci_book.papers.cvqa.chapters.drops import bars, read_table
from sci_book.papers.cvqa.drawing import draw as draw_puzzle
from sci_book.papers.cvqa.puzzles import TYPES, puzzle
from sci_book.papers.cvqa.questions import LETTERS, SIDES
from sci_book.papers.cvqa.scores import letter_shares
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import (
    INTERVAL,
    Table,
    frame_of,
    interval,
    number,
    p_value,
    plain,
)
from sci_book.results.statistics import beyond_chance, share, wilson

CHANCE = 0.25
SHOWN = 224  # pixels a side of a puzzle on the page


def accuracy_table(subject: Subject) -> Table:
    """Percent right by side."""
    items, rows = pairs.of(subject, "synthetic"), {}
    for side, values in zip(SIDES, items.right("base"), strict=True):
        rows[side] = chapters.row(share(values[items.ok], items.groups[items.ok]))
    return chapters.levels(
        frame_of(rows), name=f"puzzles-{subject.name}",
        ours=subject.shown, caption="Puzzles, percent right", paper=False,
    )  # fmt: skip


def paper_table() -> Table:
    """The paper's Table 7."""
    frame = read_table(7).set_index("model")[[*SIDES]].rename_axis(index=None)
    caption = "The paper’s Table 7, percent right of 3,000 puzzles"
    return plain(frame, name="paper-07", caption=caption, decimals=1)


def by_template(subject: Subject) -> Table:
    """Percent right by template, on either side, of the base and of SCI5."""
    items, rows = pairs.of(subject, "synthetic"), {}
    for kind in dict.fromkeys(items.kinds):
        part = items.where((items.kinds == kind) & items.ok)
        line = {"n": len(part)}
        for policy in ("base", "SCI5"):
            for side, values in zip(SIDES, part.right(policy), strict=True):
                line[f"{policy}, {side}"] = 100 * float(np.mean(values)) if len(part) else np.nan
        rows[str(kind).replace("abs_counting_", "template ")] = line
    caption = f"{subject.shown} by template, percent right"
    return table_of(rows, name=f"templates-{subject.name}", caption=caption, decimals=1)


def shares(subject: Subject, side: int) -> pd.DataFrame:
    """`scores.letter_shares` of one side of the puzzles, by letter."""
    items = pairs.of(subject, "synthetic")
    items = items.where(items.ok)
    truth, said = items.column("truth")[side], items.answers("base")[side]
    return letter_shares(list(zip(truth, said, strict=True))).set_index("letter")


def bias_table(subject: Subject) -> Table:
    """Which letters are answered, beside how often each is right, on either side."""
    rows = {}
    for place, side in enumerate(SIDES):
        for letter, line in shares(subject, place).iterrows():
            rows[f"{side}, {letter}"] = {
                "is right, %": number(line["right"], 1),
                "is answered, %": number(line["answered"], 1),
                INTERVAL: interval(line["low"], line["high"], 1),
                "of its own rows right, %": number(line["accuracy"], 1),
                "p": p_value(line["p"]),
            }
    caption = f"Letters of {subject.shown}; p: chi-square of the answers against the key, per side"
    return table_of(rows, name=f"letters-{subject.name}", caption=caption)


def letters_verdict(findings: Sequence[Any]) -> str:
    """What became of the claim about letters, in a Markdown line a model; "" without one."""
    lines = [
        f"- {finding.title}: *{finding.verdict}*. {finding.part.partition(',')[0]} has "
        f"{number(most.estimate)} % {interval(most.low, most.high)} of the answers to original "
        f"puzzles; the claim needs one letter with more than {100 * finding.claim.margin:g} %."
        for finding in findings
        if finding.claim.id == "cvqa-letters" and (most := finding.interval.times(100)).n
    ]
    return "\n".join(["**Letters**, a claim of its own.\n", *lines]) if lines else ""


def gallery() -> figures.Pictures:
    """The first puzzle of each template."""
    drawn = [draw_puzzle(puzzle(0, kind, 0).drawing, SHOWN) for kind in TYPES]
    return figures.pictures(drawn, [f"template {kind}" for kind in TYPES], columns=3)


def questions() -> Table:
    """Table 2: the first counterfactual question of each template, with its right letter."""
    asked = [puzzle(0, kind, 0).counterfactual for kind in TYPES]
    frame = pd.DataFrame(
        {"question": [item.query for item in asked], "right": [item.letter for item in asked]},
        index=[f"template {kind}" for kind in TYPES],
    )
    return Table("prose-puzzles", frame, "The first counterfactual question of each template")


def random_level() -> pd.DataFrame:
    """The paper's own accuracies against chance: does 25 % lie inside, above or below each?

    Wilson's interval over 3,000 puzzles; above or below by the exact test, if that is beyond
    chance among so many numbers.
    """
    rows = {}
    for line in read_table(7).to_dict("records"):
        for side in SIDES:
            right = round(30 * line[side])
            accuracy = wilson(right, 3000)
            rows[f"{line['model']}, {side}"] = {
                "printed": number(line[side], 1),
                INTERVAL: interval(100 * accuracy.low, 100 * accuracy.high, 1),
                "p": float(binomtest(right, 3000, CHANCE).pvalue),
                "against 25 %": "above" if right > 3000 * CHANCE else "below",
            }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    sure = [beyond_chance(p, len(frame)) for p in frame["p"]]
    apart = frame["against 25 %"].where(sure, "not told apart")
    return frame.assign(**{"p": list(map(p_value, frame["p"])), "against 25 %": apart})


def draw(subjects: Sequence[Subject]) -> Figure:
    """The letters answered on either side, and how often each is right (dashes)."""
    figure, axes = plt.subplots(
        1, len(subjects), figsize=(figures.WIDTH, 2.9), sharey=True, squeeze=False
    )
    for ax, subject in zip(axes[0], subjects, strict=True):
        for place, side in enumerate(SIDES):
            table = shares(subject, place).loc[list(LETTERS)]
            middles = bars(ax, side, table["answered"], table["low"], table["high"])
            ax.hlines(table["right"], middles - 0.19, middles + 0.19,
                      color=INK, linestyles="dashed", linewidth=1)  # fmt: skip
        ax.set_xticks(range(len(LETTERS)), LETTERS)
        ax.grid(axis="x", visible=False)
        ax.set_title(subject.shown)
    axes[0, 0].set_ylabel("% of the answers read")
    axes[0, -1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def with_puzzles(subjects: Sequence[Subject]) -> list[Subject]:
    """The models whose records hold puzzles."""
    return [subject for subject in subjects if len(pairs.of(subject, "synthetic"))]
