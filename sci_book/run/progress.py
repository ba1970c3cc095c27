"""How far a run has come: a bar on a terminal, plain lines elsewhere.

The first line comes before a row is done, the last once, when all are.
"""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

SECONDS = 20
"""Between two lines."""


class Progress:
    """A bar with the remaining time on a terminal; elsewhere a plain line now and then."""

    def __init__(self, total: int, done: int, what: str, show: bool, together: int):
        self.terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=total, initial=done, desc=what, unit="row", disable=not (show and self.terminal)
        )
        self.lines = show and not self.terminal
        self.what, self.total, self.done, self.together = what, total, done, together
        self.first, self.began, self.last_said = done, time.monotonic(), time.monotonic()
        self.readings = self.spared = 0

    def __enter__(self) -> Progress:
        self._say(f"{self.together:,} at a time")
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()
        if self.done == self.total and error[0] is None:
            self._say_pace()

    def read(self, readings: int, spared: int) -> None:
        """Count what rounds read, and what they were spared since no answer needed it."""
        self.readings += readings
        self.spared += spared
        self.bar.set_postfix_str(self._skipped(), refresh=False)

    def _skipped(self) -> str:
        share = self.spared / max(self.readings + self.spared, 1)
        return f"{100 * share:.0f} % of readings skipped"

    def advance(self, rows: int) -> None:
        """Count rows; a negative number takes back those of a shard that failed."""
        self.bar.update(rows)
        self.done += rows
        now = time.monotonic()
        if now - self.last_said > SECONDS and self.first < self.done < self.total:
            self._say_pace()
            self.last_said = now

    def _say_pace(self) -> None:
        rate = (self.done - self.first) / max(time.monotonic() - self.began, 1e-9)
        left = (self.total - self.done) / max(rate, 1e-9)
        pace = f"{rate:.0f} rows/s" if rate >= 10 else f"{rate:.2g} rows/s"
        self._say(f"{pace}, {self._skipped()}, {left:.0f} s left")

    def _say(self, what: str) -> None:
        if self.lines:
            line = f"{self.what}: {self.done:,} of {self.total:,} rows, {what}"
            print(line, file=sys.stderr, flush=True)
