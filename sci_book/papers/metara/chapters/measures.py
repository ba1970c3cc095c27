"""What MetaRA's claims are about, and what they are tested on: originals and their cases.

A failure rate is the conditional one (`answers.FR`) unless its name says otherwise; tasks are
"knowledge" and "text".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sci_book.papers.metara.chapters import difficulty, models, ranking, relations, tasks
from sci_book.papers.metara.chapters.answers import Answers, Contrast, answers, subjects
from sci_book.papers.shared.chapters import Named
from sci_book.results.statistics import Interval

Names = Sequence[str]


class Ranked:
    """Kendall's tau of the methods' two rankings, as a part of a claim."""

    def __init__(self, of: Answers, task: str):
        self.what, self._of, self._task = f"tau, {task}", of, task

    def interval(self, level: float) -> Interval:
        """Tau over draws of originals, for all methods at once."""
        return ranking.tau(self._of, self._task, level)


class Wider:
    """The variance of originals' FR on text less that on knowledge, as a part of a claim."""

    what = "variance, text less knowledge"

    def __init__(self, of: Answers):
        self._of = of

    def interval(self, level: float) -> Interval:
        """Over draws of originals."""
        return tasks.spread(self._of, level)


def evidence(subjects_: Sequence[Named], results: str | Path | None) -> list[Answers | None]:
    """The answers of each model, from `metara/<name>.parquet` beside its own records, or None."""
    found: list[Answers | None] = []
    for each in subjects_:
        mine = answers(subjects([each.name], each.path.parent).subjects)
        found.append(mine[0] if mine else None)
    return found


def hidden(of: Answers, tasks: Names) -> list[Contrast]:
    """Share of the originals answered right that fail in some case."""
    return [models.hidden(of, task) for task in tasks]


def between(of: Answers, tasks: Names, first: Names, second: Names) -> list[Contrast]:
    """FR under each of the first relations less that under each of the second, on each task."""
    return [
        relations.between(of, task, one, other)
        for task in tasks
        for one in first
        for other in second
    ]


def task_gap(of: Answers, over: Names) -> list[Contrast]:
    """FR on text less that on knowledge, under each relation; of "all" together."""
    return [
        tasks.gap(of) if relation == "all" else tasks.gap(of, over=(relation,)) for relation in over
    ]


def task_spread(of: Answers) -> list[Wider]:
    """Variance of originals' FR on text less that on knowledge."""
    return [Wider(of)]


def particular_gap(of: Answers, first: Names, second: Names) -> list[Contrast]:
    """The gap between the tasks under each of the first relations less that under each second."""
    return [relations.particularly(of, one, other) for one in first for other in second]


def operations(of: Answers, task: str, first: Names, second: str) -> list[Contrast]:
    """FR of each of the first operations less that of the second, on a task."""
    return [relations.operations(of, each, second, task) for each in first]


def mirrored(of: Answers) -> list[Contrast]:
    """FR under the mirror of signs that it changes, less that of others."""
    return [relations.mirrored(of)]


def harder(of: Answers, tasks: Names) -> list[Contrast]:
    """Absolute FR of the harder half of a family of questions less that of the easier."""
    return [difficulty.harder(of, task) for task in tasks]


def tau(of: Answers, tasks: Names) -> list[Ranked]:
    """Agreement of the methods' rankings by MetaRA and by MetaVQA."""
    return [Ranked(of, task) for task in tasks]


MEASURES: dict[str, Callable[..., Sequence[Contrast | Ranked | Wider]]] = {
    each.__name__: each
    for each in (
        hidden, between, task_gap, task_spread, particular_gap, operations, mirrored, harder,
        tau,
    )
}  # fmt: skip
