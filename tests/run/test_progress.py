"""What a run says of the time left, against a clock that the test moves."""

import re
import time

import pytest

from sci_book.run.progress import Progress, Speed, duration

BATCH = 64


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until the test moves it, as `clock[0] += seconds`."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def simulated(clock, capsys, *, batches, workers, warm_up, first, each, told=True):
    """Run a pool of workers; by time, the rows done and the seconds that were said to be left."""
    ends = {}
    finish = [clock[0] + warm_up for _ in range(workers)]
    for number in range(batches):
        worker = min(range(workers), key=finish.__getitem__)
        took = first if number < workers else each(number)
        finish[worker] += took
        ends[number] = finish[worker], took, f"worker {worker}"
    total, said = batches * BATCH, []
    with Progress(total, 0, "a run", True, BATCH) as bar:
        capsys.readouterr()
        for moment, took, worker in sorted(ends.values()):
            clock[0] = moment
            bar.advance(BATCH, *((took, worker) if told else ()))
            for line in capsys.readouterr().err.splitlines():
                match = re.search(r"([\d,]+) of .*, ([\d.]+) (s|min|h) left", line)
                if match:
                    unit = {"s": 1, "min": 60, "h": 3600}[match[3]]
                    said.append((moment, int(match[1].replace(",", "")), float(match[2]) * unit))
                else:
                    assert "warming up" in line
    return said, max(finish), total


@pytest.mark.parametrize(
    "run",
    [
        {"batches": 100, "workers": 1, "warm_up": 60, "first": 20, "each": lambda n: 3.0},
        {"batches": 100, "workers": 2, "warm_up": 90, "first": 12, "each": lambda n: 4.0},
        {"batches": 200, "workers": 8, "warm_up": 240, "first": 60, "each": lambda n: 15.0},
        {"batches": 60, "workers": 4, "warm_up": 30, "first": 31, "each": lambda n: 22 + n % 5},
        {"batches": 400, "workers": 3, "warm_up": 5, "first": 5, "each": lambda n: 2 + n % 2},
        {"batches": 50, "workers": 1, "warm_up": 0, "first": 3600, "each": lambda n: 400.0},
        {"batches": 80, "workers": 1, "warm_up": 99, "first": 9, "each": lambda n: 9, "told": 0},
    ],
)  # fmt: skip
def test_the_time_left_is_right_after_the_first_tenth_however_long_the_warm_up(run, clock, capsys):
    said, end, total = simulated(clock, capsys, **run)
    later = [(end - moment, left) for moment, rows, left in said if rows > total / 10]
    assert len(later) > 3
    last = run["each"](0) + 1  # a batch that is nearly done looks like one that has just begun
    for really, left in later:
        assert really / 1.5 - last < left < really * 1.5 + last, later


def test_rows_of_a_run_that_goes_on_and_shards_that_fail_do_not_spoil_the_pace(clock, capsys):
    with Progress(1000, 500, "a run", True, BATCH) as bar:
        for rows in (50, 50, -50, 50, 50):
            clock[0] += 30
            bar.advance(rows, 10.0, "one")
        lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("500 of 1,000 rows, 64 at a time")
    assert lines[-1].endswith("650 of 1,000 rows, 5 rows/s, 0 % of readings skipped, 70 s left")


def test_nothing_is_said_of_the_time_left_before_a_pace_is_known():
    pace = Speed()
    assert pace.rate is None
    pace.add(64, 100.0, "one")
    pace.add(64, 100.0, "two")
    assert pace.rate is None
    pace.add(64, 2.0, "one")
    assert pace.rate == pytest.approx(2 * 32)


def test_the_last_line_says_how_long_it_took(clock, capsys):
    with Progress(100, 0, "a run", True, BATCH) as bar:
        clock[0] += 200
        bar.advance(100, 1.0, "one")
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("100 of 100 rows, 0.5 rows/s, 0 % of readings skipped, 3.3 min in all")
    assert [duration(seconds) for seconds in (5.0, 119.0, 7300.0)] == ["5 s", "119 s", "2.0 h"]
