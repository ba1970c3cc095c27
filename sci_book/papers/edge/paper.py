"""The Edge Reliability Gap in this book: its claims, its rows and what a model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sci_book.data.datasets import Dataset
from sci_book.data.rows import Row, short_hash
from sci_book.papers.edge import conditions, run
from sci_book.papers.shared.paper import USUAL, Paper, PaperSet, Reading
from sci_book.pocket import edge as pocket_edge
from sci_book.results.records import Records
from sci_book.run.runner import Plan, make_plan
from sci_core.families.models import VisionLanguageModel

EXPERIMENTS = 4
"""Pictures as they are, blurred and corrupted, and probes of answers: they share a limit."""


def rows(limit: int | None = None) -> list[Row]:
    """The pocket world's questions and captions; about `limit` of them, spread over all."""
    drawn = _rows()
    return list(drawn if limit is None else drawn[:: max(1, -(-len(drawn) // limit))])


@cache  # a process checks several files of records, and drawing takes seconds
def _rows() -> tuple[Row, ...]:
    items = [pocket_edge.question(number) for number in range(conditions.QUESTION_ROWS)]
    items += [pocket_edge.caption(number) for number in range(conditions.CAPTION_ROWS)]
    return tuple(
        Row(
            "pocket", number, number, str(number), item.kind, item.question, item.answer,
            short_hash(item.picture), category=item.family, image_bytes=item.picture,
        )
        for number, item in enumerate(items)
    )  # fmt: skip


class _Experiments(PaperSet):
    """Questions and captions as they are, asked first; then changed pictures and probes.

    Probes are made of right answers alone: their number is known when those are.
    """

    @property
    def runs(self) -> int:
        return len(run.PARTS)

    def plan(self, model: VisionLanguageModel, reading: Reading = USUAL) -> Plan:
        settings = {"max_new_tokens": run.LONGEST, **reading.of_plan()}
        return make_plan(model, self.dataset, run.METHODS, **settings)

    def read(self, model: VisionLanguageModel, out: Path, reading: Reading = USUAL) -> Records:
        share = _share(self.limit)
        settings = {**reading.of_plan(), "workers": reading.workers}
        return run.run(model, rows(share), out, limit=share, **settings)


def _asked(data: str | None, limit: int | None) -> PaperSet:
    clean = conditions.clean_rows(rows(_share(limit)))
    most = conditions.most_rows(clean, _share(limit))
    return _Experiments("edge", conditions.as_dataset(clean, "edge"), most, limit)


def _share(limit: int | None) -> int | None:
    return None if limit is None else max(1, limit // EXPERIMENTS)


def _parts_of(frozen: Records) -> Iterator[tuple[Records, Dataset]]:
    for part, dataset in run.datasets(rows(), frozen):
        yield run.part_of(frozen, part, dataset), dataset


PAPER = Paper(
    name="edge",
    title="The Edge Reliability Gap",
    tables=frozenset(range(1, 16)),
    figures=frozenset(range(1, 6)),
    tested="sci_book.papers.edge.chapters.measures.TESTED",
    asked=_asked,
    parts_of=_parts_of,
    precisions=("int8", "nf4"),
    checks="sci_book.papers.edge.audit.OWN",
)
