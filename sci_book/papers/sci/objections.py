"""What claims measure that answer the objections to methods of this kind: lines of the frame.

Each measure takes models and arguments of a claim. Rows are the test rows of the paper's split. A
method is named as `evidence.method_of` reads it, or is a control by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sci_book.papers.shared import frame
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.evidence import MethodName, method_of, title
from sci_book.results import controls
from sci_book.results.drbench import split
from sci_book.results.statistics import NO_DATA, Interval, key_of, ratio

Models = Sequence[Subject]
Lines = Iterator[dict[str, Any]]
Names = Sequence[MethodName]
Values = Callable[[Subject], np.ndarray]
BINS = 10
"""Of equal width, in which reliability compares how sure a method is with how often it is right."""
_RATES = {"yes": ("yes", "no"), "present": ("yes",), "absent": ("no",)}
"""The share of "yes" is of all questions, the share of hits of those with this answer."""


def difference(
    models: Models,
    methods: Names,
    against: Names,
    subsets: Sequence[str] = ("all",),
    drawn: bool = False,
) -> Lines:
    """Share right with a method less that with another, on the same rows.

    Args:
        drawn: expect of each what it draws at temperature 1, in the place of its greedy answer.
    """
    how = ", drawn" if drawn else ""
    for model, method, other, subset in product(models, methods, against, subsets):
        gap = partial(_gap, method=method, other=other, drawn=drawn)
        names = {"contrast": f"{title(method)} − {title(other)}{how}", "subset": subset}
        yield frame.line(model, gap, partial(_rows, subset=subset), **names)


def drawn_gain(models: Models, methods: Names, against: Names) -> Lines:
    """What a method gains on another where both draw, less what it gains where both are greedy."""
    for model, method, other in product(models, methods, against):
        gap = partial(_gap, method=method, other=other)
        name = f"{title(method)} − {title(other)}, drawn less greedy"
        values = partial(_less, one=partial(gap, drawn=True), other=gap)
        yield frame.line(model, values, _rows, (-2.0, 2.0), contrast=name)


def by_dataset(models: Models, methods: Names, against: Names, where: str = "") -> Lines:
    """As `difference`, on all test rows of each data set.

    Args:
        where: a companion whose questions are asked; by default the paper's own sets.
    """
    for asked in (model.beside(where) if where else model for model in models):
        sets = dict.fromkeys(asked.records.frame["dataset"])
        for method, other, dataset in product(methods, against, sets):
            gap, rows = partial(_gap, method=method, other=other), partial(_rows, dataset=dataset)
            names = {"contrast": f"{title(method)} − {title(other)}", "dataset": dataset}
            yield frame.line(asked, gap, rows, **names)


def mended(models: Models, methods: Names, against: Names, subsets: Sequence[str]) -> Lines:
    """Of the rows that a method turns from wrong to right or back, the share that it mends."""
    for model, method, other, subset in product(models, methods, against, subsets):
        values = partial(_turned, method=method, other=other)
        names = {"contrast": f"mended, {title(method)} for {title(other)}", "subset": subset}
        yield frame.line(model, values, partial(_rows, subset=subset), (0.0, 1.0), **names)


def rates(
    models: Models, methods: Names, shares: Sequence[str], against: Names = (), where: str = ""
) -> Lines:
    """Shares of answers to yes/no questions, by data set; less those of other methods if named.

    Args:
        shares: "yes", how often it is said; "present" and "absent", how often it is right where the
            answer is yes, and where it is no.
        where: as in `by_dataset`.
    """
    for asked in (model.beside(where) if where else model for model in models):
        known = asked.records.frame
        sets = dict.fromkeys(known["dataset"][known["question_type"] == "yesno"])
        for method, other, kind, dataset in product(methods, against or [None], shares, sets):
            values = partial(_said, method=method, kind=kind)
            if other is not None:
                values = partial(_less, one=values, other=partial(_said, method=other, kind=kind))
            rows = partial(_rows, dataset=dataset, truths=_RATES[kind])
            contrast = title(method) if other is None else f"{title(method)} − {title(other)}"
            span = (0.0 if other is None else -1.0, 1.0)
            names = {"contrast": contrast, "share": kind, "dataset": dataset}
            yield frame.line(asked, values, rows, span, **names)


def fitted(models: Models, where: str = "") -> Lines:
    """The constant that the control `shift` adds to "yes", by data set, in logits."""
    for asked in (model.beside(where) if where else model for model in models):
        for dataset in controls.shift(asked.records, asked.replay)[0]:
            value = partial(_fitted, dataset=dataset)
            yield frame.score(asked, value, _plain, dataset=dataset, share="fitted", scale=1)


def brier(models: Models, methods: Names, against: Names) -> Lines:
    """The Brier score of what a method's own score gives its answer, less that of another method.

    Of answers of one token.
    """
    for model, method, other in product(models, methods, against):
        one, two = (partial(_squared, method=name) for name in (method, other))
        name = f"Brier score, {title(method)} − {title(other)}"
        yield frame.line(model, partial(_less, one=one, other=two), _rows, contrast=name)


def reliability(models: Models, methods: Names, against: Names) -> Lines:
    """The reliability of what a method's own score gives its answer, less that of another method.

    The mean squared distance between how sure a method is and how often it is right, over `BINS`
    bins: the part of the Brier score that a calibrated method has not.
    """
    for model, method, other in product(models, methods, against):
        name = f"reliability, {title(method)} − {title(other)}"
        values = partial(_binned, methods=(method, other))
        yield frame.line(model, values, _rows, statistic=_unreliable, contrast=name)


@lru_cache(maxsize=64)
def _sets(training: Subject) -> pd.DataFrame:
    return training.sets("any", "rows")


def _rows(
    training: Subject, subset: str = "all", dataset: str = "", truths: Sequence[str] = ()
) -> np.ndarray:
    """A mask of the test rows of a subset, a data set, and with one of these right answers."""
    known = training.records.frame
    test = (split(training.records) == "test") & training.records.ok
    rows = test if subset == "all" else _sets(training)[subset].to_numpy() & test
    for column, values in (("dataset", [dataset] * bool(dataset)), ("truth", truths)):
        rows = rows & known[column].isin(values).to_numpy() if values else rows
    return rows


def _right(training: Subject, name: MethodName, drawn: bool = False) -> np.ndarray:
    method = method_of(name)
    if drawn and method not in controls.CONTROLS:
        return controls.drawn(training, method)
    return training.right(method)


def _gap(
    training: Subject, method: MethodName, other: MethodName, drawn: bool = False
) -> np.ndarray:
    return _right(training, method, drawn) - _right(training, other, drawn)


def _less(training: Subject, one: Values, other: Values) -> np.ndarray:
    return one(training) - other(training)


def _turned(training: Subject, method: MethodName, other: MethodName) -> np.ndarray:
    gap = _gap(training, method, other)
    return np.stack([gap > 0, gap != 0]).astype(float) + 0 * gap  # NaN where either is


def _said(training: Subject, method: MethodName, kind: str) -> np.ndarray:
    """Whether "yes" is said, or the answer is right; NaN where there is none."""
    if kind != "yes":
        return _right(training, method)
    if method_of(method) in controls.CONTROLS:  # it says "yes" or "no", and nothing else
        right, truth = _right(training, method), training.records.frame["truth"] == "yes"
        return np.where(np.isfinite(right), (right > 0) == truth, np.nan)
    said = training.answers(method_of(method))["answer"].to_numpy(dtype=object) == "yes"
    return np.where(np.isfinite(_right(training, method)), said, np.nan)


def _fitted(training: Subject, dataset: str) -> float:
    return controls.shift(training.records, training.replay)[0].get(dataset, np.nan)


def _plain(values: Sequence[float]) -> Interval:
    """A mean over trainings of what is fitted, and so has no interval."""
    key = key_of("fitted", *values)
    return NO_DATA._replace(estimate=float(np.mean(values)), n=len(values), key=key)


def _sure(training: Subject, name: MethodName) -> tuple[np.ndarray, np.ndarray]:
    """How sure a method is of each answer, and whether that is right; NaN without either."""
    method, right = method_of(name), _right(training, name)
    sure = controls.confidence(training.records, training.replay, method)
    return sure, np.where(np.isfinite(sure), right, np.nan)


def _squared(training: Subject, method: MethodName) -> np.ndarray:
    sure, right = _sure(training, method)
    return (sure - right) ** 2


def _binned(training: Subject, methods: Names) -> np.ndarray:
    """By method and bin: whether an answer is in it, how sure it is, whether it is right."""
    columns = []
    for sure, right in (_sure(training, name) for name in methods):
        at = np.clip(np.nan_to_num(sure * BINS).astype(int), 0, BINS - 1)
        inside = (at == np.arange(BINS)[:, None]) + 0 * sure
        columns += [inside, inside * sure, inside * right]
    return np.concatenate(columns)


def _unreliable(sums: np.ndarray) -> np.ndarray:
    """Of the sums of `_binned` of two methods, the first's reliability less the second's."""
    count, sure, right = np.moveaxis(np.reshape(sums, (2, 3, BINS, *sums.shape[1:])), 1, 0)
    distance = np.where(count > 0, (sure - right) ** 2 / np.maximum(count, 1e-9), 0.0).sum(axis=1)
    first, second = ratio(np.stack([distance, count.sum(axis=1)]))
    return np.asarray(first - second)


MEASURES: dict[str, Callable[..., Lines]] = {
    measure.__name__: measure
    for measure in (difference, drawn_gain, by_dataset, mended, rates, fitted, brier, reliability)
}
