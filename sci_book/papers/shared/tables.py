"""Tables that set the paper's number beside ours, each side labelled, with n and intervals.

Two shapes: `compare`, one row a number (paper, ours, their difference, n, interval, verdict), and
`side_by_side`, one row a method and a pair of columns a metric. Both return a `Table`, which shows
itself as HTML in a page and as aligned plain text elsewhere, so that nbval compares the numbers.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from html import escape
from math import isfinite
from typing import Any, NamedTuple

import pandas as pd
from pandas.io.formats.style import Styler

from sci_book.results.statistics import LEVEL, Interval, key_of
from sci_core.arguments import Number

MISSING = "—"
NOT_RECORDED = f"{MISSING} (not recorded)"
INTERVAL = f"{100 * LEVEL:g} % interval"
VERDICTS = ("holds", "fails", "inconclusive", "not comparable")
LESS_PAPER = "ours − paper"
COMPARE_COLUMNS = ("paper", "reproduced", "n", "low", "high", "verdict")


def verdict_in(text: str) -> str:
    """The verdict that a cell says, "not comparable" in "not comparable (holds)"; "" if none."""
    word = text.partition(" (")[0]
    return word if word in VERDICTS else ""


class Ends(str):
    """An interval as text, with the `key` of its number (`Interval.key`), which a page's HTML has.

    So it can be held over all pages that one number has one interval.
    """

    key: str

    def __new__(cls, text: str, key: str) -> "Ends":
        """`text`, marked with the number's key."""
        made = super().__new__(cls, text)
        made.key = key
        return made


@dataclass(frozen=True)
class Table:
    """Finished text in rows and columns, with a name that makes its HTML ids stable.

    Attributes:
        name: unique on its page; ids in the HTML derive from it and from nothing random.
        frame: strings only; its index holds the row labels.
        caption: one line under which the table can be understood on its own.
        folded: whether a page shows the caption alone until a reader opens it.
        doubts: of the frame's shape, why each cell is in question; "" where it is not.
        notes: lines below the table, such as what its signs mean.
    """

    name: str
    frame: pd.DataFrame
    caption: str
    folded: bool = False
    doubts: pd.DataFrame | None = None
    notes: Sequence[str] = ()

    def fold(self) -> "Table":
        """The same, folded: for what few readers of its page look for."""
        return replace(self, folded=True)

    def __repr__(self) -> str:
        return "\n".join([self.caption, self._telling().frame.to_string(), *self.notes])

    def _telling(self) -> "Table":
        """The same without the columns that say nothing in any row."""
        said = self.frame.ne(MISSING).any()
        if said.all() or not said.any():
            return self
        doubts = None if self.doubts is None else self.doubts.loc[:, said]
        return replace(self, frame=self.frame.loc[:, said], doubts=doubts)

    def _repr_html_(self) -> str:
        table = self._telling()
        if not len(table.frame):
            return f"<p>{escape(table.caption)}: none.</p>"
        words = table.frame.map(verdict_in)
        classes = "verdict-" + words.map(lambda word: word.replace(" ", "-"))
        keys = table.frame.map(lambda text: f"k{text.key}" if getattr(text, "key", "") else "")
        classes = classes.where(words.ne(""), keys)
        if table.doubts is not None:
            classes = classes.mask(table.doubts.ne(""), "in-question")
        unnamed = table.frame.rename_axis(index=None)  # a name would take a header row of its own
        style = Styler(unnamed, cell_ids=table.doubts is not None)  # a tooltip needs an id
        style = style.format(escape="html").format_index(escape="html")
        style = style.format_index(escape="html", axis=1)
        style = style.set_td_classes(classes) if classes.ne("").any(axis=None) else style
        if table.doubts is not None:
            style = style.set_tooltips(table.doubts, as_title_attribute=True)
        style = style.set_caption(table.caption).set_uuid(table.name)
        html = style.set_table_attributes('class="sci-table"').to_html()
        # A header cell without a word heads nothing, and is read aloud all the same.
        html = re.sub(r'<th (class="blank[^>]*)>&nbsp;</th>', r"<td \1></td>", html)
        html = re.sub(r'<th (id="[^"]*" class="col_heading[^>]*)></th>', r"<td \1></td>", html)
        html = slim(html)
        if table.notes:
            lines = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
            html += f'<ul class="table-notes">{lines}</ul>'
        if not table.folded:
            return html
        return f"<details><summary>{escape(table.caption)}</summary>{html}</details>"


