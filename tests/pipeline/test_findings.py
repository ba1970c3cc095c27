"""A page renders the ledger's findings: its verdict, its table and its words are the ledger's."""

import json
import re

import pandas as pd
import pytest

from sci_book import cli
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.pages import named, page_of
from sci_book.papers.shared.tables import number
from sci_book.pipeline import claims, findings, ledger
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_companions
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.statistics import NO_DATA
from tests.papers.shared.committed import shown
from tests.soak import TIMES

POCKET = ["pocket-qwen2vl", "pocket-llavanext"]
PAGES = sorted({claim.page for claim in load_claims(own=True) if claim.leads})
OWN = {claim.page for claim in load_claims(own=True) if claim.paper == "sci"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_the_findings_of_its_own_name(page):
    """So `pytest --nbval`, which makes every page anew, holds its verdict to the ledger."""
    source = (ROOT / "notebooks" / f"{page_of(page)}.py").read_text(encoding="utf-8")
    assert f'"{page}"' in source and re.search(r"ledger\.of_(page|sections)\(", source)
    assert "ledger.conclusion" in source
    head = f"**Verdict, {named(page)}: " if named(page) else "**Verdict: "
    assert any(head in text for text in shown(page_of(page), "text/markdown"))


@pytest.fixture
def drawn(monkeypatch):
    """The figures, captions and texts that are shown."""
    calls = []
    monkeypatch.setattr(findings.figures, "show", lambda *given: calls.append(given))
    return calls


def test_the_parts_of_a_claim_are_drawn_with_what_is_claimed(drawn):
    made = findings.of_page("cvqa_tables03_05_fig01_drop", findings.named(POCKET, FROZEN_RECORDS))
    findings.show_parts(made, "What is lost.", xlabel="points lost")
    figure, caption, alt = drawn[0]
    (ax,) = figure.axes
    dots = {line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1}
    lead = findings.leading(made)
    parts = [(what, measured) for finding in lead for what, measured, _ in finding.parts]
    assert dots == {100 * measured.estimate for _, measured in parts}
    assert [label.get_text() for label in ax.get_yticklabels()] == [what for what, _ in parts[:3]]
    assert caption.startswith("What is lost. The shaded side is claimed")
    assert ("Hollow" in caption) == any(finding.unmet for finding in lead)
    assert alt.endswith("the claimed side is shaded.") and "drop of base, boolean" in alt


def test_a_claim_that_nobody_can_be_asked_is_drawn_as_a_sentence(drawn, tmp_path):
    made = findings.of_page("cvqa_fig05_groups", findings.named(["nobody"], tmp_path))
    findings.show_parts(made, "What is lost.", xlabel="points lost")
    assert "No model has an answer" in drawn[0][0].axes[0].texts[0].get_text()
    assert drawn[0][1] == "What is lost."


def test_a_negative_margin_has_a_minus_sign():
    (below,) = (claim for claim in load_claims(own=True) if claim.margin < 0)
    assert claims.claimed(below, 100.0) == "> −1"


COMPANIONS = [page for page in PAGES if page not in OWN]


@pytest.mark.parametrize("page", COMPANIONS)
def test_a_model_without_records_is_comparable_on_no_page(page, tmp_path):
    made = findings.of_page(page, findings.named(["nobody"], tmp_path))
    assert findings.verdict_of(made) in ("not comparable", "")
    for table in findings.tables(made):
        assert set(table.frame["verdict"]) == {"not comparable"}


def test_a_page_that_no_claim_names_is_refused():
    with pytest.raises(ValueError, match="has the page 'no_such_page'"):
        findings.of_page("no_such_page", [])


@pytest.mark.slow
def test_the_command_prints_the_ledger_of_the_books_pages(capsys, monkeypatch):
    """A claim in eight, and all of them in `make soak`."""
    draw_companions(say=print)  # some claims read them
    if TIMES == 1:
        monkeypatch.setattr(claims, "load_claims", lambda: load_claims()[::8])
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["claims", "--json"])
    rows = json.loads(capsys.readouterr().out)["claims"]
    page = "\n".join(shown("verdicts", "text/plain"))
    titles = {each.name: each.shown for each in chapters.subjects(POCKET, FROZEN_RECORDS)}
    for row in rows:
        title = titles[row["model"]]
        caption = f"each sentence of {PAPERS[row['paper']].title} that is tested here, {title} "
        line = next(
            line for line in page.split(caption)[1].splitlines() if f"({row['id']}) " in line
        )
        assert f" {row['verdict']} " in line, line
        if row["n"]:
            assert number(row["estimate"], 4) in line
    assert set(pd.DataFrame(rows)["paper"]) == set(PAPERS)


def test_a_sentence_that_is_quoted_leads_its_place_and_an_unknown_one_is_refused():
    made = [
        ledger.Finding(claim, "mine", "holds", "a", NO_DATA, (("a", NO_DATA, "holds"),), "Mine")
        for claim in load_claims() if claim.page == "oric_table04_fig10_sizes"
    ]  # fmt: skip
    led = findings.led_by(made, "context-rather-than-scale", "the conclusion")
    assert [f.claim.id for f in led if f.claim.leads == "the conclusion"] == [
        "context-rather-than-scale"
    ]
    assert [f.parts for f in led] == [f.parts for f in made]
    with pytest.raises(ValueError, match="'no-such-claim'; name one of this page's"):
        findings.led_by(made, "no-such-claim", "the conclusion")
    assert findings.led_by([], "no-such-claim", "the conclusion") == []


@pytest.mark.parametrize(
    ("claim", "part", "unit"),
    [
        ("context-rather-than-scale", "left less gone", " points"),
        ("near-perfect-on-pope", "macro F1", " %"),
        ("cvqa-forty", "drop of base, direct", " points"),
        ("near-perfect-on-pope", "share also in X-dropout’s BS", " %"),
    ],
)
def test_a_share_is_in_percent_and_a_gap_in_points(claim, part, unit):
    (known,) = (each for each in load_claims() if each.id == claim)
    assert claims.unit_of(known, part) == unit
