"""The peer ranking: MetaVQA's relations (Yuan et al., CVPR 2021), on pictures with boxes.

A perception question about a picture is put again to parts of it, and the answers must compose:

count       how many there are = the sum over the two sides of a cut that crosses no box
existence   there is one = there is one on either side of the cut
colour      the colour of the one thing of a kind = its colour in a crop around it

No ground truth is needed. An unknown answer composes with nothing: the relation is violated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from PIL import Image

from sci_book.papers.metara.overlay import Box
from sci_book.papers.metara.relations import Original

RELATIONS = ("count", "existence", "colour")
MARGIN = 0.25  # of a box's sides, kept around it in a crop
LEAST_SIDE = 16  # pixels of a part; a smaller one is not asked about

QuestionType = Literal["yesno", "number", "short"]


class Composed(NamedTuple):
    """A question about a whole picture and about its parts (the first image is the whole)."""

    key: str
    relation: str
    question: str
    question_type: QuestionType
    images: tuple[Image.Image, ...]


def compositions(original: Original) -> list[Composed]:
    """Every question of `RELATIONS` that an original's boxes allow."""
    composed = []
    key, image, things = original.key, original.image, original.boxes
    kinds = {thing.kind: thing.plural for thing in (*things, *original.absent)}
    if sides := split(image, [thing.box for thing in things]):
        images = (image, *sides)
        for kind, plural in kinds.items():
            count = f"How many {plural} are there?"
            existence = f"Is there {_article(kind)} in the picture?"
            composed.append(Composed(key, "count", count, "number", images))
            composed.append(Composed(key, "existence", existence, "yesno", images))
    for thing in things:
        part = around(image, thing.box)
        if sum(other.kind == thing.kind for other in things) == 1 and part is not None:
            question = f"What color is the {thing.kind}?"
            composed.append(Composed(key, "colour", question, "short", (image, part)))
    return composed


def split(image: Image.Image, boxes: Sequence[Box]) -> tuple[Image.Image, Image.Image] | None:
    """The picture in two along the line nearest its middle that crosses no box; None if none."""
    width, height = image.size
    cuts = [
        (abs(cut / side - 0.5), cut, upright)
        for side, upright in ((width, True), (height, False))
        for cut in range(LEAST_SIDE, side - LEAST_SIDE + 1)
    ]
    for _, cut, upright in sorted(cuts):
        if upright and not any(box.left < cut < box.right for box in boxes):
            return image.crop((0, 0, cut, height)), image.crop((cut, 0, width, height))
        if not upright and not any(box.top < cut < box.bottom for box in boxes):
            return image.crop((0, 0, width, cut)), image.crop((0, cut, width, height))
    return None


def around(image: Image.Image, box: Box) -> Image.Image | None:
    """A box and a margin cut out; None where that is all of the picture or too small."""
    x, y = round(MARGIN * (box.right - box.left)), round(MARGIN * (box.bottom - box.top))
    left, top = max(box.left - x, 0), max(box.top - y, 0)
    right, bottom = min(box.right + x, image.width), min(box.bottom + y, image.height)
    part = image.crop((left, top, right, bottom))
    return None if part.size == image.size or min(part.size) < LEAST_SIDE else part


def violated(relation: str, whole: str | None, parts: Sequence[str | None]) -> bool:
    """Whether the answers, parsed, do not compose.

    Raises:
        ValueError: for an unknown relation, or a number of parts that it does not have.
    """
    if relation not in RELATIONS:
        raise ValueError(f"There is no relation {relation!r}; there are {', '.join(RELATIONS)}.")
    if len(parts) != (1 if relation == "colour" else 2):
        raise ValueError(f"{len(parts)} parts came for {relation}.")
    if whole is None or any(part is None for part in parts):
        return True
    if relation == "count":
        return float(whole) != sum(float(part) for part in parts if part is not None)
    if relation == "existence":
        return (whole == "yes") != ("yes" in parts)
    return whole != parts[0]


def _article(noun: str) -> str:
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun
