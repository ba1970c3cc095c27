"""The work of a line, counted before it is measured, and the seconds that this should take.

The prompt is counted to the token, as the engine reads it; steps, calls and slots to what decides
the time. Seconds follow from rates that are assumed (`overhead_lines.Preset`): they serve to keep a
limit, and every line that is measured corrects them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import torch
from overhead_lines import ATTENTION, ENGINES, SPEED, Line, Preset
from overhead_models import Weights, prepared, random_model, weights
from overhead_runs import NEW_TOKENS

from sci_book.papers.sci.overhead import LAYOUT, patches
from sci_core import METHODS

WARM_UPS = 1
"""Of a line and of its base. In the first, work and memory are counted."""


class Sizes(NamedTuple):
    """Of a model and its picture: weights, image tokens, patches, and how many a patch sees."""

    weights: Weights
    image_tokens: int
    patches: int
    window: int


class Phase(NamedTuple):
    """What a part of a run computes; `rows` are tokens through the language model."""

    rows: int
    heads: int
    pictures: int
    calls: int
    slots: int


class Expected(NamedTuple):
    """Of all runs of a line and of its base: rounds, tokens, arithmetic, bytes, seconds."""

    rounds: int
    tokens: int
    flops: float
    bytes: float
    seconds: float


def prompt(line: Line, image_tokens: int) -> Phase:
    """To the first token: the prompts of all rounds, as the line's strategy reads them."""
    method, text = METHODS[line.method], LAYOUT["question"] + LAYOUT["instruction"]
    textual, visual = len(method.textual), len(method.visual)
    picture = LAYOUT["before"] + image_tokens
    whole, rewritten = picture + text, picture + LAYOUT["question"] + LAYOUT["rewrite"]
    rounds, batch = 1 + textual + visual, line.batch
    if line.strategy == "base":
        return Phase(batch * whole, batch, batch, 1, 0)
    if line.strategy == "sequential":
        rows = (1 + visual) * whole + textual * rewritten
        return Phase(batch * rows, batch * rounds, batch * rounds, rounds, 0)
    if line.strategy == "naive_batch":
        rows = rounds * (whole if line.prompts == "identical" else rewritten)
        return Phase(batch * rows, batch * rounds, batch * rounds, 1, 0)
    looked = batch - round((line.decided or 0) * batch)
    anew = line.cache == "cold"
    rows = batch * (whole + textual * LAYOUT["rewrite"])
    rows += looked * (text + (visual - 1) * whole) + anew * picture
    pictures = batch + looked * (visual - 1) + anew
    calls = 2 + (2 * visual - 1 + anew if looked else 0)
    return Phase(rows, batch * (1 + textual) + looked * visual, pictures, calls, 0)


def steps(line: Line, image_tokens: int) -> Phase:
    """From the first token to the last: a token a round and step."""
    method, context = METHODS[line.method], image_tokens + sum(LAYOUT.values())
    textual, visual, batch = 1 + len(method.textual), len(method.visual), line.batch
    looked = batch - round((line.decided or 0) * batch)
    rows, calls, contexts = batch * textual + looked * visual, 1, batch + looked * visual
    if line.strategy == "sequential":
        calls, contexts = textual + visual, rows
    elif line.strategy == "naive_batch":
        contexts = rows
    elif line.strategy != "base" and looked and (batch > 1 or line.decided is not None):
        calls = 1 + visual
    times = NEW_TOKENS - 1
    return Phase(times * rows, times * rows, 0, times * calls, times * contexts * context)


