"""Write into each cell of a wide table what heads it, so that on a phone its rows can be stacked.

There a row is its label and below it its cells, each beneath its own head: nothing is cut off or
scrolls. How they look is in `book.css`, by the class `stacks`.
"""

import re

from bs4 import BeautifulSoup

TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
AS_THEY_ARE = {"matrix", "turned-panel"}  # one to scroll, and one that is bars
MOST, MOST_OF_PROSE = 4, 3
"""Columns, with that of the labels, that a phone shows side by side."""


def spread(row):
    """The text of each column of a head's row; a cell over several columns counts for each."""
    cells = row.find_all(["th", "td"], recursive=False)
    return [cell.get_text(" ", strip=True) for cell in cells for _ in range(_width(cell))]


def _width(cell):
    return int(cell.get("colspan", 1))


def stacked(match):
    """The table, with `stacks` among its classes and a `data-head` a cell, if it is wide."""
    table = BeautifulSoup(match[0], "html.parser").table
    classes = table.get("class", [])
    most = MOST if "sci-table" in classes else MOST_OF_PROSE
    heads = table.thead.find_all("tr") if table.thead and AS_THEY_ARE.isdisjoint(classes) else []
    if not heads or len(spread(heads[-1])) <= most:
        return match[0]
    over = [", ".join(filter(None, column)) for column in zip(*map(spread, heads), strict=True)]
    for row in table.tbody.find_all("tr"):
        for cell, head in zip(row.find_all(["th", "td"]), over, strict=True):
            if head and cell is not row.find(["th", "td"]):
                cell["data-head"] = head
    table["class"] = [*classes, "stacks"]
    return str(table)


def on_page(app, pagename, templatename, context, doctree):
    """Change the text of a page before it is written."""
    if "body" in context:
        context["body"] = TABLE.sub(stacked, context["body"])


def setup(app):
    """Connect to the pages that are written."""
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
