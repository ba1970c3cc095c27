"""What C-VQA's claims are about, and what they are tested on: a model's pairs of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.cvqa import pairs
from sci_book.papers.cvqa.questions import LETTERS, Item, Side
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Part
from sci_book.pocket.what_if import GROUPS
from sci_book.results.drbench import in_hashed_share
from sci_book.results.statistics import Interval, Sample

Types = Sequence[str]
CHANCE = 0.25
SMALL = ("0", "1", "2")  # "The share of 0, 1, and 2 in the indirect group are higher"
# The pocket world has nobody in it: Figure 5's groups are attributes of a scene that no question is
# about. Attribute → the smaller group, the larger one, and what puts scenes into the smaller.
ATTRIBUTES = {
    "place": ("indoors", "outdoors", lambda rows: rows["indoors"] == "yes"),
    "light": ("dim", "clear", lambda rows: rows["light"] != "clear"),
}


@dataclass(frozen=True, eq=False)
class Asked:
    """A file of questions, which the ledger tests as it does a model."""

    name: str
    items: Sequence[Item]
    shown = "the questions"
    path = Path()  # of no records


class Evidence(NamedTuple):
    """A model with its records of C-VQA, or a file of questions."""

    subject: Subject | Asked


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The evidence on each model, from `cvqa/<name>.parquet` beside its own records, or None.

    What has answers to C-VQA already (`pairs.writer`), and a file of questions, is evidence itself.
    """
    known: list[Evidence | None] = []
    for subject in subjects:
        itself = isinstance(subject, Asked) or (
            isinstance(subject, Subject) and pairs.name_of(subject, "real")
        )
        found = (
            [subject] if itself else pairs.subjects([subject.name], subject.path.parent).subjects
        )
        known.append(Evidence(found[0]) if found else None)
    return known


def drop(of: Evidence, types: Types, tenth: bool = False) -> list[Sample]:
    """Share right on original less on counterfactual questions, of all pictures or of a tenth."""
    values = pairs.drop(of.subject, "base")
    if tenth:
        values = np.where(in_tenth(of.subject.groups), values, np.nan)
    return [_difference(f"drop of base, {kind}", of, values, kind) for kind in types]


def drop_distance(of: Evidence, types: Types, value: float) -> list[Part]:
    """How far the drop lies from `value`, whichever way."""
    return [distance(part, value, "points") for part in drop(of, types)]


def shrinkage(of: Evidence, methods: Sequence[str]) -> list[Sample]:
    """The base's drop less each method's, item by item."""
    return [
        _difference(f"drop of base less drop of {name}", of, pairs.spared(of.subject, name))
        for name in methods
    ]


def drop_change(of: Evidence, method: str) -> list[Sample]:
    """A method's drop less the base's, item by item."""
    return [replace(part, values=-part.values) for part in shrinkage(of, [method])]


def between(of: Evidence, what: str, types: Types, against: Types) -> list[Sample]:
    """The drop, or the share right on one side (`what`), on some types less that on others."""
    subject = of.subject
    values = pairs.drop(subject, "base") if what == "drop" else pairs.right(subject, "base", what)
    samples = []
    for kind, other in product(types, against):
        first = _sample(f"{what}, {kind} less {other}", of, values, kind)
        samples += _contrast(first, _sample(other, of, values, other))
    return samples


def accuracy(of: Evidence, types: Types, side: Side) -> list[Sample]:
    """Share right on one side's questions."""
    values = pairs.right(of.subject, "base", side)
    return [_sample(f"base, {kind}, {side}", of, values, kind) for kind in types]


def step_gain(of: Evidence, types: Types) -> list[Sample]:
    """Counterfactual questions right, told to think step by step less asked plainly."""
    gained, asked = pairs.step_gain(of.subject), pairs.of(of.subject, "steps")
    return [_difference(f"step by step, {kind}", of, gained, kind, asked) for kind in types]


def puzzle_accuracy(of: Evidence, sides: Sequence[Side]) -> list[Sample]:
    """Share of the puzzles right."""
    puzzles = pairs.of(of.subject, "synthetic")
    return [
        _sample(f"puzzles, {side}", of, pairs.right(of.subject, "base", side), rows=puzzles)
        for side in sides
    ]


def puzzle_distance(of: Evidence, sides: Sequence[Side]) -> list[Part]:
    """How far the share of the puzzles right lies from chance."""
    return [distance(sample, CHANCE) for sample in puzzle_accuracy(of, sides)]


def answer_gap(of: Evidence) -> list[Sample]:
    """Small answers: indirect less direct; all others the reverse. About questions, of no model."""
    numerical = [item for item in _questions(of.subject) if item.form == "number"]
    given = np.array([item.counterfactual_answer for item in numerical], dtype=object)
    pictures = np.array([item.image for item in numerical], dtype=object)
    direct = np.array([item.kind == "direct" for item in numerical], dtype=bool)

    def gap(what: str, among: np.ndarray, first: np.ndarray) -> Sample:
        values = among.astype(float)
        return Sample(what, values[first], pictures[first], (values[~first], pictures[~first]))

    if not numerical:
        return []
    small = [gap(f"share of {n}, indirect less direct", given == n, ~direct) for n in SMALL]
    large = gap("share of 3 and more, direct less indirect", ~np.isin(given, SMALL), direct)
    return [*small, large]


