"""Reproducing: no work twice, and a part that fails stops no other."""

import json
import os
import re
from functools import cache, partial
from pathlib import Path

import nbformat
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sci_book import cli, resources
from sci_book.data.datasets import DatasetError, load_dataset
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import PaperSet, Reading
from sci_book.pipeline import elsewhere, frozen, reproduce
from sci_book.pipeline.notebooks import NotebookError
from sci_book.pipeline.pocket_data import paper_set
from sci_book.results.records import read_records
from sci_book.run.preflight import Memory
from sci_core.families.models import load_model
from tests.conftest import sci

pytestmark = pytest.mark.usefixtures("forked_kernels")

ELSEWHERE = """\
# %% [markdown]
# # What was offered

# %% tags=["parameters"]
models: list = []
also: list = []
data: str = ""
records: str = ""
runs: list = []
papers: list = []

# %%
print(models, also, data, records, runs, papers)
"""
LOADING = """\
# %% [markdown]
# # How a model is loaded

# %% tags=["parameters"]
loading: dict = {}

# %%
print(loading)
"""
LAST = """\
# %% [markdown]
# # The last

# %% tags=["parameters"]
pages: str = ""

# %%
from pathlib import Path

print(*sorted(each.name for each in Path(pages).iterdir()))
"""
BREAKS = """\
# %% [markdown]
# # A chapter that breaks

# %%
print("before")

# %%
[][0]

# %%
print("after")
"""


def test_a_step_is_done_once_for_the_same_inputs_and_outputs(sandbox):
    source, made = sandbox / "source.txt", sandbox / "made.txt"
    source.write_text("1", encoding="utf-8")
    runs = []

    def work():
        runs.append(source.read_text(encoding="utf-8"))
        made.write_text("made of " + runs[-1], encoding="utf-8")

    for _ in range(2):
        reproduce.run_steps([reproduce.Step("a step", [source], [made], work)])
    assert runs == ["1"]
    source.write_text("2", encoding="utf-8")
    reproduce.run_steps([reproduce.Step("a step", [source], [made], work)])
    assert runs == ["1", "2"]
    made.write_text("tampered", encoding="utf-8")
    reproduce.run_steps([reproduce.Step("a step", [source], [made], work)])
    assert runs == ["1", "2", "2"]


def test_a_step_that_fails_leaves_no_stamp(sandbox):
    def work():
        raise NotebookError("boom")

    assert reproduce.run_steps([reproduce.Step("a step", [], [], work)]) == ["a step: boom"]
    traceback = (sandbox / "runs" / "failures" / "a step.txt").read_text(encoding="utf-8")
    assert traceback.startswith("Traceback") and "boom" in traceback
    assert not (sandbox / "runs" / "stamps" / "a step").exists()


def test_several_steps_are_done_in_processes_of_their_own(sandbox, monkeypatch):
    monkeypatch.setattr(reproduce, "cpu_count", lambda: 2)  # on one core they follow in this one
    made = [sandbox / f"made-{number}.txt" for number in range(4)]

    def work(path):
        path.write_text(str(os.getpid()), encoding="utf-8")

    steps = [reproduce.Step(path.name, [], [path], partial(work, path)) for path in made]
    reproduce.run_steps(steps)
    first = [path.read_text(encoding="utf-8") for path in made]
    assert str(os.getpid()) not in first
    reproduce.run_steps(steps)
    assert [path.read_text(encoding="utf-8") for path in made] == first


def test_a_step_that_fails_stops_no_other_and_is_tried_again(sandbox):
    good, bad = sandbox / "good.txt", sandbox / "bad.txt"

    def fail():
        raise KeyError("boom")  # nobody foresaw it, so its kind is told

    wrong = reproduce.Step("bad", [], [bad], fail)
    failures = reproduce.run_steps([wrong, reproduce.Step("good", [], [good], good.touch)])
    assert failures == ["bad: KeyError: 'boom'"]
    stamp = wrong.stamp(sandbox / "runs")
    assert good.is_file() and not stamp.exists()
    reproduce.run_steps([reproduce.Step("bad", [], [bad], bad.touch)])
    assert stamp.exists()


