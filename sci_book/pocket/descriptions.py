"""Pictures of the pocket world to describe, in answers of a dozen tokens; what a phrase says."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sci_book.files import write_whole
from sci_book.pocket.curriculum import seed_of
from sci_book.pocket.dialogue import CHOOSE, DESCRIBE
from sci_book.pocket.draw import png
from sci_book.pocket.questions import description
from sci_book.pocket.twins import LOT
from sci_book.pocket.words import plural
from sci_book.pocket.world import COLOURS, KINDS, PLACES, sample_scene

FILE = "descriptions.tsv"
SCENES = 750
"""600 test pictures and 150 of validation, by the paper's split of rows."""

ASPECTS = ("kind", "number", "colour", "symbol", "place")
"""What a phrase can be right in: `symbol` is what a sign shows."""

_KIND = "|".join(
    rf"(?P<{kind}>{kind}|{plural(kind)})" for kind in sorted(KINDS, key=len, reverse=True)
)
_PHRASES = re.compile(
    rf"\b(?P<number>\d+) (?P<colour>{'|'.join(COLOURS)}) (?:{_KIND})\b"
    r"|\ba (?P<sign>sign) with (?P<symbol>\w)\b"
    rf"|\b(?:in a|at the) (?P<place>{'|'.join(PLACES)})\b"
)


def write(folder: Path) -> None:
    """Draw the pictures into `FILE`, unless it is there: a line each with what it shows in words.

    A scene depends on its number alone, and on a seed that nobody chose.
    """
    path = folder / FILE
    if path.exists():
        return
    seed = seed_of(next(iter(CHOOSE)), "descriptions")  # of the first family; any would do
    text = io.StringIO(newline="")
    lines = csv.writer(text, delimiter="\t")
    lines.writerow(["index", "image", "question", "answer"])
    for number in range(SCENES):
        scene = sample_scene(np.random.default_rng([seed, number]), LOT)
        picture = base64.b64encode(png(scene)).decode()
        lines.writerow([number, picture, DESCRIBE[0], description(scene).en])
    write_whole(path, text.getvalue().encode())


class Phrase(NamedTuple):
    """One phrase of a description: a thing or "place", and what is said of it, by aspect."""

    what: str
    said: Mapping[str, str]


def phrases(text: str) -> list[Phrase]:
    """The phrases of a pocket description in order: "3 red buses", "a sign with K", "in a street".

    Anything else says nothing here.
    """
    found = []
    for match in _PHRASES.finditer(text.lower()):
        groups = {name: value for name, value in match.groupdict().items() if value}
        said = {aspect: groups.pop(aspect) for aspect in ASPECTS if aspect in groups}
        found.append(Phrase(next(iter(groups), "place"), said))
    return found


def judged(text: str, truth: str) -> list[dict[str, bool]]:
    """Of every phrase, in what it is right, by aspect, against a true description.

    A thing that is not in the picture is wrong in its kind, and nothing else is asked of it.
    """
    there = {phrase.what: phrase.said for phrase in phrases(truth)}
    verdicts = []
    for what, said in phrases(text):
        verdict = {"place" if what == "place" else "kind": what in there}
        if what in there:
            verdict |= {aspect: value == there[what][aspect] for aspect, value in said.items()}
        verdicts.append(verdict)
    return verdicts
