"""Where records lie: one file, the folder of a run, or a folder of files, a model each.

Every command and page that reads records takes any of these, and says what a place holds instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sci_book.data.catalogue import model_name
from sci_book.results.records import read_records, shard_files
from sci_book.results.stamps import RecordsError

EXPECTED = (
    "expected is a file of records, the folder of a finished `sci evaluate`, or a folder of files "
    "`<model>.parquet`"
)


def is_one_run(place: Path) -> bool:
    """Whether a place holds the records of one run: a file, or the folder of its shards."""
    return place.is_file() or bool(shard_files(place)) or (place / "stamp.json").is_file()


def path_of(model: str, place: Path) -> Path:
    """Where the records of a model lie: at the place itself, or in a file of its name there.

    Args:
        place: any of those above; the folder of a book of one's own holds a folder `records`.

    Raises:
        RecordsError: the model has none there; the message says what there is.
    """
    if is_one_run(place):
        return place
    folder = _folder(place)
    path = folder / f"{model}.parquet"
    if not path.is_file():
        raise RecordsError(f"{path} holds no records: {_what_is(folder)}")
    return path


def models_at(place: Path, usual: Sequence[str] = ()) -> list[str]:
    """The models that have records at a place; where all the `usual` ones have, these alone.

    Raises:
        RecordsError: none has, or a run there cannot be read.
    """
    if is_one_run(place):
        return [model_name(read_records(place).stamp["model"])]
    folder = _folder(place)
    there = _files(folder)
    if not there:
        raise RecordsError(f"{place} holds no records: {_what_is(folder)}")
    return list(usual) if usual and set(usual) <= set(there) else there


def only_one(place: Path) -> Path:
    """The records at a place that holds those of one model.

    Raises:
        RecordsError: there are none, or those of several.
    """
    models = models_at(place)
    if len(models) > 1:
        raise RecordsError(
            f"{place} holds records of {', '.join(models)}; name the file of one of them, such as "
            f"{_folder(place) / models[0]}.parquet."
        )
    return path_of(models[0], place)


def _folder(place: Path) -> Path:
    return place / "records" if (place / "records").is_dir() else place


def _files(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.parquet"))


def _what_is(folder: Path) -> str:
    """What a folder holds in place of what is missing, in words."""
    if not folder.exists():
        return f"there is no {folder}; {EXPECTED}."
    if files := _files(folder):
        return f"that folder has those of {', '.join(files)}. Name one of these."
    return f"{EXPECTED}; make one with `sci evaluate`."
