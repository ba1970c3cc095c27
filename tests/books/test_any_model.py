"""Every chapter of the book with models that are right on nothing, on everything, or unreadable.

Their records are made by the real runner (`scripted`). A chapter's cells run in this process, in
IPython as in a kernel, with the parameters that `sci reproduce` gives to a model of one's own; its
figures are laid out, for a desk and for a phone, and not written.
"""

import json
import re
import shutil
import sys
import traceback
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import jaxtyping
import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from sci_book import methods
from sci_book.data import datasets
from sci_book.data.datasets import load_dataset
from sci_book.papers.edge import paper as edge
from sci_book.papers.edge import run
from sci_book.papers.metara.chapters import answers as metara
from sci_book.papers.registry import PAPERS
from sci_book.papers.sci.chapters import standard_sets
from sci_book.papers.shared import figures, stamp
from sci_book.papers.shared.paper import OWN
from sci_book.papers.shared.tables import NOT_RECORDED
from sci_book.pipeline import elsewhere, matrix, notebooks
from sci_book.pipeline.notebooks import parameter_names
from sci_book.pipeline.own_book import READ_ALL, chosen_papers, is_chosen, papers_of
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.pipeline.reproduce import chapter_sources
from sci_book.resources import NOTEBOOKS
from sci_book.results.drbench import subsets
from sci_book.results.records import read_records, write_records
from sci_book.run import method_sets
from sci_book.run.method_sets import STANDARD_METHODS
from sci_book.run.runner import evaluate
from sci_core.families.models import load_model
from sci_core.methods import METHODS
from tests import scripted, tiny
from tests.soak import TIMES, rarely

read_source = cache(notebooks.read_source)
LIMITS = {"always-right": 20, "always-wrong": 33, "rubbish": 20, "of-habit": 40}
OFFERED = {"models", "model", "checkpoints", "records", "runs"}
# With the rest nothing depends on a model: `pytest --nbval` runs them as they are.
SOURCES = {
    source.stem: source
    for source in chapter_sources()
    if OFFERED & set(parameter_names(read_source(source)))
}
FIRST = "always-right"


@pytest.fixture(scope="module", autouse=True)
def left_as_found():
    """The style of figures and `__main__`, which chapters change, are as before for later tests."""
    main = sys.modules["__main__"]
    with plt.rc_context():
        yield
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """Each file of data is read and checked once: what is read does not change here."""
    patch, read, checked = pytest.MonkeyPatch(), {}, {}
    real_rows, real_checksum = datasets.read_rows, datasets._verify_checksum

    def rows(path, base, manifest, joined=None):
        if path not in read:
            read[path] = real_rows(path, base, manifest, joined)
        return read[path]

    def checksum(path, *rest, **more):
        if path not in checked:
            checked[path] = real_checksum(path, *rest, **more)
        return checked[path]

    patch.setattr(datasets, "read_rows", rows)
    patch.setattr(datasets, "_verify_checksum", checksum)
    patch.setattr(figures, "svg", laid_out)
    same = cache(stamp.checksum)
    patch.setattr(stamp, "checksum", lambda paths: same(tuple(paths)))
    # Shapes are compared in the other tests; here that would take much of the time.
    patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    yield
    patch.undo()


def laid_out(figure, alt, *, for_phone=False):
    """In place of a figure's SVG: it is laid out, as that for a phone was when it was stacked."""
    if not for_phone:
        figure.draw_without_rendering()
    return ""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """By name, the folder of a model: its checkpoint and its records of all five papers."""
    found = {name: tmp_path_factory.mktemp(name) for name in LIMITS}
    for name, folder in found.items():
        shutil.copytree(tiny.checkpoint("smolvlm"), folder / name)
        settings = folder / name / "generation_config.json"  # of which many tokens end an answer
        settings.write_text(json.dumps({"eos_token_id": 2}), encoding="utf-8")
        model = load_model(folder / name, device="cpu")
        with scripted.answering(scripted.SCRIPTS[name]):
            _make_records(model, folder, name, LIMITS[name])
    return found


