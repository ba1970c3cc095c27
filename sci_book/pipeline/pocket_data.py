"""The papers' pocket data, drawn where they are missing."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sci_book.data.datasets import file_of, read_manifest
from sci_book.data.manifests import Manifest
from sci_book.data.rows import DatasetError
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import OWN, Paper, PaperSet
from sci_book.resources import HOME


def draw_sets(names: Sequence[str] = ()) -> Iterator[Path]:
    """Draw pocket sets and collections, all if none is named; the folder of each, once drawn.

    Raises:
        DatasetError: a set that is not drawn here.
    """
    wanted = {name: _drawn_by(_parts(name)) for name in names}
    for name, papers in wanted.items():
        if not papers:
            raise DatasetError(f"{name} is not drawn here; `sci data fetch` downloads sets.")
    for paper in PAPERS.values():
        if paper.draw and (not names or any(paper in papers for papers in wanted.values())):
            paper.draw(print)
            yield paper.folder


def draw_companions(say: Callable[[str], None] = print) -> None:
    """Draw all pocket sets of the companions that are missing, and check them."""
    for paper in PAPERS.values():
        if paper.draw and paper.name != OWN:
            paper.draw(say)


def draw_pocket(name: str) -> None:
    """Draw what is missing of a pocket data set, or collection; nothing for any other."""
    missing = [part for part in _parts(name) if not file_of(part, part.name).is_file()]
    for paper in _drawn_by(missing):
        paper.draw(print)


def _parts(name: str) -> list[Manifest]:
    manifest = read_manifest(name)
    return [read_manifest(part) for part in getattr(manifest, "parts", [])] or [manifest]


def _drawn_by(sets: Sequence[Manifest]) -> list[Paper]:
    """The papers that draw any of these sets."""
    folders = {HOME / manifest.folder for manifest in sets}
    return [paper for paper in PAPERS.values() if paper.draw and paper.folder in folders]


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
