"""What a shared link shows of a page, and what its foot says of the book: version and commit."""

import html
import re
import subprocess
import tomllib
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
PICTURE = "_static/bananas.png"
LONGEST = 200


def version():
    """The book's version, and the commit that it is built from where there is a history."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = ["git", "log", "-1", "--format=%h, %cs"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    commit = f", commit {done.stdout.strip()}" if done.stdout else ""
    return f"Version {project['version']}{commit}"


def description(doctree):
    """The first words that a page says in a paragraph, up to a whole word."""
    first = next(iter(doctree.findall(nodes.paragraph)), None)
    text = " ".join(first.astext().split()) if first else ""
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"


def on_page(app, pagename, templatename, context, doctree):
    """Add the tags that a link is shown by, and the line at the foot."""
    context["theme_extra_footer"] = (
        f'<p>{app.config.sci_version}. <a href="{context["pathto"]("book/bibliography")}">'
        "How to cite</a></p>"
    )
    if doctree is None:
        return
    title = html.unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    tags = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": title,
        "og:description": description(doctree),
        "og:image": context["pathto"](PICTURE, resource=True),
        "og:image:alt": "A green banana, which a model calls yellow.",
    }
    lines = [f'<meta name="description" content="{html.escape(tags["og:description"])}" />']
    for name, text in tags.items():
        lines.append(f'<meta property="{name}" content="{html.escape(text)}" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def setup(app):
    """Connect to the pages that are written."""
    app.add_config_value("sci_version", version(), "html")
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
