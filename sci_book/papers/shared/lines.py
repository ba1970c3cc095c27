"""Tables made of lines by name, and the cells of an estimate with its interval."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sci_book.papers.shared.chapters import side
from sci_book.papers.shared.tables import INTERVAL, Table, compare, frame_of, interval, plain
from sci_book.results.statistics import Interval


def table_of(lines: Mapping[str, Mapping], **options: Any) -> Table:
    """`tables.plain` of lines by name, each the cells of a row by column."""
    return plain(pd.DataFrame.from_dict(lines, orient="index"), **options)


def compared(lines: Mapping[str, Mapping], models: Iterable, **options: Any) -> Table:
    """`tables.compare` of rows of `chapters.row` by name."""
    return compare(frame_of(lines), ours=side(models), **options)


def points(what: str, mean: Interval, decimals: int = 1) -> dict[str, object]:
    """The cells of a share or difference: in percent or points, and its interval."""
    ends = interval(100 * mean.low, 100 * mean.high, decimals)
    return {what: 100 * mean.estimate, INTERVAL: ends}
