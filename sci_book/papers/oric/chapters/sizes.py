"""Table 4 and Figure 10: recall of present objects by their size, on POPE and on ORIC.

The paper's limits are COCO's, of pictures several times as large; on a pocket picture nothing would
be small. The limits here (`scores.SIZE_LIMITS`) are those at which small, medium and
large objects of the pocket world have the shares that Figure 10 gives COCO's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.oric import scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import BENCH, POPE, Asked, Halves
from sci_book.papers.oric.printed import PRINTED
from sci_book.papers.oric.scores import COUNTS, SIZES, Values, size_of
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.tables import Table, plain
from sci_book.results.statistics import NO_DATA, Interval

BOTH = {"POPE": POPE, "ORIC": BENCH}
SIZE_COLOURS = dict(zip(SIZES, ("#93c5fd", "#3b82f6", "#1e40af"), strict=True))
_TP, _POSITIVES = COUNTS.index("tp"), COUNTS.index("positives")


def sized(asked: Asked) -> np.ndarray:
    """The size of every question's object; None for absent objects and where it is not known."""
    return np.array([size_of(area) for area in asked.about["area"]], dtype=object)


def recall(asked: Asked, size: str) -> Interval:
    """Recall of the present objects of one size."""
    return answers.value("recall_yes", asked.where(sized(asked) == size))


def shared(subject: Subject) -> list[str]:
    """The sizes that present objects of both sets have."""
    both = [set(sized(answers.of(subject, halves))) for halves in BOTH.values()]
    return [size for size in SIZES if all(size in sizes for sizes in both)]


def drop(subject: Subject, size: str) -> Interval:
    """Recall on POPE less recall on ORIC, of one size."""
    both = (answers.of(subject, halves) for halves in (POPE, BENCH))
    first, second = (asked.where(sized(asked) == size) for asked in both)
    return answers.difference("recall_yes", first, second)


def largest(asked: Asked) -> str:
    """The largest size that the present objects of a set have; "" where none is known."""
    there = set(sized(asked))
    return next((size for size in reversed(SIZES) if size in there), "")


def gap(asked: Asked) -> Interval:
    """Recall of the largest size there is less recall of small objects."""
    sizes, size = sized(asked), largest(asked)
    if size in ("", SIZES[0]):
        return NO_DATA
    return answers.difference(
        "recall_yes", asked.where(sizes == size), asked.where(sizes == SIZES[0])
    )


def by_size(asked: Asked) -> np.ndarray:
    """Found and all present objects of every size and wording, `[2 · sizes · wordings, rows]`."""
    table, sizes = asked.counts(), sized(asked)
    counts = table.reshape(-1, len(COUNTS), table.shape[1])[:, [_TP, _POSITIVES]]
    return np.concatenate([counts * (sizes == size) for size in SIZES]).reshape(-1, table.shape[1])


def standardised(mix: Mapping[str, float], sums: np.ndarray) -> Values:
    """Recall at a given mix of sizes, of sums of `by_size`; NaN where a size of it has none."""
    counts = sums.reshape(len(SIZES), -1, 2, *sums.shape[1:])
    with np.errstate(invalid="ignore", divide="ignore"):
        recalls = (counts[:, :, 0] / counts[:, :, 1]).mean(axis=1)
    weights = [mix[size] for size in SIZES]
    return sum(w * recall for w, recall in zip(weights, recalls, strict=True) if w)


def mix_of(asked: Asked) -> dict[str, float]:
    """The shares of sizes among the present objects of a set."""
    sizes = sized(asked)
    known = np.array([size is not None for size in sizes])
    return {size: float((sizes == size).sum() / max(known.sum(), 1)) for size in SIZES}


def same_sizes(subject: Subject, other: Halves) -> Interval:
    """Recall on another set less recall on ORIC, the other's sizes weighted as ORIC's are.

    The weights are those of the questions asked, and no part of what varies.
    """
    asked, bench = (_present(subject, halves) for halves in (other, BENCH))
    mix = mix_of(bench)
    return answers.combine(
        [(1, by_size(asked), asked.images), (-1, by_size(bench), bench.images)],
        lambda sums: standardised(mix, sums),
    )  # fmt: skip


