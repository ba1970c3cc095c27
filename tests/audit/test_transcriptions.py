"""The transcribed tables and sentences are the papers'."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from sci_book.audit.engine import printed_tables
from sci_book.audit.printed import PrintedTables
from sci_book.papers.metara.printed import SETS
from sci_book.papers.registry import COMPANIONS
from sci_book.resources import PAPER
from tests.audit.printed_tables import letters

ROWS = {
    "edge": {"04": 9, "05": 22, "06": 6, "07": 14, "08": 20, "09": 21, "10": 20, "11": 25, "12": 22,
             "13": 4, "14": 4},
    "oric": {"01": 24, "03": 130, "04": 24, "05": 50, "06": 6, "07": 30, "08": 160, "10": 200},
    "metara": {"02": 98, "03": 65, "04": 26, "05": 6, "06": 8},
}  # fmt: skip


OWN = {
    "table01": 28, "table02": 126, "table03": 24, "table04": 90, "table05": 42, "table06": 12,
    "table07": 14, "table08": 27, "table09": 234, "table10": 162, "fig01c": 2, "dataset_sizes": 84,
}  # fmt: skip


def test_tables_of_the_first_paper_are_whole():
    tables = printed_tables("sci").tables
    assert {name: len(table) for name, table in tables.items()} == OWN
    for name, table in tables.items():
        assert (table["table"] == name).all()
        assert not table.drop(columns="value").duplicated().any()
        assert (table["value"].astype(float) >= 0).all()


@pytest.mark.parametrize("paper", ROWS)
def test_tables_are_long_and_whole(paper):
    tables = PrintedTables(paper).tables
    rows = {f"{paper}_table{number}": count for number, count in ROWS[paper].items()}
    assert {name: len(table) for name, table in tables.items()} == rows
    for name, table in tables.items():
        fields = list(table)[1:-2]
        assert list(table) == ["table", *fields, "unit", "value"] and fields[-1] == "metric"
        assert (table["table"] == name).all()
        assert not table.duplicated(fields).any()
        assert table["value"].astype(float).notna().all()


@pytest.mark.parametrize(("number", "rows"), [(3, 42), (4, 12), (5, 3), (6, 21), (7, 3)])
def test_tables_of_cvqa_are_whole(number, rows):
    table = pd.read_csv(PAPER / f"cvqa_table{number:02d}.csv")
    assert len(table) == rows and not table.duplicated(["model", "type"]).any()
    assert table["original"].between(0, 100).all()


@pytest.mark.parametrize("paper", [paper for paper in COMPANIONS if paper != "cvqa"])
def test_quotes_are_the_papers_words(paper, paper_text):
    # A formula stands twice in the text, as it is set and as it is written.
    text = re.sub(r"(FR)\\mathrm\{FR\}", r"\1", paper_text(paper))
    whole = letters(re.sub(r"(MR\d)MR_\{\d\}", r"\1", text))
    quotes = pd.read_csv(PAPER / f"{paper}_quotes.csv", dtype=str)
    for line in quotes.itertuples():
        for piece in line.quote.split("[…]"):
            assert letters(piece) in whole, f"{line.id}: {piece}"
        if re.fullmatch(r"[\d.]+", str(line.printed)):
            said = line.quote.replace(",", "")
            assert line.printed in said or "[…]" in said, line.id


@pytest.mark.parametrize("number", [3, 4, 5, 6, 7])
def test_every_number_of_cvqa_is_the_papers(number, paper_text):
    """Each model's line of the paper's text has its numbers, all of them and in the same order."""
    table = pd.read_csv(PAPER / f"cvqa_table{number:02d}.csv", dtype=str, keep_default_na=False)
    printed_lines = paper_text("cvqa").split(f"\nTable {number}: ", 1)[1].splitlines()
    heads = [f"Numerical {kind.capitalize()}" if kind != "boolean" else "Boolean"
             for kind in table["type"]] if number == 5 else table["model"]  # fmt: skip
    for head, lines in table.groupby(list(heads), sort=False):
        line = next(one for one in printed_lines if re.search(rf"{re.escape(head)} \d", one))
        values = line.split(head, 1)[1]
        assert re.findall(r"(?<![\d.])(\d+\.\d) (\d+\.\d)(?:\(([-+]\d+\.\d)\))?", values) == [
            (one.original, one.counterfactual, one.change) for one in lines.itertuples()
        ]


def test_the_printed_statistics_of_cvqa_are_the_papers(paper_text):
    """Each in its own sentence; the text has a formula's number several times in a row."""
    text = re.sub(r"\s", "", paper_text("cvqa"))
    stands = Path(__file__).with_name("cvqa_statistics.yaml").read_text(encoding="utf-8")
    words, table = yaml.safe_load(stands), PrintedTables("cvqa", wide=["model"]).quotes["printed"]
    assert set(table.index) == set(words)
    for item, value in table.items():
        before, after = map(re.escape, words[item].split("{}"))
        number = rf"(?<![\d.])(?:{re.escape(value)})+(?![\d.])"
        assert re.search(before + number + after, text), item
    for line in pd.read_csv(PAPER / "cvqa_prompt.csv", dtype=str).itertuples():
        assert f"Theanswerwouldbe{line.sum}" in text


