"""What a claim is tested on: outcomes of methods on subsets of rows, of one model or of several.

A `Sample` is what an interval is taken of. Most claims are about a mean over rows: of a paired
difference of two methods, of an outcome, of membership in a subset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book.papers.shared.chapters import Subject, labelled
from sci_book.papers.shared.sweeps import Outcome, outcome
from sci_book.papers.shared.timing import load_results
from sci_book.results.metrics import of_kind
from sci_book.results.statistics import Interval, Sample
from sci_book.run.method_sets import ALL_METHODS
from sci_core.methods import BASE, METHODS, Method, sci

MethodName = str | Mapping[str, Any]
"""A preset, a variant or a round by name, or the arguments of `sci` and fields to replace."""
_VARIANTS = {method.name: method for method in ALL_METHODS}


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a claim, of one training or over several. `Sample` is one whose rows are at hand.

    what       names it
    data       of one training: what its number is made of
    over       of a list of these, one a training: the number over all, with its interval
    quartiles  whether the interval's ends are quartiles of what was measured
    """

    what: str
    data: Any
    over: Callable[[Sequence[Any]], Interval]
    quartiles: bool = False

    @cached_property
    def interval(self) -> Interval:
        """The estimate with its own interval, whatever other parts the claim has."""
        return self.over([self.data])


def of_interval(what: str, interval: Interval, *, quartiles: bool = False) -> Part:
    """A part whose number is made already: of no training, or of several."""
    return Part(what, interval, itemgetter(0), quartiles)


class Evidence:
    """One model's outcomes, beside other models that answered the same rows."""

    def __init__(self, subject: Subject, others: Sequence[Subject], results: str | Path | None):
        self.subject, self.others, self._results = subject, list(others), results
        self._outcomes: dict[Method, Outcome] = {}

    @cached_property
    def measured(self) -> dict | None:
        """The committed timing on a processor, if claims about time are tested."""
        return load_results(self._results).get("CPU") if self._results else None

    @property
    def runs(self) -> int:
        """How often each time was measured."""
        return int(self.measured["settings"]["rounds"]) if self.measured else 0

    @cached_property
    def timing(self) -> pd.DataFrame:
        """Rows of the committed CPU timing for a model of this one's size; perhaps none.

        One question of 320 image tokens and five new tokens: the paper's protocol.
        """
        if self.measured is None:
            return pd.DataFrame()
        size = self.subject.name.removeprefix("pocket-")
        return self.measured["frame"].query(
            f"model == {size!r} and image_tokens == 320 and batch == 1 and new_tokens == 5 "
            "and cache in ['none', 'warm']"
        )

    def right(self, method: MethodName, subject: Subject | None = None) -> np.ndarray:
        """1 or 0 for a right or wrong answer of every row, NaN for a row with an error."""
        return (subject or self.subject).right(method_of(method))

    def answers(self, method: MethodName) -> np.ndarray:
        """The parsed answer of every row, None where unknown."""
        return self.subject.answers(method_of(method))["answer"].to_numpy(dtype=object)

    def settles(self, methods: Sequence[MethodName], rows: np.ndarray) -> bool:
        """Whether the records settle enough of these rows for every method (`sweeps.UNSETTLED`)."""
        return all(self._outcome(name).enough(rows) for name in methods)

    def resolved(self, methods: Sequence[MethodName]) -> np.ndarray:
        """Rows whose answer by each of these methods follows from the records."""
        return np.logical_and.reduce([self._outcome(name).resolved for name in methods])

    def _outcome(self, method: MethodName) -> Outcome:
        rule = method_of(method)
        if not isinstance(rule, Method):
            rule = BASE  # a round alone is decoded, as the base is
        if rule not in self._outcomes:
            self._outcomes[rule] = outcome(self.subject, rule)
        return self._outcomes[rule]

    def rows(
        self,
        subset: str,
        *,
        kind: str = "Overall",
        part: str = "test",
        built_by: Subject | None = None,
    ) -> np.ndarray:
        """A mask of the rows in a subset of DRBench that a model built, and of a question type."""
        built = built_by or self.subject
        inside = built.sets("any", "rows", part)[subset].to_numpy()
        return inside & of_kind(built.kinds, kind) & self.subject.records.ok

    def on(self, part: str) -> Evidence:
        """The evidence for a part of the paper's split: itself for "test"."""
        return self if part == "test" else self._tuned

    @cached_property
    def _tuned(self) -> Evidence:
        return Evidence(self.subject.tuned, [other.tuned for other in self.others], None)

    def beside(self, others: Sequence[Subject]) -> Evidence:
        """The same model beside these others alone."""
        return Evidence(self.subject, others, self._results)

    def named(self, label: str) -> Subject | None:
        """The model, of all here, that stands beside the paper's model `label`."""
        return labelled([self.subject, *self.others], label)

    def mean(
        self,
        what: str,
        values: np.ndarray,
        rows: np.ndarray,
        of: Sequence[MethodName] = (),
        *,
        span: tuple[float, float] = (0.0, 1.0),
    ) -> Sample:
        """The mean of some rows' values, each within `span`; rows without a value are left out.

        No row is left where the records do not settle the methods that the values are `of`.
        """
        rows = rows & np.isfinite(values) & self.settles(of, rows)
        return Sample(what, values[rows], self.subject.groups[rows], span=span)


def method_of(name: MethodName) -> Method | str:
    """A preset or a variant of `method_sets`, a round by its name, or `sci(M, N)` with fields
    replaced."""
    if isinstance(name, str):
        return METHODS.get(name, _VARIANTS.get(name, name))
    fields = {key: tuple(v) if isinstance(v, list) else v for key, v in name.items()}
    fields.pop("subset", None)
    method = sci(fields.pop("M"), fields.pop("N"))
    return replace(method, **fields)


def title(name: MethodName) -> str:
    """How a method is written in a table."""
    if isinstance(name, str):
        return name
    label = sci(name["M"], name["N"]).name
    fields = {key: v for key, v in name.items() if key not in ("M", "N", "subset")}
    signs = {"tau1": "τ1", "tau2": "τ2", "beta": "β"}
    text = ", ".join(
        f"{signs.get(key, key)} {v:g}" for key, v in fields.items() if not isinstance(v, list)
    )
    return f"{label} ({text})" if text else label
