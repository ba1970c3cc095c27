"""The papers this book reproduces, in its order; each is described in its own folder.

A further paper is a folder with a `paper.py`; `claims_<name>.yaml` and `index_<name>.yaml` in
`data_manifests/paper`; its line here; its title among the parameters of `notebooks/verdicts.py`;
and its chapters in `_toc.yml`.
"""

from sci_book.papers.cvqa import paper as cvqa
from sci_book.papers.edge import paper as edge
from sci_book.papers.metara import paper as metara
from sci_book.papers.oric import paper as oric
from sci_book.papers.sci import paper as sci
from sci_book.papers.shared.paper import Paper

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (sci.PAPER, cvqa.PAPER, edge.PAPER, oric.PAPER, metara.PAPER)
}
