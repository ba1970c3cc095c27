"""What the benchmark measures on a GPU, most valuable first, and one run of it.

A line is one method, decoded in one way, for one setting; every run of it stands beside a run of
the base.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import torch
from overhead_models import (
    Build,
    llava_next_8b,
    llava_next_hundredth,
    qwen2_vl_7b,
    qwen2_vl_hundredth,
)
from overhead_runs import Run, run
from torch import Tensor

from sci_book.papers.sci.overhead import MadeUpQuestions, strategies
from sci_core import BASE, METHODS, SCI3, SCI5, SCI7, PrefixCache
from sci_core.engine.engine import begin_rounds
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel

SPEED = "made up"
ENGINES = "engines"
ATTENTION = "attention"


@dataclass(frozen=True)
class Subject:
    """A model, and the width and height of its pictures: of few image tokens, and of many."""

    build: Build
    pictures: tuple[tuple[int, int], tuple[int, int]]

    @property
    def name(self) -> str:
        return self.build.__name__


@dataclass(frozen=True)
class Preset:
    """Where and on what all lines are measured.

    decided   share of the questions of a larger batch that the gate finds decided; of one question
              it is all or nothing, and the time at any rate lies between in proportion
    rounds    of measurement: at least, at least of single questions, and at most; as many as fit
              into `line_seconds`
    flops, bytes, layer_seconds   assumed: arithmetic and memory traffic a second, and what the
              launch of a layer takes
    """

    name: str
    subjects: tuple[Subject, Subject]
    batches: tuple[int, int, int]
    decided: float
    device: str
    dtype: torch.dtype
    rounds: tuple[int, int, int]
    line_seconds: float
    flops: float
    bytes: float
    layer_seconds: float

    def subject(self, name: str) -> Subject:
        return next(each for each in self.subjects if each.name == name)


GPU = Preset(
    name="gpu",
    # LLaVA-NeXT has 576 image tokens for any picture, and more: 722 and 1,306.
    subjects=(
        Subject(qwen2_vl_7b, ((560, 420), (1120, 896))),
        Subject(llava_next_8b, ((1008, 40), (1008, 140))),
    ),
    batches=(1, 8, 32),
    decided=0.75,
    device="cuda",
    dtype=torch.bfloat16,
    rounds=(3, 5, 9),
    line_seconds=2.0,
    flops=400e12,
    bytes=3.5e12,
    layer_seconds=0.001,
)

DRY_RUN = Preset(
    name="gpu-dry-run",
    subjects=(
        Subject(qwen2_vl_hundredth, ((56, 56), (112, 84))),
        Subject(llava_next_hundredth, ((84, 28), (56, 56))),
    ),
    batches=(1, 2, 2),
    decided=0.5,
    device="cpu",
    dtype=torch.bfloat16,
    rounds=(2, 2, 2),
    line_seconds=0.0,
    flops=50e9,
    bytes=10e9,
    layer_seconds=0.001,
)


@dataclass(frozen=True)
class Line:
    """One thing to measure; its fields are fields of its rows, and say which they are.

    data      `SPEED`: seconds of a strategy; `ENGINES`: whether both engines choose the same
              tokens; `ATTENTION`: seconds of the vision tower by implementation
    decided   share of the questions that the textual rounds are made to decide; None without gate
    """

    data: str
    model: str
    pixels: str
    batch: int
    method: str
    strategy: str
    cache: str = "none"
    prompts: str = "own"
    decided: float | None = None

    @property
    def setting(self) -> tuple[str, str, int]:
        return (self.model, self.pixels, self.batch)

    @property
    def base(self) -> "Line":
        """The line of the base that this one is compared with."""
        return Line(SPEED, *self.setting, "base", "base")

    def __str__(self) -> str:
        names = (self.model, self.pixels, f"x {self.batch}", self.method, self.strategy)
        marks = (mark for mark in (self.cache, self.prompts) if mark not in ("none", "own"))
        gate = () if self.decided is None else (f"{self.decided:.0%} decided",)
        return " ".join((*names, *marks, *gate))


def line_of(row: dict[str, Any]) -> Line:
    """The line that a row of results is of."""
    return Line(*(row[field.name] for field in fields(Line)))


def lines(preset: Preset) -> list[Line]:
    """All lines, most valuable first, each setting opened by its base.

    First single questions, as the paper measured; then what the engine is held to in large batches,
    and whether both engines agree; at last what is least in doubt.
    """
    parts = ("single", "many", ENGINES, "fewer", ATTENTION, "gate", "black anew", "padded")
    found: dict[Line, None] = {}
    for part in parts:
        for subject in preset.subjects:
            for line in _lines(preset, subject, part):
                if line.data == SPEED:
                    found.setdefault(line.base)
                found.setdefault(line)
    return list(found)


SHARED, ANEW = ("two_phase", "warm"), ("two_phase", "cold")
ONE_BY_ONE, PADDED = ("sequential",), ("naive_batch",)
SAME_PROMPTS = ("naive_batch", "none", "identical")
GATED = ("two_phase_gate", "warm", "own")


def _lines(preset: Preset, subject: Subject, part: str) -> list[Line]:
    small, large = ("{}x{}".format(*size) for size in subject.pictures)
    one, some, many = preset.batches
    if part == ENGINES:
        return [Line(ENGINES, subject.name, small, some, SCI7.name, *ANEW)]
    if part == ATTENTION:
        return [Line(ATTENTION, subject.name, large, some, "base", other_attention(preset))]
    single = ((small, one), (large, one))
    fewer = ((large, some), (small, some), (small, many))
    settings = {
        "single": [
            (*where, way)
            for way in (SHARED, ONE_BY_ONE, SAME_PROMPTS, (*GATED, 1.0), (*GATED, 0.0), ANEW)
            for where in single
        ],
        "many": [(large, many, SHARED)],
        "fewer": [(*where, SHARED) for where in fewer],
        "gate": [(*where, (*GATED, preset.decided)) for where in (*fewer, (large, many))],
        "black anew": [(*where, ANEW) for where in (*fewer, (large, many))],
        "padded": [(*where, PADDED) for where in single],
    }
    return [
        Line(SPEED, subject.name, pixels, batch, method.name, *way)
        for pixels, batch, way in settings[part]
        for method in (SCI3, SCI5, SCI7)
    ]


def other_attention(preset: Preset) -> str:
    """What the vision tower can attend with here beside sdpa."""
    can_flash = preset.device == "cuda" and importlib.util.find_spec("flash_attn") is not None
    return "flash_attention_2" if can_flash else "eager"


# -- one run of a line -----------------------------------------------------------------------------


class Decided(Rounds):
    """Rounds in which the gate finds a share of the questions decided, for random weights do not.

    The first questions' likeliest token is lifted above the reach of the constraint.
    """

    def __init__(self, rounds: Rounds, share: float):
        self._rounds, self._lifted = rounds, round(share * rounds.logits.shape[1])
        self.asked = rounds.asked

    @property
    def prompt_tokens(self) -> Tensor:
        return self._rounds.prompt_tokens

    def advance(self, *where: Any, **more: Any) -> None:
        self._rounds.advance(*where, **more)

    def read_visual_rounds(self, *where: Any, **more: Any) -> Tensor:
        return self._rounds.read_visual_rounds(*where, **more)

    def _step(self, *where: Any) -> None:
        self._rounds._step(*where)

    def _look(self, *where: Any) -> Tensor:
        return self._rounds._look(*where)

    @property
    def logits(self) -> Tensor:
        logits = self._rounds.logits.clone()
        lifted = logits[:, : self._lifted]
        best = lifted[:1].argmax(dim=-1, keepdim=True).expand(len(lifted), -1, -1)
        lifted.scatter_add_(2, best, lifted.new_full((), 1e3).expand(best.shape))
        return logits


def run_line(
    model: VisionLanguageModel,
    line: Line,
    questions: MadeUpQuestions,
    warm: PrefixCache,
    on_token: Callable[[], None] = lambda: None,
) -> Run:
    """Decode new questions as the line says."""
    method = METHODS[line.method]
    asked = questions.batch(method, line.batch, repeated=line.prompts == "identical")
    if method is BASE:
        return run(model, method, partial(begin_rounds, model, asked), on_token=on_token)
    begin = strategies(model, asked, warm)[line.strategy, line.cache]
    if line.decided is None:
        return run(model, method, begin, on_token=on_token)
    stated = partial(_decided, begin, line.decided)
    return run(model, method, stated, gate=True, on_token=on_token)


def _decided(begin: Callable[[], Rounds], share: float) -> Rounds:
    return Decided(begin(), share)
