"""Which rounds are worth their cost: every combination of rounds, and each one's fair share.

The paper's Table 5 tries fourteen combinations. Here every subset of the recorded counterfactual
rounds is one method, so that what a round adds can be averaged over all that may stand before it:
its Shapley value. It is taken row by row, like any other paired difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.shapes import Frames, Sets, Subjects, ends
from sci_book.papers.sci.shapley import Coalition, coalitions, weights
from sci_book.papers.shared.chapters import Subject, gain, row
from sci_book.papers.shared.figures import WIDTH, colour
from sci_book.papers.shared.sweeps import outcome, panels
from sci_book.papers.shared.tables import Table, number
from sci_core.counterfactuals import is_visual
from sci_core.methods import SCI7, Method

SHOWN = ("BS", "B", "S", "S∖B", "all")
COUNTED = ("BS", "all")
HEADLINE = "BS"
INTERACTION = "textual × visual"

Right = Mapping[Coalition, np.ndarray]  # by combination, the outcome of every row


def counterfactuals(subject: Subject) -> Coalition:
    """The rounds to combine: those of SCI7 that were recorded, textual ones first."""
    return tuple(name for name in SCI7.rounds[1:] if name in subject.records.rounds)


def combination(rounds: Sequence[str]) -> Method:
    """SCI over the original and these counterfactual rounds; without one it is the base.

    By the paper's constants: tau1 = 1 + 0.5 N for N textual rounds (appendix D; Table 5 follows it
    down to N = 0), tau2 = 0.2 and beta = 0.3.
    """
    textual, visual = _sides(rounds)
    name = " + ".join(("original", *rounds))
    return Method(name, "sci", textual, visual, tau1=1 + 0.5 * len(textual))


def outcomes(subject: Subject) -> dict[Coalition, np.ndarray]:
    """1 or 0 for every combination and row, NaN for a row with an error; unsettled rows as read."""
    combinations = coalitions(counterfactuals(subject))
    return {rounds: subject.right(combination(rounds)) for rounds in combinations}


def most_unsettled(subject: Subject, rows: np.ndarray) -> float:
    """The largest share of some rows (a mask) that the records leave open (`sweeps.outcome`)."""
    methods = map(combination, coalitions(counterfactuals(subject)))
    return max(outcome(subject, method).unsettled(rows) for method in methods)


def contributions(right: Right) -> dict[str, np.ndarray]:
    """By round, its Shapley value on every row; and what textual and visual rounds do together.

    The interaction is v(all) - v(textual) - v(visual) + v(none): below zero where one side does
    again what the other has done. `right` holds the outcomes of all subsets of some rounds, in the
    order of `shapley.coalitions`.
    """
    players = list(right)[-1]
    shares = weights(len(players)) @ np.stack(list(right.values()))
    textual, visual = _sides(players)
    both = right[players] - right[textual] - right[visual] + right[()]
    return {**dict(zip(players, shares, strict=True)), INTERACTION: both}


def marginals(
    subjects: Subjects, sets: Sets, values: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[str, pd.DataFrame]:
    """By model, what each round adds on each subset, in points of accuracy.

    Rows of `chapters.row`, indexed by (subset, round), of the models' `contributions`.
    """
    frames = {}
    for subject in subjects:
        lines = {}
        for subset in SHOWN:
            rows = sets[subject.name][subset].to_numpy()
            for name, gaps in values[subject.name].items():
                lines[subset, name] = row(subject.difference(gaps, rows))
        frames[subject.name] = pd.DataFrame.from_dict(lines, orient="index")
    return frames


def against_base(subjects: Subjects, sets: Sets, right: Mapping[str, Right]) -> pd.DataFrame:
    """By model and subset, how many combinations are better or worse than the base.

    Counted by paired intervals, each by itself.
    """
    counts = {}
    for subject, subset in product(subjects, COUNTED):
        base, *others = right[subject.name].values()
        rows = sets[subject.name][subset].to_numpy()
        gaps = [subject.difference(other - base, rows) for other in others]
        better, worse = sum(gap.low > 0 for gap in gaps), sum(gap.high < 0 for gap in gaps)
        counts[f"{subject.shown}: {subset}"] = {
            "rows": int(rows.sum()),
            "combinations": len(gaps),
            "better": better,
            "worse": worse,
            "undecided": len(gaps) - better - worse,
        }
    return pd.DataFrame.from_dict(counts, orient="index")


def marginal_table(frame: pd.DataFrame, subject: Subject, subsets: Sequence[str]) -> Table:
    """What each round adds on these subsets: points and interval."""
    cells = {}
    for subset in subsets:
        part = frame.loc[subset]
        head = f"{subset}, n = {part['n'].iloc[0]:,.0f}"
        cells[head] = part["reproduced"].map(number) + " " + ends(part)
    caption = (
        f"What each round adds in {subject.shown} on {', '.join(subsets)}: mean Shapley value, in "
        "points"
    )
    return Table(f"{subject.name}-marginals-{subsets[0]}", pd.DataFrame(cells), caption)


def accuracy_grid(right: Right, rows: np.ndarray) -> pd.DataFrame:
    """Accuracy in % of every combination (`outcomes`) on some rows (a mask); NaN of none.

    Visual rounds down, textual rounds across; of one size, those with earlier rounds come first.
    """
    textual, visual = (sorted(coalitions(side), key=len) for side in _sides(list(right)[-1]))
    cells = [
        [100 * right[*across, *down][rows].mean() if rows.any() else np.nan for across in textual]
        for down in visual
    ]
    heads = ([" + ".join(rounds) or "none" for rounds in side] for side in (visual, textual))
    return pd.DataFrame(cells, *heads)


def draw_grids(subjects: Subjects, sets: Sets, right: Mapping[str, Right]) -> Figure:
    """A panel a model: every combination's gain over the base on BS as one cell, in points."""
    gains = []
    for subject in subjects:
        rows = sets[subject.name][HEADLINE].to_numpy()
        grid = accuracy_grid(right[subject.name], rows)
        gains.append(grid - grid.iloc[0, 0])
    reach = max(np.nanmax(np.abs(grid.to_numpy()), initial=1.0) for grid in gains)
    figure, axes = panels(len(gains), height=2.5, xlabel="textual rounds", ylabel="visual rounds")
    shades = sns.blend_palette([colour("VCD"), "#ffffff", colour("SCI5")], as_cmap=True)
    for ax, subject, grid in zip(axes, subjects, gains, strict=True):
        labels = {"xlabel": ax.get_xlabel(), "ylabel": ax.get_ylabel()}
        sns.heatmap(grid, ax=ax, cmap=shades, vmin=-reach, vmax=reach, linewidths=1, cbar=False)
        ax.set(title=subject.shown, **labels)
        ax.tick_params(axis="x", labelsize=8, rotation=90)
        ax.tick_params(axis="y", labelsize=8, rotation=0)
    bar = figure.colorbar(axes[0].collections[0], ax=axes)
    bar.set_label(f"{HEADLINE}, points against the base")
    return figure


