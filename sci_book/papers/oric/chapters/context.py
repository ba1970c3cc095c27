"""Tables 1 and 8: the same pictures asked about usual objects, by POPE, and about ORIC's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import BENCH, POPE, SETS, Asked
from sci_book.papers.oric.printed import PRINTED
from sci_book.papers.oric.questions import LABELS
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, frame_of, number
from sci_book.results.statistics import Interval

COLUMNS = ("precision", "recall", "f1", "yes_proportion")
SET_COLOURS = {"POPE": "#0072b2", "POPE, adversarial": "#009e73", "ORIC": "#dd6b20"}


def table08(subject: Subject) -> Table:
    """A row a set and metric, beside the paper's relative."""
    rows = {}
    for set_name, halves in SETS.items():
        asked = answers.of(subject, halves)
        paper = answers.paper_row(subject, "oric_table08", set_name)
        rows |= answers.rows(asked, COLUMNS, paper, f"{set_name}: ")
    caption = f"POPE and ORIC in percent; {answers.beside(subject)}"
    return answers.levels(subject, rows, name="table08", caption=caption)


def paper_numbers(subjects: Sequence[Subject]) -> dict[tuple[str, str], float]:
    """What macro F1 loses with each model's relative in the paper, by model and part of a claim."""
    parts = {
        f"{answers.title('f1')}, POPE less ORIC": ("oric_table08", "POPE", "ORIC"),
        "pairs": ("oric_table01", "POPE", "incongruous"),
    }
    numbers = {}
    for subject in subjects:
        for part, (table, *sets) in parts.items():
            rows = [answers.paper_row(subject, table, where) for where in sets]
            if all(rows):
                numbers[subject.name, part] = rows[0]["overall f1"] - rows[1]["overall f1"]
    return numbers


def matched(subject: Subject) -> tuple[Asked, Asked]:
    """Table 1's pairs: on one picture, with one label, an object of POPE's and one of ORIC's.

    Of each picture and label the first object that is in the one set alone, where both have one.
    """
    sides = answers.of(subject, POPE), answers.of(subject, BENCH)
    frames = [
        side.about[["image", "object"]].assign(label=side.labels, place=np.arange(len(side)))
        for side in sides
    ]
    keys = [pd.MultiIndex.from_frame(frame.drop(columns="place")) for frame in frames]
    alone = [
        frame[~mine.isin(other)].drop_duplicates(["image", "label"])
        for frame, mine, other in zip(frames, keys, reversed(keys), strict=True)
    ]
    both = alone[0].merge(alone[1], on=["image", "label"], suffixes=("", " two"))
    return (
        Asked(subject, sides[0].rows[:, both["place"]]),
        Asked(subject, sides[1].rows[:, both["place two"]]),
    )


def table01(subject: Subject) -> Table:
    """Macro values of both sides of the pairs beside the paper's relative."""
    usual, odd = matched(subject)
    rows, known = {}, False
    for part, asked in (("POPE", usual), ("incongruous", odd)):
        paper = answers.paper_row(subject, "oric_table01", part)
        known = known or bool(paper)
        rows |= answers.rows(asked, ("precision", "recall", "f1"), paper, f"{part}: ")
    counts = ", ".join(f"{int((odd.labels == label).sum())} {label}" for label in LABELS)
    caption = f"Pairs on the same pictures ({counts}), in percent; {answers.beside(subject, known)}"
    return answers.levels(subject, rows, name="table01", caption=caption)


def dramatic(subject: Subject) -> Interval:
    """What macro F1 loses from POPE's object to ORIC's on the same pictures."""
    return answers.difference("f1", *matched(subject))


def by_label(subjects: Sequence[Subject]) -> Table:
    """Recall lost from POPE to ORIC by label: which of the two errors grows."""
    rows = {}
    for subject in subjects:
        usual, odd = (answers.of(subject, halves) for halves in (POPE, BENCH))
        for label in LABELS:
            lost = answers.difference(f"recall_{label}", usual, odd)
            objects = "present objects" if label == "yes" else "absent objects"
            rows[f"{subject.shown}: {objects}"] = chapters.row(lost)
    caption, ours = "Recall on POPE less recall on ORIC, in points", chapters.side(subjects)
    return chapters.levels(frame_of(rows), name="by-label", caption=caption, ours=ours, paper=False)


