"""The command line: what it prints, what it refuses, and that reproducing does no work twice."""

import dataclasses
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sci_book import __main__, cli
from sci_book.data import datasets
from sci_book.papers.registry import PAPERS
from sci_book.pipeline import pocket_data
from sci_book.pocket.curriculum import seed_of
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import read_records, write_records
from tests.conftest import sci
from tests.data import formats

QUESTION = "What colour is the ball? Answer the question using a single word or phrase."
CHAPTER = """\
# %% tags=["parameters"]
limit: int = 3

# %%
print("rows", limit * 7)
"""


@pytest.fixture
def picture(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    return tmp_path / "picture.png"


def test_ask_prints_the_answer_every_round_and_what_changed(checkpoint, picture, capsys):
    assert sci("ask", picture, QUESTION, "--model", checkpoint, "--max-new-tokens", 2) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("SCI5: ")
    alone = [line.split()[0] for line in lines if " alone: " in line]
    assert alone == ["original", "V1", "V2", "black", "noise500"]
    assert "says what the model says by itself" in lines[-1] or "changed the answer" in lines[-1]


@pytest.mark.parametrize("prompt", ["Describe it.", "What is here?", "What color is the boat?"])
def test_ask_rewords_a_prompt_without_an_instruction_and_says_how(
    prompt, checkpoint, picture, capsys
):
    arguments = ["ask", picture, prompt, "--model", checkpoint, "--max-new-tokens", 1]
    assert sci(*arguments) == 0
    assert "rule `prefix` puts a request in front" in capsys.readouterr().out
    assert sci(*arguments, "--method", "SCI3", "--rewrite", "Look, then describe it.") == 0
    assert "prefix" not in capsys.readouterr().out


def test_ask_reads_a_picture_between_limits(checkpoint, picture, capsys):
    limits = ("--min-pixels", 5000, "--max-pixels", 6000)
    assert sci("ask", picture, QUESTION, "--model", checkpoint, *limits) == 0
    assert sci("ask", picture, QUESTION, "--model", checkpoint, "--min-pixels", 10**9) == 2
    assert "give both limits" in capsys.readouterr().err


def test_data_list_names_every_manifest(capsys):
    assert sci("data", "list") == 0
    listed = capsys.readouterr().out
    for name in ("mmbench_en", "pocket_vilp", "paper"):
        assert name in listed


@pytest.fixture
def data_world(tmp_path, monkeypatch):
    """Four small sets in a repository of their own, and one that is elsewhere."""
    formats.write_world(tmp_path / "manifests", tmp_path / "data")
    for name, folder in (("MANIFESTS", "manifests"), ("HOME", "")):
        monkeypatch.setattr(datasets, name, tmp_path / folder)
    (tmp_path / "mirror").mkdir()
    away = (tmp_path / "data" / "mme.tsv").rename(tmp_path / "mirror" / "mme.tsv")
    return away


def test_data_fetch_takes_a_mirror_and_says_what_it_verified(data_world, capsys):
    assert sci("data", "fetch", "mme", "--from", data_world.parent) == 0
    assert f"mme.tsv fetched, {data_world.stat().st_size:,} bytes" in capsys.readouterr().out
    assert sci("data", "fetch", "world") == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == ["en", "cn", "mme", "vilp"]
    assert all("was here" in line and "checksum not published" in line for line in said)


def test_data_fetch_goes_on_after_what_cannot_be_fetched(data_world, capsys):
    assert sci("data", "fetch", "mme", "cn") == 2
    captured = capsys.readouterr()
    assert captured.err == "sci: mme has no address to fetch from; give --from PATH.\n"
    assert captured.out.startswith("cn: ")


def test_data_check_lists_what_is_wrong_by_kind(data_world, capsys):
    assert sci("data", "check", "en", "cn") == 0
    assert capsys.readouterr().out == (
        "en: 16 rows, 4 pictures; unusable rows: 0\ncn: 8 rows, 2 pictures; unusable rows: 0\n"
    )
    rows = formats.mmbench_rows(4)
    rows[1][8] = "E"
    rows[4][1] = formats.encoded(b"no picture" * 9)  # four rows point at it
    root = data_world.parents[1]
    formats.write_tsv(root / "data" / "en.tsv", formats.MMBENCH, rows)
    assert sci("data", "check", "world") == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "en: 16 rows, 3 pictures; unusable rows: 5"
    assert said[1] == "        4 no picture: rows with index 2, 1000002, 2000002, …"
    assert "row 5 (index 2): the image field (90 bytes) is no picture" in said[2]
    assert said[3] == "        1 answer: rows with index 1000001"
    assert said[4].endswith(
        "the answer is 'E'; expected one of A, B, C, D. Mend or leave out the row."
    )
    assert said[5] == "cn: 8 rows, 2 pictures; unusable rows: 0"
    assert said[6].startswith("mme: ") and "does not exist" in said[6]
    assert said[7] == "vilp: 9 rows, 9 pictures; unusable rows: 0"


def test_the_command_says_the_installed_version(capsys):
    assert sci("--version") == 0
    assert capsys.readouterr().out == f"sci {metadata.version('sci-core')}\n"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("pocket", ["sci"]),
        ("pocket_cvqa", ["cvqa"]),
        ("pocket_oric", ["oric"]),
        ("pocket_metara", ["metara"]),
        ("pocket_mme", ["sci"]),
        ("pocket_before", ["before"]),
        ("pocket_before_vilp", ["before"]),
        ("mme", []),
    ],
)
def test_pocket_data_are_drawn_where_they_are_asked_for(name, made, monkeypatch):
    called = []
    for paper in PAPERS.values():
        drawing = dataclasses.replace(paper, draw=lambda say, name=paper.name: called.append(name))
        monkeypatch.setitem(PAPERS, paper.name, drawing)
    monkeypatch.setattr(pocket_data, "draw_before", lambda say: called.append("before"))
    monkeypatch.setattr(pocket_data, "file_of", lambda manifest, name: Path("absent"))
    pocket_data.draw_pocket(name)
    assert called == made
    monkeypatch.setattr(pocket_data, "file_of", lambda manifest, name: Path(__file__))
    pocket_data.draw_pocket(name)
    assert called == made
    [*pocket_data.draw_sets()]  # by name alone is the world before drawn
    assert called[len(made) :] == [name for name, paper in PAPERS.items() if paper.draw]


