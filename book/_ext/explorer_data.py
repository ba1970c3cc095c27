"""Write what the explorer's page reads beside its scripts, once the pages are rendered.

The recorded logits are those of the records that the book was made from; they are not committed a
second time.
"""

from pathlib import Path

from sci_book.papers.sci import paper
from sci_book.papers.sci.explorer import data
from sci_book.resources import FROZEN_RECORDS

COMMITTED = {
    "models": ["pocket-qwen2vl", "pocket-llavanext"],
    "records": str(FROZEN_RECORDS),
    "data": paper.SET,
}


def on_finished(app, exception):
    """Fill the explorer's folder among the static files."""
    if exception is None and app.builder.format == "html":
        run = app.config.sci_explorer
        folder = Path(app.outdir) / "_static" / "explorer"
        data.write(folder, run["models"], Path(run["records"]), run["data"])


def setup(app):
    """Run when all pages are written; a run of one's own names its models in `sci_explorer`."""
    app.add_config_value("sci_explorer", COMMITTED, "html")
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True}
