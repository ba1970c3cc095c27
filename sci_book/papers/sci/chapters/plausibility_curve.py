"""The plausibility constraint: Table 6, curves of its ratio and of its margin, what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.rounds_and_margin import SIZES
from sci_book.papers.sci.chapters.shapes import Frames, Subjects, legend_below, less
from sci_book.papers.shared.chapters import PAPER, Subject, row
from sci_book.papers.shared.evidence import title
from sci_book.papers.shared.figures import WIDTH, colour
from sci_book.papers.shared.sweeps import AT_MOST, outcome, panels
from sci_book.papers.shared.tables import Table, number, plain
from sci_book.results.metrics import null_outcomes
from sci_book.results.records import Records
from sci_core.methods import BASE, SCI3, SCI5, SCI7, VCD, Method
from sci_core.scoring import survivors

SUBSETS = ("all", "B", "S", "BS")
DRAWN = ("all", "B", "BS")
BANDED = "SCI5"  # the one curve drawn with its interval: four bands hide each other
SWEPT = (SCI3, SCI5, SCI7, VCD)
BETAS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05)
MARGINS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
SHOWN_BETAS = (0.8, 0.5, 0.3, 0.1)
FREE = replace(SCI5, name="SCI5, no constraint", beta=0.0)
AT_MOST_NOTE = (
    "“At most” counts as right what the best kept token reads as, and every short answer whose "
    "words were not recorded. A winner that no round ranks near its top counts as wrong. A full "
    "decode may go astray after a right letter, so the number can be far too high."
)


def printed() -> pd.Series:
    """The paper's Table 6, percent by (model, method, constraint, subset)."""
    frame = pd.read_csv(PAPER / "table06.csv", keep_default_na=False)
    return frame.set_index(["model", "method", "constraint", "subset"])["value"].astype(float)


