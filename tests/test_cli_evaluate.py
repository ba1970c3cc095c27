"""`sci evaluate`: what it prints, which settings it refuses, and what a finished run answers."""

import json
import os
import subprocess
import sys

import pytest

from sci_book.results.records import read_records
from sci_book.results.summary import Score, Share, Summary
from sci_book.run import lock
from sci_book.run.parts import RunPart
from tests.conftest import OWN_DATA, sci


def test_evaluation_that_answers_nothing_says_where_the_reasons_are(
    checkpoint, own_data, tmp_path, capsys
):
    for file in tmp_path.glob("*.png"):
        file.unlink()
    where = ["--out", tmp_path / "run", "--executor", "inline", "--methods", "base"]
    assert sci("evaluate", "--model", checkpoint, "--data", own_data, *where) == 2
    said = capsys.readouterr()
    log = tmp_path / "run" / "log.jsonl"
    assert "3 rows in" in said.out and "no row could be answered; the first: mine " in said.err
    assert "there is no picture '" in said.err and f"All are in {log}" in said.err
    assert said.err.count("there is no picture") == 1
    assert log.read_text("utf-8").count("there is no picture") == 3


def test_commands_that_share_a_run_end_as_one_that_none_does(
    checkpoint, own_data, tmp_path, capsys
):
    more = ["--methods", "SCI3", "--batch-size", "1"]
    assert evaluated(checkpoint, own_data, tmp_path / "one", *more) == 0
    alone = capsys.readouterr().out
    for shard in ("3/3", "1/3", "2/3"):
        assert evaluated(checkpoint, own_data, tmp_path / "all", *more, "--shard", shard) == 0
        said = capsys.readouterr().out
        if shard != "2/3":
            assert said.endswith(
                f"{tmp_path / 'all' / 'part'}-{shard.replace('/', '-of-')}: this part is done; the "
                "records are read together when all 3 parts are.\n"
            )
    alone = alone.replace(str(tmp_path / "one"), str(tmp_path / "all"))
    assert said == alone and "SCI3" in said
    assert read_records(tmp_path / "all").table.equals(read_records(tmp_path / "one").table)
    assert evaluated(checkpoint, own_data, tmp_path / "all", *more) == 0
    assert capsys.readouterr().out == said
    for wrong in ("0/3", "4/3", "3", "a/b"):
        assert evaluated(checkpoint, own_data, tmp_path / "all", *more, "--shard", wrong) == 2
        assert "expected I/N" in capsys.readouterr().err


@pytest.mark.parametrize("shard", ["1/1", "2/4"])
def test_a_folder_where_another_process_is_at_work_is_refused_before_anything_is_loaded(
    shard, checkpoint, own_data, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("sci_core.families.models.load_model", lambda *_, **__: 1 / 0)
    monkeypatch.setattr("sci_book.data.datasets.load_dataset", lambda *_, **__: 1 / 0)
    with lock.held(RunPart.named(shard).folder(tmp_path / "run")):
        assert evaluated(checkpoint, own_data, tmp_path / "run", "--shard", shard) == 2
    said = capsys.readouterr().err
    assert f"(process {os.getpid()} on " in said and "give the same command again" in said


def test_answers_that_no_rule_reads_are_said_to_be_so(checkpoint, own_data, tmp_path, capsys):
    yes_no = OWN_DATA.replace("question_type: short", "question_type: yesno")
    own_data.write_text(yes_no, encoding="utf-8")
    for name in ("mine.csv",):
        text = (tmp_path / name).read_text("utf-8").replace(",red,", ",yes,")
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "base") == 0
    said = capsys.readouterr().out
    assert (read_records(tmp_path / "run").parsed("base") == None).all()  # noqa: E711
    assert "not readable: of the answers no rule reads 100 % under original" in said


def evaluated(checkpoint, data, out, *more):
    """Exit status of `sci evaluate` in this process."""
    where = ["--model", checkpoint, "--data", data, "--out", out, "--executor", "inline"]
    return sci("evaluate", *where, *more)


