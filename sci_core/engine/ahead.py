"""Pictures prepared ahead of the model: here when they are needed, or early in other processes."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import numpy as np
import torch
from PIL import Image

from sci_core.engine.questions import (
    Asked,
    Noise,
    Question,
    ask,
    prepare_picture,
    sights,
    when_looked_at,
)
from sci_core.engine.spawned import NEEDS_GUARD, leave_if_reading_the_script
from sci_core.families.processors import Picture, Processor

BATCHES_AHEAD = 2
"""Batches whose pictures wait for the model: enough to hide their making, and few in memory."""


def asked_batches(
    processor: Processor,
    batches: Sequence[Sequence[Question]],
    visual: Sequence[str],
    noise: Noise,
    workers: int = 0,
) -> Iterator[list[Asked]]:
    """Each batch as the model takes it, in order.

    With `workers` processes all pictures are prepared while the model is at the batches before; a
    script then needs the usual `if __name__ == "__main__":`. With none, each picture is prepared
    when it is first looked at, and a dummy that the gate skips never.
    """
    if not workers:
        for batch in batches:
            shown = sights(batch, visual, noise, when_looked_at(processor))
            yield ask(processor, batch, shown)
        return
    leave_if_reading_the_script()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _begin_worker, (processor,)) as pool:
        waiting: deque = deque()
        try:
            for batch in batches:
                waiting.append((batch, sights(batch, visual, noise, partial(_submit, pool))))
                if len(waiting) > BATCHES_AHEAD:
                    yield ask(processor, *waiting.popleft())
            while waiting:
                yield ask(processor, *waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _submit(
    pool: ProcessPoolExecutor, image: Image.Image, name: str, noise: Noise
) -> Callable[[], Picture]:
    return partial(_received, pool.submit(_work, image, name, noise))


def _received(sent: Future) -> Picture:
    try:
        arrays, tokens, ids = sent.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            f"A process that prepares pictures has ended early. {NEEDS_GUARD}; if it does, ask for "
            "fewer workers, which take less memory, or for none."
        ) from error
    inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Picture(inputs, tokens, ids)


_processor: Processor
"""In a worker process: what it prepares pictures with."""


def _begin_worker(processor: Processor) -> None:
    global _processor
    torch.set_num_threads(1)
    _processor = processor


def _work(
    image: Image.Image, name: str, noise: Noise
) -> tuple[dict[str, np.ndarray], int, tuple[int, ...]]:
    # Arrays: a tensor would travel as an open file of shared memory, and those are few.
    picture = prepare_picture(_processor, image, name, noise)
    arrays = {name: value.numpy() for name, value in picture.inputs.items()}
    return arrays, picture.tokens, picture.ids