def fallen(subjects: Sequence[Subject]) -> Table:
    """Questions of the pairs by whether a model was right on POPE's object and on ORIC's."""
    rows = {}
    for subject in subjects:
        pair = matched(subject)
        usual, odd = ((asked.said() == asked.labels).mean(axis=0) >= 0.5 for asked in pair)
        for label in LABELS:
            mine = pair[0].labels == label
            rows[f"{subject.shown}: {label}"] = {
                "right on both": int((usual & odd & mine).sum()),
                "POPE’s alone": int((usual & ~odd & mine).sum()),
                "ORIC’s alone": int((~usual & odd & mine).sum()),
                "neither": int((~usual & ~odd & mine).sum()),
            }
    caption = "Pairs; right in half of the wordings or more"
    return table_of(rows, name="fallen", caption=caption)


def examples(subject: Subject) -> pd.DataFrame:
    """Figures 1 and 2: pairs where a model is right on POPE's object and wrong on ORIC's.

    In every wording; of each label the first so many. Columns `image, label, usual, odd`.
    """
    usual, odd = matched(subject)
    right, wrong = (usual.said() == usual.labels).all(axis=0), odd.said() != odd.labels
    about = usual.about.reset_index(drop=True)
    frame = pd.DataFrame(
        {
            "image": about["image"], "label": usual.labels, "usual": about["object"],
            "odd": odd.about["object"].to_numpy(),
        }
    )[right & wrong.all(axis=0)]  # fmt: skip
    return frame.groupby("label", sort=False).head(2).reset_index(drop=True)


def gallery(frame: pd.DataFrame, folder: Path) -> figures.Pictures:
    """The pictures of `examples` with what was found or denied, and what was missed or invented."""
    words = {"yes": "{} found,\n{} missed", "no": "{} denied,\n{} invented"}
    return figures.pictures(
        [Image.open(folder / name) for name in frame["image"]],
        [words[row.label].format(row.usual, row.odd) for row in frame.itertuples()],
    )


def draw(subjects: Sequence[Subject]) -> Figure:
    """Macro F1 by set and model, with intervals; the paper's relatives as diamonds."""
    figure, ax = plt.subplots(figsize=(WIDTH, 3.2))
    for place, (set_name, halves) in enumerate(SETS.items()):
        for line, subject in enumerate(subjects):
            value = answers.value("f1", answers.of(subject, halves)).times(100)
            x = line + 0.22 * (place - 1)
            colour = SET_COLOURS[set_name]
            ax.vlines(x, value.low, value.high, color=colour, linewidth=2.5)
            label = None if line else set_name
            ax.plot(x, value.estimate, "o", color=colour, markersize=7, label=label)
            if paper := answers.paper_row(subject, "oric_table08", set_name):
                ax.plot(
                    x + 0.07, paper["overall f1"], "D", mfc="white", mec=INK, markersize=5,
                    label=None if line or place else "paper’s relative",
                )  # fmt: skip
    ax.set_xticks(range(len(subjects)), [subject.shown for subject in subjects])
    ax.set_xlim(-0.5, len(subjects) - 0.5)
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("macro F1, %")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def paper_drops() -> str:
    """How many of the paper's models lose macro F1 from POPE to ORIC, from its Table 8."""
    f1 = partial(PRINTED.number, "oric_table08", label="overall", metric="f1")
    models = [name for (name,) in PRINTED.distinct("oric_table08", "model", part="ORIC")]
    lost = [f1(part="POPE", model=model) - f1(part="ORIC", model=model) for model in models]
    falling = sum(value > 0 for value in lost)
    return (
        f"In the paper's Table 8, {falling} of {len(lost)} rows lose macro F1; the median over all "
        f"is a loss of {number(float(np.median(lost)))} points."
    )
