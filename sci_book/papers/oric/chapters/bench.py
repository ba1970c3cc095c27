"""Tables 3 and 10: the benchmark, its wordings, and a detector beside the models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from sci_book.papers.oric import scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import BENCH, POPE, Asked
from sci_book.papers.oric.detectors import THRESHOLD, NoisySceneGraph
from sci_book.papers.oric.printed import PRINTED, printed_row
from sci_book.papers.oric.questions import WORDINGS
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import INTERVAL, Table, interval
from sci_book.results.statistics import Interval

CAUTION = "recall of no less yes"
COLOURS = ("#0072b2", "#dd6b20", "#6b21a8", "#009e73")


def table(subject: Subject) -> Table:
    """A row a metric beside the paper's relative."""
    paper = answers.paper_row(subject, "oric_table10")
    rows = answers.rows(answers.of(subject, BENCH), scores.METRICS, paper)
    caption = f"The benchmark in percent; {answers.beside(subject)}"
    return answers.levels(subject, rows, name="bench", caption=caption)


def paper_numbers(subjects: Sequence[Subject]) -> dict[tuple[str, str], float]:
    """What the paper prints of each model's relative, by model and part of the claim."""
    numbers = {}
    for subject in subjects:
        paper = answers.paper_row(subject, "oric_table10")
        if paper:
            numbers[subject.name, answers.title("f1")] = paper["overall f1"]
            numbers[subject.name, CAUTION] = paper["no recall"] - paper["yes recall"]
    return numbers


def elsewhere(subjects: Sequence[Subject]) -> Table:
    """The claim's two quantities on POPE's questions; no verdict."""
    rows = {}
    for subject in subjects:
        asked = answers.of(subject, POPE)
        f1 = answers.value("f1", asked)
        for name, value in (("macro F1", f1), (CAUTION, caution(asked))):
            estimate, low, high, *_ = value.times(100)
            rows[f"{subject.shown}: {name}"] = {
                "POPE": estimate,
                INTERVAL: interval(low, high),
            }
    caption = "POPE’s random questions, percent and points"
    return table_of(rows, name="elsewhere", caption=caption)


def caution(asked: Asked) -> Interval:
    """Recall of no less recall of yes."""
    yes, no = scores.metric("recall_yes"), scores.metric("recall_no")
    return answers.combine([(1, asked.counts(), asked.images)], lambda sums: no(sums) - yes(sums))


def wordings(subjects: Sequence[Subject]) -> Table:
    """Macro F1, both recalls and unknown answers by wording."""
    rows = {}
    for subject in subjects:
        asked = answers.of(subject, BENCH)
        for wording, said in zip(WORDINGS, asked.said(), strict=True):
            sums = scores.columns(asked.labels, said[None]).sum(axis=1)
            rows[f"{subject.shown}: {wording.format(object='…')}"] = {
                **{
                    answers.title(name): float(100 * scores.metric(name)(sums))
                    for name in ("f1", "recall_yes", "recall_no", "yes_proportion")
                },
                "unknown": int((said == "unknown").sum()),
                "failed": int((said == "failed").sum()),
            }
    caption = "By wording, in percent; unknown and failed answers are counts"
    return table_of(rows, name="wordings", caption=caption)


def detector_said(asked: Asked, detector: NoisySceneGraph) -> np.ndarray:
    """A detector's answers to the same questions, of its one prompt, `[1, questions]`."""
    about = asked.about
    said = [
        "yes" if detector.scores(Path(image), [target])[0] >= THRESHOLD else "no"
        for image, target in zip(about["image"], about["object"], strict=True)
    ]
    return np.array([said], dtype=object)


def detector_table(subjects: Sequence[Subject], detector: NoisySceneGraph) -> Table:
    """The detector's row beside the paper's two; its misses and inventions are chance."""
    asked = answers.of(subjects[0], BENCH)
    counts = scores.columns(asked.labels, detector_said(asked, detector))
    rows = {}
    for name in scores.METRICS:
        ours = answers.combine([(1, counts, asked.images)], scores.metric(name)).times(100)
        rows[answers.title(name)] = {
            **{
                model: printed_row("oric_table10", model)[answers.paper_key(name)]
                for part, model in PRINTED.distinct("oric_table10", "part", "model")
                if part.startswith("Open-vocabulary")
            },
            "pocket detector": ours.estimate,
            INTERVAL: interval(ours.low, ours.high),
        }
    caption = f"Detectors in percent: the paper’s two, and the pocket world’s {detector.name}"
    return table_of(rows, name="detectors", caption=caption)


def draw(subjects: Sequence[Subject]) -> Figure:
    """Recall of yes against recall of no: the paper's rows in grey, ours with intervals."""
    figure, ax = plt.subplots(figsize=(WIDTH, 4.0))
    models = PRINTED.distinct("oric_table10", "model")
    rows = [printed_row("oric_table10", model) for (model,) in models]
    ax.plot(
        [row["yes recall"] for row in rows], [row["no recall"] for row in rows], "o",
        color="#9ca3af", markersize=5, label=f"the paper’s {len(rows)} rows",
    )  # fmt: skip
    for place, subject in enumerate(subjects):
        asked, colour = answers.of(subject, BENCH), COLOURS[place % len(COLOURS)]
        yes, no = (answers.value(name, asked).times(100) for name in ("recall_yes", "recall_no"))
        ax.hlines(no.estimate, yes.low, yes.high, color=colour)
        ax.vlines(yes.estimate, no.low, no.high, color=colour)
        ax.plot(yes.estimate, no.estimate, "o", color=colour, markersize=7, label=subject.shown)
    ax.axline((0, 0), (100, 100), color="#d1d5db", linewidth=1)
    ax.set_xlim(-3, 103)
    ax.set_ylim(-3, 103)
    ax.set_xlabel("present objects found (recall of yes), %")
    ax.set_ylabel("absent objects denied\n(recall of no), %")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
