"""What to expect of SCI on a model before any is decoded: its conditions, and what others gained.

What a method gains over all rows is expected to be what it gained on the book's own trainings, on
average. The page *When does SCI help?* has how far off that is for a family that took no part, and
how far off a line along habit.

All rows of a model's records count: no verdict comes from them, and the rule from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from sci_book.methods import with_constants
from sci_book.papers.sci.dial import KNOWN, estimate, quantities
from sci_book.papers.shared.gate import OF_SCI
from sci_book.papers.shared.tables import interval, number, with_ends
from sci_book.results.records import Records
from sci_book.results.statistics import Interval, Sample, least_squares, one_more
from sci_book.results.summary import split_sentence, split_votes
from sci_book.run import conditions
from sci_core.methods import METHODS

ADVISED = {
    f"{name}, β {beta:g}": with_constants(METHODS[name], beta=beta)
    for beta in (0.3, 0.8)
    for name in ("VCD", "SCI3", "SCI5", "SCI7")
}
"""The methods that advice is given on, by what they are called in it."""


def learned(trainings: Iterable[tuple[str, Records]]) -> pd.DataFrame:
    """A line a training, given with its model's name: `model`, habit, deficit, and the gains of all
    of `ADVISED` over the base on all rows; in shares of 1, NaN for what was not decoded.

    Raises:
        RecordsError: records lack V1, V2, black or noise500.
    """
    return pd.DataFrame(
        {"model": model, **_known(quantities(records)), **_gains(records)}
        for model, records in trainings
    )


def expected(frame: pd.DataFrame) -> dict[str, Interval]:
    """By method what one more training would gain, in shares of 1, best first.

    The interval is Student's for a training drawn like those of `learned`: another architecture
    may well lie outside (`left_out`). A method with fewer than two trainings is not there.
    """
    known = {name: frame[name].dropna() for name in ADVISED if name in frame}
    gains = {
        name: one_more(least_squares([], values), [])
        for name, values in known.items()
        if len(values) > 1
    }
    return dict(sorted(gains.items(), key=lambda item: -item[1].estimate))


def left_out(frame: pd.DataFrame, method: str, by: Iterable[str] = ()) -> float:
    """How far the trainings of a model lie, on average, from what those of the others foretell.

    Args:
        by: columns that the foretelling reads, by least squares; none of them: the mean.

    NaN where the others are too few.
    """
    by, errors = list(by), []
    for model in frame["model"].unique():
        mine, others = (frame[rows].dropna(subset=[method]) for rows in
                        (frame["model"] == model, frame["model"] != model))  # fmt: skip
        if len(others) < len(by) + 2:
            return np.nan
        fit = least_squares([others[name] for name in by], others[method])
        told = fit.predict(np.column_stack([np.ones(len(mine)), *(mine[name] for name in by)]))
        errors.extend(np.abs(told - mine[method]))
    return float(np.mean(errors)) if errors else np.nan


def chosen(gains: Mapping[str, Interval]) -> str:
    """The first method of `expected` of whose interval all is a gain, else the base."""
    return next((method for method, gain in gains.items() if gain.low > 0), "base")


def advise(records: Records, frame: pd.DataFrame) -> list[str]:
    """Which conditions hold, habit and deficit, the expected gains and what to use, a line each.

    Args:
        records: of a model, with V1, V2, black and noise500 at least.
        frame: what others gained (`learned`); empty where that is not known.

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
    gains = expected(frame)
    if not gains:
        return [*lines, "expected gain: not known, for the book's records are not here"]
    if not len(samples["habit"].values):
        return [*lines, "expected gain: none, for the base makes no error", "use: base"]
    name = chosen(gains)
    why = "no gain is sure" if name == "base" else "all of its interval is a gain"
    widest = max(map(len, gains))
    return [
        *lines,
        f"expected gain over the base, in points over all rows, by {len(frame)} trainings of "
        f"{frame['model'].nunique()} models, with the interval of one more; and how far off those "
        "of a model were that the others foretell:",
        *(
            f"  {method:{widest}} {_percent(gain)}; {number(100 * left_out(frame, method))}"
            for method, gain in gains.items()
        ),
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
    """A line for each quantity of the model that lies beyond those of the trainings."""
    lines = []
    for name, value in _known(samples).items():
        low, high = frame[name].min(), frame[name].max()
        if not low <= value <= high:
            seen = interval(100 * low, 100 * high)
            lines.append(f"  but its {name} of {number(100 * value)} is beyond theirs, {seen}")
    return lines


def _known(samples: Mapping[str, Sample]) -> dict[str, float]:
    return {name: estimate(samples[name]) for name in KNOWN}


def _gains(records: Records) -> dict[str, float]:
    """By method what it gains over the base on all rows; NaN if the records do not hold it."""
    base, gains = records.correct("original").astype(float), {}
    for name, method in ADVISED.items():
        policy = records.policy_of(method)
        gaps = records.correct(policy) - base if policy else np.full(len(base), np.nan)
        gains[name] = float(gaps[records.ok].mean())
    return gains


def _percent(share: Interval) -> str:
    return with_ends(*share.times(100)[:3])
