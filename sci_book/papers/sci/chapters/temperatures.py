"""The temperatures tau1 and tau2: Table 8, and the grid that it is a cut through.

The grid is `temperature_grid`'s. Here stands what the chapter says of it: where the preset lies,
how much of the best point's lead is noise, and what the point chosen on validation does on test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.plausibility_curve import with_note
from sci_book.papers.sci.chapters.shapes import Sets, Subjects, legend_below
from sci_book.papers.sci.chapters.temperature_grid import (
    PRESET,
    STEP,
    Grid,
    near_best,
    winners_curse,
)
from sci_book.papers.shared.chapters import PAPER, Subject, row
from sci_book.papers.shared.evidence import title
from sci_book.papers.shared.figures import colour
from sci_book.papers.shared.sweeps import AT_MOST, Outcome, beside_paper, outcome, panels
from sci_book.papers.shared.tables import Table, number, with_ends
from sci_book.results.metrics import KINDS
from sci_book.results.statistics import difference, share
from sci_core.methods import BASE, SCI5, Method

SUBSET = "BS"
MARK = "#71717a"  # a grey that stands out from white cells and from a dark page
UNSETTLED_MARK = "#cccccc"  # paler, and dark on a dark page: it must not drown the others


def printed_points() -> dict[str, Method]:
    """The rows of the paper's Table 8: the base, then SCI5 at each pair of temperatures."""
    frame = pd.read_csv(PAPER / "table08.csv")
    pairs = frame[["tau1", "tau2"]].dropna().drop_duplicates().itertuples(index=False)
    return {"base": BASE} | {_pair(*pair): replace(SCI5, **pair._asdict()) for pair in pairs}


def printed(label: str | None) -> pd.DataFrame:
    """The paper's Table 8 of one model, percent by row and question type; NaN if it has none."""
    frame = pd.read_csv(PAPER / "table08.csv")
    frame = frame[frame["model"] == label]
    names = [
        "base" if np.isnan(tau1) else _pair(tau1, tau2)
        for tau1, tau2 in zip(frame["tau1"], frame["tau2"], strict=True)
    ]
    table = frame.assign(row=names).pivot(index="row", columns="question_type", values="value")
    return table.reindex(index=list(printed_points()), columns=list(KINDS)).astype(float)


def table08(subject: Subject, sets: pd.DataFrame) -> Table:
    """Table 8 on the validation rows of BS, the paper's numbers beside."""
    rows, right, labels = sets[SUBSET].to_numpy(), {}, {}
    for name, method in printed_points().items():
        result = outcome(subject, method)
        right[name] = result.as_shown(rows)
        labels[name] = name + ("" if result.enough(rows) else AT_MOST)
    table = beside_paper(
        right, printed(subject.label), subject, sets[[SUBSET]], labels,
        name=f"{subject.name}-table08",
        caption=f"Table 8 of {subject.shown}: accuracy of SCI5 on the validation rows of BS in %",
    )  # fmt: skip
    return with_note(table)


def paper_numbers(subjects: Subjects) -> dict[tuple[str, str], float]:
    """The preset's lead over the table's other pairs in the paper, by model and part."""
    numbers = {}
    for subject, (name, method) in product(subjects, printed_points().items()):
        if method not in (BASE, PRESET):
            values = printed(subject.label)["Overall"]
            other = title({"M": 2, "N": 2, "tau1": method.tau1, "tau2": method.tau2})
            lead = values[_pair(PRESET.tau1, PRESET.tau2)] - values[name]
            numbers[subject.name, f"{PRESET.name} − {other}, {SUBSET}"] = lead
    return numbers


def summary(grid: Grid) -> dict[str, str]:
    """Where the preset stands among all points, one line a fact."""
    values, best = grid.accuracies, grid.best
    error = share(grid.right[0], grid.groups).error
    curse, near, method = winners_curse(grid), near_best(grid), grid.method(best)
    ahead = difference(grid.right[best] - grid.right[0], grid.groups).times(100)
    with np.errstate(invalid="ignore"):
        better = grid.counts(values > values[0])
    return {
        "validation rows of BS": f"{grid.right.shape[1]:,}",
        "points": f"{len(grid.points):,}",
        "different places among them": f"{len(grid.places):,}",
        "points the records settle": f"{grid.counts(grid.allowed):,}",
        "best": f"{number(values[best])} %",
        "at": f"τ1 = {method.tau1:.3g}, τ2 = {method.tau2:.2g}, β = {method.beta:.2g}",
        "preset": f"{number(values[0])} %",
        "standard error of a point": f"{number(100 * error)} points",
        "points better than the preset": f"{better:,}",
        "best − preset": f"{with_ends(*ahead[:3])} points",
        "points within noise of the best": f"{grid.counts(near):,}",
        "preset among them": "yes" if near[0] else "no",
        "gain promised on the half chosen on": f"{number(curse.promised)} points",
        "gain kept on the other half": f"{number(curse.kept)} points",
    }


