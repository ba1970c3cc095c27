"""Directives that say on a page of prose what an executed chapter concludes.

`results-at-a-glance` has the first words and the first picture of that chapter; `answers-of NAME`
has the first words of another. They are read off the executed notebook, so a page says what that
chapter says; a book that leaves the chapter out, or in which it failed, has nothing in their place.
"""

import re
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


class AnswersOf(SphinxDirective):
    """A chapter's first words in Markdown, its links turned to where this page stands."""

    required_arguments = 1
    picture = False

    def run(self):
        return self.of(self.arguments[0])

    def of(self, name):
        """What the chapter of a name concludes, as nodes."""
        chapter = Path(self.env.srcdir) / "notebooks" / f"{name}.ipynb"
        if not chapter.is_file():
            return []
        self.env.note_dependency(str(chapter))
        cells = nbformat.read(chapter, as_version=4).cells
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
        words = [data["text/markdown"] for data in outputs if "text/markdown" in data]
        figures = [html for data in outputs if "<figure" in (html := data.get("text/html", ""))]
        if not words or (self.picture and not figures):  # the chapter failed, as its page says
            return []
        glance = nodes.container(classes=[self.name])
        # A link there is to a page beside the chapter, or to a section of one by its target's name.
        said = re.sub(r"\]\((\w+)\.html\)", r"](../notebooks/\1.ipynb)", words[0])
        said = re.sub(r"\]\(\.\./book/(\w+)\.html\)", r"](\1.md)", said)
        section = re.compile(r"\]\([\w./]+\.html#([\w-]+)\)")
        said = section.sub(lambda link: f"](#{link[1].replace('-', '_')})", said)
        self.state.nested_parse(StringList(said.splitlines(), str(chapter)), 0, glance)
        return [glance, *([nodes.raw("", figures[0], format="html")] if self.picture else [])]


class ResultsAtAGlance(AnswersOf):
    """The first words of the chapter of that name, and its first picture."""

    required_arguments = 0
    picture = True

    def run(self):
        return self.of("results")


def setup(app):
    """Offer the directives."""
    app.add_directive("results-at-a-glance", ResultsAtAGlance)
    app.add_directive("answers-of", AnswersOf)
    return {"parallel_read_safe": True}
