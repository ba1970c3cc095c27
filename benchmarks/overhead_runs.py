"""One timed run of a strategy, its memory and its work, and what the device can do at most.

On a GPU, time is taken between CUDA events: the device's own clock, read after it has come to rest,
so that nothing waits in between but what the engine itself waits for.
"""

import ctypes
import gc
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import sdpa_flop_count

from sci_book.papers.sci.overhead import MadeUpQuestions, replaced
from sci_core import BASE, Method, choose
from sci_core.engine.gate import gated_logits
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel
from sci_core.scoring import scores

NEW_TOKENS = 5
"""In every run; the time to the first is that of one new token."""


def _attention_flops(
    query: torch.Size, key: torch.Size, value: torch.Size, *_: Any, out_val: Any = None, **__: Any
) -> int:
    """Of every head of the query, where several share a head of keys and values too."""
    heads = query[:2]
    return sdpa_flop_count(query, (*heads, *key[2:]), (*heads, *value[2:]))


ATTENTION_FLOPS = {
    getattr(torch.ops.aten, f"_scaled_dot_product_{kind}"): _attention_flops
    for kind in (
        "flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention"
    )
}  # fmt: skip
"""torch counts the arithmetic of attention on a GPU only, and shared heads only of late."""


class Clock:
    """Marks on a device's own line of time."""

    def __init__(self, device: torch.device):
        self._cuda = device.type == "cuda"

    def mark(self) -> Any:
        """Now, as far as the device has come when it gets here."""
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def settle(self) -> None:
        """Wait until the device is at rest; before it, marks cannot be compared."""
        if self._cuda:
            torch.cuda.synchronize()

    def between(self, first: Any, last: Any) -> float:
        """Seconds from one mark to another."""
        return first.elapsed_time(last) / 1000 if self._cuda else last - first

    def median(self, go: Callable[[], Any], times: int) -> float:
        """Median seconds of calls, each begun when the one before has ended."""
        took = []
        for _ in range(times):
            self.settle()
            first = self.mark()
            go()
            last = self.mark()
            self.settle()
            took.append(self.between(first, last))
        return median(took)


@dataclass
class Run:
    """What one strategy did: seconds to the first and to the last token, and what it chose.

    `combining` is the share of the seconds that score and choice took.
    """

    seconds: tuple[float, float]
    tokens: Tensor | None
    logits: Tensor | None
    looked: Tensor
    gated: bool
    combining: float


def run(
    model: VisionLanguageModel,
    method: Method,
    begin: Callable[[], Rounds],
    *,
    gate: bool = False,
    on_token: Callable[[], None] = lambda: None,
) -> Run:
    """Decode greedily, never stopping early; `on_token` is called after each token is chosen."""
    clock = Clock(model.device)
    clock.settle()
    began = clock.mark()
    rounds = begin()
    tokens, looks, ends, first, combined = [], [], [], None, []
    for step in range(NEW_TOKENS):
        if gate:
            Z, looked = gated_logits(method, rounds, step)
            looks.append(looked.float().mean())
        else:
            Z = rounds.logits
        first = Z if first is None else first
        combine = clock.mark()
        score = scores(method, Z, step=step, prompt_tokens=rounds.prompt_tokens)
        tokens.append(choose(score, samples=range(Z.shape[1]), step=step))
        ends.append(clock.mark())
        combined.append((combine, ends[-1]))
        on_token()
        if step + 1 < NEW_TOKENS:
            rounds.advance(tokens[-1])
    clock.settle()
    looks = torch.stack(looks) if looks else torch.full((NEW_TOKENS,), float(bool(method.visual)))
    seconds = (clock.between(began, ends[0]), clock.between(began, ends[-1]))
    return Run(
        seconds=seconds,
        tokens=torch.stack(tokens),
        logits=first,
        looked=looks,
        gated=gate,
        combining=sum(clock.between(*each) for each in combined) / seconds[-1],
    )


