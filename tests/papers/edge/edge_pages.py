"""An Edge page's cells, run in this process on records that a test wrote."""

import ast

import IPython.display
import matplotlib.pyplot as plt
import pytest

from sci_book.papers.shared import figures
from sci_book.papers.shared.tables import Table
from sci_book.pipeline.notebooks import read_source
from sci_book.resources import NOTEBOOKS


def shown(page, records, models=("one", "two"), **more):
    """What a page shows, in order: tables, Markdown, figures (drawn, then closed)."""
    outputs, names = [], {"__name__": page}
    with pytest.MonkeyPatch.context() as patch, plt.rc_context():
        patch.setattr(IPython.display, "display", lambda *given: outputs.extend(given))
        patch.setattr(figures, "show", lambda drawn, *caption, **alt: outputs.append(drawn))
        for cell in read_source(NOTEBOOKS / f"{page}.py").cells:
            if cell.cell_type != "code":
                continue
            *body, last = ast.parse(cell.source).body
            if isinstance(last, ast.Expr):
                last.value = ast.Call(ast.Name("_show", ast.Load()), [last.value], [])
            code = compile(ast.fix_missing_locations(ast.Module([*body, last], [])), page, "exec")
            names["_show"] = outputs.append
            exec(code, names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"models": list(models), "records": str(records), **more}
    for each in outputs:
        if isinstance(each, plt.Figure):
            each.canvas.draw()
            plt.close(each)
    return outputs


def tables(page, records, **more):
    """The frames of a page's tables, by name."""
    given = shown(page, records, **more)
    return {table.name: table.frame for table in given if isinstance(table, Table)}
