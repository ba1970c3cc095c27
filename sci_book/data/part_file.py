"""`NAME.part`: what has come of a file so far, and the mark of the version that it is of."""

from __future__ import annotations

import shutil
from io import FileIO
from pathlib import Path

from tqdm import tqdm

from sci_book.data.rows import DatasetError


class FetchError(DatasetError):
    """A data set's file could not be fetched, or is not the one its manifest describes."""


def validator_file(part: Path) -> Path:
    return part.with_name(part.name + ".validator")


def length_so_far(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    validator_file(part).unlink(missing_ok=True)


def check_room(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < needed:
        raise FetchError(
            f"{part.parent} has room for {free:,} bytes, and {needed:,} are to come. Make room."
        )


def write_chunk(file: FileIO, chunk: bytes, part: Path) -> None:
    left = memoryview(chunk)
    try:
        # Unbuffered: nothing is left for closing the file to fail at, over the error raised here.
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        raise FetchError(
            f"{part} cannot be written ({error.strerror}). What came so far is kept; make room "
            "and fetch again."
        ) from error


def progress_bar(part: Path, total: int | None, start: int) -> tqdm:
    return tqdm(
        total=total,
        initial=start,
        desc=part.name.removesuffix(".part"),
        unit="B",
        unit_scale=True,
        # None: only on a terminal.
        disable=None,
    )
