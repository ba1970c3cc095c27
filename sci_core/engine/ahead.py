"""Pictures prepared ahead of the model: here when they are needed, or early in other threads."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from sci_core.engine.questions import (
    EncodedQuestion,
    Noise,
    Question,
    ask,
    prepare_picture,
    round_images,
)
from sci_core.families.processors import Picture, Processor

BATCHES_AHEAD = 2  # batches that wait for the model: enough to hide their making, few in memory


def asked_batches(
    processor: Processor,
    batches: Sequence[Sequence[Question]],
    visual: Sequence[str],
    noise: Noise,
    workers: int = 0,
) -> Generator[list[EncodedQuestion], None, None]:
    """Yield each batch as the model takes it, in order.

    `workers` threads prepare all pictures ahead: resizing, hashing and drawing noise leave Python
    to others. Without any, a picture is prepared when it is first looked at, and a dummy that the
    gate skips never.
    """
    waiting: deque = deque()
    prepare, ahead = None, 0
    with ExitStack() as stack:
        if workers:
            pool = stack.enter_context(ThreadPoolExecutor(workers))
            stack.callback(pool.shutdown, cancel_futures=True)
            ahead = BATCHES_AHEAD

            def prepare(*asked: Any) -> Callable[[], Picture]:
                return pool.submit(prepare_picture, processor, *asked).result

        for batch in batches:
            waiting.append((batch, round_images(processor, batch, visual, noise, prepare)))
            if len(waiting) > ahead:
                yield ask(processor, *waiting.popleft())
        while waiting:
            yield ask(processor, *waiting.popleft())
