"""What a pocket model is shown, step by step.

First pictures with the names of what is in them, for the vision tower; next language alone; then
dialogue about pictures, on a world that grows fuller and more skewed. Item i of `Batches` depends
on (seed, i) only, so an interrupted run goes on as if it had not been.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from sci_book.pocket.dialogue import Mix, Segment, segment
from sci_book.pocket.draw import draw, empty_picture
from sci_book.pocket.words import manifest
from sci_book.pocket.world import (
    CELLS,
    COLOURS,
    KINDS,
    MOST_OF_A_KIND,
    PLACES,
    SYMBOLS,
    Lot,
    Scene,
    sample_scene,
)
from sci_book.resources import MANIFESTS

PICTURES = 24  # a step
TURN_TOKENS = 256  # a row is filled with turns up to this length,
MOST_TURNS = 10  # chosen in order among this many
VISION_PICTURES = 64
VISION_STEPS = 1500
VISION_LOT = Lot(skew=0.3, kinds=3, dim=0.1, sign=0.4)
HELD_OUT = 10**9  # steps from here on are never trained on


@dataclass(frozen=True)
class Stage:
    """Data of so many steps; without `pictures`, turns are about none.

    `tower`: the vision tower learns too. `empty`: the share of pictures that show nothing of the
    scene asked about (`draw.empty_picture`), where only habit can answer.
    """

    steps: int
    lot: Lot
    mix: Mix
    pictures: bool = True
    tower: bool = False
    empty: float = 0.0


_MANIFEST = manifest("recipes.yaml")


def _stage(lot: str | dict, mix: dict, **settings: Any) -> Stage:
    """A stage as a manifest describes it; lots and families by name are those of `recipes.yaml`."""
    mix = dict(mix)
    if "families" in mix:
        named = mix["families"]
        named = _MANIFEST["families"][named] if isinstance(named, str) else named
        tries = named.items() if isinstance(named, dict) else ((family, 1) for family in named)
        mix["families"] = tuple(family for family, count in tries for _ in range(count))
    if "binding_words" in mix:
        words = {"colours": COLOURS, "kinds": KINDS}
        mix["binding_words"] = tuple(word for name in mix["binding_words"] for word in words[name])
    lot = _MANIFEST["lots"][lot] if isinstance(lot, str) else lot
    return Stage(lot=Lot(**lot), mix=Mix(**mix), **settings)


class Part(NamedTuple):
    """Stages that one optimizer takes; `shares` of the full rate by step of the part, which it
    joins by straight lines."""

    stages: tuple[Stage, ...]
    shares: tuple[tuple[int, float], ...]

    @property
    def steps(self) -> int:
        return sum(stage.steps for stage in self.stages)


def _part(stages: list[dict], shares: list[list[float | int]]) -> Part:
    return Part(
        tuple(_stage(**stage) for stage in stages),
        tuple((int(step), float(share)) for step, share in shares),
    )


# By step: down to a half, more slowly to a twentieth, and once more up and down for the last stage.
LATE_SHARES = ((0, 1.0), (2070, 0.5), (5699, 0.05), (5760, 0.2), (6179, 0.02))


def onward_shares(steps: int) -> tuple[tuple[int, float], ...]:
    """Of what goes on from a finished training: from a quarter down to a fiftieth."""
    return (0, 0.25), (steps - 1, 0.02)


RECIPES: dict[str, tuple[Part, ...]] = {}
"""Schedules by name. `late` and then `onward` made the book's earlier models, and the dial turns
the last stage of `onward`; today's trainings have a recipe a family (below). The others were tried
on pilots and given up."""
for _name, _stages in _MANIFEST["recipes"].items():
    _made = Part(tuple(_stage(**stage) for stage in _stages), LATE_SHARES)
    RECIPES[_name] = (
        _made._replace(shares=onward_shares(_made.steps)) if _name == "onward" else _made,
    )
DIAL = manifest("dial.yaml")
"""The dial: `settings` by name, the stage that they turn, and what their trainings begin from."""


def _turned(setting: dict) -> Stage:
    """The dial's stage with what a setting replaces of its lot and mix."""
    stage = RECIPES[DIAL["stage_of"]][-1].stages[-1]
    lot, mix = (replace(getattr(stage, key), **setting.get(key, {})) for key in ("lot", "mix"))
    return replace(stage, steps=DIAL["steps"], lot=lot, mix=mix)


