"""Files that are whole or not there: written under another name, then renamed in one step."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

TEMPORARY = ".tmp"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that, whenever the process or the machine stops, it is whole or not there.

    What is left under a temporary name (`*.tmp`) by a process that was killed is nobody's.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the content
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_yaml(path: Path) -> Any:
    """What a YAML file holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def json_lines(text: str) -> list[str]:
    """The lines of a JSON-lines file, without their ends.

    Not `splitlines`: a JSON text may hold U+2028 and other separators of lines unescaped.
    """
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as a CSV file in UTF-8, its lines ended as RFC 4180 has them."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