def test_the_committed_book_is_built_although_a_step_failed(sandbox, monkeypatch, capsys):
    def fail():
        raise reproduce.ReproductionError("the records differ")

    monkeypatch.setattr(reproduce, "data_steps", lambda: [])
    monkeypatch.setattr(
        reproduce, "record_steps", lambda full: [reproduce.Step("the records", [], [], fail)]
    )
    monkeypatch.setattr(reproduce, "build_book", lambda folder: folder / "index.html")
    (sandbox / "notebooks" / "breaks.py").write_text(BREAKS, encoding="utf-8")
    (sandbox / "notebooks" / "breaks.ipynb").write_text("committed", encoding="utf-8")
    (sandbox / "notebooks" / "whole.py").write_text(ELSEWHERE, encoding="utf-8")
    assert sci("reproduce") == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == str(resources.ROOT / "index.html")
    assert err.splitlines() == [
        "sci: the rest is done, but 2 parts could not be made:",
        "  the records: the records differ",
        "  breaks: IndexError: list index out of range",
    ]
    assert (sandbox / "notebooks" / "whole.ipynb").is_file()
    assert (sandbox / "notebooks" / "breaks.ipynb").read_text(encoding="utf-8") == "committed"


@pytest.fixture
def own(sandbox, monkeypatch, checkpoint, own_data):
    """The command of a book that is not built; what `make reproduce` imports is not timed."""
    monkeypatch.setattr(reproduce, "build_book", lambda folder: folder / "index.html")
    monkeypatch.setattr(elsewhere, "IMPORTS", "")
    words = ("reproduce", "--model", checkpoint, "--data", own_data, "--limit", 3)
    return lambda *more: (*words, *more)


def printed(page):
    """What an executed notebook printed."""
    return [
        "".join(output["text"]) for cell in json.loads(page.read_text("utf-8"))["cells"]
        for output in cell.get("outputs", []) if "text" in output
    ]  # fmt: skip


def test_the_book_of_another_model_is_made_of_its_own_records(
    own, sandbox, checkpoint, own_data, capsys
):
    (sandbox / "notebooks" / "a_last.py").write_text(LAST, encoding="utf-8")
    (sandbox / "notebooks" / "b_first.py").write_text(ELSEWHERE, encoding="utf-8")
    other = sandbox / "runs" / "other" / "records" / "other.parquet"
    other.parent.mkdir(parents=True)
    other.touch()
    name = checkpoint.name
    folder = sandbox / "runs" / f"{name}-mine-3rows"
    command = own("--no-companions")

    assert sci(*command) == 0
    said = capsys.readouterr().out.splitlines()
    done = [line for line in said if line.endswith(": done")]
    assert done == ["b_first: done", "a_last: done"] and said[-1] == str(folder / "index.html")
    records = folder / "records" / f"{name}.parquet"
    assert len(read_records(records).table) == 3
    runs, titles = [str(records), str(other)], ["Self-Critical Inference"]
    assert {page.stem: printed(page) for page in (folder / "notebooks").glob("*.ipynb")} == {
        "a_last": ["b_first.ipynb\n"],
        "b_first": [f"['{name}'] [] {own_data.resolve()} {records.parent} {runs} {titles}\n"],
    }
    settings = yaml.safe_load((folder / "_config.yml").read_text(encoding="utf-8"))
    told = f"{name} (float32) on mine, LIMIT=3 rows of each set; left out: C-VQA, "
    assert told in settings["html"]["announcement"]

    # Again: the records are there, so no pace is measured and no byte changes.
    before = records.read_bytes()
    assert sci(*command) == 0
    said = capsys.readouterr().out
    assert "to be read" not in said and records.read_bytes() == before
    assert "b_first: done before" in said and "a_last: done before" in said


