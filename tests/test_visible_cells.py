"""A page's answer stands before its code; its first table's numbers come from cells in sight."""

import ast
import builtins

import nbformat
import pytest

from sci_book.papers.shared.answer import WAITING
from sci_book.pipeline.notebooks import VOLATILE_TAG
from sci_book.resources import NOTEBOOKS
from tests.papers.shared.committed import run

# Pages whose tables are lists and quotations, not measures: of files, of papers, of other pages.
LISTS = {"audit_companions", "matrix", "results"}
# Pages that are a table: of printed numbers, of every claim.
BOARDS = {"audit_companions", "audit_paper_numbers", "verdicts"}
PAGES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def code_of(page):
    """The page's code cells, and which of them are hidden."""
    cells = nbformat.read(NOTEBOOKS / f"{page}.ipynb", 4).cells
    cells = [cell for cell in cells if cell.cell_type == "code"]
    return cells, ["hide-input" in cell.metadata.get("tags", []) for cell in cells]


def tables(cell):
    """The tables in a cell's outputs, as HTML."""
    found = (output.get("data", {}).get("text/html", "") for output in cell.get("outputs", []))
    return [html for html in found if "<table" in html]


def sentences(cells, tag=None):
    """The Markdown in the outputs of cells, of those with a tag if one is named."""
    tagged = [cell for cell in cells if tag is None or tag in cell.metadata.get("tags", [])]
    data = [output.get("data", {}) for cell in tagged for output in cell.get("outputs", [])]
    return [each["text/markdown"] for each in data if "text/markdown" in each]


@pytest.mark.parametrize("page", PAGES)
def test_the_answer_stands_before_the_first_cell_in_sight(page):
    cells, hidden = code_of(page)
    before = cells[: [*hidden, False].index(False)]
    answers = sentences(before)
    assert answers, f"{page}: a reader meets its code before its answer; see `Answer`"
    assert WAITING not in answers, f"{page} promises an answer that no cell writes"
    written = sentences(cells, "remove-output")
    assert sentences(before, VOLATILE_TAG) == written, f"{page}: not the answer that was computed"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in BOARDS])
def test_a_picture_stands_before_the_first_table(page):
    cells, _ = code_of(page)
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = [output.get("data", {}).get("text/html", "") for output in outputs]
    assert "<figure" in next(html for html in shown if "<figure" in html or "<table" in html)


def cells_in_sight(page):
    """Parameters, imports and what is loaded, which come first; then the visible cells alone, up to
    the first that shows a table."""
    cells, hidden = code_of(page)
    assert not all(hidden), f"{page} shows no code"
    first = hidden.index(False)
    shows = [place for place, cell in enumerate(cells) if place >= first and tables(cell)]
    assert shows and not hidden[shows[0]], f"{page}: hidden code makes its first table"
    used = [place for place in range(shows[0] + 1) if place < first or not hidden[place]]
    return [cells[place] for place in used], used.index(first)


def defined(tree):
    """Names that a cell assigns, imports or defines at its top level."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found |= {node.name, *(arg.arg for arg in ast.walk(node) if isinstance(arg, ast.arg))}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Lambda):
            found |= {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if page not in LISTS])
def test_the_first_table_needs_nothing_that_is_hidden(page):
    cells, first = cells_in_sight(page)
    known = set(dir(builtins))
    for place, cell in enumerate(cells):
        tree = ast.parse(cell.source)
        made = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert place >= first or not made, f"{page} hides {made}"
        known |= defined(tree)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert names <= known, f"{page}: {names - known} is made by hidden code"


@pytest.mark.parametrize("page", ["table02_drbench", "edge_sci"])
def test_the_cells_in_sight_alone_make_the_first_table(page, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    cells, _ = cells_in_sight(page)
    shown = [each._repr_html_() for each in run(cells)[1] if hasattr(each, "_repr_html_")]
    assert [html for html in shown if html and "<table" in html] == tables(cells[-1])
