"""Tables in files: TSV, CSV, JSON, JSON lines and Parquet, each as a list of records.

A record maps the columns asked for to their cells: text; of JSON and Parquet also numbers, lists,
None and bytes. What cannot be read of one line (a field too many, a lone quotation mark, bytes
that are no UTF-8) costs its record alone, which is then `Unread`; blank lines are no records.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from sci_book.data.rows import DatasetError
from sci_book.files import json_lines, json_text

DELIMITERS = {"tsv": "\t", "csv": ","}
# What else may stand between the fields of a header, and what to do then.
_SEPARATORS = {
    "\t": "Tabs stand between its fields: write format: tsv.",
    ",": "Commas stand between its fields: write format: csv.",
    ";": "Semicolons stand between its fields: save it with commas.",
    "|": "Bars stand between its fields: save it with commas.",
}
# A byte that is no UTF-8, as Python's `surrogateescape` reads it.
_NO_UTF8 = re.compile("[\udc80-\udcff]")
# How the files begin that are often taken for a table, and what to do with them.
_BEGINNINGS = {
    b"\x1f\x8b": "compressed by gzip; unpack it first (gunzip)",
    b"BZh": "compressed by bzip2; unpack it first (bunzip2)",
    b"\xfd7zXZ": "compressed by xz; unpack it first (unxz)",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first (unzstd)",
    b"\x04\x22\x4d\x18": "compressed by lz4; unpack it first (unlz4)",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive; unpack it",
    b"Rar!": "a RAR archive; unpack it",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"PAR1": "Parquet; write format: parquet",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"SQLite format 3": "an SQLite database; save the table as CSV",
    b"\x89HDF": "HDF5; save the table as CSV or Parquet",
    b"\x80\x04\x95": "a Python pickle, which is not read, since it can run code; save it as JSON",
    b"\x80\x05\x95": "a Python pickle, which is not read, since it can run code; save it as JSON",
    b"%PDF": "a PDF; save the table as CSV",
    b"<?xml": "XML; save the table as CSV",
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
    b"version https://git-lfs": "a pointer of Git LFS; get the file itself (git lfs pull)",
    b"<!DOCTYPE html": "a web page; the address gave no data",
    b"<html": "a web page; the address gave no data",
}


class Unread(dict[str, Any]):
    """A record of a line that cannot be read, and why; a cell that is missing is None."""

    def __init__(self, cells: dict[str, Any], reason: str, kind: str = "fields"):
        super().__init__(cells)
        self.reason, self.kind = reason, kind


class _Record(NamedTuple):
    """A record of TSV or CSV: the line it begins in, its fields, and what is wrong with it."""

    line: int
    fields: list[str]
    wrong: str = ""


def read_table(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The records of a file, reduced to `columns`.

    Raises:
        DatasetError: if the file is not of the format `form`, is damaged, lacks a column, or has no
            row.
    """
    _check_beginning(path, form)
    if form in DELIMITERS:
        records = _read_delimited(path, form, columns)
    elif form == "parquet":
        records = _read_parquet(path, columns)
    else:
        records = _read_objects(path, form, columns)
    if not records:
        raise DatasetError(f"{path} is empty: it names its columns and holds no row.")
    return records