def test_what_fails_stops_nothing_else_and_is_named_on_its_page_and_at_the_end(
    own, sandbox, checkpoint, monkeypatch, capsys
):
    for name, text in (
        ("a_breaks", BREAKS),
        ("b_whole", ELSEWHERE),
        ("metara_sci", ELSEWHERE),
        ("oric_sci", ELSEWHERE),
    ):
        (sandbox / "notebooks" / f"{name}.py").write_text(text, encoding="utf-8")

    def asked(paper, data, limit):
        if paper == "metara":
            raise DatasetError("its pictures are not there")
        made = paper_set("sci", data, limit)
        return made if paper == "sci" else PaperSet(paper, made.dataset, made.parts, limit)

    def make(self, *given):
        if self.paper == "oric":
            raise MemoryError("there is no room")
        return whole(self, *given)

    whole = PaperSet.make
    monkeypatch.setattr(PaperSet, "make", make)
    monkeypatch.setattr(elsewhere, "paper_set", asked)
    assert sci(*own("--only", "sci,oric,metara")) == 1

    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    name = checkpoint.name
    folder = sandbox / "runs" / f"{name}-mine-3rows"
    assert out.splitlines()[-1] == str(folder / "index.html")
    assert err.splitlines()[-4:] == [  # after the lines of progress
        "sci: the rest is done, but 3 parts could not be made:",
        "  records of MetaRA: its pictures are not there",
        f"  records of ORIC: {name}: MemoryError: there is no room",
        "  a_breaks: IndexError: list index out of range",
    ]
    pages = {
        page.stem: nbformat.read(page, as_version=4)
        for page in (folder / "notebooks").glob("*.ipynb")
    }
    assert sorted(pages) == ["a_breaks", "b_whole", "metara_sci", "oric_sci"]
    titles = ["Self-Critical Inference", "ORIC", "MetaRA"]
    assert printed(folder / "notebooks" / "b_whole.ipynb")[0].endswith(f"{titles}\n")
    first, failed, after = (cell for cell in pages["a_breaks"].cells if cell.cell_type == "code")
    assert first.outputs[0].text == "before\n" and not after.outputs
    (output,) = failed.outputs
    assert output.data["text/markdown"].startswith(
        "**Not computed.** This page stopped here (`IndexError: list index out of range`)"
    )
    assert pages["metara_sci"].cells[1].source == (
        ":::{warning}\nThe records of MetaRA could not be made: its pictures are not there\n:::"
    )
    assert "ORIC could not be made" in pages["oric_sci"].cells[1].source
    for part in ("metara", "oric", "a_breaks"):
        text = (folder / "failures" / f"{part}.txt").read_text(encoding="utf-8")
        assert text.startswith("Traceback")


WRITES = """\
# %% [markdown]
# # A chapter that notes each time that it runs

# %%
from pathlib import Path

with Path({log!r}).open("a") as file:
    file.write({name!r} + "\\n")
if {name!r} == "breaks":
    assert Path({needs!r}).is_file()
"""


def test_the_same_command_again_does_only_what_failed(own, sandbox, checkpoint, capsys):
    log, needs = sandbox / "log.txt", sandbox / "needed.txt"
    for name in ("breaks", "kept", "other"):
        text = WRITES.format(name=name, log=str(log), needs=str(needs))
        (sandbox / "notebooks" / f"{name}.py").write_text(text, encoding="utf-8")
    (sandbox / "notebooks" / "z_reads.py").write_text(LAST, encoding="utf-8")
    folder = sandbox / "runs" / f"{checkpoint.name}-mine-3rows"

    def ran():
        assert log.is_file()
        names = log.read_text("utf-8").split()
        log.unlink()
        return sorted(names)

    command = own("--only", "sci")
    assert sci(*command) == 1 and ran() == ["breaks", "kept", "other"]
    assert "1 part" not in capsys.readouterr().err.splitlines()[-1]
    assert sci(*command) == 1 and ran() == ["breaks"]
    needs.touch()
    assert sci(*command) == 0 and ran() == ["breaks"]
    assert sci(*command) == 0 and not log.exists()
    page = folder / "notebooks" / "breaks.ipynb"
    assert "Not computed" not in page.read_text("utf-8")
    source = sandbox / "notebooks" / "kept.py"
    source.write_text(source.read_text("utf-8") + "\n# %%\n1 + 1\n", encoding="utf-8")
    (folder / "executed" / "other.ipynb").unlink()
    assert sci(*command) == 0 and ran() == ["kept", "other"]