def letter_share(of: Evidence, sides: Sequence[Side]) -> list[Sample]:
    """Share of every letter among the answers read: a claim about the commonest one needs one."""
    subject, samples = of.subject, []
    puzzles = pairs.of(subject, "synthetic") & pairs.ok(subject)
    for side in sides:
        read = puzzles & ~pairs.unread(subject, "base", side)
        for letter in LETTERS if read.any() else ():
            values = (pairs.said(subject, "base", side) == letter).astype(float)
            samples.append(_sample(f"{letter}, {side}", of, values, rows=read))
    return samples


def group_gap(of: Evidence, attributes: Sequence[str]) -> list[Sample]:
    """The drop on pictures of the smaller group less that on those of the larger."""
    values, samples = pairs.drop(of.subject, "base"), []
    for attribute in attributes:
        label = of_pictures(of.subject, attribute)
        if label is None:
            continue
        small, large, _ = ATTRIBUTES[attribute]
        what = f"drop, {small} less {large}"
        first, second = (
            _sample(what, of, np.where(label == name, values, np.nan)) for name in (small, large)
        )
        samples += _contrast(first, second)
    return samples


def group_distance(of: Evidence, attributes: Sequence[str]) -> list[Part]:
    """`group_gap` whichever way it points."""
    return [distance(sample) for sample in group_gap(of, attributes)]


def in_tenth(groups: np.ndarray) -> np.ndarray:
    """Which of these pictures are of the tenth that Table 5 is shown on, by a fixed hash."""
    return np.array([in_hashed_share(group, 10, "a tenth ") for group in groups], bool)


def of_pictures(subject: Subject, attribute: str) -> np.ndarray | None:
    """The group of every row of a real item's picture; None where nothing tells any."""
    name, questions = pairs.name_of(subject, "real"), pairs.items_of(subject, "real")
    path = pairs.questions_file(name).with_name(GROUPS) if name and questions else None
    if path is None or not path.is_file():
        return None
    small, large, belongs = ATTRIBUTES[attribute]
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    by_picture = dict(zip(rows["img_path"], np.where(belongs(rows), small, large), strict=True))
    keys = list(zip(subject.groups, pairs.kinds(subject), strict=True))
    real, numbers = pairs.of(subject, "real"), pairs.numbers(subject)
    images = {keys[row]: questions[numbers[row]].image for row in np.flatnonzero(real)}
    label = [by_picture.get(images.get(key)) for key in keys]
    return np.array(label, dtype=object) if any(label) else None


def distance(part: Sample | Part, value: float = 0.0, unit: str = "%") -> Part:
    """How far a mean, or a difference of means, lies from `value`, whichever way."""
    how = f"distance from {100 * value:g} {unit}" if value else "either way"
    return Part(f"{part.what}, {how}", part.data, lambda found: away(part.over(found), value))


def away(interval: Interval, value: float = 0.0) -> Interval:
    """The distance of an estimate from `value`, with the distances that its interval allows.

    The lower end is 0 where the interval holds `value`; so "greater than 0" is the two-sided test,
    and "less than a margin" says that the whole interval lies within the margin on either side.
    """
    low, high = interval.low - value, interval.high - value
    return interval._replace(
        estimate=abs(interval.estimate - value),
        low=max(low, -high, 0.0),
        high=max(abs(low), abs(high)),
        error=np.nan,
        key=blake2s(f"{interval.key} from {value}".encode()).hexdigest()[:12],  # another number
    )


def _questions(subject: Subject | Asked) -> Sequence[Item]:
    """The questions themselves; none where the file is not at hand."""
    if isinstance(subject, Asked):
        return subject.items
    return pairs.items_of(subject, "real") or []


def _sample(
    what: str,
    of: Evidence,
    values: np.ndarray,
    kind: str = "all",
    rows: np.ndarray | None = None,
) -> Sample:
    """The items of a kind that have a value, of some rows; by default of `pairs.understood`."""
    subject = of.subject
    rows = pairs.understood(subject) if rows is None else rows
    kept = rows & np.isfinite(values) & ((pairs.kinds(subject) == kind) | (kind == "all"))
    return Sample(what, values[kept], subject.groups[kept], span=(0.0, 1.0))


def _difference(what: str, *sampled: object) -> Sample:
    """The same of a difference of two outcomes."""
    return replace(_sample(what, *sampled), span=(-1.0, 1.0))


def _contrast(first: Sample, second: Sample) -> list[Sample]:
    """The first mean less the second; nothing where either has no row."""
    if not (len(first.values) and len(second.values)):
        return []
    return [replace(first, minus=(second.values, second.clusters))]


MEASURES: dict[str, Callable[..., Sequence[Sample | Part]]] = {
    measure.__name__: measure
    for measure in (
        drop, drop_distance, between, accuracy, step_gain, puzzle_accuracy, puzzle_distance,
        answer_gap, letter_share, group_gap, group_distance, shrinkage, drop_change,
    )
}  # fmt: skip
TESTED = MEASURES, evidence
