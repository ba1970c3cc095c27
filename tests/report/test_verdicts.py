"""The index: every table and figure leads to a page, and says what that page says."""

import nbformat
import pandas as pd
import pytest

from sci_book.papers.shared.tables import MISSING
from sci_book.pipeline import verdicts
from sci_book.pipeline.claims import Claim
from sci_book.pipeline.ledger import Finding
from sci_book.resources import ROOT
from sci_book.results.statistics import Interval


def notebook(path, *texts):
    cells = []
    for text in texts:
        cell = nbformat.v4.new_code_cell("Markdown(...)")
        cell.outputs = [nbformat.v4.new_output("display_data", data={"text/markdown": text})]
        cells.append(cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def finding(page, verdict):
    claim = Claim("x", "sci", "", "", page, "", "size", {})
    return Finding(claim, "m", verdict, "", Interval(0.0, 0.0, 0.0, 1, 1), (), "m")


@pytest.fixture
def pages(tmp_path, monkeypatch):
    entries = [
        {"place": "Table 1", "what": "sizes", "page": "table01"},
        {"place": "Equation 1", "what": "TIE", "page": "book/method"},
    ]
    monkeypatch.setattr(verdicts, "load_index", lambda paper: entries)
    notebook(tmp_path / "table01.ipynb", "**Verdict: fails.** So it is.")
    return tmp_path


def test_the_verdict_is_the_one_that_the_page_prints(tmp_path):
    page = notebook(tmp_path / "a.ipynb", "words", "**Verdict: holds**")
    assert verdicts.verdict_of(page, "sci") == "holds"
    both = notebook(tmp_path / "b.ipynb", "**Verdict: holds.** x", "**Verdict: inconclusive.** y")
    assert verdicts.verdict_of(both, "sci") == verdicts.verdict_of(both, "edge") == "inconclusive"
    none = notebook(tmp_path / "c.ipynb", "no **Verdict: {verdict}** here")
    assert verdicts.verdict_of(none, "sci") == MISSING


def test_a_page_about_several_papers_has_a_verdict_for_each(tmp_path):
    page = notebook(
        tmp_path / "a.ipynb",
        "**Verdict, Self-Critical Inference: fails.**",
        "**Verdict, C-VQA: holds.**",
    )
    found = {paper: verdicts.verdict_of(page, paper) for paper in ("sci", "cvqa", "edge")}
    assert found == {"sci": "fails", "cvqa": "holds", "edge": MISSING}


def test_a_table_may_have_a_verdict_of_its_own_on_a_page_of_several(tmp_path):
    page = notebook(tmp_path / "a.ipynb", "**Verdict: fails.**", "**Verdict, Table 4: holds.**")
    found = [verdicts.verdict_of(page, "cvqa", place) for place in ("Table 3", "Table 4")]
    assert found == ["fails", "holds"]


def test_a_line_holds_the_page_its_verdict_and_its_claims(pages):
    ledger = [finding("table01", "holds"), finding("table01", "fails"), finding("other", "holds")]
    found = verdicts.index("sci", pages, [*ledger, finding("table01", "not comparable")])
    assert found["verdict"].tolist() == ["fails", MISSING]
    assert found["claims"].tolist() == ["1 of 2 hold", MISSING]
    links = verdicts.as_links("sci", found)
    assert '<a href="table01.html">table01</a>' in links and "verdict-fails" in links
    assert '<a href="../book/method.html">method</a>' in links and ">1 of 2 hold<" in links


def test_the_sentence_counts_each_page_once():
    words = ["holds", "holds", "fails", "fails", MISSING]
    frame = pd.DataFrame({"page": list("aaabc"), "verdict": words})
    assert verdicts.sentence("sci", frame) == (
        "Self-Critical Inference: 5 places lead to 3 pages. Of their own claims 1 hold, 2 fail, "
        "0 are inconclusive and 0 not comparable; 1 pages make no claim."
    )


def test_a_page_that_is_missing_is_named(pages):
    (pages / "table01.ipynb").unlink()
    with pytest.raises(verdicts.PageError, match=r"table01\.ipynb does not exist"):
        verdicts.index("sci", pages, [])


def test_a_table_that_is_left_out_makes_the_index_incomplete():
    places = [entry["place"] for entry in verdicts.load_index("sci")]
    frame = pd.DataFrame({"place": places, "page": places, "verdict": MISSING})
    assert verdicts.completeness("sci", frame) == "holds"
    for gone in ("Table 7", "Table 10", "Figure 2", "Figures 3, 4, 5"):
        assert verdicts.completeness("sci", frame[frame["place"] != gone]) == "fails"


def test_every_page_of_the_index_and_every_chapter_of_the_paper_is_there():
    named = {entry["page"] for entry in verdicts.load_index("sci")}
    for page in named:
        folder, ending = ("", ".md") if page.startswith("book/") else ("notebooks", ".py")
        assert (ROOT / folder / f"{page}{ending}").is_file(), page
    chapters = {path.stem for path in (ROOT / "notebooks").glob("*.py")}
    assert {name for name in chapters if name.startswith(("table", "fig"))} <= named
