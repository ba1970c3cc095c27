"""Set the drawings of the text's own files into the page, so that their colours follow it."""

from html import escape
from pathlib import Path

from docutils import nodes


def on_doctree(app, doctree, docname):
    """Put an SVG in the place of each image that names one."""
    for image in [*doctree.findall(nodes.image)]:
        if image["uri"].endswith(".svg"):
            text = Path(app.srcdir, image["uri"]).read_text(encoding="utf-8")
            said = f'role="img" aria-label="{escape(image["alt"])}"'
            drawing = text.replace('role="img"', said, 1)
            image.replace_self(nodes.raw("", drawing, format="html"))


def setup(app):
    """Connect to the pages that are ready to be written."""
    app.connect("doctree-resolved", on_doctree)
    return {"parallel_read_safe": True}
