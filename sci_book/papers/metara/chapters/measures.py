"""What MetaRA's claims are about, and what they are tested on: originals and their cases.

A failure rate is the conditional one (`answers.FR`) unless its name says otherwise; tasks are
"knowledge" and "text".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.papers.metara.chapters.answers import (
    FR,
    TASKS,
    Terms,
    by_original,
    enough,
    less,
    mean,
    methods,
    over_originals,
    rows_of,
    same_in_a_mirror,
    subjects,
    violations,
    weighted,
)
from sci_book.papers.metara.failures import ORIGINAL
from sci_book.papers.metara.ranking import Agreement, Rates, agreement, kendall
from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Evidence, Part
from sci_book.results.statistics import Interval

Names = Sequence[str]
KNOWLEDGE, TEXT = TASKS.values()


def evidence(models: Sequence[Named], results: str | Path | None) -> list[Evidence | None]:
    """The answers of each model, from `metara/<name>.parquet` beside its own records, or None."""
    found = [subjects([model.name], model.path.parent).subjects for model in models]
    return [Evidence(mine[0], [], results) if mine else None for mine in found]


def hidden(of: Subject, tasks: Names) -> list[Part]:
    """Share of the originals answered right that fail in some case."""
    return [Part(task, failing(by_original(of, FR, task)), mean) for task in tasks]


def failing(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each original's failure rate, 1 where some case fails, else 0."""
    return rows.assign(value=(rows["value"] > 0).astype(float))


def between(of: Subject, tasks: Names, first: Names, second: Names) -> list[Part]:
    """FR under each of the first relations less that under each of the second, on each task."""
    return [
        _part(f"{task}: {one} less {other}", less(*on_common_originals(of, task, one, other)))
        for task, one, other in product(tasks, first, second)
    ]


def on_common_originals(of: Subject, task: str, *names: str) -> list[pd.DataFrame]:
    """FR under each relation, of the originals that have all: not every one has every case."""
    rates = [by_original(of, FR, task, relation=name) for name in names]
    both = set.intersection(*(set(rows["original"]) for rows in rates))
    return [rows[rows["original"].isin(both)] for rows in rates]


def task_gap(of: Subject, over: Names) -> list[Part]:
    """FR on text less that on knowledge, under each relation; of "all" together."""
    parts = []
    for name in over:
        relation, what = (RELATIONS, "all relations") if name == "all" else (name, name)
        rates = (by_original(of, FR, task, relation=relation) for task in (TEXT, KNOWLEDGE))
        parts.append(_part(f"{TEXT} less {KNOWLEDGE}, {what}", less(*rates)))
    return parts


def task_spread(of: Subject) -> list[Part]:
    """Variance of originals' FR on text less that on knowledge.

    The paper's variance is over data sets, of which there is one a task here.
    """

    def gap(*tasks: np.ndarray) -> np.ndarray:
        text, knowledge = (squares / size - (values / size) ** 2 for squares, values, size in tasks)
        return np.asarray(text - knowledge)

    frames = [by_original(of, FR, task) for task in (TEXT, KNOWLEDGE)]
    spread = partial(over_originals, statistic=gap, powers=(2, 1, 0))
    return [Part("variance, text less knowledge", frames, spread)]


def particular_gap(of: Subject, first: Names, second: Names) -> list[Part]:
    """By how much more a first relation is worse than a second on text than on knowledge."""
    parts = []
    for one, other in product(first, second):
        text, knowledge = (on_common_originals(of, task, one, other) for task in (TEXT, KNOWLEDGE))
        terms = list(zip((1.0, -1.0, -1.0, 1.0), (*text, *knowledge), strict=True))
        parts.append(_part(f"gap of the tasks, {one} less {other}", terms))
    return parts


def operations(of: Subject, task: str, first: Names, second: str) -> list[Part]:
    """FR of each of the first operations less that of the second, on a task."""
    than = by_original(of, FR, task, operation=second)
    return [
        _part(
            f"{task}: {name} less {second}", less(by_original(of, FR, task, operation=name), than)
        )
        for name in first
    ]


