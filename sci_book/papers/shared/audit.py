"""What every audit stands on: transcribed tables, findings, and the counts behind a percentage.

A printed number stands for every value that rounds to it, so two are called inconsistent only where
no such values fit.
"""

from __future__ import annotations

from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import pandas as pd

from sci_book.resources import PAPER

EPSILON = 1e-9  # how far a value may lie beyond half a unit of the last digit

Verdict = Literal["consistent", "inconsistent", "cannot be told"]
CONSISTENT: Verdict = "consistent"
INCONSISTENT: Verdict = "inconsistent"
UNTOLD: Verdict = "cannot be told"
VERDICTS = (CONSISTENT, INCONSISTENT, UNTOLD)


class Finding(NamedTuple):
    """One check of a paper's numbers.

    place    table or section, and rows
    printed  what the paper prints there
    follows  what other printed numbers imply
    verdict  one of `VERDICTS`
    """

    place: str
    printed: str
    follows: str
    verdict: Verdict


class PrintedTables:
    """The transcribed tables and sentences of a paper, looked up as text or number."""

    paper: ClassVar[str]
    """How the names of its files begin."""

    def __init__(self, folder: Path = PAPER):
        read = partial(pd.read_csv, dtype=str, keep_default_na=False)
        names = f"{self.paper}_table*.csv"
        tables = {path.stem: read(path) for path in sorted(folder.glob(names))}
        if not tables:
            raise FileNotFoundError(f"{folder} holds no transcribed table ({names}).")
        self.tables = {name: table for name, table in tables.items() if "value" in table}
        quotes = read(folder / f"{self.paper}_quotes.csv")
        self.quotes = dict(zip(quotes["id"], quotes["printed"], strict=True))

    def rows(self, table: str, **fields: str) -> pd.DataFrame:
        """The rows of a table with these fields."""
        frame = self.tables[table]
        return frame[(frame[list(fields)] == list(fields.values())).all(axis=1)]

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
        return float(self.quotes[name])


def agreement(fits: object) -> Verdict:
    """Consistent where the numbers fit, inconsistent where they do not."""
    return CONSISTENT if fits else INCONSISTENT


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
        percent: as printed.
        n: rows.
        slack: points by which a share may lie below or above it.
        above: points by which it may lie above; as `slack` unless given.
    """
    above = slack if above is None else above
    low, high = ceil((percent - slack) * n / 100), floor((percent + above) * n / 100)
    return list(range(max(low, 0), min(high, n) + 1))
