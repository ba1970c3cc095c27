"""A model's text without what sets it off: Markdown, LaTeX boxes, tags, runs of blanks."""

from __future__ import annotations

import re

_TAGS = re.compile(r"</?[a-z]{1,10}>|<\|[a-z_]{1,20}\|>", re.IGNORECASE)
_BOX = re.compile(
    r"\${0,2}\\boxed\s?\{\s?(?:\\(?:text|textbf|mathrm|mathbf)\s?\{([^{}]*)\}|([^{}]*))\s?\}\${0,2}"
)
# What is left around a box, and a letter set as a formula: "\( … \)", "$B$".
_MATHS = re.compile(r"\\[()\[\]]|\$(?=[A-Z]\$)|(?<=\$[A-Z])\$")
# Marks around a stretch of one line. "5*3", "*.txt" and "M*A*S*H" hold none.
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|__|`{1,3})(?=[^\s*`_])([^\n*`]{0,200}?)(?<=\S)\1(?!\w)")
_LIST_OR_HEADING = re.compile(r"(?:[#>]+|[-•*]) (?=\S)")


def tidy(text: str) -> str:
    """`text` in lines without marks, one blank between words.

    A stretch in bold is closed by its marks: "**No** the dog left" becomes "No. the dog left".
    """
    text = _set_off(text, closed=True)
    return text[match.end() :] if (match := _LIST_OR_HEADING.match(text)) else text


def plain(text: str) -> str:
    """`text` in one line without marks, in lower case."""
    return " ".join(_set_off(text, closed=False).casefold().split())


def untagged(text: str) -> str:
    """`text` without tags: "<answer>3</answer>" becomes "3"."""
    return _TAGS.sub(" ", text)


def _set_off(text: str, *, closed: bool) -> str:
    lines = (" ".join(line.split()) for line in untagged(text).splitlines())
    text = "\n".join(line for line in lines if line.strip("`"))  # less the fences of code
    text = _BOX.sub(r"\1\2", text)
    if closed:
        text = _MATHS.sub("", text)
    return _EMPHASIS.sub(_closed if closed else r"\2", text).strip()


def _closed(emphasis: re.Match[str]) -> str:
    """A stretch in bold, with a full stop where words follow that it does not end by itself."""
    inside, after = emphasis[2], emphasis.string[emphasis.end() : emphasis.end() + 2]
    return inside + ("." if re.match(r" \w", after) and inside[-1:].isalnum() else "")
