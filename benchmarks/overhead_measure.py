"""Measuring a line: seconds and work of a strategy, agreement of the engines, the vision tower."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from statistics import median
from typing import Any, NamedTuple

import torch
from overhead_lines import ATTENTION, ENGINES, SPEED, Line, Preset, run_line
from overhead_models import made_up, random_model, random_picture, size_of, weights
from overhead_runs import (
    ATTENTION_FLOPS,
    NEW_TOKENS,
    Clock,
    PeakMemory,
    Run,
    call_seconds,
    parts_timed,
    ratios,
    slots_read,
)
from overhead_work import WARM_UPS, step_bytes
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from sci_book.papers.sci.overhead import MadeUpQuestions, counted
from sci_core import METHODS, Method, PrefixCache
from sci_core.engine.engine import begin_rounds
from sci_core.engine.questions import EncodedQuestion, RoundImage
from sci_core.logits import tc_logits
from sci_core.scoring import scores

NOISE = 2
"""Rounding of logits, in spacings of the data type's numbers at the size of the largest logit."""

Row = dict[str, Any]


class Subject:
    """A model on its device, and what its lines share: questions, black's prefixes, rates."""

    def __init__(self, preset: Preset, name: str, rates: Mapping[str, float]):
        self.name, self.rates = name, rates
        self.model = random_model(preset.subject(name).build, preset.device, preset.dtype)
        self.weights, self.clock = weights(self.model), Clock(self.model.device)
        self.warm = PrefixCache(constants_only=True)
        self._questions: dict[str, MadeUpQuestions] = {}

    def questions(self, pixels: str) -> MadeUpQuestions:
        """Questions about pictures of this size, whose black is kept from now on."""
        if pixels not in self._questions:
            self._questions[pixels] = made_up(self.model, size_of(pixels))
            line = Line(SPEED, self.name, pixels, 1, "SCI3", "two_phase", "warm")
            run_line(self.model, line, self._questions[pixels], self.warm)
        return self._questions[pixels]

    @cached_property
    def call_seconds(self) -> float:
        return call_seconds(self.model, next(iter(self._questions.values())))


@torch.no_grad()
def measure(subject: Subject, line: Line, rounds: int, base: Sequence[Row]) -> list[Row]:
    """The rows of a line; `base` has those of the base, of one and of all new tokens."""
    kinds = {SPEED: _speed, ENGINES: _engines, ATTENTION: _attention}
    found = kinds[line.data](subject, line, rounds, base)
    tokens = subject.questions(line.pixels).picture.tokens
    return [{**asdict(line), "image_tokens": tokens, "rounds": rounds, **row} for row in found]


# -- seconds and work of a strategy ----------------------------------------------------------------


def _speed(subject: Subject, line: Line, rounds: int, base: Sequence[Row]) -> list[Row]:
    """Seconds beside those of the base, of the vision tower, and beside the device's bound."""
    if line != line.base and not base:
        raise ValueError(f"the base of {line} has not been measured, so it has nothing beside it")
    work, peak = _counted(subject, line)
    runs, bases = [], []
    if line != line.base:
        _timed(subject, line.base)
    for _ in range(rounds):
        if line != line.base:
            bases.append(_timed(subject, line.base))
        runs.append(_timed(subject, line))
    bases = bases or runs

    rows = []
    for place, new_tokens in ((0, 1), (-1, NEW_TOKENS)):
        took = [run.seconds[place] for run, _ in runs]
        plain = base[place] if base else {**work[place], "peak_bytes": peak}
        row = {"new_tokens": new_tokens, "seconds_median": median(took)}
        row |= ratios(took, [run.seconds[place] for run, _ in bases])
        for part in ("vision", "language"):
            row[f"{part}_seconds"] = median(parts[place][part] for _, parts in runs)
        row["combining_share"] = median(run.combining for run, _ in runs)
        row["token_rows_ratio"] = work[place]["token_rows"] / plain["token_rows"]
        row |= {**work[place], "call_seconds": subject.call_seconds}
        row["peak_bytes"] = peak if place else None
        row["peak_ratio"] = peak / plain["peak_bytes"] if place and plain["peak_bytes"] else None
        if line != line.base:
            row["skip_rate"] = 1 - float(runs[-1][0].looked[:new_tokens].mean())
        rows.append(row)
    steps = [run.seconds[-1] - run.seconds[0] for run, _ in runs]
    return _bounded(subject, rows, median(steps))


