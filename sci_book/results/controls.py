"""What a gain of a method has to be measured against: answers that take no idea of its own.

Each control is an outcome array over a run's records, as in `metrics`: 1 or 0, a probability where
the outcome is an expected one, NaN where there is none.

==================  ================================================================================
control             what it answers
==================  ================================================================================
runner-up           the base's second choice of an answer
uniform other       any option but the base's, with equal chance: its expected outcome
vote(N)             what most of the original and N rewordings answer; a tie is the original's
shift               yes or no, after the constant that is best on validation rows is added to "yes"
sampled             a draw from the base at temperature 1: its expected outcome
sampled, plausible  the same among the tokens that the constraint leaves (β = 0.3)
==================  ================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from sci_book.data.answers import rules as answers
from sci_book.results.drbench import split
from sci_book.results.records import Records
from sci_book.results.replay import Replay
from sci_core.methods import BASE, Method, sci


class Asked(Protocol):
    """A model with its records, these made ready for methods that were not decoded, and draws."""

    @property
    def records(self) -> Records: ...

    @property
    def replay(self) -> Replay: ...

    @property
    def draws(self) -> pd.DataFrame: ...


def runner_up(records: Records) -> np.ndarray:
    """The base's second choice, as parsed answers (None where there is none).

    The original round's most likely first token that is not its best one and reads as another
    answer than the base's. Beating the base on B means little where this does too.
    """
    nodes, base, read = records.nodes, records.parsed("original"), first_token_reader(records)
    second = np.full(len(base), None, dtype=object)
    root = np.array([not prefix for prefix in nodes.prefix], dtype=bool)
    order = np.argsort(-nodes.logits[0][root], axis=1, kind="stable")
    ranked = np.take_along_axis(nodes.tokens[root], order, axis=1)
    for row, tokens in zip(nodes.row[root], ranked, strict=True):
        readings = (read(row, token) for token in tokens[tokens != tokens[0]])
        second[row] = next((said for said in readings if said not in (None, base[row])), None)
    return second


def first_token_reader(records: Records) -> Callable[[int, int], str | None]:
    """Tell, by row and token, what an answer that is this token reads as; None for no answer."""
    types, options = (records.frame[name].to_numpy() for name in ("question_type", "options"))
    known: dict[tuple[str, str, int], str | None] = {}

    def read(row: int, token: int) -> str | None:
        key = (types[row], options[row], int(token))
        if key not in known:
            letters = dict.fromkeys(options[row], "")
            known[key] = answers.parse(types[row], records.pieces[int(token)], letters)
        return known[key]

    return read


def _second(records: Records) -> np.ndarray:
    """Whether the runner-up is right; NaN for all of records without logits."""
    known = records.ok & bool(len(records.nodes.row))
    right = runner_up(records) == records.frame["truth"].to_numpy(dtype=object)
    return np.where(known, right, np.nan)


def uniform_other(records: Records) -> np.ndarray:
    """The expected outcome of any option but the base's, with equal chance.

    0 where the base is right, 1 / (options - 1) where it is wrong, 1 / options where its answer is
    unknown. NaN for short answers, which have no options, and for samples with an error.
    """
    frame = records.frame
    count = frame["options"].str.len().to_numpy(dtype=float)
    count = np.where(frame["question_type"] == "yesno", 2.0, count)
    unknown = np.array([answer is None for answer in records.parsed("original")], dtype=bool)
    with np.errstate(divide="ignore"):
        chance = np.where(unknown, 1 / count, 1 / (count - 1))
    chance = np.where(records.correct("original"), 0.0, chance)
    return np.where(records.ok & (frame["question_type"] != "short"), chance, np.nan)


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


def sampled(
    records: Records, replay: Replay, method: Method = BASE, draws: pd.DataFrame | None = None
) -> np.ndarray:
    """The chance that an answer drawn from a method at temperature 1 is right.

    Exact for answers of one token, up to the tokens that were not recorded, which count as wrong.
    Of a short answer it is the share that is right of those drawn; NaN where none were.

    Args:
        draws: by row and method's name, that share (`Subject.draws`).
    """
    rows, chance = chances(records, replay, method)
    if draws is not None and method.name in draws:
        outcome = draws[method.name].to_numpy(dtype=float, copy=True)
    else:
        outcome = np.full(len(records.table), np.nan)
    right = replay.answer[replay.root[rows]] == replay.truth[rows, None]
    outcome[rows] = np.where(right, chance, 0.0).sum(axis=1)
    return outcome


def confidence(records: Records, replay: Replay, method: Method) -> np.ndarray:
    """The chance that a method's own scores give to the answer it chooses; NaN as for `chances`.

    All tokens that read as this answer count.
    """
    rows, chance = chances(records, replay, method)
    roots, found = replay.root[rows], np.full(len(records.table), np.nan)
    chosen = replay.choose(method, prove=False)[0][roots]
    same = replay.answer[roots] == replay.answer[roots, chosen][:, None]
    found[rows] = np.where(same, chance, 0.0).sum(axis=1)
    return found


def chances(records: Records, replay: Replay, method: Method) -> tuple[np.ndarray, np.ndarray]:
    """The rows with an answer of one token, and what a method gives each recorded token of it.

    Returns:
        places `[rows]`, probabilities `[rows, kept]` at temperature 1. Of the base, which has no
        constraint, those of all tokens sum to 1; of a method, those of the recorded ones.
    """
    one_token = (records.frame["question_type"] != "short").to_numpy()
    rows = np.flatnonzero(one_token & records.ok & (replay.root >= 0))
    roots, nodes = replay.root[rows], records.nodes
    score = replay.first_scores(method, roots).astype(float)
    score[nodes.padding[roots]] = -inf
    if method.rule == "base":
        return rows, np.exp(score - nodes.log_norm[0][roots, None])
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return rows, weight / weight.sum(axis=1, keepdims=True)


class Control(NamedTuple):
    """A control: its outcomes, and what it costs.

    right  of a model with its answers, the outcome of every row
    reads  a method that reads the same rounds
    rule   its name in `book/_assets/explorer/engine.js`; None: the page has not what it takes
    """

    right: Callable[[Asked], np.ndarray]
    reads: Method = BASE
    rule: str | None = None


def drawn(model: Any, method: Method = BASE) -> np.ndarray:
    """`sampled` of a model with its answers."""
    return sampled(model.records, model.replay, method, model.draws)


PLAUSIBLE = replace(sci(0, 0), name="the constraint alone")
CONTROLS = {
    "runner-up": Control(lambda model: _second(model.records), rule="second"),
    "uniform other": Control(lambda model: uniform_other(model.records)),
    "vote(2)": Control(lambda model: vote(model.records, 2), sci(0, 2), "vote"),
    "vote(3)": Control(lambda model: vote(model.records, 3), sci(0, 3), "vote"),
    "shift": Control(lambda model: shift(model.records, model.replay)[1]),
    "sampled": Control(lambda model: drawn(model)),
    "sampled, plausible": Control(lambda model: drawn(model, PLAUSIBLE)),
}
"""The controls by name."""
READS = {name: control.reads for name, control in CONTROLS.items()}
"""By name, a method that reads a control's rounds, and so costs what it does."""
NULLS = ("runner-up", "uniform other")
"""Those that answer anything but what the base does: what any change of an answer gains on B."""
