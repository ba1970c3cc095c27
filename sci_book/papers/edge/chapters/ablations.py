"""Table 8: what precision, scale and architecture each do to blur sensitivity."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_book.papers.edge.chapters.blur import changes, ratio_text
from sci_book.papers.edge.chapters.calibration import ece_of
from sci_book.papers.edge.chapters.models import PRECISIONS, SMALL, Found, Model, paired
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.edge.printed import PRINTED
from sci_book.papers.edge.statistics import sensitivity_ratio
from sci_book.papers.shared.chapters import levels, row, side
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import points, table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, frame_of
from sci_book.results.statistics import NO_DATA, difference


class Contrast(NamedTuple):
    """Two variants of which one thing differs: `first` is the one said to be more sensitive."""

    what: str
    factor: str
    first: Model | None
    second: Model | None


def contrasts(recorded: Found) -> list[Contrast]:
    """What this chapter sets against what; a variant without records is None."""
    lines = []
    for model in recorded.unreduced:
        for precision in PRECISIONS:
            other = recorded.named(f"{model.name}-{precision}")
            if other is None and model not in recorded.full:
                continue  # the smaller sister may be too narrow for it
            lines.append(Contrast(f"{precision} − full, {model.shown}", "precision", other, model))
    if recorded.full:
        large = recorded.full[0]
        small = recorded.named(f"{large.name}-{SMALL}")
        lines.append(Contrast(f"small − standard, {large.shown}", "scale", small, large))
        second = next(iter(recorded.full[1:]), None)
        named = f"{second.shown if second else 'another'} − {large.shown}"
        lines.append(Contrast(named, "architecture", second, large))
    return lines


def pool(recorded: Found) -> pd.MultiIndex | None:
    """Rows that the chapter's named models have right when clean, in full: the pool of Table 8."""
    whole = None
    for model in recorded.full:
        rows = changes(model)
        mine = rows.index[rows["right"] == 1]
        whole = mine if whole is None else whole.intersection(mine)
    return whole


def table08(recorded: Found) -> Table:
    """Clean, blurred, drop and retention of every variant on the pool."""
    lines, rows = {}, pool(recorded)
    for model in recorded.models:
        mine = changes(model)
        mine = mine.loc[mine.index.intersection(rows)]
        clean, blurred = mine["right"].mean(), mine["right two"].mean()
        lines[model.shown] = {
            "precision": model.precision,
            "clean, %": 100 * clean,
            "blurred, %": 100 * blurred,
            **points("drop, points", difference(mine["drop"], mine["group"])),
            "retention": f"{blurred / clean:.3f}" if len(mine) and clean else MISSING,
            "n": len(mine),
        }
    return table_of(lines, name="table08", caption="Table 8: blur on the shared pool", decimals=1)


def printed_rows() -> Table:
    """The paper's Table 8, as printed."""
    frame = PRINTED.tables["edge_table08"]
    shares = frame[frame["metric"] != "rho"]
    wide = shares.pivot(index=["model", "item"], columns="metric", values="value")
    wide.index = [f"{model}, {item}" for model, item in wide.index]
    order = ["clean", "blurred", "change", "retention"]
    cells = wide[order].rename_axis(columns=None).replace("^-", "−", regex=True)
    return Table("paper-table08", cells, "The paper’s Table 8")


def contrast_frame(recorded: Found) -> pd.DataFrame:
    """The first variant's drop less the second's, on all rows that both answered."""
    lines = {}
    for contrast in contrasts(recorded):
        drop = NO_DATA
        if contrast.first and contrast.second:
            both = both_drops(contrast.first, contrast.second)
            drop = difference(both["drop"] - both["drop second"], both["group"])
        lines[f"{contrast.factor}: {contrast.what}"] = row(drop)
    return frame_of(lines)


def contrast_table(recorded: Found) -> Table:
    """`contrast_frame` as a table."""
    return levels(
        contrast_frame(recorded), name="contrasts", ours=side(recorded.models), decimals=1,
        paper=False, caption="Drop under blur, first less second, in points, on all rows of both",
    )  # fmt: skip


def ratios(recorded: Found) -> Table:
    """Equation (1) for every contrast, degenerate ones as such, and the paper's four.

    Of the paper's, only that of scale changes one thing alone and stands beside ours; the others
    have lines of their own, under the names of the models that they compare.
    """
    frame = PRINTED.tables["edge_table08"]
    paper, lines = {}, {}
    for ratio in frame[frame["metric"] == "rho"].itertuples():
        paper[ratio.item] = "degenerate (printed as ∞)" if ratio.value == "inf" else ratio.value
        if ratio.item != "scale":
            lines[f"the paper’s ρ {ratio.item}: {ratio.model}"] = paper[ratio.item], MISSING
    for contrast in contrasts(recorded):
        text = "no records"
        if contrast.first and contrast.second:
            both = both_drops(contrast.first, contrast.second)
            text = ratio_text(sensitivity_ratio(both["drop"], both["drop second"], both["group"]))
        beside = paper["scale"] if contrast.factor == "scale" else MISSING
        lines[f"ρ {contrast.factor}: {contrast.what.replace(' − ', ' over ')}"] = beside, text
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=["paper", side(recorded.models)])
    return Table("ratios", frame, "Ratios of drops, first over second")


def answers_changed(recorded: Found) -> Table:
    """What a precision does to clean answers: how many change, accuracy, calibration."""
    lines = {}
    for model, precision, kind in product(recorded.unreduced, PRECISIONS, KINDS):
        other = recorded.named(f"{model.name}-{precision}")
        if other is None:
            continue
        both = paired(model.answers(kind), other.answers(kind))
        changed = both["text"] != both["text two"]
        gain = difference(both["right two"] - both["right"], both["group"])
        lines[f"{kind}, {other.shown}"] = {
            "other words, %": 100 * changed.mean(),
            **points("accuracy, points", gain),
            "ECE full": f"{ece_of(model, kind).estimate:.3f}",
            "ECE reduced": f"{ece_of(other, kind).estimate:.3f}",
            "n": len(both),
        }
    caption = "Clean answers in reduced precision, against the model as it is"
    return table_of(lines, name="changed", caption=caption, decimals=1)


def draw(recorded: Found) -> Figure:
    """Every contrast with its interval; one without records is named and left empty."""
    frame = contrast_frame(recorded)
    figure, ax = plt.subplots(figsize=(WIDTH, 0.8 + 0.35 * max(len(frame), 1)))
    for y, (_, line) in enumerate(frame.iterrows()):
        if line["n"]:  # grey: the colours of this page are those of models
            ax.hlines(y, line["low"], line["high"], color="#6b7280", linewidth=2.5)
            ax.plot(line["reproduced"], y, "o", color="#6b7280")
        else:
            ax.annotate("no records", (0, y), fontsize=8, va="center", color="#6b7280")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(frame)), frame.index, fontsize=8)
    ax.set_ylim(max(len(frame), 1) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("first drops more, points")
    return figure


def both_drops(first: Model, second: Model) -> pd.DataFrame:
    """`blur.changes` of two variants on their shared rows; the second's end in " second"."""
    return paired(changes(first), changes(second), " second")
