"""The six data sets of the paper, their pocket twins, and any other: one loader.

A manifest (`manifests.py`) names the file, its checksum, rows and columns. Those of this project
lie in `data_manifests/datasets/` and are known by name; a user's own is known by its path. Five of
the six sets are TSV with base64 pictures, where an image field of at most 64 characters is the
index of the row that holds the picture; ViLP is Parquet with three pictures and three answers a
question, which become three rows.

No row is dropped: one that cannot be used carries its `Problem`, to be counted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sci_book import resources
from sci_book.data.answers import numerals
from sci_book.data.answers.rules import canonical_truth
from sci_book.data.manifests import (
    Collection,
    Columns,
    Manifest,
    as_manifest,
    climbs_out,
    read_yaml,
)
from sci_book.data.rows import Dataset, DatasetError, Problem, Row, RowError, short_hash
from sci_book.data.tables import Uneven, read_table
from sci_book.resources import HOME

MANIFESTS = resources.MANIFESTS / "datasets"
POINTER_LENGTH = 64
GROUP_MODULUS = 1_000_000
MOST_TEXT = 100_000
"""Characters of all texts of a row; longer ones are a damaged field."""
MOST_PICTURE_BYTES = 2**28
"""Bytes of a picture's file; a longer one is not read."""

_OWN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NUMBER_WORD = re.compile("and|hundred|thousand")
_CHINESE_NUMERALS = "〇零一二两三四五六七八九十百千万"
_UNSURE = re.compile("[~≈?]")
_OPTION_INSIDE = re.compile(r"(?<![A-Za-z])([A-Z])\s{0,3}[:：]")


def dataset_names() -> list[str]:
    """Every name `load_dataset` knows."""
    return sorted(path.stem for path in MANIFESTS.glob("*.yaml"))


def read_manifest(name: str) -> Manifest | Collection:
    """The manifest of a data set; a twin inherits its format from the set it is a twin of.

    Parameters
    ----------
    name : a name of `dataset_names()`, hyphens and underscores being the same; or the path of a
        YAML file of your own.

    Raises
    ------
    DatasetError : for an unknown name (the message lists the names), and for a manifest that is
        not right, with one sentence for every mistake.
    """
    if _is_own(name):
        return _own_manifest(Path(name))
    name = name.replace("-", "_")
    if name not in dataset_names():
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
    return Path(name) if _is_own(name) else MANIFESTS / f"{name.replace('-', '_')}.yaml"


def file_of(manifest: Manifest, name: str, folder: str | Path | None = None) -> Path:
    """Where the file of a data set lies.

    Parameters
    ----------
    name : the name or path by which the manifest was read.
    folder : the folder instead of the manifest's own.
    """
    if folder is not None:
        return Path(folder) / manifest.file
    return (Path(name).parent if _is_own(name) else HOME / manifest.folder) / manifest.file


def load_dataset(name: str, folder: str | Path | None = None, limit: int | None = None) -> Dataset:
    """Load a data set, a pocket twin, a collection (`paper`, `pocket`), or a user's own.

    Parameters
    ----------
    name : a name of `dataset_names()`, or the path of a YAML file (`book/your_own_data.md`).
    folder : where the file lies; by default the manifest's folder below `HOME` (`resources.py`), or
        the folder of the YAML file.
    limit : at most so many rows, but whole question groups and at least one of them. A collection
        shares the limit among its parts by their size; a part whose groups are all larger than
        its share has one of them if there is room, and otherwise no row.

    Raises
    ------
    DatasetError : for an unknown name, a wrong manifest, a missing file, a wrong checksum, header
        or row count, or a limit below 1.
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
        )
    path = file_of(manifest, name, folder)
    if not path.is_file():
        raise DatasetError(
            f"{path} does not exist; data set {manifest.name} expects {manifest.file} there. "
            + manifest.remedy(name, there=False)
        )
    # The pictures' folder is relative to what the file's own name is relative to.
    base = path.parents[len(Path(manifest.file).parts) - 1]
    mend = manifest.remedy(name, there=True)
    try:
        rows = _read_rows(path, base, manifest)
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
    )


def content_checksum(rows: Iterable[Row]) -> str:
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
        digest.update(_said(row, pixels[row.image_hash]))
    return digest.hexdigest()


def file_checksum(path: Path, kind: str) -> str:
    """The md5 or sha256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


