"""The matrix: its cells are the chapters' numbers, and it shows which way is better."""

import base64
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from sci_book import cli
from sci_book.papers.registry import COMPANIONS, PAPERS
from sci_book.papers.shared.evidence import of_interval
from sci_book.papers.shared.pages import page_of
from sci_book.pipeline import matrix, pocket_data
from sci_book.results.records import write_records
from sci_book.results.statistics import Interval
from tests.papers.cvqa import cvqa_records
from tests.papers.shared.committed import shown
from tests.papers.shared.drawn_records import drawn_records

NAMES = ["pocket-qwen2vl", "mine"]
SHOWN = ("pocket Qwen2-VL", "pocket LLaVA-NeXT")
# A line of a chapter's table of its claim, and the same number's probe.
CHAPTERS = [
    (
        "cvqa_sci",
        "drop of base less drop of SCI5",
        "drop from original to counterfactual questions",
    ),
    ("edge_sci", "Brier score, questions", "Brier score, questions"),
    ("edge_sci", "Brier score, captions", "Brier score, captions"),
    ("edge_sci", "drop under blur, questions", "drop under blur, questions"),
    ("edge_sci", "drop under blur, captions", "drop under blur, captions"),
    ("edge_sci", "probes passed, questions", "negation probes passed, questions"),
    ("edge_sci", "probes passed, captions", "negation probes passed, captions"),
    ("oric_sci", "SCI5: present found", "present objects found"),
    ("oric_sci", "SCI5: absent denied", "absent objects denied"),
    *(
        ("metara_sci", f"{task}, {rate}, SCI5", f"{rate} failure rate, {task}")
        for task in ("knowledge", "text")
        for rate in ("absolute", "conditional", "consistency")
    ),
]


@pytest.fixture(scope="module")
def folder(subjects):
    return subjects[0].path.parent


@pytest.fixture(scope="module")
def made(folder):
    return matrix.cells(NAMES, folder)


def only(made, label, method="SCI5", model="mine"):
    wanted = (label, method, model)
    (cell,) = (cell for cell in made if (cell.label, cell.method, cell.model) == wanted)
    return cell


