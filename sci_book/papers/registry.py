"""The papers this book reproduces, in its order; each is described in its own folder.

A further paper is its line here, and the steps of CONTRIBUTING (*A further paper*).
"""

from pathlib import Path

from sci_book.audit import engine
from sci_book.audit.findings import Audit
from sci_book.papers.cvqa import paper as cvqa
from sci_book.papers.edge import paper as edge
from sci_book.papers.metara import paper as metara
from sci_book.papers.oric import paper as oric
from sci_book.papers.sci import paper as sci
from sci_book.papers.shared import parameters
from sci_book.papers.shared.paper import OWN, Paper, imported
from sci_book.papers.shared.parameters import Names
from sci_book.resources import MANIFESTS

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (sci.PAPER, cvqa.PAPER, edge.PAPER, oric.PAPER, metara.PAPER)
}
COMPANIONS = tuple(name for name in PAPERS if name != OWN)


def papers_titled(titles: Names) -> list[str]:
    """The papers that a page names by their titles, in the book's order, by their short names.

    Raises:
        ValueError: no paper is named, or one that is none.
    """
    given = parameters.names(titles, "papers")
    known = {paper.title: name for name, paper in PAPERS.items()}
    unknown = [title for title in given if title not in known]
    if unknown or not given:
        raise ValueError(
            f"papers is {given}; expected one or more of {', '.join(map(repr, known))}."
        )
    return [name for title, name in known.items() if title in given]


def audited(paper: str, *, folder: Path = MANIFESTS) -> Audit:
    """The audit of a paper's printed numbers: see `engine.audit`."""
    checks = PAPERS[paper].checks
    return engine.audit(paper, imported(checks) if checks else {}, folder=folder)
