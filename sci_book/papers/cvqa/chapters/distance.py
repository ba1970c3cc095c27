"""How far a number lies from another, whichever way: for claims that have no sign."""

from __future__ import annotations

from dataclasses import dataclass

from sci_book.papers.shared.evidence import Sample
from sci_book.results.statistics import Interval


def distance(found: Interval, value: float = 0.0) -> Interval:
    """The distance of an estimate from `value`, with the distances that its interval allows.

    The lower end is 0 where the interval holds `value`; so "greater than 0" is the two-sided test,
    and "less than a margin" says that the whole interval lies within the margin on either side.
    """
    low, high = found.low - value, found.high - value
    return found._replace(
        estimate=abs(found.estimate - value),
        low=max(low, -high, 0.0),
        high=max(abs(low), abs(high)),
    )


@dataclass(frozen=True, eq=False)
class Distance:
    """A part of a claim: how far a sample's mean, or difference of means, lies from `value`."""

    sample: Sample
    value: float = 0.0

    @property
    def what(self) -> str:
        """The sample's name, and what it is held against."""
        return f"{self.sample.what}, from {self.value:g}"

    def interval(self, level: float) -> Interval:
        """The distance with its interval; a sample without rows has none."""
        return distance(self.sample.interval(level), self.value)
