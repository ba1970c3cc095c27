"""The index: every table and figure leads to a page, and says what that page says."""

import re
from dataclasses import replace

import nbformat
import pandas as pd
import pytest

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.pages import page_of
from sci_book.papers.shared.tables import MISSING
from sci_book.pipeline import verdicts
from sci_book.pipeline.claims import Claim, load_claims
from sci_book.pipeline.ledger import Finding
from sci_book.pipeline.matrix import load_probes
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
    claim = Claim("x", "sci", "Section 1", "", page, "B is large.", "size", {})
    return Finding(claim, "m", verdict, "", Interval(0.0, 0.0, 0.0, 1, 1), (), "m")


@pytest.fixture
def pages(tmp_path, monkeypatch):
    entries = [
        {"place": "Table 1", "what": "sizes", "page": "matrix"},
        {"place": "Equation 1", "what": "TIE", "page": "book/method"},
    ]
    monkeypatch.setattr(verdicts, "load_index", lambda paper: entries)
    notebook(tmp_path / "matrix.ipynb", "**Verdict: fails.** So it is.")
    return tmp_path


def test_the_verdict_is_the_one_that_the_page_prints(tmp_path):
    page = notebook(tmp_path / "a.ipynb", "words", "**Verdict: holds**")
    assert verdicts.verdict_of(page, "sci") == "holds"
    both = notebook(tmp_path / "b.ipynb", "**Verdict: holds.** x", "**Verdict: inconclusive.** y")
    assert verdicts.verdict_of(both, "sci") == verdicts.verdict_of(both, "edge") == "inconclusive"
    none = notebook(tmp_path / "c.ipynb", "no **Verdict: {verdict}** here")
    assert verdicts.verdict_of(none, "sci") == MISSING


def test_a_page_about_several_papers_has_a_verdict_for_each(tmp_path):
    texts = ("**Verdict, Self-Critical Inference: fails.**", "**Verdict, C-VQA: holds.**")
    page = notebook(tmp_path / "a.ipynb", *texts)
    found = {paper: verdicts.verdict_of(page, paper) for paper in ("sci", "cvqa", "edge")}
    assert found == {"sci": "fails", "cvqa": "holds", "edge": MISSING}


def test_a_table_may_have_a_verdict_of_its_own_on_a_page_of_several(tmp_path):
    page = notebook(tmp_path / "a.ipynb", "**Verdict: fails.**", "**Verdict, Table 4: holds.**")
    found = [verdicts.verdict_of(page, "cvqa", place) for place in ("Table 3", "Table 4")]
    assert found == ["fails", "holds"]


def test_a_section_has_the_verdict_that_its_page_prints_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(verdicts, "named", lambda name: f"[Blur: more](#{name})")
    texts = ("**Verdict, [Blur: more](#blur): fails.** x", "**Verdict, [Errors](#errors): holds.**")
    page = notebook(tmp_path / "a.ipynb", *texts)
    assert verdicts.verdict_of(page, "edge", "Table 7", "blur") == "fails"
    assert verdicts.verdict_of(page, "edge", "Table 7", "other") == MISSING


def test_a_line_holds_the_page_its_verdict_and_its_claims(pages):
    ledger = [finding("matrix", "holds"), finding("matrix", "fails"), finding("other", "holds")]
    found = verdicts.index("sci", pages, [*ledger, finding("matrix", "not comparable")])
    assert found["own"].tolist() == ["fails", MISSING]
    assert found["verdict"].tolist() == ["fails", MISSING]
    assert found["claims"].tolist() == ["1 holds, 1 fails, 1 not comparable", MISSING]
    alone = verdicts.index("sci", pages, [finding("matrix", "holds"), finding("matrix", "holds")])
    assert alone["verdict"].tolist() == ["holds", MISSING]  # of the sentences, not of the page
    most = [finding("matrix", "holds"), *2 * [finding("matrix", "not comparable")]]
    assert verdicts.index("sci", pages, most)["verdict"].tolist() == ["not comparable", MISSING]


def test_a_sentence_that_names_a_table_is_not_of_another_on_its_page(pages, monkeypatch):
    entries = [{"place": f"Table {n}", "what": "x", "page": "matrix"} for n in (1, 10)]
    monkeypatch.setattr(verdicts, "load_index", lambda paper: entries)

    def at(place, word):
        made = finding("matrix", word)
        return replace(made, claim=replace(made.claim, place=place))

    made = [at("Section 4", "holds"), at("Appendix D, Table 10", "fails"), at("Table 1", "holds")]
    found = verdicts.index("sci", pages, made)
    assert found["verdict"].tolist() == ["holds", "fails"]
    assert found["claims"].tolist() == ["2 hold", "1 holds, 1 fails"]


