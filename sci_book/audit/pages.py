"""Findings on a page: the papers' tables redrawn, ledgers, tallies and sentences."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

import pandas as pd

from sci_book.audit.findings import (
    CONSISTENT,
    INCONSISTENT,
    UNTOLD,
    VERDICTS,
    Audit,
    Finding,
)
from sci_book.papers.shared.tables import MISSING, Ends, Table
from sci_book.results.statistics import key_of

SIGNS = "†‡§¶‖#"  # of the checks that a table's cells fail, in the order of reading
_NO_FIELDS = ("table", "unit", "value")  # columns that tell no two cells apart


def redraw(audit: Audit, *, opened: int = 1) -> list[Table]:
    """Every table with a number in question, as printed, that number marked and its check named.

    The table with the largest share of such numbers comes first; those after `opened` are folded.
    The fields that label no row head columns; one that is the same everywhere stands in the
    caption.
    """
    shares = {}
    for name, reasons in audit.in_question().items():
        title, labels = audit.titles[name], audit.labels[name]
        table = _redrawn(name, audit.tables[name], reasons, labels, title)
        shares[reasons.map(bool).mean(), name] = table
    ranked = [shares[key] for key in sorted(shares, key=lambda key: (-key[0], key[1]))]
    return [*ranked[:opened], *(table.fold() for table in ranked[opened:])]


def summary(audit: Audit) -> str:
    """Sentences: how many printed numbers and findings there are, how many are in question."""
    reasons, title = audit.in_question(), audit.titles
    numbers = sum(map(len, audit.tables.values()))
    marked = sum(int(table.map(bool).sum()) for table in reasons.values())
    findings = audit.findings.values()
    wrong = [finding for finding in findings if finding.verdict == INCONSISTENT]
    apart = sum(not finding.marks for finding in wrong)
    within = ", ".join(
        f"{title[name]} ({int(table.map(bool).sum())})" for name, table in reasons.items()
    )
    clean = ", ".join(title[name] for name in audit.tables if name not in reasons)
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
    printed = frame["value"].replace("inf", "∞")
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
    columns = ["place", "printed", "follows", "verdict"]
    cells = [
        [_keyed(text, name, about, at) for text, at in zip(findings[about], columns, strict=False)]
        for about in rows
    ]
    frame = pd.DataFrame(cells, index=rows, columns=columns, dtype=object)  # str drops the keys
    return Table(f"prose-{name}", frame, caption)  # a prefix that the style sheet knows


def _keyed(text: str, *what: str) -> str:
    """An interval's text with the key of its number: what is printed, or what follows."""
    return Ends(text, key_of(*what)) if re.search(r"\[[^,\]]+, [^,\]]+\]", text) else text


def tally(sections: Mapping[str, Mapping[str, Finding]]) -> pd.DataFrame:
    """How many findings of each verdict, by section and in all."""
    lines = {
        section: {v: sum(finding.verdict == v for finding in findings.values()) for v in VERDICTS}
        for section, findings in sections.items()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=list(VERDICTS))
    frame.loc["all"] = frame.sum()
    return frame.astype(int)