def chosen_and_preset(subject: Subject, grid: Grid) -> dict[str, Outcome]:
    """Outcomes on all rows of a subject of the grid's best point, then of the preset."""
    methods = {"chosen": grid.method(grid.best), "preset": PRESET}
    return {name: outcome(subject, method) for name, method in methods.items()}


def on_test(subjects: Subjects, sets: Sets, grids: Mapping[str, Grid]) -> pd.DataFrame:
    """The point chosen on validation and the preset on test BS; rows of `chapters.levels`."""
    lines = {}
    for subject in subjects:
        rows = sets[subject.name][SUBSET].to_numpy()
        for name, result in chosen_and_preset(subject, grids[subject.name]).items():
            lines[f"{subject.brief}: {name}"] = row(subject.share(result.as_shown(rows), rows))
    return pd.DataFrame.from_dict(lines, orient="index")


def reading(grid: Grid, subject: Subject) -> str:
    """What the map says of one model, as one paragraph."""
    if not grid.right.shape[1]:
        return f"**{subject.shown}.** There is no validation row in {SUBSET}."
    best = grid.method(grid.best)
    return (
        f"**{subject.shown}.** The best point of the grid has the weight "
        f"{best.tau1 / best.tau2:.3g} and the margin {best.margin:.3g} logits; the preset has "
        f"{PRESET.tau1 / PRESET.tau2:.3g} and {PRESET.margin:.3g}."
    )


def draw_grids(subjects: Subjects, grids: Mapping[str, Grid]) -> Figure:
    """A panel a model: every place of the grid, its accuracy against the preset's, in points.

    Dots mark places within noise of the best; crossed places are those that the records leave
    open.
    """
    gains = {name: grid.accuracies - grid.accuracies[0] for name, grid in grids.items()}
    reach = np.nanmax([1.0, *(np.nanmax(np.abs([0.0, *gain])) for gain in gains.values())])
    figure, axes = panels(
        len(subjects), height=3.4, xlabel="weight τ1 / τ2", ylabel="margin τ1 ln(1/β), logits"
    )
    shades = sns.blend_palette([colour("VCD"), "#ffffff", colour("SCI5")], as_cmap=True)
    for ax, subject in zip(axes, subjects, strict=True):
        grid = grids[subject.name]
        weight, edge = np.array(grid.places).T
        image = np.full((np.ptp(edge) + 1, np.ptp(weight) + 1), np.nan)
        image[edge - edge.min(), weight - weight.min()] = gains[subject.name]
        left, low = weight.min() - 0.5, edge.min() - 0.5
        drawn = ax.imshow(
            image, cmap=shades, vmin=-reach, vmax=reach, origin="lower", aspect="auto",
            extent=(left, left + image.shape[1], low, low + image.shape[0]),
        )  # fmt: skip
        for mask, mark, size, shade, label in (
            (near_best(grid), ".", 2.5, MARK, "within noise of the best"),
            (~grid.allowed, "x", 2.5, UNSETTLED_MARK, "left open by the records"),
        ):
            ax.plot(weight[mask], edge[mask], mark, color=shade, markersize=size, label=label)
        _mark_points(ax, grid)
        ax.set_title(subject.shown)
        across, up = range(-10, 13, 4), range(-12, 12, 4)
        ax.set_xticks(across, [f"{PRESET.tau1 / PRESET.tau2 * STEP**step:.3g}" for step in across])
        ax.set_yticks(up, [f"{PRESET.margin * STEP**step:.2g}" for step in up])
        ax.grid(visible=False)
        ax.tick_params(labelsize=8)
    figure.colorbar(drawn, ax=axes, label="points against the preset", shrink=0.8)
    legend_below(figure, axes[:1], ncols=3, fontsize=8)
    return figure


def _mark_points(ax: Axes, grid: Grid) -> None:
    """The points of Table 8, the preset and the best, in steps from the preset."""
    style = {"mfc": "#fdfdfd", "mec": MARK}  # white on a dark page too, as the cells are
    tried = [method for method in printed_points().values() if method not in (BASE, PRESET)]
    weights = [method.tau1 / method.tau2 / (PRESET.tau1 / PRESET.tau2) for method in tried]
    margins = [method.margin / PRESET.margin for method in tried]
    steps = [[log(ratio, STEP) for ratio in ratios] for ratios in (weights, margins)]
    ax.plot(*steps, "D", markersize=5, label="Table 8", **style)
    ax.plot(0, 0, "*", markersize=12, label="preset", **style)
    ax.plot(*grid.places[grid.best], "o", mfc="none", mec=MARK, markersize=9, label="best")


def _pair(tau1: float, tau2: float) -> str:
    return f"τ1 = {tau1:g}, τ2 = {tau2:g}"