# --- manifests ----------------------------------------------------------------------------------


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
    for key in ("name", "folder", "twin_of", "parts"):
        if key in values:
            raise DatasetError(
                f"{path}: {key} is for the manifests of this project. Leave it out: the name is "
                "the file's, and the data lies beside it."
            )
    return as_manifest({**values, "name": path.stem}, path)


# --- checksums ----------------------------------------------------------------------------------


def _verify_checksum(path: Path, rows: Sequence[Row], manifest: Manifest, name: str) -> str:
    """The checksum to name these data by; verified where the manifest knows it.

    A manifest of the user's own may change from run to run, and the file's checksum says nothing
    of its prompt, columns and question type: what the rows became is then part of the name.
    """
    own = _is_own(name)
    if not manifest.checksum:
        return f"rows:{_rows_checksum(rows, own)}"
    ((kind, expected),) = manifest.checksum.items()
    found = content_checksum(rows) if kind == "content" else file_checksum(path, kind)
    if expected is not None and found != expected:
        raise DatasetError(
            f"{path} has the {kind} checksum {found}; data set {manifest.name} has {expected}. "
            "The file is damaged or of another version. " + manifest.remedy(name, there=True)
        )
    if own or manifest.pictures == "files":
        # Nor does it say anything of the pictures beside the file.
        return f"{kind}:{found} rows:{_rows_checksum(rows, own)}"
    return f"{kind}:{found}"


def _rows_checksum(rows: Iterable[Row], own: bool) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_said(row, row.image_hash))
        if own:  # this project's manifests keep the checksums that frozen records name
            digest.update(json.dumps([row.question_type, row.group, row.translation]).encode())
    return digest.hexdigest()


def _said(row: Row, picture: str) -> bytes:
    said = [row.index, row.question, row.hint, dict(row.options), row.answer, row.category]
    return json.dumps([*said, picture], ensure_ascii=False).encode()


# --- rows ---------------------------------------------------------------------------------------


def _read_rows(path: Path, base: Path, manifest: Manifest) -> list[Row]:
    records = read_table(path, manifest.format, manifest.needed)
    ids = _ids(path, manifest, records)
    pictures = _Pictures(manifest, base, records, ids)
    columns = manifest.columns
    # A cell may hold several questions, but not beside several columns of them.
    folded = columns.rows_a_record == 1
    counts = [
        len(cell) if folded and isinstance(cell := record[columns.question[0]], list) and cell
        else columns.rows_a_record
        for record in records
    ]  # fmt: skip
    most = max(counts, default=1)
    rows: list[Row] = []
    for number, (record, count) in enumerate(zip(records, counts, strict=True)):
        for part in range(count):
            index = ids[number] * most + part
            where = f"{path}, row {number + 1} (index {index})"
            place = _Place(number, part, index, len(rows), where)
            rows.append(_row(manifest, record, place, pictures))
    return rows


class _Place(NamedTuple):
    """Where a row comes from: its record, its part of the record, and its names."""

    record: int
    part: int
    index: int
    position: int
    where: str


def _ids(path: Path, manifest: Manifest, records: Sequence[Mapping[str, Any]]) -> list[int]:
    column = manifest.columns.index
    if column is None:
        return list(range(len(records)))
    ids = []
    for number, record in enumerate(records, start=1):
        if isinstance(record, Uneven):  # its cells may be those of other columns
            ids.append(-number)
            continue
        text = _text(record[column]) or ""
        try:
            ids.append(int(text))
        except ValueError:
            ids.append(2**63)
        if abs(ids[-1]) >= 2**48:  # leaves room for several rows a record
            raise DatasetError(
                f"{path}, row {number}: the index is {text[:40]!r}; expected a whole number."
            )
    if len(set(ids)) != len(ids):
        seen: set[int] = set()
        twice = next(x for x in ids if x in seen or seen.add(x))
        raise DatasetError(f"{path} has index {twice} twice; every row needs its own.")
    return ids


