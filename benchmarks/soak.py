"""Faults under load: make each of them many times, count, and write what was found.

    python benchmarks/soak.py --kills 100 --times 50 --fuzz 20

`make soak` ends with this. Kills are those of `kill_loop.py`, on pocket data; the other faults are
made by tests, each repeated. Where all hold, `results/runner/soak.json` has the counts and
`REPRODUCING.md` a table of them; where one does not, nothing is written.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import kill_loop
import pytest

from sci_book.files import json_text, write_whole
from sci_book.papers.shared.stamp import device_name

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "results" / "runner"
FOUND = FOLDER / "soak.json"
PAGE = ROOT / "REPRODUCING.md"
HEAD = "| fault | what holds | tried |\n|---|---|---|\n"

EXECUTORS = "tests/run/test_executors.py::test_"
FAULTS = {
    "a disk that is full": (
        "one sentence, nothing half-written, and the same command goes on",
        [
            f"{EXECUTORS}a_full_disk_stops_with_a_sentence_and_leaves_nothing_half_written",
            "tests/run/test_run_command.py::"
            "test_the_command_says_that_no_space_is_left_for_its_last_note",
            "tests/data/test_fetch.py::test_a_full_disk_stops_cleanly_and_the_rest_comes_later",
            "tests/data/test_fetch.py::test_a_full_disk_is_told_by_its_sentence_in_a_small_file_too",
        ],
    ),
    "two runs at once": (
        "the second is refused or waits, and what both need is made once",
        [
            f"{EXECUTORS}a_second_run_in_a_folder_is_refused_while_the_first_is_at_work",
            "tests/pocket/test_lock.py::test_whoever_comes_second_waits",
            "tests/pocket/test_lock.py::test_of_three_processes_that_want_pocket_data_one_draws",
        ],
    ),
    "a worker lost": (
        "it is replaced, its shard done again, and no byte is another",
        [
            f"{EXECUTORS}a_worker_that_dies_is_replaced_and_its_shard_done_again",
            f"{EXECUTORS}workers_that_die_before_they_begin_are_not_replaced_for_ever",
        ],
    ),
}
"""Faults that tests make: what must hold, and the tests."""

FUZZ = "tests/data/test_fuzz.py"


class Repeated:
    """Has every test run so many times."""

    def __init__(self, times: int):
        self.times, self.passed, self.inputs = times, 0, 0

    @pytest.fixture
    def repetition(self, request):
        return request.param

    def pytest_generate_tests(self, metafunc):
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(self.times), indirect=True)

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed


class Fuzzed(Repeated):
    """Counts the inputs that are tried."""

    def pytest_collection_finish(self, session):
        module = session.items[0].module
        tried = module.outcome

        def counted(name):
            self.inputs += 1
            return tried(name)

        module.outcome = counted


def run(tests: list[str], plugin: Repeated) -> int:
    """How often the tests passed, in this process. Exits if one did not."""
    # Without the suite's own options: the packages are imported here, too late to check shapes.
    if pytest.main(["-q", "-o", "addopts=", "-p", "no:cacheprovider", *tests], plugins=[plugin]):
        sys.exit("A fault did not end as it must; pytest says above which.")
    return plugin.passed


def kills(many: int) -> int:
    """Kill evaluations so often; each must end with the bytes of an undisturbed one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kills.json"
        kill_loop.main(
            ["--kills", str(many), "--rows", "60", "--longest", "3", "--json", str(path)]
        )
        return json.loads(path.read_text(encoding="utf-8"))["kills"]


def table(found: dict) -> str:
    """The table of faults: of this file's counts, and of the longer loops of kills."""
    same = "the run goes on, and every shard is an undisturbed run's, to the byte"
    rows = [("an evaluation killed at a random instant", same, f"{found['kills']} times")]
    for name, how in (("command", "the whole command"), ("ray", "all executors, Ray among them")):
        longer = json.loads((FOLDER / f"kills-{name}.json").read_text(encoding="utf-8"))
        rows.append((f"the same, {how} (`kills-{name}.json`)", same, f"{longer['kills']} times"))
    for fault, tried in found["faults"].items():
        rows.append((fault, FAULTS[fault][0], f"{tried} times"))
    counted = "it loads with its bad rows counted, or is one sentence"
    rows.append(("a damaged data file or manifest", counted, f"{found['inputs']:,} files"))
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="of evaluations, at least so many")
    parser.add_argument("--times", type=int, default=50, help="that a test of a fault is repeated")
    parser.add_argument("--fuzz", type=int, default=20, help="times the inputs of `make test`")
    asked = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ["SCI_SOAK"] = str(asked.fuzz)  # before the tests are imported
    began, load = time.monotonic(), os.getloadavg()[0]
    fuzzed = Fuzzed(1)
    run([FUZZ], fuzzed)
    faults = {name: run(tests, Repeated(asked.times)) for name, (_, tests) in FAULTS.items()}
    found = {
        "device": device_name(),
        "scale": vars(asked),
        "kills": kills(asked.kills),
        "faults": faults,
        "inputs": fuzzed.inputs,
        "seconds": round(time.monotonic() - began),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }
    write_whole(FOUND, (json_text(found, indent=1) + "\n").encode())
    page = PAGE.read_text(encoding="utf-8")
    made = re.sub(re.escape(HEAD) + r"(\|.*\n)*", lambda _: table(found), page)
    write_whole(PAGE, made.encode())


if __name__ == "__main__":
    main()
