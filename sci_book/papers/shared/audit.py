"""What every audit stands on: transcribed tables, findings, and the counts behind a percentage.

A printed number stands for every value that rounds to it, so two are called inconsistent only where
no such values fit.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from math import ceil, floor
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import pandas as pd

from sci_book.papers.shared.tables import MISSING, Table
from sci_book.resources import PAPER
from sci_book.results.statistics import wilson

EPSILON = 1e-9  # how far a value may lie beyond half a unit of the last digit

Verdict = Literal["consistent", "inconsistent", "cannot be told"]
CONSISTENT: Verdict = "consistent"
INCONSISTENT: Verdict = "inconsistent"
UNTOLD: Verdict = "cannot be told"
VERDICTS = (CONSISTENT, INCONSISTENT, UNTOLD)

SIGNS = "†‡§¶‖#"  # of the checks that a table's cells fail, in the order of reading
_NO_FIELDS = ("table", "unit", "value", "printed")  # columns that tell no two cells apart


class Mark(NamedTuple):
    """A printed number in question.

    table   name of its transcribed table
    fields  what tells its cell apart from the others of the table
    reason  the check that it fails, as a sentence
    """

    table: str
    fields: Mapping[str, str]
    reason: str


class Finding(NamedTuple):
    """One check of a paper's numbers.

    place    table or section, and rows
    printed  what the paper prints there
    follows  what other printed numbers imply
    verdict  one of `VERDICTS`
    marks    the printed numbers in question if it is inconsistent; none where it is about a
             sentence, a definition or a whole table
    """

    place: str
    printed: str
    follows: str
    verdict: Verdict
    marks: Sequence[Mark] = ()


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
        return frame[_with_fields(frame, fields)]

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


def _with_fields(frame: pd.DataFrame, fields: Mapping[str, str]) -> pd.Series:
    return (frame[list(fields)] == list(fields.values())).all(axis=1)


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
    pairs = list(zip(weights, parts, strict=True))
    value = sum(weight * float(part) for weight, part in pairs)
    slack = sum(abs(weight) * half_unit(part) for weight, part in pairs)
    terms = " + ".join(f"{weight:g} × {part}" for weight, part in pairs)
    agree = abs(value - float(total)) <= slack + half_unit(total) + EPSILON
    return Finding(place, total, f"{terms} = {value:.4g}", agreement(agree))


def wilson_finding(place: str, ends: Sequence[str], count: int, n: int) -> Finding:
    """A printed 95 % interval of a share against Wilson's."""
    low, high = (100 * value for value in wilson(count, n)[1:3])
    agree = rounds_to(low, ends[0]) and rounds_to(high, ends[1])
    computed = f"Wilson of {count} of {n}: [{low:.2f}, {high:.2f}]"
    return Finding(place, f"[{ends[0]}, {ends[1]}]", computed, agreement(agree))


def in_question(
    tables: Mapping[str, pd.DataFrame], findings: Iterable[Finding]
) -> dict[str, pd.Series]:
    """Why each number of a table is in question: a tuple of reasons, empty where it is not.

    Tables that no inconsistent finding marks are left out.

    Args:
        tables: by name, one row a number, fields as text.
        findings: of which the inconsistent ones are taken.

    Raises:
        LookupError: a mark names no number of its table.
    """
    marks = [mark for f in findings if f.verdict == INCONSISTENT for mark in f.marks]
    reasons = {}
    for name, frame in tables.items():
        found: list[dict[str, None]] = [{} for _ in range(len(frame))]
        for mark in marks:
            if mark.table != name:
                continue
            same = _with_fields(frame, mark.fields)
            if not same.any():
                raise LookupError(f"{name} has no number at {dict(mark.fields)}.")
            for place in same.to_numpy().nonzero()[0]:
                found[place][mark.reason] = None
        if any(found):
            reasons[name] = pd.Series(list(map(tuple, found)), index=frame.index)
    return reasons


def redraw(
    tables: Mapping[str, pd.DataFrame],
    findings: Iterable[Finding],
    *,
    rows: Callable[[str], Sequence[str]],
    title: Callable[[str], str],
    opened: int = 1,
) -> list[Table]:
    """Every table with a number in question, as printed, that number marked and its check named.

    The table with the largest share of such numbers comes first; those after `opened` are folded.

    Args:
        tables, findings: as `in_question` takes them.
        rows: the fields that label the rows of a table, by its name; the others that it has head
            columns. A field that is the same everywhere stands in the caption.
        title: how the paper calls a table, by its name.
    """
    shares = {}
    for name, reasons in in_question(tables, findings).items():
        table = _redrawn(name, tables[name], reasons, rows(name), title(name))
        shares[reasons.map(bool).mean(), name] = table
    ranked = [shares[key] for key in sorted(shares, key=lambda key: (-key[0], key[1]))]
    return [*ranked[:opened], *(table.fold() for table in ranked[opened:])]