def _row(manifest: Manifest, record: Mapping[str, Any], place: _Place, pictures: _Pictures) -> Row:
    columns = manifest.columns
    uneven = _problem(place, "fields", record.what) if isinstance(record, Uneven) else None
    problems: list[Problem | None] = []
    picture = pictures.of(place)
    question = _words(
        _nth_cell(columns, columns.question, record, place), "question", place, problems
    )
    if not question:
        problems.append(_problem(place, "question", "the question is empty"))
    kind = _question_type(manifest, record, place, problems)
    options: dict[str, str] = {}
    if kind == "mcq":
        question, options = _options(manifest, record, question)
        if len(options) < 2:
            problems.append(
                _problem(place, "options", f"{len(options)} options came; expected 2 or more")
            )
    said = _words(record[_nth(columns.answer, place.part)], "answer", place, problems)
    answer = canonical_truth(kind, said)
    if kind == "mcq" and answer not in options:
        answer = next((x for x, words in options.items() if words.strip() == said), answer)
    problems.append(_answer_problem(place, kind, said, answer, options))
    hint = _words(record[columns.hint], "hint", place, problems) if columns.hint else ""
    category = (
        _words(record[columns.category], "category", place, problems) if columns.category else ""
    )
    group = _words(record[columns.group], "group", place, problems) if columns.group else ""
    translation = ""
    if columns.translation and kind == "free":
        cell = _nth_cell(columns, columns.translation, record, place)
        translation = _words(cell, "translation", place, problems)
    lengths = [len(words) for words in options.values()]
    lengths += map(len, (question, hint, answer, category, group, translation))
    if sum(lengths) > MOST_TEXT:
        problems.append(_problem(place, "text", f"over {MOST_TEXT:,} characters came"))
        # Nobody shall tokenise or store it.
        question, hint, answer = question[:80], hint[:80], answer[:80]
        category, group, translation = category[:80], group[:80], translation[:80]
        options = {letter: words[:80] for letter, words in options.items()}
    if not group:
        group = _group("picture" if columns.group else manifest.group, place, picture.hash)
    return Row(
        dataset=manifest.name,
        index=place.index,
        position=place.position,
        group=f"{manifest.group_prefix or manifest.name}:{group}",
        question_type=kind,
        question=manifest.prompt.replace("{question}", question),
        hint=hint,
        options=options,
        answer=answer,
        category=category,
        translation=translation,
        image_hash=picture.hash,
        problem=next(filter(None, [uneven, picture.problem, *problems]), None),
        image_bytes=picture.content,
        image_file=picture.file,
        where=place.where,
    )


def _group(rule: str, place: _Place, image_hash: str) -> str:
    if rule == "picture":
        return image_hash
    return str(place.index % GROUP_MODULUS if rule == "circular" else place.record)


def _words(cell: Any, what: str, place: _Place, problems: list[Problem | None]) -> str:
    found = _text(cell)
    if found is None:
        came = type(cell).__name__
        problems.append(_problem(place, "text", f"the {what} is no text, {came} came"))
    return (found or "").strip()


def _nth_cell(
    columns: Columns, names: Sequence[str], record: Mapping[str, Any], place: _Place
) -> Any:
    """The cell of a row's question or translation, or its part of one that holds a list."""
    cell = record[_nth(names, place.part)]
    if isinstance(cell, list) and columns.rows_a_record == 1 and cell:
        return cell[place.part] if place.part < len(cell) else ""
    return cell


def _nth(names: Sequence[str], part: int) -> str:
    return names[part if len(names) > 1 else 0]


def _problem(place: _Place, kind: str, what: str) -> Problem:
    return Problem(kind, f"{place.where}: {what}. Mend or leave out the row.")


