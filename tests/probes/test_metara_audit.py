"""The transcribed tables are the paper's, and the audit finds what they say and what is planted."""

import re

import pandas as pd
import pytest

from sci_book.papers.metara import audit
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, PAPER, UNTOLD
from tests.probes.printed_tables import PAPERS_NEEDED, copied, letters, of, paper_text, plant

ROWS = {"metara_table02": 98, "metara_table03": 65, "metara_table04": 26, "metara_table05": 6,
        "metara_table06": 8}  # fmt: skip
COLUMNS = ["table", "model", "base", "dataset", "split", "method", "metric", "unit", "value"]


@pytest.fixture(scope="module")
def printed():
    return audit.Printed()


@pytest.fixture(scope="module")
def found(printed):
    return audit.findings(printed)


@pytest.fixture(scope="module")
def paper():
    return paper_text("004")


def test_every_table_is_there(printed):
    assert {name: len(table) for name, table in printed.tables.items()} == ROWS
    for table in printed.tables.values():
        assert list(table) == COLUMNS


def _lines(paper, title):
    """The words of each line below a table's title, until the next caption or paragraph."""
    lines = paper.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    found = []
    for line in lines[start + 1 :]:
        if line.startswith(("Refer to caption", "TABLE")) or len(line) > 120:
            break
        found.append(line.split())
    return [words for words in found if words and re.fullmatch(r"[\d.]+", words[-1])]


@PAPERS_NEEDED
def test_every_line_of_every_table_is_transcribed(printed, paper):
    def values(table, model, base, cells):
        rows = printed.rows(table, model=model, base=base)
        known = {
            tuple(row[:-1]): row[-1]
            for row in rows[["dataset", "split", "method", "metric", "value"]].values
        }
        return [known.get(cell, "-") for cell in cells]

    kb = [(*c, "MetaRA", "FR") for c in (("E-VQA", "Single-Hop"), ("E-VQA", "All"),
          ("InfoSeek", "Unseen-Q"), ("InfoSeek", "Unseen-E"), ("InfoSeek", "All"))]  # fmt: skip
    kb.append(("all", "", "MetaRA", "final FR"))
    ocr = [(name, "", "MetaRA", "FR") for name in audit.SETS["OCR-VQA"]]
    ocr.append(("all", "", "MetaRA", "final FR"))
    four = [(name, "", method, "FR") for name in ("E-VQA", "TextVQA")
            for method in ("MetaVQA", "MetaRA")]  # fmt: skip
    four += [("both", "", method, "rank") for method in ("MetaRA", "MetaVQA")]
    for title, table, cells in (
        ("TABLE II:", "metara_table02", kb),
        ("TABLE III:", "metara_table03", ocr),
        ("TABLE IV:", "metara_table04", four),
    ):
        for words, (model, base) in zip(_lines(paper, title), printed.methods(table), strict=True):
            shown = [v for v in values(table, model, base, cells)
                     if v != "-" or table == "metara_table02"]  # fmt: skip
            said = words[: -len(shown)]
            cited = next(i for i, word in enumerate(said) if word.startswith("["))
            assert words[-len(shown) :] == shown
            assert " ".join(said[:cited]) == model and " ".join(said[cited + 1 :]) in (base, "-")
    (line,) = _lines(paper, "TABLE V:")
    assert line[-6:] == list(printed.tables["metara_table05"]["value"])
    relations = [words for words in _lines(paper, "TABLE VI:") if len(words) > 3]
    six = printed.tables["metara_table06"]
    assert [words[-2:] for words in relations] == [
        list(six.loc[six["split"] == f"MR{n}", "value"]) for n in (1, 2, 3, 4)
    ]
    assert [" ".join(words[:-2]) for words in relations] == list(dict.fromkeys(six["model"]))


@PAPERS_NEEDED
def test_quotes_are_the_papers_words(paper):
    # A formula stands twice in the text, as it is set and as it is written.
    once = re.sub(r"(FR)\\mathrm\{FR\}", r"\1", paper)
    whole = letters(re.sub(r"(MR\d)MR_\{\d\}", r"\1", once))
    for line in pd.read_csv(PAPER / "metara_quotes.csv", dtype=str).itertuples():
        assert letters(line.quote) in whole, line.id
        assert pd.isna(line.printed) or line.printed in line.quote


