"""The six data sets of the paper, their pocket twins, and any other: one loader.

A manifest (`manifests.py`) names the file, its checksum, rows and columns. Those of this project
lie in `data_manifests/datasets/` and are known by name; a user's own is known by its path. No row
is dropped: one that cannot be used carries its `Problem`, to be counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from sci_book import resources
from sci_book.data.catalogue import dataset_name
from sci_book.data.manifests import (
    Collection,
    Manifest,
    as_manifest,
    climbs_out,
    read_yaml,
)
from sci_book.data.objects import read_objects
from sci_book.data.reading import read_rows
from sci_book.data.rows import Dataset, DatasetError, Row, RowError
from sci_book.files import json_text, named_from
from sci_book.resources import HOME

MANIFESTS = resources.MANIFESTS / "datasets"

_OWN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def dataset_names() -> list[str]:
    """Every name `load_dataset` knows."""
    return sorted(path.stem for path in MANIFESTS.glob("*.yaml"))


def read_manifest(name: str) -> Manifest | Collection:
    """The manifest of a data set; a twin inherits its format from the set it is a twin of.

    Args:
        name: a name of `dataset_names()`, hyphens and underscores being the same; or the path of a
            YAML file of your own.

    Raises:
        DatasetError: for an unknown name (the message lists the names), and for a manifest that is
            not right, with one sentence for every mistake.
    """
    if _is_own(name):
        return _own_manifest(manifest_path(name))
    given, name = name, dataset_name(name)
    if name not in dataset_names():
        if named_from(Path(), given).is_file():
            raise DatasetError(
                f"{given} is no YAML file; describe the data in one, which names this file (see "
                "book/your_own_data.md), and give its path."
            )
        raise DatasetError(
            f"There is no data set {name!r}; expected one of {', '.join(dataset_names())}, or the "
            "path of a .yaml file that describes your own."
        )
    values = read_yaml(MANIFESTS / f"{name}.yaml")
    if "twin_of" in values:
        values = {**read_yaml(MANIFESTS / f"{values['twin_of']}.yaml"), **values}
    return as_manifest({**values, "name": name}, MANIFESTS / f"{name}.yaml")


def manifest_path(name: str) -> Path:
    """The YAML file that describes the data set of this name, or at this path."""
    return named_from(Path(), name) if _is_own(name) else MANIFESTS / f"{dataset_name(name)}.yaml"


def file_of(manifest: Manifest, name: str, folder: str | Path | None = None) -> Path:
    """Where the file of a data set lies.

    Args:
        name: the name or path by which the manifest was read.
        folder: the folder instead of the manifest's own.
    """
    return named_from(_base_of(manifest, name, folder), manifest.file)


def joined_file_of(manifest: Manifest, name: str, folder: str | Path | None = None) -> Path | None:
    """Where the second file of a data set lies, or None if it has one alone; as `file_of`."""
    if manifest.join is None:
        return None
    return named_from(_base_of(manifest, name, folder), manifest.join.file)


def _base_of(manifest: Manifest, name: str, folder: str | Path | None) -> Path:
    """What the relative paths of a manifest start at."""
    if folder is not None:
        return Path(folder)
    return manifest_path(name).parent if _is_own(name) else HOME / manifest.folder


def load_dataset(name: str, folder: str | Path | None = None, limit: int | None = None) -> Dataset:
    """Load a data set, a pocket twin, a collection (`paper`, `pocket`), or a user's own.

    Args:
        name: a name of `dataset_names()`, or the path of a YAML file (`book/your_own_data.md`).
        folder: where the file lies; by default the manifest's folder below `HOME` (`resources.py`),
            or the folder of the YAML file.
        limit: at most so many rows, but whole question groups and at least one of them. A
            collection shares the limit among its parts by their size; a part whose groups are all
            larger than its share has one of them if there is room, and otherwise no row.

    Raises:
        DatasetError: for an unknown name, a wrong manifest, a missing file, a wrong checksum,
            header or row count, or a limit below 1.
    """
    if limit is not None and limit < 1:
        raise DatasetError(f"limit={limit} leaves no row; expected 1 or more, or None for all.")
    manifest = read_manifest(name)
    if isinstance(manifest, Collection):
        parts = [load_dataset(part, folder) for part in manifest.parts]
        kept = [part.rows for part in parts] if limit is None else _shared(parts, limit)
        return Dataset(
            manifest.name,
            tuple(row for rows in kept for row in rows),
            {part.name: part.checksums[part.name] for part in parts},
            {part.name: part.sizes[part.name] for part in parts},
            {name: words for part in parts for name, words in part.objects.items()},
        )
    path = file_of(manifest, name, folder)
    if not path.exists():
        raise DatasetError(
            f"{path} does not exist; data set {manifest.name} expects {manifest.file} there. "
            + manifest.remedy(name, there=False)
        )
    base, joined = _base_of(manifest, name, folder), joined_file_of(manifest, name, folder)
    mend = manifest.remedy(name, there=True)
    try:
        rows = read_rows(path, base, manifest, joined)
    except DatasetError as error:
        raise DatasetError(f"{error} {mend}") from error
    if manifest.rows is not None and len(rows) != manifest.rows:
        raise DatasetError(
            f"{path} has {len(rows):,} rows; data set {manifest.name} has {manifest.rows:,}. The "
            f"file is truncated or of another version. {mend}"
        )
    checksum = _verify_checksum(path, rows, manifest, name)
    return Dataset(
        manifest.name,
        tuple(rows if limit is None else _whole_groups(rows, limit) or _groups(rows)[0]),
        {manifest.name: checksum},
        {manifest.name: len(rows)},
        _objects(manifest, base),
    )


def _objects(manifest: Manifest, base: Path) -> dict[str, list[str]]:
    if manifest.objects is None:
        return {}
    shipped = resources.MANIFESTS / "objects" / f"{manifest.objects}.yaml"
    return read_objects(shipped if shipped.is_file() else named_from(base, manifest.objects))


_PIXELS: dict[tuple[str, bool], str] = {}
"""What `_pixels` found of a picture, by its hash: a set that is read again decodes none."""


def content_checksum(rows: Iterable[Row]) -> str:
    """SHA-256 over what the rows say and show.

    Pictures count by their pixels, so a twin drawn again on a machine whose PNG encoder packs
    differently keeps its checksum.
    """
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_said(row, _pixels(row)))
    return digest.hexdigest()


def _pixels(row: Row) -> str:
    """SHA-256 of what a row shows, or of its bytes where they are no picture."""
    known = row.image_hash, row.problem is None
    if known not in _PIXELS:
        try:
            image = row.image()
            content = f"{image.size}".encode() + image.tobytes()
        except RowError:
            content = row.image_bytes
        _PIXELS[known] = hashlib.sha256(content).hexdigest()
    return _PIXELS[known]


def file_checksum(path: Path, kind: str) -> str:
    """The md5 or sha256 of a file, as hexadecimal digits.

    Raises:
        DatasetError: for a folder, which has none.
    """
    if path.is_dir():
        raise DatasetError(f"{path} is a folder, which has no {kind}; leave the checksum out.")
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _is_own(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _own_manifest(path: Path) -> Manifest:
    if not path.is_file():
        raise DatasetError(f"{path} does not exist; expected a YAML file that describes data.")
    if path.stem.replace("-", "_") in dataset_names() or not _OWN_NAME.fullmatch(path.stem):
        raise DatasetError(
            f"{path} would name its data set {path.stem!r}; expected a file name of letters, "
            "digits, - and _ that is no data set of this project. Rename the file."
        )
    values = read_yaml(path)
    for key in ("name", "folder", "twin_of", "parts", "packed"):
        if key in values:
            raise DatasetError(
                f"{path}: {key} is for the manifests of this project. Leave it out: the name is "
                "the file's, and the data lies beside it."
            )
    manifest = as_manifest({**values, "name": path.stem}, path)
    if manifest.address and (climbs_out(manifest.file) or manifest.file.startswith("~")):
        raise DatasetError(
            f"{path}: file is {manifest.file!r}; what is fetched from an address is put below the "
            "folder of the YAML file. Give a relative path without ..".rstrip(".")
            + "."
        )
    return manifest


def _verify_checksum(path: Path, rows: Sequence[Row], manifest: Manifest, name: str) -> str:
    """The checksum to name these data by; verified where the manifest knows it.

    A manifest of the user's own may change from run to run, and the file's checksum says nothing
    of its prompt, columns and question type: what the rows became is then part of the name.
    """
    own = _is_own(name)
    if not manifest.checksum:
        return f"rows:{_rows_checksum(rows, own)}"
    ((kind, expected),) = manifest.checksum.items()
    if kind != "content":
        actual = file_checksum(path, kind)
    elif manifest.packed and file_checksum(path, "sha256") == manifest.packed:
        actual = expected
    else:
        actual = content_checksum(rows)
    if expected is not None and actual != expected:
        raise DatasetError(
            f"{path} has the {kind} checksum {actual}; data set {manifest.name} has {expected}. "
            "The file is damaged or of another version. " + manifest.remedy(name, there=True)
        )
    if own or manifest.pictures == "files":
        # Nor does it say anything of the pictures beside the file.
        return f"{kind}:{actual} rows:{_rows_checksum(rows, own)}"
    return f"{kind}:{actual}"


def _rows_checksum(rows: Iterable[Row], own: bool) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_said(row, row.image_hash))
        if own:  # this project's manifests keep the checksums that frozen records name
            said = [row.question_type, row.group, row.translation, *row.rewrites]
            digest.update(json_text(said).encode())
    return digest.hexdigest()


def _said(row: Row, picture: str) -> bytes:
    said = [row.index, row.question, row.hint, dict(row.options), row.answer, row.category]
    return json_text([*said, picture], ensure_ascii=False).encode()


def _whole_groups(rows: Iterable[Row], limit: int) -> list[Row]:
    """The first whole groups that fit into `limit` rows, in the file's order."""
    chosen: list[Row] = []
    for group in _groups(rows):
        if len(chosen) + len(group) > limit:
            break
        chosen += group
    return sorted(chosen, key=lambda row: row.position)


def _groups(rows: Iterable[Row]) -> list[list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return list(groups.values())


def _shared(parts: Sequence[Dataset], limit: int) -> list[list[Row]]:
    """The rows of each part of a collection, together at most `limit`: each part's share of whole
    groups, then the smallest group of parts that have none, as far as there is room.

    A limit below every group leaves the smallest of all.
    """
    total = sum(map(len, parts)) or 1
    chosen = [_whole_groups(part, limit * len(part) // total) for part in parts]
    smallest = {
        place: min(_groups(part), key=len)
        for place, part in enumerate(parts)
        if len(part) and not chosen[place]
    }
    for place in sorted(smallest, key=lambda place: len(smallest[place])):
        taken = sum(map(len, chosen))
        if not taken or taken + len(smallest[place]) <= limit:
            chosen[place] = smallest[place]
    return chosen
