"""The folder that the book of a run of one's own is rendered from: what it holds, and no more.

Chapters of papers that the run leaves out are not there: the table of contents does not name them,
and what links to them elsewhere keeps its words without the link.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

from sci_book.files import read_yaml, write_whole
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.pages import page_of, sections_of, title_of
from sci_book.papers.shared.paper import OWN
from sci_book.pipeline.notebooks import write_notebook
from sci_book.pipeline.verdicts import SCOREBOARD, load_index

READ_ALL = (SCOREBOARD, "matrix")
"""The book's own chapters that read the companions' records beside the models' own."""


def chosen_papers(only: str | None, companions: bool = True) -> tuple[str, ...]:
    """The papers of a run, in the book's order.

    Args:
        only: their names, separated by commas; all if None or empty.
        companions: whether the companions are among them.

    Raises ValueError for a name that is none, and where no paper is left.
    """
    asked = [name.strip().lower() for name in (only or "").split(",") if name.strip()]
    unknown = [name for name in asked if name not in PAPERS]
    if unknown:
        raise ValueError(
            f"There is no paper {', '.join(map(repr, unknown))}; known are {', '.join(PAPERS)}."
        )
    chosen = [name for name in PAPERS if name in (asked or PAPERS) and (companions or name == OWN)]
    if not chosen:
        raise ValueError(
            f"ONLY={only} names companions alone, and COMPANIONS=0 leaves them out; give one of "
            "the two."
        )
    return tuple(chosen)


def is_chosen(chapter: str, papers: Collection[str]) -> bool:
    """Whether a run of these papers executes a chapter.

    A chapter belongs to the papers whose index names it, and to the book's own if none does.
    """
    if chapter == SCOREBOARD:  # it reads the models' own records beside the companions'
        return OWN in papers
    return bool(papers_of(chapter) & set(papers))


@cache
def papers_of(chapter: str) -> frozenset[str]:
    """The papers whose index names a chapter; the book's own if none does."""
    papers = {
        paper
        for paper in PAPERS
        if any(page_of(entry["page"]) == chapter for entry in load_index(paper))
    }
    return frozenset(papers or {OWN})


def lay_out(
    folder: Path, root: Path, made: Collection[str], said: str, explorer: Mapping[str, object]
) -> None:
    """Everything but the chapters themselves: settings, contents, prose.

    Args:
        folder: of the run; its chapters are in `notebooks/`.
        made: the chapters of the run.
        said: a sentence on top of every page.
        explorer: models, records and data of the explorer (book/_ext/explorer_data.py).
    """
    contents = read_yaml(root / "_toc.yml")
    pages = {page for part in contents["parts"] for page in _pages(part["chapters"])}
    left_out = {page for page in pages if page.startswith("notebooks/")}
    left_out -= {f"notebooks/{name}" for name in made}
    for part in contents["parts"]:
        part["chapters"] = _without(part["chapters"], left_out)
    contents["parts"] = [part for part in contents["parts"] if part["chapters"]]
    settings = read_yaml(root / "_config.yml")
    settings["html"]["announcement"] = escape(said)
    settings["sphinx"]["config"]["sci_explorer"] = dict(explorer)
    for name, content in (("_toc.yml", contents), ("_config.yml", settings)):
        _replace_link(folder / name)
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        write_whole(folder / name, text.encode())
    stems = [Path(page).name for page in left_out]
    names = [name for stem in stems for name in (stem, *sections_of(stem, root))]
    titles = {name: title_of(name, root) for name in names}
    _replace_link(folder / "book")
    for path in (root / "book").iterdir():
        if path.suffix == ".md":
            text = without_links(path.read_text(encoding="utf-8"), titles)
            write_whole(folder / "book" / path.name, text.encode())
        else:
            _link(folder / "book" / path.name, path)
    for package in ("sci_core", "sci_book"):
        _link(folder / package, root / package)
    for page in (folder / "notebooks" / f"{name}.ipynb" for name in made):
        _finish(page, titles)


def _pages(entries: Iterable[Mapping]) -> Iterable[str]:
    """The pages of a table of contents' entries, sections included."""
    for entry in entries:
        yield entry["file"]
        yield from _pages(entry.get("sections", []))


def _without(entries: Iterable[Mapping], left_out: Collection[str]) -> list[dict]:
    """The entries whose pages are there; sections of one that is not move up into its place."""
    present = []
    for entry in entries:
        sections = _without(entry.get("sections", []), left_out)
        if entry["file"] in left_out:
            present += sections
        else:
            present.append({"file": entry["file"], **({"sections": sections} if sections else {})})
    return present


def without_links(text: str, titles: Mapping[str, str]) -> str:
    """Markdown or HTML whose links to some pages are their words; `titles` names the pages."""
    if not titles:
        return text
    page = rf"(?:[./\w-]*/)?({'|'.join(map(re.escape, titles))})"
    named = rf"{page}(?:\.(?:ipynb|html|md))?(?:#[^\s)\"]*)?"
    text = re.sub(rf"\{{(?:doc|ref)\}}`([^`<]+?)\s*<{page}>`", r"\1", text)
    text = re.sub(rf"\{{(?:doc|ref)\}}`{page}`", lambda match: f"*{titles[match[1]]}*", text)
    text = re.sub(rf"\[([^\]\n]*)\]\({named}\)", r"\1", text)
    card = rf"^:link: {page}\n:link-type: (?:doc|ref)\n"
    text = re.sub(card, "", text, flags=re.MULTILINE)
    return re.sub(rf'<a href="{named}">(.*?)</a>', r"\2", text)


def add_note(page: Path, note: str) -> None:
    """Put a note below the title of an executed chapter."""
    notebook = nbformat.read(page, as_version=4)
    cell = nbformat.v4.new_markdown_cell(f":::{{warning}}\n{note}\n:::", id="note")
    notebook.cells.insert(1, cell)
    write_notebook(notebook, page)


def _finish(page: Path, titles: Mapping[str, str]) -> None:
    """Take the links to pages that are not there out of an executed chapter."""
    notebook = nbformat.read(page, as_version=4)
    for data in _texts(notebook):
        for kind, text in data.items():
            if kind in ("source", "text/markdown", "text/html"):
                data[kind] = without_links("".join(text), titles)
    write_notebook(notebook, page)


def _texts(notebook: NotebookNode) -> Iterable[NotebookNode]:
    """What holds text that links: cells of Markdown, and outputs."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell
        for output in cell.get("outputs", []):
            yield output.get("data", {})


def _link(place: Path, target: Path) -> None:
    _replace_link(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def _replace_link(place: Path) -> None:
    """Take away a link that is in the way."""
    if place.is_symlink():
        place.unlink()
