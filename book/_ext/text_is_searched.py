"""Search what pages say, not the code that made their numbers."""

from docutils import nodes
from sphinx.search import WordCollector

visit = WordCollector.dispatch_visit


def without_code(collector, node):
    """Leave out the input of a code cell and all that is in it."""
    if isinstance(node, nodes.Element) and "cell_input" in node.get("classes", ()):
        raise nodes.SkipNode
    visit(collector, node)


def setup(app):
    """Change how words are collected; Sphinx has no event for it."""
    WordCollector.dispatch_visit = without_code
    return {"parallel_read_safe": True}
