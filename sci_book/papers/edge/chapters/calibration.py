"""Tables 6 and 11 to 14, Figure 3: confidence from raw logits against what is right."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.linalg import block_diag

from sci_book.papers.edge.calibration import (
    ece,
    ece_interval,
    ece_of_sums,
    reliability,
    terms,
)
from sci_book.papers.edge.chapters.models import Found, Model, Pair
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.edge.printed import BIN_TABLES, PAPER_PAIR, PAPER_SETS, PRINTED, bins, printed
from sci_book.papers.shared.chapters import row, side
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import compared, table_of
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, frame_of, interval, number
from sci_book.results.statistics import NO_DATA, Interval, difference, of_sums, wilson

TOP_BIN = 0.9
THRESHOLDS = (0.5, 0.7, 0.9, 0.99)
"""Of the gate."""


def sample(model: Model, kind: str) -> pd.DataFrame:
    """The answers of one kind that have a confidence."""
    answers = model.answers(kind)
    return answers[answers["confidence"].notna()]


def ece_of(model: Model, kind: str) -> Interval:
    """Expected calibration error with its interval; NaN without answers."""
    answers = sample(model, kind)
    if not len(answers):
        return NO_DATA
    return ece_interval(answers["confidence"], answers["right"], answers["group"])


def mean_ece(model: Model) -> Interval:
    """The mean of the ECE of both kinds, pictures of both drawn at once; NaN without one."""
    samples = [sample(model, kind) for kind in KINDS]
    if not all(map(len, samples)):
        return NO_DATA
    columns = block_diag(*(terms(answers["confidence"], answers["right"]) for answers in samples))
    groups = pd.concat(samples)["group"]

    def mean(sums: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean([ece_of_sums(p) for p in np.split(sums, len(KINDS))], axis=0))

    return of_sums(columns, groups, mean)


def table06(recorded: Found, pair: Pair | None) -> Table:
    """ECE of every model and kind and their mean, the paper's beside the pair's."""
    lines = {}
    for model in recorded.models:
        look = partial(printed, "edge_table06", model=_beside(pair).get(model.name, ""))
        for kind in KINDS:
            paper = look(dataset=PAPER_SETS[kind])
            lines[f"{kind}, {model.shown}"] = row(ece_of(model, kind), paper=paper, scale=1.0)
        paper = look(dataset="Average")
        lines[f"average, {model.shown}"] = row(mean_ece(model), paper=paper, scale=1.0)
    caption = "Table 6: expected calibration error, 10 bins"
    return compared(lines, recorded.models, name="table06", caption=caption, decimals=3)


def binned(recorded: Found) -> list[Model]:
    """The models of Tables 11 to 14 and Figure 3: those as they are, and the pair's smaller one."""
    return list(dict.fromkeys([*recorded.full, *(recorded.pair[:2] if recorded.pair else ())]))


def bin_table(model: Model, kind: str, pair: Pair | None) -> Table:
    """One of Tables 11 to 14: the bins of a model with Wilson's intervals, the paper's beside.

    The paper's are those of its model beside which this one stands. A row has a picture of its own,
    so those of a bin are independent.
    """
    answers = sample(model, kind)
    diagram = reliability(answers["confidence"], answers["right"])
    paper = _printed_bins().get((_beside(pair).get(model.name, ""), PAPER_SETS[kind]), diagram[:0])
    ours, theirs = (table.set_index("low") for table in (diagram, paper))
    head, lines = side([model]), {}
    for low in sorted({*ours.index, *theirs.index}):
        here, there = (table.reindex([low]).iloc[0] for table in (ours, theirs))
        count = 0 if np.isnan(here["count"]) else int(here["count"])
        right = wilson(round(here["accuracy"] * count) if count else 0, count)
        lines[f"[{low:.1f}, {low + 0.1:.1f}{']' if low == 0.9 else ')'}"] = {
            "paper: count": number(there["count"], 0),
            "paper: confidence": number(there["confidence"], 3),
            "paper: right, %": number(100 * there["accuracy"], 1),
            f"{head}: count": str(count),
            f"{head}: confidence": number(here["confidence"], 3),
            f"{head}: right, %": number(100 * right.estimate, 1),
            INTERVAL: interval(100 * right.low, 100 * right.high, 1),
        }
    caption = f"{model.shown}, {kind}: {len(answers)} answers, ECE {number(ece(diagram), 3)}"
    if len(paper):
        caption += f"; the paper’s {_beside(pair)[model.name]}: ECE {number(ece(paper), 3)}"
    return table_of(lines, name=f"bins-{model.name}-{kind}", caption=caption)


