"""The papers' pocket data, drawn where they are missing."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sci_book.data.datasets import file_of, read_manifest
from sci_book.data.manifests import Manifest
from sci_book.data.rows import DatasetError
from sci_book.papers.registry import PAPERS
from sci_book.papers.sci.paper import BEFORE, draw_before
from sci_book.papers.shared.paper import OWN, PaperSet
from sci_book.resources import HOME

Draw = Callable[[Callable[[str], None]], None]


def draw_sets(names: Sequence[str] = ()) -> Iterator[Path]:
    """Draw pocket sets and collections; the folder of each, once drawn.

    If none is named, all that the book's chapters read: the world before is drawn by its name.

    Raises:
        DatasetError: a set that is not drawn here.
    """
    wanted = {name: _drawn_by(_parts(name)) for name in names}
    for name, folders in wanted.items():
        if not folders:
            raise DatasetError(f"{name} is not drawn here; `sci data fetch` downloads sets.")
    for folder, draw in _drawn().items():
        asked = folder != BEFORE if not names else any(folder in of for of in wanted.values())
        if asked:
            draw(print)
            yield folder


def draw_companions(say: Callable[[str], None] = print) -> None:
    """Draw all pocket sets of the companions that are missing, and check them."""
    for paper in PAPERS.values():
        if paper.draw and paper.name != OWN:
            paper.draw(say)


def draw_pocket(name: str) -> None:
    """Draw what is missing of a pocket data set, or collection; nothing for any other."""
    missing = [part for part in _parts(name) if not file_of(part, part.name).is_file()]
    for draw in _drawn_by(missing).values():
        draw(print)


def _parts(name: str) -> list[Manifest]:
    manifest = read_manifest(name)
    return [read_manifest(part) for part in getattr(manifest, "parts", [])] or [manifest]


def _drawn() -> dict[Path, Draw]:
    """What draws the sets of a folder, by folder."""
    of_papers = {paper.folder: paper.draw for paper in PAPERS.values() if paper.draw}
    return {**of_papers, BEFORE: draw_before}


def _drawn_by(sets: Sequence[Manifest]) -> dict[Path, Draw]:
    """Of `_drawn`, those folders that any of these sets lies in."""
    folders = {HOME / manifest.folder for manifest in sets}
    return {folder: draw for folder, draw in _drawn().items() if folder in folders}


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