class Lines(HTMLParser):
    """A table's numbers by model and probe, a list a line."""

    def __init__(self, html):
        super().__init__()
        self.model, self.label, self.of = "", "", {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tag = tag
        if tag == "tr":
            self.model = dict(attributes).get("data-model")

    def handle_data(self, data):
        if self.tag == "th" and self.model:
            self.label = data.strip()
        elif self.tag == "td":
            self.of.setdefault((self.model, self.label), []).append(data.strip())


def one_method(records, name):
    """The same answers without those of any other method, and without logits."""
    alone = records.answers_alone()
    others = set(alone.policies) - {name, *alone.rounds}
    columns = [head for head in alone.table.column_names if head.partition(":")[2] in others]
    methods = [fields for fields in alone.stamp["methods"] if fields["name"] == name]
    stamp = {**alone.stamp, "methods": methods}
    return replace(alone, table=alone.table.drop_columns(columns), stamp=stamp)


def value(text):
    return float(text.split()[0].replace("−", "-"))


@pytest.fixture(scope="module")
def committed():
    (html,) = (text for text in shown("matrix", "text/html") if 'table matrix"' in text)
    column = matrix.SHOWN.index("SCI5")
    return {line: numbers[column] for line, numbers in Lines(html).of.items()}


@pytest.mark.parametrize(("page", "line", "label"), CHAPTERS)
def test_a_cell_is_its_chapters_number(committed, page, line, label):
    claims = [text for text in shown(page, "text/plain") if text.startswith("The claim, part")
              and re.search(rf"^{re.escape(line)}\s", text, re.MULTILINE)]  # fmt: skip
    assert len(claims) == len(SHOWN)
    sign = -1 if page == "cvqa_sci" else 1  # it shows by how much the drop shrinks
    for model, text in zip(SHOWN, claims, strict=True):
        number = re.search(rf"^{re.escape(line)}\s+(\S+)", text, re.MULTILINE)[1]
        assert value(committed[model, label]) == pytest.approx(sign * value(number), abs=0.0501)


def test_the_papers_own_cells_are_those_of_its_tables(committed):
    (coded,) = (code for html in shown("table04_standard", "text/html")
                for code in re.findall(r"data:text/csv[^,]*,([^\"]+)", html))  # fmt: skip
    further = pd.read_csv(io.BytesIO(base64.b64decode(coded))).set_index(["table", "row", "column"])
    for name in ("MMB-C", "MMB-E", "MME", "CCB", "MMS", "ViLP"):
        number = further.loc["less base", f"{SHOWN[0]}: SCI5", f"{name} here"]["value"].split()[0]
        found = value(committed[SHOWN[0], f"{name}, β 0.8"])
        assert found == pytest.approx(value(number), abs=0.0501)


def test_a_cell_counts_its_rows_and_the_groups_behind_it(made, subjects):
    mine = next(subject for subject in subjects if subject.name == "mine")
    rows = mine.sets("any", "rows")["all"].to_numpy() & mine.records.ok
    right = {name: mine.records.correct(name)[rows].astype(int) for name in ("original", "SCI5")}
    changes = right["SCI5"] - right["original"]
    cell = only(made, "all rows")
    assert cell.change.n == rows.sum() == len(changes)
    assert cell.change.estimate == pytest.approx(100 * changes.mean())
    assert cell.change.low <= cell.change.estimate <= cell.change.high
    assert set(cell.groups("gained")) == set(mine.groups[rows][changes > 0])
    assert set(cell.groups("lost")) == set(mine.groups[rows][changes < 0])


def test_less_is_better_where_the_probe_says_so(made):
    cell = only(made, "B, wrong as on a dummy picture")
    turned = replace(cell, probe=replace(cell.probe, better="less"))
    assert cell.change.low > 0 and (cell.state, turned.state) == ("gain", "loss")
    assert turned.gain == -cell.gain and turned.groups("gained") == cell.groups("lost")


def test_a_model_without_records_of_a_companion_has_no_cell_there(made):
    assert {cell.probe.paper for cell in made} == {"sci"}
    assert {cell.method for cell in made} == set(matrix.SHOWN)


def test_every_probe_names_a_measure_a_chapter_and_the_method():
    probes = matrix.load_probes()
    assert {probe.paper for probe in probes} == set(PAPERS)
    for probe in probes:
        assert probe.measure in PAPERS[probe.paper].measures, probe
        assert page_of(probe.page), probe  # an error where there is no such page or section
        assert matrix.METHOD in str(probe.arguments), probe


@pytest.fixture
def fit(subjects, monkeypatch):
    """The same models, as if they met the conditions of SCI."""
    monkeypatch.setattr(type(subjects[0]), "fit", property(lambda self: True))
    return subjects


def cell(low, high, better="greater", paper="sci"):
    probe = matrix.Probe(paper, "x", "results", "difference", {"methods": []}, better)
    change = Interval((low + high) / 2, low, high, 10, 10)
    part = of_interval("x", change)
    return matrix.Cell(probe, "x", "mine", "mine", 0, "SCI5", part, change)


def judged(subjects, cells):
    mine = [subject for subject in subjects if subject.name == "mine"]
    text = matrix.conclusion(mine, cells, "SCI5")
    return text, re.match(r"\*\*Verdict: (.+?)\.", text)[1]


def test_nothing_is_judged_on_a_model_that_does_not_meet_the_conditions(subjects, made):
    assert not any(subject.fit for subject in subjects)
    text, word = judged(subjects, made)
    assert word == "not comparable" and "not judged" in text and "0.05" not in text


def test_a_method_gains_on_every_probe_if_each_interval_lies_on_the_better_side(fit):
    papers = [cell(1, 2, paper=paper) for paper in PAPERS]
    text, word = judged(fit, [*papers, cell(-2, -1, "less")])
    assert word == "holds" and f"p is under 0.05 / {len(papers) + 1}. It is nowhere." in text
    text, word = judged(fit, [*papers, cell(-2, -1), cell(-0.2, -0.1)])
    assert (
        word == "fails"
        and "on 2 of them, most clearly on “x” with mine, where SCI5 changes −1.50 [" in text
    )
    assert judged(fit, [*papers, cell(1, 2, "less")])[1] == "fails"
    assert judged(fit, [*papers, cell(-1, 1)])[1] == "inconclusive"


def test_a_paper_without_records_is_named_and_leaves_the_claim_open(fit, made):
    text, word = judged(fit, [cell(1, 2)])
    assert word == "not comparable"
    titles = ", ".join(PAPERS[name].title for name in COMPANIONS)
    assert f"no such records of {titles}." in text


def test_a_number_without_an_interval_neither_gains_nor_loses(fit):
    text, _ = judged(fit, [cell(1, 2), cell(np.nan, np.nan)])
    assert "gains on 1 of 2 probes and loses on 0; on 0 the interval reaches zero. On 1" in text


def test_records_of_one_method_fill_its_own_cells(subjects, tmp_path):
    """As `sci evaluate --methods SCI5` makes them, without the rounds of the others."""
    few = one_method(subjects[0].records, "SCI5")
    write_records(tmp_path / f"{few.stamp['model']}.parquet", few)
    cells = matrix.cells([few.stamp["model"]], tmp_path)
    assert {cell.method for cell in cells} == {"SCI5", *matrix.COMPARED_CONTROLS}


def test_a_further_training_fills_the_cells_of_a_companion_with_its_own_records(subjects, tmp_path):
    records = one_method(subjects[0].records, "SCI5")
    name = records.stamp["model"]
    for folder, right in ((tmp_path, (1.0, 0.5)), (tmp_path / "training2", (1.0, 1.0))):
        write_records(folder / f"{name}.parquet", records)
        asked = cvqa_records.numbers(40, right=right, SCI5="3")
        asked = cvqa_records.records_of(asked, name)
        write_records(folder / "cvqa" / f"{name}.parquet", asked)
    cells = [each for each in matrix.cells([name], tmp_path) if each.probe.paper == "cvqa"]
    spared = {each.training: each.change.estimate for each in cells if each.method == "SCI5"}
    assert spared == {0: -50.0, 2: 0.0}  # of the drop
    read = {path.relative_to(tmp_path).as_posix() for path in matrix.sources([name], tmp_path)}
    assert read == {f"{at}{name}.parquet" for at in ("cvqa/", "training2/cvqa/")}


def test_a_page_and_a_terminal_show_the_same_numbers(made):
    html, cell = matrix.as_html(made), only(made, "BS, in B or S", "VCD")
    assert f"TIE <small>{matrix.costs()['TIE']:.2f} ×</small>" in html
    number = Lines(html).of[cell.shown, cell.label][matrix.SHOWN.index("VCD")]
    assert value(number) == pytest.approx(cell.change.estimate, abs=0.0501)
    text = str(matrix.table(made, "mine"))
    assert f"{cell.change.estimate:.2f}".replace("-", "−") in text
    empty = matrix.draw([])
    assert "No record fills a cell." in [text.get_text() for text in empty.axes[0].texts]


def test_the_command_prints_it_for_any_model(folder, capsys, monkeypatch):
    monkeypatch.setattr(pocket_data, "draw_companions", lambda say: None)
    cli_arguments = ["matrix", "--model", "mine", "--records", str(folder)]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as stopped:
            cli.main([*cli_arguments, *more])
        assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith("mine: each method less the base")
    cells = json.loads(text[text.index("\n[") :])
    assert {cell["model"] for cell in cells} == {"mine"} and cells[0]["n"] > 0


def test_of_four_trainings_and_more_a_cell_is_over_all_of_them(tmp_path, monkeypatch):
    name = "pocket-qwen2vl"
    for seed in range(4):
        at = tmp_path / f"training{seed}" if seed else tmp_path
        write_records(at / f"{name}.parquet", drawn_records(name, seed=seed, rows=12))
    together = {cell.key: cell for cell in matrix.cells([name], tmp_path)}
    monkeypatch.setattr(matrix, "FEWEST", 5)
    alone = matrix.cells([name], tmp_path)
    assert {cell.training for cell in together.values()} == {0} < {cell.training for cell in alone}
    alike = [[cell for cell in alone if cell.key == key] for key in together]
    whole = [cells for cells in alike if len(cells) == 4]
    assert len(whole) > 20
    for cells in whole:
        changes = [cell.change.estimate for cell in cells]
        assert together[cells[0].key].change.estimate == pytest.approx(np.mean(changes))
