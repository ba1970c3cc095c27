"""The scoreboard: from a table, figure or claim of the paper to its page, and to its verdict.

A chapter's verdict is read off its executed notebook: what this page says is what that page says.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import nbformat
import pandas as pd
from pandas.io.formats.style import Styler

from sci_book.files import read_yaml
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.chapters import PAPER, overall
from sci_book.papers.shared.pages import PageError, address, link, named, page_of, title_of
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import MISSING, VERDICTS, slim, verdict_in
from sci_book.pipeline.claims import in_words
from sci_book.pipeline.ledger import CERTAIN, Finding, of_paper, overall_verdict
from sci_book.results.statistics import LEVEL

SCOREBOARD = "verdicts"
"""The chapter that shows all of this."""
OURS = "own"
"""What the book asks for itself: an index like a paper's, apart from theirs."""
_MANY = {"holds": "hold", "fails": "fail"}
_VERDICT = re.compile(rf"\*\*Verdict(?:, ([^*\n]+?))?: ({'|'.join(VERDICTS)})")


def load_index(paper: str) -> list[dict[str, str]]:
    """What a paper prints, in its order, or what the book asks: `place`, `what` and `page`."""
    return read_yaml(PAPER / ("index_own.yaml" if paper == OURS else PAPERS[paper].index))


def title_in_index(paper: str) -> str:
    """The title of a paper, or what stands in its place for the book's own."""
    return "Ours, which no paper asks" if paper == OURS else PAPERS[paper].title


def verdict_of(notebook: Path, paper: str, place: str = "", section: str = "") -> str:
    """The verdict that an executed chapter prints; of several, all together.

    A page about several papers prints "**Verdict, <title>: …" for each, one with a verdict of its
    own on a table "**Verdict, <place>: …", and one of several sections "**Verdict, <section>: …"
    (`pages.named`); one that names none is about whatever leads there.

    Raises:
        PageError: the notebook does not exist.
    """
    if not notebook.is_file():
        raise PageError(
            f"{notebook} does not exist; execute its chapter with `make reproduce` first."
        )
    texts = [
        str(output.get("data", {}).get("text/markdown", ""))
        for cell in nbformat.read(notebook, as_version=4).cells
        for output in cell.get("outputs", [])
    ]
    printed = _VERDICT.findall("\n".join(texts))
    for name in (place, title_in_index(paper), named(section) if section else "", ""):
        if mine := [word for about, word in printed if about == name]:
            return overall(mine)
    return MISSING


def index(paper: str, pages: str | Path, findings: Sequence[Finding]) -> pd.DataFrame:
    """A line a place in a paper, or of `OURS`: what is there, its page, and what became of it.

    `verdict` is that of the paper's sentences about the place, of all models that they can be
    tested on; `claims` counts them, once for each model; `own` is the verdict of the page's own
    claim. Of `OURS` that is the verdict.

    Args:
        pages: folder of the executed chapters.
        findings: the ledger.
    """
    lines, mine, entries = [], of_paper(findings, paper), load_index(paper)
    for entry in entries:
        name = Path(entry["page"]).name
        if name == SCOREBOARD:  # the page that shows this: its sentences are all
            there, own = mine, MISSING
        else:
            others = {each["place"] for each in entries if each["page"] == entry["page"]}
            there = [f for f in mine if f.claim.page == name and _about(f, entry["place"], others)]
            own = MISSING
            if not entry["page"].startswith("book/"):
                page = located(pages) / f"{page_of(name)}.ipynb"
                own = verdict_of(page, paper, entry["place"], name)
        word = own if paper == OURS else _of_place(there)
        claims = _counted([finding.verdict for finding in there])
        lines.append({**entry, "verdict": word, "claims": claims or MISSING, "own": own})
    return pd.DataFrame(lines)


def _of_place(findings: Sequence[Finding]) -> str:
    """The verdict of a place's sentences: not comparable where most of them are."""
    words = [finding.verdict for finding in findings if not finding.claim.by_construction]
    if 2 * words.count("not comparable") > len(words):
        return "not comparable"
    return overall_verdict(findings) if findings else MISSING


def _about(finding: Finding, place: str, others: Iterable[str]) -> bool:
    """Whether a sentence is about a place of its page: it names that, or none that is there."""
    named = [other for other in others if re.search(rf"{other}(?!\w)", finding.claim.place)]
    return place in named or not named


