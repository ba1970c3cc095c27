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
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from sci_book.data.manifests import climbs_out
from sci_book.data.pictures import PictureError, decode_picture
from sci_book.papers.metara.overlay import Box
from sci_book.papers.metara.pictures import Refused
from sci_book.papers.metara.relations import Original, Thing

ORIGINALS = "originals.jsonl"
MASKS = ("things", "region", "asked")


class Problem(NamedTuple):
    """A line of `originals.jsonl` that is no original: its number, a name to count by, why."""

    line: int
    reason: str
    sentence: str


class Loaded(NamedTuple):
    """The originals of a set, and unusable lines."""

    originals: tuple[Original, ...]
    problems: tuple[Problem, ...]


def read_originals(folder: str | Path) -> Loaded:
    """A whole set, its pictures in memory; a line that is no original is a `Problem`.

    Raises:
        FileNotFoundError: where the folder holds no `originals.jsonl`.
    """
    path = Path(folder) / ORIGINALS
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; a set of originals begins with it.")
    originals, problems = {}, []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                original = _original(path.parent, line)
                if original.key in originals:
                    raise Refused("key comes twice", f"the key {original.key!r} came before")
            except Refused as bad:
                sentence = f"{path}, line {number}: {bad}."
                problems.append(Problem(number, bad.reason, sentence))
            else:
                originals[original.key] = original
    return Loaded(tuple(originals.values()), tuple(problems))


def _original(folder: Path, line: str) -> Original:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise Refused("no object", "expected one JSON object")
    texts = {name: fields.get(name) for name in ("key", "image", "question", "answer")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise Refused(f"no {name}", f"the {name} is {text!r}; expected a text")
    lists = {name: fields.get(name) or [] for name in ("options", "texts", "words", "unsafe")}
    for name, values in lists.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise Refused(f"bad {name}", f"{name} is {str(values)[:40]}; expected a list of texts")
    image = _picture(folder, texts["image"], "RGB")
    masks = {}
    for name in MASKS:
        if fields.get(name) is not None:
            mask = np.asarray(_picture(folder, fields[name], "L")) > 0
            if mask.shape != (image.height, image.width):
                raise Refused(
                    "mask does not fit", f"the mask {fields[name]} is not of its picture's size"
                )
            masks[name] = mask
    boxes = fields.get("boxes") or []
    present, missing = [], []
    for entry in boxes if isinstance(boxes, list) else [None]:
        thing = _thing(entry, image)
        (missing if entry["box"] is None else present).append(thing)
    return Original(
        key=texts["key"], image=image, question=texts["question"], answer=texts["answer"],
        group=str(fields.get("group") or texts["key"]), dataset=str(fields.get("dataset") or ""),
        text_rich=bool(fields.get("text_rich")), boxes=tuple(present), absent=tuple(missing),
        **{name: tuple(values) for name, values in lists.items()}, **masks,
    )  # fmt: skip


def _picture(folder: Path, name: Any, mode: str) -> Image.Image:
    if not isinstance(name, str) or climbs_out(name):
        raise Refused("picture is outside", f"{name!r} is no name of a picture in the folder")
    try:
        return decode_picture((folder / name).read_bytes()).convert(mode)
    except OSError as error:
        raise Refused("picture is missing", f"there is no picture {name!r}") from error
    except PictureError as error:
        raise Refused(error.kind, f"{name!r} cannot be used ({error})") from error


def _thing(entry: Any, image: Image.Image) -> Thing:
    """A box, or an empty one for a kind that is not there."""
    try:
        kind, plural, box = str(entry["kind"]), str(entry["plural"]), entry["box"]
        location = Box(*map(int, box)) if box is not None else Box(0, 0, 0, 0)
    except (TypeError, KeyError, ValueError) as error:
        said = "a box is no {kind, plural, box: [left, top, right, bottom]}"
        raise Refused("bad box", said) from error
    if box is not None and not location.inside(image.width, image.height):
        raise Refused("bad box", f"the box {box} is not inside its picture")
    return Thing(kind, plural, location)
