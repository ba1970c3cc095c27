"""What C-VQA's claims are about, and what they are tested on: a model's pairs of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sci_book.papers.cvqa.chapters import dataset, drops, groups, letters, pairs
from sci_book.papers.cvqa.chapters.distance import Distance
from sci_book.papers.cvqa.chapters.pairs import Pairs
from sci_book.papers.cvqa.questions import LETTERS
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Sample

Types = Sequence[str]


class Evidence:
    """One model's records of C-VQA."""

    def __init__(self, subject: Subject):
        self.subject = subject
        self.items = pairs.understood(subject)
        self.puzzles = pairs.of(subject, "synthetic")


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The evidence on each model, from `cvqa/<name>.parquet` beside its own records, or None."""
    found = []
    for each in subjects:
        mine = pairs.subjects([each.name], each.path.parent).subjects
        found.append(Evidence(mine[0]) if mine else None)
    return found


def drop(of: Evidence, types: Types) -> list[Sample]:
    """Share right on original less on counterfactual questions."""
    return [
        _sample(f"drop of base, {kind}", of.items, of.items.drop("base"), kind) for kind in types
    ]


def between(of: Evidence, what: str, types: Types, against: Types) -> list[Sample]:
    """The drop, or the share right on one side (`what`), on some types less that on others."""
    values = of.items.drop("base") if what == "drop" else of.items.right("base")[_place(what)]
    found = []
    for kind in types:
        for other in against:
            first, second = (_sample(name, of.items, values, name) for name in (kind, other))
            if len(first.values) and len(second.values):
                minus = (second.values, second.clusters)
                name = f"{what}, {kind} less {other}"
                found.append(Sample(name, first.values, first.clusters, minus))
    return found


def accuracy(of: Evidence, types: Types, side: str) -> list[Sample]:
    """Share right on one side's questions."""
    values = of.items.right("base")[_place(side)]
    return [_sample(f"base, {kind}, {side}", of.items, values, kind) for kind in types]


def step_gain(of: Evidence, types: Types) -> list[Sample]:
    """Counterfactual questions right, told to think step by step less asked plainly."""
    plainly, steps = drops.both_prompts(of.subject)
    gained = steps.right("base")[1] - plainly.right("base")[1]
    return [_sample(f"step by step, {kind}", steps, gained, kind) for kind in types]


def puzzle_accuracy(of: Evidence, sides: Sequence[str]) -> list[Sample]:
    """Share of the puzzles right."""
    right = of.puzzles.right("base")
    return [_sample(f"puzzles, {side}", of.puzzles, right[_place(side)], "all") for side in sides]


def puzzle_distance(of: Evidence, sides: Sequence[str]) -> list[Distance]:
    """How far the share of the puzzles right lies from chance."""
    return [Distance(sample, letters.CHANCE) for sample in puzzle_accuracy(of, sides)]


def answer_gap(of: Evidence) -> list[dataset.Gap]:
    """Small answers: indirect less direct; all others the reverse. About questions, of no model."""
    found = dataset.gaps(pairs.items_of(of.subject, "real") or [])
    return [replace(each, first="direct") if each.what == dataset.OTHERS else each
            for each in found if each.items]  # fmt: skip


def letter_share(of: Evidence, sides: Sequence[str]) -> list[Sample]:
    """Share of every letter among the answers read: a claim about the commonest one needs one."""
    found = []
    for side in sides:
        said = of.puzzles.answers("base")[_place(side)]
        keep = of.puzzles.ok & np.array([letter is not None for letter in said], dtype=bool)
        clusters = of.puzzles.groups[keep]
        for letter in LETTERS if keep.any() else ():
            values = (said == letter)[keep].astype(float)
            found.append(Sample(f"{letter}, {side}", values, clusters))
    return found


def group_gap(of: Evidence, attributes: Sequence[str]) -> list[Sample]:
    """The drop on pictures of the smaller group less that on those of the larger."""
    values, found = of.items.drop("base"), []
    for attribute in attributes:
        label = groups.of_pictures(of.subject, attribute)
        if label is None:
            continue
        small, large, _ = groups.ATTRIBUTES[attribute]
        first, second = (np.isfinite(values) & (label == name) for name in (small, large))
        clusters = of.items.groups
        if first.any() and second.any():
            found.append(
                Sample(f"drop, {small} less {large}", values[first], clusters[first],
                       (values[second], clusters[second]))
            )  # fmt: skip
    return found


def group_distance(of: Evidence, attributes: Sequence[str]) -> list[Distance]:
    """`group_gap` whichever way it points."""
    return [Distance(each) for each in group_gap(of, attributes)]


def _sample(what: str, items: Pairs, values: np.ndarray, kind: str) -> Sample:
    rows = np.isfinite(values) & ((items.kinds == kind) | (kind == "all"))
    return Sample(what, values[rows], items.groups[rows])


def _place(side: str) -> int:
    return ("original", "counterfactual").index(side)


MEASURES: dict[str, Callable[..., Sequence[Sample | Distance | dataset.Gap]]] = {
    each.__name__: each
    for each in (
        drop, between, accuracy, step_gain, puzzle_accuracy, puzzle_distance, answer_gap,
        letter_share, group_gap, group_distance,
    )
}  # fmt: skip
