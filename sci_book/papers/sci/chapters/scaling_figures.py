"""Figure 2, and accuracy on BS along the ladders of `scaling`, over rounds and over cost."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from sci_book.papers.sci.chapters.drbench_tables import paper_accuracy
from sci_book.papers.sci.chapters.scaling import SUBSETS, name_of
from sci_book.papers.sci.chapters.shapes import Frames, Subjects, legend_below
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import INK

_KIND_STYLES = {"MCQ": ("#0072b2", "o"), "Others": ("#dd6b20", "s"), "Overall": (INK, "D")}
_LADDER_STYLES = {
    "both": ("#dd6b20", "-"),
    "dummies alone": ("#6b21a8", "--"),
    "rewrites alone": ("#3b82f6", ":"),
}
_RULE_STYLES = {
    "τ₁ grows": ("#dd6b20", "-"),
    "margin kept": ("#0f766e", "--"),
    "τ₁ kept": (INK, ":"),
}


def draw_rounds(subjects: Subjects, frames: Frames) -> Figure:
    """Figure 2: a row a model, a panel a subset; accuracy by rounds and question type."""
    shape = (len(subjects), len(SUBSETS))
    size = (WIDTH, 0.6 + 1.9 * len(subjects))
    figure, axes = plt.subplots(*shape, figsize=size, squeeze=False, sharex=True, sharey=True)
    for panels, subject in zip(axes, subjects, strict=True):
        printed, lines = paper_accuracy(subject.label), frames[subject.name]
        for ax, subset in zip(panels, SUBSETS, strict=True):
            for kind, (shade, mark) in _KIND_STYLES.items():
                part = lines[(lines["subset"] == subset) & (lines["question_type"] == kind)]
                part = part.set_index("rounds")
                _draw_line(ax, part, shade, f"{mark}-", kind, band=kind == "Overall")
                known = {rounds: (name_of(rounds), subset, kind) for rounds in part.index.tolist()}
                paper = {rounds: printed[key] for rounds, key in known.items() if key in printed}
                ax.plot(
                    list(paper), list(paper.values()), f"{mark}--", color=shade, mfc="white",
                    markersize=4, linewidth=1, label=f"{kind}, paper" if paper else None,
                )  # fmt: skip
            ax.set_title(subset)
        panels[0].set_ylabel(f"{subject.shown}, %", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("rounds")
        ax.set_xticks([1, 3, 5, 7])
    legend_below(figure, ncols=3, fontsize=9)
    return figure


def draw_ladders(
    subjects: Subjects,
    climbs: Mapping[str, Mapping[str, pd.DataFrame]],
    costs: Mapping[str, Mapping[int, float]] | None,
    timed: Mapping[str, pd.DataFrame],
) -> Figure:
    """A panel a model: accuracy on BS along each ladder; the band belongs to the solid line.

    `climbs` are `scaling.on_bs` by model and by ladder or rule. With `costs`, by ladder and number
    of rounds, they are drawn over cost, with times (`measured` by model) as squares.
    """
    figure, axes = plt.subplots(
        1, len(subjects), figsize=(WIDTH, 3.1), squeeze=False, sharex=costs is not None
    )
    for ax, subject in zip(axes[0], subjects, strict=True):
        for name, part in climbs[subject.name].items():
            shade, style = (_LADDER_STYLES | _RULE_STYLES)[name]
            curve = part.set_axis(part.index.map(costs[name])) if costs else part
            _draw_line(ax, curve, shade, f"o{style}", name, band=style == "-")
            if costs and name == "both":
                _draw_times(ax, part["value"], timed[subject.name])
        ax.set_title(f"{subject.shown}, n = {part['n'].iloc[0]:,}", fontsize=10)
        ax.set_xlabel("cost, multiples of the base" if costs else "rounds")
        ax.xaxis.set_major_locator(MultipleLocator(1 if costs else 2, offset=0 if costs else 1))
    axes[0, 0].set_ylabel("accuracy on BS, %")
    legend_below(figure, ncols=4, fontsize=9)
    return figure


def _draw_line(
    ax: Axes, part: pd.DataFrame, shade: str, style: str, label: str, *, band: bool
) -> None:
    """Columns `value`, `low` and `high` over the index."""
    ax.plot(part.index, part["value"], style, color=shade, markersize=4, label=label)
    if band:
        ax.fill_between(part.index, part["low"], part["high"], color=shade, alpha=0.25, linewidth=0)


def _draw_times(ax: Axes, values: pd.Series, timed: pd.DataFrame) -> None:
    both = values.index.intersection(timed.index)
    if len(both):
        times, heights = timed.loc[both], values[both]
        ax.hlines(heights, times["ratio_q1"], times["ratio_q3"], color=INK, linewidth=2)
        style = {"mfc": "white", "mec": INK, "markersize": 6, "zorder": 5}
        ax.plot(times["ratio_median"], heights, "s", label="both, time on the twins", **style)
