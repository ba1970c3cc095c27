"""The quantities that claims are about, by the names the ledger uses.

Each takes the evidence of a model and the claim's arguments, and returns the claim's parts; none
where there is nothing to test it on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from sci_book.papers.sci.chapters import components, temperature_grid, time_measures
from sci_book.papers.sci.chapters.shapes import Subjects, built_with, differs
from sci_book.papers.shared import sweeps
from sci_book.papers.shared.evidence import Evidence, MethodName, Part, title
from sci_book.results.statistics import Sample

Subsets = Sequence[str]
Methods = Sequence[MethodName]
OVERALL = ("Overall",)
GAP = (-1.0, 1.0)  # the least and greatest difference of two outcomes
DUMMIES, REWRITES = ("black", "noise500", "noise400"), ("V1", "V2", "V3")


def evidence(subjects: Subjects, results: str | Path | None) -> list[Evidence]:
    """The evidence on each model, beside the others."""
    return [
        Evidence(subject, [other for other in subjects if other is not subject], results)
        for subject in subjects
    ]


def difference(
    of: Evidence,
    methods: Methods,
    against: Methods,
    subsets: Subsets = (),
    kinds: Sequence[str] = OVERALL,
    part: str = "test",
) -> list[Sample]:
    """Share right with one method less that with another, on the same rows.

    A method that names its own `subset` is compared there.
    """
    of, samples = of.on(part), []
    for method in methods:
        own = method.get("subset") if isinstance(method, dict) else None
        for subset, kind, other in product([own] if own else subsets, kinds, against):
            rows = of.rows(subset, kind=kind, part=part)
            samples.append(_gap(of, method, other, _with_kind(subset, kind), rows))
    return samples


def _gap(
    of: Evidence, method: MethodName, other: MethodName, where: str, rows: np.ndarray
) -> Sample:
    values, what = of.right(method) - of.right(other), f"{title(method)} − {title(other)}, {where}"
    return of.mean(what, values, rows, [method, other], span=GAP)


def between_subsets(
    of: Evidence, methods: Methods, against: Methods, subsets: Subsets, part: str = "test"
) -> list[Sample]:
    """As `difference`, on the first subset less that on each of the others."""
    first, *others = (difference(of, methods, against, [subset], part=part) for subset in subsets)
    return [
        _less(one, two, second)
        for second, samples in zip(subsets[1:], others, strict=True)
        for one, two in zip(first, samples, strict=True)
    ]


def _less(one: Sample, other: Sample, name: str) -> Sample:
    minus = other.values, other.clusters
    return Sample(f"{one.what} less {name}", one.values, one.clusters, minus)


def steps(of: Evidence, methods: Methods, subsets: Subsets) -> list[Sample]:
    """Each method of a row of methods against the one before it."""
    return [
        sample
        for before, method in pairwise(methods)
        for sample in difference(of, [method], [before], subsets)
    ]


def by_dataset(of: Evidence, methods: Methods, against: Methods) -> list[Sample]:
    """As `difference`, on all test rows of each data set."""
    names = of.subject.records.frame["dataset"].to_numpy(dtype=object)
    return [
        _gap(of, method, other, dataset, of.rows("all") & (names == dataset))
        for dataset, method, other in product(dict.fromkeys(names), methods, against)
    ]


def accuracy(
    of: Evidence, methods: Methods, subsets: Subsets, kinds: Sequence[str] = OVERALL
) -> list[Sample]:
    """Share right with a method."""
    return [
        of.mean(
            _with_kind(f"{title(method)}, {subset}", kind),
            of.right(method),
            of.rows(subset, kind=kind),
            [method],
        )
        for method, subset, kind in product(methods, subsets, kinds)
    ]


def agreement(
    of: Evidence, methods: Methods, against: Methods, subsets: Subsets, part: str = "test"
) -> list[Sample]:
    """Share of rows with the same answer; two unknown answers count as the same."""
    of = of.on(part)
    return [
        of.mean(
            f"{title(method)} as {title(other)}",
            _agree(of, method, other),
            of.rows(subset, part=part),
            [method, other],
        )
        for method, other, subset in product(methods, against, subsets)
    ]


def _agree(of: Evidence, method: MethodName, other: MethodName) -> np.ndarray:
    """1 or 0 by row, NaN where the records, whose logits are rounded, leave an answer open."""
    same = (of.answers(method) == of.answers(other)).astype(float)
    return np.where(of.resolved([method, other]), same, np.nan)


def agreement_gain(
    of: Evidence, methods: Methods, over: MethodName, against: Methods, subsets: Subsets
) -> list[Sample]:
    """How much more often a method's answer is another's than `over`'s is."""
    return [
        of.mean(
            f"{title(method)} as {other}",
            _agree(of, method, other) - _agree(of, over, other),
            of.rows(subset),
            [method, over],
            span=GAP,
        )
        for method, other, subset in product(methods, against, subsets)
    ]


def changed(
    of: Evidence,
    methods: Sequence[str],
    subsets: Subsets,
    against: Sequence[str] = (),
    kinds: Sequence[str] = OVERALL,
) -> list[Sample]:
    """Share of rows whose answer is not the base's; less the share by another rewrite, if named.

    An unknown answer is like no other.
    """
    base = of.answers("original")
    moved = {n: differs(base, of.answers(n)).astype(float) for n in (*methods, *against)}
    samples = []
    for method, subset, kind, other in product(methods, subsets, kinds, against or [""]):
        values = moved[method] - moved[other] if other else moved[method]
        what = f"{method} − {other}, {subset}" if other else f"{method}, {subset}"
        rows, span = of.rows(subset, kind=kind), GAP if other else (0.0, 1.0)
        samples.append(of.mean(_with_kind(what, kind), values, rows, span=span))
    return samples