def _counted(verdicts: Sequence[str]) -> str:
    """How many there are of each verdict, "2 hold, 1 fails"."""
    counts = {word: verdicts.count(word) for word in (*VERDICTS, CERTAIN) if word in verdicts}
    return ", ".join(
        f"{n} {word if n == 1 else _MANY.get(word, word)}" for word, n in counts.items()
    )


def claim_lines(paper: str, findings: Sequence[Finding]) -> pd.DataFrame:
    """A line a claim of the paper, as `index` has a line a place; `claims` holds each model's end.

    A model that a claim cannot be tested on is named only where it can be tested on none.
    """
    by_claim: dict[str, list[Finding]] = {}
    for finding in of_paper(findings, paper):
        by_claim.setdefault(finding.claim.id, []).append(finding)
    lines = []
    for of_claim in by_claim.values():
        claim = of_claim[0].claim
        ends = [finding for finding in of_claim if finding.verdict != "not comparable"] or of_claim
        lines.append(
            {
                "id": claim.id,
                "place": claim.place,
                "what": in_words(claim),
                "page": claim.page,
                "verdict": CERTAIN if claim.by_construction else overall(f.verdict for f in ends),
                "claims": "; ".join(dict.fromkeys(map(_end, ends))),
            }
        )
    return pd.DataFrame(lines)


def _end(finding: Finding) -> str:
    """What a model came to; a claim with one end may be open on a model's records all the same."""
    certain = finding.claim.by_construction and finding.verdict == "inconclusive"
    device = " (on one thread of a processor)" if finding.quartiles else ""
    return f"{finding.title}: {finding.said}{' on its records alone' if certain else device}"


def claims_verdict(lines: Iterable[pd.DataFrame]) -> str:
    """Whether every claim of some papers (`claim_lines`) holds, in bold, and how many do not."""
    words = pd.concat(lines)["verdict"]
    words = words[~words.isin([CERTAIN, "not comparable"])].tolist()
    if not words:
        return "**The papers’ sentences: none can be judged.**"
    holds = words.count("holds")
    head = "every one holds" if holds == len(words) else "not every one holds"
    return (
        f"**The papers’ sentences: {head}.** {len(words)} can be judged and can fail: {holds} hold "
        f"on every model they can be tested on, {words.count('fails')} fail on at least one, "
        f"{words.count('inconclusive')} are inconclusive."
    )


def by_chance(findings: Iterable[Finding]) -> str:
    """How many claims would hold by chance alone, were each quantity just at its margin.

    A claim of several parts holds less often so, unless some of its parts suffice.
    """
    asked = [f for f in findings if f.verdict in VERDICTS[:3] and not f.claim.by_construction]
    expected = len(asked) * (1 - LEVEL) / 2
    return (
        f"A claim is judged once for each model that it is about: {len(asked)} times here, and "
        f"{sum(f.verdict == 'holds' for f in asked)} of these hold. If every quantity lay just at "
        f"its margin, about {expected:.0f} would hold by chance, or fewer."
    )


def claims_sentence(paper: str, lines: pd.DataFrame) -> str:
    """How many of a paper's claims (`claim_lines`) came to which verdict, and which fail."""
    counts = _counted(lines["verdict"].tolist())
    failing = [
        f"\n  - {line.what} ({line.place}: {link(line.page)}) **{line.claims.removesuffix('.')}.**"
        for line in lines[lines["verdict"] == "fails"].itertuples()
    ]
    failed = f" Those that fail:{''.join(failing)}" if failing else ""
    return f"- **{title_in_index(paper)}**, {len(lines)} claims: {counts}.{failed}"


def scoreboard(frames: Mapping[str, pd.DataFrame]) -> str:
    """The lines of `index` and `claim_lines` in HTML, a table a paper, each page a link.

    The first table is open. `book/_assets/scoreboard.js` puts a filter above them.

    Raises:
        PageError: a line names a page that the book has not.
    """
    parts = ['<div class="scoreboard-filter"></div>']
    for number, (paper, frame) in enumerate(frames.items()):
        head = f"<summary>{escape(title_in_index(paper))}: {len(frame)} lines</summary>"
        state = "" if number else " open"
        parts.append(f'<details class="scoreboard"{state}>{head}{_as_html(paper, frame)}</details>')
    return "\n".join(parts)


