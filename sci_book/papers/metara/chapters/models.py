"""Tables II and III, Figures 3 and 4: models, each with its failure rates on a task.

The paper's columns of data sets are accuracies under the name of FR (its own numbers say so: the
audit), so they stand beside accuracies; its final FR stands beside the conditional rate.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.metara.chapters.answers import (
    FR,
    LABELS,
    TASKS,
    UNMIRRORED,
    Answers,
    average,
    levels,
    mean,
    own_levels,
)
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.printed import OVERALL, PRINTED
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.figures import model_colours
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, frame_of, plain

TABLES = {task: table for table, task in OVERALL.items()}


def relative(label: str | None, table: str) -> dict[str, str]:
    """Model and base (or size) of a table's row that a model stands beside; {} if there is none.

    The paper has the model itself, or the nearest of its family: `metara_relatives.csv`.
    """
    frame = pd.read_csv(PAPER / "metara_relatives.csv", dtype=str, keep_default_na=False)
    mine = frame[(frame["label"] == (label or "")) & (frame["table"] == table)]
    return next(iter(mine[["model", "base"]].to_dict("records")), {})


def counts_table(models: Sequence[Answers]) -> Table:
    """What was read of each model, and what enters no rate."""
    frame = pd.DataFrame({model.subject.shown: model.left for model in models})
    caption = "Rows read; originals of a task, and those that are wrong or unknown to start with"
    return plain(frame, name="counts", caption=caption).fold()


def rates_table(one: Answers) -> Table:
    """Accuracy, the three failure rates and Robust(M), by task, of one model."""
    titles = {
        "accuracy": "accuracy of originals",
        **{rate: f"FR, {LABELS[rate]}" for rate in RATES},
        "robust": "Robust(M) = 1",
    }
    lines = {
        f"{task}: {title}": chapters.row(average(one.rate(rate, task)))
        for task in TASKS.values()
        for rate, title in titles.items()
    }
    caption = "percent of originals, or means over them; n originals"
    return own_levels(one, frame_of(lines), name="rates", caption=caption, paper=False)


def final_table(models: Sequence[Answers], task: str) -> Table:
    """The final FR of one of the paper's tasks beside the conditional rate of each model."""
    table, lines = TABLES[task], {}
    for one in models:
        row = relative(one.subject.label, table)
        paper = PRINTED.number(table, **row, metric="final FR") if row else None
        beside = " ".join(row.values()).strip() or "no model named for it"
        ours = average(one.rate(FR, TASKS[task]))
        lines[f"{one.subject.shown}; paper: {beside}"] = chapters.row(ours, paper=paper)
    caption = (
        f"{TASKS[task]} ({task}): final FR beside the conditional rate, percent; n right originals"
    )
    return levels(models, lines, name=f"final-{TASKS[task]}", caption=caption)


def columns_table(models: Sequence[Answers], task: str) -> Table:
    """The paper's columns of data sets, which are accuracies, beside ours."""
    table = TABLES[task]
    lines: dict[str, dict[str, object]] = {}
    for model, base in PRINTED.distinct(table, "model", "base"):
        rows = PRINTED.rows(table, model=model, base=base, metric="FR")
        named = zip(rows["dataset"] + " " + rows["split"], rows["value"].astype(float), strict=True)
        lines[f"{model} {base}".strip()] = dict(named)
    for one in models:
        lines[one.subject.shown] = {f"pocket {TASKS[task]}": one.percent("accuracy", TASKS[task])}
    caption = (
        f"{TASKS[task]} ({task}): the columns printed as FR, and the accuracy of originals; percent"
    )
    return table_of(lines, name=f"columns-{TASKS[task]}", caption=caption, decimals=1)


def hidden(one: Answers, task: str, **where: Sequence[str]) -> Part:
    """Of the originals answered right, the share that fail in at least one case."""
    rows = one.rate(FR, task, **where)
    return mean(task, rows.assign(value=(rows["value"] > 0).astype(float)))


def without_mirror(models: Sequence[Answers]) -> Table:
    """The same share without MR2, which is the mirror on text; nothing is claimed of it."""
    lines = {
        f"{task}, {one.subject.shown}": chapters.row(
            hidden(one, task, relation=UNMIRRORED).interval
        )
        for one in models
        for task in TASKS.values()
    }
    caption = "The same without MR2: originals that fail in some case, percent"
    return levels(models, lines, name="hidden-without", caption=caption, paper=False)


def draw(models: Sequence[Answers]) -> Figure:
    """Figures 3 and 4: the paper's models by final FR, and those run here; a panel a task."""
    rows = {task: PRINTED.distinct(table, "model", "base") for task, table in TABLES.items()}
    tall = max(map(len, rows.values())) + len(models)
    figure, axes = plt.subplots(1, len(rows), figsize=(figures.WIDTH, 1.0 + 0.21 * tall))
    for ax, (task, table) in zip(axes, TABLES.items(), strict=True):
        _panel(ax, table, task, models)
    return figure


def _panel(ax: Axes, table: str, task: str, models: Sequence[Answers]) -> None:
    names = []
    for y, (model, base) in enumerate(PRINTED.distinct(table, "model", "base")):
        value = PRINTED.number(table, model=model, base=base, metric="final FR")
        ax.plot(value, y, "D", mfc="white", mec=INK, markersize=5)
        names.append(f"{model} {'' if table == TABLES['OCR-VQA'] else base}".strip())
    colours = model_colours([one.subject.name for one in models])
    for one in models:
        estimate = average(one.rate(FR, TASKS[task]))
        y, colour = len(names), colours[one.subject.name]
        ax.hlines(y, 100 * estimate.low, 100 * estimate.high, color=colour, linewidth=2.5)
        ax.plot(100 * estimate.estimate, y, "o", color=colour)
        names.append(one.subject.shown)
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel("FR, percent (◇ the paper)")
    ax.set_title(f"{TASKS[task]} ({task})")
