"""Mend what Sphinx writes that a screen reader stumbles over.

A signature of several lines is a list of definitions without terms, an entry of the bibliography
has a role that browsers no longer know, and Chinese words do not say that they are.
"""

import re

PARAMETERS = re.compile(r"<dl>\s*(?P<lines>(?:<dd>.*?</dd>\s*)+)</dl>", re.DOTALL)
# A tag and what holds no text of the page's own pass; of the rest each run of Chinese is found.
CHINESE = re.compile(
    r"<(?P<whole>svg|script|style|title)\b.*?</(?P=whole)>|<[^>]*>"
    r"|(?P<words>[\u4e00-\u9fff][\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]*)",
    re.DOTALL,
)


def in_chinese(match):
    """A run of Chinese between tags, marked as such; a tag as it is."""
    return f'<span lang="zh">{match["words"]}</span>' if match["words"] else match[0]


def as_lines(match):
    """The parameters of a signature, each in a line of its own."""
    lines = re.sub(r"<(/?)dd>", r"<\1span>", match["lines"])
    return f'<span class="sig-lines">{lines}</span>'


def on_page(app, pagename, templatename, context, doctree):
    """Change the text of a page before it is written."""
    if "body" in context:
        body = PARAMETERS.sub(as_lines, context["body"])
        body = body.replace('role="doc-biblioentry"', 'role="listitem"')
        context["body"] = CHINESE.sub(in_chinese, body)


def setup(app):
    """Connect to the pages that are written."""
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