def _as_html(paper: str, frame: pd.DataFrame) -> str:
    told = ["place", "what", "verdict", "claims", *(["own"] if paper != OURS else []), "page"]
    cells = frame.reindex(columns=told, fill_value=MISSING).fillna(MISSING).map(escape)
    for name in ("what", "claims"):
        code = cells[name].str.replace("`(.+?)`", r"<code>\1</code>", regex=True)
        cells[name] = code.str.replace(r"\*([^\s*][^*]*)\*", r"<em>\1</em>", regex=True)
    if "ends" in frame:
        cells["claims"] = list(map(_with_keys, cells["claims"], frame["ends"]))
    cells["page"] = [
        f'<a href="{address(page)}">{escape(title_of(page))}</a>' for page in cells["page"]
    ]
    heads = {
        "place": "kind" if paper == OURS else "in the paper",
        "what": "what is asked, or claimed" if paper == OURS else "what is there, or claimed",
        "verdict": "verdict" if paper == OURS else "verdict on the paper’s sentences",
        "claims": "found" if paper == OURS else "how many, by model, or what each model says",
        "own": "verdict on the page’s own claim",
    }
    style = Styler(cells.rename(columns=heads), cell_ids=False).hide(axis="index")
    named = [heads[name] for name in ("verdict", "own") if name in told]
    words = cells.rename(columns=heads)[named].map(verdict_in)
    classes = ("verdict-" + words.map(lambda word: word.replace(" ", "-"))).where(words != "", "")
    style = style.set_td_classes(classes)
    style = style.set_uuid(f"prose-scoreboard-{paper}")
    return slim(style.set_table_attributes('class="sci-table"').to_html())


def _with_keys(text: str, ends: Sequence[str] | float) -> str:
    """Each interval in a text marked with its key; `ends` is NaN for a line that has none."""
    keys = {str(each): each.key for each in ends} if isinstance(ends, list) else {}
    for each, key in keys.items():
        text = text.replace(each, f'<span class="k{key}">{each}</span>')
    return text


def load_without() -> list[dict[str, str]]:
    """Tables and figures that have no page: `paper`, `place`, `what` and `why`."""
    return read_yaml(PAPER / "without_page.yaml")


def without_lines(papers: Collection[str]) -> str:
    """What some papers print that has no page here, with the reason, a line each, in Markdown."""
    lines = [
        f"- {PAPERS[entry['paper']].title}, {entry['place']} ({entry['what']}): {entry['why']}."
        for entry in load_without()
        if entry["paper"] in papers
    ]
    return "\n".join(lines) or "Nothing."


def without_sentence(papers: Collection[str]) -> str:
    """How many places of some papers, with tables and figures, have no page."""
    n = sum(entry["paper"] in papers for entry in load_without())
    return f"{n} further places have no page ([why](#what-has-no-page))." if n else ""


def completeness(paper: str, frame: pd.DataFrame) -> str:
    """Whether each table and figure of a paper is in its index, or has a reason not to be."""
    without = [entry["place"] for entry in load_without() if entry["paper"] == paper]
    named = " ".join([*frame["place"], *without])
    tables = {int(n) for n in re.findall(r"Table (\d+)", named)}
    figures = {int(n) for n in re.findall(r"\d+", " ".join(re.findall(r"Figures? [\d, ]+", named)))}
    whole = tables >= PAPERS[paper].tables and figures >= PAPERS[paper].figures
    return "holds" if whole else "fails"


def sentence(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many places lead to how many pages, and which verdicts those have, over some indices.

    A page with several verdicts counts with each, and the sentence says so.
    """
    frame = pd.concat(frames.values())
    words = frame.drop_duplicates(["page", "own"])["own"].tolist()
    return (
        f"{len(frame)} tables, figures and other places of the papers lead to "
        f"{frame['page'].nunique()} sections of the book. Of the sections' own claims, "
        f"some having several, {words.count('holds')} hold, {words.count('fails')} fail, "
        f"{words.count('inconclusive')} are inconclusive and "
        f"{words.count('not comparable')} not comparable; "
        f"{words.count(MISSING)} sections make no claim."
    )
