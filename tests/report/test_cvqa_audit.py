"""C-VQA's transcribed tables, and what its audit finds in them and in planted slips."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from sci_book.papers.cvqa.chapters import audit
from sci_book.papers.cvqa.chapters.dataset import printed
from sci_book.papers.cvqa.chapters.drops import read_table
from sci_book.papers.shared import audit as first
from sci_book.papers.shared.chapters import PAPER
from tests.probes.printed_tables import PAPERS_NEEDED, of, paper_text


@pytest.fixture(scope="module")
def paper():
    return paper_text("001")


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


@PAPERS_NEEDED
@pytest.mark.parametrize("number", [3, 4, 5, 6, 7])
def test_every_number_is_the_papers(paper, number):
    """Each model's line of the paper's text has its numbers, all of them and in the same order."""
    table = pd.read_csv(PAPER / f"cvqa_table{number:02d}.csv", dtype=str, keep_default_na=False)
    printed_lines = paper.split(f"\nTable {number}: ", 1)[1].splitlines()
    heads = [f"Numerical {kind.capitalize()}" if kind != "boolean" else "Boolean"
             for kind in table["type"]] if number == 5 else table["model"]  # fmt: skip
    for head, lines in table.groupby(list(heads), sort=False):
        line = next(one for one in printed_lines if re.search(rf"{re.escape(head)} \d", one))
        values = line.split(head, 1)[1]
        assert re.findall(r"(?<![\d.])(\d+\.\d) (\d+\.\d)(?:\(([-+]\d+\.\d)\))?", values) == [
            (one.original, one.counterfactual, one.change) for one in lines.itertuples()
        ]


@PAPERS_NEEDED
def test_the_printed_statistics_are_the_papers(paper):
    """Each in its own sentence; the text has a formula's number several times in a row."""
    letters = re.sub(r"\s", "", paper)
    stands = Path(__file__).with_name("cvqa_statistics.yaml").read_text(encoding="utf-8")
    words, table = yaml.safe_load(stands), printed()
    assert table.index.is_unique and set(table.index) == set(words)
    for item, value in table.items():
        before, after = map(re.escape, words[item].split("{}"))
        number = rf"(?<![\d.])(?:{re.escape(value)})+(?![\d.])"
        assert re.search(before + number + after, letters), item
    for line in pd.read_csv(PAPER / "cvqa_prompt.csv", dtype=str).itertuples():
        assert f"Theanswerwouldbe{line.sum}" in letters


def test_the_specifications_findings(found):
    assert all(found[f"differences of Table {n}"].verdict == "consistent" for n in (3, 4, 5, 6))
    assert "123, 137 " in found["Table 5, direct"].follows
    assert "81, 118," in found["Table 5, indirect"].follows
    assert "123," in found["Table 5, boolean"].follows
    assert "327" in found["Table 5, all rows"].follows
    assert found["Table 5, all rows"].follows.endswith("among them for no type")
    assert found["shares of no and yes"].follows == "623 no and 507 yes"
    assert found["shares of the types"].verdict == "consistent"
    assert found["sums of the prompt"].verdict == "inconsistent"
    assert "2-1+2=3 with the new answer 1" in found["sums of the prompt"].follows
    assert found["type-token ratio"].verdict == "cannot be told"


def test_sentences_that_their_tables_do_not_bear_out(found):
    assert of(found, "inconsistent") >= {
        "up to 40 %", "all of them suffer", "direct drops are smaller", "neuro-symbolic gaps",
        "consistent drops of code models", "WizardCoder is least effective",
    }  # fmt: skip
    assert found["GPT-4V’s drop"].verdict == "consistent"
    steps = found["step by step gains nothing"]
    assert steps.verdict == "consistent" and f"within {196 / 864**0.5:.1f} points" in steps.follows
    assert found["the random level"].verdict == "consistent"
    nos = found["always answering no"]
    assert nos.verdict == "cannot be told" and "6 of the 14" in nos.follows


def test_verbs_and_nouns_are_parts_of_all_words(monkeypatch, found):
    words = found["verbs and nouns"]
    assert words.verdict == "consistent"
    assert "verbs are 22.9 % of the types and 19.4 % of the tokens" in words.follows
    assert "nouns are 62.6 % of the types and 49.3 % of the tokens" in words.follows
    table = printed()
    table["noun-token ratio by types"] = "0.0983"
    monkeypatch.setattr(audit, "printed", lambda: table)
    assert audit.word_findings()["verbs and nouns"].verdict == "inconsistent"  # 101.5 %


def test_a_model_off_its_random_level_is_found(monkeypatch):
    table = read_table(7)
    table.loc[0, "original"] = 30.0
    monkeypatch.setattr(audit.letters, "read_table", lambda number: table)
    off = audit.chance_findings()["the random level"]
    assert off.verdict == "inconsistent"
    assert off.follows == "InstructBLIP (Vicuna-7B), original: above"


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
    table["share no"], table["numerical"] = "55.20", "2015"
    monkeypatch.setattr(audit, "printed", lambda: table)
    wrong = of(audit.count_findings(), "inconsistent")
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
    found = audit.sample_findings()
    assert {each.verdict for each in found.values()} == {"consistent"}
    assert found["Table 5, all rows"].follows.endswith("for direct, indirect, boolean")


@pytest.mark.parametrize(
    ("text", "expected"), [("2-1+2", 3), ("3+3", 6), ("2*2", 4), ("2-2", 0), ("10-3*2", 14)]
)
def test_sums_are_read_from_left_to_right(text, expected):
    assert audit.calculate(text) == expected


def test_the_one_cell_in_question_is_the_prompts(found):
    tables = audit.printed_tables()
    (table,) = first.redraw(
        tables, found.values(), rows=lambda name: audit.ROW_LABELS, title=audit.table_name
    )
    assert table.caption == "The prompt of Appendix B.1 as printed: 1 of 24 cells in question"
    assert table.frame.loc["example 3"].tolist() == ["2", "2−1+2=3", "† 1"]
    assert table.notes == [f"† {audit.NO_ANSWER}"]
    assert audit.table_name("cvqa_table03") == "Table 3"
