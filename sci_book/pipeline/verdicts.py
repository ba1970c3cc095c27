"""From a table or figure of the paper to its page, and what the page concludes.

A chapter's verdict is read off its executed notebook: what this page says is what that page says.
"""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import nbformat
import pandas as pd
import yaml
from pandas.io.formats.style import Styler

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.chapters import PAPER, overall
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import MISSING, VERDICTS
from sci_book.pipeline.ledger import Finding, of_paper
from sci_book.resources import ROOT

_VERDICT = re.compile(rf"\*\*Verdict(?:, ([^*:]+))?: ({'|'.join(VERDICTS)})")


class PageError(ValueError):
    """A page that the index names is missing, or does not say what it concludes."""


def load_index(paper: str) -> list[dict[str, str]]:
    """What a paper prints, in its order: `place`, `what` and `page`."""
    return yaml.safe_load((PAPER / PAPERS[paper].index).read_text(encoding="utf-8"))


def verdict_of(notebook: Path, paper: str, place: str = "") -> str:
    """The verdict that an executed chapter prints; of several, all together.

    A page about several papers prints "**Verdict, <title>: …" for each, and one with a verdict of
    its own on a table "**Verdict, <place>: …"; one that names neither is about whatever leads
    there.

    Raises:
        PageError: the notebook does not exist.
    """
    if not notebook.is_file():
        raise PageError(
            f"{notebook} does not exist; execute its chapter with `make reproduce` first."
        )
    texts = [
        output.get("data", {}).get("text/markdown", "")
        for cell in nbformat.read(notebook, as_version=4).cells
        for output in cell.get("outputs", [])
    ]
    printed = _VERDICT.findall("\n".join(map(str, texts)))
    for name in (place, PAPERS[paper].title, ""):
        if mine := [word for about, word in printed if about == name]:
            return overall(mine)
    return MISSING


def index(paper: str, pages: str | Path, findings: Sequence[Finding]) -> pd.DataFrame:
    """A line a place in the paper: what is there, its page, the verdict, and its claims.

    Args:
        paper: of `papers.PAPERS`.
        pages: folder of the executed chapters.
        findings: the ledger, whose claims are counted by page: how many hold, of how many that can
            be compared.
    """
    folder = located(pages)
    lines = []
    for entry in load_index(paper):
        name, prose = Path(entry["page"]).name, entry["page"].startswith("book/")
        mine = [finding for finding in of_paper(findings, paper) if finding.claim.page == name]
        comparable = [finding for finding in mine if finding.verdict != "not comparable"]
        held = sum(finding.verdict == "holds" for finding in comparable)
        target = ROOT / f"{entry['page']}.md" if prose else folder / f"{name}.ipynb"
        if prose and not target.is_file():
            raise PageError(f"The index names {entry['page']}, and there is no such page.")
        lines.append(
            {
                **entry,
                "verdict": MISSING if prose else verdict_of(target, paper, entry["place"]),
                "claims": f"{held} of {len(comparable)} hold" if comparable else MISSING,
            }
        )
    return pd.DataFrame(lines)


def as_links(paper: str, frame: pd.DataFrame) -> str:
    """A paper's index as an HTML table, each page a link."""
    cells = frame[["place", "what", "page", "verdict", "claims"]].map(escape)
    cells["page"] = [
        f'<a href="{"../" + page if page.startswith("book/") else page}.html">{Path(page).name}</a>'
        for page in cells["page"]
    ]
    heads = {"place": "in the paper", "what": "what is there", "claims": "claims in the ledger"}
    style = Styler(cells.rename(columns=heads), cell_ids=False).hide(axis="index")
    named = frame["verdict"].where(frame["verdict"].isin(VERDICTS), "")
    classes = "verdict-" + named.str.replace(" ", "-")
    style = style.set_td_classes(pd.DataFrame({"verdict": classes.where(named != "", "")}))
    style = style.set_uuid(f"prose-index-{paper}")
    style = style.set_caption(f"{PAPERS[paper].title}, place by place")
    return style.set_table_attributes('class="sci-table"').to_html()


def completeness(paper: str, frame: pd.DataFrame) -> str:
    """Whether all of a paper's tables of results and figures are in its index."""
    named = " ".join(frame["place"])
    tables = {int(n) for n in re.findall(r"Table (\d+)", named)}
    figures = {int(n) for n in re.findall(r"\d+", " ".join(re.findall(r"Figures? [\d, ]+", named)))}
    whole = tables >= PAPERS[paper].tables and figures >= PAPERS[paper].figures
    return "holds" if whole else "fails"


def sentence(paper: str, frame: pd.DataFrame) -> str:
    """How many of a paper's pages came to which verdict; one with several counts with each."""
    pages = frame["page"].nunique()
    words = frame.drop_duplicates(["page", "verdict"])["verdict"].tolist()
    return (
        f"{PAPERS[paper].title}: {len(frame)} places lead to {pages} pages. Of their own "
        f"claims {words.count('holds')} hold, {words.count('fails')} fail, "
        f"{words.count('inconclusive')} are inconclusive and "
        f"{words.count('not comparable')} not comparable; "
        f"{words.count(MISSING)} pages make no claim."
    )