def test_evaluation_keeps_for_the_base_what_cannot_be_reworded(
    checkpoint, own_data, tmp_path, capsys
):
    twice = 'prompt: "{question} Answer the question using a single word or phrase."\n'
    own_data.write_text(OWN_DATA + twice, encoding="utf-8")
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "sci3,vcd") == 0
    _, *said = capsys.readouterr().out.splitlines()
    log = tmp_path / "run" / "log.jsonl"
    assert said[0].endswith("3 rows in " + str(tmp_path / "run") + ", 0 with an error (recorded, "
                            "never scored)")  # fmt: skip
    assert said[1].startswith("  first row left out: mine ")
    assert "holds 2 known instructions" in said[1] and said[2] == f"  all of them: {log}"
    for line, name in zip(said[3:], ("base", "SCI3", "VCD"), strict=True):
        assert line.split()[0] == name
        assert ("3 left out (cannot be reworded)" in line) == (name == "SCI3")
        assert f"right of {0 if name == 'SCI3' else 3}" in line
    capsys.readouterr()
    assert evaluated(checkpoint, own_data, tmp_path / "alone", "--methods", "base") == 0
    said = capsys.readouterr().out
    assert "right of 3" in said and "left out" not in said
    records = read_records(tmp_path / "alone")
    assert records.rounds == ["original"] and records.ok.all()


def test_evaluation_reads_a_larger_finished_run_and_rounds_may_be_added(
    checkpoint, own_data, tmp_path, capsys, monkeypatch
):
    both = ["--methods", "VCD, SCI(N=1, M=1, beta=0.5),SCI3", "--rounds", "V2, noise400"]
    assert evaluated(checkpoint, own_data, tmp_path / "run", *both) == 0
    whole = capsys.readouterr().out
    assert "SCI(M=1, N=1, beta=0.5)" in whole
    rounds = ["original", "V2", "V1", "noise400", "black", "noise500"]
    assert read_records(tmp_path / "run").rounds == rounds
    monkeypatch.setattr("sci_book.run.runner._run", None)  # nothing may be decoded
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "sci3") == 0
    words = capsys.readouterr().out.splitlines()[-1].split()
    assert words[0] == "SCI3" and words == whole.splitlines()[-1].split()
    assert evaluated(checkpoint, own_data, tmp_path / "run", *both) == 0
    assert capsys.readouterr().out == whole


def test_evaluation_names_the_setting_that_differs(checkpoint, own_data, tmp_path, capsys):
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "SCI3") == 0
    capsys.readouterr()
    for more, sentence in (
        (["--methods", "VCD"], 'methods is ["SCI3"], expected ["VCD"]'),
        (["--methods", "SCI3", "--batch-size", "3"], "batch_size is 64, expected 3. Use another"),
        (["--methods", "SCI3", "--max-new-tokens", "3"], "max_new_tokens is 8, expected 3. Use"),
        (["--methods", "VCD", "--limit", "2"], 'rows is "'),
    ):
        assert evaluated(checkpoint, own_data, tmp_path / "run", *more) == 2
        said = capsys.readouterr().err
        assert f"holds records of another run: {sentence}" in said and said.count("\n") == 1


