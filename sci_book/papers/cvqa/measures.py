"""What C-VQA's claims are about, and what they are tested on: a model's pairs of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.papers.cvqa import pairs
from sci_book.papers.cvqa.pairs import Pairs
from sci_book.papers.cvqa.questions import LETTERS, SIDES, Item
from sci_book.papers.cvqa.scores import outcomes
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
class Written:
    """The answers of a text model's programs, `texts` on either side; tested as a model is."""

    name: str
    items: Sequence[Item]
    texts: Sequence[Sequence[str | None]]
    label = "ViperGPT"  # the paper's model that the claim is about
    path = Path()  # of no file

    @property
    def shown(self) -> str:
        """What tables call it."""
        return self.name

    @cached_property
    def kinds(self) -> np.ndarray:
        """The type of every item."""
        return np.array([item.kind for item in self.items], dtype=object)

    @cached_property
    def groups(self) -> np.ndarray:
        """The cluster of every item: its picture."""
        return np.array([item.image for item in self.items], dtype=object)

    def drop(self, policy: str) -> np.ndarray:
        """Right on the original less right on the counterfactual question; `policy` is the base."""
        original, counterfactual = outcomes(self.items, *self.texts)
        return original - counterfactual


@dataclass(frozen=True, eq=False)
class Asked:
    """A file of questions, which the ledger tests as it does a model."""

    name: str
    items: Sequence[Item]
    shown = "the questions"
    path = Path()  # of no records


@dataclass(eq=False)
class Evidence:
    """One model's records of C-VQA, or programs, or a file of questions."""

    subject: Subject | Written | Asked

    @cached_property
    def items(self) -> Pairs | Written:
        """The items of the real set, in a wording that the model understands."""
        if isinstance(self.subject, Written):
            return self.subject
        return pairs.understood(self.subject)

    @cached_property
    def puzzles(self) -> Pairs:
        """The items of the synthetic set."""
        return pairs.of(self.subject, "synthetic")

    @property
    def questions(self) -> Sequence[Item]:
        """The questions themselves; none where the file is not at hand."""
        if isinstance(self.subject, Asked):
            return self.subject.items
        return pairs.items_of(self.subject, "real") or []


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The evidence on each model, from `cvqa/<name>.parquet` beside its own records, or None.

    Programs that a text model wrote, and files of questions, are evidence themselves.
    """
    known = []
    for subject in subjects:
        if not isinstance(subject, Written | Asked):
            companion = pairs.subjects([subject.name], subject.path.parent).subjects
            subject = companion[0] if companion else None
        known.append(Evidence(subject) if subject else None)
    return known


def drop(of: Evidence, types: Types, tenth: bool = False) -> list[Sample]:
    """Share right on original less on counterfactual questions, of all pictures or of a tenth."""
    values = of.items.drop("base")
    if tenth:
        values = np.where(in_tenth(of.items.groups), values, np.nan)
    return [_difference(f"drop of base, {kind}", of.items, values, kind) for kind in types]


def drop_distance(of: Evidence, types: Types, value: float) -> list[Part]:
    """How far the drop lies from `value`, whichever way."""
    return [distance(part, value, "points") for part in drop(of, types)]


def shrinkage(of: Evidence, methods: Sequence[str]) -> list[Sample]:
    """The base's drop less each method's, item by item."""
    base = of.items.drop("base")
    return [
        _difference(f"drop of base less drop of {name}", of.items, base - of.items.drop(name))
        for name in methods
    ]


def drop_change(of: Evidence, method: str) -> list[Sample]:
    """A method's drop less the base's, item by item."""
    return [replace(part, values=-part.values) for part in shrinkage(of, [method])]


def between(of: Evidence, what: str, types: Types, against: Types) -> list[Sample]:
    """The drop, or the share right on one side (`what`), on some types less that on others."""
    values = of.items.drop("base") if what == "drop" else of.items.right("base")[_place(what)]
    samples = []
    for kind, other in product(types, against):
        first = _sample(f"{what}, {kind} less {other}", of.items, values, kind)
        samples += _contrast(first, _sample(other, of.items, values, other))
    return samples


def accuracy(of: Evidence, types: Types, side: str) -> list[Sample]:
    """Share right on one side's questions."""
    values = of.items.right("base")[_place(side)]
    return [_sample(f"base, {kind}, {side}", of.items, values, kind) for kind in types]


def step_gain(of: Evidence, types: Types) -> list[Sample]:
    """Counterfactual questions right, told to think step by step less asked plainly."""
    plainly, steps = both_prompts(of.subject)
    gained = steps.right("base")[1] - plainly.right("base")[1]
    return [_difference(f"step by step, {kind}", steps, gained, kind) for kind in types]


def puzzle_accuracy(of: Evidence, sides: Sequence[str]) -> list[Sample]:
    """Share of the puzzles right."""
    right = of.puzzles.right("base")
    return [_sample(f"puzzles, {side}", of.puzzles, right[_place(side)]) for side in sides]


