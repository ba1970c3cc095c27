"""Two rankings of the same models, and how far they agree (section IV-E, Table IV).

Rank 1 is the model with the lowest failure rate. Kendall's tau-b is 1 where two rankings agree
about every pair of models and −1 where they disagree about every one; its interval draws the
originals again, for all models at once, and ranks anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import wraps
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, rankdata

from sci_book.results.statistics import Interval, measure, of_sums

Rates = tuple[Mapping[str, pd.DataFrame], Mapping[str, pd.DataFrame]]
"""Of two rankings, each model's rows of `group` and `value`: see `agreement`."""


class Agreement(NamedTuple):
    """Kendall's tau between two rankings of models.

    tau        with its interval over clusters; NaN where a ranking has ties alone
    p          two-sided p-value of the point estimate: exact without ties (with four models never
               below 1/12), asymptotic with some
    first      ranks of each model, 1 the most robust, ties sharing their mean
    second     the same by the other failure rate
    undefined  share of draws in which all models tie in a ranking
    """

    tau: Interval
    p: float
    first: Mapping[str, float]
    second: Mapping[str, float]
    undefined: float


def agreement(
    first: Mapping[str, pd.DataFrame],
    second: Mapping[str, pd.DataFrame],
) -> Agreement:
    """Tau between the rankings by two failure rates of the same models.

    Args:
        first, second: of each model, rows of `group` and `value` (`Failures.per_original`; for
            MetaVQA one row a composition, 1 where it is violated). A group that both share is drawn
            with the rows of both.

    Raises:
        ValueError: for fewer than two models, other models in the second, or a model without a row.
    """
    columns, groups = _summed(first, second)
    undefined = []

    @wraps(_tau_of)  # whose name is part of the number's key
    def counting(totals: np.ndarray) -> np.ndarray:
        taus = _tau_of(totals)
        undefined.append(float(np.isnan(taus).mean()))
        return taus

    both = _rates(columns.sum(axis=1))
    ranks = [
        dict(zip(sorted(first), line.tolist(), strict=True)) for line in rankdata(both, axis=1)
    ]
    if np.isnan(tau_b(*both)):
        nothing = Interval(np.nan, np.nan, np.nan, len(groups), len(groups))
        return Agreement(nothing, 1.0, *ranks, 1.0)
    interval = of_sums(columns, groups, counting, smooth=False)
    return Agreement(interval, float(kendalltau(*both).pvalue), *ranks, undefined[-1])


def kendall(trainings: Sequence[Rates]) -> Interval:
    """Tau between the two rankings of the same models, over trainings.

    One of which all models tie in a ranking is left out.
    """
    tables = [_summed(*each) for each in trainings]
    ranked = [each for each in tables if np.isfinite(_tau_of(each[0].sum(axis=1)))]
    return measure(ranked, _tau_of, smooth=False)


def _summed(
    first: Mapping[str, pd.DataFrame], second: Mapping[str, pd.DataFrame]
) -> tuple[np.ndarray, list[str]]:
    """Sum and count of each model's values by group, a model after the other; and the groups."""
    names = sorted(first)
    if names != sorted(second) or len(names) < 2:
        raise ValueError(
            f"Two rankings of the same two or more models; got {names} and {sorted(second)}."
        )
    if empty := [name for name in names if not len(first[name]) or not len(second[name])]:
        raise ValueError(f"{', '.join(empty)} has no row to rank by.")
    frames = [rates[name] for rates in (first, second) for name in names]
    groups = sorted({group for frame in frames for group in frame["group"]})
    sums = [frame.groupby("group")["value"].agg(["sum", "count"]) for frame in frames]
    table = np.stack([frame.reindex(groups, fill_value=0).to_numpy(float).T for frame in sums])
    return table.reshape(2 * len(frames), len(groups)), groups


def _rates(totals: np.ndarray) -> np.ndarray:
    """The rates of each model in either ranking, `[2, models, ...]`, from sums of `_summed`."""
    return np.stack(np.split(totals[0::2] / totals[1::2], 2))


def _tau_of(totals: np.ndarray) -> np.ndarray:
    return tau_b(*_rates(totals))


def tau_b(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of `[models, ...]` rates along the first axis; NaN where one has ties alone
    or a rate is missing."""
    one, other = np.triu_indices(first.shape[0], 1)
    a = np.sign(first[one] - first[other])
    b = np.sign(second[one] - second[other])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=0) / np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0)))
