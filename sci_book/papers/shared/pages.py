"""Where a page or a section of one stands, and what it is called.

A section that other pages link to has a MyST target, `(name)=`, directly above its heading. Its
name is what claims, the index and the matrix call it, whichever page it stands on.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sci_book.resources import ROOT

_SECTION = re.compile(r"^(?:# )?\((\w+)\)=\n(?:# )?#+ (.+)$", re.MULTILINE)
_HEADING = {".md": re.compile(r"^# (.+)$", re.MULTILINE), ".py": re.compile(r"^# # (.+)$", re.M)}


class PageError(ValueError):
    """A page that another one names is missing, or does not say what it concludes."""


class Place(NamedTuple):
    """The page that a name stands for or on, its heading, and its own text: to the next section."""

    page: str
    title: str
    text: str


def page_of(name: str) -> str:
    """The page, such as `edge_sci` or `book/method`, that is called so or has the section."""
    return _place(name, ROOT).page


def title_of(name: str, root: Path = ROOT) -> str:
    """The first heading of a page, or the heading of a section: links have it for words."""
    return _place(name, root).title


def address(name: str) -> str:
    """Where a page or section is found from a chapter: `edge_sci.html`, `edge_sci.html#blur`."""
    page, folder = page_of(name), "../" if name.startswith("book/") else ""
    anchor = "" if page == name else f"#{Path(name).name.replace('_', '-').lower()}"
    return f"{folder}{page}.html{anchor}"


def link(name: str) -> str:
    """A link to a page or section in Markdown, its title for words."""
    return f"[{title_of(name)}]({address(name)})"


def checks() -> list[dict[str, str]]:
    """What checks the book, as the table that CONTRIBUTING.md begins with has it.

    Of each, `before` what it is run, the `command`, `what` it does, and how long it `takes`.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", text)  # a link's words
    rows = text.partition("| before |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = ([cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows)
    parts = ((before, *run.split(": ", 1), takes) for before, run, takes in cells)
    return [dict(zip(("before", "command", "what", "takes"), row, strict=True)) for row in parts]


def named(name: str) -> str:
    """What the page itself calls a section, a link to it; "" for the page as a whole."""
    page = page_of(name)
    on_page = address(name).removeprefix(f"{page}.html")
    return "" if page == name else f"[{title_of(name)}]({on_page})"


def sections_of(page: str, root: Path = ROOT) -> list[str]:
    """The sections of a page by name, in order."""
    return [name for name, place in places(root).items() if place.page == page and name != page]


@cache
def places(root: Path = ROOT) -> dict[str, Place]:
    """Every page and section by name, a page before its sections.

    Raises:
        PageError: two pages or sections have one name.
    """
    found: dict[str, Place] = {}
    for name, place in _found(root):
        if name in found:
            raise PageError(f"{found[name].page} and {place.page} both have a section {name}.")
        found[name] = place
    return found


def _found(root: Path) -> Iterator[tuple[str, Place]]:
    for folder, prefix, suffix in (("notebooks", "", ".py"), ("book", "book/", ".md")):
        for source in sorted((root / folder).glob(f"*{suffix}")):
            text = source.read_text(encoding="utf-8")
            page = prefix + source.stem
            sections = list(_SECTION.finditer(text))
            ends = [0, *(match.start() for match in sections), len(text)]
            own = [text[start:end] for start, end in pairwise(ends)]
            if heading := _HEADING[suffix].search(text):
                yield page, Place(page, heading[1], own[0])
            for match, words in zip(sections, own[1:], strict=True):
                yield prefix + match[1], Place(page, match[2], words)


def _place(name: str, root: Path) -> Place:
    if name not in places(root):
        raise PageError(f"The index names {name}, and there is no such page or section.")
    return places(root)[name]