def test_new_tokens_questions_at_a_time_and_processes_are_settings_of_a_run(
    own, sandbox, checkpoint, monkeypatch
):
    given = []
    monkeypatch.setattr(
        PaperSet, "make", lambda self, model, name, shards, records, reading: given.append(reading)
    )
    monkeypatch.setattr(elsewhere, "read_records", lambda path: None)
    monkeypatch.setattr(elsewhere, "unreadable", lambda records: "")
    more = ("--max-new-tokens", 5, "--batch-size", 2, "--workers", 1)
    assert sci(*own("--only", "sci", *more)) == 0
    assert given == [Reading(5, 2, 1)]
    assert (sandbox / "runs" / f"{checkpoint.name}-mine-3rows-5tokens-batch2").is_dir()


def test_a_chapter_that_loads_the_model_loads_it_as_the_run_did(own, sandbox, checkpoint):
    (sandbox / "notebooks" / "page.py").write_text(LOADING, encoding="utf-8")
    assert sci(*own("--only", "sci", "--dtype", "float64", "--max-pixels", 3136)) == 0
    (page,) = sandbox.glob("runs/*/notebooks/page.ipynb")
    assert page.parts[-3] == f"{checkpoint.name}-mine-3rows-3136max_pixels-float64"
    assert printed(page) == ["{'dtype': 'float64', 'max_pixels': 3136}\n"]
    loads = [page.stem for page in resources.ROOT.glob("notebooks/*.py")
             if re.search(r"how_to_load\((?!.*loading)", page.read_text("utf-8"))]  # fmt: skip
    assert not loads, "a page loads its model otherwise than the run that it is part of"


@pytest.mark.slow
def test_a_model_is_loaded_only_where_records_are_missing(own, sandbox, checkpoint, monkeypatch):
    loaded = []

    def load(source, **how):
        loaded.append(how["dtype"])
        return load_model(source, **how)

    monkeypatch.setattr(elsewhere, "load_model", load)
    folder = sandbox / "runs" / f"{checkpoint.name}-mine-3rows"
    records = folder / "records" / f"{checkpoint.name}.parquet"
    command = own("--only", "sci")
    for change in (None, records.unlink, (checkpoint / "config.json").touch):
        if change:
            change()
        assert sci(*command) == 0 and loaded.pop() and not loaded
        assert sci(*command) == 0 and not loaded
    records.write_bytes(b"PAR1")  # not as it was left
    assert sci(*command) == 0 and loaded.pop()
    assert len(read_records(records).table) == 3
    # Another precision, or number of questions at a time, has a folder of its own.
    assert sci(*command, "--dtype", "float64") == 0 and loaded == ["float64"]
    assert sci(*command, "--batch-size", 2) == 0
    assert sci(*command, "--dtype", "float32") == 0 and loaded == ["float64", "float32"]
    names = {path.name for path in folder.parent.glob(f"{checkpoint.name}-*")}
    assert names == {f"{folder.name}{more}" for more in ("", "-float64", "-batch2")}


@cache
def of_twenty(paper):
    """What a paper asks at a limit of 20 rows, made once, for all its rows are read."""
    return paper_set(paper, "pocket", 20)


