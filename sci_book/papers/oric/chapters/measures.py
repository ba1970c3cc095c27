"""What ORIC's claims are about, and what they are tested on: a model's answers, or the questions.

Every part has its own interval. The sizes are those of `scores.SIZE_LIMITS`. Two encoders look at
the questions, as Table 6 has three: the pocket CLIP that chose the guided absent objects, and the
scene graph's vectors, which chose nothing and know nothing but the world's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book import resources
from sci_book.papers.oric import detectors, scores
from sci_book.papers.oric.analysis import minimum_distances, question_scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import (
    ADVERSARIAL,
    BENCH,
    POPE,
    SAMPLINGS,
    SETS,
    Asked,
    Halves,
    Term,
    term,
)
from sci_book.papers.oric.construct import DESCRIPTION
from sci_book.papers.oric.detectors import NoisySceneGraph
from sci_book.papers.oric.encoder import ClipEncoder, Encoder, Stored
from sci_book.papers.oric.paper import DATA, QUESTIONS
from sci_book.papers.oric.questions import LABELS, Question, wordings
from sci_book.papers.oric.rft import result
from sci_book.papers.oric.scores import SIZES, Values, size_of
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Part, Sample
from sci_book.papers.shared.stamp import located
from sci_book.results.statistics import NO_DATA, Interval

Measure = Callable[..., Sequence[Part | Sample]]
CHECKPOINT = resources.CHECKPOINTS / "pocket-clip"
NEUTRAL = "scene graph"
"""The encoder that chose nothing."""
ENCODED = {"POPE": POPE, "POPE, adversarial": ADVERSARIAL, "by lot": SAMPLINGS["random"],
           "ORIC": BENCH}  # fmt: skip
"""The sets that an encoder looks at."""
GUIDED = {"yes": "positives only", "no": "negatives only"}
"""The sampling of Table 7 that guides the objects of a label alone."""
GAINS = {"macro F1": "f1", "present found": "recall_yes", "absent denied": "recall_no"}
"""What a method may gain, by the names of claims."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One model's records of ORIC and its result of Visual-RFT; either may be missing."""

    subject: Subject | None
    tuned: result.Result | None = None


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The evidence on each model, from `oric/<name>.parquet` beside its own records, or None.

    A result of Visual-RFT is `rft/<name>.json` in the folder of results.
    """
    by_model = []
    for subject in subjects:
        mine = answers.subjects([subject.name], subject.path.parent).subjects
        tuned = result.file_of(subject.name, located(results) / "rft") if results else None
        there = result.read(subject.name, tuned.parent) if tuned and tuned.is_file() else None
        by_model.append(Evidence(mine[0] if mine else None, there) if mine or there else None)
    return by_model


def caution(asked: Asked) -> Interval:
    """Recall of no less recall of yes."""
    yes, no = scores.metric("recall_yes"), scores.metric("recall_no")
    return answers.combine(Term(1, asked.counts(), asked.images, lambda s: no(s) - yes(s)))


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


def sized(asked: Asked) -> np.ndarray:
    """The size of every question's object; None for absent objects and where it is not known."""
    return np.array([size_of(area) for area in asked.about["area"]], dtype=object)


def of_size(asked: Asked, size: str) -> Asked:
    """The present objects of one size."""
    return asked.where(sized(asked) == size)


def largest(asked: Asked) -> str:
    """The largest size that the present objects of a set have; "" where none is known."""
    there = set(sized(asked))
    return next((size for size in reversed(SIZES) if size in there), "")


def size_step(asked: Asked) -> Interval:
    """Recall of the largest size there is less recall of small objects."""
    size = largest(asked)
    if size in ("", SIZES[0]):
        return NO_DATA
    return answers.difference("recall_yes", of_size(asked, size), of_size(asked, SIZES[0]))


def same_sizes(subject: Subject, other: Halves) -> Interval:
    """Recall on another set less recall on ORIC, the other's sizes weighted as ORIC's are.

    The weights are those of the questions asked, and no part of what varies.
    """
    asked, bench = _present(subject, other), _present(subject, BENCH)
    at_mix = _at_mix_of(bench)
    return answers.combine(
        Term(1, _by_size(asked), asked.images, at_mix),
        Term(-1, _by_size(bench), bench.images, at_mix),
    )


@cache
def questions(halves: Halves) -> tuple[Question, ...]:
    """The frozen questions of a set."""
    frame = pd.read_csv(QUESTIONS)
    return tuple(
        Question(row.image, row.object, label, wordings(row.object))
        for label, name in zip(LABELS, halves, strict=True)
        for row in frame[(frame["set"] == name) & (frame["label"] == label)].itertuples()
    )


def detected(name: str, halves: Halves) -> Interval:
    """A metric of the pocket world's detector, which has one prompt, on the frozen questions."""
    asked, graph = questions(halves), NoisySceneGraph.of_file(DATA / "scenes_val.jsonl")
    counts = scores.columns([q.label for q in asked], [detectors.answers(graph, asked, DATA)])
    images = np.array([q.image for q in asked], dtype=object)
    return answers.combine(Term(1, counts, images, scores.metric(name)))


