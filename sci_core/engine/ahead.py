"""Pictures prepared ahead of the model: here when they are needed, or early in other processes."""

import multiprocessing
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from PIL import Image

from sci_core.engine.questions import (
    EncodedQuestion,
    Noise,
    Question,
    ask,
    prepare_picture,
    round_images,
)
from sci_core.families.processors import Picture, Processor

NO_GUARD = 77  # exit status of a worker whose script, read again inside it, asks for workers
NEEDS_GUARD = 'A script that asks for workers must do its work under `if __name__ == "__main__":`'
BATCHES_AHEAD = 2  # batches that wait for the model: enough to hide their making, few in memory


def asked_batches(
    processor: Processor,
    batches: Sequence[Sequence[Question]],
    visual: Sequence[str],
    noise: Noise,
    workers: int = 0,
) -> Iterator[list[EncodedQuestion]]:
    """Yield each batch as the model takes it, in order.

    `workers` processes prepare all pictures ahead; without any, a picture is prepared when it is
    first looked at, and a dummy that the gate skips never.
    """
    if not workers:
        for batch in batches:
            images = round_images(processor, batch, visual, noise)
            yield ask(processor, batch, images)
        return
    leave_if_reading_the_script()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _begin_worker, (processor,)) as pool:
        waiting: deque = deque()
        try:
            for batch in batches:
                images = round_images(processor, batch, visual, noise, partial(_submit, pool))
                waiting.append((batch, images))
                if len(waiting) > BATCHES_AHEAD:
                    yield ask(processor, *waiting.popleft())
            while waiting:
                yield ask(processor, *waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def leave_if_reading_the_script() -> None:
    """End this process if it is a worker that is only being started."""
    # What multiprocessing itself asks before it starts a process.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(NO_GUARD)


def _submit(
    pool: ProcessPoolExecutor, image: Image.Image, name: str, noise: Noise
) -> Callable[[], Picture]:
    return partial(_received, pool.submit(_work, image, name, noise))


def _received(sent: Future) -> Picture:
    try:
        picture, arrays = sent.result()
        return replace(picture, inputs={k: torch.from_numpy(a) for k, a in arrays.items()})
    except BrokenProcessPool as error:
        raise RuntimeError(
            f"A process that prepares pictures has ended early. {NEEDS_GUARD}; if it does, ask for "
            "fewer workers, which take less memory, or for none."
        ) from error


_processor: Processor  # in a worker process: what it prepares pictures with


def _begin_worker(processor: Processor) -> None:
    global _processor
    torch.set_num_threads(1)
    _processor = processor


def _work(image: Image.Image, name: str, noise: Noise) -> tuple[Picture, dict[str, Any]]:
    # As arrays: a tensor would travel as an open file of shared memory, and those are few.
    picture = prepare_picture(_processor, image, name, noise)
    arrays = {name: values.numpy() for name, values in picture.inputs.items()}
    return replace(picture, inputs={}), arrays
