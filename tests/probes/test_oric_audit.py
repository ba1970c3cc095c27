"""The transcribed tables are the paper's, and the audit finds what is wrong and what is planted."""

import re

import pandas as pd
import pytest

from sci_book.papers.oric import audit
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, PAPER, UNTOLD
from tests.probes.printed_tables import PAPERS_NEEDED, copied, letters, of, paper_text, plant

ROWS = {
    "oric_table01": 24, "oric_table03": 130, "oric_table04": 24, "oric_table05": 50,
    "oric_table06": 6, "oric_table07": 30, "oric_table08": 160, "oric_table10": 200,
}  # fmt: skip

FIELDS = ("part", "model", "item", "label", "metric")


@pytest.fixture(scope="module")
def printed():
    return audit.Printed()


@pytest.fixture(scope="module")
def found(printed):
    return audit.findings(printed)


def test_every_table_is_there(printed):
    assert {name: len(table) for name, table in printed.tables.items()} == ROWS
    for table in printed.tables.values():
        assert list(table) == ["table", *FIELDS, "unit", "value"]


def rows_of(number):
    """The cells of the table in front of a caption, line by line, headers left out."""
    lines = paper_text("003").splitlines()
    caption = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}. **"))
    while not lines[caption].startswith("|"):
        caption -= 1
    first = caption
    while lines[first - 1].startswith("|"):
        first -= 1
    rows = [
        [re.sub(r"</?u>|\*\*|\[[\d, ]+\]", "", cell).strip() for cell in line.split("|")[1:-1]]
        for line in lines[first : caption + 1]
    ]
    return [row for row in rows if any(re.fullmatch(r"[\d.]+", cell[:4]) for cell in row[1:])]


@PAPERS_NEEDED
@pytest.mark.parametrize("name", ROWS)
def test_every_cell_is_the_papers(printed, name):
    table = printed.tables[name]
    rows = rows_of(int(name.removeprefix("oric_table")))
    numbers = [n for row in rows for cell in row[1:] for n in re.findall(r"-?\d+\.?\d*", cell)]
    models = [row[0] for row in rows]
    if name == "oric_table05":
        assert [n for _, n in printed.models(name)] == models
    else:
        assert list(dict.fromkeys(table["model"])) == models
    assert table["value"].tolist() == numbers


@PAPERS_NEEDED
def test_quotes_are_the_papers_words():
    text = letters(paper_text("003"))
    for line in pd.read_csv(PAPER / "oric_quotes.csv", dtype=str).itertuples():
        assert letters(line.quote) in text, line.id
        if re.fullmatch(r"[\d.]+", line.printed):
            assert line.printed in line.quote.replace(",", ""), line.id


def test_what_is_inconsistent(found):
    gpt, recalls = "GPT-5-2025-08-07", ("Emu3-Chat", "GPT-5-2025-08-07", "InternVL3-9B")
    baseline = audit.Printed().quotes["baseline of table 5"]
    assert of(found, INCONSISTENT) == {
        "Table 1, InternVL3-9B, incongruous",
        "Table 1, GPT-5-08-07, incongruous",
        *(f"macro {metric}, {gpt}" for metric in ("precision", "recall", "f1")),
        f"yes-proportion, {gpt}",
        "yes-proportion, BLIP-3",
        "macro f1, Molmo-7B-D-0924",
        *(f"recall over sizes, {model}" for model in (*recalls, baseline)),
        "limit of small objects",
        "models of Table 4",
        "mean CLIPScore of incongruous yes",
        "mean CLIPScore of ORIC's no",
        "models, appendix",
        "the opposite trend",
        "models for which POPE is no easier",
        "models that mostly say yes",
    }


def test_what_cannot_be_told(found):
    untold = {about for about in of(found, UNTOLD) if not about.startswith("sampling alone")}
    assert untold == {
        "yes-proportion, w/o 0-shot CoT, Table 5(b)",
        "yes-proportion, Visual-RFT, Table 5(b)",
        "CLIPScores of Figure 4",
        "k of Figure 4",
    }
    assert sum(about.startswith("sampling alone") for about in of(found, UNTOLD)) == 10


def test_what_the_findings_say(found):
    gpt = "GPT-5-2025-08-07"
    would = {"precision": "74.86", "recall": "86.62", "f1": "80.30"}
    for metric, value in would.items():
        assert f"no would be {value}" in found[f"macro {metric}, {gpt}"].follows
    assert found["Table 1, Janus-Pro-7B, incongruous"].follows == (
        "15 of 25 yes and 14 of 25 no right"
    )
    assert "F1 2.00 above recall" in found["Table 1, InternVL3-9B, incongruous"].follows
    assert found["Table 3 and Table 10"].follows == "equal cells"
    assert "95.57" in found["CLIPScores of Figure 4"].follows


PLANTED = {
    # where a digit is changed: which findings stop being consistent
    ("oric_table01", "POPE", "Janus-Pro-7B", "", "overall", "f1"): (
        "96.99", {"Table 1, Janus-Pro-7B, POPE"},
    ),
    ("oric_table03", "Vision-encoder-free", "Emu3-Chat", "", "no", "f1"): (
        "70.76", {"Table 3 and Table 10"},
    ),
    ("oric_table04", "POPE", "Emu3-Chat", "small", "yes", "recall"): (
        "62.88", {"gap between sizes, Emu3-Chat, POPE"},
    ),
    ("oric_table05", "a", "Visual-RFT", "", "yes", "f1"): (
        "81.95", {"macro f1, Visual-RFT, Table 5(a)", "F1 of yes, Visual-RFT, Table 5(a)"},
    ),
    ("oric_table07", "negatives only", "Emu3", "", "no", "change"): (
        "-16.31", {"change, Emu3, negatives only"},
    ),
    ("oric_table08", "ORIC", "Fuyu-8B", "", "overall", "f1"): (
        "34.61", {"Table 8 and Table 10"},
    ),
    ("oric_table10", "Open-vocabulary Detection", "OWLv2", "", "no", "recall"): (
        "84.10", {"macro recall, OWLv2", "yes-proportion, OWLv2", "F1 of no, OWLv2",
                  "Table 3 and Table 10"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLANTED, ids=lambda place: place[0])
def test_a_slip_of_a_digit_is_found(place, found, tmp_path):
    table, *fields = place
    value, expected = PLANTED[place]
    plant(copied("oric", tmp_path), table, dict(zip(FIELDS, fields, strict=True)), value)
    changed = audit.findings(audit.Printed(tmp_path))
    assert of(found, CONSISTENT) - of(changed, CONSISTENT) == expected
