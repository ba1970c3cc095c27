"""Questions and captions of the pocket world for the Edge Reliability Gap: VQAv2 and COCO in small.

Each is about a picture of its own, held out from training; one question in three is a claim to
confirm or deny, and half have the usual answer. A caption's truth is the whole scene in words.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from sci_book.pocket.dialogue import DESCRIBE, YES_NO
from sci_book.pocket.draw import png
from sci_book.pocket.questions import FAMILIES, description
from sci_book.pocket.twins import LOT, ask
from sci_book.pocket.world import WORLD, sample_scene

CAPTION = "caption"
SHORT = tuple(name for name in FAMILIES if name not in ("existence", "negation", "caption"))
CLAIMED = tuple(name for name in FAMILIES if name != "caption")
CLAIM_EVERY = 3

_SEED = WORLD + 7  # next to those of the other twins


class Item(NamedTuple):
    """One picture with what is asked about it.

    kind      "short", "yesno" (the question ends in its instruction) or "free" (a caption)
    family    what the question is about, of `questions.FAMILIES`, or "caption"
    picture   the PNG file
    """

    kind: Literal["short", "yesno", "free"]
    family: str
    question: str
    answer: str
    picture: bytes


def question(number: int) -> Item:
    """One question; it depends on its number alone."""
    rng = np.random.default_rng([_SEED, 0, number])
    usual = bool(rng.random() < 0.5)
    turn, place = divmod(number, CLAIM_EVERY)
    claimed = place == CLAIM_EVERY - 1
    family = CLAIMED[turn % len(CLAIMED)] if claimed else SHORT[(number - turn) % len(SHORT)]
    scene, query = ask(rng, family, lambda query: query.usual == usual)
    if not claimed:
        return Item("short", family, query.question.en, query.answer.en, png(scene))
    true = bool(rng.random() < 0.5)
    claim = query.claims[0 if true else 1]  # the false claim is the most tempting one
    return Item("yesno", family, f"{claim.en} {YES_NO}", "yes" if true else "no", png(scene))


def caption(number: int) -> Item:
    """One caption; it depends on its number alone."""
    scene = sample_scene(np.random.default_rng([_SEED, 1, number]), LOT)
    return Item("free", CAPTION, DESCRIBE[0], description(scene).en, png(scene))


MAKERS = {"questions": question, "captions": caption}
"""What draws an item, by the name of its data set in the records."""
