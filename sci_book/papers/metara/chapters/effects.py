"""The question the paper leaves: does a decoding method lower a failure rate?

The conditional rate is of other originals under another method, those that it answers right; its
difference is of two means. That of the other rates is of the same originals.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.metara.chapters.answers import (
    LABELS,
    METHODS,
    TASK_COLOURS,
    TASKS,
    Answers,
    less,
    levels,
    own_levels,
)
from sci_book.papers.metara.failures import RATES
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.effects import Effect, effect_frames
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table
from sci_book.papers.shared.tables import p_value as shown_p
from sci_book.results.statistics import sign_flip_test

BASE, *OTHERS = METHODS
HEADLINE = "SCI5"
ALPHA = 0.05
MORE_ROUNDS = (("SCI5", "SCI3"), ("SCI7", "SCI5"))
ALONE = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
"""The rounds of a method: rewritten instructions, then dummy pictures."""


def change(one: Answers, method: str, rate: str, task: str, against: str = BASE) -> Part:
    """A rate under a method less that under another; negative where the method fails less."""
    both = (one.rate(rate, task, name) for name in (method, against))
    return less(f"{task}, {rate}, {method}", *both)


def p_value(one: Answers, method: str, rate: str, task: str) -> float:
    """Of the sign-flip test, on originals that have the rate under both methods."""
    both = one.rate(rate, task, method).merge(one.rate(rate, task), on=["original", "group"])
    return sign_flip_test(both["value_x"] - both["value_y"], both["group"])


def family(models: Sequence[Answers]) -> dict[str, pd.DataFrame]:
    """Every method against the base in every rate and task, by model: that it fails less.

    Where a method changes few originals, nearly all one way, an interval is too sure of
    its end near zero, and a *fails* without a small `p` is weak evidence. `p` is of originals
    that have the rate under both methods, also where the interval is of all that have it under one.
    """
    return effect_frames(
        {
            one.subject.name: [
                Effect(
                    label(task, rate, method), "less", change(one, method, rate, task).interval,
                    p_value(one, method, rate, task),
                )
                for task in TASKS.values() for rate in RATES for method in OTHERS
            ]
            for one in models
        }
    )  # fmt: skip


def label(task: str, rate: str, method: str) -> str:
    """A line's name."""
    return f"{task}, {rate}: {method}"


def beyond(models: Sequence[Answers], frames: dict[str, pd.DataFrame]) -> str:
    """How many lines of any method are decided by their interval, and which by p as well.

    Without a line there is nothing to say.
    """
    if not frames:
        return ""
    titles = {one.subject.name: one.subject.shown for one in models}
    words = []
    for word, meaning in (("holds", "fails less"), ("fails", "fails more")):
        mine = {
            f"{name} ({titles[model]})": line["p"]
            for model, frame in frames.items()
            for name, line in frame[frame["verdict"] == word].iterrows()
        }
        sure = [name for name, p in mine.items() if p < ALPHA]
        named = f": {'; '.join(sure)}" if sure else ""
        words.append(f"{meaning} on {len(mine)} by its interval, {len(sure)} by p too{named}")
    lines = sum(map(len, frames.values()))
    return f"Of all {lines} lines, a method {'. It '.join(words)}."


def tested(findings: Sequence, frames: dict[str, pd.DataFrame]) -> str:
    """The p-values of the lines that decide the verdicts, in a sentence; "" without a line."""
    told = []
    for finding in findings:
        what, _, method = finding.part.rpartition(", ")
        frame = frames.get(finding.model, pd.DataFrame())
        if (name := f"{what}: {method}") in frame.index:
            told.append(f"{shown_p(frame.loc[name, 'p'])} for {finding.title} ({what})")
    lines = sum(map(len, frames.values()))
    words = f"Holm's p over all {lines} lines of this page is {' and '.join(told)}."
    return words if told else ""


