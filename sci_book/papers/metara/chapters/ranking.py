"""Table IV and Figure 5: MetaRA's ranking and MetaVQA's, and how far they agree.

Two models give no ranking worth the name. Here the seven ways of decoding one model stand for the
paper's models: they answer the same questions and differ in their answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import kendalltau

from sci_book.papers.metara.chapters.answers import (
    FR,
    METHODS,
    TASKS,
    Answers,
    average,
    enough,
    levels,
)
from sci_book.papers.metara.chapters.models import relative
from sci_book.papers.metara.metavqa import RELATIONS
from sci_book.papers.metara.printed import PRINTED
from sci_book.papers.metara.ranking import Agreement, agreement
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import Table, number, p_value
from sci_book.results.statistics import NO_DATA, Interval

TABLE = "metara_table04"
PEERS = {"KBVQA": "E-VQA", "OCR-VQA": "TextVQA"}  # Table IV's data set of each task


def agree(one: Answers, task: str) -> Agreement | None:
    """Kendall's tau of the methods by both failure rates; None where one has no row."""
    ours = {name: one.rate(FR, task, name) for name in METHODS}
    theirs = {name: one.violations(task, name) for name in METHODS}
    if not all(len(rows) for rows in (*ours.values(), *theirs.values())):
        return None
    return agreement(ours, theirs)


def tau(one: Answers, task: str) -> Interval:
    """Tau with its interval over originals; nowhere where there is none."""
    rankings = agree(one, task)
    if rankings is None or np.isnan(rankings.tau.estimate):
        return NO_DATA
    return enough(rankings.tau, [one.rate(FR, task, name) for name in METHODS])


def ranks_table(one: Answers) -> Table:
    """Both rates of every method, and its ranks: 1 is the most robust."""
    lines: dict[str, dict[str, object]] = {name: {} for name in METHODS}
    for task in TASKS.values():
        rankings = agree(one, task)
        for name in METHODS:
            lines[name] |= {
                f"{task}: MetaVQA": 100 * one.violations(task, name)["value"].mean(),
                f"{task}: MetaRA": one.percent(FR, task, name),
                f"{task}: ranks": "—"
                if rankings is None
                else f"{number(rankings.second[name], 1)}, {number(rankings.first[name], 1)}",
            }
    caption = "failure rates in percent, and ranks by MetaVQA, by MetaRA"
    return table_of(lines, **one.named("ranks", caption))


def tau_table(models: Sequence[Answers]) -> Table:
    """Tau with its p-value, and in how many draws a ranking is a tie of all."""
    lines = {}
    for one in models:
        for task in TASKS.values():
            rankings = agree(one, task)
            if rankings is not None:
                lines[f"{task}, {one.subject.shown}"] = {
                    "tau": rankings.tau.estimate,
                    "p": p_value(rankings.p),
                    "draws without a ranking, %": 100 * rankings.undefined,
                    "compositions": len(one.violations(task)),
                }
    caption = "Kendall’s tau-b between the rankings of the methods"
    return table_of(lines, name="tau", caption=caption)


def paper_table() -> Table:
    """Kendall's tau of the paper's own numbers in Table IV, of the models that have both."""
    lines = {}
    cells = {f"{name}: printed FR": {"dataset": name, "metric": "FR"} for name in PEERS.values()}
    for line, fields in {**cells, "printed ranks": {"metric": "rank"}}.items():
        values = {
            method: PRINTED.rows(TABLE, method=method, **fields).set_index("model")["value"]
            for method in ("MetaVQA", "MetaRA")
        }
        both = pd.DataFrame(values).astype(float).dropna()
        kendall = kendalltau(both["MetaVQA"], both["MetaRA"])
        tau, p = float(kendall.statistic), p_value(kendall.pvalue)
        lines[line] = {"models": len(both), "tau": tau, "p": p}
    return table_of(lines, name="tau-paper", caption="The paper’s Table IV: tau of what it prints")


def beside_paper(models: Sequence[Answers]) -> Table:
    """Both failure rates of the base beside Table IV's, with MetaVQA's relations apart."""
    lines = {}
    for one in models:
        row = relative(one.subject.label, TABLE)
        for name, task in TASKS.items():
            violated = one.violations(task)
            parts = {"MetaVQA": violated, "MetaRA": one.rate(FR, task)}
            for method, rows in parts.items():
                paper = None
                if row and method == "MetaVQA":  # its MetaRA column is accuracies
                    paper = PRINTED.number(
                        TABLE, **row, dataset=PEERS[name], method=method, metric="FR"
                    )
                lines[f"{task}, {method}, {one.subject.shown}"] = chapters.row(
                    average(rows), paper=paper
                )
            for relation in RELATIONS:
                rows = violated[violated["relation"] == relation]
                what = f"{task}, MetaVQA: {relation}, {one.subject.shown}"
                lines[what] = chapters.row(average(rows))
    caption = "FR of the base, percent; n compositions (MetaVQA) or right originals (MetaRA)"
    return levels(models, lines, name="beside", caption=caption)


def draw(models: Sequence[Answers]) -> Figure:
    """Figure 5: a method's rank by MetaRA against its rank by MetaVQA; on the line they agree."""
    figure, axes = plt.subplots(
        len(models), len(TASKS), figsize=(figures.WIDTH, 3.1 * len(models)), squeeze=False
    )
    for one, row in zip(models, axes, strict=True):
        for task, ax in zip(TASKS.values(), row, strict=True):
            rankings = agree(one, task)
            ax.plot([1, len(METHODS)], [1, len(METHODS)], "--", color="#9ca3af", linewidth=1)
            if rankings is not None:
                for method in METHODS:
                    xy = rankings.second[method], rankings.first[method]
                    ax.plot(*xy, "o", color=figures.colour(method))
                    others = [m for m in METHODS if (rankings.second[m], rankings.first[m]) == xy]
                    ax.annotate(
                        method, xy, xytext=(5, 4 + 9 * others.index(method)),
                        textcoords="offset points", fontsize=8,
                    )  # fmt: skip
            ax.set_title(f"{one.subject.shown}, {task}")
            ax.set_xlabel("rank by MetaVQA")
            ax.set_ylabel("rank by MetaRA")
            ax.set_xlim(0.5, len(METHODS) + 1.2)
            ax.set_ylim(0.5, len(METHODS) + 0.9)
    return figure
