"""Keep an interval in a table's cell in one line, where the cell has several."""

import re

BETWEEN_ENDS = re.compile(r"(\[[−\d.,]+,) (?=[−\d.,]+\][^<]*</td>)")


def on_page(app, pagename, templatename, context, doctree):
    """Change the text of a page before it is written."""
    if "body" in context:
        context["body"] = BETWEEN_ENDS.sub("\\1\u00a0", context["body"])


def setup(app):
    """Connect to the pages that are written."""
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
