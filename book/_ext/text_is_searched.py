"""Search what pages say, not code that made their numbers, and other words for what they say."""

from docutils import nodes
from sphinx.search import WordCollector

visit = WordCollector.dispatch_visit
ALSO = {
    "notebooks/beta_and_tau": "tau1, tau2, beta",
    "notebooks/descriptions": "CHAIR, captions, hallucination",
    "book/bibliography": "cite, citation, BibTeX",
}
"""By page, words that a reader may type for it and that its text does not have."""


def without_code(collector, node):
    """Leave out the input of a code cell and all that is in it."""
    if isinstance(node, nodes.Element) and "cell_input" in node.get("classes", ()):
        raise nodes.SkipNode
    visit(collector, node)


def with_synonyms(app, doctree):
    """Give a page its other words, as keywords, which the search reads."""
    if words := ALSO.get(app.env.docname):
        doctree.append(nodes.meta(name="keywords", content=words))


def setup(app):
    """Change how words are collected; Sphinx has no event for it."""
    WordCollector.dispatch_visit = without_code
    app.connect("doctree-read", with_synonyms)
    return {"parallel_read_safe": True}
