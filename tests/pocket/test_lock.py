"""Several processes that want the same pocket data at the same time."""

from __future__ import annotations

import subprocess
import sys
from threading import Event, Thread

from sci_core.pocket import what_if
from sci_core.pocket.lock import one_at_a_time

DRAW = """
import sys
from pathlib import Path
from sci_core import companions
companions.CVQA_DATA = Path(sys.argv[1])
companions.CVQA_TWIN = companions.CVQA_STEPS = {"direct": 3, "indirect": 3, "boolean": 3}
companions.CVQA_PUZZLES = {"each": 2, "size": 96}
companions.load_dataset = lambda name: None  # its rows are not those of the manifest
companions.make_cvqa_data()
"""


def test_whoever_comes_second_waits(tmp_path):
    entered = Event()

    def second():
        with one_at_a_time(tmp_path / "data"):
            entered.set()

    with one_at_a_time(tmp_path / "data"):
        waiting = Thread(target=second)
        waiting.start()
        assert not entered.wait(0.2)
    waiting.join(timeout=10)
    assert entered.is_set()


def test_a_process_that_failed_leaves_no_lock(tmp_path):
    for _ in range(2):
        try:
            with one_at_a_time(tmp_path / "data"):
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass


def test_where_nothing_can_be_written_there_is_no_lock(tmp_path, monkeypatch):
    monkeypatch.setattr("sci_core.pocket.lock.os.access", lambda path, mode: False)
    with one_at_a_time(tmp_path / "data"):
        assert not list(tmp_path.iterdir())


def test_of_two_processes_that_want_pocket_data_one_draws(tmp_path):
    folder = tmp_path / "cvqa"
    command = [sys.executable, "-c", DRAW, str(folder)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        for _ in range(3)
    ]
    said = [each.communicate(timeout=120)[0].splitlines() for each in running]
    assert [each.returncode for each in running] == [0, 0, 0]
    assert sorted(map(len, said)) == [0, 0, 4]  # a line a set
    assert (folder / "real" / what_if.QUESTIONS).is_file()