def _counted(subject: Subject, line: Line) -> tuple[list[dict[str, float]], int | None]:
    """Work to the first and to the last token, and bytes of memory at most: a run to warm up."""
    model, marks = subject.model, []
    questions = subject.questions(line.pixels)
    flops = FlopCounterMode(display=False, custom_mapping=ATTENTION_FLOPS)
    with (
        counted(model) as counts,
        slots_read(model) as slots,
        PeakMemory(model.device) as memory,
        flops,
    ):
        run_line(
            model, line, questions, subject.warm,
            lambda: marks.append({**counts, **slots, "gflop": flops.get_total_flops() / 1e9}),
        )  # fmt: skip
    return [marks[0], marks[-1]], memory.bytes


def _timed(subject: Subject, line: Line) -> tuple[Run, list[dict[str, float]]]:
    """A run, and the seconds of vision tower and language model to its first and last token."""
    cuts: list[int] = []
    with parts_timed(subject.model) as spans:
        found = run_line(
            subject.model, line, subject.questions(line.pixels), subject.warm,
            lambda: cuts.append(len(spans)),
        )  # fmt: skip
    parts = []
    for cut in (cuts[0], cuts[-1]):
        seconds = dict.fromkeys(("vision", "language"), 0.0)
        for part, first, last in spans[:cut]:
            seconds[part] += subject.clock.between(first, last)
        parts.append(seconds)
    return replace(found, logits=None, tokens=None), parts


def _bounded(subject: Subject, rows: list[Row], steps: float) -> list[Row]:
    """Rows with the share of their bound that they reach: it would be 1 at the device's own rates.

    To the first token the bound is arithmetic, all that is computed. From there to the last, in
    `steps` seconds, it is memory: the weights once a step, however many the calls, and the cache.
    """
    first, last = rows
    arithmetic = first["gflop"] / subject.rates["matmul_gflops"]
    first |= {"bound": "arithmetic", "bound_seconds": arithmetic}
    first["bound_share"] = arithmetic / first["seconds_median"]
    slots = last["slots"] - first["slots"]
    traffic = step_bytes(subject.weights, NEW_TOKENS - 1, slots, subject.model.dtype)
    memory = traffic / 1e9 / subject.rates["copy_gbytes"]
    last |= {"bound": "memory", "bound_seconds": memory, "bound_share": memory / steps}
    return rows


# -- agreement of the engines ----------------------------------------------------------------------


def _engines(subject: Subject, line: Line, *_: Any) -> list[Row]:
    """How often both engines choose the same token, each step after what the reference chose.

    Where they differ, it is a near-tie if the reference's scores of both tokens, or the distance of
    one of them to the constraint's cutoff, could be turned round by `NOISE` in every logit.
    """
    model, method = subject.model, METHODS[line.method]
    asked = [
        _of_its_own(subject, each, line.pixels, number)
        for number, each in enumerate(
            subject.questions(line.pixels).batch(method, line.batch), start=1
        )
    ]
    engines = [begin_rounds(model, asked, engine) for engine in ("sequential", "two_phase")]
    # A placeholder that is written would be a second picture to a plain pass.
    forbidden = torch.zeros(line.batch, model.vocab_size, dtype=torch.bool, device=model.device)
    forbidden[:, model.image_token_id] = True
    steps: list[Agreement] = []
    for step in range(NEW_TOKENS):
        reference, other = (each.logits for each in engines)
        noise = NOISE * torch.finfo(model.dtype).eps * float(reference.abs().max())
        steps.append(agreement(method, reference, other, step, forbidden, noise))
        if step + 1 < NEW_TOKENS:
            for each in engines:
                each.advance(steps[-1].chosen)
    same, near, close = (
        int(torch.stack([getattr(each, name) for each in steps]).sum())
        for name in ("same", "near", "close")
    )
    count = NEW_TOKENS * line.batch
    return [
        {
            "new_tokens": NEW_TOKENS,
            "steps": count,
            "same": same,
            "near_ties": near,
            "apart": count - same - near,
            "close_steps": close,
            "token_agreement": same / count,
            "logit_noise": max(each.noise for each in steps),
            "largest_logit_difference": max(each.largest for each in steps),
        }
    ]


