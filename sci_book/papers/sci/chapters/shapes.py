"""What several chapters share: which rows are of a type, paired differences, names of lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from sci_book.data.answers.rules import same
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.tables import interval, keys_of
from sci_book.results.drbench import construct
from sci_book.results.records import Records

Subjects = Sequence[Subject]


def differs(one: Iterable, other: Iterable) -> np.ndarray:
    """Whether two columns of parsed answers differ, row by row; an unknown one is like no other."""
    return ~same(one, other)


def built_with(records: Records, dummies: Sequence[str], rewordings: Sequence[str]) -> pd.DataFrame:
    """DRBench of all rows, built with these rounds; any one of them is enough."""
    base, agrees = records.parsed("original"), []
    for names in (dummies, rewordings):
        kept = [~differs(base, records.parsed(name)) for name in names]
        agrees.append(np.array(kept, dtype=bool).reshape(len(names), len(base)))
    return construct(*agrees, ~records.correct("original"))


def less(printed: Mapping | pd.Series, one: tuple, other: tuple) -> float:
    """One number of the paper less another; NaN where it lacks either."""
    return printed.get(one, np.nan) - printed.get(other, np.nan)


def ends(lines: pd.DataFrame) -> list[str]:
    """The intervals of a frame's lines as text, from its columns `low` and `high`."""
    of_lines = zip(lines["low"], lines["high"], keys_of(lines), strict=True)
    return [interval(low, high, key=key) for low, high, key in of_lines]


def counts(n: Mapping[str, int] | pd.Series) -> str:
    """ "n = 90 rows of ours: 60 MCQ, 30 Others" for a caption."""
    return f"n = {n['Overall']:,} rows of ours: {n['MCQ']:,} MCQ, {n['Others']:,} Others"


def name_lines(ax: Axes, names: Collection[str]) -> None:
    """Name the lines of a panel, from top to bottom, without a grid along them."""
    ax.set_yticks(range(len(names)), list(names))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
