"""The pocket twins of MetaRA's two tasks: knowledge questions, and questions about text on signs.

A *knowledge* question is about what the picture alone does not show; a *text* question asks what is
written on a sign. Scenes give the masks: all things, the one asked about, and its whole kind, which
no overlay may hide. `sci_book/papers/metara/originals.py` tells the form of the files. Training
never draws from this seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from sci_book.files import write_whole
from sci_book.pocket.draw import boxes, masks, png
from sci_book.pocket.lock import is_drawn
from sci_book.pocket.questions import Query
from sci_book.pocket.twins import ask
from sci_book.pocket.words import plural, with_article
from sci_book.pocket.world import KINDS, WORLD, Lot, Scene

SETS: dict[str, tuple[str, ...]] = {
    "knowledge": ("place", "what_if", "switched"),
    "text": ("sign",),
}
SIZE = 150  # originals of a set
ORIGINALS = "originals.jsonl"
STAMP = "made.json"  # set, seed and size of what lies in the folder

# Operations that would change an answer: a place is its background, a lamp that is on is lighter.
UNSAFE = {"place": ("background",), "what_if": (), "switched": ("shade",), "sign": ()}

_SEED = WORLD + 40  # apart from those of the other twins
_LOTS = {
    "knowledge": Lot(skew=0.5, kinds=3, dim=0.2, sign=0.0),
    "text": Lot(skew=0.5, kinds=2, dim=0.2, sign=1.0),
}


def item(name: str, number: int, *, seed: int = 0) -> tuple[Scene, Query]:
    """Scene and question number `number` of a set; they depend on these three alone.

    Families come in turn, each as often with the usual answer as without.
    """
    if name not in SETS:
        raise ValueError(f"There is no set {name!r}; there are {' and '.join(SETS)}.")
    families = SETS[name]
    rng = np.random.default_rng([_SEED, seed, list(SETS).index(name), number])
    family = families[number % len(families)]
    usual = bool(number // len(families) % 2)
    return ask(rng, family, lambda query: query.usual == usual, _LOTS[name])


def original(name: str, number: int, scene: Scene, query: Query) -> dict:
    """What `originals.jsonl` says of an item; names of its files included."""
    key = f"{name}_{number:05d}"
    asked = _asked(scene, query)
    absent = [kind for kind in KINDS if kind not in scene.kinds][number % 7 :][:2]
    return {
        "key": key,
        "dataset": f"pocket {name}",
        "image": f"pictures/{key}.png",
        "question": query.question.en,
        "answer": query.answer.en,
        "family": query.family,
        "usual": query.usual,
        "things": f"masks/{key}_things.png",
        "region": f"masks/{key}_region.png",
        "asked": f"masks/{key}_asked.png",
        "text_rich": name == "text",
        # True of the picture, and no answer to any of the questions.
        "texts": [with_article(kind) for kind in scene.kinds],
        "words": [scene.place, *scene.kinds, *(thing.colour for thing in scene.things),
                  *(["sign", scene.things[asked].text or ""] if name == "text" else [])],
        "unsafe": list(UNSAFE[query.family]),
        "boxes": [
            {"kind": thing.kind, "plural": plural(thing.kind), "box": list(box)}
            for thing, box in zip(scene.things, boxes(scene), strict=True)
        ]
        + [{"kind": kind, "plural": plural(kind), "box": None} for kind in absent],
    }  # fmt: skip


def write(
    folder: str | Path,
    name: str,
    *,
    size: int = SIZE,
    say: Callable[[str], None] = print,
) -> Path:
    """Draw and write `size` originals of a set, unless they are there; the path of `ORIGINALS`.

    Raises:
        ValueError: for an unknown set or no size, or if the folder holds another set.
    """
    if name not in SETS or size < 1:
        raise ValueError(f"{size} originals of {name!r}; expected 1 or more of {sorted(SETS)}.")
    folder = Path(folder)
    path, stamp = folder / ORIGINALS, json.dumps({"set": name, "seed": 0, "size": size})
    if is_drawn(path, folder / STAMP, stamp, "set", "it"):
        return path
    say(f"drawing {size:,} scenes")
    for part in ("pictures", "masks"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(size):
        scene, query = item(name, number)
        entry = original(name, number, scene, query)
        sheets = masks(scene)
        (folder / entry["image"]).write_bytes(png(scene))
        asked = scene.things[_asked(scene, query)].kind
        same_kind = [thing.kind == asked for thing in scene.things]
        for mask, file in (
            (sheets.any(0), "things"),
            (sheets[_asked(scene, query)], "region"),
            (sheets[same_kind].any(0), "asked"),
        ):
            Image.fromarray(mask.astype(np.uint8) * 255).save(folder / entry[file])
        lines.append(json.dumps(entry, ensure_ascii=False))
    write_whole(folder / STAMP, stamp.encode())
    write_whole(path, ("\n".join(lines) + "\n").encode())
    return path


def _asked(scene: Scene, query: Query) -> int:
    """Which of the scene's things a question is about: the sign, the first of the kind that it
    names, or the first there is."""
    names = [i for i, t in enumerate(scene.things) if t.kind in _singulars(query.question.en)]
    signs = [i for i, t in enumerate(scene.things) if t.kind == "sign"]
    things = [i for i, t in enumerate(scene.things) if t.kind != "sign"]
    return (signs if query.family == "sign" else names or things)[0]


def _singulars(text: str) -> set[str]:
    words = set(text.lower().strip("?").split())
    return {kind for kind in KINDS if kind in words or plural(kind) in words}
