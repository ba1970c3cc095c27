"""The lock of a run's folder: one process works there, and the system lifts it when that ends."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from sci_book.results.stamps import RecordsError


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Keep every other run out of a folder, however this process ends.

    Raises:
        RecordsError: if another run is at work there; names its process.
    """
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("a+", encoding="utf-8") as file:
        _take(file, out)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def check_free(out: Path) -> None:
    """Say that another run is at work in a folder, before anything is loaded.

    Raises:
        RecordsError: as `held`.
    """
    if (out / "lock").is_file():
        with (out / "lock").open("a+", encoding="utf-8") as file:
            _take(file, out)


def _take(file: TextIO, out: Path) -> None:
    import fcntl  # which Windows has not; records can be read there all the same

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise RecordsError(
            f"Another run is at work in {out} ({file.read().strip() or 'it just began'}). Wait "
            "until it ends and give the same command again, or use another folder; several "
            "processes share one run with --workers, several machines with --shard."
        ) from None
