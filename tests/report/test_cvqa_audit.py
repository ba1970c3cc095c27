"""C-VQA's transcribed tables, and what its audit finds in them and in planted slips."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from sci_core.report import audit as first
from sci_core.report.chapters import PAPER
from sci_core.report.cvqa import audit
from sci_core.report.cvqa.dataset import printed
from sci_core.report.cvqa.drops import read_table

real_data = pytest.mark.skipif(
    "SCI_REAL_DATA" not in os.environ, reason="the papers lie beside the real data"
)


@pytest.fixture(scope="module")
def paper():
    (path,) = (Path(os.environ["SCI_REAL_DATA"]).parent / "papers").glob("001_*.txt")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found():
    return audit.findings()


@pytest.mark.parametrize(("number", "rows"), [(3, 42), (4, 12), (5, 3), (6, 21), (7, 3)])
def test_tables_are_whole(number, rows):
    table = read_table(number)
    assert len(table) == rows and not table.duplicated(["model", "type"]).any()
    assert table["original"].between(0, 100).all()
    header = (PAPER / f"cvqa_table{number:02d}.csv").read_text(encoding="utf-8").splitlines()[0]
    assert not header.endswith(",metric,value")  # the first paper's audit reads those


@real_data
@pytest.mark.parametrize("number", [3, 4, 5, 6, 7])
def test_every_number_is_the_papers(paper, number):
    """Each model's line, its numbers in the printed order, stands in the paper's text."""
    text = re.sub(r"start_FLOATSUBSCRIPT.*?end_FLOATSUBSCRIPT", " ", paper)
    text = re.sub(
        r"\(([-+][\d.]+)\)\(\1\)\S*(?: \S*(?:pgfsys|definecolor|pgfstroke)\S*)*", r"(\1)", text
    )
    table = pd.read_csv(PAPER / f"cvqa_table{number:02d}.csv", dtype=str, keep_default_na=False)
    for model, lines in table.groupby("model", sort=False):
        numbers = [x for line in lines.itertuples() for x in (line.original, line.counterfactual)]
        if number == 5:  # a type a line
            starts = [f"{line.type.capitalize()} {line.original}" for line in lines.itertuples()]
            assert all(start in text for start in starts)
            continue
        (line,) = {
            one for one in text.splitlines()
            if model in one and f" {numbers[0]} {numbers[1]}" in one
        }  # fmt: skip
        said = re.findall(r"(?<![\d.{,-])\d+\.\d(?![\d}])", line.split(model, 1)[1])
        kept = [x for x in said if x in numbers]
        assert [x for x in numbers if x not in kept] == [], (model, said)
        for change in lines["change"]:
            assert not change or f"({change})" in line


@real_data
def test_the_printed_statistics_are_the_papers(paper):
    letters = re.sub(r"\s", "", paper)
    for line in printed().itertuples():
        assert line.value in letters, line.item
    for line in pd.read_csv(PAPER / "cvqa_prompt.csv", dtype=str).itertuples():
        assert f"Theanswerwouldbe{line.sum}" in letters


def test_the_specifications_findings(found):
    assert all(found[f"differences of Table {n}"].verdict == "consistent" for n in (3, 4, 5, 6))
    assert "123, 137 " in found["Table 5, direct"].follows
    assert "81, 118," in found["Table 5, indirect"].follows
    assert "123," in found["Table 5, boolean"].follows
    assert "327" in found["Table 5, all rows"].follows
    assert found["shares of no and yes"].follows == "623 no and 507 yes"
    assert found["shares of the types"].verdict == "consistent"
    assert found["sums of the prompt"].verdict == "inconsistent"
    assert "2-1+2=3 with the new answer 1" in found["sums of the prompt"].follows
    assert found["type-token ratio"].verdict == "cannot be told"


def test_sentences_that_their_tables_do_not_bear_out(found):
    wrong = {name for name, each in found.items() if each.verdict == "inconsistent"}
    assert {
        "up to 40 %", "all of them suffer", "direct drops are smaller", "neuro-symbolic gaps",
        "consistent drops of code models", "WizardCoder is least effective",
    } <= wrong  # fmt: skip
    assert found["GPT-4V’s drop"].verdict == found["step by step gains nothing"].verdict
    assert "6 of the 14" in found["always answering no"].follows


def test_findings_are_of_the_audits_shape(found):
    assert all(isinstance(each, first.Finding) for each in found.values())
    assert all(each.verdict in first.VERDICTS for each in found.values())
    assert len(first.ledger(found, name="cvqa", caption="C-VQA").frame) == len(found)


def test_a_planted_slip_is_found(monkeypatch):
    original = read_table

    def slipped(number):
        table = original(number)
        if number == 3:
            table.loc[0, "change"] = -0.9
        if number == 6:
            table.loc[0, "original"] = 83.7
        return table

    monkeypatch.setattr(audit, "read_table", slipped)
    found = audit.difference_findings()
    assert found["differences of Table 3"].follows == "41 recompute; not VisProg, direct"
    assert found["differences of Table 6"].verdict == "inconsistent"
    assert found["ViperGPT twice"].verdict == "inconsistent"
    assert found["differences of Table 4"].verdict == "consistent"


def test_planted_counts_are_found(monkeypatch):
    table = printed()
    table.loc[table["item"] == "share no", "value"] = "55.20"
    table.loc[table["item"] == "numerical", "value"] = "2015"
    monkeypatch.setattr(audit, "printed", lambda: table)
    found = audit.count_findings()
    wrong = {name for name, each in found.items() if each.verdict == "inconsistent"}
    assert wrong == {"types of questions", "all questions", "shares of no and yes"}


def test_a_tenth_that_is_one_would_be_told(monkeypatch):
    table = read_table(5)
    sizes = {"direct": 115, "indirect": 86, "boolean": 113}
    for side in ("original", "counterfactual"):
        table[side] = [
            round(100 * round(n * share / 100) / n, 1)
            for n, share in zip(sizes.values(), table[side], strict=True)
        ]
    monkeypatch.setattr(audit, "read_table", lambda number: table)
    assert {each.verdict for each in audit.sample_findings().values()} == {"consistent"}


@pytest.mark.parametrize(
    ("text", "expected"), [("2-1+2", 3), ("3+3", 6), ("2*2", 4), ("2-2", 0), ("10-3*2", 14)]
)
def test_sums_are_read_from_left_to_right(text, expected):
    assert audit.calculate(text) == expected
