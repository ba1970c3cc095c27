"""What one cell of a data set's file says, and where its row comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sci_book.data.manifests import Columns
from sci_book.data.rows import Problem


class Place(NamedTuple):
    """Where a row comes from: its record, its part of the record, and its names."""

    record: int
    part: int
    index: int
    position: int
    where: str


def row_problem(place: Place, kind: str, reason: str) -> Problem:
    return Problem(kind, f"{place.where}: {reason}. Mend or leave out the row.")


def cell_text(value: Any) -> str | None:
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


def nth(names: Sequence[str], part: int) -> str:
    return names[part if len(names) > 1 else 0]


def nth_cell(
    columns: Columns, names: Sequence[str], record: Mapping[str, Any], place: Place
) -> Any:
    """The cell of a row's question or translation, or its part of one that holds a list."""
    cell = record[nth(names, place.part)]
    if isinstance(cell, list) and columns.rows_a_record == 1 and cell:
        return cell[place.part] if place.part < len(cell) else ""
    return cell
