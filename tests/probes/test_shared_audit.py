"""The parts that every audit stands on, and what the audits of three papers have in common."""

import pytest

from sci_book.papers.edge import audit as edge
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


def test_values_round_to_what_is_printed_and_tables_have_titles():
    assert rounds_to(8.193, "8.19") and not rounds_to(8.193, "8.20")
    assert table_title("oric_table04") == "Table 4"
