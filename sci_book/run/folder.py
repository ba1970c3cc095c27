"""The folder of a run: whose it is, which shards it has, and the log beside them.

======================  ==========================================================================
file                    holds
======================  ==========================================================================
stamp.json              what the run is: model, data, methods, decoding
shard-K-of-N.parquet    the records of a shard; there or not there, never half
log.jsonl               a line a shard and attempt: timings, messages of bad samples, failures
lock                    the process at work here; the system lifts the lock when that process ends
part-I-of-N             the same files, of the I-th of N commands that share the run (`--shard`)
======================  ==========================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sci_book.files import TEMPORARY, write_whole
from sci_book.results.records import PARTS, shard_files, shards_of
from sci_book.results.stamps import RecordsError, check_stamp, covers
from sci_book.run.layout import Plan
from sci_book.run.log import cut_half_line
from sci_book.run.parts import WHOLE, Part

# What a stamp that does not say it means.
UNSAID = {"noise": "clamp", "record": "logits", "max_new_tokens_free": None}


def missing_shards(plan: Plan, out: Path, part: Part = WHOLE) -> list[int]:
    """The shards of a part of the run that are not written yet, in order."""
    present = {file.name for file in shard_files(out)}
    return [k for k in part.of(len(plan.shards)) if plan.path(out, k).name not in present]


def check_owner(out: Path, stamp: Mapping[str, Any]) -> None:
    """Refuse a folder of another run.

    Raises:
        RecordsError: naming every field of the stamp that differs.
    """
    for recorded in _stamps(out):
        check_stamp({**UNSAID, **recorded}, {**UNSAID, **stamp}, str(out))
    if shard_files(out) and not any(_stamps(out)):
        raise RecordsError(f"{out} holds shards without a stamp.json. Use another folder.")


def holds(out: Path, stamp: Mapping[str, Any]) -> bool:
    """Whether a finished run in `out` has all answers of this one: the same, or of more methods."""
    shards, stamps = shard_files(out), list(_stamps(out))
    if not stamps or not shards or len(shards) != shards_of(out):
        return False
    return all(covers(recorded, stamp) for recorded in stamps)


def _stamps(out: Path) -> Iterator[dict[str, Any]]:
    """What the run in a folder is, and each part of it."""
    for file in (out / "stamp.json", *sorted(out.glob(f"{PARTS}/stamp.json"))):
        if file.is_file():
            yield json.loads(file.read_text(encoding="utf-8"))


def claim(out: Path, stamp: Mapping[str, Any]) -> None:
    """Make a folder that is held this run's own, and clear away what a killed run left half done.

    Raises:
        RecordsError: if it is another run's.
    """
    check_owner(out, stamp)
    for leftover in out.glob(f"*{TEMPORARY}"):
        leftover.unlink()
    if not (out / "stamp.json").is_file():
        write_whole(out / "stamp.json", json.dumps(stamp, indent=1, ensure_ascii=False).encode())
    cut_half_line(out)