def _question_type(
    manifest: Manifest,
    record: Mapping[str, Any],
    place: _Place,
    problems: list[Problem | None],
) -> str:
    if manifest.question_type:
        return manifest.question_type
    column, values = manifest.question_types.column, manifest.question_types.values
    found = _text(record[column])
    if found not in values:
        what = f"{column} is {str(found)[:40]!r}; expected one of {', '.join(values)}"
        problems.append(_problem(place, "question type", what))
    return values.get(found, "short")


def _options(
    manifest: Manifest, record: Mapping[str, Any], question: str
) -> tuple[str, dict[str, str]]:
    """The question without its options, and the options by letter."""
    names = manifest.columns.options
    if names is None:
        return _options_inside(question)
    if len(names) > 1:
        texts = [record[name] for name in names]
    else:
        texts = record[names[0]]
        if isinstance(texts, str):  # a list in a text cell is written as JSON
            try:
                texts = json.loads(texts)
            except (ValueError, RecursionError):
                texts = []
        texts = texts if isinstance(texts, list) else []
    lettered = zip(string.ascii_uppercase, [_text(text) for text in texts], strict=False)
    return question, {letter: text for letter, text in lettered if text and not text.isspace()}


def _options_inside(question: str) -> tuple[str, dict[str, str]]:
    """ "How many? A:16  B:17" as the question and its options: the last run of A:, B:, …"""
    found = list(_OPTION_INSIDE.finditer(question))
    first = max((i for i, each in enumerate(found) if each[1] == "A"), default=None)
    if first is None:
        return question, {}
    run = [found[first]]
    for each in found[first + 1 :]:
        if len(run) < 26 and each[1] == string.ascii_uppercase[len(run)]:
            run.append(each)
    ends = [each.start() for each in run[1:]] + [len(question)]
    options = {
        each[1]: question[each.end() : end].strip() for each, end in zip(run, ends, strict=True)
    }
    return question[: run[0].start()].strip(), options


def _answer_problem(
    place: _Place, kind: str, said: str, answer: str, options: Mapping[str, str]
) -> Problem | None:
    if kind == "number":
        good, expected = answer != "" and _is_bare_number(said), "a number and nothing else"
    elif kind in ("short", "free"):
        good, expected = bool(answer), "a word or a few"
    else:
        allowed = list(options) if kind == "mcq" else ["yes", "no"]
        good, expected = answer in allowed, f"one of {', '.join(allowed)}"
    if good:
        return None
    return _problem(place, "answer", f"the answer is {said[:80]!r}; expected {expected}")


def _is_bare_number(text: str) -> bool:
    """Whether a truth is a number without any other word: "about one" would be read as 1."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W\d_]+", text)
    if not all(
        _NUMBER_WORD.fullmatch(word) or numerals.number(word) for word in words if word.isascii()
    ):
        return False
    others = set("".join(word for word in words if not word.isascii()))
    return others <= set(_CHINESE_NUMERALS) and not _UNSURE.search(text)


def _text(value: Any) -> str | None:
    """What a cell says as text; "" for nothing, None for what is no text."""
    if isinstance(value, str) and value.isascii():
        return value
    if value is None or value != value:  # nan, which other tools write for nothing
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if not isinstance(value, str | int | float):
        return None
    try:
        text = str(value)
        text.encode()
    except ValueError:  # half a surrogate pair; an integer of thousands of digits
        return None
    return text


# --- pictures -----------------------------------------------------------------------------------


class _Picture(NamedTuple):
    """A row's picture: its bytes or its file, its hash, and what is wrong with it."""

    content: bytes
    file: Path | None
    hash: str
    problem: Problem | None = None


