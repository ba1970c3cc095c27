"""What ORIC's claims are about, and what they are tested on: a model's answers, or the questions.

Every part has its own interval. The sizes are those of `scores.SIZE_LIMITS`. Two encoders look at
the questions, as Table 6 has three: the pocket CLIP that chose the guided absent objects, and the
scene graph's vectors, which chose nothing and know nothing but the world's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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
    Halves,
    Term,
    asked,
    less,
    term,
)
from sci_book.papers.oric.construct import DESCRIPTION
from sci_book.papers.oric.detectors import NoisySceneGraph
from sci_book.papers.oric.encoder import ClipEncoder, Encoder, Stored
from sci_book.papers.oric.pocket_questions import DATA, QUESTIONS
from sci_book.papers.oric.questions import LABELS, Question, wordings
from sci_book.papers.oric.rft import result
from sci_book.papers.oric.scores import SIZES, Values, size_of
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Part, Sample, of_interval
from sci_book.papers.shared.stamp import located
from sci_book.results.statistics import Interval

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


class Known(NamedTuple):
    """What claims are judged on: a model's records of ORIC, and its result of Visual-RFT."""

    subject: Subject | None
    tuned: result.Result | None


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Known | None]:
    """What is known of each model, from `oric/<name>.parquet` beside its own records, or None.

    A result of Visual-RFT is `rft/<name>.json` in the folder of results.
    """
    by_model = []
    for subject in subjects:
        mine = answers.subjects([subject.name], subject.path.parent).subjects
        tuned = result.file_of(subject.name, located(results) / "rft") if results else None
        there = result.read(subject.name, tuned.parent) if tuned and tuned.is_file() else None
        by_model.append(Known(mine[0] if mine else None, there) if mine or there else None)
    return by_model


def caution(model: Subject, questions: pd.DataFrame) -> list[Term]:
    """Recall of no less recall of yes."""
    yes, no = scores.metric("recall_yes"), scores.metric("recall_no")
    counts, images = answers.counts(model, questions), questions["group"].to_numpy()
    return [Term(1, counts, images, lambda sums: no(sums) - yes(sums))]


def matched(model: Subject) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 1's pairs: on one picture, with one label, an object of POPE's and one of ORIC's.

    Of each picture and label the first object that is in the one set alone, where both have one.
    """
    sides = [asked(model, halves) for halves in (POPE, BENCH)]
    keys = [pd.MultiIndex.from_frame(side[["image", "label", "object"]]) for side in sides]
    usual, odd = (
        side[~mine.isin(other)].drop_duplicates(["image", "label"]).set_index(["image", "label"])
        for side, mine, other in zip(sides, keys, reversed(keys), strict=True)
    )
    both = usual.index.intersection(odd.index, sort=False)
    return usual.loc[both].reset_index(), odd.loc[both].reset_index()


def of_size(model: Subject, halves: Halves, size: str) -> pd.DataFrame:
    """The present objects of one size in a set."""
    questions = asked(model, halves)
    return questions[questions["size"] == size]


def largest(model: Subject, halves: Halves) -> str:
    """The largest size that the present objects of a set have; "" where none is known."""
    there = set(asked(model, halves)["size"])
    return next((size for size in reversed(SIZES) if size in there), "")


def size_step(model: Subject, halves: Halves) -> list[Term]:
    """Recall of the largest size there is less recall of small objects; none if there is one."""
    size = largest(model, halves)
    if size in ("", SIZES[0]):
        return []
    sides = [of_size(model, halves, each) for each in (size, SIZES[0])]
    return less("recall_yes", model, *sides)


def same_sizes(model: Subject, other: Halves) -> list[Term]:
    """Recall on another set less recall on ORIC, the other's sizes weighted as ORIC's are.

    The weights are those of the questions asked, and no part of what varies.
    """
    sides = [_present(model, halves) for halves in (other, BENCH)]
    at_mix = _at_mix_of(sides[1])
    return [
        Term(sign, _by_size(model, side), side["group"].to_numpy(), at_mix)
        for sign, side in zip((1, -1), sides, strict=True)
    ]


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
    mine, graph = questions(halves), NoisySceneGraph.of_file(DATA / "scenes_val.jsonl")
    counts = scores.columns([q.label for q in mine], [detectors.answers(graph, mine, DATA)])
    images = np.array([q.image for q in mine], dtype=object)
    return answers.combine([[Term(1, counts, images, scores.metric(name))]])


@cache
def encoders() -> dict[str, Encoder]:
    """The encoders by name; the pictures of `pocket_questions.draw` have to be there.

    The sets share pictures and objects, so the pocket CLIP reads each of them once.
    """
    every = [question for halves in ENCODED.values() for question in questions(halves)]
    names = sorted({question.image for question in every})
    texts = sorted({DESCRIPTION.format(object=question.target) for question in every})
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


def metric(of: Subject, metrics: Sequence[str]) -> list[Part]:
    """Metrics of the benchmark."""
    bench = asked(of, BENCH)
    return [_part(answers.title(name), [term(1, name, of, bench)]) for name in metrics]


def drop(of: Subject, metrics: Sequence[str], sets: Sequence[str]) -> list[Part]:
    """Metrics of other sets less those of ORIC."""
    return [
        _part(f"{answers.title(name)}, {other} less ORIC",
              less(name, of, asked(of, SETS[other]), asked(of, BENCH)))
        for other in sets for name in metrics
    ]  # fmt: skip


def cautious(of: Subject) -> list[Part]:
    """Recall of no less recall of yes, on ORIC."""
    return [_part("recall of no less yes", caution(of, asked(of, BENCH)))]


def pair_level(of: Subject) -> list[Part]:
    """Macro F1 on POPE's objects of the pairs of Table 1."""
    return [_part("pairs, POPE", [term(1, "f1", of, matched(of)[0])])]