def puzzle_distance(of: Evidence, sides: Sequence[str]) -> list[Part]:
    """How far the share of the puzzles right lies from chance."""
    return [distance(sample, CHANCE) for sample in puzzle_accuracy(of, sides)]


def answer_gap(of: Evidence) -> list[Sample]:
    """Small answers: indirect less direct; all others the reverse. About questions, of no model."""
    numerical = [item for item in of.questions if item.form == "number"]
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


def letter_share(of: Evidence, sides: Sequence[str]) -> list[Sample]:
    """Share of every letter among the answers read: a claim about the commonest one needs one."""
    samples = []
    for side in sides:
        said = of.puzzles.answers("base")[_place(side)]
        read = of.puzzles.ok & ~of.puzzles.unread("base")[_place(side)]
        for letter in LETTERS if read.any() else ():
            values = np.where(read, said == letter, np.nan)
            samples.append(_sample(f"{letter}, {side}", of.puzzles, values))
    return samples


def group_gap(of: Evidence, attributes: Sequence[str]) -> list[Sample]:
    """The drop on pictures of the smaller group less that on those of the larger."""
    values, samples = of.items.drop("base"), []
    for attribute in attributes:
        label = of_pictures(of.subject, attribute)
        if label is None:
            continue
        small, large, _ = ATTRIBUTES[attribute]
        what = f"drop, {small} less {large}"
        first, second = (
            _sample(what, of.items, np.where(label == name, values, np.nan))
            for name in (small, large)
        )
        samples += _contrast(first, second)
    return samples


def group_distance(of: Evidence, attributes: Sequence[str]) -> list[Part]:
    """`group_gap` whichever way it points."""
    return [distance(sample) for sample in group_gap(of, attributes)]


def in_tenth(groups: np.ndarray) -> np.ndarray:
    """Which of these pictures are of the tenth that Table 5 is shown on, by a fixed hash."""
    return np.array([in_hashed_share(group, 10, "a tenth ") for group in groups], bool)


def both_prompts(subject: Subject) -> tuple[Pairs, Pairs]:
    """The items asked both ways, plainly and step by step, in one order.

    Plainly in the paper's wording, booleans too: "Let's think step by step:" alone differs.
    """
    plainly, steps = pairs.of(subject, "real"), pairs.of(subject, "steps")
    position = {key: k for k, key in enumerate(plainly.keys)}
    places = np.array([position.get(key, -1) for key in steps.keys], dtype=int)
    return plainly.where(places[places >= 0]), steps.where(places >= 0)


def of_pictures(subject: Subject, attribute: str) -> np.ndarray | None:
    """The group of every item of `pairs.understood`; None where nothing tells any."""
    name, questions = pairs.name_of(subject, "real"), pairs.items_of(subject, "real")
    path = pairs.questions_file(name).with_name(GROUPS) if name and questions else None
    if path is None or not path.is_file():
        return None
    small, large, belongs = ATTRIBUTES[attribute]
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    by_picture = dict(zip(rows["img_path"], np.where(belongs(rows), small, large), strict=True))
    real = pairs.of(subject, "real")
    known = dict(zip(real.keys, real.numbers, strict=True))
    numbers = [known.get(key) for key in pairs.understood(subject).keys]
    label = [None if n is None else by_picture.get(questions[n].image) for n in numbers]
    return np.array(label, dtype=object) if any(label) else None


def distance(part: Sample | Part, value: float = 0.0, unit: str = "%") -> Part:
    """How far a mean, or a difference of means, lies from `value`, whichever way."""
    how = f"distance from {100 * value:g} {unit}" if value else "either way"
    return Part(f"{part.what}, {how}", lambda: away(part.interval, value))


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
        key="",  # another number
    )


def _sample(what: str, items: Pairs | Written, values: np.ndarray, kind: str = "all") -> Sample:
    """The items of a kind that have a value."""
    rows = np.isfinite(values) & ((items.kinds == kind) | (kind == "all"))
    return Sample(what, values[rows], items.groups[rows], span=(0.0, 1.0))


def _difference(what: str, items: Pairs | Written, values: np.ndarray, kind: str = "all") -> Sample:
    """The same of a difference of two outcomes."""
    return replace(_sample(what, items, values, kind), span=(-1.0, 1.0))


def _contrast(first: Sample, second: Sample) -> list[Sample]:
    """The first mean less the second; nothing where either has no row."""
    if not (len(first.values) and len(second.values)):
        return []
    return [replace(first, minus=(second.values, second.clusters))]


def _place(side: str) -> int:
    return SIDES.index(side)


MEASURES: dict[str, Callable[..., Sequence[Sample | Part]]] = {
    measure.__name__: measure
    for measure in (
        drop, drop_distance, between, accuracy, step_gain, puzzle_accuracy, puzzle_distance,
        answer_gap, letter_share, group_gap, group_distance, shrinkage, drop_change,
    )
}  # fmt: skip