def table(one: Answers, frame: pd.DataFrame) -> Table:
    """A model's lines, with Holm's p-values; the ledger judges, once for all."""
    caption = "FR of a method less the base’s, points (− fails less)"
    return own_levels(one, frame, name="effects", caption=caption, paper=False)


def rounds_table(models: Sequence[Answers]) -> Table:
    """More rounds against fewer, in every rate and task; nothing is claimed of them."""
    lines = {
        f"{task}, {rate}: {more} less {fewer}, {one.subject.shown}": chapters.row(
            change(one, more, rate, task, fewer).interval
        )
        for one in models
        for task in TASKS.values()
        for rate in RATES
        for more, fewer in MORE_ROUNDS
    }
    caption = "FR with more rounds less that with fewer, points; n originals"
    return levels(models, lines, name="rounds", caption=caption, paper=False)


def alone_table(models: Sequence[Answers]) -> Table:
    """What each round alone would answer: accuracy of originals and the three rates, in percent.

    On the black picture that is the prior: of a case it hears the paraphrase alone.
    """
    rows = {
        f"{task}, {one.subject.shown}: {name}": {
            "accuracy of originals": one.percent("accuracy", task, name),
            **{rate: one.percent(rate, task, name) for rate in RATES},
            "originals right": len(one.rate("conditional", task, name)),
        }
        for one in models
        for task in TASKS.values()
        for name in ALONE
        if name in one.subject.records.stamp["rounds"]
    }
    return table_of(rows, name="alone", caption="Each round alone: FR in percent", decimals=1)


def levels_table(one: Answers) -> Table:
    """Accuracy, the three rates and Robust(M) of every method, by task, in percent."""
    titles = {"accuracy": "accuracy of originals", **LABELS, "robust": "Robust(M) = 1"}
    rows = {
        f"{task}: {title}": {name: one.percent(rate, task, name) for name in METHODS}
        for task in TASKS.values()
        for rate, title in titles.items()
    }
    return table_of(rows, **one.named("methods", "percent, by method"), decimals=1)


def moved(one: Answers) -> str:
    """On how many originals a method changes the absolute rate: what the intervals rest on."""
    words = []
    for task in TASKS.values():
        both = [
            one.rate("absolute", task, name).set_index("original")["value"]
            for name in (BASE, HEADLINE)
        ]
        differs = int((both[0] != both[1]).sum())
        words.append(f"{differs} of {len(both[0])} originals ({task})")
    return f"{one.subject.shown}: {HEADLINE} changes the absolute rate of {' and '.join(words)}."


def draw(models: Sequence[Answers], frames: dict[str, pd.DataFrame]) -> Figure:
    """Every method against the base: a row of panels a model, a panel a rate, a colour a task."""
    figure, axes = plt.subplots(
        len(models), len(RATES), figsize=(figures.WIDTH, 0.9 + 2.1 * len(models)),
        sharex=True, sharey=True, squeeze=False,
    )  # fmt: skip
    for one, row in zip(models, axes, strict=True):
        for rate, ax in zip(RATES, row, strict=True):
            for index, (task, colour) in enumerate(zip(TASKS.values(), TASK_COLOURS, strict=True)):
                mine = frames[one.subject.name].loc[[label(task, rate, m) for m in OTHERS]]
                y = np.arange(len(OTHERS)) + 0.3 * (index - 0.5)
                ax.hlines(y, mine["low"], mine["high"], color=colour, linewidth=2)
                name = task if one is models[0] and rate == RATES[0] else None
                ax.plot(mine["reproduced"], y, "o", color=colour, markersize=4, label=name)
            ax.axvline(0, color=INK, linewidth=0.8)
            ax.set_title(rate, fontsize=9)
            ax.grid(axis="y", visible=False)
        row[0].set_yticks(range(len(OTHERS)), OTHERS, fontsize=8)
        row[0].set_ylim(len(OTHERS) - 0.5, -0.5)
        row[0].set_ylabel(one.subject.shown, fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("points against the base", fontsize=8)
    figure.legend(loc="outside lower center", ncol=len(TASKS), fontsize=9)
    return figure
