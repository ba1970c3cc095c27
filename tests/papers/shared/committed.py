"""What committed pages show."""

import nbformat

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


def ran(page, **parameters):
    """The names that a page's code leaves, its parameters changed."""
    names = {}
    for cell in read_source(ROOT / "notebooks" / f"{page}.py").cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, page, "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= parameters
    return names
