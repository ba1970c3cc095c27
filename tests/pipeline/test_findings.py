"""A page renders the ledger's findings: its verdict, its table and its words are the ledger's."""

import json
import re
from functools import cache

import pandas as pd
import pytest

from sci_book import cli
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.pages import named, page_of
from sci_book.papers.shared.tables import VERDICTS
from sci_book.pipeline import claims, findings, ledger
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_companions
from sci_book.resources import FROZEN_RECORDS, RESULTS, ROOT
from sci_book.results.statistics import NO_DATA
from tests.papers.shared.committed import outputs, shown
from tests.soak import TIMES

POCKET = ["pocket-qwen2vl", "pocket-llavanext"]
RUN = {"oric_table05_rft": POCKET[1:], "oric_fig05_other_sets": POCKET[1:]}  # of one model
PAGES = sorted({claim.page for claim in load_claims(own=True) if claim.leads})
OWN = {claim.page for claim in load_claims(own=True) if claim.paper == "sci"}


@pytest.fixture(scope="module", autouse=True)
def tested_once():
    """A finding is the same for the command and for every page that asks for the same models."""
    draw_companions(say=print)  # some claims read them
    test, made = ledger._finding, {}
    read = cache(chapters.subjects)

    def finding(claim, model, evidence):
        beside = tuple(each.name for each in getattr(evidence, "others", ()))
        key = claim.paper, claim.id, model, beside
        if key not in made:
            made[key] = test(claim, model, evidence)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "_finding", finding)
        patch.setattr(chapters, "subjects", lambda models, records: read(tuple(models), records))
        yield


def shown_on(page):
    """The models whose findings the committed page shows."""
    models = RUN.get(page, POCKET)
    read = chapters.subjects if page in OWN else findings.named
    return read(models, FROZEN_RECORDS)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_the_findings_of_its_own_name(page):
    """So `pytest --nbval`, which makes every page anew, holds its verdict to the ledger."""
    source = (ROOT / "notebooks" / f"{page_of(page)}.py").read_text(encoding="utf-8")
    assert f'"{page}"' in source and re.search(r"ledger\.of_(page|sections)\(", source)
    assert "ledger.conclusion" in source
    head = f"**Verdict, {named(page)}: " if named(page) else "**Verdict: "
    assert any(head in text for text in shown(page_of(page), "text/markdown"))


@pytest.mark.parametrize("page", sorted(set(map(page_of, PAGES))))
def test_a_page_answers_first(page):
    """The verdict comes first, then a picture, and tables behind it."""
    kinds = []
    for data in outputs(page):
        said, html = data.get("text/markdown", ""), data.get("text/html", "")
        for kind, there in (
            ("verdict", said.startswith("**Verdict")),
            ("picture", '<figure class="shown"' in html),
            ("table", "<table" in html),
        ):
            kinds += [kind] if there else []
    first = kinds.index("picture")
    assert kinds[0] == "verdict" and "table" not in kinds[:first]


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
    assert "Hollow" not in caption
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


@pytest.mark.parametrize("page", PAGES if TIMES > 1 else COMPANIONS[::3])
def test_a_page_concludes_what_the_ledger_says(page):
    """Some pages whose claims take a moment; nbval makes every page anew, `make soak` all here."""
    made = findings.of_page(page, shown_on(page), RESULTS)
    said = findings.conclusion(made)
    assert any(said in text for text in shown(page_of(page), "text/markdown"))
    places = {claim.leads for claim in load_claims(own=True) if claim.page == page} - {""}
    for place in places:
        assert findings.verdict_of(made, place) in VERDICTS


@pytest.mark.parametrize("page", COMPANIONS)
def test_a_model_without_records_is_comparable_on_no_page(page, tmp_path):
    made = findings.of_page(page, findings.named(["nobody"], tmp_path))
    assert findings.verdict_of(made) in ("not comparable", "")
    for table in findings.tables(made):
        assert set(table.frame["verdict"]) == {"not comparable"}


def test_a_page_that_no_claim_names_is_refused():
    with pytest.raises(ValueError, match="has the page 'no_such_page'"):
        findings.of_page("no_such_page", [])


def test_the_command_prints_the_ledger_of_the_books_pages(capsys, monkeypatch):
    """A claim in four, and all of them in `make soak`."""
    if TIMES == 1:
        monkeypatch.setattr(claims, "load_claims", lambda: load_claims()[::4])
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["claims", "--json"])
    rows = json.loads(capsys.readouterr().out)["claims"]
    page = "\n".join(shown("verdicts", "text/plain"))
    for row in rows:
        title = chapters.subjects([row["model"]], FROZEN_RECORDS)[0].shown
        caption = f"each sentence of {PAPERS[row['paper']].title} that is tested here, {title} "
        line = next(
            line for line in page.split(caption)[1].splitlines() if f"({row['id']}) " in line
        )
        assert f" {row['verdict']} " in line, line
        if row["n"]:
            number = f"{row['estimate']:.4f}"
            assert number.replace("-", "−") in line or float(number) == 0
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
