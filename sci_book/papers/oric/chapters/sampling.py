"""Table 7: what guided objects do to recall, beside objects by lot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.oric import scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import SAMPLINGS
from sci_book.papers.oric.chapters.bench import detector_said
from sci_book.papers.oric.chapters.sizes import same_sizes
from sci_book.papers.oric.detectors import NoisySceneGraph
from sci_book.papers.oric.questions import LABELS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, Table, frame_of, interval, number, plain
from sci_book.results.statistics import Interval

RANDOM = SAMPLINGS["random"]
GUIDED = {"yes": "positives only", "no": "negatives only"}
"""The sampling of Table 7 that guides the objects of a label alone."""


def lost(subject: Subject, label: str) -> Interval:
    """recall(random objects) − recall(guided objects) of a label."""
    first, second = (answers.of(subject, halves) for halves in (RANDOM, SAMPLINGS[GUIDED[label]]))
    return answers.difference(f"recall_{label}", first, second)


def sharper(subject: Subject) -> Interval:
    """What recall of no loses by guided absent objects less what recall of yes by present ones."""
    terms = []
    for sign, label in ((1, "no"), (-1, "yes")):
        for side, halves in ((1, RANDOM), (-1, SAMPLINGS[GUIDED[label]])):
            asked = answers.of(subject, halves)
            asked = asked.where(asked.labels == label)
            terms.append((sign * side, asked.counts(), asked.images))
    return answers.combine(terms, answers.accuracy)


def paper_numbers(subjects: Sequence[Subject]) -> dict[tuple[str, str], float]:
    """What guidance costs each model's relative in the paper, by model and part of a claim."""
    numbers = {}
    for subject in subjects:
        for label in LABELS:
            rows = [
                answers.paper_row(subject, "oric_table07", part)
                for part in ("random", GUIDED[label])
            ]
            if all(rows):
                change = rows[0][f"{label} recall"] - rows[1][f"{label} recall"]
                numbers[subject.name, f"recall of {label}"] = change
    return numbers


def equal_sizes(subjects: Sequence[Subject]) -> Table:
    """What is left of the loss on present objects at equal sizes; the pictures differ too."""
    rows = {subject.shown: chapters.row(same_sizes(subject, RANDOM)) for subject in subjects}
    return chapters.levels(
        frame_of(rows), name="equal-sizes", ours=chapters.side(subjects), paper=False,
        caption="Recall of yes, random objects − guided objects, at equal sizes, in points",
    )  # fmt: skip


def table07(subjects: Sequence[Subject], detector: NoisySceneGraph) -> Table:
    """Both recalls by sampling, of the models and of the detector; percent."""
    rows = {}
    for name, halves in SAMPLINGS.items():
        sets = [answers.of(subject, halves) for subject in subjects]
        tables = {asked.subject.shown: (asked, asked.counts()) for asked in sets}
        seen = scores.columns(sets[0].labels, detector_said(sets[0], detector))
        tables["pocket detector"] = sets[0], seen
        for answerer, (asked, table) in tables.items():
            for label in LABELS:
                value = answers.combine(
                    [(1, table, asked.images)], scores.metric(f"recall_{label}")
                ).times(100)
                cell = f"{value.estimate:.1f} {interval(value.low, value.high, 1)}"
                rows.setdefault(f"{answerer}: recall of {label}", {})[name] = cell
    frame = pd.DataFrame.from_dict(rows, orient="index").sort_index()
    caption = f"Recall in percent by sampling, with {INTERVAL}s"
    return plain(frame, name="table07", caption=caption)


def draw(subjects: Sequence[Subject]) -> Figure:
    """Both recalls by lot and guided, a panel a label; the paper's relatives as diamonds."""
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.9), sharey=True)
    for ax, label in zip(axes, LABELS, strict=True):
        kinds = (
            ("random", "objects by lot", "#0072b2"),
            (GUIDED[label], "guided objects", "#dd6b20"),
        )
        for place, (part, objects, colour) in enumerate(kinds):
            for line, subject in enumerate(subjects):
                x = line + 0.3 * (place - 0.5)
                asked = answers.of(subject, SAMPLINGS[part])
                value = answers.value(f"recall_{label}", asked).times(100)
                ax.vlines(x, value.low, value.high, color=colour, linewidth=2.5)
                ax.plot(x, value.estimate, "o", color=colour, markersize=7,
                        label=None if line else objects)  # fmt: skip
                paper = answers.paper_row(subject, "oric_table07", part)
                if paper:
                    ax.plot(
                        x + 0.09, paper[f"{label} recall"], "D", mfc="white", mec=INK,
                        markersize=5, label=None if line or place else "paper’s relative",
                    )  # fmt: skip
        heads = [subject.shown.replace(" ", "\n", 1) for subject in subjects]
        ax.set_xticks(range(len(heads)), heads)
        ax.set_xlim(-0.5, len(subjects) - 0.5)
        ax.grid(axis="x", visible=False)
        ax.set_title("present objects" if label == "yes" else "absent objects")
    axes[0].set_ylabel("recall, %")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def crowding(subjects: Sequence[Subject], things: Mapping[str, Sequence[str]]) -> str:
    """How many kinds and things (by picture) the pictures of present objects show, on average."""
    phrases = []
    for words, halves in (("by lot", RANDOM), ("guided", SAMPLINGS[GUIDED["yes"]])):
        asked = answers.of(subjects[0], halves)
        scenes = [things[name] for name in asked.about["image"][asked.labels == "yes"]]
        kinds, all_ = np.mean([[len(set(scene)), len(scene)] for scene in scenes], axis=0)
        phrases.append(f"{words} {number(kinds, 1)} kinds and {number(all_, 1)} things")
    return f"Pictures of present objects show, on average: {'; '.join(phrases)}."
