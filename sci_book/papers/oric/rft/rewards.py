"""The two rewards that can be checked (section 5): is the answer right, has it the asked form?

Each is 0 or 1 and the reward of an answer is their sum. A group whose rewards are all equal has a
z-score of zero everywhere (equation 5) and teaches nothing; how many of the groups are so is
counted, for either reward and for the sum, and a reward that never differs is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Real

import numpy as np

from sci_book.papers.oric.questions import explicit

FORM = re.compile(
    r"\s*<REASONING>(?P<reasoning>.*?)</REASONING>\s*<SOLUTION>\s*(yes|no)\s*</SOLUTION>\s*",
    re.DOTALL,
)
"""Figure 11's form: reasoning, then yes or no, each between its tags, and nothing beside them."""
_TAG = re.compile(r"</?(REASONING|SOLUTION)>")

Texts = Sequence[str]
Reward = Callable[[Texts, Sequence[str]], list[float]]
"""From answers and their labels to a number each."""


def accuracy(texts: Texts, labels: Sequence[str]) -> list[float]:
    """1 where the answer says what the label says, as the evaluation reads it (`explicit`)."""
    return [float(explicit(text) == label) for text, label in zip(texts, labels, strict=True)]


def form(texts: Texts, labels: Sequence[str]) -> list[float]:
    """1 where the answer has Figure 11's form, reasoning not empty, whatever it says."""
    return [float(has_form(text)) for text, _ in zip(texts, labels, strict=True)]


REWARDS: Mapping[str, Reward] = {"accuracy": accuracy, "form": form}
"""Both, in the order of section 5; the sum is the reward."""


def has_form(text: str) -> bool:
    """Whether a text is reasoning and solution in their tags, each tag once."""
    match = FORM.fullmatch(text)
    if match is None or not match["reasoning"].strip():
        return False
    return len(_TAG.findall(text)) == 4


def constant_groups(values: Sequence[float], group: int) -> float:
    """The share of groups, `group` answers each and one behind the other, with equal rewards."""
    if not len(values) or len(values) % group:
        raise ValueError(f"{len(values)} rewards came; expected whole groups of {group} answers.")
    table = np.asarray(values, dtype=float).reshape(-1, group)
    return float((table == table[:, :1]).all(axis=1).mean())


def idle(curve: Sequence[Mapping[str, Real]]) -> dict[str, float]:
    """The rewards that were constant in every group of a run, with the value they had on average.

    Args:
        curve: the lines of a run's log, with `constant_<reward>` (a share) and the reward's mean.
    """
    return {
        name: float(np.mean([line[name] for line in curve]))
        for name in REWARDS
        if curve and all(line[f"constant_{name}"] == 1 for line in curve)
    }
