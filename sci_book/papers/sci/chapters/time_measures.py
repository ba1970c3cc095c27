"""What claims about time are about: quartiles of what was measured on one thread of a processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sci_book.papers.shared import timing
from sci_book.papers.shared.evidence import Evidence, Part, measured
from sci_book.results.statistics import Interval


def time(of: Evidence, strategies: tuple[str, str] | list[str]) -> list[Part]:
    """Time with one strategy less that with another, in multiples of the base.

    From quartiles: the least difference they allow to the largest. In one batch every round has the
    original's prompt, as the paper measured.
    """
    found = []
    for method, rows in _timed(of):
        first, second = (rows.get(name) for name in strategies)
        if first is not None and second is not None:
            middle = first["ratio_median"] - second["ratio_median"]
            low = first["ratio_q1"] - second["ratio_q3"]
            high = first["ratio_q3"] - second["ratio_q1"]
            what = f"{method}: {strategies[0]} − {strategies[1]}"
            found.append(measured(what, Interval(middle, low, high, of.runs, of.runs)))
    return found


def time_share(of: Evidence, strategies: Sequence[str]) -> list[Part]:
    """Time with one strategy as a share of that with another, in every setting measured.

    From quartiles: the least share they allow to the largest. In one batch every round has the
    original's prompt where that was measured, as in the paper.
    """
    if of.measured is None:
        return []
    rows = of.measured["frame"]
    mine = rows["model"].str.removeprefix("pocket-") == of.subject.name.removeprefix("pocket-")
    found = []
    settings = ["image_tokens", "batch", "new_tokens", "method"]
    for where, lines in rows[mine & (rows["data"] == "made up")].groupby(settings, sort=True):
        one, two = (lines[lines["strategy"] == name] for name in strategies)
        if one.empty or two.empty:
            continue
        one = one[one["prompts"] == min(one["prompts"])].iloc[0]  # "identical" before "own"
        two = two.iloc[0]
        share = Interval(
            one["ratio_median"] / two["ratio_median"],
            one["ratio_q1"] / two["ratio_q3"],
            one["ratio_q3"] / two["ratio_q1"],
            of.runs,
            of.runs,
        )
        tokens, batch, new, method = where
        what = f"{method}, {tokens} image tokens, batch {batch}, {new} new"
        found.append(measured(what, share))
    return found


def time_a_round(of: Evidence, strategies: Sequence[str]) -> list[Part]:
    """How far a round's time is from the base's, either way, in multiples of the base."""
    found = []
    for method, rows in _timed(of):
        for name in strategies:
            if name in rows:
                count = int(method.removeprefix("SCI"))
                middle, *ends = (
                    abs(rows[name][f"ratio_{end}"] / count - 1) for end in ("median", "q1", "q3")
                )
                within = rows[name]["ratio_q1"] <= count <= rows[name]["ratio_q3"]
                apart = Interval(middle, 0.0 if within else min(ends), max(ends), of.runs, of.runs)
                found.append(measured(f"{method}: {name}", apart))
    return found


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
    rows = select(of.measured, *settings)
    mine = rows["model"].str.removeprefix("pocket-") == of.subject.name.removeprefix("pocket-")
    return [
        measured(
            timing.setting(row),
            Interval(row["ratio_median"], row["ratio_q1"], row["ratio_q3"], of.runs, of.runs),
        )
        for row in rows[mine & (rows["method"] == method)].to_dict("records")
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
