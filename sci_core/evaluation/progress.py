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

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

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
                f"{left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
            self.told = now