def _check_beginning(path: Path, form: str) -> None:
    """Refuse a file that is plainly of another kind; one that cannot be opened is said later."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError:
        return
    for beginning, what in _BEGINNINGS.items():
        if head.startswith(beginning) and not (form == "parquet" and beginning == b"PAR1"):
            raise DatasetError(f"{path} is no {_called(form)}: it is {what}.")
    if b"\0" in head.partition(b"\n")[0] and form != "parquet":
        raise DatasetError(
            f"{path} is no {_called(form)}: it holds NUL bytes, as UTF-16 without a mark and "
            "binary files do; save it as UTF-8."
        )


def _called(form: str) -> str:
    return {"json": "JSON", "jsonl": "JSON lines", "parquet": "Parquet"}.get(form, form.upper())


def _read_delimited(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    csv.field_size_limit(sys.maxsize)
    records: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            table = _split(file, DELIMITERS[form])
            header = _header(path, next(table, None), columns)
            cells = itemgetter(*map(header.index, columns))  # a manifest names three or more
            for record in table:
                wrong = record.wrong or _fault(record, len(header), form)
                padded = [*record.fields, *[None] * len(header)] if wrong else record.fields
                values = dict(zip(columns, cells(padded), strict=True))
                records.append(Unread(values, wrong) if wrong else values)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error.strerror}).") from error
    unread = [record for record in records if isinstance(record, Unread)]
    if records and len(unread) == len(records):
        raise DatasetError(f"{path}, row 1 and every other: {unread[0].reason}.")
    return records


def _header(path: Path, first: _Record | None, columns: Sequence[str]) -> list[str]:
    if first is None:
        raise DatasetError(f"{path} is empty; expected a header {', '.join(columns)}.")
    if wrong := first.wrong or _not_utf8(first.line, first.fields):
        raise DatasetError(f"{path}: {wrong}; expected the header {', '.join(columns)}.")
    header = first.fields
    missing = [column for column in columns if column not in header]
    if missing:
        json_form = {"[": "json", "{": "jsonl"}.get(header[0].lstrip()[:1])
        separators = (mark for mark in _SEPARATORS if set(columns) <= set(header[0].split(mark)))
        advice = _SEPARATORS.get(next(separators, ""), "Give the file its header line.")
        if json_form:
            advice = f"It looks like {_called(json_form)}: write format: {json_form}."
        raise DatasetError(
            f"{path} has no column {', '.join(missing)}; its first line has "
            f"{len(header)} fields beginning {header[0][:40]!r}, expected the header "
            f"{', '.join(columns)}. {advice}"
        )
    twice = [column for column in columns if header.count(column) > 1]
    if twice:
        raise DatasetError(f"{path} has the column {twice[0]} twice; name each column once.")
    return header


def _fault(record: _Record, expected: int, form: str) -> str:
    """What is wrong with a record, or ""."""
    if len(record.fields) != expected:
        return (
            f"{len(record.fields)} fields came, {expected} were expected (line {record.line}): "
            f"the line is cut, or a {'tab' if form == 'tsv' else 'comma'} stands unquoted in a "
            "field"
        )
    return _not_utf8(record.line, record.fields)


def _not_utf8(line: int, fields: Sequence[str]) -> str:
    for field in fields:
        if not field.isascii() and (byte := _NO_UTF8.search(field)):
            value = ord(byte[0]) - 0xDC00
            return (
                f"line {line} holds the byte 0x{value:02x} ({chr(value)!r} in Latin-1), which is "
                "no UTF-8: save the file as UTF-8"
            )
    return ""


def _split(file: TextIO, delimiter: str) -> Iterator[_Record]:
    """The records of a file but blank ones; after a line that cannot be read it begins anew."""
    lines = _Lines(file)
    while True:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            lines.taken.clear()
            for fields in reader:
                if any(field.strip() for field in fields):
                    yield _Record(lines.number - len(lines.taken) + 1, fields)
                lines.taken.clear()
            return
        except csv.Error as error:
            first = lines.number - len(lines.taken) + 1
            # A quotation mark that is never closed must cost no other line.
            text = lines.give_back_all_but_one()
            said = str(error)
            quoted = '"' in said or "unexpected end" in said
            wrong = f"line {first} cannot be read ({said})" + (
                ": a field that begins with a quotation mark must end with one, and marks inside "
                "it are doubled"
                if quoted
                else ""
            )
            yield _Record(first, text.rstrip("\r\n").split(delimiter), wrong)


class _Lines:
    """The lines of a file, some of which can be given back.

    number  how many were taken and not given back
    taken   those since it was last cleared
    """

    def __init__(self, file: TextIO):
        self.file, self.number = file, 0
        self.taken: list[str] = []
        self.waiting: deque[str] = deque()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.waiting.popleft() if self.waiting else next(self.file)
        self.number += 1
        self.taken.append(line)
        return line

    def give_back_all_but_one(self) -> str:
        """Give back the lines that were taken but for the first, which is returned."""
        first, *others = self.taken
        self.waiting.extendleft(reversed(others))
        self.number -= len(others)
        return first


def _read_objects(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The objects of a JSON list, or of JSON lines."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read ({error.strerror}).") from error
    records = _whole(path, text) if form == "json" else _by_line(path, text)
    expected = f"expected an object with {', '.join(columns)}"
    records = [
        each if isinstance(each, dict) else Unread({}, f"{_came(each)} came; {expected}", "line")
        for each in records
    ]
    if not records:
        raise DatasetError(f"{path} is empty; expected objects with {', '.join(columns)}.")
    unread = [record for record in records if isinstance(record, Unread)]
    if len(unread) == len(records):
        raise DatasetError(f"{path}, row 1 and every other: {unread[0].reason}.")
    _require(path, columns, list(dict.fromkeys(key for record in records for key in record)))
    for record in records:
        missing = {column: record.get(column) for column in columns}
        record.clear()
        record.update(missing)
    return records


def _came(value: Any) -> str:
    return "null" if value is None else f"{type(value).__name__} {json_text(value)[:40]}"


def _whole(path: Path, text: str) -> list[Any]:
    """The list in a JSON file."""
    if byte := _NO_UTF8.search(text):
        line = text.count("\n", 0, byte.start()) + 1
        raise DatasetError(f"{path}: {_not_utf8(line, [byte[0]])}.")
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in json_lines(text) if line.strip()]
        if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
            raise DatasetError(
                f"{path} holds an object a line, as JSON lines do; write format: jsonl."
            ) from error
        place, said = getattr(error, "pos", 0), f"{path} is no readable JSON ({error})."
        if place >= len(text.rstrip()) or str(error).startswith("Unterminated"):
            said += " The file is truncated: it ends too early."
        raise DatasetError(said) from error
    if not isinstance(records, list):
        raise DatasetError(
            f"{path} holds {type(records).__name__} at its top; expected a list of objects (one "
            "object a line is format: jsonl)."
        )
    return records


def _by_line(path: Path, text: str) -> list[Any]:
    """The objects of JSON lines."""
    records: list[Any] = []
    for number, line in enumerate(json_lines(text), start=1):
        if not line.strip():
            continue
        wrong = _not_utf8(number, [line])
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            record, wrong = {}, wrong or f"line {number} is no readable JSON ({error})"
        if number == 1 and (isinstance(record, list) or line.lstrip()[:1] == "["):
            raise DatasetError(f"{path} begins with [, as a JSON list does; write format: json.")
        records.append(Unread({}, wrong, "line") if wrong else record)
    return records


def _read_parquet(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    if path.is_dir():  # the parts of a table, as a hub keeps a large one
        parts = sorted(path.glob("*.parquet"))
        if not parts:
            raise DatasetError(f"{path} is a folder without a .parquet file; expected one or more.")
        return [record for part in parts for record in _read_parquet(part, columns)]
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _require(path, columns, names)
            return file.read(columns=list(columns)).select(list(columns)).to_pylist()
    except DatasetError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise DatasetError(
            f"{path} is no readable Parquet file ({said}). It is truncated or damaged."
        ) from error


def _require(path: Path, columns: Sequence[str], present: Sequence[str]) -> None:
    missing = [name for name in columns if name not in present]
    if missing:
        raise DatasetError(
            f"{path} has no column {', '.join(missing)}; it has "
            f"{', '.join(map(str, present))[:200]}, expected {', '.join(columns)}."
        )
