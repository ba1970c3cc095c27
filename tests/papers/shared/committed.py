"""What committed pages show, and their cells run in this process."""

import ast

import IPython.display
import nbformat
import pytest

from sci_book.pipeline.notebooks import read_source
from sci_book.resources import ROOT

PAGES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.py"))


def outputs(page):
    """What the cells of a page put out, each by its kind."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{page}.ipynb", as_version=4)
    return [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", ())]


def shown(page, kind):
    """All of one kind."""
    return [data[kind] for data in outputs(page) if kind in data]


def code(page, *words):
    """The cells of a page's source with code; of each of the words, the first that holds it."""
    cells = read_source(ROOT / "notebooks" / f"{page}.py").cells
    cells = [cell for cell in cells if cell.cell_type == "code"]
    return [next(cell for cell in cells if word in cell.source) for word in words] or cells


def run(cells, **parameters):
    """The names that cells leave, run as in a notebook, and all that they show, in order."""
    names, seen = {"__name__": "__main__"}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IPython.display, "display", lambda *given: seen.extend(given))
        for cell in cells:
            *body, last = ast.parse(cell.source).body
            if isinstance(last, ast.Expr):
                last.value = ast.Call(ast.Name("_seen", ast.Load()), [last.value], [])
            names["_seen"] = seen.append
            tree = ast.fix_missing_locations(ast.Module([*body, last], []))
            exec(compile(tree, "cell", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= parameters
    return names, seen


def ran(page, **parameters):
    """The names that a page's code leaves, its parameters changed."""
    return run(code(page), **parameters)[0]
