"""How far a run has come: a bar on a terminal, plain lines elsewhere.

The first line comes before a row is done, the last once, when all are.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from numbers import Real

from tqdm import tqdm

SECONDS = 20
"""Between two lines."""
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
"""Of a terminal; the time left is our own, for tqdm's counts a worker's first batch too."""


class Speed:
    """How many rows a second all workers answer together, from the time that each batch took.

    A worker's first batch is left out: in it the worker warms up (libraries load, black is read).
    """

    def __init__(self) -> None:
        self._batches = Counter[str]()  # by worker
        self._rows, self._seconds = 0, 0.0

    def add(self, rows: int, seconds: Real, worker: str) -> None:
        self._batches[worker] += 1
        if self._batches[worker] > 1:
            self._rows += rows
            self._seconds += seconds

    @property
    def rate(self) -> float | None:
        """Rows a second; None until some worker has ended its second batch."""
        if not self._rows:
            return None
        return len(self._batches) * self._rows / max(self._seconds, 1e-9)


class Progress:
    """A bar with the remaining time on a terminal; elsewhere a plain line now and then."""

    def __init__(self, total: int, done: int, what: str, show: bool, together: int):
        self.terminal = sys.stderr.isatty()
        shown = show and self.terminal
        self.bar = tqdm(
            total=total, initial=done, desc=what, unit="row", disable=not shown, bar_format=BAR
        )
        self.lines = show and not self.terminal
        self.what, self.total, self.done, self.together = what, total, done, together
        self.first, self.began, self.last_said = done, time.monotonic(), time.monotonic()
        self.readings = self.spared = 0
        self.pace, self.last_batch = Speed(), self.began

    def __enter__(self) -> Progress:
        self._say(f"{self.together:,} at a time")
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()
        if self.done == self.total and error[0] is None:
            took = max(time.monotonic() - self.began, 1e-9)
            rate = (self.done - self.first) / took
            self._say(f"{_rate(rate)}, {self._skipped()}, {duration(took)} in all")

    def read(self, readings: int, spared: int) -> None:
        """Count what rounds read, and what they were spared since no answer needed it."""
        self.readings += readings
        self.spared += spared

    def _skipped(self) -> str:
        share = self.spared / max(self.readings + self.spared, 1)
        return f"{100 * share:.0f} % of readings skipped"

    def advance(self, rows: int, seconds: Real | None = None, worker: str = "") -> None:
        """Count rows; a negative number takes back those of a shard that failed.

        Args:
            seconds: that the worker took for them; by default the time since the last ones.
            worker: who answered them.
        """
        now = time.monotonic()
        if rows > 0:
            self.pace.add(rows, now - self.last_batch if seconds is None else seconds, worker)
            self.last_batch = now
        self.done += rows
        self.bar.set_postfix_str(self._so_far(), refresh=False)
        self.bar.update(rows)
        if now - self.last_said > SECONDS and self.first < self.done < self.total:
            self._say(self._so_far())
            self.last_said = now

    def _so_far(self) -> str:
        rate = self.pace.rate
        if rate is None:
            return f"{self._skipped()}, warming up"
        left = duration((self.total - self.done) / rate)
        return f"{_rate(rate)}, {self._skipped()}, {left} left"

    def _say(self, what: str) -> None:
        if self.lines:
            line = f"{self.what}: {self.done:,} of {self.total:,} rows, {what}"
            print(line, file=sys.stderr, flush=True)


def _rate(rate: float) -> str:
    return f"{rate:.0f} rows/s" if rate >= 10 else f"{rate:.2g} rows/s"


def duration(seconds: Real) -> str:
    """A time for a reader, in the unit that suits it."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