def draw_marginals(subjects: Subjects, frames: Frames) -> Figure:
    """A row a model, a panel a subset: what each round adds, with its interval."""
    figure, axes = plt.subplots(
        len(subjects), len(SHOWN), figsize=(WIDTH, 0.4 + 1.9 * len(subjects)), squeeze=False,
        sharex="row", sharey="row",
    )  # fmt: skip
    for line, subject in zip(axes, subjects, strict=True):
        for ax, subset in zip(line, SHOWN, strict=True):
            part = frames[subject.name].loc[subset].drop(index=INTERACTION)
            shades = [colour(name) for name in part.index]
            ax.axvline(0, color="#6b7280", linewidth=0.8)
            ax.hlines(range(len(part)), part["low"], part["high"], color=shades, linewidth=2.5)
            ax.scatter(part["reproduced"], range(len(part)), color=shades, s=22, zorder=3)
            ax.set_title(f"{subset}, n = {part['n'].iloc[0]:,.0f}", fontsize=9)
            ax.set_yticks(range(len(part)), part.index)
            ax.tick_params(labelsize=8)
            ax.grid(axis="y", visible=False)
        line[0].invert_yaxis()
        line[0].set_ylabel(subject.shown, fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("points", fontsize=9)
    return figure


def reading(frame: pd.DataFrame, subject: Subject) -> str:
    """Which sides add on BS and on all rows, and what they do together, in one paragraph."""
    if not frame.loc[HEADLINE, "n"].iloc[0]:
        return f"**{subject.shown}.** There is no row in {HEADLINE}."
    sums = []
    for subset in (HEADLINE, "all"):
        part = frame.loc[subset]["reproduced"]
        sides = _sides(list(part.index.drop(INTERACTION)))
        sums += [gain(part[list(side)].sum()) for side in sides]
    line = frame.loc[[(HEADLINE, INTERACTION)]]
    return (
        f"**{subject.shown}.** On {HEADLINE} the full combination {sums[0]} by its textual rounds "
        f"and {sums[1]} by its visual rounds; on all rows it {sums[2]} by its textual rounds and "
        f"{sums[3]} by its visual rounds. The interaction of the two sides on {HEADLINE} is "
        f"{number(line['reproduced'].item())} points {ends(line)[0]}."
    )


def open_rows(subjects: Subjects, sets: Sets) -> str:
    """How much of the outcomes rests on an answer read off its first token alone."""
    shares = [
        f"{number(100 * most_unsettled(subject, sets[subject.name][HEADLINE].to_numpy()), 1)} % "
        f"({subject.shown})"
        for subject in subjects
    ]
    return (
        "- A combination that was not decoded may open an answer as no decoded one did. Such an "
        "answer is read off its first token, or counted as wrong if it is a short one: at most "
        f"{', '.join(shares)} of the test rows of {HEADLINE} in any combination."
    )


def _sides(rounds: Sequence[str]) -> tuple[Coalition, Coalition]:
    """Textual and visual rounds, each in the order given."""
    textual = tuple(name for name in rounds if not is_visual(name))
    return textual, tuple(name for name in rounds if is_visual(name))