class _Pictures:
    """The pictures of a file: each read once, pointers followed to their end."""

    def __init__(
        self,
        manifest: Manifest,
        base: Path,
        records: Sequence[Mapping[str, Any]],
        ids: Sequence[int],
    ):
        self.name, self.columns = manifest.name, manifest.columns.image
        self.records, self.ids = records, ids
        self.place = {index: number for number, index in enumerate(ids)}
        self.pointers = manifest.columns.index is not None and len(self.columns) == 1
        self.base, self.folder = base.resolve(), base.resolve() / manifest.picture_folder
        self.shown = base / manifest.picture_folder
        self._read = {"base64": self._base64, "files": self._file, "bytes": self._bytes}[
            manifest.pictures
        ]
        self._known: dict[Any, _Picture] = {}

    def of(self, place: _Place) -> _Picture:
        """The picture of one row."""
        return self._read(place, self.records[place.record][_nth(self.columns, place.part)])

    def _none(self, place: _Place, kind: str, what: str) -> _Picture:
        # A hash of its own, and the same on every machine.
        own = short_hash(f"{self.name} {place.index}".encode())
        return _Picture(b"", None, own, _problem(place, kind, what))

    def _base64(self, place: _Place, cell: Any) -> _Picture:
        column, seen = _nth(self.columns, place.part), [place.record]
        field = (_text(cell) or "").strip()
        while self.pointers and 0 < len(field) <= POINTER_LENGTH:
            target = self.place.get(int(field)) if field.isdecimal() else None
            if target is None or target in seen:
                ends = "in a circle" if target is not None else "at no row"
                what = (
                    f"the image field {field!r} is short enough to be the index of the row that "
                    f"holds the picture, but points {ends}"
                )
                return self._none(place, "picture's pointer", what)
            seen.append(target)
            field = (_text(self.records[target][column]) or "").strip()
        key = seen[-1], column
        if key not in self._known:
            self._known[key] = self._decoded(place, field)
        return self._known[key]

    def _decoded(self, place: _Place, field: str) -> _Picture:
        try:
            content = base64.b64decode(field, validate=True)
        except (binascii.Error, ValueError) as error:
            what = (
                f"the image field ({len(field):,} characters, beginning {field[:16]!r}) is not "
                f"base64 ({error})"
            )
            return self._none(place, "not base64", what)
        return self._content(place, content)

    def _content(self, place: _Place, content: bytes) -> _Picture:
        if not content:
            return self._none(place, "no picture", "the image field is empty")
        return _Picture(content, None, short_hash(content))

    def _bytes(self, place: _Place, cell: Any) -> _Picture:
        # A hub viewer stores a picture as {bytes, path}; the file itself as bytes.
        content = cell.get("bytes") if isinstance(cell, dict) else cell
        if content is not None and not isinstance(content, bytes):
            what = f"the image field holds {type(content).__name__}; expected a picture's bytes"
            return self._none(place, "no picture", what)
        return self._content(place, content or b"")

    def _file(self, place: _Place, cell: Any) -> _Picture:
        name = (_text(cell) or "").strip()
        if not name:
            return self._none(place, "no picture", "the image field is empty")
        if name in self._known:
            return self._known[name]
        outside = f"{name[:80]!r} lies outside {self.base}; expected a file's name below it"
        if climbs_out(name):
            return self._none(place, "picture outside the folder", outside)
        try:
            # Links are followed before the check, so that none leads out.
            path = (self.folder / name).resolve(strict=True)
            size = path.stat().st_size if path.is_file() else None
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            what = f"there is no picture {name[:80]!r} in {self.shown}"
            return self._none(place, "picture is missing", what)
        if not path.is_relative_to(self.base):
            return self._none(place, "picture outside the folder", outside)
        if size is None or size > MOST_PICTURE_BYTES:
            what = f"{path} is no file of at most {MOST_PICTURE_BYTES:,} bytes"
            return self._none(place, "no picture", what)
        try:
            content = path.read_bytes()
        except OSError as error:
            what = f"{path} cannot be read ({error.strerror})"
            return self._none(place, "picture is missing", what)
        if not content:
            return self._none(place, "no picture", f"{path} is empty")
        self._known[name] = _Picture(b"", path, short_hash(content))
        return self._known[name]


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