def test_the_page_that_shows_the_index_has_the_ledgers_verdict(pages, monkeypatch):
    entries = [{"place": "the text", "what": "sentences", "page": verdicts.SCOREBOARD}]
    monkeypatch.setattr(verdicts, "load_index", lambda paper: entries)
    found = verdicts.index("sci", pages, [finding("a", "holds"), finding("b", "fails")])
    assert found["verdict"].tolist() == ["fails"]


def test_a_claim_has_the_verdict_of_the_models_it_can_be_tested_on():
    made = [
        replace(finding("p", word), model=model, title=model)
        for model, word in (("a", "holds"), ("b", "not comparable"))
    ]
    (line,) = verdicts.claim_lines("sci", made).to_dict("records")
    assert line == {"id": made[0].claim.id, "place": "Section 1", "what": "B is large.",
                    "page": "p", "verdict": "holds", "claims": "a: holds"}  # fmt: skip
    (line,) = verdicts.claim_lines("sci", made[1:]).to_dict("records")
    assert (line["verdict"], line["claims"]) == ("not comparable", "b: not comparable")
    (line,) = verdicts.claim_lines("sci", [made[0], made[0]]).to_dict("records")
    assert line["claims"] == "a: holds"  # of the questions, say, alike for every model
    certain = replace(made[0], claim=replace(made[0].claim, by_construction=True))
    still = replace(certain, word="inconclusive")
    (line,) = verdicts.claim_lines("sci", [certain, still]).to_dict("records")
    assert line["verdict"] == "by construction"
    assert line["claims"] == "a: holds; a: inconclusive on its records alone"


def test_the_scoreboard_links_pages_by_their_titles():
    line = {"place": "Table <1>", "what": "`sizes`", "verdict": "fails", "claims": "m: *fails*"}
    frame = pd.DataFrame([line | {"page": page} for page in ("results", "book/method")])
    made = verdicts.scoreboard({"sci": frame, "oric": frame})
    assert made.count("<details") == 2 and made.count(" open>") == 1
    assert '<a href="results.html">Results at a glance</a>' in made
    assert '<a href="../book/method.html">The method, equation by equation</a>' in made
    assert "<code>sizes</code>" in made and "m: <em>fails</em>" in made
    assert "Table &lt;1&gt;" in made and made.count("verdict-fails") == 4
    with pytest.raises(verdicts.PageError, match="names nowhere, and there is no such page"):
        verdicts.scoreboard({"sci": frame.assign(page="nowhere")})


def test_the_sentence_counts_each_page_once():
    words = ["holds", "holds", "fails", "fails", MISSING]
    frame = pd.DataFrame({"page": list("aaabc"), "own": words})
    assert verdicts.sentence({"sci": frame[:2], "oric": frame[2:]}) == (
        "5 tables, figures and other places of the papers lead to 3 sections of the book. Of the "
        "sections' own claims, some having several, 1 hold, 2 fail, 0 are inconclusive and 0 not "
        "comparable; 1 sections make no claim."
    )


def test_the_claims_of_a_paper_are_counted_and_those_that_fail_are_named():
    words = ["holds", "fails", "by construction", "holds"]
    lines = pd.DataFrame({"what": list("abcd"), "verdict": words})
    lines = lines.assign(place="Section 1", page="results", claims="m: fails")
    assert verdicts.claims_sentence("oric", lines) == (
        "- **ORIC**, 4 claims: 2 hold, 1 fails, 1 by construction. Those that fail:\n"
        "  - b (Section 1: [Results at a glance](results.html)) **m: fails.**"
    )
    assert "fail" not in verdicts.claims_sentence("oric", lines[:1])
    assert verdicts.claims_verdict([lines, lines]) == (
        "**The papers’ sentences: not every one holds.** 6 can be judged and can fail: 4 hold on "
        "every model they can be tested on, 2 fail on at least one, 0 are inconclusive."
    )
    assert "every one holds.** 2" in verdicts.claims_verdict([lines[:1], lines[2:]])