def slim(html: str) -> str:
    """A table without what nothing reads: names of a cell's place, and spaces between tags.

    They are two fifths of its bytes.
    """
    html = re.sub(r' class="([^"]*)"', _read_classes, html)
    html = html.replace('<style type="text/css">\n</style>\n', "").replace(" >", ">")
    return re.sub(r">\n\s*<", "><", html).replace("</tr>", "</tr>\n")


_PLACES = re.compile(r"data|(row|col)_heading|index_name|(row|col|level)\d+")


def _read_classes(found: re.Match) -> str:
    read = [name for name in found[1].split() if not _PLACES.fullmatch(name)]
    return f' class="{" ".join(read)}"' if read else ""


class Download(NamedTuple):
    """A CSV file in the page: its name without an ending, its text, how many numbers it has."""

    name: str
    text: str
    numbers: int

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:16]
        return f"{self.name}.csv: {self.numbers:,} numbers, SHA-256 {digest}…"

    def _repr_html_(self) -> str:
        coded = base64.b64encode(self.text.encode()).decode()
        name = f"{escape(self.name)}.csv"
        return (
            f'<p><a class="download" download="{name}" '
            f'href="data:text/csv;charset=utf-8;base64,{coded}">{name}</a>: '
            f"{self.numbers:,} further numbers of this page.</p>"
        )


def download(name: str, tables: Iterable[Table]) -> Download:
    """A link to the numbers of some tables as one CSV file: table, row, column, value.

    The file lies in the page itself, so that a page opened from disk or sent by mail has it.
    """
    lines = [
        {"table": table.name, "row": " ".join(map(str, _levels(row))),
         "column": " ".join(map(str, _levels(column))), "value": value}
        for table in tables
        for row, cells in zip(table.frame.index, table.frame.to_numpy(), strict=True)
        for column, value in zip(table.frame.columns, cells, strict=True)
    ]  # fmt: skip
    return Download(name, pd.DataFrame(lines).to_csv(index=False), len(lines))


def _levels(label: object) -> tuple:
    return label if isinstance(label, tuple) else (label,)


def number(value: Number | None, decimals: int = 2) -> str:
    """A number at a fixed precision, with a true minus sign; a dash where there is none.

    A half is rounded away from zero, as a reader does who sees 16.25 on another page; what sums of
    binary numbers add to a half, six digits further on, decides nothing.
    """
    if value is None or pd.isna(value):
        return MISSING
    text = f"{value:.{decimals}f}"
    if isfinite(value):
        exact = Decimal(repr(round(float(value), decimals + 6)))
        text = f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def signed(value: Number | None, decimals: int = 2) -> str:
    """A number with its sign, unless it is shown as zero."""
    text = number(value, decimals)
    return text if text == MISSING or text[0] == "−" or float(text) == 0 else f"+{text}"


def p_value(value: Number | None) -> str:
    """A p-value with four decimals; a small one by its bound, a missing one as a dash."""
    return number(value, 4) if value is None or pd.isna(value) or value >= 1e-4 else "< 0.0001"


def interval(low: Number | None, high: Number | None, decimals: int = 2, key: str = "") -> str:
    """`[low, high]` of the number that has the key, or a dash where either end is missing."""
    ends = number(low, decimals), number(high, decimals)
    return MISSING if MISSING in ends else Ends(f"[{ends[0]}, {ends[1]}]", key)


def with_ends(
    value: Number | None, low: Number | None, high: Number | None, decimals: int = 2, key: str = ""
) -> str:
    """A number and its interval, `12.34 [11.00, 13.68]`; a dash where there is neither."""
    if number(value) == MISSING:
        return MISSING
    return Ends(f"{number(value, decimals)} {interval(low, high, decimals)}", key)


def recorded(
    estimate: Number, low: Number, high: Number, decimals: int = 2, *, at: str, head: str = ""
) -> str:
    """A number with its interval as a committed file has them, made of records that are not here.

    Args:
        at: the file and the place in it, of which the number's key is made.
        head: what stands before the number.
    """
    return Ends(head + with_ends(estimate, low, high, decimals), key_of(at))


def shown(found: Interval, scale: int | float = 100, decimals: int = 2) -> str:
    """A number with its interval in percent or points, `12.34 [11.00, 13.68]`; of no row a dash."""
    estimate, low, high, *_ = found.times(scale)
    return with_ends(estimate, low, high, decimals, found.key) if found.n else MISSING


