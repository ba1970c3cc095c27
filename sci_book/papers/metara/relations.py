"""The four metamorphic relations (Table I): from an original to its transformed cases, seeded.

A relation changes the picture by one of its `OPERATIONS` and the question by a paraphraser. What
cannot be applied to an original is a `Refusal`, by name, and counted; the case is then missing, not
replaced by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from PIL import Image

from sci_book.papers.metara import benign, local, style
from sci_book.papers.metara.overlay import Box, free_box, is_chinese, overlay
from sci_book.papers.metara.paraphrase import Paraphraser, by_rules
from sci_book.papers.metara.pictures import Pixels, Random, Refused, apply, random_of

TARGETS = {
    "MR1": "General Content Comprehensibility",
    "MR2": "Semantic Perception Stability",
    "MR3": "Content Preservation Consistency",
    "MR4": "Implicit Information Comprehensibility",
}
RELATIONS = tuple(TARGETS)
WORDINGS = 2**16  # numbers that a case's wording is drawn from; far more than there are wordings
NEUTRAL, NEUTRAL_ZH = "Photo 1", "图一"  # written where an original has no text of its own


class Thing(NamedTuple):
    """One thing in a picture: its kind, singular and plural, and where it is."""

    kind: str
    plural: str
    box: Box


@dataclass(frozen=True, eq=False)
class Original:
    """An image, a question and its answer, and what is known that a transform must respect.

    key        its name, unlike any other's in its data set
    things     bool `[height, width]`: all that is no background; None where no mask is known
    region     bool `[height, width]`: the object that MR2 edits; by default `things`
    asked      bool `[height, width]`: what no text may hide; by default `things`
    text_rich  whether reading is what it is about: MR2 is then the mirror
    texts      what MR4 may write: true of the picture, without the answer; a neutral label if none
    words      what is known to be in the picture (labels, captions), for the difficulty
    unsafe     operations that would change its answer; they are never applied to it
    boxes      its things by name (MetaVQA), inside the picture
    absent     kinds that are not there, to be asked for too; their boxes do not matter
    """

    key: str
    image: Image.Image
    question: str
    answer: str
    group: str = ""
    dataset: str = ""
    options: tuple[str, ...] = ()
    things: np.ndarray | None = field(default=None, repr=False)
    region: np.ndarray | None = field(default=None, repr=False)
    asked: np.ndarray | None = field(default=None, repr=False)
    text_rich: bool = False
    texts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    unsafe: tuple[str, ...] = ()
    boxes: tuple[Thing, ...] = ()
    absent: tuple[Thing, ...] = ()


Edit = Callable[[Original, Random, np.ndarray], np.ndarray]


class Operation(NamedTuple):
    """One way to carry out a relation; `edit` changes the pixels of an original, by lot."""

    name: str
    relation: str
    edit: Edit


class Case(NamedTuple):
    """A transformed input; its answer is the original's."""

    original: Original
    relation: str
    operation: str
    number: int
    image: Image.Image
    question: str


class Refusal(NamedTuple):
    """A case that could not be made: the reason's name, and one sentence."""

    dataset: str
    original: str
    relation: str
    operation: str
    reason: str
    sentence: str


@dataclass(frozen=True)
class Cases:
    """The cases of a number of originals, and the refusals in their place."""

    cases: tuple[Case, ...]
    refusals: tuple[Refusal, ...]


# --- operations ----------------------------------------------------------------------------------


def _colour_transfer(one: Original, lot: Random, pixels: Pixels) -> Pixels:
    # Half of the way to a warm or a cold wash: a hue keeps its name.
    warm, cold = (205, 170, 125), (120, 150, 190)
    wash = np.array((warm, cold)[lot.integers(2)]) + lot.integers(-45, 46, (16, 16, 1))
    wash = wash.clip(0, 255).astype(np.uint8)
    return style.colour_transfer(pixels, wash, lot.uniform(0.3, 0.5))


def _text(one: Original, lot: Random, pixels: Pixels) -> Pixels:
    texts = one.texts or (NEUTRAL_ZH if is_chinese(one.question) else NEUTRAL,)
    text = texts[lot.integers(len(texts))]
    busy = one.things if one.asked is None else one.asked
    busy = np.zeros(pixels.shape[:2], dtype=bool) if busy is None else busy
    return overlay(pixels, text, free_box(pixels, text, busy, lot))


def _things(one: Original, pixels: Pixels) -> np.ndarray:
    """The mask of all things, or what segmentation finds where none is known."""
    return local.segment(pixels) if one.things is None else one.things


def _region(one: Original, pixels: Pixels) -> np.ndarray:
    return _things(one, pixels) if one.region is None else one.region


def _either(random: Random, first: tuple[float, float], second: tuple[float, float]) -> float:
    """A number from one of two ranges, each as likely."""
    return float(random.uniform(*(first, second)[random.integers(2)]))


