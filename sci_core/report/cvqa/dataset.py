"""Figures 2, 3 and 8: what the questions are like, in the paper's set and in the pocket twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_core.evaluation import DatasetError, simultaneous_level
from sci_core.evaluation.statistics import NOWHERE, Interval, resample
from sci_core.probes.cvqa.annotation import Annotated, RuleAnnotator, Source, annotate
from sci_core.probes.cvqa.questions import Item, Side, load
from sci_core.probes.cvqa.scores import answer_shares, mean_words, type_token_ratio
from sci_core.report import chapters, figures
from sci_core.report.chapters import PAPER
from sci_core.report.cvqa.pairs import questions_file
from sci_core.report.tables import MISSING, Table, compare, number, plain

WORDS = 15  # bars of Figure 8
ORIGINALS = 200  # of a type, that go through the annotation chain
SMALL = ("0", "1", "2")  # "The share of 0, 1, and 2 in the indirect group are higher"
TINTS = {"direct": "#0072b2", "indirect": "#dd6b20"}


def questions(name: str) -> list[Item] | None:
    """The items of a data set; None where its file is not at hand."""
    try:
        return list(load(questions_file(name)).items)
    except DatasetError:
        return None


def share_gaps(items: Sequence[Item]) -> pd.DataFrame:
    """Rows of `compare`: share of an answer among indirect less that among direct questions.

    Of 0, 1 and 2 it is claimed to be positive, of all other numbers together negative. Intervals
    cover together with 95 %.
    """
    level, rows = simultaneous_level(0.95, len(SMALL) + 1), {}
    numbers = [item for item in items if item.form == "number"]
    for name in SMALL:
        said = [item.counterfactual_answer == name for item in numbers]
        rows[name] = chapters.row(_gap(numbers, said, level), claim="greater")
    others = [item.counterfactual_answer not in SMALL for item in numbers]
    rows["3 and more"] = chapters.row(_gap(numbers, others, level), claim="less")
    return pd.DataFrame.from_dict(rows, orient="index")


def gap_table(found: pd.DataFrame, ours: str) -> Table:
    """`share_gaps` with its verdicts."""
    caption = "Share among indirect less that among direct counterfactual answers, in points"
    shown = compare(found, name="gaps", caption=caption, ours=ours)
    return Table(shown.name, shown.frame.drop(columns=["paper", "Δ"]), shown.caption)


def printed() -> pd.DataFrame:
    """The numbers printed with Figure 8 and in section 3.4: `place, item, value`."""
    return pd.read_csv(PAPER / "cvqa_statistics.csv", dtype=str, keep_default_na=False)


def statistics_table(items: Sequence[Item], puzzles: Sequence[Item], ours: str) -> Table:
    """Section 3.4 and Figure 8 beside the twin's: sizes, lengths, shares, type-token ratio."""
    paper = printed().set_index("item")["value"]
    counts = Counter(item.kind for item in items)
    booleans = [item.counterfactual_answer for item in items if item.kind == "boolean"]
    rows = {
        "questions": (paper["questions"], f"{len(items):,}"),
        **{
            f"{kind}, % of questions": (
                paper[f"share {kind}"],
                number(100 * counts[kind] / len(items), 1),
            )
            for kind in ("direct", "indirect", "boolean")
        },
        "words an original question": (paper["words original"], _words(items, "original")),
        "words a counterfactual one": (
            paper["words counterfactual"], _words(items, "counterfactual")),
        "words an original puzzle": (
            paper["words synthetic original"], _words(puzzles, "original")),
        "words a counterfactual one of these": (
            paper["words synthetic counterfactual"], _words(puzzles, "counterfactual")),
        "“no” among counterfactual booleans, %": (
            paper["share no"], number(100 * booleans.count("no") / max(len(booleans), 1))),
        "type-token ratio, counterfactual": (
            paper["type-token ratio"], number(type_token_ratio(items, "counterfactual"), 4)),
    }  # fmt: skip
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["paper", ours])
    return Table("statistics", frame, "Statistics of the questions")


def draw_shares(items: Sequence[Item]) -> Figure:
    """Figure 3: the counterfactual answers of both numerical groups, in percent of each."""
    shares = answer_shares([i for i in items if i.form == "number"], "counterfactual")
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 2.9))
    places = np.arange(len(shares))
    for shift, kind in ((-0.2, "direct"), (0.2, "indirect")):
        ax.bar(places + shift, shares[kind], 0.38, color=TINTS[kind], label=kind)
    ax.set_xticks(places, shares.index)
    ax.set_xlabel("answer")
    ax.set_ylabel("% of the group")
    ax.grid(axis="x", visible=False)
    ax.legend()
    return figure


def draw_words(items: Sequence[Item]) -> Figure:
    """Figure 8's clouds as bars: the words of four letters or more that stand most often."""
    counts = Counter(
        word
        for item in items
        for word in item.counterfactual.lower().replace("?", "").split()
        if len(word) > 3 and word.isalpha()
    )
    words, numbers = zip(*counts.most_common(WORDS), strict=True)
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 2.9))
    ax.barh(range(len(words)), numbers, color="#6b7280")
    ax.set_yticks(range(len(words)), words)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("times in counterfactual questions")
    return figure


def annotation_table(items: Sequence[Item]) -> Table:
    """Figure 2: the annotation chain by rule on the twin's originals, and what was rejected."""
    rows: dict[str, dict] = {}
    for kind in ("direct", "boolean"):
        mine = [item for item in items if item.kind == kind][:ORIGINALS]
        sources = [Source(i.original, i.original_answer) for i in mine]
        found = annotate(RuleAnnotator(), sources, kind)
        example: Annotated | None = found.items[0] if found.items else None
        rows[kind] = {
            "originals": len(sources),
            "accepted": len(found.items),
            "rejected": ", ".join(f"{n} {why}" for why, n in found.reasons().items()) or "none",
            "the first": f"{example.source.question} → {example.question} {example.answer}"
            if example
            else "",
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return plain(frame, name="prose-annotation", caption="The annotation chain, by rule")


def _words(items: Sequence[Item], side: Side) -> str:
    return number(mean_words(items, side)) if items else MISSING


def _gap(items: Sequence[Item], said: Sequence[bool], level: float) -> Interval:
    """The share among indirect items less that among direct ones, pictures resampled."""
    indirect = np.array([item.kind == "indirect" for item in items], dtype=float)
    values = np.array(said, dtype=float)
    if indirect.all() or not indirect.any():
        return NOWHERE
    columns = np.stack([values * indirect, indirect, values * (1 - indirect), 1 - indirect])
    return resample(
        columns, [item.image for item in items],
        lambda sums: sums[0] / sums[1] - sums[2] / sums[3], level=level,
    )  # fmt: skip