def size(of: Evidence, subsets: Subsets, against: Subsets = ()) -> list[Sample]:
    """Share of all rows in a subset; less the share in another, where one is named."""
    samples = []
    for subset, other in product(subsets, against or [""]):
        less = of.rows(other).astype(float) if other else 0.0
        what = f"{subset} − {other}" if other else subset
        span = GAP if other else (0.0, 1.0)
        samples.append(of.mean(what, of.rows(subset) - less, of.rows("all"), span=span))
    return samples


def size_against(of: Evidence, subsets: Subsets) -> list[Sample]:
    """Share of all rows in this model's subset less the share in the other's."""
    return [
        of.mean(
            f"{subset}: {of.subject.shown} − {other.shown}",
            of.rows(subset).astype(float) - of.rows(subset, built_by=other).astype(float),
            of.rows("all") & of.rows("all", built_by=other),
            span=GAP,
        )
        for other, subset in product(of.others, subsets)
    ]


def shared(of: Evidence) -> list[Sample]:
    """Share of this model's BS that is in another's."""
    return [
        of.mean(
            f"share also in {other.shown}’s BS",
            of.rows("BS", built_by=other).astype(float),
            of.rows("BS") & of.rows("all", built_by=other),
        )
        for other in of.others
    ]


def growth(of: Evidence, counts: Sequence[int]) -> list[Sample]:
    """Share of BS built with so many counterfactuals of each kind, less that with fewer."""
    built = {n: built_with(of.subject.records, DUMMIES[:n], REWRITES[:n]) for n in counts}
    sizes = {count: sets["BS"].to_numpy(dtype=float) for count, sets in built.items()}
    return [
        of.mean(
            f"M = N = {more} less {fewer}", sizes[more] - sizes[fewer], of.rows("all"), span=GAP
        )
        for fewer, more in pairwise(counts)
    ]


def model_difference(of: Evidence, methods: Methods, subsets: Subsets) -> list[Sample]:
    """Share right with this model less that with another, on the same rows."""
    return [
        of.mean(
            f"{title(method)}, {subset}: {of.subject.shown} − {other.shown}",
            of.right(method) - of.right(method, other),
            of.rows(subset),
            span=GAP,
        )
        for other, method, subset in product(of.others, methods, subsets)
    ]


def other_on_own(of: Evidence, methods: Methods) -> list[Sample]:
    """On this model's BS, share right with another model less that with this one."""
    return [
        of.mean(
            f"{title(method)} of {other.shown} − of {of.subject.shown}",
            of.right(method, other) - of.right(method),
            of.rows("BS"),
            span=GAP,
        )
        for other, method in product(of.others, methods)
    ]


def on_others(of: Evidence, methods: Methods, against: Methods) -> list[Sample]:
    """On another model's BS, share right with one method less that with another."""
    return [
        _gap(of, method, rival, f"BS of {other.shown}", of.rows("BS", built_by=other))
        for other, method, rival in product(of.others, methods, against)
    ]


def own_against_others(of: Evidence, methods: Methods, against: Methods) -> list[Sample]:
    """A method's gain on another model's BS, and its gain on this model's own less that."""
    own = difference(of, methods, against, ["BS"])
    elsewhere = on_others(of, methods, against)  # model after model, each in the order of `own`
    pairs = zip(own * len(of.others), elsewhere, strict=True)
    return [*elsewhere, *(_less(mine, its, its.what.rpartition(", ")[2]) for mine, its in pairs)]


def adds(of: Evidence, subsets: Subsets) -> list[Sample]:
    """What each counterfactual round of the paper adds on average: its Shapley value."""
    values = components.contributions(components.outcomes(of.subject, components.PAPERS))
    return [
        of.mean(f"{name}, {subset}", values[name], of.rows(subset), span=GAP)
        for subset, name in product(
            subsets, components.counterfactuals(of.subject, components.PAPERS)
        )
    ]


def tuned(of: Evidence) -> list[Part]:
    """On test BS, the temperatures best on validation BS less the preset's; open rows bounded."""
    rows = of.rows("BS")
    if not rows.any():
        return []
    validation = sweeps.part(of.subject, "any", "rows", "validation", "BS")
    pair = temperature_grid.chosen_and_preset(of.subject, temperature_grid.sweep(validation))
    return [Part("chosen − preset, BS", (*pair.values(), rows, of.subject.groups), sweeps.bounded)]


def _with_kind(what: str, kind: str) -> str:
    return what if kind == "Overall" else f"{what}, {kind}"


MEASURES: dict[str, Callable[..., Sequence[Part]]] = {
    measure.__name__: measure
    for measure in (
        difference, between_subsets, steps, by_dataset, accuracy, agreement, agreement_gain,
        changed, size, size_against, shared, growth, model_difference, other_on_own, on_others,
        own_against_others, adds, tuned,
        *time_measures.MEASURES,
    )
}  # fmt: skip
TESTED = MEASURES, evidence