def _make_records(model, folder, name, limit):
    records = folder / "records"
    for paper in filter(lambda paper: paper.data, PAPERS.values()):
        draw_pocket(paper.data)
        asked = _few(load_dataset(paper.data, limit=limit), limit)
        made = evaluate(
            model, asked, STANDARD_METHODS, folder / "shards" / paper.name, progress=False
        )
        kept = made.answers_alone() if paper.name == "metara" else made
        own = records if paper.name == OWN else records / paper.name
        write_records(own / f"{name}.parquet", kept)
    made = run.run(model, edge.rows(5), folder / "shards" / "edge")
    write_records(records / "edge" / f"{name}.parquet", made)


def _few(dataset, limit):
    """The first whole groups within the limit: of some parts of a collection there is no row."""
    groups = {}
    for row in dataset:
        groups.setdefault((row.dataset, row.group), []).append(row)
    kept = []
    for group in groups.values():
        if not kept or len(kept) + len(group) <= limit:
            kept += group
    return replace(dataset, rows=tuple(kept))


def parameters(folder, name, papers=tuple(PAPERS)):
    """What `sci reproduce` offers to every chapter."""
    return {
        **elsewhere.offer([str(folder / name)], "pocket", folder, papers),
        "runs": [str(folder / "records" / f"{name}.parquet")],  # and none of other runs here
        "rows_each": 1,  # of the cost chapter, which reads them with the model itself
        "originals": 3,  # of MetaRA's, whose cases are made anew
    }


def as_text(offered, place):
    """The same, each list as the text that papermill makes of what is typed: `-p models mine`."""
    forms = (lambda listed: ", ".join(listed), json.dumps, str, list)
    form = forms[place % len(forms)]
    return {key: form(value) if type(value) is list else value for key, value in offered.items()}


def page(source, folder, name, offered):
    """Execute a chapter into `folder`, or raise what a cell raised, naming the cell."""
    notebook = deepcopy(read_source(source))
    known = parameter_names(notebook)
    given = {key: value for key, value in offered.items() if key in known}
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.reset()
    shell.display_formatter.active_types = shell.display_formatter.format_types  # HTML too
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        with capture_output() as said:
            result = shell.run_cell(cell.source)
        if error := result.error_before_exec or result.error_in_exec:
            raise AssertionError(
                f"{source.stem} of {name} fails in the cell\n{cell.source}\n"
                + "".join(traceback.format_exception(error))
            )
        for number in plt.get_fignums():
            plt.figure(number).draw_without_rendering()
        plt.close("all")
        if "parameters" in cell.metadata.get("tags", []):
            shell.user_ns.update(given)
        assert not said.stderr, f"{source.stem} of {name} writes to stderr: {said.stderr}"
        cell.outputs = [
            nbformat.v4.new_output("display_data", dict(each.data)) for each in said.outputs
        ]
        if result.result is not None:  # the cell's last line
            data, _ = shell.display_formatter.format(result.result)
            cell.outputs.append(nbformat.v4.new_output("display_data", data))
    target = Path(offered["pages"]) / f"{source.stem}.ipynb"
    target.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, target)
    return notebook


def texts(notebook):
    """All that a page's cells print, as text."""
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    kinds = ("text/markdown", "text/plain")
    return "\n".join(
        str(each.data[kind]) for each in outputs for kind in kinds if kind in each.data
    )


def names(place, stem):
    """The models that a chapter is run with: each in turn has one, in `make soak` every one.

    It is the first if the chapter reads no records.
    """
    if not {"records", "runs"} & set(parameter_names(read_source(SOURCES[stem]))):
        return [FIRST]
    return list(LIMITS) if TIMES > 1 else [list(LIMITS)[place % len(LIMITS)]]


CASES = [(stem, name) for place, stem in enumerate(SOURCES) for name in names(place, stem)]


def test_the_models_are_what_they_are_said_to_be(models):
    kinds = {}
    for name, folder in models.items():
        records = read_records(folder / "records" / f"{name}.parquet")
        sets, choice = subsets(records), (records.frame["kind"] == "MCQ").to_numpy()
        kinds[name] = {key: int(sets[key].sum()) for key in ("all", "B", "S")}
        kinds[name]["B, multiple choice"] = int((sets["B"] & choice).sum())
        kinds[name]["right"] = int(records.correct("base")[records.ok].sum())
    rows = {name: each["all"] for name, each in kinds.items()}
    right, wrong, rubbish, habit = kinds.values()
    assert right["B"] == right["S"] == 0 and right["right"] == rows["always-right"] > 0
    assert wrong["B"] == rows["always-wrong"] > 0 and wrong["S"] == wrong["right"] == 0
    assert rubbish["S"] == rows["rubbish"] > 0 and rubbish["B"] == rubbish["right"] == 0
    assert habit["B"] > 0 == habit["B, multiple choice"] and 0 < habit["right"] < rows["of-habit"]