def test_scores_by_category_and_as_json(checkpoint, own_data, tmp_path, capsys):
    rows = own_data.with_name("mine.csv")
    header, *lines = rows.read_text("utf-8").splitlines()
    scenes = ("indoors", "outdoors", "indoors")
    lines = [f"{line},{scene}" for line, scene in zip(lines, scenes, strict=True)]
    rows.write_text("\n".join([header + ",scene", *lines]), "utf-8")
    text = OWN_DATA.replace("image: picture", "image: picture, category: scene")
    own_data.write_text(text, encoding="utf-8")
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "SCI3") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-3].split() == ["category", "base", "SCI3"]
    assert [line.split()[0] for line in said[-2:]] == ["indoors", "outdoors"]
    assert evaluated(checkpoint, own_data, tmp_path / "run", "--methods", "SCI3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == str(tmp_path / "run")
    assert (found["rows"], found["errors"]) == (3, {})
    records = read_records(tmp_path / "run")
    for name in ("base", "SCI3"):
        score = found["methods"][name]
        assert score["right"] == int(records.correct(name).sum()) and score["rows"] == 3
        assert {k: v["rows"] for k, v in score["categories"].items()} == {
            "indoors": 2, "outdoors": 1,
        }  # fmt: skip
        assert score["right"] == sum(each["right"] for each in score["categories"].values())


def test_a_table_of_categories_has_no_more_columns_than_are_read():
    def summary(methods):
        shares = {"one": Share(1, 2), "two": Share(0, 0)}
        scores = [Score(name, 1, 2, 0, 0, 0, (), shares) for name in methods]
        return Summary(2, {}, scores, 0).lines()

    assert [line.split() for line in summary(["base"])[2:]] == [
        ["category", "base"], ["one", "50.00%"], ["two", "–"],
    ]  # fmt: skip
    many = summary([f"m{number}" for number in range(7)])
    assert len(many) == 8 and many[-1] == "  2 categories: `--json` has their scores"


def test_where_and_which_model_is_handed_to_the_loader(checkpoint, own_data, tmp_path, monkeypatch):
    given = {}

    def load(name, **settings):
        given.update(settings)
        raise ValueError("enough")

    monkeypatch.setattr("sci_core.families.models.load_model", load)
    assert evaluated(checkpoint, own_data, tmp_path / "a") == 2
    assert (given["device"], given["revision"], given["trust_remote_code"]) == (None, None, False)
    more = ["--device", "cpu", "--revision", "v1", "--trust-remote-code"]
    assert evaluated(checkpoint, own_data, tmp_path / "a", *more) == 2
    assert (given["device"], given["revision"], given["trust_remote_code"]) == ("cpu", "v1", True)


def test_evaluation_counts_errors_by_class_and_answers_that_were_cut(
    checkpoint, own_data, tmp_path, capsys
):
    rows = own_data.with_name("mine.csv")
    rows.write_text(rows.read_text(encoding="utf-8").replace("1.png", "none.png"), "utf-8")
    where = ["--out", tmp_path / "run", "--executor", "inline", "--methods", "SCI3"]
    assert sci("evaluate", "--model", checkpoint, "--data", own_data, *where) == 0
    _, *said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("1 with an error (recorded, never scored): 1 RowError")
    records = read_records(tmp_path / "run")
    assert said[1].startswith("  first error: mine 1: RowError: ") and "'none.png'" in said[1]
    assert said[2] == f"  all of them: {tmp_path / 'run' / 'log.jsonl'}"
    for line, name in zip(said[3:], ("base", "SCI3"), strict=True):
        lengths = [
            len(each or ()) for each in records.table[f"tokens:{records._policy(name)}"].to_pylist()
        ]
        cut = sum(length == 8 for length in lengths)
        unknown = sum(answer is None for answer in records.parsed(name)[records.ok])
        ends = f", {unknown} unknown" if unknown else ""
        ends += f", {cut} cut at 8 tokens" if cut else ""
        assert line.endswith("right of 2" + ends)
    assert any("cut at 8 tokens" in line for line in said)


@pytest.mark.slow
def test_evaluation_in_processes_prints_its_progress_and_nothing_else(
    checkpoint, own_data, tmp_path
):
    command = [sys.executable, "-m", "sci_book", "evaluate", "--methods", "SCI3"]
    command += ["--model", checkpoint, "--data", own_data, "--batch-size", "1"]
    command += ["--executor", "processes", "--workers", "2", "--out", tmp_path / "run"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3 rows in" in done.stdout
    said = done.stderr.splitlines()
    first, *others = said
    assert first == f"{checkpoint.name} on mine: 0 of 3 rows, 1 at a time"
    assert all("rows/s" in line or "warming up" in line for line in others), done.stderr
    assert "rows/s" in others[-1] and others[-1].endswith(" in all")
    assert sum("3 of 3 rows" in line for line in others) == 1
    assert len(list((tmp_path / "run").glob("shard-*.parquet"))) == 3


def test_pixel_limits_are_part_of_what_a_run_is(checkpoint, own_data, tmp_path, capsys):
    run = tmp_path / "run"
    limits = ("--min-pixels", 1000, "--max-pixels", 2000)
    assert evaluated(checkpoint, own_data, run, "--methods", "VCD", *limits) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert said == f"{checkpoint}: float32, pictures of 1,000 to 2,000 pixels, greedy"
    stamp = read_records(run).stamp
    assert (stamp["min_pixels"], stamp["max_pixels"]) == (1000, 2000)
    for other, said in (
        ((), "min_pixels is 1000, expected null; max_pixels"),
        (("--min-pixels", 1000), "max_pixels is 2000, expected null"),
        (("--min-pixels", 1000, "--max-pixels", 2100), "max_pixels is 2000, expected 2100"),
    ):
        assert evaluated(checkpoint, own_data, run, "--methods", "VCD", *other) == 2
        assert said in capsys.readouterr().err
    assert evaluated(checkpoint, own_data, tmp_path / "other", "--min-pixels", 10**9) == 2
    assert "give both limits" in capsys.readouterr().err
