"""The six data sets of the paper in their public formats, and their pocket twins: one loader.

A manifest in `data_manifests/datasets/` names each file, its checksum, rows and columns
(SCI_SPEC, section 4). Five formats are TSV with base64 pictures; an image field of at most 64
characters is the index of the row that holds the picture. ViLP is Parquet with three pictures and
three answers a question, which become three rows.

What is wrong with a *file* (header, length, checksum) is a `DatasetError` at once. What is wrong
with one *row* (a field that is no picture, an answer that is no option) is kept in that row and
raised as a `RowError` when the row is used, so that the rest stays usable.
"""

from __future__ import annotations

import base64
import binascii
import csv
import hashlib
import io
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from PIL import Image

from sci_core.evaluation.answers import canonical_truth
from sci_core.processors import check_image

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "data_manifests" / "datasets"
POINTER_LENGTH = 64
GROUP_MODULUS = 1_000_000


class DatasetError(ValueError):
    """A data set or one of its files is not what its manifest says."""


class RowError(ValueError):
    """One row of a data set cannot be evaluated; the others can."""


@dataclass(frozen=True, eq=False)
class Row:
    """One question on one picture.

    index       the row's id in its file (ViLP: 3 * question + picture, both from 0)
    position    its place among the raw rows of the full file, from 0; `limit` keeps it
    group       the question group: circular rotations, the two questions of an MME picture, the
                three pictures of a ViLP question. MMBench-EN and -CN share their groups
    options     letters and texts; empty unless `question_type` is "mcq"
    answer      the ground truth in the form in which the answer rule returns answers
    image_hash  16 hex digits of the SHA-256 over the picture's file
    problem     why the row cannot be used, or None
    """

    dataset: str
    index: int
    position: int
    group: str
    question_type: str
    question: str
    answer: str
    image_hash: str
    hint: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    category: str = ""
    problem: str | None = None
    image_bytes: bytes = field(default=b"", repr=False)
    where: str = ""

    @property
    def kind(self) -> str:
        """The paper's question type: "MCQ", or "Others" (yes/no and short answers)."""
        return "MCQ" if self.question_type == "mcq" else "Others"

    def image(self) -> Image.Image:
        """The picture, decoded to RGB.

        Raises
        ------
        RowError : if the field is no picture, or one no vision tower can read.
        """
        if self.problem:
            raise RowError(self.problem)
        try:
            with warnings.catch_warnings():
                # check_image refuses the sizes Pillow warns of, with a sentence of its own.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                image = Image.open(io.BytesIO(self.image_bytes))
                check_image(image)
                return image.convert("RGB")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise RowError(
                f"{self.where}: the image field ({len(self.image_bytes):,} bytes) is no picture "
                f"that can be used ({error}); expected a PNG or JPEG file. Mend or leave out the "
                "row."
            ) from error


