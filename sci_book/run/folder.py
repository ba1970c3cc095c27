"""The folder of a run: whose it is, which shards it has, and the log beside them.

======================  ==========================================================================
file                    holds
======================  ==========================================================================
stamp.json              what the run is: model, data, methods, decoding
shard-K-of-N.parquet    the records of a shard; there or not there, never half
*.parquet.damaged       a shard that something else cut or changed, set aside and made anew
log.jsonl               a line a shard and attempt: timings, messages of bad samples, failures
lock                    the process at work here; the system lifts the lock when that process ends
part-I-of-N             the same files, of the I-th of N commands that share the run (`--shard`)
======================  ==========================================================================
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sci_book.files import TEMPORARY, json_text, write_whole
from sci_book.results.records import PART_FOLDERS, Records, read_records, shard_files, shards_of
from sci_book.results.stamps import RecordsError, check_stamp, covers
from sci_book.run.layout import Plan
from sci_book.run.lock import held
from sci_book.run.log import cut_half_line
from sci_book.run.parts import WHOLE, RunPart

# What a stamp that does not say it means.
UNSAID = {
    "noise": "clamp",
    "record": "logits",
    "engine": {"name": "transformers"},
    "max_new_tokens_free": None,
}


def missing_shards(plan: Plan, out: Path, part: RunPart = WHOLE) -> list[int]:
    """The shards of a part of the run that are not written yet, in order."""
    present = {file.name for file in shard_files(out)}
    return [k for k in part.of(len(plan.shards)) if plan.path(out, k).name not in present]


def check_owner(out: Path, stamp: Mapping[str, Any]) -> None:
    """Refuse a folder of another run.

    Raises:
        RecordsError: naming every field of the stamp that differs.
    """
    stamps = _stamps(out)
    for recorded in stamps:
        # What that run says of itself and this one does not (a quantisation, pixel limits) differs.
        expected = {**dict.fromkeys(recorded), **UNSAID, **stamp}
        check_stamp({**UNSAID, **recorded}, expected, str(out))
    if shard_files(out) and not stamps:
        raise RecordsError(
            f"{out} holds shards and no stamp.json, and none of them can be read. Delete them, or "
            "use another folder."
        )


def holds(out: Path, stamp: Mapping[str, Any]) -> bool:
    """Whether a finished run in `out` has all answers of this one: the same, or of more methods."""
    shards, stamps = shard_files(out), _stamps(out)
    if not stamps or not shards or len(shards) != shards_of(out):
        return False
    return all(covers(recorded, stamp) for recorded in stamps)


def read_or_set_aside(out: Path, stamp: Mapping[str, Any]) -> Records | None:
    """The records of a finished run; None after damaged shards of it were set aside.

    They are made anew by the run that this is, and by no other.

    Raises:
        RecordsError: if a shard of another run is damaged; names the file.
    """
    try:
        return read_records(out)
    except RecordsError:
        damaged = [file for file in shard_files(out) if _stamp_of(file) is None]
        own = json.loads(json_text(stamp))
        if not damaged or any(recorded != own for recorded in _stamps(out)):
            raise
    with held(out):
        for file in damaged:
            aside = file.with_name(f"{file.name}.damaged")
            os.replace(file, aside)
            print(f"sci: {file} is damaged: kept as {aside.name}, and made anew.", file=sys.stderr)
    return None


def _stamps(out: Path) -> list[dict[str, Any]]:
    """What a run and each part of it is; by a shard, if no stamp.json can be read."""
    places = (out, *sorted(out.glob(PART_FOLDERS)))
    known = [stamp for place in places if (stamp := _stamp_file(place))]
    return known or list(filter(None, map(_stamp_of, shard_files(out))))[:1]


def _stamp_file(out: Path) -> dict[str, Any] | None:
    try:
        stamp = json.loads((out / "stamp.json").read_bytes())
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None


def _stamp_of(shard: Path) -> dict[str, Any] | None:
    """The stamp in a shard, or None where it cannot be read to its end."""
    try:
        return dict(read_records(shard).stamp)
    except RecordsError:
        return None


def claim(out: Path, stamp: Mapping[str, Any]) -> None:
    """Make a folder that is held this run's own, and clear away what a killed run left half done.

    Raises:
        RecordsError: if it is another run's.
    """
    check_owner(out, stamp)
    for leftover in out.glob(f"*{TEMPORARY}"):
        leftover.unlink()
    if _stamp_file(out) is None:
        write_whole(out / "stamp.json", json_text(stamp, indent=1, ensure_ascii=False).encode())
    cut_half_line(out)
