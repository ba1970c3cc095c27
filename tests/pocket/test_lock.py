"""Several processes that want the same pocket data at the same time."""

from __future__ import annotations

import signal
import subprocess
import sys
from threading import Event, Thread

import pytest

from sci_book.pocket import what_if
from sci_book.pocket.lock import one_at_a_time

KILLED = """
import os, signal, sys
from pathlib import Path
from sci_book.pocket.lock import one_at_a_time
with one_at_a_time(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
DRAW = """
import sys
from pathlib import Path
from sci_book.papers.cvqa import paper
paper.DATA = Path(sys.argv[1])
paper.TWIN = paper.STEPS = {"direct": 3, "indirect": 3, "boolean": 3}
paper.PUZZLES = {"per_type": 2, "size": 96}
paper.load_dataset = lambda name: None  # its rows are not those of the manifest
paper.draw()
"""


def enter(folder):
    """A thread that waits for the folder, and the event that it came in."""
    entered = Event()

    def wait():
        with one_at_a_time(folder):
            entered.set()

    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    return waiting, entered


def test_whoever_comes_second_waits(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with one_at_a_time(tmp_path / "data"):
        waiting, entered = enter(tmp_path / "link")
        assert not entered.wait(0.2)
    waiting.join(timeout=30)
    assert entered.is_set()


def test_work_that_failed_holds_nobody_up(tmp_path):
    with pytest.raises(OSError, match="full"), one_at_a_time(tmp_path / "data"):
        raise OSError("the disk is full")
    assert enter(tmp_path / "data")[1].wait(30)


def test_a_process_that_was_killed_holds_nobody_up(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "data"])
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / ".data.lock").exists()
    assert enter(tmp_path / "data")[1].wait(30)


@pytest.mark.parametrize("error", [PermissionError, NotImplementedError])
def test_where_no_lock_can_be_had_there_is_none(error, tmp_path, monkeypatch):
    def refuse(*arguments, **settings):
        raise error("no lock here")

    monkeypatch.setattr("sci_book.pocket.lock.FileLock.acquire", refuse)
    with one_at_a_time(tmp_path / "data"):
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_of_three_processes_that_want_pocket_data_one_draws(tmp_path):
    folder = tmp_path / "cvqa"
    command = [sys.executable, "-c", DRAW, str(folder)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        for _ in range(3)
    ]
    try:
        said = [each.communicate(timeout=120)[0].splitlines() for each in running]
    finally:
        for each in running:
            each.kill()
    assert [each.returncode for each in running] == [0, 0, 0]
    assert sorted(map(len, said)) == [0, 0, 4]  # a line a set
    assert (folder / "real" / what_if.QUESTIONS).is_file()