def summary(
    tables: Mapping[str, pd.DataFrame],
    findings: Collection[Finding],
    *,
    title: Callable[[str], str],
) -> str:
    """Sentences: how many printed numbers and findings there are, how many are in question.

    Arguments as of `redraw`; `findings` are all checks of the paper.
    """
    reasons = in_question(tables, findings)
    numbers = sum(map(len, tables.values()))
    marked = sum(int(table.map(bool).sum()) for table in reasons.values())
    wrong = [finding for finding in findings if finding.verdict == INCONSISTENT]
    apart = sum(not finding.marks for finding in wrong)
    within = ", ".join(
        f"{title(name)} ({int(table.map(bool).sum())})" for name, table in reasons.items()
    )
    clean = ", ".join(title(name) for name in tables if name not in reasons)
    text = (
        f"{marked:,} of {numbers:,} printed numbers {'is' if marked == 1 else 'are'} in question"
        f"{': ' if within else ''}{within}. "
        f"{len(wrong)} of {len(findings)} checks fail; {apart} of these are about a sentence, a "
        "definition or a whole table, and mark no number."
    )
    return f"{text} No number is in question in: {clean}." if clean else text


def _redrawn(
    name: str, frame: pd.DataFrame, reasons: pd.Series, rows: Sequence[str], title: str
) -> Table:
    fields = [field for field in frame if field not in _NO_FIELDS]
    constant = [field for field in fields if frame[field].nunique() == 1]
    heads = [field for field in fields if field not in (*constant, *rows)] or ["metric"]
    own = [field for field in rows if field in fields]
    labels = _labels(frame, [field for field in own if field not in constant] or own)
    columns = [tuple(words) if len(heads) > 1 else words[0] for words in frame[heads].to_numpy()]
    distinct = dict.fromkeys(reason for several in reasons for reason in several)
    signs = {
        reason: SIGNS[k % len(SIGNS)] * (1 + k // len(SIGNS)) for k, reason in enumerate(distinct)
    }
    printed = frame["printed" if "printed" in frame else "value"].replace("inf", "∞")
    texts = [
        f"{''.join(signs[reason] for reason in several)} {text}".strip()
        for several, text in zip(reasons, printed.str.replace("-", "−"), strict=True)
    ]
    same = [*constant, *(["unit"] if "unit" in frame and frame["unit"].nunique() == 1 else [])]
    about = ", ".join(
        word for word in dict.fromkeys(frame[same].iloc[0]) if word not in ("", "all", "both")
    )
    return Table(
        f"redrawn-{name}",
        _grid(labels, columns, texts, MISSING),
        f"{title} as printed{f' ({about})' if about else ''}: {reasons.map(bool).sum()} of "
        f"{len(frame)} cells in question",
        doubts=_grid(labels, columns, map(" ".join, reasons), ""),
        notes=[f"{sign} {reason}" for reason, sign in signs.items()],
    )


def _labels(frame: pd.DataFrame, fields: Sequence[str]) -> list[str]:
    rows = frame[list(fields)].to_numpy()
    return [", ".join(word for word in dict.fromkeys(words) if word) for words in rows]


def _grid(
    rows: Sequence[str], columns: Sequence[Hashable], texts: Iterable[str], empty: str
) -> pd.DataFrame:
    grid: dict[Hashable, dict[str, str]] = {}
    for row, column, text in zip(rows, columns, texts, strict=True):
        grid.setdefault(column, {})[row] = text
    return pd.DataFrame(grid).reindex(list(dict.fromkeys(rows))).fillna(empty)


def ledger(findings: Mapping[str, Finding], *, name: str, caption: str) -> Table:
    """Findings as a table: inconsistent ones first, then those that cannot be told."""
    order = (INCONSISTENT, UNTOLD, CONSISTENT)
    rows = sorted(findings, key=lambda about: order.index(findings[about].verdict))
    lines = [findings[about]._asdict() for about in rows]
    frame = pd.DataFrame(lines, index=rows, columns=["place", "printed", "follows", "verdict"])
    return Table(f"prose-{name}", frame, caption)  # a prefix that the style sheet knows


def not_consistent(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """The findings that are inconsistent, or that cannot be told."""
    return {about: f for about, f in findings.items() if f.verdict != CONSISTENT}


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
    return "holds" if verdicts == {CONSISTENT} else "inconclusive"
