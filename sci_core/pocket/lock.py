"""One process at a time draws a pocket data set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """The only process that draws into a folder; another one waits, and finds it drawn.

    The lock lies beside the folder and ends with its process, however that ends. Where nothing can
    be written there is none.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if os.access(folder.parent, os.W_OK):
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            yield
    else:
        yield