@pytest.mark.parametrize(("stem", "name"), CASES)
def test_a_chapter_stands_with_any_model(stem, name, models, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    offered = as_text(parameters(models[name], name), list(SOURCES).index(stem))
    if "pages" in parameter_names(read_source(SOURCES[stem])):
        _fill(Path(offered["pages"]), stem, PAPERS)
    said = texts(page(SOURCES[stem], models[name], name, offered))
    assert not re.search(r"\b(nan|NaN|inf|None(?! is replaced))\b", said)
    # They predict from the book's own trainings, time these, and quote what was registered of them.
    if stem not in ("when_it_helps", "table07_cost", "trust"):
        assert "pocket Qwen2-VL" not in said and "pocket LLaVA-NeXT" not in said
    if stem == "00_quickstart":
        none = [kind for kind in ("biased", "sensitive") if f"both {kind} and multiple" in said]
        missing = {"always-wrong": ["sensitive"], "rubbish": ["biased"]}
        assert none == missing.get(name, ["biased", "sensitive"])


@pytest.mark.parametrize("stem", [stem for stem in SOURCES if OWN not in papers_of(stem)])
def test_a_companions_page_says_that_there_are_no_records_of_it(stem, tmp_path, monkeypatch):
    """As where the records of one's own model could not be made (`elsewhere`)."""
    monkeypatch.chdir(NOTEBOOKS)
    said = texts(page(SOURCES[stem], tmp_path, "nobody", parameters(tmp_path, "nobody")))
    assert "**Verdict" in said and "not comparable" in said


def with_a_method_no_record_holds(monkeypatch):
    """ICD among the compared methods, wherever the list of these has been read."""
    monkeypatch.setattr(methods, "COMPARED", (*methods.COMPARED, "ICD"))
    monkeypatch.setattr(methods, "BASELINES", (*methods.BASELINES, "ICD"))
    monkeypatch.setattr(matrix, "COMPARED", methods.COMPARED)
    monkeypatch.setattr(matrix, "SHOWN", (*methods.COMPARED, *methods.COMPARED_CONTROLS))
    monkeypatch.setattr(metara, "COMPARED", methods.COMPARED)
    monkeypatch.setattr(method_sets, "EDITED", (*method_sets.EDITED, METHODS["ICD"]))
    monkeypatch.setattr(standard_sets, "METHODS", method_sets.EDITED)


def with_another_beta(monkeypatch):
    """VCD at another β, as if its preset were edited: no record holds it as decoded."""
    monkeypatch.setitem(METHODS, "VCD", replace(METHODS["VCD"], beta=0.1))


OWN_BETA = "0.1 (VCD)"
# The change, a page, and what that says of the method; "" where it is only that the page stands.
CHANGED = [
    rarely(with_a_method_no_record_holds, "ablation_variants", ""),
    rarely(with_a_method_no_record_holds, "cheaper", ""),
    (with_a_method_no_record_holds, "cvqa_sci", NOT_RECORDED),
    (with_a_method_no_record_holds, "matrix", NOT_RECORDED),
    rarely(with_a_method_no_record_holds, "metara_models", ""),
    (with_a_method_no_record_holds, "metara_sci", NOT_RECORDED),
    rarely(with_a_method_no_record_holds, "oric_sci", NOT_RECORDED),
    (with_a_method_no_record_holds, "table02_drbench", NOT_RECORDED),
    rarely(with_a_method_no_record_holds, "table04_standard", NOT_RECORDED),
    rarely(with_a_method_no_record_holds, "why_gains", ""),
    (with_another_beta, "cvqa_sci", NOT_RECORDED),
    (with_another_beta, "edge_sci", NOT_RECORDED),
    (with_another_beta, "metara_sci", NOT_RECORDED),
    rarely(with_another_beta, "oric_sci", OWN_BETA),
    (with_another_beta, "table02_drbench", OWN_BETA),
    rarely(with_another_beta, "when_it_helps", "not comparable"),
    rarely(with_another_beta, "why_gains", OWN_BETA),
]


@pytest.mark.parametrize(("change", "stem", "says"), CHANGED)
def test_a_chapter_stands_without_the_records_of_a_method(
    change, stem, says, models, monkeypatch, tmp_path
):
    monkeypatch.chdir(NOTEBOOKS)
    change(monkeypatch)
    offered = parameters(models["of-habit"], "of-habit")
    if stem == "oric_sci":  # whose sets need more questions: the book's own models
        offered = {"pages": str(tmp_path)}
    outputs = [each.data for cell in page(SOURCES[stem], tmp_path, "of-habit", offered).cells
               for each in cell.get("outputs", [])]  # fmt: skip
    assert says in str(outputs)


def _fill(pages, stem, papers):
    """Committed pages of some papers in place of those that no test has made yet."""
    pages.mkdir(exist_ok=True)
    for source in chapter_sources():
        made = source.stem == stem or (pages / f"{source.stem}.ipynb").is_file()
        if is_chosen(source.stem, papers) and not made:
            shutil.copy(source.with_suffix(".ipynb"), pages)


COMBINATIONS = {
    "ONLY=sci": ("sci", True, "always-right", "logits"),
    "COMPANIONS=0": rarely(None, False, "rubbish", "logits"),
    "COMPANIONS=0, answers": (None, False, "of-habit", "answers"),
    "ONLY=sci,oric": rarely("sci,oric", True, "of-habit", "logits"),
    "ONLY=metara,sci": ("metara,sci", True, "rubbish", "answers"),
    "ONLY=sci,cvqa,edge": rarely("sci,cvqa,edge", True, "always-wrong", "logits"),
    "all, answers": rarely(None, True, "rubbish", "answers"),
}


def copied(folder, name, papers, kept, target):
    """A model's records of some papers in another folder, perhaps as answers alone."""
    for paper in papers:
        place = Path("records") / ("" if paper == OWN else paper) / f"{name}.parquet"
        records = read_records(folder / place)
        write_records(target / place, records if kept == "logits" else records.answers_alone())
    return parameters(target, name, papers)


@pytest.mark.parametrize(
    ("only", "companions", "name", "kept"), COMBINATIONS.values(), ids=COMBINATIONS
)
def test_the_scoreboard_of_ones_own_model_has_the_main_paper_whatever_is_left_out(
    only, companions, name, kept, models, tmp_path, monkeypatch
):
    monkeypatch.chdir(NOTEBOOKS)
    papers = chosen_papers(only, companions)
    offered = copied(models[name], name, papers, kept, tmp_path)
    _fill(Path(offered["pages"]), "verdicts", papers)
    made = page(SOURCES["verdicts"], tmp_path, name, offered)
    (board,) = [
        str(each.data["text/html"])
        for cell in made.cells for each in cell.get("outputs", [])
        if "scoreboard-filter" in str(each.data.get("text/html", ""))
    ]  # fmt: skip
    heads = re.findall(r"<summary>(.*?): \d+ lines</summary>", board)
    assert heads == [*(PAPERS[paper].title for paper in papers), "Ours, which no paper asks"]
    own = board.split("</details>")[0]
    assert "Table 2" in own and "table02_drbench.html" in own
    said = texts(made)
    for paper in PAPERS:
        assert (f"- **{PAPERS[paper].title}**, " in said) == (paper in papers)


@pytest.mark.parametrize("stem", ["asked", "table02_drbench", "results", "trust"])
def test_the_main_pages_stand_on_answers_alone(stem, models, tmp_path, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    offered = copied(models["of-habit"], "of-habit", [OWN], "answers", tmp_path)
    said = texts(page(SOURCES[stem], tmp_path, "of-habit", offered))
    assert "of-habit" in said and not re.search(r"\b(nan|NaN|inf|None(?! is replaced))\b", said)


def test_a_page_says_that_a_model_cannot_be_read(models, tmp_path, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    offered = copied(models["rubbish"], "rubbish", [OWN], "logits", tmp_path)
    said = texts(page(SOURCES["trust"], tmp_path, "rubbish", offered))
    assert "**rubbish, training 0:** not readable: " in said


def test_the_chapters_that_read_every_papers_records_are_those_that_a_run_knows():
    reading = [stem for stem in SOURCES if ".sources(" in SOURCES[stem].read_text("utf-8")]
    assert sorted(reading) == sorted(READ_ALL)