def test_train_pocket_keeps_its_state_apart_from_the_checkpoint(sandbox, monkeypatch, capsys):
    called, recipes = {}, []

    def train(arch, seed, out, work, **how):
        called.update(dict(arch=arch, seed=seed, out=out, work=work, start=None) | how)
        recipes.append(how["recipe"])
        return out

    monkeypatch.setattr("sci_book.pocket.train.train", train)
    assert sci("train-pocket", "--arch", "qwen2_vl", "--seed", 2, "--size", "small") == 0
    made = sandbox / "runs" / "checkpoints" / "qwen2_vl-small-seed2"
    assert capsys.readouterr().out.strip() == str(made)
    work = sandbox / "runs" / "training" / "qwen2_vl-small-seed2"
    assert called == dict(
        arch="qwen2_vl", seed=2, out=made, work=work, size="small", recipe="late", start=None
    )
    onward = ("--seed", 100, "--recipe", "onward", "--start", "mine")
    assert sci("train-pocket", "--arch", "qwen2_vl", *onward) == 0
    assert called["out"].name == "qwen2_vl-standard-seed100-onward"
    assert called["start"] == Path("mine") and recipes == ["late", "onward"]
    assert sci("train-pocket", "--arch", "qwen2_vl", "--seed", 2, "--recipe", "onward") == 0
    assert recipes[2:] == ["late", "onward"]
    first = sandbox / "runs" / "checkpoints" / "qwen2_vl-standard-seed2"
    assert called["start"] == first and called["seed"] == 2
    first.mkdir(parents=True)
    (first / "README.md").write_text("a card", encoding="utf-8")
    assert sci("train-pocket", "--arch", "qwen2_vl", "--seed", 2, "--recipe", "onward") == 0
    assert recipes[4:] == ["onward"] and called["start"] == first
    for training, size in (("3", "standard"), ("sister-0", "small")):
        assert sci("train-pocket", "--arch", "qwen2_vl", "--training", training) == 0
        assert called["recipe"] == "qwen2_vl" and called["start"] is None
        assert called["seed"] == seed_of("qwen2_vl", training) and called["size"] == size
        assert called["out"].name == f"qwen2_vl-{training}"


