"""The pocket twin of C-VQA-Real: what-if questions over pocket scenes, with their originals.

Three types, as in the public set: *direct* presuppositions change the number asked for, *indirect*
ones something it depends on, *boolean* ones turn a yes into a no or the reverse. The counterfactual
answer always differs from the original one. Training never draws from this seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sci_book.files import csv_bytes, write_whole
from sci_book.pocket.draw import png
from sci_book.pocket.lock import is_drawn
from sci_book.pocket.words import plural, with_article
from sci_book.pocket.world import CELLS, COLOURS, KINDS, WORLD, Lot, Scene, pick, sample_scene

COLUMNS = ("img_path", "query", "answer", "new query", "new answer", "type")
GROUP_COLUMNS = ("img_path", "place", "light", "indoors")
SIZES = {"direct": 1150, "indirect": 864, "boolean": 1130}  # the public set's
QUESTIONS = "C-VQA-Pocket_questions.csv"
GROUPS = "C-VQA-Pocket_groups.csv"
SCENES = "C-VQA-Pocket_scenes.jsonl"
STAMP = "C-VQA-Pocket_made.json"  # seed and sizes of what lies in the folder

_SEED = WORLD + 6  # next to those of the other twins
_LOT = Lot(skew=0.5, kinds=3, dim=0.2, sign=0.2)
_INDOORS = ("kitchen", "bedroom")
_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "middle", "right")


@dataclass(frozen=True)
class WhatIf:
    """A question and its answer, and both under a presupposition."""

    question: str
    answer: str
    new_question: str
    new_answer: str


def direct(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """How many cows would there be if 2 more cows were added, 1 were removed, they doubled …?"""
    kind = _pick(rng, scene.kinds)
    if kind is None:
        return None
    now, many = scene.count(kind), plural(kind)
    taken = int(rng.integers(1, now + 1))
    added = int(rng.integers(1, 4))
    clause, then = (
        (f"{added} more {kind if added == 1 else many} were added", now + added),
        (f"{taken} {kind if taken == 1 else many} were removed", now - taken),
        (f"the number of {many} doubled", 2 * now),
        (f"all {many} were removed", 0),
    )[rng.choice(4, p=(0.4, 0.35, 0.15, 0.1))]
    return _how_many(many, now, clause, then)


def indirect(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """How many cows would there be if everything in the left column were removed …?"""
    forms = (_part_removed, _kind_turned, _things_left, _of_a_colour_left, _all_switched)
    return pick(rng, forms)(scene, rng)


def boolean(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """Would there be a cow in the picture if all cows were removed …? The answer turns round."""
    return pick(rng, (_presence, _colour, _where, _switch))(scene, rng)


TYPES = {"direct": direct, "indirect": indirect, "boolean": boolean}


def item(seed: int, kind: str, number: int) -> tuple[Scene, WhatIf]:
    """Scene and questions number `number` of a type; they depend on these three alone.

    Every other boolean original is answered yes.
    """
    rng = np.random.default_rng([_SEED, seed, list(TYPES).index(kind), number])
    wanted = ("yes", "no")[number % 2]
    while True:
        scene = sample_scene(rng, _LOT)
        asked = TYPES[kind](scene, rng)
        if asked is None or asked.answer == asked.new_answer:
            continue
        if kind != "boolean" or asked.answer == wanted:
            return scene, asked


def write(
    folder: str | Path,
    *,
    seed: int = 0,
    sizes: dict[str, int] = SIZES,
    say: Callable[[str], None] = print,
) -> Path:
    """Draw and write the twin, unless it is there (`is_drawn`); the path of its questions.

    Args:
        sizes: how many items of each type.

    Raises:
        ValueError: if the folder holds a twin of another seed or other sizes.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, stamp = folder / QUESTIONS, json.dumps({"seed": seed, "sizes": sizes})
    if is_drawn(path, folder / STAMP, stamp, "twin", "that twin"):
        return path
    say(f"drawing {sum(sizes.values()):,} scenes")
    questions, groups, scenes = [COLUMNS], [GROUP_COLUMNS], []
    for kind, size in sizes.items():
        for number in range(size):
            scene, asked = item(seed, kind, number)
            name = f"pocket_{kind}_{number:06d}.png"
            (folder / name).write_bytes(png(scene))
            questions.append(
                (name, asked.question, asked.answer, asked.new_question, asked.new_answer, kind)
            )
            indoors = "yes" if scene.place in _INDOORS else "no"
            groups.append((name, scene.place, scene.light, indoors))
            scenes.append(json.dumps({"img_path": name, **detections(scene)}))
    write_whole(folder / STAMP, stamp.encode())
    write_whole(folder / SCENES, ("\n".join(scenes) + "\n").encode())
    write_whole(folder / GROUPS, csv_bytes(groups))
    write_whole(path, csv_bytes(questions))
    return path


