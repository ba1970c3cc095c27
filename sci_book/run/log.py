"""The log of a run, beside its shards: a line a shard and attempt, as JSON.

A line holds timings, and the messages of samples with an error ("errors") and of those that some
rounds leave out ("left out").
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from sci_book.files import json_text
from sci_book.results.records import PART_FOLDERS

LOG = "log.jsonl"


def append(out: Path, shard: int, entry: Mapping[str, Any]) -> None:
    """Append a line to the log of the run in `out`."""
    with (out / LOG).open("a", encoding="utf-8") as file:
        file.write(json_text({"shard": shard, **entry}, ensure_ascii=False) + "\n")


def first_message(out: Path, kind: Literal["errors", "left out"]) -> str:
    """The first message of a kind; "" where there is none, or no log."""
    lines = (line for file in logs(out) for line in file.read_text(encoding="utf-8").splitlines())
    for line in lines:
        try:
            messages = json.loads(line).get(kind)
        except (ValueError, AttributeError):  # half a line, of a run that was killed as it wrote
            continue
        if messages:
            return messages[0]
    return ""


def logs(out: Path) -> list[Path]:
    """The logs of a run that are there: its own, and those of its parts."""
    own = [out / LOG] if (out / LOG).is_file() else []
    return [*own, *sorted(out.glob(f"{PART_FOLDERS}/{LOG}"))]


def cut_half_line(out: Path) -> None:
    """Drop what follows the last line end: a process was killed, or the disk full, as it wrote."""
    file = out / LOG
    if not file.is_file():
        return
    content = file.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(file, end)