def _cells_of_oric(text, number):
    """The cells of the table in front of a caption, line by line, headers left out."""
    lines = text.splitlines()
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


@pytest.mark.parametrize("number", ROWS["oric"])
def test_every_cell_of_oric_is_the_papers(number, paper_text):
    printed = PrintedTables("oric")
    table, rows = (
        printed.tables[f"oric_table{number}"],
        _cells_of_oric(paper_text("oric"), int(number)),
    )
    models = [row[0] for row in rows]
    parts = "part" if number == "05" else "model"
    known = printed.distinct(f"oric_table{number}", *dict.fromkeys((parts, "model")))
    assert [names[-1] for names in known] == models
    numbers = [n for row in rows for cell in row[1:] for n in re.findall(r"-?\d+\.?\d*", cell)]
    assert table["value"].tolist() == numbers


def _lines_of_metara(paper, title):
    """The words of each line below a table's title, until the next caption or paragraph."""
    lines = paper.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    found = []
    for line in lines[start + 1 :]:
        if line.startswith(("Refer to caption", "TABLE")) or len(line) > 120:
            break
        found.append(line.split())
    return [words for words in found if words and re.fullmatch(r"[\d.]+", words[-1])]


def test_every_line_of_every_table_of_metara_is_transcribed(paper_text):
    paper, printed = paper_text("metara"), PrintedTables("metara")

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
    ocr = [(name, "", "MetaRA", "FR") for name in SETS["OCR-VQA"]]
    ocr.append(("all", "", "MetaRA", "final FR"))
    four = [(name, "", method, "FR") for name in ("E-VQA", "TextVQA")
            for method in ("MetaVQA", "MetaRA")]  # fmt: skip
    four += [("both", "", method, "rank") for method in ("MetaRA", "MetaVQA")]
    for title, table, cells in (
        ("TABLE II:", "metara_table02", kb),
        ("TABLE III:", "metara_table03", ocr),
        ("TABLE IV:", "metara_table04", four),
    ):
        methods = printed.distinct(table, "model", "base")
        for words, (model, base) in zip(_lines_of_metara(paper, title), methods, strict=True):
            shown = [v for v in values(table, model, base, cells)
                     if v != "-" or table == "metara_table02"]  # fmt: skip
            said = words[: -len(shown)]
            cited = next(i for i, word in enumerate(said) if word.startswith("["))
            assert words[-len(shown) :] == shown
            assert " ".join(said[:cited]) == model and " ".join(said[cited + 1 :]) in (base, "-")
    (line,) = _lines_of_metara(paper, "TABLE V:")
    assert line[-6:] == list(printed.tables["metara_table05"]["value"])
    relations = [words for words in _lines_of_metara(paper, "TABLE VI:") if len(words) > 3]
    six = printed.tables["metara_table06"]
    assert [words[-2:] for words in relations] == [
        list(six.loc[six["split"] == f"MR{n}", "value"]) for n in (1, 2, 3, 4)
    ]
    assert [" ".join(words[:-2]) for words in relations] == list(dict.fromkeys(six["model"]))
