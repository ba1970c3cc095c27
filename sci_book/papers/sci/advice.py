"""What to expect of SCI on a model, before any SCI is decoded: its conditions, and the dial's rule.

All rows of the model's records count: no verdict comes from them, and the rule from others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from sci_book.papers.sci.dial import KNOWN, Training, estimate, methods, quantities, rule
from sci_book.papers.shared.gate import OF_SCI
from sci_book.papers.shared.tables import interval, number, with_ends
from sci_book.results.records import Records
from sci_book.results.statistics import NO_DATA, Interval, Sample, one_more
from sci_book.results.summary import split_sentence, split_votes
from sci_book.run import conditions

MADE_BY = "python benchmarks/dial.py"


def expected(frame: pd.DataFrame, samples: Mapping[str, Sample]) -> dict[str, Interval]:
    """By method that the dial decoded, its gain over the base on all rows of such a model, best
    first.

    The interval is that of one more training of the dial: another model may well lie outside.

    Args:
        frame: `dial.estimates` of all trainings.
        samples: `dial.quantities` of the model.
    """
    point = [estimate(samples[name]) for name in KNOWN]
    fits = {name: fit for name in methods() if (fit := rule(frame, name))}
    gains = {name: one_more(fit, point) for name, fit in fits.items()}
    return dict(sorted(gains.items(), key=lambda item: -item[1].estimate))


def chosen(gains: Mapping[str, Interval]) -> str:
    """The first method of `expected` if all of its interval is a gain, else the base."""
    method, gain = next(iter(gains.items()), ("base", NO_DATA))
    return method if gain.low > 0 else "base"


def advise(records: Records, frame: pd.DataFrame | None, missing: Sequence[Training]) -> list[str]:
    """Which conditions hold, habit and deficit, the expected gains and what to use, a line each.

    Args:
        records: of a model, with V1, V2, black and noise500 at least.
        frame: `dial.estimates`, or None where records are `missing`.
        missing: trainings of the dial without records.

    Raises:
        RecordsError: the records lack a round.
        ValueError: no row without an error.
    """
    if not records.ok.any():
        raise ValueError("The records hold no row without an error: there is nothing to go by.")
    samples = quantities(records)
    lines = [_conditions_line(records), *_known_lines(samples), *_split_lines(records)]
    if unread := conditions.unreadable(records):
        lines.insert(0, unread)
    if frame is None:
        return [
            *lines,
            f"expected gain: not known; {len(missing)} of the dial's records are missing, the "
            f"first {missing[0].name}.parquet. Make them with `{MADE_BY}`.",
        ]
    if not len(samples["habit"].values):
        return [*lines, "expected gain: none, for the base makes no error", "use: base"]
    gains = expected(frame, samples)
    name = chosen(gains)
    why = "no gain is sure" if name == "base" else "all of its interval is a gain"
    return [
        *lines,
        f"expected gain over the base, in points over all rows, by {len(frame)} trainings:",
        *(f"  {method:5} {_percent(gain)}" for method, gain in gains.items()),
        *_outside_lines(frame, samples),
        f"use: {name} ({why})",
    ]


def _conditions_line(records: Records) -> str:
    spec = {**conditions.load_conditions(), "split": "all"}
    table = conditions.measure(records, spec)
    states = []
    for name in OF_SCI:
        part = table[table["id"] == name]
        state = conditions.overall(part)
        open_parts = "" if state == "met" else conditions.named(part[part["state"] == state])
        states.append(f"{name} {state}" + (f" ({open_parts})" if open_parts else ""))
    states.append(f"{conditions.READABLE} {conditions.overall(conditions.readable(records))}")
    return f"conditions, on all rows: {'; '.join(states)}"


def _known_lines(samples: Mapping[str, Sample]) -> list[str]:
    habit, deficit = (samples[name].interval for name in KNOWN)
    return [
        f"habit: {_percent(habit)} % of the base's {habit.n:,} errors repeat an answer to a "
        "picture of nothing",
        f"rewordings: V1 and V2 cost {_percent(deficit)} points on average",
    ]


def _split_lines(records: Records) -> list[str]:
    split = int(split_votes(records).sum())
    return [split_sentence(split, int(records.ok.sum()))] if split else []


def _outside_lines(frame: pd.DataFrame, samples: Mapping[str, Sample]) -> list[str]:
    """A line for each quantity of the model that lies beyond those of the dial."""
    lines = []
    for name in KNOWN:
        value, low, high = estimate(samples[name]), frame[name].min(), frame[name].max()
        if not low <= value <= high:
            seen = interval(100 * low, 100 * high)
            lines.append(f"  but its {name} of {number(100 * value)} is beyond the dial's {seen}")
    return lines


def _percent(share: Interval) -> str:
    return with_ends(*share.times(100)[:3])
