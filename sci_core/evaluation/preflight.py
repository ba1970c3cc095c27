"""Before a long run: whether the model fits into the memory that is free, and how long it takes.

The first is known from the configuration alone, before a byte of weights is read. The second is
measured: a few samples, spread evenly over the data set, are answered as the run will answer them.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import psutil
import torch

from sci_core.evaluation.datasets import Dataset
from sci_core.evaluation.runner import Plan, evaluate_rows
from sci_core.models import weight_bytes

SAMPLES = 20
WARM_UP = 2
"""Samples answered before the clock starts: the first calls of a process load libraries."""


class PreflightError(ValueError):
    """The model does not fit."""


class Memory(NamedTuple):
    """Bytes that are free, and where: "GPU memory" or "memory"."""

    free: int
    where: str


class Pace(NamedTuple):
    """`samples` took `seconds`; `rows` are to be answered."""

    samples: int
    seconds: float
    rows: int

    @property
    def expected(self) -> float:
        """Seconds for all rows."""
        return self.rows * self.seconds / self.samples


def free_memory() -> Memory:
    """What is free where `load_model` puts a model: on the GPU if there is one."""
    if torch.cuda.is_available():
        return Memory(torch.cuda.mem_get_info()[0], "GPU memory")
    return Memory(psutil.virtual_memory().available, "memory")


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


def measure(plan: Plan, dataset: Dataset) -> Pace:
    """How long a run will take, from its first samples: `SAMPLES` spread evenly over the rows.

    Nothing is written. Samples that fail are part of the pace, as they are of the run.
    """
    count = min(SAMPLES, len(dataset))
    rows = [dataset.rows[number * len(dataset) // count] for number in range(count)]
    evaluate_rows(plan, rows[:WARM_UP])
    began = time.perf_counter()
    evaluate_rows(plan, rows)
    return Pace(len(rows), time.perf_counter() - began, len(dataset))


def gib(count: int) -> str:
    """Bytes for a reader."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def duration(seconds: float) -> str:
    """A time for a reader, in the unit that suits it."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
