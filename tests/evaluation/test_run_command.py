"""`sci evaluate` of a run that stops, goes on, is finished, or lost a part."""

import errno
import os
import re
import signal

import pytest

from sci_book.data import datasets
from sci_book.data.answers import rules as answers
from sci_book.data.datasets import Row
from sci_book.run import runner
from tests.conftest import sci
from tests.evaluation.conftest import Faulty, shard_bytes


@pytest.fixture
def command(checkpoint, world, tmp_path, monkeypatch):
    """`sci evaluate` of the small world by the tiny model; its exit status."""
    monkeypatch.setattr(datasets, "HOME", datasets.MANIFESTS.parent)
    arguments = ["evaluate", "--out", str(tmp_path / "run"), "--model", str(checkpoint)]
    arguments += ["--data", "world", "--methods", "SCI3", "--batch-size", "8"]
    return lambda: sci(*arguments, "--executor", "inline")


def test_the_command_of_an_unfinished_run_names_the_one_that_goes_on(
    command, monkeypatch, capsys, tmp_path, interruptible
):
    with monkeypatch.context() as patch:
        patch.setattr(Row, "image", Faulty.image)
        assert command() == 3
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.match(r"sci: (\d) of \1 shards failed 3 times", said)
    assert f"Go on with: sci evaluate --out {tmp_path / 'run'} --model" in said
    with monkeypatch.context() as patch:
        patch.setattr(runner, "write_whole", lambda *_: signal.raise_signal(signal.SIGINT))
        assert command() == 3
    said = capsys.readouterr().err
    assert "sci: Stopped; every finished shard is kept in" in said and "Go on with: sci" in said
    assert command() == 0 and "39 rows" in capsys.readouterr().out


def test_the_command_of_a_finished_run_loads_neither_model_nor_data(
    command, monkeypatch, capsys, checkpoint
):
    assert command() == 0
    first = capsys.readouterr().out
    loaded, _, scores = first.partition("\n")
    assert loaded.endswith(": float32, greedy at every step")
    with monkeypatch.context() as patch:
        patch.setattr("sci_core.families.models.load_model", None)
        patch.setattr("sci_book.data.datasets.load_dataset", None)
        assert command() == 0 and capsys.readouterr().out == scores
    # Answers that another version of a rule would read are not taken as they are.
    newer = answers.Rule("letter", "another", "mcq", answers.letter)
    with monkeypatch.context() as patch:
        patch.setattr("sci_core.families.models.load_model", None)
        patch.setitem(answers.RULES, "letter", newer)
        assert command() == 2
    # A file that was touched is read again.
    os.utime(checkpoint / "config.json")
    with monkeypatch.context() as patch:
        patch.setattr("sci_core.families.models.load_model", None)
        assert command() == 2
    capsys.readouterr()
    assert command() == 0 and capsys.readouterr().out == first


def test_the_command_says_that_no_space_is_left_for_its_last_note(
    command, monkeypatch, capsys, tmp_path
):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sci_book.run.finished.write_whole", full)
    assert command() == 3
    said = capsys.readouterr().err
    assert f"no space left for {tmp_path / 'run'}" in said and "Go on with: sci" in said


def test_the_command_mends_a_finished_run_that_lost_a_shard(command, tmp_path, capsys):
    out = tmp_path / "run"
    assert command() == 0
    first, whole = capsys.readouterr().out, shard_bytes(out)
    shard = sorted(out.glob("shard-*"))[0]
    shard.write_bytes(shard.read_bytes()[:-9])
    assert command() == 2
    assert f"{shard} is no file of records" in capsys.readouterr().err
    shard.unlink()  # as the sentence says
    (out / "shard-copy.parquet").write_bytes(b"of the user's own")
    assert command() == 0 and capsys.readouterr().out == first
    (out / "shard-copy.parquet").unlink()
    assert shard_bytes(out) == whole
    (out / "finished.json").write_text("{")
    assert command() == 0 and capsys.readouterr().out == first
