"""Annotations in COCO's format, and all that can be wrong with them, counted and named.

What is wrong with a *file* is a `DatasetError`. What is wrong with an *annotation*, a category or a
picture leaves it out under a named reason, kept in `Annotations.problems`. A box that cannot be
used still says that its category is in the picture, so that it is never asked about as absent.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sci_book.data.manifests import climbs_out
from sci_book.data.rows import DatasetError
from sci_book.papers.oric.areas import Box, union_area


class Problem(NamedTuple):
    """Something left out: where, the reason's name, and what came."""

    where: str
    reason: str
    came: str = ""


class LeavesOut:
    """Whatever holds what it left out as `problems`."""

    problems: tuple[Problem, ...]

    def reasons(self) -> Mapping[str, int]:
        """How much was left out, by reason."""
        return Counter(problem.reason for problem in self.problems)


@dataclass(frozen=True)
class Picture:
    """One picture: its file's name, the boxes of its objects by category, and all it shows.

    `boxes` has no crowd region and no box that cannot be used; `present` has their categories too.
    A box is clipped to its picture, on the right and below where the file states its size.
    """

    name: str
    boxes: Mapping[str, tuple[Box, ...]]
    present: frozenset[str]

    @cached_property
    def areas(self) -> dict[str, float]:
        """Equation (2) by category, in the order of `boxes`."""
        return {name: union_area(boxes) for name, boxes in self.boxes.items()}


@dataclass(frozen=True)
class Annotations(LeavesOut):
    """The usable pictures of a file in its order, all categories' names, and what was left out."""

    pictures: tuple[Picture, ...]
    categories: tuple[str, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def by_name(self) -> Mapping[str, Picture]:
        """The pictures by their file's name."""
        return {picture.name: picture for picture in self.pictures}


def load(path: str | Path, images: str | Path | None = None) -> Annotations:
    """Read a file of instances in COCO's format.

    Args:
        images: the pictures' folder; those not in it are left out. None reads annotations alone.

    Raises:
        DatasetError: the file is missing, no JSON, or lacks pictures, annotations or categories.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError(f"{path} does not exist; expected annotations in COCO's JSON format.")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no readable JSON ({error}). Get it again.") from error
    for key in ("images", "annotations", "categories"):
        if not isinstance(content, dict) or not isinstance(content.get(key), list):
            raise DatasetError(
                f"{path} has no list {key!r}; expected annotations of instances in COCO's format."
            )
    return read(content, None if images is None else Path(images))


def read(content: Mapping[str, Any], images: Path | None = None) -> Annotations:
    """The same from the content of such a file."""
    problems: list[Problem] = []
    names = _categories(content["categories"], problems)
    files = _files(content["images"], images, problems)
    boxes: dict[Any, dict[str, list[Box]]] = {key: {} for key in files}
    present: dict[Any, set[str]] = {key: set() for key in files}
    left_out = {_key(image, "id") for image in content["images"]} - files.keys()
    for number, annotation in enumerate(content["annotations"]):
        where = f"annotation {_key(annotation, 'id') or f'number {number + 1}'}"
        picture, category = _key(annotation, "image_id"), _key(annotation, "category_id")
        if picture not in files:
            if picture is None or picture not in left_out:
                problems.append(Problem(where, "annotation of no picture", str(picture)))
            continue
        if category not in names:
            problems.append(Problem(where, "unknown category", str(category)))
            continue
        name = names[category]
        if name is None:
            problems.append(Problem(where, "annotation of a category without a name"))
            continue
        present[picture].add(name)
        if annotation.get("iscrowd"):
            problems.append(Problem(where, "crowd region", name))
            continue
        _, width, height = files[picture]
        box, reason = _box(annotation.get("bbox"), width, height)
        if box is None:
            problems.append(Problem(where, reason, str(annotation.get("bbox"))[:80]))
            continue
        boxes[picture].setdefault(name, []).append(box)
    return Annotations(
        tuple(
            Picture(
                file,
                {name: tuple(category_boxes) for name, category_boxes in boxes[key].items()},
                frozenset(present[key]),
            )
            for key, (file, *_) in files.items()
        ),
        tuple(dict.fromkeys(name for name in names.values() if name is not None)),
        tuple(problems),
    )


def _categories(entries: Iterable[Any], problems: list[Problem]) -> dict[Any, str | None]:
    names: dict[Any, str | None] = {}
    for number, entry in enumerate(entries, start=1):
        key = _key(entry, "id")
        where = f"category {key or f'number {number}'}"
        name = entry.get("name") if isinstance(entry, dict) else None
        name = " ".join(name.split()) if isinstance(name, str) else ""
        if key is None or key in names:
            problems.append(Problem(where, "category without an id of its own", name))
            continue
        if not name:
            problems.append(Problem(where, "category without a name"))
        names[key] = name or None
    return names


def _files(
    entries: Iterable[Any], images: Path | None, problems: list[Problem]
) -> dict[Any, tuple[str, float, float]]:
    """The file, width and height of every usable picture."""
    files: dict[Any, tuple[str, float, float]] = {}
    taken: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        key = _key(entry, "id")
        name = entry.get("file_name") if isinstance(entry, dict) else None
        where = f"picture {key or f'number {number}'}"
        if key is None or key in files or not isinstance(name, str) or not name or name in taken:
            problems.append(
                Problem(where, "picture without an id and a file of its own", str(name))
            )
        elif climbs_out(name):
            problems.append(Problem(where, "picture outside its folder", name[:80]))
        elif images is not None and not (images / name).is_file():
            problems.append(Problem(where, "missing image", name[:80]))
        else:
            files[key] = name, _limit(entry.get("width")), _limit(entry.get("height"))
            taken.add(name)
    return files


def _key(entry: Any, field: str) -> int | str | None:
    value = entry.get(field) if isinstance(entry, dict) else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _limit(side: Any) -> float:
    """A picture's width or height, infinite where the file states none that can be."""
    return float(side) if _is_number(side) and side > 0 else math.inf


def _box(value: Any, across: float, down: float) -> tuple[Box | None, str]:
    """A box, clipped to its picture of this width and height; or None and why it cannot be used."""
    if value is None or value == []:
        return None, "missing box"
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_number, value)):
        return None, "box that is not four numbers"
    left, top, width, height = map(float, value)
    if width < 0 or height < 0:
        return None, "negative box"
    if left + width <= 0 or top + height <= 0 or left >= across or top >= down:
        return None, "box outside the picture"
    if width == 0 or height == 0:
        return None, "box of no area"
    if left < 0 or left + width > across:  # what fits is not computed anew: no digit changes
        left, width = max(left, 0.0), min(left + width, across) - max(left, 0.0)
    if top < 0 or top + height > down:
        top, height = max(top, 0.0), min(top + height, down) - max(top, 0.0)
    return (left, top, width, height), ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
