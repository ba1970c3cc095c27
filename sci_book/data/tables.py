"""Tables in files: TSV, CSV, JSON, JSON lines and Parquet, each as a list of records.

A record maps the columns asked for to their cells: text; of JSON and Parquet also numbers, lists,
None and bytes. A line of TSV or CSV with too few or too many fields is an `Uneven` record.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sci_book.data.rows import DatasetError
from sci_book.files import json_lines

DELIMITERS = {"tsv": "\t", "csv": ","}


class Uneven(dict[str, Any]):
    """A record of a line that has not as many fields as the header; what is missing is None."""

    def __init__(self, cells: dict[str, Any], reason: str):
        super().__init__(cells)
        self.reason = reason


def read_table(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The records of a file, reduced to `columns`.

    Raises:
        DatasetError: if the file is not of the format `form`, is damaged, lacks a column, or has no
            row.
    """
    if form in DELIMITERS:
        records = _read_delimited(path, form, columns)
    elif form == "parquet":
        records = _read_parquet(path, columns)
    else:
        records = _read_objects(path, form, columns)
    if not records:
        raise DatasetError(f"{path} is empty: it names its columns and holds no row.")
    return records


def _read_delimited(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    table = _lines(path, form)
    try:
        header = next(table)
    except StopIteration:
        raise DatasetError(f"{path} is empty; expected a header {', '.join(columns)}.") from None
    missing = [column for column in columns if column not in header]
    if missing:
        first = header[0][:40] if header else ""
        raise DatasetError(
            f"{path} has no column {', '.join(missing)}; its first line has "
            f"{len(header)} fields beginning {first!r}, expected the header "
            f"{', '.join(columns)}. Give the file its header line."
        )
    twice = [column for column in columns if header.count(column) > 1]
    if twice:
        raise DatasetError(f"{path} has the column {twice[0]} twice; name each column once.")
    cells = itemgetter(*map(header.index, columns))  # a manifest names three or more
    records: list[dict[str, Any]] = []
    for fields in table:
        if len(fields) == len(header):
            records.append(dict(zip(columns, cells(fields), strict=True)))
            continue
        reason = (
            f"{len(fields)} fields came, {len(header)} were expected: the line is cut, or a "
            f"{'tab' if form == 'tsv' else 'comma'} stands unquoted in a field"
        )
        padded = [*fields, *[None] * len(header)]
        records.append(Uneven(dict(zip(columns, cells(padded), strict=True)), reason))
    if records and all(isinstance(record, Uneven) for record in records):
        raise DatasetError(f"{path}, row 1 and every other: {records[0].reason}.")
    return records


def _lines(path: Path, form: str) -> Iterator[list[str]]:
    csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.reader(file, delimiter=DELIMITERS[form], strict=True)
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        separated = "tab" if form == "tsv" else "comma"
        raise DatasetError(
            f"{path} is no readable {form.upper()} ({error}); expected UTF-8 text with "
            f"{separated}-separated, optionally quoted fields. The file is truncated or damaged."
        ) from error


def _read_objects(path: Path, form: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The objects of a JSON list, or of JSON lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        format_name = "JSON" if form == "json" else "JSON lines"
        raise DatasetError(
            f"{path} is no readable {format_name} ({error}); expected UTF-8 text."
        ) from error
    if form == "json":
        records = _parse_json(path, text)
        if not isinstance(records, list):
            raise DatasetError(
                f"{path} holds {type(records).__name__} at its top; expected a list of objects."
            )
    else:
        records = [
            _parse_json(f"{path}, line {number}", line)
            for number, line in enumerate(json_lines(text), start=1)
            if line.strip()
        ]
    if not records:
        raise DatasetError(f"{path} is empty; expected objects with {', '.join(columns)}.")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DatasetError(
                f"{path}, row {number}: {type(record).__name__} came; expected an object with "
                f"{', '.join(columns)}."
            )
    _require(path, columns, list(dict.fromkeys(key for record in records for key in record)))
    return [{column: record.get(column) for column in columns} for record in records]


def _parse_json(where: str | Path, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{where} is no readable JSON ({error}). The file is truncated or damaged."
        ) from error


def _read_parquet(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
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
