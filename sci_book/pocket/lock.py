"""A pocket data set is drawn once, by one process at a time."""

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


def is_drawn(path: Path, stamp: Path, made: str, what: str, remedy: str) -> bool:
    """Whether a set is there: `path`, which is written last, and `stamp`, which says what it is.

    Raises:
        ValueError: if it is not what `made` says; the message asks to remove `remedy`.
    """
    if not path.exists():
        return False
    there = stamp.read_text(encoding="utf-8") if stamp.exists() else "{}"
    if there != made:
        raise ValueError(
            f"{path.parent} holds the {what} {there}, not {made}; name another folder, or remove "
            f"{remedy}."
        )
    return True
