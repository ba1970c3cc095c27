"""Table 4: what is right on clean pictures, by the paper's rules and by stricter ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_book.papers.edge import scene
from sci_book.papers.edge.chapters.models import Found, Pair, paired
from sci_book.papers.edge.cider import cider
from sci_book.papers.edge.conditions import CAPTIONS, KINDS, QUESTIONS
from sci_book.papers.edge.printed import DIFFERENCE, PAPER_SETS, printed
from sci_book.papers.shared.chapters import row
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.intervals import together
from sci_book.papers.shared.lines import compared
from sci_book.papers.shared.tables import Table, p_value, plain
from sci_book.results.statistics import Interval, Rows, difference, holm, share, sign_flip_test


def table04(pair: Pair) -> Table:
    """Accuracy of the pair by the paper's rules, and their differences with Holm's p.

    Combined is the mean of both kinds, each counting half, as the paper's data sets do.
    """
    lines, samples = {}, []
    names = {paper: model.shown for model, paper, _ in pair.sides}
    names[DIFFERENCE] = f"{pair.large.shown} − {pair.compact.shown}"

    def add(what: str, dataset: str, estimates: Sequence[Interval]) -> None:
        for (model, name), estimate in zip(names.items(), estimates, strict=True):
            paper = printed("edge_table04", dataset=dataset, model=model)
            lines[f"{what}, {name}"] = row(estimate, paper=paper)

    for kind in KINDS:
        answers = [model.answers(kind) for model in pair[:2]]
        both = paired(*answers)
        right = [(rows["right"], rows["group"]) for rows in answers]
        gap = both["right two"] - both["right"], both["group"]
        add(kind, PAPER_SETS[kind], [*starmap(share, right), difference(*gap)])
        samples.append([*right, gap])
    add("combined", "Combined", list(map(together, zip(*samples, strict=True))))
    ps = ", ".join(p_value(p) for p in holm([sign_flip_test(*gap) for *_, gap in samples]))
    caption = (
        "Table 4: accuracy in %, differences in points (Holm's p of the differences of "
        f"{' and '.join(KINDS)}: {ps})"
    )
    return compared(lines, pair[:2], name="table04", caption=caption, decimals=1)


def exact(captions: pd.DataFrame) -> np.ndarray:
    """1 for a caption that says its whole scene and nothing else, 0 for any other."""
    pairs = zip(captions["text"], captions["truth"], strict=True)
    return np.array([scene.exact(*pair) for pair in pairs], dtype=float)


def passes_but_wrong(captions: pd.DataFrame) -> np.ndarray:
    """1 for a caption that passes the coarse rule and is not `exact`, 0 for any other."""
    return captions["right"].to_numpy(dtype=float) * (1 - exact(captions))


def rule_shares(recorded: Found) -> pd.DataFrame:
    """Every model by several rules: the paper's, the book's own, and the whole scene.

    In percent, and CIDEr-D as it is; NaN where an experiment was not run.
    """
    lines = {}
    for model in recorded.models:
        questions, captions = model.answers(QUESTIONS), model.answers(CAPTIONS)
        own = questions["parsed"].eq(questions["truth"])
        scores = cider(captions["text"].tolist(), [[text] for text in captions["truth"]])
        lines[model.shown] = {
            "questions, soft match": _percent(questions["right"]),
            "questions, exact": _percent(own),
            "captions, one word": _percent(captions["right"]),
            "captions, whole scene": _percent(exact(captions)),
            "passes, but wrong": _percent(passes_but_wrong(captions)),
            "CIDEr": float(scores.mean()) if len(scores) else np.nan,
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _percent(values: Rows) -> float:
    return 100 * float(np.mean(values)) if len(values) else np.nan


def rules(recorded: Found) -> Table:
    """`rule_shares` as a table."""
    caption = "Right in % by rule; CIDEr-D from 0 to 10"
    return plain(rule_shares(recorded), name="rules", caption=caption, decimals=1)


def draw(recorded: Found) -> Figure:
    """A bar a rule, a colour a model."""
    full = [model.shown for model in recorded.full]
    frame = rule_shares(recorded).loc[full].drop(columns="CIDEr", errors="ignore")
    figure, ax = plt.subplots(figsize=(WIDTH, 3.4))
    width = 0.8 / max(len(frame), 1)
    for index, model in enumerate(recorded.full):
        values = frame.loc[model.shown]
        x = np.arange(len(values)) - 0.4 + width * (index + 0.5)
        ax.bar(x, values, width, label=model.shown, color=model.colour)
    names = [column.replace(", ", "\n") for column in frame.columns]
    ax.set_xticks(np.arange(frame.shape[1]), names, fontsize=8)
    ax.set_ylabel("% of answers")
    ax.grid(axis="x", visible=False)
    if recorded.full:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure
