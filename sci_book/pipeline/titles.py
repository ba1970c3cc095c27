"""What a page is called, by its first heading: links have titles for words, never file names."""

import re
from pathlib import Path

from sci_book.resources import ROOT


class PageError(ValueError):
    """A page that another one names is missing, or does not say what it concludes."""


def title_of(page: str, root: Path = ROOT) -> str:
    """The first heading of a chapter, or of a page of prose, `book/…`.

    Raises:
        PageError: there is no such page.
    """
    prose = page.startswith("book/")
    source = root / f"{page}.md" if prose else root / "notebooks" / f"{page}.py"
    if not source.is_file():
        raise PageError(f"The index names {page}, and there is no such page.")
    heading = re.compile(r"^# (.+)$" if prose else r"^# # (.+)$", re.MULTILINE)
    return heading.search(source.read_text(encoding="utf-8"))[1]