@cache
def encoders() -> dict[str, Encoder]:
    """The encoders by name; the pictures of `oric.paper.draw` have to be there.

    The sets share pictures and objects, so the pocket CLIP reads each of them once.
    """
    asked = [question for halves in ENCODED.values() for question in questions(halves)]
    names = sorted({question.image for question in asked})
    texts = sorted({DESCRIPTION.format(object=question.target) for question in asked})
    clip = ClipEncoder(CHECKPOINT)
    seen = clip.images([DATA / "images" / name for name in names])
    pictures = dict(zip(names, seen, strict=True))
    described = dict(zip(texts, clip.texts(texts), strict=True))
    return {
        "pocket CLIP": Stored(pictures, described),
        NEUTRAL: Stored.load(DATA / "vectors_val.safetensors"),
    }


@cache
def clip_scores() -> pd.DataFrame:
    """Equation (1) of every question in the eyes of each encoder, a cosine: `score`.

    Beside it `encoder`, `set`, `label` and `image`.
    """
    return pd.concat(
        pd.DataFrame(
            {
                "encoder": name, "set": set_name,
                "label": [q.label for q in questions(halves)],
                "image": [q.image for q in questions(halves)],
                "score": question_scores(questions(halves), encoder, DATA / "images") / 100,
            }
        )
        for name, encoder in encoders().items() for set_name, halves in ENCODED.items()
    )  # fmt: skip


@cache
def distances(name: str) -> dict[str, pd.DataFrame]:
    """Equation (7) in the eyes of an encoder, by object and set."""
    return {
        set_name: minimum_distances(questions(halves), encoders()[name], DATA / "images")
        for set_name, halves in ENCODED.items()
    }


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


def cautious(of: Evidence) -> list[Part]:
    """Recall of no less recall of yes, on ORIC."""
    return [Part("recall of no less yes", partial(caution, answers.of(of.subject, BENCH)))]


def pair_level(of: Evidence) -> list[Part]:
    """Macro F1 on POPE's objects of the pairs of Table 1."""
    usual, _ = matched(of.subject)
    return [Part("pairs, POPE", partial(answers.value, "f1", usual))]


def pair_drop(of: Evidence) -> list[Part]:
    """Macro F1 lost from POPE's objects to ORIC's in the pairs of Table 1."""
    return [Part("pairs", partial(answers.difference, "f1", *matched(of.subject)))]


def size_drop(of: Evidence, of_sizes: Sequence[str]) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, by size; sizes that either lacks are left out."""
    sets = [answers.of(of.subject, halves) for halves in (POPE, BENCH)]
    return [
        Part(f"POPE less ORIC, {size}", partial(answers.difference, "recall_yes", *both))
        for size in of_sizes
        if all(map(len, both := [of_size(asked, size) for asked in sets]))
    ]


def size_gap(of: Evidence, sets: Sequence[str]) -> list[Part]:
    """Recall of the largest size that a set has less recall of small objects."""
    asked = {name: answers.of(of.subject, SETS[name]) for name in sets}
    return [
        Part(f"{largest(mine)} less small, {name}", partial(size_step, mine))
        for name, mine in asked.items()
    ]


def at_equal_sizes(of: Evidence) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, POPE's sizes weighted as ORIC's are."""
    return [Part("at ORIC’s sizes", partial(same_sizes, of.subject, POPE))]


