"""How far a run has come: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm


class Progress:
    """A bar with the remaining time on a terminal; elsewhere a plain line now and then."""

    def __init__(self, total: int, done: int, what: str, shown: bool):
        self.terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=total, initial=done, desc=what, unit="row", disable=not (shown and self.terminal)
        )
        self.shown, self.what, self.total, self.done = shown, what, total, done
        self.first, self.began, self.told = done, time.monotonic(), time.monotonic()
        self.readings = self.spared = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

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
        telling = now - self.told > 20 or self.done == self.total
        if self.shown and not self.terminal and telling and self.done > self.first:
            rate = (self.done - self.first) / max(now - self.began, 1e-9)
            left = (self.total - self.done) / rate
            print(
                f"{self.what}: {self.done:,} of {self.total:,} rows, {rate:.0f} rows/s, "
                f"{self._skipped()}, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
            self.told = now