def mirrored(of: Subject) -> list[Part]:
    """FR under the mirror of signs that it changes, less that of others."""
    rows = by_original(of, FR, TEXT, operation="mirror")
    same = rows["original"].isin(same_in_a_mirror())
    what = "signs that the mirror changes less others"
    return [_part(what, less(rows[~same], rows[same]))]


def halves(task: str) -> pd.DataFrame:
    """Each original's difficulty `score`, its `family`, and whether it is `harder` than most of it.

    In the pocket sets a question's family, which its first two words tell, enters d(x) too; so a
    family's originals are compared with each other alone.
    """
    rows = rows_of(task)
    own = rows[rows["relation"] == ORIGINAL].set_index("original")
    family = own["question"].str.split().str[:2].str.join(" ")
    frame = pd.DataFrame({"score": own["difficulty"], "family": family})
    middle = frame.groupby("family")["score"].transform("median")
    return frame.assign(harder=frame["score"] > middle)


def harder(of: Subject, tasks: Names) -> list[Part]:
    """Absolute FR of the harder half of a family less that of the easier; families weigh alike.

    The absolute rate: the paper speaks of answering correctly, and a condition on the original
    would leave out the hardest.
    """
    parts = []
    for task in tasks:
        rows = by_original(of, "absolute", task)
        about = halves(task).loc[rows["original"]].reset_index()
        about.index = rows.index
        kinds = sorted(set(about["family"]))
        terms = [
            (sign / len(kinds), rows[(about["family"] == kind) & (about["harder"] == half)])
            for kind, (half, sign) in product(kinds, ((True, 1.0), (False, -1.0)))
        ]
        parts.append(_part(f"{task}: harder less easier", terms))
    return parts


def rates(of: Subject, task: str) -> Rates:
    """What the methods are ranked by: MetaRA's failures and MetaVQA's violations.

    Two models give no ranking worth the name. The seven ways of decoding one model stand for the
    paper's models: they answer the same questions and differ in their answers.
    """
    ours = {name: by_original(of, FR, task, name) for name in methods(of)}
    return ours, {name: violations(of, task, name) for name in methods(of)}


def rankings(of: Subject, task: str) -> Agreement | None:
    """The ranks of the methods by MetaRA and by MetaVQA; None where one has no row."""
    found = rates(of, task)
    return agreement(*found) if _whole(found) else None


def tau(of: Subject, tasks: Names) -> list[Part]:
    """Agreement of the methods' rankings by MetaRA and by MetaVQA: Kendall's tau."""
    return [Part(f"tau, {task}", rates(of, task), _tau) for task in tasks]


def _tau(trainings: Sequence[Rates]) -> Interval:
    whole = [found for found in trainings if _whole(found)]
    return enough(kendall(whole), chain.from_iterable(ours.values() for ours, _ in whole))


def _whole(found: Rates) -> bool:
    return all(len(rows) for frames in found for rows in frames.values())


def change(of: Subject, method: str, rates: Names, tasks: Names) -> list[Part]:
    """Each rate under a method less that of the base, on each task.

    The conditional rate is of other originals under another method, those that it answers right,
    and so its difference is of two means. That of the other rates is of the same originals.
    """
    return [
        _part(
            f"{task}, {rate}, {method}",
            less(by_original(of, rate, task, method), by_original(of, rate, task)),
        )
        for task, rate in product(tasks, rates)
    ]


def _part(what: str, terms: Terms) -> Part:
    return Part(what, terms, weighted)


def _of_subject(measure: Callable[..., list[Part]]) -> Callable[..., list[Part]]:
    return lambda of, **arguments: measure(of.subject, **arguments)


MEASURES: dict[str, Callable[..., Sequence[Part]]] = {
    measure.__name__: _of_subject(measure)
    for measure in (
        hidden, between, task_gap, task_spread, particular_gap, operations, mirrored, harder,
        tau, change,
    )
}  # fmt: skip
TESTED = MEASURES, evidence