_EDITS: dict[str, dict[str, Edit]] = {
    "MR1": {
        "brightness": lambda one, lot, pixels: benign.brightness(
            pixels, _either(lot, (0.7, 0.85), (1.15, 1.3))
        ),
        "rotation": lambda one, lot, pixels: benign.rotation(
            pixels, _either(lot, (-8.0, -3.0), (3.0, 8.0))
        ),
        "scale": lambda one, lot, pixels: benign.scale(
            pixels, _either(lot, (0.75, 0.9), (1.1, 1.25))
        ),
    },
    "MR2": {
        "shade": lambda one, lot, pixels: local.shade(
            pixels, _region(one, pixels), _either(lot, (-0.2, -0.1), (0.1, 0.2))
        ),
        "texture": lambda one, lot, pixels: local.texture(
            pixels, _region(one, pixels), lot.uniform(0.2, 0.4), lot
        ),
        "occlusion": lambda one, lot, pixels: local.occlusion(
            pixels, _region(one, pixels), lot.uniform(0.05, 0.1), lot
        ),
        "mirror": lambda one, lot, pixels: local.mirror(pixels),
    },
    "MR3": {
        "stylisation": lambda one, lot, pixels: style.stylisation(pixels, lot.uniform(0.6, 1.0)),
        "colour transfer": _colour_transfer,
        "background": lambda one, lot, pixels: style.new_background(
            pixels, _things(one, pixels), lot
        ),
    },
    "MR4": {"text": _text},
}
OPERATIONS = tuple(
    Operation(name, relation, edit)
    for relation, edits in _EDITS.items()
    for name, edit in edits.items()
)
IDENTITY = tuple(
    Operation("identity", relation, lambda one, lot, pixels: pixels) for relation in RELATIONS
)
"""Relations that change nothing: with `keep_questions`, every failure rate of consistency is 0."""


def painted(paint: style.DiffusionStyle) -> tuple[Operation, ...]:
    """`OPERATIONS` with a diffusion model in place of all others of MR3, as in the paper."""
    diffusion = Operation("diffusion", "MR3", lambda one, lot, pixels: paint(pixels, lot))
    return (*(operation for operation in OPERATIONS if operation.relation != "MR3"), diffusion)


# --- cases ---------------------------------------------------------------------------------------


def make_cases(
    originals: Iterable[Original],
    counts: Callable[[Original], int] | int = 1,
    *,
    seed: int = 0,
    operations: Sequence[Operation] = OPERATIONS,
    paraphraser: Paraphraser = by_rules,
) -> Cases:
    """Cases of every relation for every original.

    What an original is given depends on its key, the seed and the operations, not on the other
    originals. A relation's operations come in turn, in an order by lot. A case's wording is by lot
    too: relations differ in what they do to pictures, and no wording goes with one of them.

    Args:
        counts: cases a relation, one number for all originals or one for each
            (`difficulty.cases_a_relation`).

    Raises:
        ValueError: if a count is below 1.
    """
    planned: list[tuple[Original, str, Operation | None, int, Random]] = []
    for original in originals:
        count = counts if isinstance(counts, int) else counts(original)
        if count < 1:
            raise ValueError(f"{count} cases a relation; expected 1 or more.")
        for relation in RELATIONS:
            lot = random_of(seed, original.dataset, original.key, relation)
            fitting = [op for op in operations if op.relation == relation and fits(op, original)]
            order = lot.permutation(len(fitting))
            for number in range(count):
                operation = fitting[order[number % len(fitting)]] if fitting else None
                random = random_of(seed, original.dataset, original.key, relation, number)
                planned.append((original, relation, operation, number, random))
    questions = paraphraser(
        [original.question for original, *_ in planned],
        [_wording(seed, original, relation, n) for original, relation, _, n, _ in planned],
    )
    cases: list[Case] = []
    refusals: list[Refusal] = []
    for (original, relation, operation, number, random), question in zip(
        planned, questions, strict=True
    ):
        name = operation.name if operation else ""
        try:
            if isinstance(question, Refused):
                raise question
            if operation is None:
                raise Refused("no operation", f"No operation of {relation} is safe for it.")
            image = apply(partial(operation.edit, original, random), original.image)
        except Refused as refused:
            case_key = (original.dataset, original.key, relation, name)
            refusals.append(Refusal(*case_key, refused.reason, str(refused)))
            continue
        cases.append(Case(original, relation, name, number, image, question))
    return Cases(tuple(cases), tuple(refusals))


def fits(operation: Operation, original: Original) -> bool:
    """Whether an operation may be applied: safe, and the mirror for text-rich originals alone.

    Section IV-C replaces all of MR2 by the mirror there.
    """
    if operation.name in original.unsafe:
        return False
    if operation.relation == "MR2" and operation.name != "identity":
        return (operation.name == "mirror") == original.text_rich
    return True


def _wording(seed: int, original: Original, relation: str, number: int) -> int:
    """Number of a case's rewording, by a lot apart from its picture's."""
    lot = random_of(seed, original.dataset, original.key, relation, number, "wording")
    return int(lot.integers(WORDINGS))
