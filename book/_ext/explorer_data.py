"""Write what the explorer's page reads beside its scripts, once the pages are rendered.

The recorded logits are the frozen records' and are not committed a second time. Pocket data that
are missing are drawn.
"""

from pathlib import Path

from sci_book.papers.sci.explorer.data import write_committed


def on_finished(app, exception):
    """Fill the explorer's folder among the static files."""
    if exception is None and app.builder.format == "html":
        write_committed(Path(app.outdir) / "_static" / "explorer")


def setup(app):
    """Run when all pages are written."""
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True}
