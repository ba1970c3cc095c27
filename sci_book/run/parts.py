"""A run that several commands share, each with shards of its own (`sci evaluate --shard 3/8`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class RunPart(NamedTuple):
    """The `number`-th of `count` commands that share a run: every `count`-th shard is its own."""

    number: int
    count: int

    @classmethod
    def named(cls, text: str) -> RunPart:
        """The part that "3/8" names.

        Raises:
            ValueError: for anything else, or a number beyond the count.
        """
        match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
        part = cls(*map(int, match.groups())) if match else None
        if part is None or not 1 <= part.number <= part.count:
            raise ValueError(
                f"--shard {text}: expected I/N with I from 1 to N, such as 1/8 for the first of "
                "eight commands that share a run."
            )
        return part

    def of(self, shards: int) -> range:
        """Its shards, by number, of so many."""
        return range(self.number - 1, shards, self.count)

    def folder(self, out: Path) -> Path:
        """Where it works: a folder below that of the run, or the run's own if nobody shares it."""
        return out if self == WHOLE else out / f"part-{self.number}-of-{self.count}"


WHOLE = RunPart(1, 1)