def test_what_is_inconsistent(found):
    sets = [name for names in audit.SETS.values() for name in names]
    assert of(found, INCONSISTENT) == {
        "what a failure is", "models of Table IV", "MetaRA's columns of Table IV",
        "whose values Table IV prints", "ranks by MetaRA", "mean of Table VI, KBVQA",
        "MR1, MR3 below MR2, MR4, KBVQA", "FR rises with complexity, KBVQA",
        "one backbone, one FR",
        *(f"{what}, {task}" for task in audit.TASKS
          for what in ("final FR as a mean", "direction of the columns")),
        *(f"LLaVA-1.5 on {name}" for name in sets),
    }  # fmt: skip
    assert of(found, UNTOLD) == {
        "equation 7, KBVQA", "equation 7, OCR-VQA", "what a perfect agreement shows",
        "FR rises with complexity, OCR-VQA",
    }  # fmt: skip


def test_what_the_findings_say(found):
    assert found["final FR as a mean, KBVQA"].follows.startswith("16 of 18")
    assert found["final FR as a mean, OCR-VQA"].follows.startswith("13 of 13")
    assert "ρ = -0.91" in found["direction of the columns, KBVQA"].follows
    copied = found["MetaRA's columns of Table IV"].follows
    assert copied.startswith("9 of 9") and "TextVQA (60.6): Vary 7B" in copied
    assert found["whose values Table IV prints"].follows.startswith("4 values")
    assert " fits" not in found["ranks by MetaRA"].follows
    assert "0.083" in found["what a perfect agreement shows"].follows
    assert "differ in 1" in found["what a failure is"].follows
    assert "= 12.5" in found["mean of Table V, KBVQA"].follows
    assert "= 14.4" in found["mean of Table V, OCR-VQA"].follows
    assert "10.30" in found["mean of Table VI, OCR-VQA"].printed
    assert "10.24" in found["mean of Table VI, OCR-VQA"].follows
    assert "7.13" in found["mean of Table VI, KBVQA"].printed
    assert "9.06" in found["mean of Table VI, KBVQA"].follows


PLANTED = {
    ("metara_table05", "InfoVQA", "FR"): ("18.6", {"mean of Table V, OCR-VQA"}),
    ("metara_table05", "TextVQA", "FR"): (
        "17.0", {"mean of Table V, OCR-VQA", "hardest data sets", "mean and spread of the tasks"}
    ),
    ("metara_table06", "OCR-VQA", "MR2"): (
        "13.1", {"mean of Table VI, OCR-VQA", "MR2 of OCR-VQA in the text"}
    ),
    ("metara_table06", "OCR-VQA", "MR3"): (
        "9.0", {"OCR-VQA above KBVQA"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLANTED, ids=lambda place: f"{place[0]} {place[1]}")
def test_a_slip_of_a_digit_is_found(place, found, tmp_path):
    table, dataset, which = place
    value, expected = PLANTED[place]
    column = "metric" if which == "FR" else "split"
    plant(copied("metara", tmp_path), table, {"dataset": dataset, column: which}, value)
    changed = audit.findings(audit.Printed(tmp_path))
    assert of(changed, INCONSISTENT) - of(found, INCONSISTENT) == expected
    assert of(found, CONSISTENT) >= expected


def test_numbers_copied_from_a_right_source_are_consistent(tmp_path):
    """Ranks that fit their values, and finals that are means, are called so."""
    copied("metara", tmp_path)
    tables = audit.Printed(tmp_path).tables
    three, four = tables["metara_table03"], tables["metara_table04"]
    for model in dict.fromkeys(three["model"]):
        mine = three["model"] == model
        mean = three.loc[mine & (three["metric"] == "FR"), "value"].astype(float).mean()
        three.loc[mine & (three["metric"] == "final FR"), "value"] = f"{mean:.1f}"
    theirs = four[four["method"] == "MetaVQA"]["value"].tolist()
    four.loc[four["method"] == "MetaRA", "value"] = theirs
    for name in ("metara_table03", "metara_table04"):
        tables[name].to_csv(tmp_path / f"{name}.csv", index=False)
    changed = audit.findings(audit.Printed(tmp_path))
    for about in ("final FR as a mean, OCR-VQA", "direction of the columns, OCR-VQA",
                  "ranks by MetaRA", "MetaRA's columns of Table IV"):  # fmt: skip
        assert changed[about].verdict == CONSISTENT, changed[about]
