"""Leave sphinx-thebe's scripts out of every page.

Jupyter Book loads that extension always. It declares the address of a live-code service on another
host; the book has no live code, and its pages name no host but their own.
"""


def on_page(app, pagename, templatename, context, doctree):
    """Drop scripts and styles that belong to thebe, by file name or by content."""
    for kind in ("script_files", "css_files"):
        context[kind] = [each for each in context[kind] if "thebe" not in _text(each)]


def _text(asset):
    attributes = getattr(asset, "attributes", {})
    return f"{getattr(asset, 'filename', asset)} {attributes.get('body', '')}".lower()


def setup(app):
    """Run after the extensions that add scripts to a page."""
    app.connect("html-page-context", on_page, priority=900)
    return {"parallel_read_safe": True}
