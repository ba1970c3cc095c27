"""What the rewordings do by themselves: at one τ1 and margin, and beside words that ask nothing.

The paper's τ1 = 1 + N / 2 grows with each rewording. As it divides TC, VC weighs more; and the
constraint, which spares tokens up to τ1 · ln(1 / β) logits below the best, loosens. So a step of
Table 5 mixes a rewording with a temperature. Each measure here yields lines of the frame: outcomes
of some methods less those of others, on the same rows. Of a method, such as SCI5:

====================  ==============================================================================
beyond_dummies        it less the same without rewordings (N = 0), at its own τ1 and margin
tau1_alone            the same without rewordings, τ1 raised from 1 to its own
margin_alone          what of this the margin does, and
weight_alone          what the weight does
beyond_tau1           the first less the second: what rewordings add, less what τ1 alone adds
repeated              its first wording asked N times less once, at one τ1: nothing can change
repeated_by_rule      the same, each at the paper's τ1
other_wordings        it less its first wording asked N times
asking_nothing        it less the same with wordings that ask for nothing in the rewordings' place
nothing_beyond        these less no rewording at all
by_maximum            TC as the maximum over the prompts less TC as their mean
mean_beyond_dummies   TC as their mean less the same without rewordings
====================  ==============================================================================

Beside these, `inputs` asks each wording alone, and `shapley` gives each round its value by the
paper's τ1 or at one for all combinations. A training that lacks a round, or logits, is left out, as
`frame.line` does; where the shipped one lacks them, a line is of no training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from sci_book.methods import SCI
from sci_book.papers.sci.chapters import components
from sci_book.papers.sci.shapley import coalitions
from sci_book.papers.shared import frame
from sci_book.papers.shared.chapters import READINGS, Subject
from sci_book.resources import PAPER
from sci_book.run.method_sets import ASKING_NOTHING, asking_nothing
from sci_core.methods import METHODS, SCI7, Method, method

Contrast = list[tuple[Real, Method | str]]
"""How much the outcome of a method counts, or of a round asked alone."""
Lines = Iterator[dict[str, Any]]
SUBSETS = ("B", "S", "BS", "S∖B", "all")
_SAME = ("model", "subset", "split", "dataset", "construction_model")


def _without(whole: Method, **constants: Real) -> Method:
    """A method without its rewordings: of the same τ1 and β, and so of the same margin."""
    return replace(whole, textual=(), **constants)


def _wider(whole: Method) -> Method:
    """Without rewordings at τ1 = 1, with the margin of the method."""
    return _without(whole, tau1=1.0, raw_margin=whole.margin)


def _again(whole: Method, times: int, **constants: Real) -> Method:
    return replace(whole, textual=whole.textual[:1] * times, **constants)


def _nothing(whole: Method, sign: Real) -> Contrast:
    """In turn, so that each wording stands in each place once; together they count `sign`."""
    turned = asking_nothing(whole)
    return [(sign / len(turned), one) for one in turned]


def _by_mean(whole: Method) -> Method:
    return replace(whole, rule="mean")


CONTRASTS: dict[str, Callable[[Method], Contrast]] = {
    "beyond_dummies": lambda m: [(1, m), (-1, _without(m))],
    "tau1_alone": lambda m: [(1, _without(m)), (-1, _without(m, tau1=1.0))],
    "margin_alone": lambda m: [(1, _wider(m)), (-1, _without(m, tau1=1.0))],
    "weight_alone": lambda m: [(1, _without(m)), (-1, _wider(m))],
    "beyond_tau1": lambda m: [(1, m), (-2, _without(m)), (1, _without(m, tau1=1.0))],
    "repeated": lambda m: [(1, _again(m, m.N)), (-1, _again(m, 1))],
    "repeated_by_rule": lambda m: [(1, _again(m, m.N)), (-1, _again(m, 1, tau1=1.5))],
    "other_wordings": lambda m: [(1, m), (-1, _again(m, m.N))],
    "asking_nothing": lambda m: [(1, m), *_nothing(m, -1)],
    "nothing_beyond": lambda m: [*_nothing(m, 1), (-1, _without(m))],
    "by_maximum": lambda m: [(1, m), (-1, _by_mean(m))],
    "mean_beyond_dummies": lambda m: [(1, _by_mean(m)), (-1, _without(m))],
}
"""By the name of a measure, what it counts of a method."""


def of_methods(
    name: str,
    models: Iterable[Subject],
    methods: Sequence[str | Method] = ("SCI5",),
    subsets: Sequence[str] = SUBSETS,
    reading: Sequence[str] = READINGS[0],
) -> Lines:
    """A measure of `CONTRASTS`, a line a model, method and subset.

    Args:
        methods: names, as `sci_core.method` takes them, or methods with constants of one's own.
        subsets: of DRBench.
        reading: of its quantifier and split, and then of its part: test rows unless it says so.
    """
    asked = [method(one) if isinstance(one, str) else one for one in methods]
    said = name.replace("_", " ")
    contrasts = {f"{whole.name}, {said}": CONTRASTS[name](whole) for whole in asked}
    return _lines(models, contrasts, subsets, reading)


def inputs(
    models: Iterable[Subject],
    rounds: Sequence[str] = (*SCI7.textual, *ASKING_NOTHING),
    subsets: Sequence[str] = ("all",),
    reading: Sequence[str] = READINGS[0],
) -> Lines:
    """Each wording as the only prompt less the original: all that a wording is judged by."""
    contrasts = {f"{name} − original": [(1, name), (-1, "original")] for name in rounds}
    return _lines(models, contrasts, subsets, reading)


def shapley(
    models: Iterable[Subject],
    rounds: Sequence[str] = (),
    tau1: Real | None = None,
    subsets: Sequence[str] = SUBSETS,
    reading: Sequence[str] = READINGS[0],
) -> Lines:
    """What a round of SCI7 adds, averaged over all combinations of the others (`components`).

    Args:
        rounds: of SCI7, `components.SIDES` or `components.INTERACTION`; by default all.
        tau1: of every combination, which then all have one margin; None: the paper's 1 + N / 2. At
            SCI7's own τ1 the values add up to what they do by the paper's.
    """
    kept, said = ({}, "1 + N/2") if tau1 is None else ({"tau1": tau1}, f"{tau1:g}")
    for model in models:
        combined = coalitions(components.counterfactuals(model))
        asked = [replace(components.combination(some), **kept) for some in combined]
        # The values are linear: those of one combination by itself are its weights.
        shares = components.contributions(dict(zip(combined, np.eye(len(asked)), strict=True)))
        contrasts = {  # of a round that was not recorded, a line of no training: it has no answer
            f"{name}, τ1 {said}": [*zip(shares[name].tolist(), asked, strict=True)]
            if name in shares
            else [(1, name)]
            for name in rounds or shares
        }
        yield from _lines([model], contrasts, subsets, reading)


MEASURES: dict[str, Callable[..., Lines]] = {
    **{name: partial(of_methods, name) for name in CONTRASTS},
    "inputs": inputs,
    "shapley": shapley,
}
"""The measures by name: of models, and then of what the function of each takes."""


def _lines(
    models: Iterable[Subject],
    contrasts: Mapping[str, Contrast],
    subsets: Sequence[str],
    reading: Sequence[str],
) -> Lines:
    for model, (name, contrast), subset in product(models, contrasts.items(), subsets):
        parts = np.array([part for part, _ in contrast])
        yield frame.line(
            model,
            partial(_sum, contrast=contrast),
            lambda training, subset=subset: _sets(training, tuple(reading))[subset],
            (float(parts[parts < 0].sum()), float(parts[parts > 0].sum())),
            contrast=name,
            subset=subset,
        )


def _sum(training: Subject, contrast: Contrast) -> np.ndarray:
    return sum(part * training.right(one) for part, one in contrast if part)


@lru_cache(maxsize=32)
def _sets(training: Subject, reading: tuple) -> pd.DataFrame:
    return training.sets(*reading)


def printed_pairs() -> pd.DataFrame:
    """What the paper prints with rewordings, beside what it prints of the same dummies without.

    A row a pair of its numbers on the same rows, all types of question together, with equal tau2
    and beta. Columns: what both share, such as `subset` and `dummies`; of each, `tau1` and `value`,
    with and without; `rewordings`; and `alike`, whether nothing else differs: tau1 is the same, or
    there is no dummy, so that tau1 changes no greedy answer.
    """
    files = [pd.read_csv(path, keep_default_na=False) for path in sorted(PAPER.glob("table??.csv"))]
    printed = pd.concat(files).query("metric == 'accuracy' and question_type == 'Overall'")
    cells = []
    for cell in printed.fillna("").to_dict("records"):
        if (asked := _printed_method(cell)) is not None:
            same = {key: cell[key] for key in _SAME} | {"tau2": asked.tau2, "beta": asked.beta}
            same["dummies"], rewordings = (" ".join(side) for side in (asked.visual, asked.textual))
            own = {"rewordings": rewordings, "tau1": asked.tau1, "value": cell["value"]}
            cells.append(same | own)
    table = pd.DataFrame(cells)
    with_some, with_none = (part for _, part in table.groupby(table["rewordings"] == ""))
    pairs = with_some.merge(
        with_none.drop(columns="rewordings"), on=[*same], suffixes=(" with", " without")
    )
    alike = (pairs["tau1 with"] == pairs["tau1 without"]) | (pairs["dummies"] == "")
    return pairs.assign(alike=alike).drop_duplicates(ignore_index=True)


def _printed_method(cell: Mapping[str, Any]) -> Method | None:
    """The method of a printed number, if it is SCI's or the base's."""
    first, *rounds = str(cell["rounds"] or "original").split()
    if first != "original" or cell["method"] not in ("SCI", "base", *SCI):
        return None
    if rounds or cell["method"] == "base":
        return components.combination(rounds)
    taus = {key: float(cell[key]) for key in ("tau1", "tau2") if cell[key] != ""}
    preset = METHODS[cell["method"]]
    return replace(preset, beta=0.0 if cell["constraint"] == "no" else preset.beta, **taus)