SETTINGS = {name: _turned(setting) for name, setting in DIAL["settings"].items()}
"""The one stage of every setting of the dial; its recipe is `dial-NAME`."""
RECIPES |= {
    f"dial-{name}": (Part((stage,), onward_shares(stage.steps)),)
    for name, stage in SETTINGS.items()
}
GOES_ON = ("onward", *(f"dial-{name}" for name in SETTINGS))
"""Recipes that go on from a finished checkpoint; every other one begins from nothing."""
FAMILIES = tuple(
    sorted(path.stem.partition("-")[2] for path in (MANIFESTS / "pocket").glob("recipe-*.yaml"))
)
"""Those that have a recipe of their own."""
RECIPES |= {
    family: tuple(_part(**part) for part in manifest(f"recipe-{family}.yaml")["parts"])
    for family in FAMILIES
}
"""By family: the whole way of one of its trainings, from random weights to the finished model."""
EVALUATION = _stage(**_MANIFEST["evaluation"])


def seed_of(family: str, training: str) -> int:
    """The seed of a family's training, "0", "1", … or "sister-0": nobody chooses it.

    It is a hash of the file of the family's recipe, which is never edited, and of the name.
    """
    recipe = (MANIFESTS / "pocket" / f"recipe-{family}.yaml").read_bytes()
    return int(hashlib.sha256(recipe + b"\n" + training.encode()).hexdigest()[:8], 16)


def steps_of(recipe: str) -> int:
    """The steps of a recipe."""
    return sum(part.steps for part in RECIPES[recipe])


def part_at(step: int, recipe: str) -> tuple[int, Part]:
    """The part of a recipe that a step belongs to, and the step's number in it."""
    for part in RECIPES[recipe]:
        if step < part.steps:
            return step, part
        step -= part.steps
    steps = steps_of(recipe)
    raise ValueError(f"step {step + steps} lies beyond the schedule's {steps}")


def stage_at(step: int, recipe: str = "late") -> Stage:
    """The stage that a step belongs to; the evaluation's for held-out steps."""
    if step >= HELD_OUT:
        return EVALUATION
    step, part = part_at(step, recipe)
    for stage in part.stages[:-1]:
        if step < stage.steps:
            return stage
        step -= stage.steps
    return part.stages[-1]


@dataclass(frozen=True)
class Frame:
    """The chat template cut into what surrounds a user's text and an answer.

    prefix      token ids of everything up to and with the picture
    bare        the same without the picture's tokens
    after_user, after_answer    the template's text behind each
    pad         token id of padding
    """

    prefix: tuple[int, ...]
    bare: tuple[int, ...]
    after_user: str
    after_answer: str
    pad: int


