"""MetaRA in the ledger: its places, its claims, and that each can come out otherwise."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from sci_book.papers.metara import paper
from sci_book.papers.metara.audit import Printed
from sci_book.papers.metara.chapters import (
    answers,
    measures,
    models,
)
from sci_book.papers.metara.chapters.answers import rows_of
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import PAPER, Subject
from sci_book.pipeline import ledger, verdicts
from sci_book.pipeline.claims import load_claims
from sci_book.results.records import write_records
from tests.report.metara_answers import saying, truth, wrong_where

ROOT = Path(__file__).resolve().parents[2]
FROZEN = ROOT / "data_manifests" / "records"
QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SETS = yaml.safe_load((ROOT / "data_manifests/datasets/pocket_metara.yaml").read_text())["parts"]


@pytest.fixture(scope="module")
def frozen():
    paper.draw(say=lambda _: None)
    return answers.subjects([QWEN, LLAVA], FROZEN).subjects


@pytest.fixture(scope="module")
def rows(frozen):
    """Every row that was drawn, with its data set."""
    return pd.concat([rows_of(name).assign(set=name) for name in SETS], ignore_index=True)


def test_models_of_the_paper_stand_beside_by_name():
    printed = Printed()
    frame = pd.read_csv(PAPER / "metara_relatives.csv", dtype=str, keep_default_na=False)
    for row in frame.itertuples():
        assert models.relative(row.label, row.table) == (row.model, row.base)
        assert (row.model, row.base) in printed.methods(row.table)
    assert models.relative(None, "metara_table02") is None


def test_twelve_claims_and_every_place():
    claims = [each for each in load_claims(own=True) if each.paper == "metara"]
    assert len(claims) >= 12 and {each.measure for each in claims} == set(measures.MEASURES)
    pages = {each.page for each in claims}
    entries = verdicts.load_index("metara")
    assert pages <= {entry["page"] for entry in entries}
    assert verdicts.completeness("metara", pd.DataFrame(entries)) == "holds"
    assert {"Figure A", "Figure B"} <= {entry["place"] for entry in entries}
    for entry in entries:
        assert (ROOT / "notebooks" / f"{entry['page']}.py").is_file(), entry


def test_claims_are_tested_on_the_frozen_records(frozen):
    claims = [each for each in load_claims() if each.paper == "metara"]
    subjects = chapters.subjects([QWEN], FROZEN)
    found = ledger.evaluate(claims, subjects, None)
    assert all(each.verdict != "not comparable" and each.interval.n for each in found)
    assert {each.verdict for each in found} >= {"holds", "fails"}
    assert PAPERS["metara"].evidence([replace(subjects[0], path=Path("x/none.parquet"))], None) == [
        None
    ]


def test_every_claim_can_come_out_otherwise(frozen, rows, tmp_path):
    """For every claim there is a model of which it does not hold."""
    claims = [each for each in load_claims() if each.paper == "metara"]
    subject = replace(chapters.subjects([QWEN], FROZEN)[0], path=tmp_path / f"{QWEN}.parquet")
    benign = wrong_where(lambda row: row["relation"] in ("MR1", "MR3"))
    held = set()
    for say in (truth, benign):
        made = saying(frozen[0], rows, say)
        write_records(tmp_path / "metara" / f"{QWEN}.parquet", made.records)
        found = ledger.evaluate(claims, [subject], None)
        held |= {(each.claim.id, say is truth) for each in found if each.verdict == "holds"}
    assert not [each.id for each in claims if {(each.id, True), (each.id, False)} <= held]


def test_records_are_written_and_read_back(frozen, tmp_path):
    write_records(tmp_path / "metara" / f"{QWEN}.parquet", frozen[0].records)
    (one,) = answers.subjects([QWEN], tmp_path).subjects
    assert isinstance(one, Subject) and one.records.keys == frozen[0].records.keys