def pair_drop(of: Subject) -> list[Part]:
    """Macro F1 lost from POPE's objects to ORIC's in the pairs of Table 1."""
    return [_part("pairs", less("f1", of, *matched(of)))]


def size_drop(of: Subject, of_sizes: Sequence[str]) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, by size; sizes that either lacks are left out."""
    return [
        _part(f"POPE less ORIC, {size}", less("recall_yes", of, *both))
        for size in of_sizes
        if all(map(len, both := [of_size(of, halves, size) for halves in (POPE, BENCH)]))
    ]


def size_gap(of: Subject, sets: Sequence[str]) -> list[Part]:
    """Recall of the largest size that a set has less recall of small objects."""
    return [
        _part(f"{largest(of, SETS[name])} less small, {name}", size_step(of, SETS[name]))
        for name in sets
    ]


def at_equal_sizes(of: Subject) -> list[Part]:
    """Recall of yes on POPE less that on ORIC, POPE's sizes weighted as ORIC's are."""
    return [_part("at ORIC’s sizes", same_sizes(of, POPE))]


def main_source(of: Subject) -> list[Part]:
    """The drop of recall of yes from POPE, and twice that at ORIC's sizes less it.

    The second is positive where more than half of the drop is left at equal sizes.
    """
    sets = [_present(of, halves) for halves in (POPE, BENCH)]
    at_mix, plainly = _at_mix_of(sets[1]), scores.metric("recall_yes")

    def left_less_gone(sums: np.ndarray) -> Values:
        sizes, whole = np.split(sums, [len(sums) - len(sums) // (len(SIZES) + 1)])
        return 2 * at_mix(sizes) - plainly(whole)

    terms = []
    for sign, side in zip((1, -1), sets, strict=True):
        counts = np.concatenate([_by_size(of, side), answers.counts(of, side)])
        terms.append(Term(sign, counts, side["group"].to_numpy(), left_less_gone))
    return [
        _part("the drop", less("recall_yes", of, *sets)),
        _part("left at equal sizes less gone with the sizes", terms),
    ]


def guided_loss(of: Subject, labels: Sequence[str]) -> list[Part]:
    """recall(random objects) − recall(guided objects), for each label."""
    return [_part(f"recall of {label}", guided(of, label)) for label in labels]


def guided(model: Subject, label: str) -> list[Term]:
    """recall(random objects) − recall(guided objects) of a label."""
    sides = [asked(model, SAMPLINGS[name]) for name in ("random", GUIDED[label])]
    return less(f"recall_{label}", model, *sides)


def sharper(of: Subject) -> list[Part]:
    """The guided loss of recall of no less that of recall of yes."""
    both = [*guided(of, "no"), *(each._replace(sign=-each.sign) for each in guided(of, "yes"))]
    terms = [recall._replace(value=_right) for recall in both]  # one statistic, whatever the label
    return [_part("loss of no less loss of yes", terms)]


def fit(of: Subject, encoders: Sequence[str], label: str) -> list[Sample]:
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


def nearer(of: Subject, encoders: Sequence[str]) -> list[Sample]:
    """Least distance of POPE less that of ORIC, object by object; of no model."""
    samples = []
    for name in encoders:
        pope, oric = (distances(name)[set_name] for set_name in ("POPE", "ORIC"))
        both = pope.merge(oric, on="object", suffixes=("", " two"))
        gaps = (both["distance"] - both["distance two"]).to_numpy()
        objects = both["object"].to_numpy(dtype=object)
        samples.append(Sample(f"{name}, least distance", gaps, objects))
    return samples


def large_share(of: Subject) -> list[Sample]:
    """Share of large objects among POPE's present ones less that among ORIC's; of no model."""
    frame = pd.read_csv(QUESTIONS)
    frame = frame[frame["label"] == "yes"]
    large = np.array([size_of(area) == "large" for area in frame["area"]], float)
    images = frame["image"].to_numpy(dtype=object)
    pope, oric = ((frame["set"] == name).to_numpy() for name in ("pope", "bench"))
    return [Sample("large, POPE less ORIC", large[pope], images[pope], (large[oric], images[oric]))]


def fine_tuned(of: result.Result, asked: str) -> list[Part]:
    """Macro F1 after Visual-RFT less that of its comparisons."""
    return [
        of_interval(result.gain_part(other), result.difference(of, asked, "rft", other))
        for other in result.COMPARISONS
    ]


def gain(of: Subject, method: str, metrics: Sequence[str]) -> list[Part]:
    """A method's metric less the base's, by the names of `GAINS`."""
    return [_part(f"{method}: {name}", answers.gain(GAINS[name], of, method)) for name in metrics]


def _part(what: str, terms: Sequence[Term]) -> Part:
    return Part(what, terms, answers.combine)


def _present(model: Subject, halves: Halves) -> pd.DataFrame:
    questions = asked(model, halves)
    return questions[questions["label"] == "yes"]


def _right(sums: np.ndarray) -> Values:
    """The share of right answers, averaged over prompts."""
    counts = scores.by_count(sums)
    asked = counts["positives"] + counts["negatives"]
    return np.asarray(((counts["tp"] + counts["tn"]) / asked).mean(axis=0))


def _by_size(model: Subject, questions: pd.DataFrame) -> np.ndarray:
    """The counts of the questions about each size, one below the other."""
    counts, sizes = answers.counts(model, questions), questions["size"].to_numpy()
    return np.concatenate([counts * (sizes == size) for size in SIZES])


def _at_mix_of(bench: pd.DataFrame) -> Callable[[np.ndarray], Values]:
    """Recall of present objects at the mix of sizes of some questions, of sums of `_by_size`."""
    shares, recall = [(bench["size"] == size).sum() for size in SIZES], scores.metric("recall_yes")
    return lambda sums: sum(
        share / sum(shares) * recall(part)
        for share, part in zip(shares, np.split(sums, len(SIZES)), strict=True) if share
    )  # fmt: skip


def _of(field: str, measure: Measure) -> Measure:
    """The measure of one field of `Known`, without parts where a model has none."""

    def parts(of: Known, **arguments: Any) -> Sequence[Part | Sample]:
        mine = getattr(of, field)
        return measure(mine, **arguments) if mine else []

    return parts


MEASURES: dict[str, Measure] = {
    "fine_tuned": _of("tuned", fine_tuned), "caution": _of("subject", cautious)
} | {
    measure.__name__: _of("subject", measure)
    for measure in (
        metric, drop, pair_level, pair_drop, size_drop, size_gap,
        at_equal_sizes, main_source, guided_loss, sharper, fit, nearer, large_share, gain,
    )
}  # fmt: skip
TESTED = MEASURES, evidence
