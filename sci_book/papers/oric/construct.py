"""The construction of ORIC questions from annotations (section 3.1, Algorithms 1 and 2).

A picture I with three categories or more gives present objects that are small among the others and
that a judge does not expect beside them; the picture I' most like it gives absent objects that an
image–text encoder finds most fitting there. Both give k questions, so the labels are balanced.

Where the paper is silent: every picture is asked about as I once at most and as I' once at most (in
the released questions 483 pictures are either and 17 are both), so that no question comes twice;
a picture that gives fewer than k objects is left out; chance belongs to the seed and the picture,
not to how many pictures there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sci_book.papers.oric.annotations import Annotations, LeavesOut, Picture, Problem
from sci_book.papers.oric.areas import split
from sci_book.papers.oric.encoder import Encoder
from sci_book.papers.oric.judge import Case, Judge
from sci_book.papers.oric.questions import Question, wordings

FEWEST_CATEGORIES = 3
DESCRIPTION = "an image contains {object}"
"""What an object's name is put into for the encoder; the name stands without an article."""
_CHUNK = 256  # pictures judged and compared at once
_DIGITS = 6  # of a cosine; equal ones must not depend on how a machine adds

Sampling = Literal["guided", "random"]


@dataclass(frozen=True)
class Pair:
    """A picture I, the picture I' most like it, and the objects asked about.

    `positives` and `negatives` are by sampling. The guided positives are on I and the random ones
    any objects of `other`, any picture with three categories: to be chosen for its unexpected
    objects is part of the guidance. Both negatives are absent from I', the random ones being any
    that are.
    """

    image: str
    other: str
    similar: str
    positives: Mapping[Sampling, tuple[str, ...]]
    negatives: Mapping[Sampling, tuple[str, ...]]


@dataclass(frozen=True)
class Built(LeavesOut):
    """Pairs of pictures with their objects, and what was left out.

    An object that the judge says neither yes nor no of is not asked about, and among the problems.
    """

    pairs: tuple[Pair, ...]
    problems: tuple[Problem, ...]

    def questions(
        self, positives: Sampling = "guided", negatives: Sampling = "guided"
    ) -> tuple[Question, ...]:
        """The questions, pair by pair, as many "yes" as "no".

        The four combinations of samplings are those of Table 7.
        """
        return tuple(
            Question(image, target, label, wordings(target))
            for pair in self.pairs
            for label, image, targets in (
                (
                    "yes",
                    pair.image if positives == "guided" else pair.other,
                    pair.positives[positives],
                ),
                ("no", pair.similar, pair.negatives[negatives]),
            )
            for target in targets
        )


