"""What a gain of a method has to be measured against: answers that take no idea of its own.

Each control is an outcome array over a run's records, as in `metrics`: 1 or 0, a probability where
the outcome is an expected one, NaN where there is none.

==================  ================================================================================
control             what it answers
==================  ================================================================================
vote(N)             what most of the original and N rewordings answer; a tie is the original's
shift               yes or no, after the constant that is best on validation rows is added to "yes"
sampled             a draw from the base at temperature 1: its expected outcome
sampled, plausible  the same among the tokens that the constraint leaves (β = 0.3)
==================  ================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import inf, log
from typing import Protocol

import numpy as np

from sci_book.results.drbench import split
from sci_book.results.records import Records
from sci_book.results.replay import Replay

BETA = 0.3  # of the paper's constraint


class Asked(Protocol):
    """A model with its records, and these made ready for methods that were not decoded."""

    @property
    def records(self) -> Records: ...

    @property
    def replay(self) -> Replay: ...


def vote(records: Records, rewordings: int) -> np.ndarray:
    """Whether the most frequent answer of the original and its first rewordings is right.

    Each round's own free-running answer has a vote; an unknown one has none. A tie for the most
    votes is the original's answer.
    """
    names = ["original", *(f"V{number}" for number in range(1, rewordings + 1))]
    said = np.stack([records.parsed(name) for name in names], axis=1)
    chosen = np.array([_most_frequent(answers) for answers in said.tolist()], dtype=object)
    right = chosen == records.frame["truth"].to_numpy(dtype=object)
    return np.where(records.ok, right, np.nan)


def _most_frequent(answers: list[str | None]) -> str | None:
    votes = Counter(answer for answer in answers if answer is not None).most_common(2)
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return answers[0]
    return votes[0][0]


def shift(records: Records, replay: Replay) -> tuple[dict[str, float], np.ndarray]:
    """The best constant shift of "yes" of each data set of yes/no questions, and its outcomes.

    The shift is added to what the base gives "yes" above "no", in logits, and is fitted on the
    validation rows of the paper's split: of those that are right most often the smallest.

    Returns:
        by data set, the shift; and the outcome of every row, NaN where "yes" and "no" are not both
        among the recorded tokens.
    """
    above, dataset = _yes_above_no(records, replay), records.frame["dataset"].to_numpy(dtype=object)
    truth = (records.frame["truth"] == "yes").to_numpy()
    fitting, right, fitted = split(records) == "validation", np.full(len(above), np.nan), {}
    for name in dict.fromkeys(dataset[np.isfinite(above)].tolist()):
        rows = (dataset == name) & np.isfinite(above)
        fitted[name] = _best_shift(above[rows & fitting], truth[rows & fitting])
        right[rows] = (above[rows] + fitted[name] > 0) == truth[rows]
    return fitted, right


def _yes_above_no(records: Records, replay: Replay) -> np.ndarray:
    """Of every row, the logit of "yes" less that of "no" at the first step; NaN where one lacks."""
    nodes, found = records.nodes, np.full((2, len(records.table)), -inf)
    asked = (records.frame["question_type"] == "yesno").to_numpy() & records.ok
    rows = np.flatnonzero(asked & (replay.root >= 0))
    roots = replay.root[rows]
    for place, word in enumerate(("yes", "no")):
        of_word = replay.says(word)[roots] & ~nodes.padding[roots]
        found[place, rows] = np.where(of_word, nodes.logits[0][roots], -inf).max(axis=1)
    with np.errstate(invalid="ignore"):
        above = found[0] - found[1]
    return np.where(np.isfinite(above), above, np.nan)


def _best_shift(above: np.ndarray, truth: np.ndarray) -> float:
    """The shift of least size among those with which most rows are right; 0 without rows."""
    edges = np.unique(above)
    between = (edges[1:] + edges[:-1]) / 2
    ends = [edges[0] - 1, edges[-1] + 1] if len(edges) else []
    shifts = -np.concatenate([between, ends, [0.0]])
    right = [np.sum((above + each > 0) == truth) for each in shifts]
    best = np.flatnonzero(np.array(right) == max(right))
    return float(min(shifts[best], key=abs))


def sampled(records: Records, replay: Replay, beta: float = 0.0) -> np.ndarray:
    """The chance that a first token drawn from the base at temperature 1 reads as right.

    Exact for answers of one token, up to the tokens that were not recorded, which count as wrong;
    NaN for short answers.

    Args:
        beta: the constraint under which is drawn: tokens at least `beta` times as likely as the
            best. 0: all tokens.
    """
    nodes = records.nodes
    one_token = (records.frame["question_type"] != "short").to_numpy()
    rows = np.flatnonzero(one_token & records.ok & (replay.root >= 0))
    roots = replay.root[rows]
    logits = np.where(nodes.padding[roots], -inf, nodes.logits[0][roots].astype(float))
    if beta:
        logits[logits < logits.max(axis=1, keepdims=True) + log(beta)] = -inf
        total = np.log(np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1))
        total += logits.max(axis=1)
    else:
        total = nodes.log_norm[0][roots]
    chance = np.exp(logits - total[:, None])
    right = replay.answer[roots] == replay.truth[rows, None]
    outcome = np.full(len(records.table), np.nan)
    outcome[rows] = np.where(right, chance, 0.0).sum(axis=1)
    return outcome


OUTCOMES: dict[str, Callable[[Asked], np.ndarray]] = {
    "vote(2)": lambda model: vote(model.records, 2),
    "vote(3)": lambda model: vote(model.records, 3),
    "shift": lambda model: shift(model.records, model.replay)[1],
    "sampled": lambda model: sampled(model.records, model.replay),
    "sampled, plausible": lambda model: sampled(model.records, model.replay, BETA),
}
"""The controls by name, of a model with its answers."""