def test_freeze_puts_shards_into_one_file(tmp_path, capsys):
    whole = read_records(FROZEN_RECORDS / "pocket-qwen2vl.parquet")
    few = whole.take(np.arange(40))
    for shard in range(2):
        part = few.take(np.arange(20 * shard, 20 * (shard + 1)))
        write_records(tmp_path / "run" / f"shard-{shard:05d}-of-00002.parquet", part)
    assert sci("freeze", tmp_path / "run", tmp_path / "one.parquet") == 0
    assert "40 rows" in capsys.readouterr().out
    assert read_records(tmp_path / "one.parquet").table.equals(few.table)
    assert sci("freeze", tmp_path / "run", tmp_path / "bare.parquet", "--answers-alone") == 0
    assert not len(read_records(tmp_path / "bare.parquet").nodes.row)
    (tmp_path / "run" / "shard-00001-of-00002.parquet").unlink()
    capsys.readouterr()
    assert sci("freeze", tmp_path / "run", tmp_path / "cut.parquet") == 2
    assert "the run is not finished" in capsys.readouterr().err


def test_doctor_compares_with_the_lock(capsys):
    sci("doctor")
    assert "ok  Python 3.11" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask", "absent.png", QUESTION], "absent.png cannot be read"),
        (["ask", "absent.png", QUESTION, "--method", "SCI9"], "unknown method 'SCI9'"),
        (["evaluate", "--out", "x", "--methods", "SCI3,SCI8"], "unknown method 'SCI8'; name one"),
        (["evaluate", "--out", "x", "--methods", "SCI(M=2,N=2,gamma=1)"], "it takes M, N, tau1"),
        (["evaluate", "--out", "x", "--methods", "every"], "or one of the sets standard, extended"),
        (["evaluate", "--data", "mmx", "--out", "x"], "There is no data set 'mmx'"),
        (["data", "check", "mmx"], "There is no data set 'mmx'"),
        (["data", "check", "absent.yaml"], "absent.yaml does not exist; expected a YAML file"),
        (["data", "fetch"], "name what to fetch"),
        (["data", "fetch", "pocket-mme"], "drawn here: `sci data make`"),
        (["data", "make", "--from", "x"], "--from goes with `sci data fetch`"),
        (["reproduce", "--full", "--limit", "3"], "leave --full out"),
        (["notebook", "absent", "--out", "x"], "there is no chapter 'absent'; expected a file"),
        (["notebook", "table02", "--out", "x"], "notebooks/, such as table02_drbench"),
        (["notebook", "00_quikstart.ipynb", "--out", "x"], "such as 00_quickstart"),
        (["notebook", "absent", "--out", "x", "--set", "limit"], "expected name=value"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert sci(*arguments) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err and captured.err.startswith("sci: ")
    assert "Traceback" not in captured.err and captured.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_debug_shows_the_traceback():
    with pytest.raises(ValueError, match="unknown method"):
        cli.main(["--debug", "ask", "absent.png", QUESTION, "--method", "SCI9"])


def test_an_unknown_model_is_refused(tmp_path, capsys):
    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    assert sci("ask", tmp_path / "picture.png", QUESTION, "--model", "no/such-model") == 2
    assert "no/such-model" in capsys.readouterr().err


LOADED = """\
import sys
from pathlib import Path

from sci_book import cli
from sci_book.data import datasets, prompts

assert prompts.TEMPLATES.is_file()  # its place is known before the data sets' is another
datasets.HOME = Path(sys.argv.pop(1))
datasets.MANIFESTS = datasets.HOME / "manifests"
try:
    cli.main()
finally:
    heavy = {"torch", "transformers", "matplotlib", "statsmodels", "scipy"}
    print(sorted(sys.modules.keys() & heavy))
"""


def test_a_finished_run_is_read_without_torch(checkpoint, data_world, tmp_path, capsys):
    arguments = ["evaluate", "--data", "en", "--model", checkpoint, "--out", tmp_path / "run"]
    assert sci(*arguments, "--methods", "SCI3") == 0
    loaded, *first = capsys.readouterr().out.splitlines()
    assert loaded == f"{checkpoint}: float32, greedy"
    again, fewer, again_all = (
        subprocess.run(
            [sys.executable, "-c", LOADED, tmp_path, *arguments, "--methods", method],
            check=True, capture_output=True, text=True,
        ).stdout.splitlines()
        for method in ("SCI3", "base", "SCI3")
    )  # fmt: skip
    # Of SciPy the functions of Student's interval alone, which are there in a tenth of a second.
    assert again.pop() == fewer.pop() == again_all.pop() == "['scipy']"
    *scores, unread = first  # random weights write nothing that a rule reads
    assert first == again == again_all and fewer == [*scores[:-1], unread]
    assert "rows in" in first[0] and "no rule reads 100 % under original" in unread


@pytest.mark.parametrize("arguments", [["--help"], ["data", "list"]])
def test_commands_without_a_model_load_no_torch(arguments, data_world, tmp_path):
    command = [sys.executable, "-c", LOADED, tmp_path, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "sci_book", "--help"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    for name in ("reproduce", "evaluate", "ask", "data", "train-pocket", "doctor"):
        assert name in done.stdout


def test_notebook_runs_a_chapter_with_other_parameters(sandbox, capsys):
    (sandbox / "notebooks" / "chapter.py").write_text(CHAPTER, encoding="utf-8")
    out = sandbox / "out"
    assert sci("notebook", "chapter", "--out", out, "--set", "limit=5") == 0
    assert "rows 35" in (out / "chapter.ipynb").read_text(encoding="utf-8")
    assert sci("notebook", "chapter", "--out", out, "--set", "limt=5") == 2
    assert "has no parameter 'limt'; it has limit" in capsys.readouterr().err
    assert not (sandbox / "notebooks" / "chapter.ipynb").exists()
    for name in ("chapter.ipynb", "notebooks/chapter.py", "./notebooks/chapter.ipynb"):
        (out / "chapter.ipynb").unlink()
        assert sci("notebook", name, "--out", out) == 0 and (out / "chapter.ipynb").is_file()


def test_paths_in_a_chapters_parameters_are_read_from_where_the_command_is_given(
    sandbox, tmp_path, monkeypatch
):
    chapter = CHAPTER.replace("limit: int = 3", "limit: list = []").replace("limit * 7", "limit")
    (sandbox / "notebooks" / "chapter.py").write_text(chapter, encoding="utf-8")
    (tmp_path / "elsewhere" / "mine").mkdir(parents=True)
    (tmp_path / "elsewhere" / "pocket").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    given = "limit=[./mine, pocket, Qwen/none, data_manifests/models]"
    assert sci("notebook", "chapter", "--out", "out", "--set", given) == 0
    text = (tmp_path / "elsewhere" / "out" / "chapter.ipynb").read_text(encoding="utf-8")
    mine = str(tmp_path / "elsewhere" / "mine")
    assert f"rows ['{mine}', 'pocket', 'Qwen/none', 'data_manifests/models']" in text


def test_without_its_packages_the_command_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "sci_book.cli")
    monkeypatch.delattr("sci_book.cli", raising=False)
    with pytest.raises(
        SystemExit, match=r"'typer' is not installed; .* pip install -e '\.\[eval\]'"
    ):
        __main__.main()
