"""What a pocket model is shown, step by step.

First pictures with the names of what is in them, for the vision tower; next language alone; then
dialogue about pictures, on a world that grows fuller and more skewed. Item i of `Batches` depends
on (seed, i) only, so an interrupted run goes on as if it had not been.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image

from sci_book.pocket.dialogue import Mix, Segment, segment
from sci_book.pocket.draw import draw, empty_picture
from sci_book.pocket.questions import FAMILIES
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


def _words(steps: int, mix: Mix) -> Stage:
    return Stage(steps, Lot(skew=0.6), mix, pictures=False)


_EASY = ("colour", "place", "sign", "existence", "count", "state", "position")
_HARD = ("count", "position", "negation", "what_if", "caption")
_ALL = (*FAMILIES, *_HARD)  # those that take more practice are asked twice as often
# A family that few scenes allow is tried more often, or it would hardly be asked about.
_TRIES = {
    "colour": 2, "count": 2, "position": 5, "place": 1, "existence": 2, "negation": 8, "sign": 3,
    "state": 3, "content": 2, "what_if": 2, "switched": 4, "caption": 2,
}  # fmt: skip
_BY_TRIES = tuple(family for family, tries in _TRIES.items() for _ in range(tries))
SCHEDULE = (
    # That a letter stands for the option beside it is learned among nothing else, with few words
    # and in one language first; the card's curve shows how soon.
    _words(120, Mix(binding=1.0, binding_en=1.0, binding_words=COLOURS, reword=0.0)),
    _words(140, Mix(binding=1.0, binding_en=1.0, binding_words=(*COLOURS, *KINDS), reword=0.0)),
    _words(160, Mix(binding=1.0, binding_en=0.8)),
    _words(220, Mix(binding=0.6, described=0.8, blind=1.0)),
    # A balanced world until pictures are read: on the skewed one, habit is learned instead.
    Stage(
        300,
        Lot(skew=0.3, kinds=1, dim=0.0, sign=0.5),
        Mix(binding=0.1, described=0.1, families=_EASY),
    ),
    Stage(
        500,
        Lot(skew=0.3, kinds=2, dim=0.03, sign=0.4),
        Mix(binding=0.05, described=0.05, families=_ALL),
    ),
    Stage(1360, Lot(skew=0.3, kinds=3, dim=0.06, sign=0.35), Mix(families=_ALL)),
    Stage(1340, Lot(skew=0.3, kinds=3, dim=0.06, sign=0.35), Mix(families=_BY_TRIES), tower=True),
    Stage(1560, Lot(skew=0.8, kinds=3, dim=0.12, sign=0.35), Mix(families=_BY_TRIES), tower=True),
    # Last, the many ways to ask: a pocket model has met no other text that could teach it these.
    Stage(
        480,
        Lot(skew=0.8, kinds=3, dim=0.12, sign=0.35),
        Mix(families=_BY_TRIES, reword=0.6, varied=True),
        tower=True,
    ),
)


def _varied(reword: float, empty: float = 0.0, first: int = 3) -> tuple[Stage, ...]:
    """Today's stages, from stage `first` on with wordings put together by lot."""
    stages = list(SCHEDULE)
    for number, stage in enumerate(stages[first:], first):
        mix = replace(stage.mix, reword=reword, varied=True)
        stages[number] = replace(stage, mix=mix, empty=empty if stage.pictures else 0.0)
    return tuple(stages)


def _long(*, bound: bool) -> tuple[Stage, ...]:
    """Long wordings by lot from the first full pictures on, and more that is asked in Chinese.

    With `bound`, letters and their options are asked on among the first pictures, half of them
    beside a picture: of some trainings the letters are at chance again once pictures come.

    A pilot read instructions of up to 44 tokens, as it had been taught, as well as the original,
    and lost 20 points from 48 on: distance, not meaning. Asked in Chinese what a picture lacks, it
    was right under no wording but the original: rare in training until here.
    """
    often = {**_TRIES, "negation": 20}
    families = tuple(family for family, tries in often.items() for _ in range(tries))
    shares = {"choice_en": 0.3, "choice_zh": 0.3, "yes_no": 0.2, "short": 0.16, "caption": 0.04}
    rewords = {5: 0.25, 6: 0.4}  # by stage; 0.6 after
    stages = list(SCHEDULE)
    for number, stage in enumerate(stages[5:], 5):
        reword = rewords.get(number, 0.6)
        mix = replace(
            stage.mix, reword=reword, varied=True, sentences=3, families=families, **shares
        )
        stages[number] = replace(stage, mix=mix, empty=0.0 if number in rewords else 0.08)
    letters = {4: (0.35, 0.25), 5: (0.25, 0.15), 6: (0.12, 0.05), 7: (0.05, 0.0)} if bound else {}
    for number, (binding, described) in letters.items():
        mix = replace(stages[number].mix, binding=binding, described=described, binding_sees=0.5)
        stages[number] = replace(stages[number], mix=mix)
    return tuple(stages)


