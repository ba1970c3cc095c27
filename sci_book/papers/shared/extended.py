"""Records beside the ordinary ones: more rounds, another noise, on a fixed part of the rows.

`<folder>/<model>.parquet` holds fifteen rounds, `<model>-clamp.parquet` and
`<model>-normalized.parquet` the ordinary rounds under another noise, `<model>-cheaper.parquet` the
cheaper rounds, on all rows. A model need not have them.
"""

from pathlib import Path
from typing import get_args

import numpy as np

from sci_book.methods import COMPARED
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.stamp import located
from sci_book.results.records import Records, RecordsError, read_records
from sci_core.engine.questions import Noise

CHEAPER = "cheaper"
NOISES = get_args(Noise)
KINDS = ("", *NOISES)


def extended(subject: Subject, folder: str | Path, variant: str = "") -> Subject | None:
    """The model of `subject` with its extended records, on rows that its ordinary ones have too.

    None where there are none, or none on these rows.

    Args:
        variant: "" for more rounds, another noise, or `CHEAPER` for cheaper rounds.

    Raises:
        RecordsError: the extended records are of another model, noise, data or decoding.
    """
    path = located(folder) / f"{subject.name}{f'-{variant}' if variant else ''}.parquet"
    if not path.is_file():
        return None
    records = read_records(path)
    _check(records, subject, path, variant)
    known = set(subject.records.keys)
    common = np.array([key in known for key in records.keys], dtype=bool)
    return subject.with_records(records.take(common), path) if common.any() else None


def on_rows_of(subject: Subject, other: Subject) -> Subject:
    """`subject` with the records of the rows that `other` has, in the order of `other`."""
    places = {key: place for place, key in enumerate(subject.records.keys)}
    rows = np.array([places[key] for key in other.records.keys], dtype=np.int64)
    return subject.with_records(subject.records.take(rows))


def _check(records: Records, subject: Subject, path: Path, variant: str) -> None:
    own = subject.records.stamp.get("noise", "clamp")
    noise = variant if variant in NOISES else own
    here, there = {"noise": "clamp", **records.stamp}, {**subject.records.stamp, "noise": noise}
    keys = ("model", "revision", "prompts", "max_new_tokens", "noise")
    differing = [key for key in keys if here.get(key) != there.get(key)]
    ours, theirs = here["datasets"], there["datasets"]
    differing += [name for name in sorted(ours.keys() & theirs) if ours[name] != theirs[name]]
    if differing:
        how = {"": "extended --share 5", CHEAPER: "cheaper --record answers"}.get(
            variant, f"{','.join(COMPARED)} --share 5"
        )
        raise RecordsError(
            f"{path.name} does not go with {subject.path.name}: they differ in "
            f"{', '.join(differing)}. Make it anew with `sci evaluate --model {subject.name} "
            f"--methods {how} --noise {noise} --out RUN` and `sci freeze RUN …/{path.name}`."
        )
