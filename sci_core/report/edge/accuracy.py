"""Table 4: what is right on clean pictures, by the paper's rules and by stricter ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_core.evaluation import Interval, holm, sign_flip_test
from sci_core.probes.edge import scene
from sci_core.probes.edge.cider import cider
from sci_core.probes.edge.conditions import CAPTIONS, KINDS, QUESTIONS
from sci_core.report.chapters import row
from sci_core.report.edge.models import (
    PAPER_PAIR,
    PAPER_SETS,
    Found,
    Model,
    Pair,
    frame_of,
    mean,
    paired,
    printed,
    side,
)
from sci_core.report.figures import WIDTH
from sci_core.report.tables import Table, compare, number, plain

COARSE = 0.10
"""The claim's margin: this share of captions passes the coarse rule and misdescribes its scene."""


def table04(pair: Pair) -> Table:
    """Accuracy of the pair by the paper's rules, and their differences with Holm's p."""
    lines, p_values = {}, []
    for kind in KINDS:
        one, two = (each.answers(kind) for each in pair[:2])
        for model, name, found in zip(pair[:2], PAPER_PAIR, (one, two), strict=True):
            paper = printed("edge_table04", dataset=PAPER_SETS[kind], model=name)
            lines[f"{kind}, {model.shown}"] = row(mean(found["right"], found["group"]), paper=paper)
        both = paired(one, two)
        gap = both["right two"] - both["right"]
        paper = printed(
            "edge_table04", dataset=PAPER_SETS[kind], model=f"{PAPER_PAIR[1]} - {PAPER_PAIR[0]}"
        )
        what = f"{kind}, {pair.large.shown} − {pair.compact.shown}"
        lines[what] = row(mean(gap, both["group"]), paper=paper)
        p_values.append(sign_flip_test(gap, both["group"]))
    frame = frame_of(lines)
    ps = ", ".join(number(p, 3) for p in holm(p_values))
    return compare(
        frame.assign(verdict=None),
        name="table04",
        caption=f"Table 4: accuracy in %, differences in points (Holm's p, in order: {ps})",
        ours=side(pair[:2]),
        decimals=1,
    )


def misdescribed(model: Model) -> tuple[Interval, Interval]:
    """Captions that pass the coarse rule and are not exact, of all; and exact ones, of all."""
    found = model.answers(CAPTIONS)
    exact = np.array([scene.exact(one.text, one.truth) for one in found.itertuples()], dtype=float)
    wrong = found["right"].to_numpy(dtype=float) * (1 - exact)
    return mean(wrong, found["group"]), mean(exact, found["group"])


def rules(found: Found) -> Table:
    """Every model by several rules: the paper's, the book's own, and the whole scene."""
    lines = {}
    for model in found.models:
        questions, captions = model.answers(QUESTIONS), model.answers(CAPTIONS)
        own = questions["parsed"].to_numpy(dtype=object) == questions["truth"].to_numpy(
            dtype=object
        )
        scores = cider(captions["text"].tolist(), [[text] for text in captions["truth"]])
        wrong, exact = misdescribed(model)
        lines[model.shown] = {
            "questions, soft match": 100 * questions["right"].mean(),
            "questions, exact": 100 * own.mean() if len(own) else np.nan,
            "captions, one word": 100 * captions["right"].mean(),
            "captions, whole scene": 100 * exact.estimate,
            "passes, but wrong": 100 * wrong.estimate,
            "CIDEr": float(scores.mean()) if len(scores) else np.nan,
        }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return plain(
        frame, name="rules", caption="Right in % by rule; CIDEr-D from 0 to 10", decimals=1
    )


def claim_table(found: Found) -> pd.DataFrame:
    """The chapter's claim for every model as it is: `chapters.row` with its verdict."""
    lines = {
        model.shown: row(misdescribed(model)[0], claim="greater", margin=COARSE)
        for model in found.full
    }
    return frame_of(lines)


def draw(found: Found) -> Figure:
    """A bar a rule, a colour a model."""
    full = [each.shown for each in found.full]
    frame = rules(found).frame.loc[full].drop(columns="CIDEr", errors="ignore").map(_value)
    figure, ax = plt.subplots(figsize=(WIDTH, 3.4))
    width = 0.8 / max(len(frame), 1)
    for place, model in enumerate(found.full):
        values = frame.loc[model.shown]
        at = np.arange(len(values)) - 0.4 + width * (place + 0.5)
        ax.bar(at, values, width, label=model.shown, color=model.colour)
    names = [column.replace(", ", "\n") for column in frame.columns]
    ax.set_xticks(np.arange(frame.shape[1]), names, fontsize=8)
    ax.set_ylabel("right, %")
    ax.grid(axis="x", visible=False)
    if found.full:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _value(text: str) -> float:
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        return np.nan