def _onward() -> tuple[Stage, ...]:
    """What a finished checkpoint is taught further: many wordings, and pictures of nothing.

    The last stage of `late` on, with what `long` has beyond it. With 1,200 steps and other wordings
    in 85 % of turns Qwen2-VL met every condition on pilot 107, and with seed 0 lost 4.0 points by
    V2 on multiple choice (benchmarks/results/pilots): so there are more of both. With these
    Qwen2-VL met every condition (pilot 109), and LLaVA-NeXT all but one that stayed undecided: its
    base was 3.5 [2.3, 4.7] points above the paper's (pilot 110). With that the recipe is fixed.
    """
    last, long = SCHEDULE[-1], _long(bound=False)[-1]
    mix = replace(long.mix, reword=0.97)
    return (replace(last, steps=1600, mix=mix, empty=0.2),)


RECIPES = {
    "late": SCHEDULE,
    "varied": _varied(0.5),
    "varied-empty": _varied(0.5, empty=0.08),
    # With wordings by lot from the first turns on a pilot had letters and yes or no at chance after
    # 1,800 steps (benchmarks/results/pilots): here they begin when the tower learns on.
    "varied-tower-empty": _varied(0.5, empty=0.08, first=7),
    "long": _long(bound=False),
    "long-bound": _long(bound=True),
    "onward": _onward(),
}
"""Schedules by name. `late` made the checkpoints of seeds 0, 1 and 2; `onward` goes on from such a
checkpoint to the retrained subjects. The others were tried on pilots (seeds 100 and up) and given
up; they begin from nothing and have equal lengths."""


def steps_of(recipe: str) -> int:
    """The steps of a recipe."""
    return sum(stage.steps for stage in RECIPES[recipe])


def stage_at(step: int, recipe: str = "late") -> Stage:
    """The stage that a step belongs to; the evaluation's for held-out steps."""
    if step >= HELD_OUT:
        return EVALUATION
    for stage in RECIPES[recipe]:
        if step < stage.steps:
            return stage
        step -= stage.steps
    steps = steps_of(recipe)
    raise ValueError(f"step {step + steps} lies beyond the schedule's {steps}")


EVALUATION = Stage(0, Lot(skew=0.5, kinds=3, dim=0.12, sign=0.35), Mix(blind=0.0, reword=0.0))


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


class Batches(torch.utils.data.Dataset):
    """Step i's batch. `visual`: pictures and what is in their cells; otherwise packed turns."""

    def __init__(
        self,
        arch: str,
        seed: int,
        tokenizer,
        processor,
        frame: Frame,
        visual: bool,
        recipe: str = "late",
    ):
        self.arch, self.seed, self.visual, self.recipe = arch, seed, visual, recipe
        self.tokenizer, self.processor, self.frame = tokenizer, processor, frame

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
        batch["turns"] = [(at, *turn) for at, row in enumerate(rows) for turn in row["turns"]]
        return batch

    def _pictures(
        self, scenes: list[Scene], rng: np.random.Generator | None = None, empty: float = 0.0
    ) -> dict:
        pictures = [
            Image.fromarray(
                empty_picture(rng, scenes[at - 1])
                if empty and rng.random() < empty
                else draw(scene)
            )
            for at, scene in enumerate(scenes)
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
        for made, user, answer in candidates:
            start, size = len(ids), len(user) + len(answer)
            if start + size > length:
                continue
            ids += user + answer
            turns.append((made, start + len(user), len(answer)))
            turn_of += [len(turns)] * size
            offset += range(size)
            target += [False] * len(user) + [True] * len(answer)
            sees.append(made.sees)
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
