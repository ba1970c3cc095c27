"""The transcribed tables obey their own arithmetic, and the audit finds what is planted."""

import pandas as pd
import pytest

from sci_book.papers.edge import audit
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, PAPER, UNTOLD
from tests.probes.printed_tables import (
    PAPERS_NEEDED,
    copied,
    letters,
    of,
    paper_text,
    plant,
)

ROWS = {
    "edge_table04": 9, "edge_table05": 22, "edge_table06": 6, "edge_table07": 14,
    "edge_table08": 20, "edge_table09": 21, "edge_table10": 20, "edge_table11": 25,
    "edge_table12": 22, "edge_table13": 4, "edge_table14": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def printed():
    return audit.Printed()


@pytest.fixture(scope="module")
def found(printed):
    return audit.findings(printed)


def test_every_table_is_there(printed):
    assert {name: len(table) for name, table in printed.tables.items()} == ROWS
    for table in printed.tables.values():
        assert list(table) == ["table", "dataset", "model", "item", "metric", "unit", "value"]


@PAPERS_NEEDED
def test_quotes_are_the_papers_words():
    paper = letters(paper_text("002"))
    quotes = pd.read_csv(PAPER / "edge_quotes.csv", dtype=str)
    for line in quotes.itertuples():
        for piece in line.quote.split("[…]"):
            assert letters(piece) in paper, f"{line.id}: {piece}"
        assert line.printed in line.quote or "[…]" in line.quote


def test_counts_behind_table_5(printed):
    counts = audit.label_counts(printed)
    order = [(model, dataset) for dataset in ("VQAv2", "COCO") for model in printed.models]
    assert [list(counts[each].values()) for each in order] == [
        [19, 50, 3, 19, 9], [15, 28, 11, 24, 22], [41, 47, 0, 8, 4], [16, 77, 0, 3, 4]
    ]  # fmt: skip


def test_what_is_inconsistent(found):
    assert of(found, INCONSISTENT) == {
        "lowest bin",
        "severity of the blur",
        "judgements per data set",
        "p of the gap, both",
        "categories of the tree",
        "“no” of false_yn",
        "what ρ of precision compares",
        "what ρ of architecture compares",
    }


def test_what_cannot_be_told(found):
    assert of(found, UNTOLD) == {
        "kappa, VQAv2",
        "kappa, COCO",
        "rho, precision",
        "rho, scale",
        "significance of the ablation",
    }


def test_what_the_findings_say(found):
    assert "two-sided p = 1.29e-08, one-sided 6.43e-09" in found["p of the gap, both"].follows
    assert "σ = 1.29" in found["severity of the blur"].follows
    assert "gap low 8.193, gap high 16.81, z 5.688" in found["gap, both"].follows
    assert "the exact test's is 1" in found["McNemar's p"].follows
    assert "tree as printed: A, B, D;" in found["categories of the tree"].follows
    assert "100 rows × 4 templates = 400" in found["judgements per data set"].follows
    assert found["what ρ of precision compares"].follows == "different: architecture and scale"
    assert found["what ρ of architecture compares"].follows.endswith("architecture and scale")
    assert found["what ρ of scale compares"][2:4] == ("different: scale", CONSISTENT)
    assert "p is 0.125" in found["significance of the ablation"].follows


PLANTED = {
    # where a digit is changed: which findings stop being consistent
    ("edge_table04", "COCO", "Qwen2.5-VL-7B", "", "accuracy"): (
        "90.0", {"combined accuracy, Qwen2.5-VL-7B", "difference in accuracy, COCO",
                 "accuracy of the bins, Qwen2.5-VL-7B, COCO"},
    ),
    ("edge_table05", "VQAv2", "Qwen2.5-VL-7B", "C", "share"): (
        "21.4", {"labels, Qwen2.5-VL-7B, VQAv2"},
    ),
    ("edge_table06", "COCO", "SmolVLM2-500M", "", "ECE"): (
        "0.413", {"ECE, SmolVLM2-500M, COCO", "mean ECE, SmolVLM2-500M"},
    ),
    ("edge_table07", "both", "SmolVLM2-500M / Qwen2.5-VL-7B", "", "McNemar p"): (
        "0.638", {"McNemar's p"},
    ),
    ("edge_table08", "both", "Qwen2.5-VL-3B", "FP16", "retention"): (
        "0.915", {"retention, Qwen2.5-VL-3B FP16"},
    ),
    ("edge_table09", "both", "SmolVLM2-500M", "", "negation low"): (
        "64.3", {"interval of SmolVLM2-500M"},
    ),
    ("edge_table10", "COCO", "Qwen2.5-VL-7B", "is_not", "success"): (
        "79", {"mean of the templates, Qwen2.5-VL-7B, COCO", "Tables 9 and 10, Qwen2.5-VL-7B",
               "interval of Qwen2.5-VL-7B", "gap, both", "gap, COCO", "p of the gap, COCO"},
    ),
    ("edge_table11", "VQAv2", "SmolVLM2-500M", "[0.5,0.6)", "accuracy"): (
        "32.4", {"ECE, SmolVLM2-500M, VQAv2", "bins, SmolVLM2-500M, VQAv2",
                 "accuracy of the bins, SmolVLM2-500M, VQAv2"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLANTED, ids=lambda place: place[0])
def test_a_slip_of_a_digit_is_found(place, found, tmp_path):
    table, *fields = place
    value, expected = PLANTED[place]
    cell = dict(zip(("dataset", "model", "item", "metric"), fields, strict=True))
    plant(copied("edge", tmp_path), table, cell, value)
    changed = audit.findings(audit.Printed(tmp_path))
    lost = {"kappa, VQAv2", *(f"Figure 1, VQAv2, {category}" for category in "ABCD")}
    assert found.keys() - changed.keys() == (lost if table == "edge_table05" else set())
    assert of(changed, INCONSISTENT) - of(found, INCONSISTENT) == expected
    assert of(found, CONSISTENT) >= expected