def _of_its_own(
    subject: Subject, asked: EncodedQuestion, pixels: str, number: int
) -> EncodedQuestion:
    """The question with a picture of its own for every round_image that is not the same for all."""
    seeds = [
        0 if each.constant else 100 * number + k
        for k, each in enumerate((asked.original, *asked.dummies))
    ]
    round_images = [
        RoundImage(each.key, partial(random_picture, subject.model, size_of(pixels), seed))
        for each, seed in zip((asked.original, *asked.dummies), seeds, strict=True)
    ]
    return replace(asked, original=round_images[0], dummies=tuple(round_images[1:]))


class Agreement(NamedTuple):
    """Of the nodes of one step: the reference's choice, whether the other's is the same or near.

    `close` where the reference's own second choice is that near; the `largest` difference of a
    logit, and the `noise` that near means.
    """

    chosen: Tensor
    same: Tensor
    near: Tensor
    close: Tensor
    largest: float
    noise: float


def agreement(
    method: Method,
    reference: Tensor,
    other: Tensor,
    step: int,
    forbidden: Tensor,
    noise: float,
) -> Agreement:
    """Compare the choices that two engines' logits `[rounds, batch, vocab]` lead to."""
    score = scores(method, reference, step=step, forbidden=forbidden)
    (first, second), (chosen, _) = (each.unbind(dim=-1) for each in score.topk(2, dim=-1))
    theirs = scores(method, other, step=step, forbidden=forbidden).argmax(dim=-1)
    # Each of two scores may be off by the noise of every logit in it.
    reach = 2 * noise * (1 / method.tau1 + (2 / method.tau2 if method.visual else 0))
    tc = tc_logits(reference, method.deciding).masked_fill(forbidden, -torch.inf)
    cutoff = tc.amax(dim=-1, keepdim=True) - method.margin
    both = torch.stack([chosen, theirs], dim=-1)
    at_cutoff = ((tc - cutoff).gather(1, both).abs() <= 2 * noise).any(dim=-1)
    gap = first - score.gather(1, theirs[:, None])[:, 0]
    same = theirs == chosen
    return Agreement(
        chosen=chosen,
        same=same,
        near=~same & ((gap <= reach) | at_cutoff),
        close=first - second <= reach,
        largest=float((reference - other).abs().max()),
        noise=noise,
    )


# -- the vision tower ------------------------------------------------------------------------------


def _attention(subject: Subject, line: Line, rounds: int, *_: Any) -> list[Row]:
    """Seconds of the vision tower with another attention, beside sdpa."""
    model, pictures = subject.model, [subject.questions(line.pixels).picture] * line.batch
    seconds: dict[str, list[float]] = {"sdpa": [], line.strategy: []}
    try:
        for measured in range(-WARM_UPS, rounds):
            for name, took in seconds.items():
                model.hf.set_attn_implementation({"vision_config": name})
                found = subject.clock.median(partial(model.encode, pictures), 1)
                if measured >= 0:
                    took.append(found)
    finally:
        model.hf.set_attn_implementation({"vision_config": "sdpa"})
    row = {"new_tokens": 0, "seconds_median": median(seconds[line.strategy])}
    row["sdpa_seconds"] = median(seconds["sdpa"])
    return [row | ratios(seconds[line.strategy], seconds["sdpa"])]
