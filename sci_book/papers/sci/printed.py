"""What the paper prints of the quantities that its claims are about, by the measures' names.

Each function takes a label of the paper's models and a claim's arguments, and returns the parts of
`chapters.measures` as shares of 1, None where the paper prints no number. A measure that is not
here has no printed number at all.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any

import pandas as pd

from sci_book.methods import SCI
from sci_book.papers.shared.evidence import MethodName
from sci_book.resources import PAPER

Values = list[float | None]
OVERALL = ("Overall",)
_ROUNDS = {(2, 0): "original black noise500", (0, 2): "original V1 V2"}  # of Table 5
_RATIOS = {"sequential": "no", "naive_batch": "yes"}  # of Table 7: is it one batch?


@cache
def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(PAPER / f"{name}.csv", keep_default_na=False, dtype=str)


@cache
def labels() -> tuple[str, ...]:
    """What the paper calls its two models."""
    return tuple(name for name in _table("table01")["model"].unique() if name)


@cache
def _value(table: str, **where: str) -> float | None:
    """The number of the one line that has these values; None if there is none."""
    frame = _table(table)
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return float(frame["value"].iloc[0]) if len(frame) else None


def accuracy_of(
    label: str, method: MethodName, subset: str, kind: str = "Overall", part: str = "test"
) -> float | None:
    """The printed share right with a method; None where there is none."""
    where = {"model": label, "question_type": kind, "split": part}
    percent = None
    if part == "validation":
        percent = _on_validation(method, subset, where)
    elif isinstance(method, dict):
        rounds = _ROUNDS.get((method["M"], method["N"]))
        beta = 0.8 if subset == "all" else 0.3  # of SCI5 in Tables 4 and 2
        if rounds and set(method) == {"M", "N"}:
            percent = _value("table05", subset=subset, rounds=rounds, **where)
        elif (method["M"], method["N"], method.get("beta")) == (2, 2, beta):
            return accuracy_of(label, "SCI5", subset, kind)
    elif subset == "all":
        percent = _value("table10", method=method, subset="all", dataset="all", **where)
    else:
        percent = _value("table09", method=method, subset=subset, **where)
    return None if percent is None else percent / 100


def _on_validation(method: MethodName, subset: str, where: dict[str, str]) -> float | None:
    if method == "SCI5" and subset != "all":  # on all rows the constraint had another β
        return _value("table06", method="SCI5", constraint="yes", subset=subset, **where)
    if isinstance(method, dict) and method.get("beta") == 0 and subset != "all":
        return _value("table06", method="SCI5", constraint="no", subset=subset, **where)
    if isinstance(method, dict) and "tau1" in method:
        for line in _table("table08").to_dict("records"):
            taus = line["tau1"] and (float(line["tau1"]), float(line["tau2"]))
            known = {key: line[key] for key in where} == where and line["subset"] == subset
            if known and taus == (method["tau1"], method["tau2"]):
                return float(line["value"])
    return None


def difference(
    label: str,
    methods: Sequence[MethodName],
    against: Sequence[MethodName],
    subsets: Sequence[str] = (),
    kinds: Sequence[str] = OVERALL,
    part: str = "test",
) -> Values:
    gaps = []
    for method in methods:
        own = method.get("subset") if isinstance(method, dict) else None
        for subset, kind, other in product([own] if own else subsets, kinds, against):
            pair = (accuracy_of(label, name, subset, kind, part) for name in (method, other))
            gaps.append(_less(*pair))
    return gaps


def between_subsets(
    label: str,
    methods: Sequence[MethodName],
    against: Sequence[MethodName],
    subsets: Sequence[str],
    part: str = "test",
) -> Values:
    first, *others = (
        difference(label, methods, against, [subset], part=part)[0] for subset in subsets
    )
    return [_less(first, other) for other in others]


def steps(label: str, methods: Sequence[MethodName], subsets: Sequence[str]) -> Values:
    return [
        value
        for before, method in pairwise(methods)
        for value in difference(label, [method], [before], subsets)
    ]


def by_dataset(label: str, methods: Sequence[MethodName], against: Sequence[MethodName]) -> Values:
    frame = _table("table04")
    frame = frame[(frame["model"] == label) & (frame["dataset"] != "all")]
    values = frame.assign(value=frame["value"].astype(float)).pivot(
        index="dataset", columns="method", values="value"
    )
    names = [name if isinstance(name, str) else "SCI5" for name in (*methods, *against)]
    return list((values[names[0]] - values[names[1]]) / 100)


def accuracy(
    label: str, methods: Sequence[str], subsets: Sequence[str], kinds: Sequence[str] = OVERALL
) -> Values:
    return [accuracy_of(label, *cell) for cell in product(methods, subsets, kinds)]


def size(label: str, subsets: Sequence[str], against: Sequence[str] = ()) -> Values:
    own = [_share(label, subset) for subset in subsets]
    if not against:
        return list(own)
    return [_less(one, _share(label, other)) for one in own for other in against]


def size_against(label: str, subsets: Sequence[str]) -> Values:
    return [_less(_share(label, subset), _share(_other(label), subset)) for subset in subsets]


def shared(label: str) -> Values:
    common = _value("fig01c", model=" and ".join(labels()))
    return [(common or 0) / 100 / _share(label, "BS")]


def model_difference(label: str, methods: Sequence[str], subsets: Sequence[str]) -> Values:
    pairs = product(methods, subsets)
    return [_less(accuracy_of(label, *pair), accuracy_of(_other(label), *pair)) for pair in pairs]


def other_on_own(label: str, methods: Sequence[str]) -> Values:
    return [_less(_on(label, _other(label), name), _on(label, label, name)) for name in methods]


def on_others(label: str, methods: Sequence[str], against: Sequence[str]) -> Values:
    return _gains(_other(label), label, methods, against)


def own_against_others(label: str, methods: Sequence[str], against: Sequence[str]) -> Values:
    own, there = (_gains(built, label, methods, against) for built in (label, _other(label)))
    return [*there, *map(_less, own, there)]


def _gains(built: str, label: str, methods: Sequence[str], against: Sequence[str]) -> Values:
    pairs = product(methods, against)
    return [_less(_on(built, label, one), _on(built, label, two)) for one, two in pairs]


def time(label: str, strategies: Sequence[str]) -> Values:
    if not set(strategies) <= set(_RATIOS):
        return [None]
    first, second = (_times(label, name) for name in strategies)
    return [one - two for one, two in zip(first, second, strict=True)]


def time_share(label: str, strategies: Sequence[str]) -> Values:
    first, second = (_times(label, name) for name in strategies)
    return [one / two for one, two in zip(first, second, strict=True)]


def time_a_round(label: str, strategies: Sequence[str]) -> Values:
    return [
        abs(ratio / count - 1)
        for name in strategies
        for ratio, count in zip(_times(label, name), (3, 5, 7), strict=False)
    ]


def _times(label: str, strategy: str) -> list[float]:
    """Times the base of SCI3, SCI5 and SCI7; empty for a model that Table 7 does not have."""
    where = {"model": label, "metric": "ratio", "batched": _RATIOS[strategy]}
    ratios = [_value("table07", method=name, **where) for name in SCI]
    return [value for value in ratios if value is not None]


def _share(label: str, subset: str) -> float:
    where = {"question_type": "Overall", "split": "test"}
    count = _value("table01", model=label, subset=subset, **where)
    total = _value("table01", model="", subset="all", **where)
    if count is None or total is None:
        raise ValueError(f"Table 1 has no size of {subset} for {label!r}.")
    return count / total


def _on(built: str, answers: str, method: str) -> float | None:
    """The share right on the BS that a model built (Table 3)."""
    where = {"construction_model": built, "model": answers, "question_type": "Overall"}
    value = _value("table03", method=method, **where)
    return None if value is None else value / 100


def _other(label: str) -> str:
    return labels()[1 - labels().index(label)]


def _less(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


PRINTED: dict[str, Callable[..., Any]] = {
    measure.__name__: measure
    for measure in (
        difference, between_subsets, steps, by_dataset, accuracy, size, size_against, shared,
        model_difference, other_on_own, on_others, own_against_others, time, time_share,
        time_a_round,
    )
}  # fmt: skip