def main_source(of: Evidence) -> list[Part]:
    """The drop of recall of yes from POPE, and twice that at ORIC's sizes less it.

    The second is positive where more than half of the drop is left at equal sizes.
    """
    sets = [_present(of.subject, halves) for halves in (POPE, BENCH)]
    at_mix, plainly = _at_mix_of(sets[1]), scores.metric("recall_yes")

    def left_less_gone(sums: np.ndarray) -> Values:
        sizes, whole = np.split(sums, [len(sums) - len(sums) // (len(SIZES) + 1)])
        return 2 * at_mix(sizes) - plainly(whole)

    terms = [
        Term(sign, np.concatenate([_by_size(side), side.counts()]), side.images, left_less_gone)
        for sign, side in zip((1, -1), sets, strict=True)
    ]
    return [
        Part("the drop", partial(answers.difference, "recall_yes", *sets)),
        Part("left at equal sizes less gone with the sizes", partial(answers.combine, *terms)),
    ]


def guided_loss(of: Evidence, labels: Sequence[str]) -> list[Part]:
    """recall(random objects) − recall(guided objects), for each label."""
    return [
        Part(f"recall of {label}", partial(answers.combine, *_lost(of.subject, label)))
        for label in labels
    ]


def sharper(of: Evidence) -> list[Part]:
    """The guided loss of recall of no less that of recall of yes."""
    both = [*_lost(of.subject, "no"), *_lost(of.subject, "yes", -1)]
    terms = [recall._replace(value=_right) for recall in both]  # one statistic, whatever the label
    return [Part("loss of no less loss of yes", partial(answers.combine, *terms))]


def fit(of: Evidence, encoders: Sequence[str], label: str) -> list[Sample]:
    """POPE's cosines less ORIC's for "yes", ORIC's less POPE's for "no"; of no model.

    On the same pictures; either way positive where ORIC's objects go less well with the answer.
    """
    samples = []
    for name in encoders:
        frame = clip_scores().query("encoder == @name and label == @label").groupby("set")
        pope, oric = (
            (side["score"].to_numpy(), side["image"].to_numpy(dtype=object))
            for side in map(frame.get_group, ("POPE", "ORIC"))
        )
        first, second = (pope, oric) if label == "yes" else (oric, pope)
        samples.append(Sample(f"{name}, {label}", *first, minus=second))
    return samples


def nearer(of: Evidence, encoders: Sequence[str]) -> list[Sample]:
    """Least distance of POPE less that of ORIC, object by object; of no model."""
    samples = []
    for name in encoders:
        pope, oric = (distances(name)[set_name] for set_name in ("POPE", "ORIC"))
        both = pope.merge(oric, on="object", suffixes=("", " two"))
        gaps = (both["distance"] - both["distance two"]).to_numpy()
        objects = both["object"].to_numpy(dtype=object)
        samples.append(Sample(f"{name}, least distance", gaps, objects))
    return samples


def large_share(of: Evidence) -> list[Sample]:
    """Share of large objects among POPE's present ones less that among ORIC's; of no model."""
    frame = pd.read_csv(QUESTIONS)
    frame = frame[frame["label"] == "yes"]
    large = np.array([size_of(area) == "large" for area in frame["area"]], float)
    images = frame["image"].to_numpy(dtype=object)
    pope, oric = ((frame["set"] == name).to_numpy() for name in ("pope", "bench"))
    return [Sample("large, POPE less ORIC", large[pope], images[pope], (large[oric], images[oric]))]


def fine_tuned(of: Evidence, asked: str) -> list[Part]:
    """Macro F1 after Visual-RFT less that of its comparisons; none without such a run."""
    return [
        Part(result.gain_part(other), partial(result.difference, of.tuned, asked, "rft", other))
        for other in result.COMPARISONS if of.tuned
    ]  # fmt: skip


def gain(of: Evidence, method: str, metrics: Sequence[str]) -> list[Part]:
    """A method's metric less the base's, by the names of `GAINS`."""
    asked = answers.of(of.subject, BENCH)
    return [
        Part(f"{method}: {name}", partial(answers.gain, GAINS[name], asked, method))
        for name in metrics
    ]


def _present(subject: Subject, halves: Halves) -> Asked:
    asked = answers.of(subject, halves)
    return asked.where(asked.labels == "yes")


def _lost(subject: Subject, label: str, sign: int = 1) -> list[Term]:
    """recall(random objects) − recall(guided objects) of a label, times a sign."""
    return [
        term(side, f"recall_{label}", answers.of(subject, SAMPLINGS[name]))
        for side, name in ((sign, "random"), (-sign, GUIDED[label]))
    ]


def _right(sums: np.ndarray) -> Values:
    """The share of right answers, averaged over prompts."""
    counts = scores.by_count(sums)
    asked = counts["positives"] + counts["negatives"]
    return np.asarray(((counts["tp"] + counts["tn"]) / asked).mean(axis=0))


def _by_size(asked: Asked) -> np.ndarray:
    """The counts of the questions about each size, one below the other."""
    counts, sizes = asked.counts(), sized(asked)
    return np.concatenate([counts * (sizes == size) for size in SIZES])


def _at_mix_of(bench: Asked) -> Callable[[np.ndarray], Values]:
    """Recall of present objects at the mix of sizes of some questions, of sums of `_by_size`."""
    shares, recall = [len(of_size(bench, size)) for size in SIZES], scores.metric("recall_yes")
    return lambda sums: sum(
        share / sum(shares) * recall(part)
        for share, part in zip(shares, np.split(sums, len(SIZES)), strict=True) if share
    )  # fmt: skip


def _of_records(measure: Measure) -> Measure:
    """The measure, without parts where a model has no records."""

    def parts(of: Evidence, **arguments: Any) -> Sequence[Part | Sample]:
        return measure(of, **arguments) if of.subject else []

    return parts


MEASURES: dict[str, Measure] = {"fine_tuned": fine_tuned, "caution": _of_records(cautious)} | {
    measure.__name__: _of_records(measure)
    for measure in (
        metric, drop, pair_level, pair_drop, size_drop, size_gap,
        at_equal_sizes, main_source, guided_loss, sharper, fit, nearer, large_share, gain,
    )
}  # fmt: skip
