"""Is a model fit to be asked? What SCI assumes of its rounds, measured on that model's records.

Each input is taken alone: the accuracy of its own free-running answers, never a method's. The
conditions, their margins and their reasons stand in `data_manifests/paper/conditions.yaml`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import pandas as pd

from sci_book.files import json_text, read_yaml
from sci_book.resources import PAPER
from sci_book.results import statistics
from sci_book.results.drbench import split
from sci_book.results.records import Records
from sci_book.results.statistics import Interval, ratio, share

CONDITIONS = PAPER / "conditions.yaml"

READABLE = "readable"
"""A condition beside the registered ones: the answers of every round can be read."""
MOST_UNKNOWN = 5.0
"""Percent of a round's answers that no rule reads, at most. An unknown answer equals nothing, so
that each counts as one that the round has changed."""

State = Literal["met", "not met", "undecided"]
BASE_BESIDE = {
    "chance": "the base beside a guess",
    "paper": "the base beside the paper’s",
    "nothing": "the small sister’s base",
}
"""What the base is held against that is no input of the model's, in words."""


def load_conditions() -> dict:
    """The registered conditions: `least_rows`, `split` and the list `conditions`."""
    return read_yaml(CONDITIONS)


def inputs(spec: Mapping) -> list[str]:
    """The inputs beside the original that conditions (`load_conditions`) compare, in order."""
    names = (
        name
        for condition in spec["conditions"]
        for name in (*condition["inputs"], condition["against"])
    )
    return [name for name in dict.fromkeys(names) if name not in ("original", *BASE_BESIDE)]


def measure(
    records: Records,
    spec: Mapping,
    *,
    paper: Mapping[str, float] | None = None,
    of: str = "model",
    further: Sequence[Records] = (),
) -> pd.DataFrame:
    """Every condition on one model, a row each: `id`, `input`, `group`, its interval and `state`.

    Args:
        records: of one model; rows with an error count nowhere.
        spec: what `load_conditions` returns; its `split` "all" takes every row.
        paper: accuracy in percent of the paper's model by group ("Overall"), if this model stands
            for one; without it the condition `as-the-paper` is left out.
        of: "model", or "small sister" for what is asked of a model's smaller sister.
        further: those of other trainings of the model, over all of which the intervals then are.

    Returns:
        Columns `id, input, group, against, estimate, low, high, n, key, margin, state`: differences
        of accuracy in points, intervals over question groups, the `key` of each number. Inputs
        that the records do not hold are *undecided* with n = 0.
    """
    return _measured((records, *further), json_text([spec, paper]), of).copy()


@lru_cache(maxsize=32)  # every page asks for the same
def _measured(records: tuple[Records, ...], asked: str, of: str) -> pd.DataFrame:
    spec, paper = json.loads(asked)
    trainings = [_Answers(each, spec, paper) for each in records]
    lines = []
    for condition in spec["conditions"]:
        if condition.get("of", "model") != of or (condition["against"] == "paper" and not paper):
            continue
        for name in condition["inputs"]:
            for group in condition["groups"]:
                gaps = [each.gap(name, condition["against"], group) for each in trainings]
                interval = statistics.measure(gaps, ratio, span=(-100.0, 100.0))
                lines.append(
                    {
                        "id": condition["id"],
                        "input": name,
                        "group": group,
                        "against": condition["against"],
                        **dict(zip(("estimate", "low", "high", "n"), interval[:4], strict=True)),
                        "key": interval.key,
                        "margin": condition.get("within", condition.get("above")),
                        "state": state(interval, condition, spec["least_rows"]),
                    }
                )
    return pd.DataFrame(lines)


