"""Leave a page at the address of every section, since many sections were pages of their own.

`edge_table07_blur.html` leads to `edge_stress.html#edge-table07-blur`, with scripts and without.
"""

from html import escape
from pathlib import Path

from sci_book.papers.shared.pages import address, places

LEADS_ON = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    '<meta http-equiv="refresh" content="0; url={to}"><link rel="canonical" href="{to}">'
    '<p>This is now a part of another page: <a href="{to}">{title}</a>.</p></html>\n'
)


def on_finished(app, exception):
    """Write the pages that lead on, of the sections whose page is in this book."""
    if exception is not None or app.builder.format != "html":
        return
    for name, (page, title, _) in places().items():
        docname = page if page.startswith("book/") else f"notebooks/{page}"
        if name != page and docname in app.env.found_docs:
            to = address(name).removeprefix("../book/")
            place = Path(app.outdir) / Path(docname).parent / f"{Path(name).name}.html"
            place.write_text(LEADS_ON.format(to=to, title=escape(title)), encoding="utf-8")


def setup(app):
    """Run when all pages are written."""
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True}
