"""Records beside the ordinary ones: more rounds, another noise, on a fixed part of the rows.

`<folder>/<model>.parquet` holds fifteen rounds, `<model>-wrap.parquet` and
`<model>-normalized.parquet` the ordinary rounds under another noise. A model need not have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sci_core.evaluation import Records, RecordsError, read_records
from sci_core.report.chapters import Subject
from sci_core.report.stamp import checksum, located, provenance
from sci_core.report.tables import Table

KINDS = ("", "wrap", "normalized")


def extended(subject: Subject, folder: str | Path, variant: str = "") -> Subject | None:
    """The model of `subject` with its extended records, on rows that its ordinary ones have too.

    None where there are none, or none on these rows.

    Args:
        subject: a model with its ordinary records.
        folder: of the extended records.
        variant: "" for more rounds; "wrap" or "normalized" for another noise.

    Raises:
        RecordsError: the extended records are of another model, noise, data or decoding.
    """
    path = located(folder) / f"{subject.name}{f'-{variant}' if variant else ''}.parquet"
    if not path.is_file():
        return None
    found = read_records(path)
    _check(found, subject, path, variant or "clamp")
    known = set(_keys(subject.records))
    common = np.array([key in known for key in _keys(found)], dtype=bool)
    return replace(subject, path=path, records=found.take(common)) if common.any() else None


def on_rows_of(subject: Subject, other: Subject) -> Subject:
    """`subject` with the records of the rows that `other` has, in the order of `other`."""
    places = {key: place for place, key in enumerate(_keys(subject.records))}
    rows = np.array([places[key] for key in _keys(other.records)], dtype=np.int64)
    return replace(subject, records=subject.records.take(rows))


def stamp_of(found: Sequence[Subject], beside: Iterable[Path]) -> Table:
    """The provenance of a chapter that reads more files than its models' ordinary records."""
    first = found[0].records.stamp["datasets"]
    records = {each.name: checksum([each.path]) for each in found}
    records |= {f"{path.parent.name}/{path.stem}": checksum([path]) for path in beside}
    return provenance(
        models={each.name: each.records.stamp["revision"][:16] for each in found},
        data={name: text[:16] for name, text in first.items()},
        records=records,
    )


def _check(found: Records, subject: Subject, path: Path, noise: str) -> None:
    here, there = {"noise": "clamp", **found.stamp}, {**subject.records.stamp, "noise": noise}
    differing = [
        key
        for key in ("model", "revision", "prompts", "max_new_tokens", "noise")
        if here.get(key) != there.get(key)
    ]
    shared = here["datasets"].keys() & there["datasets"].keys()
    differing += [
        name for name in sorted(shared) if here["datasets"][name] != there["datasets"][name]
    ]
    if differing:
        methods = "extended" if noise == "clamp" else "TIE,VCD,M3ID,SCI3,SCI5,SCI7"
        raise RecordsError(
            f"{path.name} does not go with {subject.path.name}: they differ in "
            f"{', '.join(differing)}. Make it anew with `sci evaluate --model {subject.name} "
            f"--methods {methods} --noise {noise} --share 5 --out RUN` and `sci freeze RUN "
            f"…/{path.name}`."
        )


def _keys(records: Records) -> list[tuple[str, int]]:
    columns = (records.table[name].to_pylist() for name in ("dataset", "index"))
    return list(zip(*columns, strict=True))
