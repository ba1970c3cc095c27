"""What every audit stands on: transcribed tables, findings, and the counts behind a percentage.

A printed number stands for every value that rounds to it, so two are called inconsistent only where
no such values fit.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import pandas as pd

from sci_book.papers.shared.tables import Table
from sci_book.resources import PAPER
from sci_book.results.statistics import wilson

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


def counts_printed(percent: str, n: int, *, twice: bool = False) -> list[int]:
    """Every number of n rows whose share is printed so (`twice`: rounded to four digits first)."""
    slack = half_unit(percent) + EPSILON
    if not twice:
        return counts_behind(float(percent), n, slack)
    wider = counts_behind(float(percent), n, slack + 0.005)
    return [count for count in wider if rounds_to(100 * round(count / n, 4), percent)]


def sum_finding(place: str, total: str, parts: Sequence[str], weights: Sequence[float]) -> Finding:
    """A printed sum against its printed parts, each of which is rounded."""
    value = sum(weight * float(part) for weight, part in zip(weights, parts, strict=True))
    slack = sum(abs(w) * half_unit(part) for w, part in zip(weights, parts, strict=True))
    terms = " + ".join(f"{w:g} × {part}" for w, part in zip(weights, parts, strict=True))
    agree = abs(value - float(total)) <= slack + half_unit(total) + EPSILON
    return Finding(place, total, f"{terms} = {value:.4g}", agreement(agree))


def wilson_finding(place: str, ends: Sequence[str], count: int, n: int) -> Finding:
    """A printed 95 % interval of a share against Wilson's."""
    low, high = (100 * value for value in wilson(count, n)[1:3])
    agree = rounds_to(low, ends[0]) and rounds_to(high, ends[1])
    computed = f"Wilson of {count} of {n}: [{low:.2f}, {high:.2f}]"
    return Finding(place, f"[{ends[0]}, {ends[1]}]", computed, agreement(agree))


def ledger(findings: Mapping[str, Finding], *, name: str, caption: str) -> Table:
    """Findings as a table: inconsistent ones first, then those that cannot be told."""
    order = (INCONSISTENT, UNTOLD, CONSISTENT)
    rows = sorted(findings, key=lambda about: order.index(findings[about].verdict))
    lines = [findings[about]._asdict() for about in rows]
    frame = pd.DataFrame(lines, index=rows, columns=list(Finding._fields))
    return Table(f"prose-{name}", frame, caption)  # a prefix that the style sheet knows


def tally(sections: Mapping[str, Mapping[str, Finding]]) -> pd.DataFrame:
    """How many findings of each verdict, by section and in all."""
    lines = {
        section: {v: sum(finding.verdict == v for finding in findings.values()) for v in VERDICTS}
        for section, findings in sections.items()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=list(VERDICTS))
    frame.loc["all"] = frame.sum()
    return frame.astype(int)


def verdict_of(findings: Iterable[Finding]) -> str:
    """The verdict of "all of these are consistent": fails with one that is not."""
    verdicts = {finding.verdict for finding in findings}
    if INCONSISTENT in verdicts:
        return "fails"
    return "inconclusive" if UNTOLD in verdicts or not verdicts else "holds"