@contextmanager
def parts_timed(model: VisionLanguageModel) -> Iterator[list[tuple[str, Any, Any]]]:
    """For each call of the model, "vision" or "language", and the marks it lies between."""
    clock, spans = Clock(model.device), []

    def timed(part: str, method: Callable) -> Callable:
        def call(*arguments: Any) -> Any:
            first = clock.mark()
            found = method(*arguments)
            spans.append((part, first, clock.mark()))
            return found

        return call

    with replaced(
        model,
        encode=timed("vision", model.encode),
        hidden=timed("language", model.hidden),
        head=timed("language", model.head),
    ):
        yield spans


@contextmanager
def slots_read(model: VisionLanguageModel) -> Iterator[Counter]:
    """Count the cache slots that calls of the language model attend to, padding included."""
    counts: Counter = Counter()
    hidden = model.hidden

    def counted_hidden(
        embeddings: Tensor, positions: Tensor, visible: Tensor | None, cache: Any
    ) -> Tensor:
        found = hidden(embeddings, positions, visible, cache)
        counts["slots"] += len(embeddings) * cache.get_seq_length()
        return found

    with replaced(model, hidden=counted_hidden):
        yield counts


class PeakMemory:
    """The most memory that a block of code took beyond what was in use before it, in bytes.

    On a processor the peak of the process's resident memory beyond what is resident when all that
    was freed has gone back to the system; None where the system offers neither.
    """

    def __init__(self, device: torch.device):
        self._cuda, self.bytes = device.type == "cuda", None

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        if self._cuda:
            torch.cuda.reset_peak_memory_stats()
            self._before = torch.cuda.memory_allocated()
        else:
            try:
                ctypes.CDLL("libc.so.6").malloc_trim(0)
                Path("/proc/self/clear_refs").write_text("5")
                self._before = self._status("VmRSS")
            except (OSError, AttributeError):
                self._before = None
        return self

    def __exit__(self, *_: Any) -> None:
        if self._cuda:
            self.bytes = torch.cuda.max_memory_allocated() - self._before
        elif self._before is not None:
            self.bytes = self._status("VmHWM") - self._before

    @staticmethod
    def _status(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def ratios(took: Sequence[float], base: Sequence[float]) -> dict[str, float]:
    """Median and quartiles of the ratios, round of measurement by round of measurement."""
    each = [mine / its for mine, its in zip(took, base, strict=True)]
    q1, middle, q3 = quantiles(each, n=4, method="inclusive")
    return {"ratio_median": middle, "ratio_q1": q1, "ratio_q3": q3}


def call_seconds(model: VisionLanguageModel, questions: MadeUpQuestions) -> float:
    """Seconds of a call of the language model with one token: what any call takes at least."""
    ids = questions.batch(BASE, 1)[0].texts[0]
    positions = model.positions(ids, questions.picture)[:, None, :1].to(model.device)
    one = model.embed(torch.tensor([ids[:1]], device=model.device))
    return Clock(model.device).median(
        lambda: model.hidden(one, positions, None, model.new_cache()), 20
    )


_TIMES = {"cpu": 10, "cuda": 300}
"""Of a large product or copy: a GPU needs half a second to raise its clocks."""


def matmul_rate(device: str, dtype: torch.dtype) -> float:
    """GFLOP/s of a large matrix product: the most this device does here in this type."""
    side = 8192 if device == "cuda" else 1024
    one, other = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    took = Clock(one.device).median(partial(torch.matmul, one, other), _TIMES[device])
    return 2 * side**3 / took / 1e9


def copy_rate(device: str) -> float:
    """GB/s of a large copy, bytes read and bytes written: the most this memory moves here."""
    source = torch.ones(2**32 if device == "cuda" else 2**26, dtype=torch.uint8, device=device)
    copy = partial(torch.empty_like(source).copy_, source)
    took = Clock(source.device).median(copy, _TIMES[device])
    return 2 * len(source) / took / 1e9


def device_name(device: str) -> str:
    """What a reader should know it by."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    lines = (
        Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    )
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, one thread"
