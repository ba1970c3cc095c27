"""The papers this book reproduces, in its order; each is described in its own folder.

A further paper is a folder with a `paper.py`; `claims_<name>.yaml` and `index_<name>.yaml` in
`data_manifests/paper`; checks of its printed numbers in `data_manifests/audits`, whose README says
how; its line here; its title among the parameters of `notebooks/verdicts.py`; and its chapters in
`_toc.yml`.
"""

from sci_book.papers.cvqa import paper as cvqa
from sci_book.papers.edge import paper as edge
from sci_book.papers.metara import paper as metara
from sci_book.papers.oric import paper as oric
from sci_book.papers.sci import paper as sci
from sci_book.papers.shared import parameters
from sci_book.papers.shared.paper import Paper
from sci_book.papers.shared.parameters import Names

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (sci.PAPER, cvqa.PAPER, edge.PAPER, oric.PAPER, metara.PAPER)
}


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
