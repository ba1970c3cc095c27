"""Table V, Figures 6 and 7: one model on both tasks.

The paper has two data sets of one task and four of the other; the pocket world has one of each, so
that nothing here can say how data sets of one task differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from sci_book.papers.metara.chapters.answers import (
    FR,
    LABELS,
    TASKS,
    UNMIRRORED,
    Answers,
    average,
    less,
    over_originals,
    own_levels,
    rows_of,
    same_in_a_mirror,
)
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.printed import PRINTED, SETS
from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.figures import model_colours
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, frame_of, interval, number
from sci_book.results.statistics import Interval

TABLE = "metara_table05"
KNOWLEDGE, TEXT = TASKS.values()


def gap(one: Answers, rate: str = FR, over: Sequence[str] = RELATIONS) -> Part:
    """FR of the text task less that of the knowledge task, over some relations."""
    name = "all relations" if over == RELATIONS else " ".join(over)
    both = (one.rate(rate, task, relation=over) for task in (TEXT, KNOWLEDGE))
    return less(f"{TEXT} less {KNOWLEDGE}, {name}", *both)


def gaps_table(one: Answers) -> Table:
    """The gap of each of the three rates, with and without the mirror; nothing is claimed here."""
    lines = {
        f"{LABELS[rate]}{name}": chapters.row(gap(one, rate, over).interval)
        for name, over in (("", RELATIONS), (", without MR2", UNMIRRORED))
        for rate in RATES
    }
    caption = "FR on text less that on knowledge, points; n originals"
    return own_levels(one, frame_of(lines), name="gaps", caption=caption, paper=False)


def without_mirror(models: Sequence[Answers]) -> str:
    """What is left of the gap without MR2, and how many signs the mirror changes, in sentences."""
    rows = rows_of(TEXT)
    originals = set(rows["original"])
    words = [
        f"The mirror, MR2 of text, changes the sign of {len(originals - same_in_a_mirror())} of "
        f"{len(originals)} originals, whose expected answer is then no longer shown."
    ]
    for one in models:
        whole, rest = (gap(one, over=over).interval for over in (RELATIONS, UNMIRRORED))
        words.append(
            f"{one.subject.shown}: a gap of {number(100 * whole.estimate)} points with MR2, of "
            f"{number(100 * rest.estimate)} without, "
            f"interval {interval(100 * rest.low, 100 * rest.high)}."
        )
    return " ".join(words)


def table05(models: Sequence[Answers]) -> Table:
    """Table V, and both tasks of each model run here."""
    (model, base), *_ = PRINTED.distinct(TABLE, "model", "base")
    theirs = {
        name: PRINTED.number(TABLE, dataset=name) for names in SETS.values() for name in names
    }
    lines = {f"{model} {base} (paper)": theirs}
    for one in models:
        lines[one.subject.shown] = {
            f"pocket {task}": one.percent(FR, task) for task in TASKS.values()
        }
    caption = "FR by data set, percent; ours conditional on a right original"
    return table_of(lines, name="table05", caption=caption, decimals=1)


def spread(one: Answers) -> Interval:
    """Variance over originals of their FR on text less that on knowledge.

    The paper's variance is over data sets, of which there is one a task here.
    """

    def difference(squares: np.ndarray, sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        variances = squares / sizes - (sums / sizes) ** 2
        return np.asarray(variances[0] - variances[1])

    frames = [one.rate(FR, task) for task in (TEXT, KNOWLEDGE)]
    return over_originals(frames, (2, 1, 0), difference)


def spread_line(findings: Sequence) -> str:
    """The verdict on `spread` of each of the page's findings, in a sentence; "" without one."""
    told = "; ".join(
        f"{finding.title}: *{finding.verdict}*, {number(spread.estimate, 4)} "
        f"{interval(spread.low, spread.high, 4)}"
        for finding in findings
        if finding.claim.id == "metara-task-variance" and (spread := finding.interval).n
    )
    words = (
        "The “greater variance” is a claim of its own: the variance over originals of FR, a share, "
        f"is larger on text than on knowledge. The difference, by model: {told}."
    )
    return words if told else ""


def draw(models: Sequence[Answers]) -> Figure:
    """Figures 6 and 7: FR by data set, and how it is spread over originals."""
    figure, axes = plt.subplots(
        1, 2, figsize=(figures.WIDTH, 3.4), gridspec_kw={"width_ratios": [1, 1.1]}
    )
    names = [name for task in SETS.values() for name in task]
    for y, name in enumerate(names):
        value = PRINTED.number(TABLE, dataset=name)
        label = None if y else "paper"
        axes[0].plot(value, y, "D", mfc="white", mec=INK, markersize=6, label=label)
    colours = model_colours([one.subject.name for one in models])
    for order, one in enumerate(models):
        colour = colours[one.subject.name]
        for index, (task, style) in enumerate(zip(TASKS.values(), ("-", "--"), strict=True)):
            rates = one.rate(FR, task)
            mean = average(rates)
            y = len(names) + index + 0.2 * (order - (len(models) - 1) / 2)
            axes[0].hlines(y, 100 * mean.low, 100 * mean.high, color=colour, linewidth=2.5)
            label = None if index else one.subject.shown
            axes[0].plot(100 * mean.estimate, y, "o", color=colour, label=label)
            values = np.sort(100 * rates["value"])
            share = 100 * np.arange(1, len(values) + 1) / len(values)
            axes[1].step(
                [0, *values, 100], [0, *share, 100], style, where="post", color=colour,
                label=f"{one.subject.shown}, {task}",
            )  # fmt: skip
    ticks = [*names, *(f"pocket {task}" for task in TASKS.values())]
    axes[0].set_yticks(range(len(ticks)), ticks, fontsize=8)
    axes[0].set_ylim(len(ticks) - 0.5, -0.5)
    axes[0].set_xlim(left=0)
    axes[0].set_xlabel("FR, percent")
    axes[1].set_xlabel("FR of an original, percent")
    axes[1].set_ylabel("originals with at most this FR, %")
    figure.legend(*_handles(axes), loc="outside lower center", ncol=3, fontsize=8)
    return figure


def _handles(axes: np.ndarray) -> tuple[list, list]:
    """One entry a label, of both panels."""
    entries = [entry for ax in axes for entry in zip(*ax.get_legend_handles_labels(), strict=True)]
    return [handle for handle, _ in entries], [label for _, label in entries]
