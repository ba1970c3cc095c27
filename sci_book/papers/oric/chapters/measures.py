"""What ORIC's claims are about, and what they are tested on: a model's answers, or the questions.

Every part has its own interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book.papers.oric.chapters import (
    answers,
    bench,
    context,
    effects,
    encoder,
    rft,
    sampling,
    sizes,
)
from sci_book.papers.oric.chapters.answers import BENCH, SETS
from sci_book.papers.oric.scores import size_of
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Part, Sample
from sci_book.papers.shared.stamp import located

Measure = Callable[..., Sequence[Part | Sample]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One model's records of ORIC and its result of Visual-RFT; either may be missing."""

    subject: Subject | None
    tuned: rft.Result | None = None


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The evidence on each model, from `oric/<name>.parquet` beside its own records, or None.

    A result of Visual-RFT is `rft/<name>.json` in the folder of results.
    """
    by_model = []
    for subject in subjects:
        mine = answers.subjects([subject.name], subject.path.parent).subjects
        tuned = rft.file_of(subject.name, located(results) / "rft") if results else None
        result = rft.read(subject.name, tuned.parent) if tuned and tuned.is_file() else None
        by_model.append(Evidence(mine[0] if mine else None, result) if mine or result else None)
    return by_model


def metric(of: Evidence, metrics: Sequence[str]) -> list[Part]:
    """Metrics of the benchmark."""
    asked = answers.of(of.subject, BENCH)
    return [Part(answers.title(name), partial(answers.value, name, asked)) for name in metrics]


def drop(of: Evidence, metrics: Sequence[str], sets: Sequence[str]) -> list[Part]:
    """Metrics of other sets less those of ORIC."""
    oric = answers.of(of.subject, BENCH)
    asked = {name: answers.of(of.subject, SETS[name]) for name in sets}
    return [
        Part(f"{answers.title(name)}, {other} less ORIC",
             partial(answers.difference, name, asked[other], oric))
        for other in sets for name in metrics
    ]  # fmt: skip


def caution(of: Evidence) -> list[Part]:
    """Recall of no less recall of yes, on ORIC."""
    return [Part(bench.CAUTION, partial(bench.caution, answers.of(of.subject, BENCH)))]


def pair_level(of: Evidence) -> list[Part]:
    """Macro F1 on POPE's objects of the pairs of Table 1."""
    usual, _ = context.matched(of.subject)
    return [Part("pairs, POPE", partial(answers.value, "f1", usual))]


def pair_drop(of: Evidence) -> list[Part]:
    """Macro F1 lost from POPE's objects to ORIC's in the pairs of Table 1."""
    return [Part("pairs", partial(context.dramatic, of.subject))]


def size_drop(of: Evidence, of_sizes: Sequence[str]) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, by size; sizes that either lacks are left out."""
    return [
        Part(sizes.lost_part(size), partial(sizes.drop, of.subject, size))
        for size in of_sizes if size in sizes.shared(of.subject)
    ]  # fmt: skip


def size_gap(of: Evidence, sets: Sequence[str]) -> list[Part]:
    """Recall of the largest size that a set has less recall of small objects."""
    asked = {name: answers.of(of.subject, SETS[name]) for name in sets}
    return [
        Part(f"{sizes.largest(questions)} less small, {name}", partial(sizes.gap, questions))
        for name, questions in asked.items()
    ]


def at_equal_sizes(of: Evidence) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, POPE's sizes weighted as ORIC's are."""
    return [Part("at ORIC’s sizes", partial(sizes.same_sizes, of.subject, SETS["POPE"]))]


def main_source(of: Evidence) -> list[Part]:
    """The drop of recall of yes from POPE, and twice that at ORIC's sizes less it."""
    first, second = (answers.of(of.subject, SETS[name]) for name in ("POPE", "ORIC"))
    return [
        Part("the drop", partial(answers.difference, "recall_yes", first, second)),
        Part(
            "left at equal sizes less gone with the sizes",
            partial(sizes.main_source, of.subject, SETS["POPE"]),
        ),
    ]


def guided_loss(of: Evidence, labels: Sequence[str]) -> list[Part]:
    """recall(random objects) − recall(guided objects), for each label."""
    return [
        Part(f"recall of {label}", partial(sampling.lost, of.subject, label)) for label in labels
    ]


def sharper(of: Evidence) -> list[Part]:
    """The guided loss of recall of no less that of recall of yes."""
    return [Part("loss of no less loss of yes", partial(sampling.sharper, of.subject))]


def fit(of: Evidence, encoders: Sequence[str], label: str) -> list[Sample]:
    """`encoder.contrast` of cosines, by encoder; of no model."""
    return [encoder.contrast(name, label) for name in encoders]


def nearer(of: Evidence, encoders: Sequence[str]) -> list[Part]:
    """Least distance of POPE less that of ORIC, over objects; of no model."""
    return [Part(f"{name}, least distance", partial(encoder.closer, name)) for name in encoders]


def large_share(of: Evidence) -> list[Sample]:
    """Share of large objects among POPE's present ones less that among ORIC's; of no model."""
    frame = pd.read_csv(answers.QUESTIONS)
    frame = frame[frame["label"] == "yes"]
    large = np.array([size_of(area) == "large" for area in frame["area"]], float)
    images = frame["image"].to_numpy(dtype=object)
    pope, oric = ((frame["set"] == name).to_numpy() for name in ("pope", "bench"))
    return [Sample("large, POPE less ORIC", large[pope], images[pope], (large[oric], images[oric]))]


def fine_tuned(of: Evidence, asked: str) -> list[Part]:
    """Macro F1 after Visual-RFT less that of its comparisons; none without such a run."""
    return [
        Part(rft.gain_part(other), partial(rft.difference, of.tuned, asked, "rft", other))
        for other in rft.COMPARISONS if of.tuned
    ]  # fmt: skip


def gain(of: Evidence, method: str, metrics: Sequence[str]) -> list[Part]:
    """A method's metric less the base's, by the names of `effects.METRICS`."""
    asked = answers.of(of.subject, BENCH)
    return [
        Part(f"{method}: {name}", partial(effects.gain, asked, method, effects.METRICS[name]))
        for name in metrics
    ]


def _of_records(measure: Measure) -> Measure:
    """The measure, without parts where a model has no records."""

    def parts(of: Evidence, **arguments: Any) -> Sequence[Part | Sample]:
        return measure(of, **arguments) if of.subject else []

    return parts


MEASURES: dict[str, Measure] = {"fine_tuned": fine_tuned} | {
    measure.__name__: _of_records(measure)
    for measure in (
        metric, drop, caution, pair_level, pair_drop, size_drop, size_gap,
        at_equal_sizes, main_source, guided_loss, sharper, fit, nearer, large_share, gain,
    )
}  # fmt: skip
