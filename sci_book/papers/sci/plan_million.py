"""A large evaluation on paper: tokens, hours and bytes from stated inputs, and what breaks first.

    python -m sci_book.papers.sci.plan_million > book/million_questions.md

Nothing here is measured at that size. Tokens are the engine's own count (`cost.work`), bytes those
of frozen records; hours follow from an assumed use of the hardware. The page is written by `page`,
so that no number in it is typed by hand; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.overhead import LAYOUT
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import read_records, to_bytes
from sci_book.run.layout import BATCHES_A_BLOCK
from sci_core.methods import BASE, SCI7, Method

FROZEN = sorted(FROZEN_RECORDS.glob("pocket-*.parquet"))[-1]
ROW_BYTES = 1500
"""Of a row in the memory of the process that holds the folder, its picture aside."""


@dataclass(frozen=True)
class Assumptions:
    """What is not computed. Every default is a choice, to be replaced by one's own.

    questions, gpus       the task
    parameters            of the language model; `vision_parameters` of its tower
    vision_width, vision_layers   of the tower, whose patches all look at each other
    image_tokens          of a picture; the tower reads `patches_a_token` patches for each
    new_tokens            of an answer, beyond the first, in each round
    peak_flops            of a GPU in the model's precision, arithmetic a second
    prefill_use           which part of the peak reading a prompt reaches
    memory_bandwidth      of a GPU in bytes a second, by which decoding is bound
    bytes_a_parameter     2 in bfloat16
    batch_size            questions at a time
    picture_bytes         of a picture's file
    questions_a_picture   which share its reading
    """

    questions: int = 1_000_000
    gpus: int = 64
    parameters: float = 7.6e9
    vision_parameters: float = 0.68e9
    vision_width: int = 1280
    vision_layers: int = 32
    image_tokens: int = 1280
    patches_a_token: int = 4
    new_tokens: int = 2
    peak_flops: float = 989e12
    prefill_use: float = 0.4
    memory_bandwidth: float = 3.35e12
    bytes_a_parameter: int = 2
    batch_size: int = 64
    picture_bytes: int = 100_000
    questions_a_picture: float = 1.0


def work_table(method: Method, given: Assumptions) -> pd.DataFrame:
    """Of the base and a method, a line each: what a question takes, and all of them.

    Arithmetic is two operations a parameter and token or patch, and the vision tower's attention;
    that of the language model, some two percent at these lengths, is left out. Decoding reads all
    weights once a step and batch.
    """
    lines = {}
    for each in (BASE, method):
        counts = cost.work(each, given.image_tokens, "two_phase", "warm")
        patches = given.image_tokens * given.patches_a_token
        attention = 4 * patches**2 * given.vision_width * given.vision_layers
        picture = 2 * patches * given.vision_parameters + attention
        arithmetic = 2 * counts["token_rows"] * given.parameters + counts["pictures"] * picture
        prefill = arithmetic / (given.peak_flops * given.prefill_use)
        step = given.parameters * given.bytes_a_parameter / given.memory_bandwidth
        decode = given.new_tokens * step / given.batch_size
        seconds = given.questions * (prefill + decode) / given.gpus
        lines[each.name] = {
            "tokens a question": counts["token_rows"],
            "pictures a question": counts["pictures"],
            "tokens, billions": counts["token_rows"] * given.questions / 1e9,
            "teraflop a question": arithmetic / 1e12,
            "GPU hours": seconds * given.gpus / 3600,
            "hours": seconds / 3600,
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def record_bytes(frozen: Path) -> dict[str, float]:
    """Bytes a row of frozen records on disk and in memory, with logits and as answers alone."""
    whole = read_records(frozen)
    rows = len(whole.table)
    return {
        "with logits": frozen.stat().st_size / rows,
        "answers alone": len(to_bytes(whole.answers_alone())) / rows,
        "in memory": whole.table.nbytes / rows,
    }


def limits_table(
    given: Assumptions, bytes_a_row: Mapping[str, float], hours: float
) -> pd.DataFrame:
    """What a run of this size asks of each part, the part that breaks first on top."""
    shard_rows = BATCHES_A_BLOCK * given.batch_size
    shards = given.questions / shard_rows
    pictures = given.questions / given.questions_a_picture * given.picture_bytes
    shard = shard_rows / given.questions_a_picture * given.picture_bytes
    rate = given.questions / (hours * 3600)
    lines = {
        "memory of the process that holds the rows": (
            (pictures + given.questions * ROW_BYTES) / 1e9, "GB",
        ),
        "memory of the merge": (2 * given.questions * bytes_a_row["in memory"] / 1e9, "GB"),
        "pictures sent to the actors": (rate * given.picture_bytes / 1e6, "MB a second"),
        "shards in the object store": (given.gpus * shard / 1e9, "GB"),
        "pictures prepared": (rate, "a second"),
        "files in one folder": (shards, "shards"),
        "files written": (shards / (hours * 3600), "a second"),
        "records with logits": (given.questions * bytes_a_row["with logits"] / 1e9, "GB"),
        "records as answers alone": (given.questions * bytes_a_row["answers alone"] / 1e9, "GB"),
    }  # fmt: skip
    return pd.DataFrame.from_dict(lines, orient="index", columns=["asked", "unit"])


def page(given: Assumptions) -> str:
    """The page of the book: inputs, arithmetic, and where such a run breaks first."""
    work, size = work_table(SCI7, given), record_bytes(FROZEN)
    base, method = work.loc["base"], work.loc["SCI7"]
    limits = limits_table(given, size, method["hours"])
    asked = {name: _short(value) for name, value in limits["asked"].items()}
    rows = "\n".join(f"| {name} | {asked[name]} {unit} |" for name, unit in limits["unit"].items())
    lines = "\n".join(
        f"| {name} | {_short(base[name])} | {_short(method[name])} |" for name in work
    )
    rate = limits["asked"]["pictures prepared"] / given.gpus  # of one worker
    text = sum(LAYOUT[part] for part in ("before", "question", "instruction"))
    return f"""\