def main_source(subject: Subject, other: Halves) -> Interval:
    """How much more of the drop in recall is left at equal sizes than goes with the sizes.

    Twice the drop at ORIC's mix of sizes less the drop as it is: positive where more than half of
    it is left.
    """
    asked, bench = (_present(subject, halves) for halves in (other, BENCH))
    mix, plainly, height = mix_of(bench), scores.metric("recall_yes"), len(by_size(asked))
    terms = [
        (sign, np.concatenate([by_size(side), side.counts()]), side.images)
        for sign, side in ((1, asked), (-1, bench))
    ]
    return answers.combine(
        terms, lambda sums: 2 * standardised(mix, sums[:height]) - plainly(sums[height:])
    )


def paper_numbers(subjects: Sequence[Subject]) -> dict[tuple[str, str], float]:
    """What recall loses by size with each model's relative in the paper, by model and part."""
    tables = {subject.name: _paper(subject) for subject in subjects}
    return {
        (name, lost_part(size)): paper["POPE"][size] - paper["ORIC"][size]
        for name, paper in tables.items() if paper for size in SIZES
    }  # fmt: skip


def lost_part(size: str) -> str:
    """The name of the part of a claim that recall of one size is lower on ORIC."""
    return f"POPE less ORIC, {size}"


def recalls(subject: Subject) -> Table:
    """Table 4's cells and the gap between large and small, beside the paper's relative."""
    paper, rows = _paper(subject), {}
    for name, halves in BOTH.items():
        asked = answers.of(subject, halves)
        for size in SIZES:
            rows[f"{name}: {size}"] = chapters.row(
                recall(asked, size), paper=paper[name][size] if paper else None
            )
        size = largest(asked)
        rows[f"{name}: {size} less small"] = chapters.row(
            gap(asked),
            paper=paper[name][size] - paper[name]["small"] if paper and size else None,
        )
    caption = f"Recall of present objects in percent; {answers.beside(subject, bool(paper))}"
    return answers.levels(subject, rows, name="recalls", caption=caption)


def shares() -> pd.DataFrame:
    """Figure 10: shares of sizes in percent, the paper's sets and the pocket ones."""
    frame = pd.read_csv(answers.QUESTIONS)
    rows = {
        f"paper, {name}": {size: PRINTED.quote(f"share {name} {size}") for size in SIZES}
        for name in ("COCO", "POPE", "ORIC")
    }
    for name, title in (("pope", "POPE"), ("random", "by lot"), ("bench", "ORIC")):
        areas = frame.loc[(frame["set"] == name) & (frame["label"] == "yes"), "area"]
        sizes = pd.Series([size_of(area) for area in areas])
        rows[f"pocket, {title}"] = {size: 100 * float((sizes == size).mean()) for size in SIZES}
    return pd.DataFrame.from_dict(rows, orient="index")


def shares_table(frame: pd.DataFrame) -> Table:
    """`shares` as a table."""
    caption = "Shares of sizes among present objects, in percent"
    return plain(frame, name="shares", caption=caption, decimals=1)


def draw(frame: pd.DataFrame) -> Figure:
    """Figure 10."""
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    left = np.zeros(len(frame))
    for size in SIZES:
        ax.barh(frame.index, frame[size], left=left, color=SIZE_COLOURS[size], label=size)
        left += frame[size].to_numpy()
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("share of present objects, %")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _present(subject: Subject, halves: Halves) -> Asked:
    asked = answers.of(subject, halves)
    return asked.where(asked.labels == "yes")


def _paper(subject: Subject) -> dict[str, dict[str, float]]:
    name = answers.relative(subject)
    if name not in [model for (model,) in PRINTED.distinct("oric_table04", "model")]:
        return {}
    return {
        part: {
            size: PRINTED.number("oric_table04", part=part, model=name, item=size) for size in SIZES
        }
        for part in BOTH
    }
