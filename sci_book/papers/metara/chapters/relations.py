"""Table VI, Figures 8, A and B: the failure rate by relation and task, and by operation."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from sci_book.papers.metara.chapters.answers import (
    FR,
    LABELS,
    TASK_COLOURS,
    TASKS,
    Answers,
    average,
    less,
    levels,
    own_levels,
    same_in_a_mirror,
    weighted,
)
from sci_book.papers.metara.chapters.tasks import KNOWLEDGE, TEXT
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.printed import PRINTED
from sci_book.papers.metara.relations import OPERATIONS, RELATIONS, TARGETS
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import ON_PALE
from sci_book.papers.shared.tables import Table, frame_of

TABLE = "metara_table06"


def between(one: Answers, task: str, first: str, second: str) -> Part:
    """FR of one relation less that of another, on the originals of a task that have both."""
    return less(f"{task}: {first} less {second}", *on_common_originals(one, task, first, second))


def table06(one: Answers) -> Table:
    """Table VI beside one model; the paper's means are over its models and data sets."""
    lines = {}
    for name, task in TASKS.items():
        for relation in RELATIONS:
            paper = PRINTED.number(TABLE, split=relation, dataset=name)
            ours = average(one.rate(FR, task, relation=relation))
            lines[f"{task}, {relation}: {TARGETS[relation]}"] = chapters.row(ours, paper=paper)
    caption = f"FR {LABELS[FR]}, percent; n right originals"
    return own_levels(one, frame_of(lines), name="relations", caption=caption)


def three_rates(one: Answers) -> Table:
    """All three rates by task and relation."""
    lines = {
        f"{task}, {relation}": {
            LABELS[rate]: one.percent(rate, task, relation=relation) for rate in RATES
        }
        for task in TASKS.values()
        for relation in RELATIONS
    }
    return table_of(lines, **one.named("three", "the three failure rates, percent"))


def operations_table(one: Answers) -> Table:
    """FR and originals by operation and task."""
    lines: dict[str, dict[str, object]] = {}
    for operation in OPERATIONS:
        line = lines[f"{operation.relation}, {operation.name}"] = {}
        for task in TASKS.values():
            rates = one.rate(FR, task, operation=operation.name)["value"]
            line |= {f"{task}: FR": 100 * rates.mean(), f"{task}: originals": len(rates)}
    caption = f"FR {LABELS[FR]} by operation, percent"
    return table_of(lines, **one.named("operations", caption))


def operations(one: Answers, first: str, second: str, task: str = TEXT) -> Part:
    """FR of one operation less that of another, on one task."""
    both = (one.rate(FR, task, operation=name) for name in (first, second))
    return less(f"{task}: {first} less {second}", *both)


def mirrored(one: Answers) -> Part:
    """FR under the mirror of signs that it changes, less that of signs that it does not."""
    rows = one.rate(FR, TEXT, operation="mirror")
    same = rows["original"].isin(same_in_a_mirror())
    return less("signs that the mirror changes less others", rows[~same], rows[same])


def mirror_table(models: Sequence[Answers]) -> Table:
    """`mirrored` of each model; nothing is claimed here."""
    lines = {one.subject.shown: chapters.row(mirrored(one).interval) for one in models}
    caption = "FR under the mirror: signs that it changes less signs that it does not, points"
    return levels(models, lines, name="mirror", caption=caption, paper=False)


def particularly(one: Answers, relation: str, other: str) -> Part:
    """By how much more than `other` a relation is worse on text than on knowledge.

    Of each task, the originals that have both relations.
    """
    terms = [
        (sign * weight, rows)
        for task, sign in ((TEXT, 1.0), (KNOWLEDGE, -1.0))
        for weight, rows in zip(
            (1.0, -1.0), on_common_originals(one, task, relation, other), strict=True
        )
    ]
    return weighted(f"gap of the tasks, {relation} less {other}", terms)


def on_common_originals(one: Answers, task: str, *names: str) -> list[pd.DataFrame]:
    """FR under each relation, of the originals that have all: not every one has every case."""
    rates = [one.rate(FR, task, relation=name) for name in names]
    both = set.intersection(*(set(rows["original"]) for rows in rates))
    return [rows[rows["original"].isin(both)] for rows in rates]


def draw_heat(models: Sequence[Answers]) -> Figure:
    """Figure 8: a darker field is a higher rate; the paper's first."""
    panels = _panels(models)
    figure, axes = plt.subplots(1, len(panels), figsize=(figures.WIDTH, 2.6), sharey=True)
    top = max(frame.to_numpy().max() for frame in panels.values())
    for ax, (title, frame) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        sns.heatmap(
            frame, ax=ax, vmin=0, vmax=1.3 * top, cmap="Blues", annot=True, fmt=".1f", cbar=False,
            linewidths=1,
        )  # fmt: skip
        shades = ax.collections[0].get_facecolors()[frame.notna().to_numpy().ravel()]
        for text, shade in zip(ax.texts, shades, strict=True):
            text.set_color(ON_PALE if sns.utils.relative_luminance(shade) > 0.18 else "#fdfdfd")
        ax.set_title(title)
        ax.tick_params(axis="both", labelsize=9, rotation=0)
    return figure


def draw_bars(models: Sequence[Answers]) -> Figure:
    """Figures A and B: both tasks by relation, and what each relation adds to the one before."""
    panels = _panels(models)
    figure, axes = plt.subplots(
        2, len(panels), figsize=(figures.WIDTH, 4.4), sharey="row", squeeze=False
    )
    for column, (title, frame) in zip(axes.T, panels.items(), strict=True):
        for index, (task, colour) in enumerate(zip(TASKS.values(), TASK_COLOURS, strict=True)):
            values = frame[task].to_numpy()
            x = np.arange(len(RELATIONS)) + 0.4 * (index - 0.5)
            column[0].bar(x, values, 0.4, color=colour, label=task if title == "paper" else None)
            steps = np.diff(values, prepend=0)
            column[1].bar(x, steps, 0.4, bottom=values - steps, color=colour)
            column[1].step(x, values, where="mid", color=colour, linewidth=0.8, zorder=0.5)
        column[0].set_title(title)
        for ax in column:
            ax.set_xticks(range(len(RELATIONS)), RELATIONS, fontsize=8)
            ax.grid(axis="x", visible=False)
    top = max(frame.max(axis=None) for frame in panels.values())  # also without some rate
    for row in axes:
        row[0].set_ylim(0, 1.06 * top)  # of all panels: they share it
    axes[0, 0].set_ylabel("FR, percent")
    axes[1, 0].set_ylabel("FR and its steps, percent")
    figure.legend(loc="outside lower center", ncol=2, fontsize=9)
    return figure


def _panels(models: Sequence[Answers]) -> dict[str, pd.DataFrame]:
    """FR by relation and task, the paper's and each model's."""
    panels = {
        "paper": {
            task: [PRINTED.number(TABLE, split=relation, dataset=name) for relation in RELATIONS]
            for name, task in TASKS.items()
        }
    }
    for one in models:
        panels[one.subject.shown] = {
            task: [one.percent(FR, task, relation=relation) for relation in RELATIONS]
            for task in TASKS.values()
        }
    return {name: pd.DataFrame(rates, index=list(RELATIONS)) for name, rates in panels.items()}
