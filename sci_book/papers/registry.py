"""The papers this book reproduces: where each one's claims and index lie, and what tests them.

A model's own records stand for the SCI paper; those of a companion lie in a folder of its name
beside them. A model without a companion's records has no evidence for its claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sci_book.papers.cvqa.chapters import measures as cvqa
from sci_book.papers.edge.chapters import measures as edge
from sci_book.papers.metara.chapters import measures as metara
from sci_book.papers.oric.chapters import measures as oric
from sci_book.papers.sci.measures import MEASURES, Part
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.evidence import Evidence


@dataclass(frozen=True)
class Paper:
    """One paper.

    title      as the book's pages name it
    claims     file of its claims, and `index` file of its places, in `chapters.PAPER`
    tables     numbers of its tables of results, and `figures` of its figures: the index is whole
               if it names them all
    measures   by name, what the claims are about: of evidence and a claim's arguments, the parts
    evidence   of the models and the folder of committed results: what there is on each, or None
    units      of the numbers in its ledger
    """

    title: str
    claims: str
    index: str
    tables: frozenset[int]
    figures: frozenset[int]
    measures: Mapping[str, Callable[..., Sequence[Part]]]
    evidence: Callable[[Sequence[Subject], str | Path | None], Sequence[Any]]
    units: str = "shares of 1"


def _evidence(subjects: Sequence[Subject], results: str | Path | None) -> list[Evidence]:
    return [
        Evidence(each, [other for other in subjects if other is not each], results)
        for each in subjects
    ]


PAPERS: dict[str, Paper] = {
    "sci": Paper(
        title="Self-Critical Inference",
        claims="claims.yaml",
        index="index.yaml",
        tables=frozenset(range(1, 11)),
        figures=frozenset(range(1, 6)),
        measures=MEASURES,
        evidence=_evidence,
        units="shares of 1, and multiples of the base’s time",
    ),
    "cvqa": Paper(
        title="C-VQA",
        claims="claims_cvqa.yaml",
        index="index_cvqa.yaml",
        tables=frozenset(range(3, 8)),
        figures=frozenset(range(1, 10)),
        measures=cvqa.MEASURES,
        evidence=cvqa.evidence,
    ),
    "edge": Paper(
        title="The Edge Reliability Gap",
        claims="claims_edge.yaml",
        index="index_edge.yaml",
        tables=frozenset(range(3, 16)),
        figures=frozenset(range(1, 6)),
        measures=edge.MEASURES,
        evidence=edge.evidence,
    ),
    "oric": Paper(
        title="ORIC",
        claims="claims_oric.yaml",
        index="index_oric.yaml",
        tables=frozenset({1, *range(3, 9), 10}),  # 2 and 9 are set-up, as are figures 11 and 12
        figures=frozenset({3, 5, 10}),
        measures=oric.MEASURES,
        evidence=oric.evidence,
        units="shares of 1, and cosines",
    ),
    "metara": Paper(
        title="MetaRA",
        claims="claims_metara.yaml",
        index="index_metara.yaml",
        tables=frozenset(range(2, 7)),
        figures=frozenset(range(2, 10)),
        measures=metara.MEASURES,
        evidence=metara.evidence,
    ),
}