@pytest.mark.parametrize(
    "reading", [Reading(5, 2, 1), Reading(3), Reading(batch_size=1), Reading(workers=1)]
)
@pytest.mark.parametrize("paper", ["sci", "edge"])
def test_a_setting_that_is_given_is_the_stamps_and_the_rest_is_the_papers(
    paper, reading, checkpoint
):
    asked, model = of_twenty(paper), load_model(checkpoint)
    usual, stamp = asked.plan(model).stamp, asked.plan(model, reading).stamp
    assert stamp["max_new_tokens"] == (reading.max_new_tokens or usual["max_new_tokens"])
    assert stamp["batch_size"] == (reading.batch_size or usual["batch_size"])


def test_a_model_that_cannot_be_read_is_named_on_top_of_every_page(
    own, sandbox, checkpoint, monkeypatch, capsys
):
    (sandbox / "notebooks" / "page.py").write_text(ELSEWHERE, encoding="utf-8")
    monkeypatch.setattr(elsewhere, "unreadable", lambda records: "not readable: no rule reads …")
    assert sci(*own("--only", "sci")) == 0
    assert f"{checkpoint.name} is not readable: no rule reads …" in capsys.readouterr().out
    folder = sandbox / "runs" / f"{checkpoint.name}-mine-3rows"
    settings = yaml.safe_load((folder / "_config.yml").read_text(encoding="utf-8"))
    assert f"{checkpoint.name} is not readable" in settings["html"]["announcement"]


def test_what_it_takes_is_told_for_every_set_before_any_work(own, own_data, monkeypatch, capsys):
    worked = []
    monkeypatch.setattr(PaperSet, "make", lambda self, *_: worked.append(self.paper))
    monkeypatch.setattr(elsewhere, "read_records", lambda path: None)
    monkeypatch.setattr(elsewhere, "unreadable", lambda records: "")
    asked = {
        paper: PaperSet(paper, load_dataset(str(own_data), limit=3), {"a": 3, "b": rows}, 3)
        for paper, rows in (("sci", 2), ("edge", 4_000))
    }
    monkeypatch.setattr(elsewhere, "paper_set", lambda paper, data, limit: asked[paper])
    measured = []

    def measure(plan, rows):
        assert not worked
        measured.append(len(rows))
        return elsewhere_measure(plan, rows)

    elsewhere_measure = elsewhere.measure
    monkeypatch.setattr(elsewhere, "measure", measure)
    assert sci(*own("--only", "sci,edge")) == 0
    loading, *said = capsys.readouterr().out.splitlines()
    assert loading.endswith(", greedy")
    assert said[0].split() == ["to", "be", "read", "rows", "about"]
    assert said[1].split()[:3] == ["Self-Critical", "Inference", "5"]
    assert said[1].endswith("a 3, b 2")
    assert said[2].split()[:5] == ["The", "Edge", "Reliability", "Gap", "4,003"]
    assert said[3].startswith("  0 chapters, the book") and said[4].startswith("  all together")
    assert said[5].startswith("  memory: weights ") and "keys and values of 64 questions" in said[5]
    assert measured == [2, 2] and worked == ["sci", "edge"]


def test_a_model_without_room_for_one_question_is_refused_before_any_work(
    own, checkpoint, monkeypatch, capsys
):
    weights = elsewhere.check_fits(str(checkpoint), "float32", Memory(2**40, "memory"))
    monkeypatch.setattr(elsewhere, "free_memory", lambda: Memory(weights, "GPU memory"))
    monkeypatch.setattr(PaperSet, "make", lambda self, *_: pytest.fail("work began"))
    assert sci(*own("--only", "sci")) == 2
    assert "of GPU memory are free. Take a smaller model" in capsys.readouterr().err


