"""Figures 2, 3 and 8: what the questions are like, in the paper's set and in the pocket twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.data.datasets import read_manifest
from sci_book.papers.cvqa.annotation import RuleAnnotator, Source, annotate
from sci_book.papers.cvqa.chapters.pairs import questions_file, questions_of
from sci_book.papers.cvqa.questions import REAL, Item, Side
from sci_book.papers.cvqa.scores import answer_shares, mean_words, type_token_ratio
from sci_book.papers.shared import figures
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, number
from sci_book.results.statistics import Sample

WORDS = 15  # bars of Figure 8
ORIGINALS = 200  # of a type, that go through the annotation chain
SMALL = ("0", "1", "2")  # "The share of 0, 1, and 2 in the indirect group are higher"
OTHERS = "share of 3 and more, direct less indirect"
TINTS = {"direct": "#0072b2", "indirect": "#dd6b20"}


def questions(name: str) -> list[Item] | None:
    """The items of a data set; None where its file is not at hand."""
    loaded = questions_of(name)
    return None if loaded is None else loaded.items


def rows_read(name: str) -> str:
    """How many rows of a data set were read, and how many were left out and why, in a sentence."""
    loaded = questions_of(name)
    if loaded is None:
        return f"{name} was not read; `sci data check {name}` says why."
    left = ", ".join(f"{count:,} × {why}" for why, count in loaded.left_out.items())
    title, count = read_manifest(name).title or name, len(loaded.items)
    return f"Rows read of “{title}” (`{name}`): {count:,}; left out: {left or 'none'}."


@dataclass(frozen=True)
class Asked:
    """A file of questions, which the ledger tests as it does a model."""

    name: str
    path: Path
    items: list[Item]
    shown = "the questions"


def asked(name: str) -> list[Asked]:
    """The questions of a data set for the ledger; empty where its file is not at hand."""
    items = questions(name)
    return [Asked(name, questions_file(name), items)] if items else []


def gaps(items: Sequence[Item]) -> list[Sample]:
    """The share of an answer among indirect items less that among direct ones (Figure 3).

    Of 0, 1 and 2 each; of all other numbers together direct less indirect.
    """
    numerical = [item for item in items if item.form == "number"]
    parts = [_gap(of_small(n), numerical, lambda answer, n=n: answer == n) for n in SMALL]
    return [*parts, _gap(OTHERS, numerical, lambda answer: answer not in SMALL, "direct")]


def of_small(answer: str) -> str:
    """The name of a claim's part about 0, 1 or 2."""
    return f"share of {answer}, indirect less direct"


def _gap(
    what: str, items: Sequence[Item], among: Callable[[str], bool], first: str = "indirect"
) -> Sample:
    values = np.array([among(item.counterfactual_answer) for item in items], dtype=float)
    pictures = np.array([item.image for item in items], dtype=object)
    mine = np.array([item.kind == first for item in items], dtype=bool)
    return Sample(what, values[mine], pictures[mine], (values[~mine], pictures[~mine]))


def public_gaps() -> dict[str, float]:
    """The same of the public file's questions, in points, from its shares (`cvqa_fig03.csv`).

    The paper draws them without numbers.
    """
    shares = _public_shares()
    difference = (shares["indirect"] - shares["direct"]).loc[list(SMALL)]
    return {**difference.rename(of_small), OTHERS: difference.sum()}


def printed() -> pd.Series:
    """The numbers printed with Figure 8 and in section 3.4, as text by what they are of."""
    return pd.read_csv(PAPER / "cvqa_quotes.csv", dtype=str).set_index("id")["printed"]


def statistics_table(items: Sequence[Item], puzzles: Sequence[Item], ours: str) -> Table:
    """Section 3.4 and Figure 8 beside the twin's: sizes, lengths, shares, type-token ratio."""
    paper = printed()
    counts = Counter(item.kind for item in items)
    booleans = [item.counterfactual_answer for item in items if item.kind == "boolean"]
    rows = {
        "questions": ("questions", f"{len(items):,}"),
        **{
            f"{kind}, % of questions": (f"share {kind}", number(100 * counts[kind] / len(items), 1))
            for kind in REAL
        },
        "words per original question": ("words original", _words(items, "original")),
        "words per counterfactual one": ("words counterfactual", _words(items, "counterfactual")),
        "words per original puzzle": ("words synthetic original", _words(puzzles, "original")),
        "words per counterfactual one of these": (
            "words synthetic counterfactual",
            _words(puzzles, "counterfactual"),
        ),
        "“no” among counterfactual booleans, %": (
            "share no",
            number(100 * booleans.count("no") / max(len(booleans), 1)),
        ),
        "type-token ratio, counterfactual": (
            "type-token ratio",
            number(type_token_ratio(items, "counterfactual"), 4),
        ),
        # These need a tagger of parts of speech.
        **{name: (name, MISSING) for name in paper.index if "-token ratio by" in name},
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["paper", ours])
    frame["paper"] = frame["paper"].map(paper)
    return Table("statistics", frame, "Statistics of the questions")


def draw_shares(items: Sequence[Item]) -> Figure:
    """Figure 3: the counterfactual answers of both numerical groups, in percent of each.

    Diamonds are the public file's, of the answers that the items have.
    """
    shares = answer_shares([i for i in items if i.form == "number"], "counterfactual")
    public = _public_shares()
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 2.9))
    places = np.arange(len(shares))
    for shift, kind in ((-0.2, "direct"), (0.2, "indirect")):
        ax.bar(places + shift, shares[kind], 0.38, color=TINTS[kind], label=kind)
        ax.plot(places + shift, public[kind].reindex(shares.index), "D", mfc="white",
                mec=INK, markersize=5, label="the public file’s")  # fmt: skip
    ax.set_xticks(places, shares.index)
    ax.set_xlabel("answer")
    ax.set_ylabel("% of the group")
    ax.grid(axis="x", visible=False)
    handles, labels = ax.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    ax.legend(named.values(), named.keys())
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
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 4.2))
    ax.barh(range(len(words)), numbers, color="#6b7280")
    ax.set_yticks(range(len(words)), words)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("times in counterfactual questions")
    return figure


def annotation_table(items: Sequence[Item]) -> Table:
    """Figure 2: the annotation chain by rule on the twin's originals, and what was rejected."""
    rows = {}
    for kind in ("direct", "boolean"):
        mine = [item for item in items if item.kind == kind][:ORIGINALS]
        sources = [Source(i.original, i.original_answer) for i in mine]
        accepted, rejected = annotate(RuleAnnotator(), sources, kind)
        rows[kind] = {
            "originals": len(sources),
            "accepted": len(accepted),
            "rejected": ", ".join(f"{n} {why}" for why, n in rejected.items()) or "none",
            "the first": "".join(
                f"{item.source.question} → {item.question} {item.answer}" for item in accepted[:1]
            ),
        }
    return table_of(rows, name="prose-annotation", caption="The annotation chain, by rule")


def _words(items: Sequence[Item], side: Side) -> str:
    return number(mean_words(items, side)) if items else MISSING


def _public_shares() -> pd.DataFrame:
    """Percent of each answer by type in the public file's counterfactual questions."""
    return pd.read_csv(PAPER / "cvqa_fig03.csv", dtype={"answer": str}).set_index("answer")
