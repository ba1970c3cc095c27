"""One process at a time draws a pocket data set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """The only process that draws into a folder; another one waits, and finds it drawn.

    The lock lies beside the folder; the system lifts it when its process ends, however that ends.
    Where no lock can be had there is none: what cannot be written can still be read.
    """
    folder = folder.resolve()  # two links to one folder have one lock
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(folder.with_name(f".{folder.name}.lock")).acquire()
    except (OSError, NotImplementedError):
        held = nullcontext()
    with held:
        yield