def table06(subject: Subject, sets: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the base and of SCI5 with and without the constraint, rows of `levels`.

    On B, S and BS the null methods stand below, for there whatever changes an answer gains.
    Where the records leave too many answers open, the line holds what may be right at most.
    """
    methods = [(BASE, "base", ""), (FREE, "SCI5", "no"), (SCI5, "SCI5", "yes")]
    results = [(method.name, outcome(subject, method), keys) for method, *keys in methods]
    nulls, paper, lines = null_outcomes(subject.records), printed(), {}
    for subset in SUBSETS:
        rows = sets[subset].to_numpy()
        for name, result, keys in results:
            bound = "" if result.enough(rows) else AT_MOST
            level = subject.share(result.as_shown(rows), rows)
            known = paper.get((subject.label, *keys, subset))
            lines[f"{subset}: {name}{bound}"] = row(level, paper=known)
        for name, right in nulls.items() if subset != "all" else ():
            answered = rows & np.isfinite(right)
            lines[f"{subset}: {name}"] = row(subject.share(right, answered))
    return pd.DataFrame.from_dict(lines, orient="index")


def with_note(table: Table) -> Table:
    """The table; where it marks a number "at most", with a note on what counts as right there."""
    marked = any(label.endswith(AT_MOST) for label in table.frame.index)
    return replace(table, notes=[AT_MOST_NOTE]) if marked else table


def unread_sentence(subject: Subject) -> str:
    """How many answers without the constraint cannot be read: why so few are right. A list item."""
    policy, answered = subject.records.policy_of(FREE), subject.records.ok
    if policy is None:
        return f"- SCI5 without its constraint was not decoded for {subject.shown}."
    if not answered.any():
        return f"- {subject.shown} has no validation row."
    unread = 100 * float(pd.isna(subject.records.parsed(policy)[answered]).mean())
    known = printed().get((subject.label, "SCI5", "no", "all"))
    text = (
        f"- Without its constraint SCI5 of {subject.shown} gives an answer that cannot be read on "
        f"{number(unread, 1)} % of all validation rows. Such an answer counts as wrong."
    )
    if known is None:
        return text
    return f"{text} In the paper at most {number(100 - known, 1)} % can be wrong in this way."


def paper_numbers(subjects: Subjects) -> dict[tuple[str, str], float]:
    """What the constraint gains in the paper's Table 6 in points, by model and part."""
    values, free = printed(), title({"M": 2, "N": 2, "beta": 0.0})
    numbers = {}
    for subject, subset in product(subjects, SUBSETS):
        gap = less(values, *((subject.label, "SCI5", key, subset) for key in ("yes", "no")))
        if not np.isnan(gap):
            numbers[subject.name, f"SCI5 − {free}, {subset}"] = gap
    return numbers


def beta_curves(subject: Subject, sets: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of SCI3, SCI5, SCI7 and VCD along beta (`curves`)."""
    places = product(SWEPT, BETAS)
    return curves(subject, sets, {(m.name, beta): replace(m, beta=beta) for m, beta in places})


def margin_curves(subject: Subject, sets: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of SCI3, SCI5 and SCI7 along a margin in logits that is the same for all."""
    places = product(SIZES, MARGINS)
    return curves(
        subject, sets, {(m.name, most): replace(m, raw_margin=most) for m, most in places}
    )


def curves(
    subject: Subject, sets: pd.DataFrame, variants: Mapping[tuple[str, float], Method]
) -> pd.DataFrame:
    """Accuracy in % with intervals, point by point, of variants named (curve, place).

    Columns `subset, curve, at, value, low, high, unsettled`; a point of which the records leave
    too many rows open has no value. No line for a subset without rows.
    """
    outcomes = {key: outcome(subject, method) for key, method in variants.items()}
    lines = []
    for subset in SUBSETS:
        rows = sets[subset].to_numpy()
        if not rows.any():
            continue
        for key, result in outcomes.items():
            scale = 100 if result.enough(rows) else np.nan
            values = subject.share(result.read, rows).times(scale)[:3]
            lines.append([subset, *key, *values, 100 * result.unsettled(rows)])
    names = ["subset", "curve", "at", "value", "low", "high", "unsettled"]
    return pd.DataFrame(lines, columns=names)


def curve_table(frame: pd.DataFrame, subject: Subject, subset: str, head: str) -> Table:
    """One subset of `curves`: a line a place, a column a curve."""
    part = frame[frame["subset"] == subset]
    table = part.pivot(index="at", columns="curve", values="value")
    table = table.reindex(index=part["at"].unique(), columns=part["curve"].unique())
    table.index = [f"{head} = {place:g}" for place in table.index]
    caption = f"{subset} of {subject.shown}, validation: accuracy in %"
    table = table.rename_axis(columns=None)
    return plain(table, name=f"{subject.name}-{head}-{subset}", caption=caption)


def draw_beta(subjects: Subjects, frames: Frames) -> Figure:
    """A row a model, a panel a subset: `beta_curves` from the tightest beta to the loosest."""
    figure, axes = plt.subplots(
        len(subjects), len(DRAWN), figsize=(WIDTH, 0.7 + 1.55 * len(subjects)), squeeze=False,
        sharex=True,
    )  # fmt: skip
    presets = {method.name: method.beta for method in SWEPT}
    for line, subject in zip(axes, subjects, strict=True):
        line[0].set_ylabel(f"{subject.shown}\naccuracy, %", fontsize=9)
        for ax, subset in zip(line, DRAWN, strict=True):
            _draw_panel(ax, frames[subject.name], subset, presets)
            ax.set_title(subset)
            ax.set_xscale("log")
            ax.set_xlim(1.05, min(BETAS) / 1.05)
            ax.set_xticks([1, 0.3, 0.1], ["1", "0.3", "0.1"])
            ax.minorticks_off()
    for ax in axes[-1]:
        ax.set_xlabel("β", fontsize=9)
    legend_below(figure)
    return figure


def draw_margins(subjects: Subjects, frames: Frames) -> Figure:
    """A panel a model: `margin_curves` on BS."""
    figure, axes = panels(
        len(subjects), height=1.9, xlabel="margin, logits", ylabel="accuracy, %", sharey=False
    )
    for ax, subject in zip(axes, subjects, strict=True):
        _draw_panel(ax, frames[subject.name], "BS", {size.name: size.margin for size in SIZES})
        ax.set_title(f"BS of {subject.shown}")
    legend_below(figure)
    return figure


def unsettled_sentence(frame: pd.DataFrame, subject: Subject) -> str:
    """How much of the beta curves rests on unsettled rows, and how far they reach: a list item."""
    whole = frame[frame["subset"] == SUBSETS[0]]
    settled = whole[whole["value"].notna()]
    if not len(settled):
        return f"- {subject.shown} has no validation row, or none that the records settle."
    most = number(settled["unsettled"].max(), 1)
    ends = [f"{name} {part['at'].min():g}" for name, part in settled.groupby("curve")]
    return (
        f"- Over all validation rows of {subject.shown} the curves reach down to these β: "
        f"{', '.join(ends)}. Up to there at most {most} % of the rows are unsettled."
    )


def decided(records: Records, method: Method) -> np.ndarray:
    """Rows on which one token alone survives the constraint at the first step, whatever VC is.

    A token that was not kept counts as a survivor where its bound would survive, so that none is
    called decided that is not. False for a row with an error.
    """
    nodes, rounds = records.nodes, method.rounds[: 1 + len(method.textual)]
    places = [records.rounds.index(name) for name in rounds]
    roots = np.array([not prefix for prefix in nodes.prefix], dtype=bool)
    kept, others = nodes.logits[places][:, roots], nodes.outside[places][:, roots, None]
    scores = torch.from_numpy(np.concatenate([kept, others], axis=2))
    left = survivors(method, scores, step=0).numpy()
    mask = np.zeros(len(records.frame), dtype=bool)
    alone = (left[:, :-1] & ~nodes.padding[roots]).sum(axis=1) == 1
    mask[nodes.row[roots]] = alone & ~left[:, -1]
    return mask


def decided_table(subject: Subject, sets: pd.DataFrame) -> Table:
    """Percent of questions the constraint decides alone, by method, subset and beta."""
    lines = {}
    for method in SWEPT:
        line: dict[tuple, object] = {("margin", f"β = {method.beta:g}"): f"{method.margin:.2f}"}
        for subset, beta in product(("all", "BS"), SHOWN_BETAS):
            rows = sets[subset].to_numpy()
            alone = decided(subject.records, replace(method, beta=beta))[rows]
            share = 100 * float(alone.mean()) if rows.any() else np.nan
            line[f"{subset}, n = {int(rows.sum()):,}", f"β = {beta:g}"] = share
        lines[method.name] = line
    frame = pd.DataFrame.from_dict(lines, orient="index")
    frame.columns = pd.MultiIndex.from_tuples(frame.columns)
    caption = (
        f"Questions of {subject.shown} that the constraint decides at the first token, % of "
        "validation rows; margin in logits"
    )
    return plain(frame, name=f"{subject.name}-decided", caption=caption, decimals=1)


def _draw_panel(ax: Axes, frame: pd.DataFrame, subset: str, presets: Mapping[str, float]) -> None:
    """The curves on one subset, a dot at each preset, and the intervals of one curve as a band."""
    for name, part in frame[frame["subset"] == subset].groupby("curve", sort=False):
        part, shade = part.sort_values("at"), colour(name)
        if name == BANDED:
            ax.fill_between(part["at"], part["low"], part["high"], color=shade, alpha=0.2, lw=0)
        style = "--" if name == "SCI7" else "-"  # its colour is near that of SCI5
        ax.plot(part["at"], part["value"], style, color=shade, linewidth=1.5, label=name)
        preset = presets[name]
        ax.plot(preset, np.interp(preset, part["at"], part["value"]), "o", color=shade, ms=5)
    ax.tick_params(labelsize=8)
