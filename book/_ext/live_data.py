"""Write what the page "Ask it yourself" reads beside its scripts, once the pages are rendered.

The weights are those of the shipped checkpoint; they are not committed a second time.
"""

from pathlib import Path

from sci_book.papers.sci.live import page

MODEL = "pocket-qwen2vl"


def on_finished(app, exception):
    """Fill the page's folder among the static files."""
    if exception is None and app.builder.format == "html":
        page.write(Path(app.outdir) / "_static" / "live", MODEL)


def setup(app):
    """Run when all pages are written."""
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True}
