"""Mend what Sphinx writes that a screen reader stumbles over.

A signature of several lines is a list of definitions without terms, and an entry of the
bibliography has a role that browsers no longer know.
"""

import re

PARAMETERS = re.compile(r"<dl>\s*(?P<lines>(?:<dd>.*?</dd>\s*)+)</dl>", re.DOTALL)


def as_lines(match):
    """The parameters of a signature, each in a line of its own."""
    lines = re.sub(r"<(/?)dd>", r"<\1span>", match["lines"])
    return f'<span class="sig-lines">{lines}</span>'


def on_page(app, pagename, templatename, context, doctree):
    """Change the text of a page before it is written."""
    if "body" in context:
        body = PARAMETERS.sub(as_lines, context["body"])
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    """Connect to the pages that are written."""
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