def test_a_page_that_is_missing_is_named(pages):
    (pages / "matrix.ipynb").unlink()
    with pytest.raises(verdicts.PageError, match=r"matrix\.ipynb does not exist"):
        verdicts.index("sci", pages, [])


def test_a_table_that_is_left_out_makes_the_index_incomplete():
    places = [entry["place"] for entry in verdicts.load_index("sci")]
    frame = pd.DataFrame({"place": places, "page": places, "verdict": MISSING})
    assert verdicts.completeness("sci", frame) == "holds"
    for gone in ("Table 7", "Table 10", "Figure 2", "Figures 3, 4, 5"):
        assert verdicts.completeness("sci", frame[frame["place"] != gone]) == "fails"


@pytest.mark.parametrize("paper", list(PAPERS))
def test_a_place_without_page_or_reason_makes_the_index_incomplete(paper, monkeypatch):
    frame = pd.DataFrame(verdicts.load_index(paper))
    assert verdicts.completeness(paper, frame) == "holds"
    reasons = verdicts.load_without()
    for gone in (entry for entry in reasons if entry["paper"] == paper):
        left = [entry for entry in reasons if entry is not gone]
        with monkeypatch.context() as patch:
            patch.setattr(verdicts, "load_without", lambda left=left: left)
            assert verdicts.completeness(paper, frame) == "fails", gone["place"]


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_measure_is_claimed_or_probed_and_the_index_has_the_pages_of_all_claims(paper):
    claims = [claim for claim in load_claims(own=True) if claim.paper == paper]
    used = {each.measure for each in (*claims, *load_probes()) if each.paper == paper}
    assert used == set(PAPERS[paper].measures)
    entries = [*verdicts.load_index(paper), *verdicts.load_index(verdicts.OURS)]
    assert {claim.page for claim in claims} <= {entry["page"] for entry in entries}


def test_what_has_no_page_is_named_with_its_reason():
    lines = verdicts.without_lines(list(PAPERS)).splitlines()
    assert len(lines) == len(verdicts.load_without())
    assert all(re.fullmatch(r"- .+, (Table|Figure).+ \(.+\): .{20,}\.", line) for line in lines)
    for named in ("- ORIC, Figure 4 (", "- ORIC, Figures 8, 9 (", "- MetaRA, Figure 1 ("):
        assert sum(line.startswith(named) for line in lines) == 1
    told = f"{len(lines)} further places have no page ([why](#what-has-no-page))."
    assert verdicts.without_sentence(list(PAPERS)) == told
    assert verdicts.without_sentence(["sci"]) == ""
    assert verdicts.without_lines(["sci"]) == "Nothing."
    for paper in PAPERS:  # nothing has both
        places = {entry["place"] for entry in verdicts.load_index(paper)}
        without = {entry["place"] for entry in verdicts.load_without() if entry["paper"] == paper}
        assert not places & without


@pytest.mark.parametrize("paper", PAPERS)
def test_the_tables_and_figures_of_a_paper_are_those_of_its_captions(paper, paper_text):
    text = paper_text(paper)
    roman = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]
    figures = {int(n) for n in re.findall(r"\b(?:Figure|Fig\.) (\d+)[.:] ?\W*(?:[A-Z]|a\))", text)}
    tables = {int(n) for n in re.findall(r"\bTable (\d+)[.:] ?\W*[A-Z]", text)}
    tables |= {roman.index(n) + 1 for n in re.findall(r"\bTABLE ([IVX]+): ", text)}
    assert figures == PAPERS[paper].figures and tables == PAPERS[paper].tables


def test_what_is_ours_stands_apart_from_the_papers(pages):
    ours = verdicts.index(verdicts.OURS, pages, [])
    assert ours["verdict"].tolist() == ["fails", MISSING]
    lines = pd.DataFrame({"verdict": ["holds", "inconclusive"]})
    assert verdicts.claims_sentence(verdicts.OURS, lines) == (
        "- **Ours, which no paper asks**, 2 claims: 1 holds, 1 inconclusive."
    )


def test_every_page_of_the_index_and_every_chapter_of_the_paper_is_there():
    entries = [*verdicts.load_index("sci"), *verdicts.load_index(verdicts.OURS)]
    named = {page_of(entry["page"]) for entry in entries}  # an error where there is none
    chapters = {path.stem for path in (ROOT / "notebooks").glob("*.py")}
    assert {name for name in chapters if name.startswith(("table", "fig"))} <= named
