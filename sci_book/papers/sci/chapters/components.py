"""Which rounds are worth their cost: every combination of rounds, and each one's fair share.

The paper's Table 5 tries fourteen combinations. Here every subset of the recorded counterfactual
rounds is one method, so that what a round adds can be averaged over all that may stand before it:
its Shapley value. It is taken row by row, like any other paired difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sci_book.methods import with_constants
from sci_book.papers.sci.shapley import Coalition, coalitions, weights
from sci_book.papers.shared.chapters import Subject
from sci_core.counterfactuals import is_visual
from sci_core.methods import SCI7, Method

PAPERS = SCI7.rounds[1:]
"""The rounds of the paper, which its claim is about."""
ROUNDS = PAPERS
"""The rounds that the page takes apart."""
SIDES = ("all textual", "all visual")
INTERACTION = "textual × visual"

Right = Mapping[Coalition, np.ndarray]  # by combination, the outcome of every row


def counterfactuals(subject: Subject, rounds: Sequence[str] = ROUNDS) -> Coalition:
    """Those of some rounds that were recorded."""
    return tuple(name for name in rounds if name in subject.records.rounds)


def combination(rounds: Sequence[str]) -> Method:
    """SCI over the original and these counterfactual rounds; without one it is the base.

    By the paper's constants: tau1 = 1 + 0.5 N for N textual rounds (appendix D; Table 5 follows it
    down to N = 0), tau2 = 0.2 and beta = 0.3.
    """
    textual, visual = sides(rounds)
    name = " + ".join(("original", *rounds))
    return Method(name, "sci", textual, visual, tau1=1 + 0.5 * len(textual))


def outcomes(
    subject: Subject, rounds: Sequence[str] = ROUNDS, **constants: float | None
) -> dict[Coalition, np.ndarray]:
    """1 or 0 for every combination and row, NaN for a row with an error; unsettled rows as read.

    Args:
        rounds: of which all subsets are combined, as far as they were recorded.
        constants: in the place of those of `combination`, where one is given.
    """
    return {
        some: subject.right(with_constants(combination(some), **constants))
        for some in coalitions(counterfactuals(subject, rounds))
    }


def contributions(right: Right) -> dict[str, np.ndarray]:
    """By round, its Shapley value on every row; their sums by side; what both sides do together.

    The interaction is v(all) - v(textual) - v(visual) + v(none): below zero where one side does
    again what the other has done. `right` holds the outcomes of all subsets of some rounds, in the
    order of `shapley.coalitions`.
    """
    players = list(right)[-1]
    shares = weights(len(players)) @ np.stack(list(right.values()))
    textual, visual = sides(players)
    both = right[players] - right[textual] - right[visual] + right[()]
    values = dict(zip(players, shares, strict=True))
    sums = [sum((values[name] for name in side), 0 * both) for side in (textual, visual)]
    return {**values, **dict(zip(SIDES, sums, strict=True)), INTERACTION: both}


def sides(rounds: Sequence[str]) -> tuple[Coalition, Coalition]:
    """Textual and visual rounds, each in the order given."""
    textual = tuple(name for name in rounds if not is_visual(name))
    return textual, tuple(name for name in rounds if is_visual(name))