def build(
    annotations: Annotations,
    judge: Judge,
    encoder: Encoder,
    images: str | Path,
    *,
    pairs: int | None = None,
    k: int = 2,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
) -> Built:
    """Pairs of pictures and their objects.

    Args:
        annotations: of the split; I' is sought among all its pictures.
        pairs: at most so many, each of 2k questions; None for as many as there are.
        k: objects asked about on either picture of a pair, at most `FEWEST_CATEGORIES`.
        seed: of the order of the pictures and of all lots.

    Raises:
        ValueError: if k is not 1 to 3, or `pairs` below 1.
    """
    if not 1 <= k <= FEWEST_CATEGORIES or (pairs is not None and pairs < 1):
        raise ValueError(
            f"k={k} and pairs={pairs}; expected 1 to {FEWEST_CATEGORIES} objects, and 1 or more "
            "pairs."
        )
    problems: list[Problem] = []
    pictures = annotations.pictures
    vectors = encoder.images([Path(images) / picture.name for picture in pictures])
    readable = np.isfinite(vectors).all(axis=1)
    problems += [
        Problem(pictures[i].name, "picture that cannot be read") for i in np.flatnonzero(~readable)
    ]
    names = {name: DESCRIPTION.format(object=name) for name in annotations.categories}
    fitting = dict(zip(names, encoder.texts(list(names.values())), strict=True))
    eligible = []
    for number, picture in enumerate(pictures):
        if len(picture.boxes) < FEWEST_CATEGORIES:
            came = f"{len(picture.boxes)} categories"
            problems.append(_too_few(picture, f"{FEWEST_CATEGORIES} categories", came))
        elif readable[number]:
            eligible.append(number)
    chance = np.random.default_rng(seed)
    order = chance.permutation(np.array(eligible, dtype=int))
    others = chance.permutation(order)  # the pictures of random positives, one a pair
    free = readable.copy()  # pictures that can still be an I'
    built: list[Pair] = []
    for start in range(0, len(order), _CHUNK):
        numbers = order[start : start + _CHUNK].tolist()
        unexpected = _unexpected([pictures[n] for n in numbers], judge, problems)
        nearest = np.round(vectors[numbers] @ vectors.T, _DIGITS)
        for number, candidates, cosines in zip(numbers, unexpected, nearest, strict=True):
            if len(built) == pairs:
                break
            picture = pictures[number]
            if len(candidates) < k:
                problems.append(
                    _too_few(picture, f"{k} unexpected objects", f"{len(candidates)} objects")
                )
                continue
            other = _similar(cosines, free, number)
            if other is None:
                problems.append(Problem(picture.name, "no other picture is left"))
                continue
            absent = [name for name in names if name not in pictures[other].present]
            if len(absent) < k:
                problems.append(_too_few(picture, f"{k} absent objects", f"{len(absent)} objects"))
                continue
            free[other] = False
            rng = np.random.default_rng([seed, number])
            random = pictures[others[len(built)]]
            chosen = _draw(rng, candidates, k)
            scores = [float(np.round(vectors[other] @ fitting[name], _DIGITS)) for name in absent]
            ranked = [absent[i] for i in np.argsort(-np.array(scores), kind="stable")]
            built.append(
                Pair(
                    picture.name,
                    random.name,
                    pictures[other].name,
                    {"guided": tuple(chosen), "random": _draw(rng, list(random.boxes), k)},
                    {"guided": tuple(ranked[:k]), "random": _draw(rng, absent, k)},
                )
            )
        if say is not None:
            say(f"{len(built)} pairs from {start + len(numbers)} of {len(order)} pictures")
        if len(built) == pairs:
            break
    return Built(tuple(built), tuple(problems))


def _unexpected(
    pictures: Sequence[Picture], judge: Judge, problems: list[Problem]
) -> list[list[str]]:
    """For each picture its ROI objects that the judge does not expect, by descending area."""
    cases: list[tuple[int, Case]] = []
    for number, picture in enumerate(pictures):
        areas = dict(sorted(picture.areas.items(), key=lambda item: -item[1]))
        roi, background = split(areas)
        cases += [(number, Case(target, background)) for target in roi]
    unexpected: list[list[str]] = [[] for _ in pictures]
    verdicts = judge([case for _, case in cases])
    for (number, case), verdict in zip(cases, verdicts, strict=True):
        if verdict.answer is None:
            where = f"{pictures[number].name}, {case.target}"
            problems.append(Problem(where, "judge says neither yes nor no", verdict.reason))
        elif verdict.answer == "no":
            unexpected[number].append(case.target)
    return unexpected


def _too_few(picture: Picture, least: str, came: str) -> Problem:
    return Problem(picture.name, f"fewer than {least}", came)


def _similar(cosines: np.ndarray, free: np.ndarray, number: int) -> int | None:
    """The free picture nearest to picture `number`, the first of equals; None if none is free."""
    free_cosines = np.where(free, cosines, -np.inf)
    free_cosines[number] = -np.inf
    nearest = int(np.argmax(free_cosines))
    return nearest if np.isfinite(free_cosines[nearest]) else None


def _draw(rng: np.random.Generator, values: Sequence[str], k: int) -> tuple[str, ...]:
    return tuple(values[i] for i in rng.choice(len(values), k, replace=False))