def detections(scene: Scene) -> dict:
    """A scene as a perfect detector would report it, ready for JSON.

    `place`, `light`, and `things`, each with `kind`, `colour`, `cell` (its name), `row` (top,
    middle, bottom), `column` (left, middle, right), `on` (of lamps, else null) and `text` (of
    signs, else null).
    """
    return {
        "place": scene.place,
        "light": scene.light,
        "things": [
            {
                "kind": thing.kind,
                "colour": thing.colour,
                "cell": CELLS[thing.cell],
                "row": _ROWS[thing.cell // 3],
                "column": _COLUMNS[thing.cell % 3],
                "on": thing.on,
                "text": thing.text,
            }
            for thing in scene.things
        ],
    }


def _how_many(many: str, now: int, clause: str, then: int) -> WhatIf:
    return WhatIf(
        f"How many {many} are there?", str(now),
        f"How many {many} would there be if {clause}?", str(then),
    )  # fmt: skip


def _part_removed(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """A row or a column of the picture is emptied."""
    kind = _pick(rng, scene.kinds)
    if kind is None:
        return None
    line = int(rng.integers(3))
    if rng.random() < 0.5:
        part, gone = f"{_ROWS[line]} row", [t for t in scene.of(kind) if t.cell // 3 == line]
    else:
        part, gone = f"{_COLUMNS[line]} column", [t for t in scene.of(kind) if t.cell % 3 == line]
    now = scene.count(kind)
    clause = f"everything in the {part} were removed"
    return _how_many(plural(kind), now, clause, now - len(gone))


def _kind_turned(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """Everything of one kind becomes another."""
    if len(scene.kinds) < 2:
        return None
    kind, other = (scene.kinds[i] for i in rng.choice(len(scene.kinds), 2, replace=False))
    now = scene.count(kind)
    clause = f"every {other} were turned into {with_article(kind)}"
    return _how_many(plural(kind), now, clause, now + scene.count(other))


def _things_left(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """One kind goes, all things are counted."""
    kind = _pick(rng, scene.kinds)
    if kind is None or scene.sign is not None:  # whether a sign is a thing is not asked
        return None
    now = len(scene.things)
    clause = f"all {plural(kind)} were removed"
    return _how_many("things", now, clause, now - scene.count(kind))


def _of_a_colour_left(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """One kind goes, all things of its colour are counted."""
    kind = _pick(rng, scene.kinds)
    if kind is None or scene.sign is not None:
        return None
    colour = scene.of(kind)[0].colour
    now = sum(thing.colour == colour for thing in scene.things)
    clause = f"all {plural(kind)} were removed"
    return _how_many(f"{colour} things", now, clause, now - scene.count(kind))


def _all_switched(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """Every lamp's switch is pressed."""
    lamps = scene.of("lamp")
    if not lamps:
        return None
    lit = sum(bool(lamp.on) for lamp in lamps)
    return WhatIf(
        "How many lamps are on?", str(lit),
        "How many lamps would be on if every switch were pressed?", str(len(lamps) - lit),
    )  # fmt: skip


def _presence(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """What is there goes, or what is not comes."""
    if rng.random() < 0.5:
        kind = _pick(rng, scene.kinds)
        if kind is None:
            return None
        answers, clause = ("yes", "no"), f"all {plural(kind)} were removed"
    else:
        kind = _pick(rng, [k for k in KINDS if k not in scene.kinds])
        answers, clause = ("no", "yes"), f"{with_article(kind)} were added"
    noun = with_article(kind)
    return WhatIf(
        f"Is there {noun} in the picture?", answers[0],
        f"Would there be {noun} in the picture if {clause}?", answers[1],
    )  # fmt: skip


def _colour(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """Something is painted in another colour, or in the colour asked about."""
    kind = _pick(rng, scene.kinds)
    if kind is None:
        return None
    mine = scene.of(kind)[0].colour
    other = _pick(rng, [c for c in COLOURS if c != mine])
    is_, noun = ("is", kind) if scene.count(kind) == 1 else ("are", plural(kind))
    asked, answers = (mine, ("yes", "no")) if rng.random() < 0.5 else (other, ("no", "yes"))
    return WhatIf(
        f"{is_.capitalize()} the {noun} {asked}?", answers[0],
        f"Would the {noun} be {asked} if {'it' if is_ == 'is' else 'they'} were painted {other}?",
        answers[1],
    )  # fmt: skip


def _where(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """Something is moved away from the cell asked about, or to it."""
    kind = _pick(rng, [k for k in scene.kinds if scene.count(k) == 1])
    if kind is None:
        return None
    mine = CELLS[scene.of(kind)[0].cell]
    free = [c for i, c in enumerate(CELLS) if all(t.cell != i for t in scene.things)]
    other = _pick(rng, free)
    if other is None:
        return None
    asked, answers = (mine, ("yes", "no")) if rng.random() < 0.5 else (other, ("no", "yes"))
    return WhatIf(
        f"Is the {kind} at the {asked}?", answers[0],
        f"Would the {kind} be at the {asked} if it were moved to the {other}?", answers[1],
    )  # fmt: skip


def _switch(scene: Scene, rng: np.random.Generator) -> WhatIf | None:
    """The lamp's switch is pressed."""
    if scene.count("lamp") != 1:
        return None
    now = bool(scene.of("lamp")[0].on)
    asked = pick(rng, ("on", "off"))
    answers = ("yes", "no") if now == (asked == "on") else ("no", "yes")
    return WhatIf(
        f"Is the lamp {asked}?", answers[0],
        f"Would the lamp be {asked} if its switch were pressed?", answers[1],
    )  # fmt: skip


def _pick(rng: np.random.Generator, values) -> str | None:
    return pick(rng, values) if values else None
