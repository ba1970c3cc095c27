"""The parts that every audit stands on, and what the audits of three papers have in common."""

import re

import pytest

from sci_book.papers.edge import audit as edge
from sci_book.papers.edge.printed import ROW_LABELS
from sci_book.papers.metara import audit as metara
from sci_book.papers.oric import audit as oric
from sci_book.papers.shared import audit as pages
from sci_book.papers.shared.audit import (
    INCONSISTENT,
    PAPER,
    VERDICTS,
    Finding,
    rounds_to,
    table_title,
)
from sci_book.papers.shared.tables import MISSING

AUDITS = {"edge": edge, "oric": oric, "metara": metara}
# by paper: a table, fields that no row has, and fields that this many rows have
LOOK_UPS = {
    "edge": ("edge_table06", {"dataset": "COCO", "model": "no such model"}, {"dataset": "COCO"}, 2),
    "oric": ("oric_table06", {"model": "no such encoder"}, {"model": "CLIP-ViT-BigG-P14"}, 2),
    "metara": ("metara_table05", {"dataset": "VQAv2"}, {"metric": "FR"}, 6),
}


@pytest.mark.parametrize("paper", AUDITS)
def test_tables_are_long_and_whole(paper):
    for name, table in AUDITS[paper].Printed().tables.items():
        fields = list(table)[1:-2]
        assert list(table) == ["table", *fields, "unit", "value"] and fields[-1] == "metric"
        assert (table["table"] == name).all()
        assert not table.duplicated(fields).any()
        assert table["value"].astype(float).notna().all()


@pytest.mark.parametrize("paper", AUDITS)
def test_the_first_papers_audit_does_not_take_these_tables_for_its_own(paper):
    for path in PAPER.glob(f"{paper}_*.csv"):
        assert not path.read_text(encoding="utf-8").splitlines()[0].endswith(",metric,value")


@pytest.mark.parametrize("paper", AUDITS)
def test_look_ups_name_what_is_missing(paper, tmp_path):
    printed = AUDITS[paper].Printed()
    table, none, several, count = LOOK_UPS[paper]
    with pytest.raises(LookupError, match=f"{table} holds 0 values of"):
        printed.text(table, **none)
    with pytest.raises(LookupError, match=f"holds {count} values"):
        printed.number(table, **several)
    with pytest.raises(FileNotFoundError, match=rf"no transcribed table \({paper}_table"):
        AUDITS[paper].Printed(tmp_path)


@pytest.mark.parametrize("paper", AUDITS)
def test_pages_take_the_findings(paper):
    findings = AUDITS[paper].findings()
    assert len(findings) > 30 and all(isinstance(each, Finding) for each in findings.values())
    assert pages.verdict_of(findings.values()) == "fails"
    wrong = sum(finding.verdict == INCONSISTENT for finding in findings.values())
    tally = pages.tally({paper: findings}).loc["all"]
    assert list(tally.index) == list(VERDICTS)
    assert tally.sum() == len(findings) and tally[INCONSISTENT] == wrong
    assert len(pages.ledger(findings, name=paper, caption="").frame) == len(findings)


IN_QUESTION = {  # by paper and table: how many numbers, and some of them
    "edge": {"edge_table08": (2, {"inf", "0.75"}), "edge_table09": (1, {"1e-8"})},
    "oric": {
        "oric_table01": (3, {"58.00", "60.32", "60.79"}),
        "oric_table10": (10, {"78.75", "79.50", "78.61", "42.12", "81.54", "71.95", "49.20"}),
    },
    "metara": {
        "metara_table02": (16, {"5.8"}),
        "metara_table03": (13, {"14.2"}),
        "metara_table04": (13, {"16.0", "60.6", "5"}),
        "metara_table05": (6, {"11.4", "10.0"}),
        "metara_table06": (4, {"6.4", "7.2", "9.1", "5.8"}),
    },
}
ROWS = {
    "edge": lambda name: ROW_LABELS,
    "oric": lambda name: oric.ROW_LABELS,
    "metara": metara.ROW_LABELS.__getitem__,
}


@pytest.mark.parametrize("paper", AUDITS)
def test_tables_are_redrawn_with_the_findings_cells_marked(paper):
    tables, findings = AUDITS[paper].Printed().tables, AUDITS[paper].findings().values()
    reasons = pages.in_question(tables, findings)
    assert set(reasons) == set(IN_QUESTION[paper])
    for name, (count, some) in IN_QUESTION[paper].items():
        values = tables[name]["value"][reasons[name].map(bool)]
        assert len(values) == count and some <= set(values)
    drawn = pages.redraw(tables, findings, rows=ROWS[paper], title=str)
    assert [table.folded for table in drawn] == [False] + [True] * (len(drawn) - 1)
    for table in drawn:
        name = table.name.removeprefix("redrawn-")
        signed = table.frame.map(lambda text: text[0] in pages.SIGNS)
        assert (signed == table.doubts.ne("")).all(axis=None)
        assert signed.sum().sum() == IN_QUESTION[paper][name][0]
        assert (table.frame != MISSING).sum().sum() == len(tables[name])
        html = table._repr_html_()
        assert html.count("in-question") == signed.sum().sum() == html.count("title=")
        assert all(f"<li>{note}</li>" in html for note in table.notes)


def test_the_summary_says_how_many_numbers_are_in_question():
    tables, findings = oric.Printed().tables, oric.findings().values()
    text = pages.summary(tables, findings, title=table_title)
    numbers = sum(map(len, tables.values()))
    wrong = [finding for finding in findings if finding.verdict == INCONSISTENT]
    apart = sum(not finding.marks for finding in wrong)
    assert text.startswith(f"13 of {numbers} printed numbers are in question: Table ")
    named = re.search(r"in question: (.*?)\. ", text)[1]
    assert sum(map(int, re.findall(r"\((\d+)\)", named))) == 13
    assert f"{len(wrong)} of {len(findings)} checks fail; {apart} of these are about" in text
    assert text.endswith("No number is in question in: Table 3, Table 4, Table 5, Table 6, "
                         "Table 7, Table 8.")  # fmt: skip


def test_a_mark_without_a_number_is_refused():
    tables = oric.Printed().tables
    lost = pages.Mark("oric_table01", {"model": "nobody"}, "It is not there.")
    with pytest.raises(LookupError, match="oric_table01 has no number at"):
        pages.in_question(tables, [Finding("", "", "", INCONSISTENT, [lost])])
    assert not pages.in_question(tables, [Finding("", "", "", VERDICTS[0], [lost])])


def test_what_is_not_consistent_is_picked():
    findings = {verdict: Finding("", "", "", verdict) for verdict in VERDICTS}
    assert list(pages.not_consistent(findings)) == list(VERDICTS[1:])


def test_values_round_to_what_is_printed_and_tables_have_titles():
    assert rounds_to(8.193, "8.19") and not rounds_to(8.193, "8.20")
    assert table_title("oric_table04") == "Table 4"
