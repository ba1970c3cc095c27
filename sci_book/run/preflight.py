"""Before a long run: whether the model fits into the memory that is free, and how long it takes.

The weights are known from the configuration alone; keys, values and the pace are measured on a few
samples, spread evenly over a data set.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil
import torch

from sci_book.data.datasets import Dataset
from sci_book.data.rows import Row
from sci_book.run.layout import Plan
from sci_book.run.runner import default_workers
from sci_book.run.shards import SAMPLE_ERRORS, evaluate_rows, one_thread, pose
from sci_core.engine.plan import plan as shared_plan
from sci_core.engine.questions import ask, round_images, split_rounds
from sci_core.families.files import hub_settings
from sci_core.families.models import check_checkpoint, without_weights
from sci_core.families.named import check_choice
from sci_core.families.precision import DTYPES, own_dtype

FEWEST_SAMPLES, MOST_SAMPLES = 2, 20
A_SAMPLE_IN = 20
"""Rows for each sample, between these bounds: what is measured is thrown away."""


class PreflightError(ValueError):
    """The model does not fit."""


class Memory(NamedTuple):
    """Bytes that are free, and where: "GPU memory" or "memory"."""

    free: int
    where: str


class Pace(NamedTuple):
    """`samples` took `seconds` in one process; as many `workers` will share the work."""

    samples: int
    seconds: float
    workers: int = 1

    def expected(self, rows: int) -> float:
        """Seconds for so many rows."""
        return rows * self.seconds / self.samples / self.workers


def free_memory() -> Memory:
    """What is free where `load_model` puts a model: on the GPU if there is one."""
    if torch.cuda.is_available():
        return Memory(torch.cuda.mem_get_info()[0], "GPU memory")
    return Memory(psutil.virtual_memory().available, "memory")


def weight_bytes(name_or_path: str | Path, dtype: str = "float32") -> int:
    """Bytes that the weights of a checkpoint take at this precision, from its config.json alone.

    The model is built without memory behind it; tied weights count once.

    Raises:
        FileNotFoundError, ValueError: as `load_model`, for what it would refuse unread.
    """
    check_choice("dtype", dtype, ("auto", *DTYPES))
    name = str(name_or_path)

    hf = without_weights(name, hub_settings(name))
    if dtype == "auto":
        dtype = own_dtype(check_checkpoint(name, trust_remote_code=False, revision=None))
    return hf.num_parameters() * getattr(torch, dtype).itemsize


def check_fits(name: str, dtype: str, memory: Memory) -> int:
    """Bytes of the model's weights, which fit.

    Raises:
        PreflightError: they do not; the message says what would.
        FileNotFoundError, ValueError: as `load_model`, for what it would refuse unread.
    """
    needed = weight_bytes(name, dtype)
    if needed <= memory.free:
        return needed
    halves = (
        "" if dtype in ("bfloat16", "float16") else " a dtype of two bytes a weight (bfloat16),"
    )
    raise PreflightError(
        f"The weights of {name} take {gib(needed)} as {dtype}, and {gib(memory.free)} of "
        f"{memory.where} are free. Take{halves} a smaller model or a larger machine."
    )


def samples(dataset: Dataset) -> list[Row]:
    """Some rows, spread evenly: one in `A_SAMPLE_IN`, within bounds."""
    count = max(FEWEST_SAMPLES, min(MOST_SAMPLES, len(dataset) // A_SAMPLE_IN))
    count = min(count, len(dataset))
    return [dataset.rows[number * len(dataset) // count] for number in range(count)]


def warm_up(plan: Plan, rows: Sequence[Row]) -> None:
    """Answer some rows before any clock starts: a process's first calls load libraries."""
    with one_thread(plan.model):
        evaluate_rows(plan, rows)


def measure(plan: Plan, rows: Sequence[Row]) -> Pace:
    """How fast these rows of a run are answered; nothing is written.

    Samples that fail are part of the pace, as they are of the run.
    """
    with one_thread(plan.model):
        began = time.perf_counter()
        evaluate_rows(plan, rows)
        seconds = time.perf_counter() - began
    return Pace(len(rows), seconds, min(default_workers(plan.model), len(plan.shards)))


def cache_bytes(plan: Plan, rows: Sequence[Row]) -> int:
    """Bytes of keys, values and logits that the largest of these rows takes while it is answered.

    What rounds share is counted once, and every new token in every round. Rows that cannot be read
    take none.
    """
    text = plan.model.processor.config.get_text_config()
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    a_token = 2 * text.num_hidden_layers * heads * width * plan.model.dtype.itemsize
    return max(
        (
            slots * a_token + rounds * (plan.new_tokens(row) * a_token + 4 * plan.model.vocab_size)
            for row in rows
            for slots, rounds in [_slots(plan, row)]
        ),
        default=0,
    )


def _slots(plan: Plan, row: Row) -> tuple[int, int]:
    """Slots of a cache that the prompts of a row's rounds take, and how many rounds these are."""
    processor = plan.model.processor
    try:
        question, rounds, _ = pose(row, plan)
        _, visual = split_rounds(rounds)
        images = round_images(processor, [question], visual, plan.noise)
        (asked,) = ask(processor, [question], images)
    except SAMPLE_ERRORS:
        return 0, 0
    shared = shared_plan(asked.texts, plan.model.image_token_id)
    slots = len(shared.prefix) + len(shared.packed) + len(asked.dummies) * len(asked.texts[0])
    return slots, len(rounds)


def gib(count: int) -> str:
    """Bytes for a reader."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