def frame_of(lines: Mapping[str, Mapping], *more: str) -> pd.DataFrame:
    """Rows of `chapters.row` by name as the frame `compare` takes, also of no row."""
    columns = [*COMPARE_COLUMNS, "p alone", "key", *more]
    return pd.DataFrame(list(lines.values()), index=list(lines), columns=columns)


def keys_of(lines: pd.DataFrame) -> list[str]:
    """The keys of some lines' numbers, "" where one has none."""
    return ["" if pd.isna(key) else key for key in lines.get("key", [""] * len(lines))]


def compare(
    frame: pd.DataFrame,
    *,
    name: str,
    caption: str,
    ours: str,
    decimals: int = 2,
    paper: bool = True,
) -> Table:
    """One row a number: `paper | ours | ours − paper | n | interval | verdict`.

    Holm's p-values, if the frame has a column `p`, stand before the verdict.

    Args:
        frame: rows labelled by its index, with columns `paper`, `reproduced` (numbers in the
            paper's unit), `n` (rows behind `reproduced`), `low`, `high` (ends of its
            interval), `verdict` (one of `VERDICTS`, or missing where nothing is claimed).
        ours: the label of our side, such as "pocket Qwen2-VL"; never "reproduced" alone, so that
            a pocket model's number is not taken for the paper's model.
        paper: whether the paper has such numbers; without it they and the difference are left out.

    Raises:
        ValueError: a missing column, or a verdict that is none of `VERDICTS`.
    """
    missing = [column for column in COMPARE_COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(f"compare needs the columns {COMPARE_COLUMNS}; {missing} are missing")
    unknown = {text for text in frame["verdict"].dropna() if not verdict_in(text)}
    if unknown:
        raise ValueError(f"{sorted(unknown)} are no verdicts; expected one of {VERDICTS}")
    delta = (frame["reproduced"] - frame["paper"]).astype(float)
    keys = keys_of(frame)
    columns = {
        "paper": [number(value, decimals) for value in frame["paper"]],
        ours: [number(value, decimals) for value in frame["reproduced"]],
        LESS_PAPER: [signed(value, decimals) for value in delta],
        "n": [number(value, 0) for value in frame["n"]],
        INTERVAL: [
            interval(low, high, decimals, key)
            for low, high, key in zip(frame["low"], frame["high"], keys, strict=True)
        ],
        **({"p (Holm)": [p_value(p) for p in frame["p"]]} if "p" in frame else {}),
        "verdict": frame["verdict"].fillna(MISSING).tolist(),
    }
    cells = pd.DataFrame(columns, index=frame.index, dtype=object)  # str would drop the keys
    return Table(name, cells if paper else cells.drop(columns=["paper", LESS_PAPER]), caption)


def side_by_side(
    paper: pd.DataFrame,
    reproduced: pd.DataFrame,
    *,
    name: str,
    caption: str,
    ours: str,
) -> Table:
    """One row a method; under each metric, the paper's number and ours.

    Args:
        paper: the paper's numbers, metrics as columns; rows and columns it lacks show a dash.
        reproduced: ours; it settles the order of rows and columns.
    """
    paper = paper.reindex(index=reproduced.index, columns=reproduced.columns)
    columns = {}
    for metric in reproduced.columns:
        levels = metric if isinstance(metric, tuple) else (metric,)
        columns[(*levels, "paper")] = list(map(number, paper[metric]))
        columns[(*levels, ours)] = list(map(number, reproduced[metric]))
    return Table(name, pd.DataFrame(columns, index=reproduced.index), caption)


def plain(
    frame: pd.DataFrame, *, name: str, caption: str, decimals: int | Sequence[int] = 2
) -> Table:
    """A table of our own numbers alone: floats at fixed precision, integers and text as they are.

    An `Interval` is its estimate with its ends. `decimals` are places for every column of floats,
    or one entry a column.
    """
    places = [decimals] * frame.shape[1] if isinstance(decimals, int) else list(decimals)
    columns = {
        column: [_cell(value, place) for value in frame[column]]
        for column, place in zip(frame.columns, places, strict=True)
    }
    cells = pd.DataFrame(columns, index=frame.index, dtype=object)  # str would drop intervals' keys
    return Table(name, cells, caption)


def _cell(value: Any, decimals: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        return shown(value, 1.0, decimals)
    if pd.api.types.is_float(value) or value is None or value is pd.NA:
        return number(value, decimals)
    return str(value)
