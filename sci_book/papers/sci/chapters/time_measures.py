"""What claims about time are about: quartiles of what was measured on one thread of a processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real

import pandas as pd

from sci_book.papers.shared import timing
from sci_book.papers.shared.evidence import Evidence, Part, of_interval
from sci_book.results.statistics import Interval, key_of


def time(of: Evidence, strategies: tuple[str, str] | list[str]) -> list[Part]:
    """Time with one strategy less that with another, in multiples of the base.

    From quartiles: the least difference they allow to the largest. In one batch every round has the
    original's prompt, as the paper measured.
    """
    parts = []
    for method, rows in _timed(of):
        if set(strategies) <= set(rows):
            first, second = (_quartiles(rows[name]) for name in strategies)
            what = f"{method}: {' − '.join(timing.way_names()[name] for name in strategies)}"
            ends = (one - two for one, two in zip(first, second[::-1], strict=True))
            key = key_of("less", *(rows[name].get("key") for name in strategies))
            parts.append(_part(of, what, *ends, key=key))
    return parts


def _quartiles(row: Mapping | pd.Series) -> tuple[Real, Real, Real]:
    """The first, the median and the third, in multiples of the base."""
    return row["ratio_q1"], row["ratio_median"], row["ratio_q3"]


def _part(of: Evidence, what: str, low: Real, middle: Real, high: Real, key: str) -> Part:
    interval = Interval(middle, low, high, of.runs, of.runs, key=key)
    return of_interval(what, interval, quartiles=True)


def time_share(of: Evidence, strategies: Sequence[str]) -> list[Part]:
    """As `time`, in every setting measured: the time with one strategy as a share of the other's.

    In one batch every round has the original's prompt where that was measured.
    """
    if of.measured is None:
        return []
    rows = _own(of, of.measured["frame"])
    parts = []
    settings = ["image_tokens", "batch", "new_tokens", "method"]
    for where, lines in rows[rows["data"] == "made up"].groupby(settings, sort=True):
        one, two = (lines[lines["strategy"] == name] for name in strategies)
        if one.empty or two.empty:
            continue
        one = one[one["prompts"] == min(one["prompts"])].iloc[0]  # "identical" before "own"
        pairs = zip(_quartiles(one), _quartiles(two.iloc[0])[::-1], strict=True)
        tokens, batch, new, method = where
        what = f"{method}, {tokens} image tokens, batch {batch}, {new} new"
        key = key_of("share", one.get("key"), two.iloc[0].get("key"))
        parts.append(_part(of, what, *(first / second for first, second in pairs), key=key))
    return parts


def _own(of: Evidence, rows: pd.DataFrame) -> pd.DataFrame:
    """The lines of a model of this one's size."""
    size = of.subject.name.removeprefix("pocket-")
    return rows[rows["model"].str.removeprefix("pocket-") == size]


def time_a_round(of: Evidence, strategies: Sequence[str]) -> list[Part]:
    """How far a round's time is from the base's, either way, in multiples of the base."""
    parts = []
    for method, rows in _timed(of):
        count = int(method.removeprefix("SCI"))
        for name in (name for name in strategies if name in rows):
            apart = [value / count - 1 for value in _quartiles(rows[name])]
            low, middle, high = map(abs, apart)
            least = 0.0 if apart[0] <= 0 <= apart[2] else min(low, high)
            what = f"{method}: {timing.way_names()[name]}"
            key = key_of("round", rows[name].get("key"))
            parts.append(_part(of, what, least, middle, max(low, high), key=key))
    return parts


def time_shared(of: Evidence, method: str, image_tokens: int) -> list[Part]:
    """Time in two phases, in multiples of the base: black kept, every visual round read."""
    return _in_quartiles(of, method, timing.ungated, image_tokens)


def time_on_pocket(of: Evidence, method: str) -> list[Part]:
    """Time of `generate` on pocket data, from picture to text with the gate, in the base's."""
    return _in_quartiles(of, method, timing.on_pocket_data)


def _in_quartiles(of: Evidence, method: str, select: Callable, *settings: int) -> list[Part]:
    """A part a setting that was measured of a method with this model; its ends are quartiles."""
    if of.measured is None:
        return []
    rows = _own(of, select(of.measured, *settings))
    return [
        _part(of, timing.setting(row), *_quartiles(row), key=row.get("key", ""))
        for row in rows[rows["method"] == method].to_dict("records")
    ]


def _timed(of: Evidence) -> Iterator[tuple[str, dict[str, dict]]]:
    """By method of several rounds, the row of each strategy."""
    table = of.timing
    if not len(table):
        return
    for method, rows in table[table["strategy"] != "base"].groupby("method", sort=True):
        by_strategy = {}
        for row in rows.to_dict("records"):
            if row["strategy"] != "naive_batch" or row["prompts"] == "identical":
                by_strategy[row["strategy"]] = row
        yield str(method), by_strategy


MEASURES = (time, time_share, time_a_round, time_shared, time_on_pocket)
