"""Why an answer about a pocket scene is wrong, told by the scene and not by the words.

The family of a question says what was asked about, the truth of a caption is the whole scene, and
the records hold what the model says without the picture (its round on a black one). So the
categories of section 3.3 can be read off, the paper's order kept (D first):

========  =======================================================  ================================
category  a question                                               a caption
========  =======================================================  ================================
D         it asks for a number or a position                       only numbers are wrong
C         the answer is the one the model gives to a black picture  the same
A         it asks what is there, and another kind is named         a kind is missing or invented
B         it asks for an attribute                                 a colour, sign or place is wrong
E         none of these                                            not of a caption's form
========  =======================================================  ================================

A claim can be wrong in one way only, so a wrong yes is often the yes of the black picture too: of
claims, C says less.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from sci_book.papers.edge.correctness import normalise
from sci_book.papers.edge.taxonomy import Category

PLACED = ("count", "position", "what_if")
PRESENT = ("existence", "negation", "content")
ATTRIBUTES = ("colour", "state", "switched", "sign", "place")

_THING = re.compile(r"(\d+) (\w+) (\w+)")
_SIGN = re.compile(r"a sign with (\w+)")
_PLACE = re.compile(r"\b(?:in a|at the) (\w+)$")


class Described(NamedTuple):
    """What a caption says: things by kind (number and colour), the sign's text, the place."""

    things: dict[str, tuple[int, str]]
    sign: str
    place: str


def described(caption: str) -> Described | None:
    """A caption of the pocket world's form, taken apart; None for any other text.

    A kind that is named twice makes no caption: a scene has each kind once, in one colour.
    """
    text = normalise(caption)
    place, sign = _PLACE.search(text), _SIGN.search(text)
    named = _THING.findall(_SIGN.sub("", text))  # a sign may say a number
    kinds = Counter(_singular(kind) for _, _, kind in named)
    if not named or place is None or max(kinds.values()) > 1:
        return None
    things = {_singular(kind): (int(number), colour) for number, colour, kind in named}
    return Described(things, sign[1] if sign else "", place[1])


def exact(prediction: str, truth: str) -> bool:
    """Whether a caption says all that the true one says, in any order, and nothing else."""
    said = described(prediction)
    return said is not None and said == described(truth)


def label_question(family: str, truth: str, prediction: str, unseen: str) -> Category:
    """The category of a wrong answer; `unseen` is the one that a black picture was given."""
    if family in PLACED:
        return "D"
    if normalise(prediction) == normalise(unseen):
        return "C"
    other_kind = normalise(prediction).split()[-1:] != normalise(truth).split()[-1:]
    if family in PRESENT and (family != "content" or other_kind):
        return "A"
    return "B" if family in (*ATTRIBUTES, "content") else "E"


def label_caption(truth: str, prediction: str, unseen: str) -> Category:
    """The category of a caption that does not fit its scene."""
    said, true = described(prediction), described(truth)
    if said is None or true is None:
        return "E"
    if normalise(prediction) == normalise(unseen):
        return "C"
    if set(said.things) != set(true.things):
        return "A"
    said, true = (
        scene._replace(things={kind: (0, colour) for kind, (_, colour) in scene.things.items()})
        for scene in (said, true)
    )
    return "D" if said == true else "B"


def _singular(kind: str) -> str:
    """The kind behind a plural: "buses" is "bus", and "bus" itself has none to lose."""
    if kind.endswith("ses"):
        return kind[:-2]
    return kind[:-1] if kind.endswith("s") and not kind.endswith("us") else kind
