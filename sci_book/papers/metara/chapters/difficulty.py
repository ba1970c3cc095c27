"""Figure 2's two stages that leave numbers: the difficulty d(x), and sequences in several orders.

The paper prints no formula of d(x); `papers.metara.difficulty` documents ours. In the pocket sets a
question's family settles most of it, so that "harder" would say little more than "of another
family": here harder and easier originals are compared inside a family alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.metara.chapters.answers import (
    TASKS,
    Answers,
    average,
    levels,
    rows_of,
    weighted,
)
from sci_book.papers.metara.difficulty import LEVELS, cases_a_relation
from sci_book.papers.metara.failures import ORIGINAL, RATES
from sci_book.papers.metara.order import OrderRates, order_rates
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.figures import model_colours
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import Table

APART = 1.2  # points between two models' dots in the figure, which would cover each other
RATE = "absolute"
"""Of the three: the paper speaks of answering correctly, and a condition on the original would
leave out the hardest."""


def originals(task: str) -> pd.DataFrame:
    """Each original with `score` (d), `family` and `harder` (above its family's median)."""
    rows = rows_of(task)
    own = rows[rows["relation"] == ORIGINAL].set_index("original")
    frame = pd.DataFrame(
        {"score": own["difficulty"], "family": [_family(q) for q in own["question"]]}
    )
    middle = frame.groupby("family")["score"].transform("median")
    return frame.assign(harder=frame["score"] > middle)


def family_table() -> Table:
    """d(x) by family: how far apart families lie, and how far their own originals."""
    lines = {}
    for task in TASKS.values():
        for family, rows in originals(task).groupby("family"):
            score = rows["score"]
            cases = {cases_a_relation(d) for d in score}
            ends = sorted({min(cases), max(cases)})
            lines[f"{task}: {family} …"] = {
                "originals": len(rows), "least d": score.min(), "median d": score.median(),
                "most d": score.max(), "cases a relation": " to ".join(map(str, ends)),
            }  # fmt: skip
    return table_of(lines, name="families", caption="Difficulty of the originals, by family")


def harder(one: Answers, task: str) -> Part:
    """The absolute rate of a family's harder half less the easier's; families weigh alike."""
    rows = one.rate(RATE, task)
    about = originals(task).loc[rows["original"]]
    kinds = sorted(set(about["family"]))
    terms = []
    for kind, (half, sign) in product(kinds, ((True, 1.0), (False, -1.0))):
        mask = ((about["family"] == kind) & (about["harder"] == half)).to_numpy()
        terms.append((sign / len(kinds), rows[mask]))
    return weighted(f"{task}: harder less easier", terms)


def level_table(models: Sequence[Answers]) -> Table:
    """The three rates by level of difficulty, easy, middle and hard thirds of a task's originals.

    Nothing is claimed of it.
    """
    cells = product(models, TASKS.values(), RATES, LEVELS)
    lines = {
        f"{task}, {one.subject.shown}, {rate}: {third}": chapters.row(
            average(one.rate(rate, task, level=third))
        )
        for one, task, rate, third in cells
    }
    caption = "Failure rate (FR) by level of difficulty, percent; n originals"
    return levels(models, lines, name="levels", caption=caption, paper=False)


def ordered(one: Answers, task: str) -> OrderRates | None:
    """What the order of a sequence does on a task; None where no sequence was answered."""
    rows = one.orders
    rows = rows[rows["task"] == task]
    return order_rates(rows) if len(rows) else None


def order_table(models: Sequence[Answers]) -> Table:
    """Mean FR over orders, its variance between orders, and how many answers change."""
    scales = {
        "failure rate (FR) averaged over orders, %": 100.0,
        "variance of FR between orders, points²": 1e4,
        "answers changed, %": 100.0,
    }
    lines = {
        f"{task}, {one.subject.shown}: {label}": chapters.row(estimate, scale=scales[label])
        for one, task in product(models, TASKS.values())
        for label, estimate in zip(scales, ordered(one, task) or (), strict=False)
    }
    caption = "Sheets in several orders; n: originals, and pictures for answers that changed"
    return levels(models, lines, name="orders", caption=caption, paper=False)


def draw(models: Sequence[Answers]) -> Figure:
    """FR of every original by its difficulty, families apart, with each half's mean.

    Dots of two models stand `APART` points apart around their value; means are where they are.
    """
    figure, axes = plt.subplots(
        1, len(TASKS), figsize=(figures.WIDTH, 3.4), sharey=True, squeeze=False
    )
    colours = model_colours([one.subject.name for one in models])
    for ax, task in zip(axes[0], TASKS.values(), strict=True):
        about = originals(task)
        for number, one in enumerate(models):
            rows = one.rate(RATE, task)
            mine = about.loc[rows["original"]]
            colour = colours[one.subject.name]
            lift = APART * (number - (len(models) - 1) / 2)  # models side by side, in points
            ax.plot(
                mine["score"], 100 * rows["value"].to_numpy() + lift, ".", color=colour, alpha=0.7,
                markersize=5, label=one.subject.shown if task == "text" else None,
            )  # fmt: skip
            values = pd.Series(100 * rows["value"].to_numpy(), index=mine.index)
            for _, family in mine.groupby("family"):
                halves = family.groupby("harder")
                x = halves["score"].mean()
                ax.plot(x, [values[half.index].mean() for _, half in halves], "-o", color=colour)
        ax.set_title(task)
        ax.set_xlabel("difficulty d")
    axes[0, 0].set_ylabel(f"{RATE} failure rate of an original, %")
    figure.legend(loc="outside lower center", ncol=max(len(models), 1), fontsize=9)
    return figure


def _family(question: str) -> str:
    """A family by how its questions begin: pocket questions of one family begin alike."""
    return " ".join(question.split()[:2])