@dataclass(frozen=True)
class Batches(torch.utils.data.Dataset):
    """Step i's batch. `visual`: pictures and what is in their cells; otherwise packed turns."""

    arch: str
    seed: int
    tokenizer: Any
    processor: Any
    frame: Frame
    visual: bool
    recipe: str

    def __len__(self) -> int:
        return 2 * HELD_OUT

    def __getitem__(self, step: int) -> dict:
        rng = np.random.default_rng([self.seed, int(self.visual), step])
        if self.visual:
            scenes = [sample_scene(rng, VISION_LOT) for _ in range(VISION_PICTURES)]
            labels = {key: torch.stack([seen(s)[key] for s in scenes]) for key in CLASSES}
            return self._pictures(scenes) | labels
        stage = stage_at(step, self.recipe)
        scenes = [sample_scene(rng, stage.lot) for _ in range(PICTURES)]
        batch = self._pictures(scenes, rng, stage.empty) if stage.pictures else {}
        prefix = self.frame.prefix if stage.pictures else self.frame.bare
        made = [
            [segment(scene, self.arch, rng, stage.mix) for _ in range(MOST_TURNS)]
            for scene in scenes
        ]
        texts = [
            text
            for turns in made
            for turn in turns
            for text in (turn.user + self.frame.after_user, turn.answer + self.frame.after_answer)
        ]
        ids = iter(self.tokenizer(texts, add_special_tokens=False).input_ids)
        rows = [
            self._row(prefix, [(turn, next(ids), next(ids)) for turn in turns]) for turns in made
        ]
        batch |= {key: torch.stack([row[key] for row in rows]) for key in rows[0] if key != "turns"}
        batch["tower"] = stage.tower
        batch["turns"] = [(index, *turn) for index, row in enumerate(rows) for turn in row["turns"]]
        return batch

    def _pictures(
        self, scenes: list[Scene], rng: np.random.Generator | None = None, empty: float = 0.0
    ) -> dict:
        pictures = [
            Image.fromarray(
                empty_picture(rng, scenes[index - 1])
                if empty and rng.random() < empty
                else draw(scene)
            )
            for index, scene in enumerate(scenes)
        ]
        return dict(self.processor(pictures, return_tensors="pt"))

    def _row(
        self, prefix: tuple[int, ...], candidates: list[tuple[Segment, list[int], list[int]]]
    ) -> dict:
        """As many turns as fit behind the prefix, padded to one length.

        `turn_of` numbers the turns from 1, the prefix is 0, padding -1; `offset` counts a turn's
        tokens from 0; `target` says which tokens the loss is on.
        """
        length = len(prefix) + TURN_TOKENS
        ids, turn_of, offset = list(prefix), [0] * len(prefix), list(range(len(prefix)))
        target = [False] * len(prefix)
        turns, sees = [], [True]
        for turn, user, answer in candidates:
            start, size = len(ids), len(user) + len(answer)
            if start + size > length:
                continue
            ids += user + answer
            turns.append((turn, start + len(user), len(answer)))
            turn_of += [len(turns)] * size
            offset += range(size)
            target += [False] * len(user) + [True] * len(answer)
            sees.append(turn.sees)
        space = length - len(ids)
        return {
            "ids": torch.tensor(ids + [self.frame.pad] * space),
            "turn_of": torch.tensor(turn_of + [-1] * space),
            "offset": torch.tensor(offset + [0] * space),
            "target": torch.tensor(target + [False] * space),
            "sees": torch.tensor(sees + [True] * (MOST_TURNS + 1 - len(sees))),
            "turns": turns,
        }


# What the vision tower learns to name of each cell (0 where there is nothing to name) ...
CELL_CLASSES = {
    "cell": CELLS, "kind": ("", *KINDS, "sign"), "colour": ("", *COLOURS),
    "text": ("", *SYMBOLS), "lamp": ("", "off", "on"),
    "number": ("", *map(str, range(1, MOST_OF_A_KIND + 1))),  # of its kind in the picture
}  # fmt: skip
# ... and of the picture.
CLASSES = {**CELL_CLASSES, "place": PLACES}


def seen(scene: Scene) -> dict[str, torch.Tensor]:
    """Class indices of what a scene shows: [cells] for each of `CELL_CLASSES`, [] for the place."""
    labels = {key: torch.zeros(len(CELLS), dtype=torch.long) for key in CELL_CLASSES}
    labels["cell"] = torch.arange(len(CELLS))
    for thing in scene.things:
        names = {"kind": thing.kind, "colour": thing.colour, "text": thing.text or ""}
        names["number"] = str(scene.count(thing.kind)) if thing.kind in KINDS else ""
        names["lamp"] = "" if thing.on is None else ("on" if thing.on else "off")
        for key, name in names.items():
            labels[key][thing.cell] = CELL_CLASSES[key].index(name)
    return {**labels, "place": torch.tensor(PLACES.index(scene.place))}
