"""What MetaRA's claims are about, and what they are tested on: originals and their cases.

A failure rate is the conditional one (`answers.FR`) unless its name says otherwise; tasks are
"knowledge" and "text".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sci_book.papers.metara.chapters import difficulty, effects, models, ranking, relations, tasks
from sci_book.papers.metara.chapters.answers import Answers, read
from sci_book.papers.shared.chapters import Named
from sci_book.papers.shared.evidence import Part

Names = Sequence[str]


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[Answers | None]:
    """The answers of each model, from `metara/<name>.parquet` beside its own records, or None."""
    found = [read([subject.name], subject.path.parent)[1] for subject in subjects]
    return [mine[0] if mine else None for mine in found]


def hidden(of: Answers, tasks: Names) -> list[Part]:
    """Share of the originals answered right that fail in some case."""
    return [models.hidden(of, task) for task in tasks]


def between(of: Answers, tasks: Names, first: Names, second: Names) -> list[Part]:
    """FR under each of the first relations less that under each of the second, on each task."""
    return [
        relations.between(of, task, one, other)
        for task in tasks
        for one in first
        for other in second
    ]


def task_gap(of: Answers, over: Names) -> list[Part]:
    """FR on text less that on knowledge, under each relation; of "all" together."""
    return [
        tasks.gap(of) if relation == "all" else tasks.gap(of, over=(relation,)) for relation in over
    ]


def task_spread(of: Answers) -> list[Part]:
    """Variance of originals' FR on text less that on knowledge."""
    return [Part("variance, text less knowledge", partial(tasks.spread, of))]


def particular_gap(of: Answers, first: Names, second: Names) -> list[Part]:
    """The gap between the tasks under each of the first relations less that under each second."""
    return [relations.particularly(of, one, other) for one in first for other in second]


def operations(of: Answers, task: str, first: Names, second: str) -> list[Part]:
    """FR of each of the first operations less that of the second, on a task."""
    return [relations.operations(of, name, second, task) for name in first]


def mirrored(of: Answers) -> list[Part]:
    """FR under the mirror of signs that it changes, less that of others."""
    return [relations.mirrored(of)]


def harder(of: Answers, tasks: Names) -> list[Part]:
    """Absolute FR of the harder half of a family of questions less that of the easier."""
    return [difficulty.harder(of, task) for task in tasks]


def tau(of: Answers, tasks: Names) -> list[Part]:
    """Agreement of the methods' rankings by MetaRA and by MetaVQA: Kendall's tau."""
    return [Part(f"tau, {task}", partial(ranking.tau, of, task)) for task in tasks]


def change(of: Answers, method: str, rates: Names, tasks: Names) -> list[Part]:
    """Each rate under a method less that of the base, on each task."""
    return [effects.change(of, method, rate, task) for task in tasks for rate in rates]


MEASURES: dict[str, Callable[..., Sequence[Part]]] = {
    measure.__name__: measure
    for measure in (
        hidden, between, task_gap, task_spread, particular_gap, operations, mirrored, harder,
        tau, change,
    )
}  # fmt: skip