# A million questions, on paper

What would {given.questions:,} questions under SCI₇ on {given.gpus} GPUs take? **Nothing on this
page was measured at that size.** Tokens are counted by the engine that decodes everywhere else in
this book; bytes are those of the frozen pocket records; hours follow from the assumptions below.
The page is written by `python -m sci_book.papers.sci.plan_million`, and a test compares the two:
change an assumption there, and every number here follows.

## Assumptions

- A model of the size of the paper's first: {given.parameters / 1e9:g} billion parameters in the
  language model,
  {given.vision_parameters / 1e9:g} billion in the vision tower ({given.vision_layers} layers,
  {given.vision_width:,} wide), {given.bytes_a_parameter} bytes each.
- {given.image_tokens:,} image tokens a picture, {given.patches_a_token} patches a token;
  {text} text tokens a prompt; {given.questions_a_picture:g} question a picture, whose file has
  {given.picture_bytes / 1e3:g} kB.
- Black is read once and kept; noise is computed for every picture; the gate is off, as where every
  round's own answer is recorded; {given.new_tokens} tokens an answer after the first, all rounds
  together in a step of {given.batch_size} questions.
- A GPU with {given.peak_flops / 1e12:g} teraflop a second at its peak, of which reading prompts
  reaches {100 * given.prefill_use:g} %, and {given.memory_bandwidth / 1e12:g} TB a second of
  memory, by which a step of decoding is bound. That share is the assumption the hours hang on.

## Tokens and hours

Arithmetic is two operations a parameter and token or patch, and the attention of the vision tower,
whose patches all look at each other; that of the language model, some two percent at these lengths,
is left out. Time is arithmetic over what is reached of the peak, and for decoding the
weights' bytes over the bandwidth, divided by the questions that share a step.

| what | base | SCI₇ |
|---|---:|---:|
{lines}

SCI₇ takes {_short(method["hours"] / base["hours"])} times the base: a factor of the two noisy
pictures, which share nothing with the original ({{doc}}`../notebooks/02_cost`). Half the use of the
peak doubles the hours.

## What it asks of every part

| part | asked |
|---|---:|
{rows}

## Where it breaks first

1. **The rows in one process.** A data set is loaded whole, pictures included:
   {asked["memory of the process that holds the rows"]} GB in the process that holds the folder.
   This is the first to break, long before the GPUs. Remedy without new code: evaluate the data set
   in parts (one name, one folder each), of which every record names its rows; a loader that leaves
   the pictures in their files until a shard is sent would lift the limit.
2. **The network of that one process.** It sends every picture once, as its shard is given to an
   actor: {asked["pictures sent to the actors"]} MB a second on average. A network of 10 gigabit a
   second carries that; pictures of several megabytes would fill it.
3. **Preparing pictures.** {asked["pictures prepared"]} pictures a second, each in three versions,
   in the workers that decode: {_short(rate)} pictures a second for each of {given.gpus}. Every
   millisecond a version takes is time in which a GPU waits; {_short(1000 / rate / 3)} ms would
   double the hours. This is the first to look at when the GPUs are not busy.
4. **Ray's object store** holds the shards in hand and no more:
   {asked["shards in the object store"]} GB over the whole cluster, and on the machine of the
   process that sends, as much until they are fetched. Its default there, a share of the memory, is
   enough; the {asked["pictures sent to the actors"]} MB a second above is its real load.
5. **The merge** holds the records and a sorted column beside them: {asked["memory of the merge"]}
   GB at most. It does not break.
6. **One folder** with {asked["files in one folder"]} shards, {asked["files written"]} written a
   second by one process. It does not break.

The records themselves are small: {_short(size["with logits"])} bytes a row with logits,
{_short(size["answers alone"])} as answers alone (`--record answers`), so
{asked["records with logits"]} or {asked["records as answers alone"]} GB for all. They are those of
{len(read_records(FROZEN).policies)} policies on short answers; long answers weigh more.
"""


def _short(value: float) -> str:
    """Two digits, or all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


if __name__ == "__main__":
    print(page(Assumptions()), end="")
