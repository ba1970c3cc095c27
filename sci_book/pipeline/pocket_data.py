"""The papers' pocket data, drawn where they are missing."""

from collections.abc import Callable

from sci_book.data.datasets import file_of, read_manifest
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import OWN, PaperSet
from sci_book.papers.shared.stamp import ROOT


def draw_companions(say: Callable[[str], None] = print) -> None:
    """Draw all pocket sets of the companions that are missing, and check them."""
    for paper in PAPERS.values():
        if paper.draw and paper.name != OWN:
            paper.draw(say)


def draw_pocket(name: str) -> None:
    """Draw what is missing of a pocket data set, or collection; nothing for any other."""
    manifest = read_manifest(name)
    parts = [read_manifest(part) for part in getattr(manifest, "parts", [])] or [manifest]
    missing = {ROOT / part.folder for part in parts if not file_of(part, part.name).is_file()}
    for paper in PAPERS.values():
        if paper.draw and paper.folder in missing:
            paper.draw(print)


def paper_set(paper: str, data: str, limit: int | None) -> PaperSet:
    """What a model is asked for a paper; pocket data that are missing are drawn.

    Args:
        data: the data set of Self-Critical Inference; the companions have their own.
        limit: rows of each set, whole question groups; all if None.

    Raises:
        DatasetError: as `load_dataset`.
    """
    name = data if paper == OWN else PAPERS[paper].data
    if name:
        draw_pocket(name)
    return PAPERS[paper].asked(name, limit)
