"""An Edge page's cells, run in this process on records that a test wrote."""

import matplotlib.pyplot as plt
import pytest

from sci_book.papers.shared import figures
from sci_book.papers.shared.tables import Table
from tests.papers.shared.committed import code, run


def shown(page, records, models=("one", "two"), **more):
    """What a page shows, in order: tables and Markdown; its figures are drawn and closed."""
    with pytest.MonkeyPatch.context() as patch, plt.rc_context():
        drawn = []
        patch.setattr(figures, "show", lambda figure, *caption, **alt: drawn.append(figure))
        _, outputs = run(code(page), models=list(models), records=str(records), **more)
    for each in drawn:
        if isinstance(each, plt.Figure):
            each.canvas.draw()
            plt.close(each)
    return outputs


def tables(page, records, **more):
    """The frames of a page's tables, by name."""
    given = shown(page, records, **more)
    return {table.name: table.frame for table in given if isinstance(table, Table)}
