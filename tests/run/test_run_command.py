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
from tests.soak import mostly
from tests.world import Faulty, shard_bytes


@pytest.fixture
def command(checkpoint, world, tmp_path, monkeypatch):
    """`sci evaluate` of the small world by the tiny model; its exit status."""
    monkeypatch.setattr(datasets, "HOME", datasets.MANIFESTS.parent)
    arguments = ["evaluate", "--out", str(tmp_path / "run"), "--model", str(checkpoint)]
    arguments += ["--data", "world", "--methods", "SCI3", "--batch-size", "8"]
    return lambda *more: sci(*arguments, "--executor", "inline", *more)


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
    assert loaded.endswith(": float32, greedy")
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


def cut(content):
    return content[:100]


def cut_at_the_end(content):
    return content[:-9]


def empty(content):
    return b""


def of_another_kind(content):
    return b"<html>502 Bad Gateway</html>"


def one_byte_changed(content):
    place = content.index(b"sci_stamp") + 12
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [cut, cut_at_the_end, empty, of_another_kind, one_byte_changed])
@pytest.mark.parametrize("every", mostly([False, True]))
def test_a_damaged_shard_is_set_aside_and_made_anew(damage, every, command, tmp_path, capsys):
    out = tmp_path / "run"
    assert command() == 0
    first, whole = capsys.readouterr().out, shard_bytes(out)
    shards = sorted(out.glob("shard-*"))
    for shard in shards if every else shards[:1]:
        shard.write_bytes(damage(shard.read_bytes()))
    (out / "shard-copy.parquet").write_bytes(b"of the user's own")
    assert command() == 0
    said = capsys.readouterr()
    assert said.out == first
    aside = shards[0].with_name(f"{shards[0].name}.damaged")
    assert f"{shards[0]} is damaged: kept as {aside.name}, and made anew." in said.err
    (out / "shard-copy.parquet").unlink()
    assert shard_bytes(out) == whole and aside.is_file()
    assert command() == 0 and "damaged" not in capsys.readouterr().err


def test_a_damaged_shard_of_another_run_is_named_and_left(command, tmp_path, capsys):
    out = tmp_path / "run"
    assert command() == 0
    shard = sorted(out.glob("shard-*"))[0]
    shard.write_bytes(damaged := shard.read_bytes()[:100])
    capsys.readouterr()
    assert command("--methods", "base") == 2
    said = capsys.readouterr().err
    assert f"{shard} is no file of records" in said and "give the command of that run again" in said
    assert shard.read_bytes() == damaged


def test_a_run_that_lost_its_notes_finds_itself_by_its_shards(command, tmp_path, capsys):
    out = tmp_path / "run"
    assert command() == 0
    first, whole = capsys.readouterr().out, shard_bytes(out)
    stamp = (out / "stamp.json").read_bytes()
    for note, content in (
        ("finished.json", b"{"), ("stamp.json", b"{"), ("stamp.json", b""), ("stamp.json", b"[]"),
    ):  # fmt: skip
        (out / note).write_bytes(content)
        sorted(out.glob("shard-*.parquet"))[-1].unlink()
        assert command() == 0 and capsys.readouterr().out == first
        assert shard_bytes(out) == whole and (out / "stamp.json").read_bytes() == stamp
    (out / "stamp.json").unlink()
    assert command("--batch-size", "4") == 2
    assert "batch_size" in capsys.readouterr().err
