"""Figure 2, and accuracy on BS along the ladders of `scaling`, over rounds and over cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from sci_book.papers.sci.chapters.drbench_tables import paper_accuracy
from sci_book.papers.sci.chapters.scaling import SUBSETS, name_of
from sci_book.papers.shared.chapters import Subject
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


def draw_rounds(subjects: Sequence[Subject], found: Mapping[str, pd.DataFrame]) -> Figure:
    """Figure 2: a row a model, a panel a subset; accuracy by rounds and question type."""
    shape = (len(subjects), len(SUBSETS))
    size = (WIDTH, 0.6 + 1.9 * len(subjects))
    figure, axes = plt.subplots(*shape, figsize=size, squeeze=False, sharex=True, sharey=True)
    for panels, subject in zip(axes, subjects, strict=True):
        printed = paper_accuracy(subject.label)
        for ax, subset in zip(panels, SUBSETS, strict=True):
            part = found[subject.name]
            part = part[part["subset"] == subset]
            for kind, (shade, mark) in _KIND_STYLES.items():
                line = part[part["question_type"] == kind].set_index("rounds")
                _draw_line(ax, line, shade, f"{mark}-", kind, band=kind == "Overall")
                keys = {
                    size: (name_of(size), subset, kind) for size in part["rounds"].unique().tolist()
                }
                paper = {size: printed[key] for size, key in keys.items() if key in printed}
                ax.plot(
                    list(paper), list(paper.values()), f"{mark}--", color=shade, mfc="white",
                    markersize=4, linewidth=1, label=f"{kind}, paper" if paper else None,
                )  # fmt: skip
            ax.set_title(subset)
            ax.set_ylim(-3, 103)
        panels[0].set_ylabel(f"{subject.shown}, %", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("rounds")
        ax.set_xticks([1, 3, 5, 7])
    _legend(figure, axes.ravel(), columns=3)
    return figure


def draw_ladders(
    subjects: Sequence[Subject],
    climbs: Mapping[str, Mapping[str, pd.DataFrame]],
    costs: Mapping[str, Mapping[int, float]] | None,
    timed: Mapping[str, pd.DataFrame],
) -> Figure:
    """A panel a model: accuracy on BS along each ladder, over rounds or over cost.

    The band belongs to the solid line.

    Args:
        subjects: the models.
        climbs: `scaling.on_bs` by model and by ladder or rule.
        costs: by ladder, the cost of each number of rounds; None draws over rounds.
        timed: `measured` by model, drawn as squares where `costs` is given.
    """
    figure, axes = plt.subplots(
        1, len(subjects), figsize=(WIDTH, 3.1), squeeze=False, sharex=costs is not None
    )
    for ax, subject in zip(axes[0], subjects, strict=True):
        for name, part in climbs[subject.name].items():
            shade, style = (_LADDER_STYLES | _RULE_STYLES)[name]
            at = part.index.map(costs[name]) if costs else part.index
            _draw_line(ax, part, shade, f"o{style}", name, at, band=style == "-")
            if costs and name == "both":
                _draw_times(ax, part, timed[subject.name])
        ax.set_title(f"{subject.shown}, n = {part['n'].iloc[0]:,}", fontsize=10)
        ax.set_xlabel("cost, multiples of the base" if costs else "rounds")
        ax.xaxis.set_major_locator(MultipleLocator(1 if costs else 2, offset=0 if costs else 1))
    axes[0, 0].set_ylabel("accuracy on BS, %")
    _legend(figure, axes[0], columns=4)
    return figure


def _draw_line(
    ax: Axes,
    part: pd.DataFrame,
    shade: str,
    style: str,
    label: str,
    at: pd.Index | None = None,
    *,
    band: bool,
) -> None:
    at = part.index if at is None else at
    ax.plot(at, part["value"], style, color=shade, markersize=4, label=label)
    if band:
        ax.fill_between(at, part["low"], part["high"], color=shade, alpha=0.15, linewidth=0)


def _draw_times(ax: Axes, part: pd.DataFrame, timed: pd.DataFrame) -> None:
    values = part["value"]
    both = values.index.intersection(timed.index)
    if not len(both):
        return
    found = timed.loc[both]
    ax.hlines(values[both], found["ratio_q1"], found["ratio_q3"], color=INK, linewidth=2)
    ax.plot(
        found["ratio_median"], values[both], "s", mfc="white", mec=INK, markersize=6,
        label="both, time on the twins",
    )  # fmt: skip


def _legend(figure: Figure, axes: Iterable[Axes], columns: int) -> None:
    """One legend below the panels: every label of any panel once."""
    unique = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        unique |= dict(zip(labels, handles, strict=True))
    figure.legend(unique.values(), unique, loc="outside lower center", ncols=columns, fontsize=9)