@pytest.mark.parametrize("paper", PAPERS)
def test_a_limit_bounds_the_rows_of_every_paper(paper):
    asked = of_twenty(paper)
    assert 0 < asked.rows <= 20 and len(asked.dataset) <= asked.rows


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", "sci,orik"], f"no paper 'orik'; known are {', '.join(PAPERS)}"),
        (["--only", "oric", "--no-companions"], "COMPANIONS=0 leaves them out"),
        (["--only", "sci", "--full"], "leave --full out"),
    ],
)
def test_papers_that_are_none_are_refused(arguments, sentence, capsys):
    assert sci("reproduce", *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_a_stop_is_one_sentence_that_says_how_to_go_on(monkeypatch, capsys):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(elsewhere, "reproduce_elsewhere", stopped)
    assert sci("reproduce", "--limit", "20") == cli.UNFINISHED
    assert capsys.readouterr().err == (
        "sci: Stopped; what is finished is kept. Go on with: sci reproduce --limit 20\n"
    )


def test_no_checkpoint_and_no_frozen_records_are_named(sandbox):
    with pytest.raises(reproduce.ReproductionError, match="holds no pocket model"):
        reproduce.pocket_checkpoints()
    for name in ("pocket-qwen2vl", "pocket-clip"):  # an encoder answers no questions
        (sandbox / "models" / name).mkdir()
        (sandbox / "models" / name / "config.json").touch()
    (step,) = reproduce.record_steps(full=False)
    with pytest.raises(reproduce.ReproductionError, match=r"qwen2vl\.parquet does not exist"):
        step.work()


def test_all_records_are_those_of_further_trainings_too(tmp_path, monkeypatch):
    """Each compared with its own weights; records of other weights are not."""
    checkpoints, records = tmp_path / "checkpoints", tmp_path / "records"
    for name in ("pocket-qwen2vl", "trainings/qwen2_vl-1", "trainings/qwen2_vl-2"):
        (checkpoints / name).mkdir(parents=True)
        (checkpoints / name / "config.json").touch()
    for place, model in (
        ("", "pocket-qwen2vl"), ("edge", "pocket-qwen2vl"), ("training1", "qwen2_vl-1"),
        ("training1/edge", "qwen2_vl-1"), ("training2", "pocket-qwen2vl"),
    ):  # fmt: skip
        (records / place).mkdir(parents=True, exist_ok=True)
        table = pa.table({"index": [1]})
        stamp = {"sci_stamp": json.dumps({"model": model})}
        file = records / place / "pocket-qwen2vl.parquet"
        pq.write_table(table.replace_schema_metadata(stamp), file)
    for module in (resources, frozen):
        monkeypatch.setattr(module, "CHECKPOINTS", checkpoints)
    monkeypatch.setattr(resources, "FROZEN_RECORDS", records)
    some, all_ = (
        {
            step.name.rpartition(",")[0]: [*step.work.args[:2]]
            for step in reproduce.record_steps(full)
        }
        for full in (False, True)
    )
    assert [*some] == ["pocket-qwen2vl", "edge records of pocket-qwen2vl"]
    added = {name: read for name, read in all_.items() if name not in some}
    first, file = checkpoints / "trainings" / "qwen2_vl-1", "pocket-qwen2vl.parquet"
    assert added == {
        "qwen2_vl-1": [first, records / "training1" / file],
        "training1, edge records of pocket-qwen2vl": [first, records / "training1" / "edge" / file],
    }


def test_names_of_models_are_the_last_part():
    assert elsewhere.model_name("Qwen/Qwen2-VL-7B-Instruct") == "Qwen2-VL-7B-Instruct"
    assert elsewhere.model_name(str(Path("checkpoints") / "pocket-x")) == "pocket-x"


def test_the_book_of_a_folder_is_built_and_a_warning_is_an_error(tmp_path):
    (tmp_path / "_config.yml").write_text("title: scratch\nonly_build_toc_files: true\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text("# A page\n")
    page = reproduce.build_book(tmp_path)
    assert page.is_file()
    (tmp_path / "page.md").write_text("# A page\n\n{doc}`absent`\n")
    with pytest.raises(reproduce.ReproductionError, match="absent"):
        reproduce.build_book(tmp_path)
