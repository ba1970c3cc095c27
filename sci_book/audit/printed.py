"""What a paper prints: the cells of its transcribed tables and sentences, and what they stand for.

A printed number stands for every value that rounds to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil, floor
from pathlib import Path

import pandas as pd

from sci_book.resources import PAPER

EPSILON = 1e-9  # how far a value may lie beyond half a unit of the last digit
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Cell:
    """One printed number.

    text    as printed
    table   the name of its table; "" for a number that is not the paper's
    fields  what tells it apart from the other numbers of the table
    count   whether it is a whole number of things, which stands for itself alone
    """

    text: str
    table: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    count: bool = True

    @property
    def value(self) -> float:
        return float(WORDS.index(self.text) if self.text in WORDS else self.text)

    @property
    def half(self) -> float:
        """Half a unit of the last digit; 0 for a count."""
        return 0.0 if self.count else half_unit(self.text)

    def __format__(self, spec: str) -> str:
        value = self.value if spec else self.text
        return format(int(value) if spec and self.count and value == int(value) else value, spec)


class PrintedTables:
    """The transcribed tables and sentences of a paper, looked up by their fields.

    A field that a table has not is empty in all of its rows.

    Args:
        paper: how the names of its files begin.
        folder: where they lie.
        files: the names of its tables, with wildcards.
        sentences: the file of what its text prints, by `id`.
        wide: the fields of tables that have a column a metric; the others are long.
        decimals: places of every number that is no count, where zeros at the end are left out.

    Raises:
        FileNotFoundError: the folder holds none of the tables.
        ValueError: two sentences have one id.
    """

    def __init__(
        self,
        paper: str,
        folder: Path = PAPER,
        *,
        files: Sequence[str] = ("{paper}_table*",),
        sentences: str = "{paper}_quotes",
        wide: Sequence[str] = (),
        decimals: int = 0,
    ):
        self.paper = paper
        names = [name.format(paper=paper) + ".csv" for name in files]
        paths = [path for name in names for path in sorted(folder.glob(name))]
        if not paths:
            raise FileNotFoundError(f"{folder} holds no transcribed table ({', '.join(names)}).")
        read = partial(pd.read_csv, dtype=str, keep_default_na=False)
        frames = {path.stem: read(path) for path in paths}
        if wide:
            frames = {name: _long(frame, wide) for name, frame in frames.items()}
        self.tables = {name: frame for name, frame in frames.items() if "value" in frame}
        self._cells = {
            name: [_cell(row, decimals) for row in frame.assign(table=name).to_dict("records")]
            for name, frame in self.tables.items()
        }
        path = folder / f"{sentences.format(paper=paper)}.csv"
        quotes = read(path) if path.exists() else pd.DataFrame(columns=["id", "place", "printed"])
        self.quotes = quotes.set_index("id")
        if not self.quotes.index.is_unique:
            raise ValueError(f"{path.name} names two sentences alike; an id is one sentence's.")

    def rows(self, table: str, **fields: str) -> pd.DataFrame:
        """The rows of a table with these fields."""
        frame = self.tables[table]
        return frame[with_fields(frame, fields)]

    def text(self, table: str, **fields: str) -> str:
        """The one value of these fields, as printed.

        Raises:
            LookupError: there is not exactly one.
        """
        values = self.rows(table, **fields)["value"]
        if len(values) != 1:
            raise LookupError(f"{table} holds {len(values)} values of {fields}; expected one.")
        return values.iloc[0]

    def number(self, table: str, **fields: str) -> float:
        """The same as a number."""
        return float(self.text(table, **fields))

    def quote(self, name: str) -> float:
        """A number of the text."""
        return float(self.quoted(name))

    def quoted(self, name: str) -> str:
        """What the text prints, by its name.

        Raises:
            LookupError: there is nothing of this name.
        """
        if name not in self.quotes.index:
            raise LookupError(f"No sentence of {self.paper} is called {name!r}.")
        return self.quotes.at[name, "printed"]

    def cells(self, table: str, **fields: str) -> list[Cell]:
        """The cells of a table with these fields."""
        return [
            cell
            for cell in self._cells[table]
            if all(cell.fields.get(name, "") == value for name, value in fields.items())
        ]

    def distinct(self, table: str, *names: str, **fields: str) -> list[tuple[str, ...]]:
        """The different values of some fields among the rows with others, in the table's order."""
        rows = self.rows(table, **fields)
        return list(dict.fromkeys(rows[list(names)].itertuples(index=False, name=None)))


def with_fields(frame: pd.DataFrame, fields: Mapping[str, str]) -> pd.Series:
    """Which rows of a table have these fields; one that it lacks is empty everywhere."""
    mask = pd.Series(True, index=frame.index)
    for name, value in fields.items():
        mask &= frame[name] == value if name in frame else value == ""
    return mask


def _cell(row: dict[str, str], decimals: int) -> Cell:
    text, unit = row.pop("value"), row.get("unit", "")
    whole = "." not in text and unit not in ("percent", "points")
    if not whole:
        text = text + "0" * max(0, decimals - len(text.partition(".")[2]))
    return Cell(text, row.pop("table"), row, count=whole)


def _long(frame: pd.DataFrame, fields: Sequence[str]) -> pd.DataFrame:
    long = frame.melt([name for name in fields if name in frame], var_name="metric")
    return long[long["value"] != ""].reset_index(drop=True)


def table_title(name: str) -> str:
    """ "Table 4" for "edge_table04"."""
    return f"Table {int(name.rpartition('table')[2])}"


def half_unit(text: str) -> float:
    """Half a unit of the last digit of a printed number."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def rounds_to(value: float, text: str) -> bool:
    """Whether a value is printed as `text`."""
    return abs(value - float(text)) <= half_unit(text) + EPSILON


def counts_behind(percent: float, n: int, slack: float, above: float | None = None) -> list[int]:
    """Every number of n rows whose share may be printed as a percentage.

    Args:
        slack: points by which a share may lie below or above it.
        above: points by which it may lie above; as `slack` unless given.
    """
    above = slack if above is None else above
    low, high = ceil((percent - slack) * n / 100), floor((percent + above) * n / 100)
    return list(range(max(low, 0), min(high, n) + 1))


def counts_printed(percent: str, n: int, *, twice: bool = False) -> list[int]:
    """Every number of n rows whose share is printed so (`twice`: rounded to four digits first)."""
    slack = half_unit(percent) + EPSILON
    if not twice:
        return counts_behind(float(percent), n, slack)
    wider = counts_behind(float(percent), n, slack + 0.005)
    return [count for count in wider if rounds_to(100 * round(count / n, 4), percent)]


def sizes_behind(percents: Iterable[str], sizes: Iterable[int]) -> list[int]:
    """Those sizes of a set of which every one of these percentages is a whole number."""
    percents = list(percents)
    return [n for n in sizes if all(counts_printed(percent, n) for percent in percents)]