class _Answers:
    """Of one training, which rows of the chosen split each round has right."""

    def __init__(self, records: Records, spec: Mapping, paper: Mapping[str, float] | None):
        chosen = records.ok & ((split(records) == spec["split"]) | (spec["split"] == "all"))
        frame, self._paper = records.frame[chosen], paper
        self._kinds, self._groups = frame["kind"].to_numpy(), frame["group"].to_numpy()
        self._right = {n: records.correct(n)[chosen].astype(float) for n in records.rounds}
        self._standards = {**self._right, "chance": chance(frame), "nothing": 0.0}

    def gap(self, name: str, standard: str, group: str) -> tuple[np.ndarray, np.ndarray]:
        """A round's accuracy less a standard's on rows of a kind, as `statistics.measure` takes it.

        No row where the records do not hold both.
        """
        against = self._standards.get(standard)
        if standard == "paper":
            against = self._paper[group] / 100
        if name not in self._right or against is None:
            return np.empty((2, 0)), np.empty(0, dtype=object)
        rows = (self._kinds == group) | (group == "Overall")
        gap = 100 * (self._right[name] - against)[rows]
        return np.stack([gap, np.ones(len(gap))]), self._groups[rows]


def state(interval: Interval, condition: Mapping, least_rows: int) -> State:
    """*met*, *not met* or *undecided*, from the interval alone."""
    if interval.n < least_rows:
        return "undecided"
    if "above" in condition:
        inside, outside = interval.low > condition["above"], interval.high <= condition["above"]
    else:
        within = condition["within"]
        inside = -within <= interval.low and interval.high <= within
        outside = interval.low > within or interval.high < -within
    return "met" if inside else "not met" if outside else "undecided"


def readable(records: Records) -> pd.DataFrame:
    """How many answers of each round no rule reads, a row each: `input`, its interval and `state`.

    Of all rows without an error, in percent. *not met* whatever the number of rows, if the interval
    lies above `MOST_UNKNOWN`; *met* on `least_rows` rows or more.
    """
    least_rows, lines = load_conditions()["least_rows"], []
    clusters = records.frame["group"].to_numpy()[records.ok]
    for name in records.rounds:
        unknown = np.equal(records.parsed(name)[records.ok], None).astype(float)
        percent = share(unknown, clusters).times(100)
        met = percent.high <= MOST_UNKNOWN and percent.n >= least_rows
        word: State = "not met" if percent.low > MOST_UNKNOWN else "met" if met else "undecided"
        values = dict(zip(("estimate", "low", "high", "n"), percent[:4], strict=True))
        lines.append({"id": READABLE, "input": name, **values, "state": word})
    return pd.DataFrame(lines)


def unreadable(records: Records) -> str:
    """What a reader must know of answers that no rule reads; "" unless the condition is not met."""
    table = readable(records)
    if overall(table) != "not met":
        return ""
    wrong = table[table["state"] == "not met"]
    shares = ", ".join(f"{line.estimate:.0f} % under {line.input}" for line in wrong.itertuples())
    return (
        f"not readable: of the answers no rule reads {shares} (at most {MOST_UNKNOWN:.0f} % are "
        "allowed). Such an answer is wrong, equals no other, and counts as changed by every "
        "rewording. Read some; more new tokens may help."
    )


def named(conditions: pd.DataFrame) -> str:
    """Inputs and their groups in words, "V2 (Overall, MCQ)"; where all are Overall, "V2 and V3"."""
    words, whole = [], (conditions["group"] == "Overall").all()
    for (name, against), lines in conditions.groupby(["input", "against"], sort=False):
        name = BASE_BESIDE.get(against, name)
        words.append(name if whole else f"{name} ({', '.join(lines['group'])})")
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def overall(conditions: pd.DataFrame) -> State:
    """*met* if all are, *not met* if any is not, else *undecided*."""
    states = set(conditions["state"])
    return "not met" if "not met" in states else "met" if states == {"met"} else "undecided"


def chance(frame: pd.DataFrame) -> np.ndarray:
    """Probability that a guess is right: one of the options, or the data set's commonest answer."""
    options = frame["options"].str.len().to_numpy()  # its letters, "ABCD"
    commonest = frame.groupby("dataset")["truth"].transform(
        lambda truths: truths.value_counts(normalize=True).iloc[0]
    )
    return np.where(options > 0, 1 / np.maximum(options, 1), commonest.to_numpy())