@dataclass(frozen=True)
class Dataset:
    """Rows of one data set or of several; `checksums` and `sizes` (all rows) by data set."""

    name: str
    rows: tuple[Row, ...]
    checksums: Mapping[str, str]
    sizes: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @cached_property
    def digest(self) -> str:
        """16 hex digits that name which rows of which files these are."""
        content = [dict(self.checksums), [(row.dataset, row.index) for row in self.rows]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def dataset_names() -> list[str]:
    """Every name `load_dataset` knows."""
    return sorted(path.stem for path in MANIFESTS.glob("*.yaml"))


def read_manifest(name: str) -> dict:
    """The manifest of a data set; a twin inherits its format from the set it is a twin of.

    Hyphens and underscores in a name are the same.

    Raises
    ------
    DatasetError : for an unknown name; the message lists the names.
    """
    name = name.replace("-", "_")
    if name not in dataset_names():
        raise DatasetError(
            f"There is no data set {name!r}; expected one of {', '.join(dataset_names())}."
        )
    manifest = yaml.safe_load((MANIFESTS / f"{name}.yaml").read_text(encoding="utf-8"))
    original = read_manifest(manifest["twin_of"]) if "twin_of" in manifest else {}
    return {**original, **manifest, "name": name}


def load_dataset(name: str, folder: str | Path | None = None, limit: int | None = None) -> Dataset:
    """Load a data set, a pocket twin, or a collection of them (`paper`, `pocket`).

    Parameters
    ----------
    name : a name of `dataset_names()`.
    folder : where the file lies; by default the manifest's folder in this repository.
    limit : at most so many rows, but whole question groups and at least one of them. A collection
        shares the limit among its parts by their size.

    Raises
    ------
    DatasetError : for an unknown name, a missing file, a wrong checksum, header or row count, or a
        limit below 1.
    """
    if limit is not None and limit < 1:
        raise DatasetError(f"limit={limit} leaves no row; expected 1 or more, or None for all.")
    manifest = read_manifest(name)
    if "parts" in manifest:
        rows = [read_manifest(part)["rows"] for part in manifest["parts"]]
        limits = [None if limit is None else max(1, limit * n // sum(rows)) for n in rows]
        parts = [
            load_dataset(part, folder, share)
            for part, share in zip(manifest["parts"], limits, strict=True)
        ]
        return Dataset(
            manifest["name"],
            tuple(row for part in parts for row in part),
            {part.name: part.checksums[part.name] for part in parts},
            {part.name: part.sizes[part.name] for part in parts},
        )
    path = (ROOT / manifest["folder"] if folder is None else Path(folder)) / manifest["file"]
    if not path.is_file():
        raise DatasetError(
            f"{path} does not exist; data set {manifest['name']} expects {manifest['file']} there. "
            + manifest["obtain"]
        )
    rows = _load_file(path, manifest)
    checksum = _verify_checksum(path, rows, manifest)
    return Dataset(
        manifest["name"],
        tuple(rows if limit is None else _whole_groups(rows, limit)),
        {manifest["name"]: checksum},
        {manifest["name"]: len(rows)},
    )


def content_checksum(rows: list[Row]) -> str:
    """SHA-256 over what the rows say and show.

    Pictures count by their pixels, so a twin drawn again on a machine whose PNG encoder packs
    differently keeps its checksum.
    """
    pixels: dict[str, str] = {}
    digest = hashlib.sha256()
    for row in rows:
        if row.image_hash not in pixels:
            try:
                image = row.image()
                content = f"{image.size}".encode() + image.tobytes()
            except RowError:
                content = row.image_bytes
            pixels[row.image_hash] = hashlib.sha256(content).hexdigest()
        said = [row.index, row.question, row.hint, dict(row.options), row.answer, row.category]
        digest.update(json.dumps([*said, pixels[row.image_hash]], ensure_ascii=False).encode())
    return digest.hexdigest()


def _load_file(path: Path, manifest: Mapping) -> list[Row]:
    read = {"tsv": _read_tsv, "parquet": _read_vilp}[manifest["format"]]
    rows = read(path, manifest)
    if len(rows) != manifest["rows"]:
        raise DatasetError(
            f"{path} has {len(rows):,} rows; data set {manifest['name']} has "
            f"{manifest['rows']:,}. The file is truncated or of another version. "
            + manifest["obtain"]
        )
    return rows


def _verify_checksum(path: Path, rows: list[Row], manifest: Mapping) -> str:
    ((kind, expected),) = manifest["checksum"].items()
    if kind == "md5":
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "md5").hexdigest()
    else:
        found = content_checksum(rows)
    if expected is not None and found != expected:
        raise DatasetError(
            f"{path} has the {kind} checksum {found}; data set {manifest['name']} has {expected}. "
            "The file is damaged or of another version. " + manifest["obtain"]
        )
    return f"{kind}:{found}"


def _read_tsv(path: Path, manifest: Mapping) -> list[Row]:
    columns = manifest["columns"]
    table = _parse_tsv(path)
    try:
        header = next(table)
    except StopIteration:
        raise DatasetError(f"{path} is empty; expected a header {', '.join(columns)}.") from None
    missing = [column for column in columns if column not in header]
    if missing:
        raise DatasetError(
            f"{path} has no column {', '.join(missing)}; its first line has "
            f"{len(header)} fields beginning {header[0][:40]!r}, expected the header "
            f"{', '.join(columns)}. Give the file its header line, or get it again."
        )
    records = []
    for number, fields in enumerate(table, start=1):
        if len(fields) != len(header):
            raise DatasetError(
                f"{path}, row {number}: {len(fields)} fields came, {len(header)} were expected. "
                "The file is truncated or a tab stands unquoted in a field; get it again."
            )
        records.append(dict(zip(header, fields, strict=True)))
    pictures = _Pictures(path, records)
    return [
        _tsv_row(path, manifest, record, position, pictures)
        for position, record in enumerate(records)
    ]


def _parse_tsv(path: Path) -> Iterator[list[str]]:
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.reader(file, delimiter="\t", strict=True)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DatasetError(
            f"{path} is no readable TSV ({error}); expected UTF-8 text with tab-separated, "
            "optionally quoted fields. The file is truncated or damaged; get it again."
        ) from error


def _tsv_row(
    path: Path, manifest: Mapping, record: Mapping[str, str], position: int, pictures: _Pictures
) -> Row:
    kind = manifest["question_type"]
    index = pictures.indices[position]
    where = f"{path}, row {position + 1} (index {index})"
    options = {}
    if kind == "mcq":
        options = {x: record[x] for x in "ABCDEFGHIJ" if record.get(x, "").strip()}
    answer = canonical_truth(kind, record["answer"])
    image, image_hash, problem = pictures.of(position, where)
    allowed = {"mcq": list(options), "yesno": ["yes", "no"]}[kind]
    if problem is None and answer not in allowed:
        problem = (
            f"{where}: the answer is {record['answer']!r}; expected one of {', '.join(allowed)}. "
            "Mend or leave out the row."
        )
    return Row(
        dataset=manifest["name"],
        index=index,
        position=position,
        group=f"{manifest['group_prefix']}:{_group(manifest['group'], record, index, image_hash)}",
        question_type=kind,
        question=record["question"].strip(),
        hint=record.get("hint", "").strip(),
        options=options,
        answer=answer,
        category=record.get("category", ""),
        image_hash=image_hash,
        problem=problem,
        image_bytes=image,
        where=where,
    )


def _group(rule: str, record: Mapping[str, str], index: int, image_hash: str) -> str:
    if rule == "circular":
        return str(index % GROUP_MODULUS)
    # MME names each picture; the name, unlike the row's place, also pairs rows of a shuffled file.
    return record["image_path"] or image_hash


class _Pictures:
    """The pictures of a TSV file: base64 fields decoded once, pointers followed to their end."""

    def __init__(self, path: Path, records: list[dict[str, str]]):
        self.indices: list[int] = []
        for number, record in enumerate(records, start=1):
            try:
                self.indices.append(int(record["index"]))
            except ValueError:
                raise DatasetError(
                    f"{path}, row {number}: the index is {record['index'][:40]!r}; expected a "
                    "whole number. Mend the row, or get the file again."
                ) from None
        self.place = {index: place for place, index in enumerate(self.indices)}
        if len(self.place) != len(self.indices):
            twice = next(x for i, x in enumerate(self.indices) if self.place[x] != i)
            raise DatasetError(
                f"{path} has index {twice} twice; every row needs its own. Get the file again."
            )
        self.fields = [record["image"].strip() for record in records]
        self._decoded: dict[int, tuple[bytes, str, str | None]] = {}

    def of(self, position: int, where: str) -> tuple[bytes, str, str | None]:
        """Bytes, hash and problem of the picture of one row."""
        seen = [position]
        while 0 < len(self.fields[seen[-1]]) <= POINTER_LENGTH:
            pointer = self.fields[seen[-1]]
            target = self.place.get(int(pointer)) if pointer.isdecimal() else None
            if target is None or target in seen:
                ends = "in a circle" if target is not None else "at no row"
                return b"", _hash(where.encode()), (
                    f"{where}: the image field {pointer!r} is short enough to be the index of the "
                    f"row that holds the picture, but points {ends}. Mend or leave out the row."
                )
            seen.append(target)
        holder = seen[-1]
        if holder not in self._decoded:
            self._decoded[holder] = self._decode(self.fields[holder], where)
        return self._decoded[holder]

    @staticmethod
    def _decode(text: str, where: str) -> tuple[bytes, str, str | None]:
        try:
            content = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            return b"", _hash(text.encode()), (
                f"{where}: the image field ({len(text):,} characters, beginning {text[:16]!r}) is "
                f"not base64 ({error}). Mend or leave out the row."
            )
        if not content:
            return b"", _hash(where.encode()), f"{where}: the image field is empty."
        return content, _hash(content), None


def _read_vilp(path: Path, manifest: Mapping) -> list[Row]:
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise DatasetError(
            f"{path} is no readable Parquet file ({str(error).splitlines()[0]}). It is "
            "truncated or damaged; get it again."
        ) from error
    missing = [name for name in manifest["columns"] if name not in table.column_names]
    if missing:
        raise DatasetError(
            f"{path} has no column {', '.join(missing)}; it has {', '.join(table.column_names)}, "
            f"expected {', '.join(manifest['columns'])}. Get the file again."
        )
    rows = []
    for number, record in enumerate(table.to_pylist()):
        for picture in range(3):
            image = record[f"image{picture + 1}"]
            # A hub viewer stores a picture as {bytes, path}; the file itself as bytes.
            image = image.get("bytes") if isinstance(image, dict) else image
            index = 3 * number + picture
            where = f"{path}, question {number + 1}, image{picture + 1}"
            rows.append(
                Row(
                    dataset=manifest["name"],
                    index=index,
                    position=index,
                    group=f"{manifest['group_prefix']}:{number}",
                    question_type="short",
                    question=str(record["question"]).strip(),
                    answer=canonical_truth("short", str(record[f"answer{picture + 1}"])),
                    image_hash=_hash(image or where.encode()),
                    problem=None if image else f"{where}: the image field is empty.",
                    image_bytes=image or b"",
                    where=where,
                )
            )
    return rows


def _whole_groups(rows: list[Row], limit: int) -> list[Row]:
    """The first whole groups that fit into `limit` rows, at least one, in the file's order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    chosen: list[Row] = []
    for group in groups.values():
        if chosen and len(chosen) + len(group) > limit:
            break
        chosen += group
    return sorted(chosen, key=lambda row: row.position)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