def expected(preset: Preset, line: Line) -> Expected:
    """The work of all runs of a line, and how long they should take at the assumed rates."""
    sizes = sizes_of(preset, line)
    whole = LAYOUT["before"] + sizes.image_tokens + LAYOUT["question"] + LAYOUT["instruction"]
    if line.data == ATTENTION:
        one = 2 * [_cost(preset, sizes, Phase(0, 0, line.batch, 0, 0))]
    else:
        one = [_cost(preset, sizes, each(line, sizes.image_tokens)) for each in (prompt, steps)]
    if line.data == ENGINES:
        # The other engine reads every round anew at every step, each in a pass of its own.
        passes = line.batch * len(METHODS[line.method].rounds) * NEW_TOKENS
        plain = _cost(preset, sizes, Phase(whole, 1, 1, 1, 0))
        return Expected(1, *_sum([*one, [passes * each for each in plain]]))
    if line.data == SPEED and line != line.base:
        one += [
            _cost(preset, sizes, each(line.base, sizes.image_tokens)) for each in (prompt, steps)
        ]
    run = _sum(one)
    least, single, most = preset.rounds
    least = single if line.batch == 1 else least
    rounds = int(min(max(preset.line_seconds / run[-1], least), most))
    return Expected(rounds, *((WARM_UPS + rounds) * each for each in run))


def _cost(preset: Preset, sizes: Sizes, phase: Phase) -> tuple[int, float, float, float]:
    """Token rows, arithmetic, bytes and seconds of a phase."""
    size, seen = sizes.weights, phase.pictures * sizes.patches
    context = sizes.image_tokens + sum(LAYOUT.values())
    flops = 2.0 * (phase.rows * size.language + phase.heads * size.head + seen * size.vision)
    flops += 2.0 * phase.rows * size.attention[0] * context
    flops += 2.0 * seen * size.attention[1] * sizes.window
    traffic = step_bytes(size, phase.calls, phase.slots, preset.dtype)
    launches = phase.calls * size.layers[0]
    if seen:
        traffic += size.vision * preset.dtype.itemsize
        launches += size.layers[1]
    seconds = max(flops / preset.flops, traffic / preset.bytes, launches * preset.layer_seconds)
    return phase.rows, flops, traffic, seconds


def step_bytes(size: Weights, calls: int, slots: int, dtype: torch.dtype) -> float:
    """Bytes that calls of the language model read: all its weights each, and slots of the cache."""
    return float((calls * (size.language + size.head) + slots * size.slot) * dtype.itemsize)


def _sum(parts: Sequence[Sequence[float]]) -> list[float]:
    return [sum(each) for each in zip(*parts, strict=True)]


def sizes_of(preset: Preset, line: Line) -> Sizes:
    """What the work of a line depends on beside the line."""
    return _sizes(preset, line.model)[line.pixels]


@cache
def _sizes(preset: Preset, name: str) -> Mapping[str, Sizes]:
    subject = preset.subject(name)
    model = random_model(subject.build, "meta", preset.dtype)
    found = {}
    for width, height in subject.pictures:
        picture = prepared(model, (width, height))
        count = patches(model, picture)
        # LLaVA-NeXT attends within a tile.
        tiles = len(picture.inputs["pixel_values"][0]) if "image_sizes" in picture.inputs else 1
        found[f"{width}x{height}"] = Sizes(weights(model), picture.tokens, count, count // tiles)
    return found


def print_plan(preset: Preset, pending: Sequence[Line]) -> None:
    """The work of the lines that are to be measured, and the seconds that it should take."""
    print(
        f"Expected at {preset.flops / 1e12:g} TFLOP/s, {preset.bytes / 1e12:g} TB/s and "
        f"{1000 * preset.layer_seconds:g} ms a layer, warm-ups and bases included:"
    )
    print(f"{'rounds':>6} {'tokens':>9} {'TFLOP':>8} {'GB':>7} {'s':>6} {'sum':>6}  line")
    total = 0.0
    for line in pending:
        each = expected(preset, line)
        total += each.seconds
        print(
            f"{each.rounds:6} {each.tokens:9} {each.flops / 1e12:8.1f} {each.bytes / 1e9:7.0f} "
            f"{each.seconds:6.1f} {total:6.0f}  {line}"
        )
