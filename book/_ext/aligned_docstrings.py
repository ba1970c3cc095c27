"""Show aligned docstring tables as definition lists.

The library's docstrings list fields as they read best in a source file:

    text      the tokens as text
    tokens    chosen token ids, without
              the end of sequence

reStructuredText would run such lines together, or call the continuation an error.
"""

import re

ENTRY = re.compile(r"^(?P<indent> *)(?P<name>[*\w\"][^ ]*(?: [^ ]+)*?) {2,}(?P<text>\S.*)$")


def as_definitions(lines):
    """The lines with every `name  meaning` entry turned into a definition of ``name``."""
    shown, column = [], None
    for line in lines:
        entry = ENTRY.match(line)
        continues = column is not None and line[:column].isspace() and line.strip()
        if entry and not continues:
            if column is None and shown and shown[-1].strip():
                shown.append("")
            column = entry.start("text")
            indent = entry["indent"]
            shown += [f"{indent}``{entry['name']}``", f"{indent}    {entry['text']}"]
        elif continues:
            shown.append(f"{indent}    {line.strip()}")
        else:
            if column is not None and line.strip():
                shown.append("")
            column = None
            shown.append(line)
    return shown


def on_docstring(app, what, name, obj, options, lines):
    """Autodoc hands over each docstring as a list of lines, to be changed in place."""
    lines[:] = as_definitions(lines)


def on_member(app, what, name, member, skip, options):
    """A field of a named tuple has its line in the docstring, and none that says its number."""
    return True if type(member).__name__ == "_tuplegetter" else None


def on_signature(app, what, name, obj, options, signature, returns):
    """Write a default that a call makes as dots: Sphinx reads no signature with ``<factory>``."""
    return signature and signature.replace("<factory>", "..."), returns


def setup(app):
    """Run before napoleon, which reads the sections of the docstring."""
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    app.connect("autodoc-skip-member", on_member)
    app.connect("autodoc-process-signature", on_signature)
    return {"parallel_read_safe": True}
