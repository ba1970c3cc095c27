"""The directive `results-at-a-glance`: what the chapter of that name concludes, and its picture.

They are read off the executed chapter, so the landing page says what that page says; a book that
leaves the chapter out, or in which it failed, has nothing in their place.
"""

import re
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

CHAPTER = Path("notebooks") / "results.ipynb"


class ResultsAtAGlance(SphinxDirective):
    """The chapter's first words in Markdown and its first figure."""

    def run(self):
        chapter = Path(self.env.srcdir) / CHAPTER
        if not chapter.is_file():
            return []
        self.env.note_dependency(str(chapter))
        cells = nbformat.read(chapter, as_version=4).cells
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
        words = [data["text/markdown"] for data in outputs if "text/markdown" in data]
        figures = [html for data in outputs if "<figure" in (html := data.get("text/html", ""))]
        if not (words and figures):  # the chapter failed, as its own page says
            return []
        glance = nodes.container(classes=["results-at-a-glance"])
        # A link there is to a page beside the chapter, or to a section of one by its target's name.
        said = re.sub(r"\]\((\w+)\.html\)", r"](../notebooks/\1.ipynb)", words[0])
        section = re.compile(r"\]\(\w+\.html#([\w-]+)\)")
        said = section.sub(lambda link: f"](#{link[1].replace('-', '_')})", said)
        self.state.nested_parse(StringList(said.splitlines(), str(chapter)), 0, glance)
        return [nodes.raw("", figures[0], format="html"), glance]


def setup(app):
    """Offer the directive."""
    app.add_directive("results-at-a-glance", ResultsAtAGlance)
    return {"parallel_read_safe": True}