def gaps(recorded: Found) -> pd.DataFrame:
    """Confidence less accuracy, in points: above 0 is overconfident."""
    lines = {}
    for model, kind in product(recorded.models, KINDS):
        mine = sample(model, kind)
        over = difference(mine["confidence"] - mine["right"], mine["group"])
        lines[f"{kind}, {model.shown}: confidence − accuracy"] = row(over)
    return frame_of(lines)


def gate(recorded: Found) -> Table:
    """What a threshold on confidence lets pass, and what of it is right, in %."""
    lines = {}
    for model, kind in product(binned(recorded), KINDS):
        mine = sample(model, kind)
        cells = lines[f"{kind}, {model.shown}"] = {}
        for threshold in THRESHOLDS:
            passed = mine[mine["confidence"] >= threshold]
            right = number(100 * passed["right"].mean(), 0)
            part = number(100 * len(passed) / len(mine), 0) if len(mine) else MISSING
            cells[f"≥ {threshold:g}"] = f"{part} ({right})"
    caption = "Answers that pass a threshold, % (right of them, %)"
    return table_of(lines, name="gate", caption=caption)


def draw(recorded: Found, pair: Pair | None) -> Figure:
    """Figure 3: the reliability diagrams, the paper's printed bins as open marks."""
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.6), sharex=True, sharey=True)
    colours = {name: model.colour for model, name, _ in pair.sides} if pair else {}
    tables = _printed_bins()
    for ax, kind in zip(panels, KINDS, strict=True):
        ax.plot([0, 1], [0, 1], "--", color="#9ca3af", linewidth=1)
        for model in binned(recorded):
            mine = sample(model, kind)
            diagram = reliability(mine["confidence"], mine["right"])
            size = 8 + 160 * diagram["count"] / max(diagram["count"].sum(), 1)
            ax.plot(diagram["confidence"], diagram["accuracy"], color=model.colour, alpha=0.5)
            ax.scatter(
                diagram["confidence"], diagram["accuracy"], s=size, color=model.colour,
                label=model.shown,
            )  # fmt: skip
        for name, marker in zip(PAPER_PAIR, "Ds", strict=True):
            diagram = tables[name, PAPER_SETS[kind]]
            ax.plot(
                diagram["confidence"], diagram["accuracy"], marker, mfc="white", markersize=5,
                mec=colours.get(name, "#6b7280"), label=f"paper, {name}",
            )  # fmt: skip
        ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
        ax.set_xlabel("confidence")
        ax.set_xlim(0, 1.03)
        ax.set_ylim(-0.03, 1.03)
    panels[0].set_ylabel("accuracy")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, ncols=3, loc="outside lower center")
    return figure


def _printed_bins() -> dict[tuple[str, str], pd.DataFrame]:
    """The paper's bins by its model and data set."""
    tables = (bins(PRINTED, name) for name in BIN_TABLES)
    return {(model, dataset): diagram for diagram, model, dataset in tables}


def _beside(pair: Pair | None) -> dict[str, str]:
    """The paper's model beside each of the pair, by name."""
    return {model.name: name for model, name, _ in pair.sides} if pair else {}
