"""Sets of originals as files.

A set of originals is a folder: `originals.jsonl`, one object a line, and pictures and masks (PNG,
any value but 0 is inside) by names relative to it. `sci_book/pocket/metara.py` writes two; any
other data can be put into the same form.

==================================  ===============================================================
key, dataset, image                 the original's name, its data set, its picture
question, answer, options           as they stand; options for multiple choice alone
group                               the cluster of intervals; by default the key
things, region, asked               names of masks, or null
text_rich, texts, words, unsafe     as in `relations.Original`
boxes                               `kind`, `plural`, `box` [left, top, right, bottom]; null in
                                    place of a box is a kind that is not there (MetaVQA)
==================================  ===============================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from sci_book.data.manifests import climbs_out
from sci_book.data.pictures import PictureError, decode_picture
from sci_book.papers.metara.metavqa import Thing
from sci_book.papers.metara.overlay import Box
from sci_book.papers.metara.relations import Original

ORIGINALS = "originals.jsonl"
MASKS = ("things", "region", "asked")


class Problem(NamedTuple):
    """A line of `originals.jsonl` that is no original: its number, a name to count by, why."""

    line: int
    reason: str
    sentence: str


class Loaded(NamedTuple):
    """The originals of a set, their things and the kinds that are absent, and unusable lines."""

    originals: tuple[Original, ...]
    things: Mapping[str, tuple[Thing, ...]]
    absent: Mapping[str, tuple[Thing, ...]]
    problems: tuple[Problem, ...]


class _Bad(Exception):
    def __init__(self, reason: str, sentence: str):
        super().__init__(sentence)
        self.reason = reason


class Read(NamedTuple):
    """One line of a set: an original, its things, and the kinds that are not there."""

    original: Original
    things: tuple[Thing, ...]
    absent: tuple[Thing, ...]


def each_original(folder: str | Path) -> Iterator[Read | Problem]:
    """Every line of a set in turn, read when it is asked for; one that is no original is a
    `Problem`, to be counted.

    Raises:
        FileNotFoundError: where the folder holds no `originals.jsonl`.
    """
    path = Path(folder) / ORIGINALS
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; a set of originals begins with it.")
    seen: set[str] = set()
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                read = _original(path.parent, line)
                if read.original.key in seen:
                    raise _Bad("key comes twice", f"the key {read.original.key!r} came before")
            except _Bad as bad:
                yield Problem(number, bad.reason, f"{path}, line {number}: {bad}.")
                continue
            seen.add(read.original.key)
            yield read


def read_originals(folder: str | Path) -> Loaded:
    """A whole set at once, its pictures in memory; for a large one there is `each_original`."""
    lines = list(each_original(folder))
    read = [line for line in lines if isinstance(line, Read)]
    return Loaded(
        tuple(each.original for each in read),
        {each.original.key: each.things for each in read},
        {each.original.key: each.absent for each in read},
        tuple(line for line in lines if isinstance(line, Problem)),
    )


def _original(folder: Path, line: str) -> Read:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Bad("no object", "expected one JSON object")
    texts = {name: found.get(name) for name in ("key", "image", "question", "answer")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise _Bad(f"no {name}", f"the {name} is {text!r}; expected a text")
    lists = {name: found.get(name) or [] for name in ("options", "texts", "words", "unsafe")}
    for name, values in lists.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise _Bad(f"bad {name}", f"{name} is {str(values)[:40]}; expected a list of texts")
    image = _picture(folder, texts["image"], "RGB")
    masks = {}
    for name in MASKS:
        if found.get(name) is not None:
            mask = np.asarray(_picture(folder, found[name], "L")) > 0
            if mask.shape != (image.height, image.width):
                raise _Bad(
                    "mask does not fit", f"the mask {found[name]} is not of its picture's size"
                )
            masks[name] = mask
    boxes = found.get("boxes") or []
    present, missing = [], []
    for entry in boxes if isinstance(boxes, list) else [None]:
        thing = _thing(entry, image)
        (missing if entry["box"] is None else present).append(thing)
    original = Original(
        key=texts["key"], image=image, question=texts["question"], answer=texts["answer"],
        group=str(found.get("group") or texts["key"]), dataset=str(found.get("dataset") or ""),
        text_rich=bool(found.get("text_rich")),
        **{name: tuple(values) for name, values in lists.items()}, **masks,
    )  # fmt: skip
    return Read(original, tuple(present), tuple(missing))


def _picture(folder: Path, name: Any, mode: str) -> Image.Image:
    if not isinstance(name, str) or climbs_out(name):
        raise _Bad("picture is outside", f"{name!r} is no name of a picture in the folder")
    try:
        return decode_picture((folder / name).read_bytes()).convert(mode)
    except OSError as error:
        raise _Bad("picture is missing", f"there is no picture {name!r}") from error
    except PictureError as error:
        raise _Bad(error.kind, f"{name!r} cannot be used ({error})") from error


def _thing(entry: Any, image: Image.Image) -> Thing:
    """A box, or an empty one for a kind that is not there."""
    try:
        kind, plural, box = str(entry["kind"]), str(entry["plural"]), entry["box"]
        place = Box(*map(int, box)) if box is not None else Box(0, 0, 0, 0)
    except (TypeError, KeyError, ValueError) as error:
        raise _Bad("bad box", "a box is no {kind, plural, box: [left, top, right, bottom]}") from (
            error
        )
    inside = (
        0 <= place.left < place.right <= image.width
        and 0 <= place.top < place.bottom <= image.height
    )
    if box is not None and not inside:
        raise _Bad("bad box", f"the box {box} is not inside its picture")
    return Thing(kind, plural, place)
