"""Which questions go together, and what happens when they are too many for the memory."""

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import torch

from sci_core.families.precision import is_out_of_memory

Item = TypeVar("Item")
Result = TypeVar("Result")


def by_length(
    pictures: Sequence[Hashable], lengths: Sequence[tuple[int, ...]], batch_size: int
) -> list[list[int]]:
    """Put the places of questions into batches: a picture's together, pictures of like length.

    Args:
        pictures: what each question shows; equal values are one picture, with one prefix.
        lengths: of each question, what padding depends on, the most important first.
    """
    together: dict[Hashable, list[int]] = {}
    for place, picture in enumerate(pictures):
        together.setdefault(picture, []).append(place)
    batches: list[list[int]] = []
    for places in sorted(together.values(), key=lambda group: max(lengths[k] for k in group)):
        if batches and len(batches[-1]) + len(places) <= batch_size:
            batches[-1] += places
        else:
            batches += [places[k : k + batch_size] for k in range(0, len(places), batch_size)]
    return batches


def by_size(width: int, height: int) -> tuple[int, int]:
    """Sort pictures by this: those of one size are neighbours, the smallest first."""
    return width * height, width


class FittingBatches:
    """Halves batches when memory runs out, and keeps them so."""

    def __init__(self) -> None:
        self._most: int | None = None

    def __call__(
        self, work: Callable[[Sequence[Item]], list[Result]], batch: Sequence[Item]
    ) -> list[Result]:
        """Return what `work` does for the batch, in one call or in parts that fit.

        Raises what `work` raises, out of memory for a single item included.
        """
        done: list[Result] = []
        while len(done) < len(batch):
            part = batch[len(done) : len(done) + (self._most or len(batch))]
            try:
                done += work(part)
                continue
            except (RuntimeError, MemoryError) as error:
                if len(part) == 1 or not is_out_of_memory(error):
                    raise
            # Outside the handler, whose traceback holds the tensors that did not fit.
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if self._most is None:
                warnings.warn(
                    f"Out of memory with {len(part)} questions at a time; going on with "
                    f"{len(part) // 2}, and fewer where that is still too many. A smaller "
                    "batch_size saves the attempt, and a smaller store of prefixes leaves more "
                    "memory.",
                    RuntimeWarning,
                    stacklevel=3,
                )
            self._most = len(part) // 2
        return done
