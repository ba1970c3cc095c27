"""Files that are whole or not there: written under another name, then renamed in one step."""

import csv
import io
import json
import math
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

TEMPORARY = ".tmp"
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's takes a third of the time


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


def named_from(base: Path, name: str) -> Path:
    """A file or folder as a user names it: from `base`, from the home folder, or absolute."""
    own = Path(name).expanduser() if name == "~" or name.startswith("~/") else Path(name)
    return in_any_form(base / own)


def in_any_form(path: Path) -> Path:
    """The file of this name, though its accents are composed otherwise; the path itself if none is.

    A Mac writes "é" in the name of a file as two characters, and most tables write it as one.
    """
    if str(path).isascii() or path.exists():
        return path
    found = Path(path.anchor)
    for part in path.relative_to(path.anchor).parts:
        forms = dict.fromkeys((part, *(unicodedata.normalize(x, part) for x in ("NFC", "NFD"))))
        found /= next((form for form in forms if (found / form).exists()), part)
    return found if found.exists() else path


def read_yaml(path: Path) -> Any:
    """What a YAML file holds."""
    return yaml.load(path.read_text(encoding="utf-8"), _YAML)


def json_text(value: Any, **layout: Any) -> str:
    """A value as JSON that every reader takes: a number that is not finite is written as null.

    layout: keyword arguments of `json.dumps`.
    """
    try:
        return json.dumps(value, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, **layout)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def script(function: str, content: Any) -> bytes:
    """A script that calls a page's function with a value: what a page opened from disk can read."""
    return f"{function}({json_text(content, ensure_ascii=False, separators=(',', ':'))})\n".encode()


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
