"""Rules that read more of the rounds than SCI does: the book's own, none of them the paper's.

Each scores the kept tokens of recorded nodes from the rounds of SCI5, under SCI5's constraint. What
a rule estimates over a data set, it estimates on validation rows, and without their answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from sci_book.results.drbench import split
from sci_book.results.records import Records
from sci_book.results.replay import Replay
from sci_core.methods import SCI5

SPLIT: Literal["groups"] = "groups"  # so that a question is not both chosen by and tested on
FEWEST = 20  # nodes that a token's usual score on a dummy is the mean of, at least


class Rounds(NamedTuple):
    """What the rounds of SCI5 say at every recorded node.

    original    [nodes, kept] logits; textual [N, nodes, kept], visual [M, nodes, kept]
    padding     [nodes, kept] whether a token only fills the array up
    tokens      [nodes, kept] their ids
    options     [nodes] how many answers the question offers; 0 for a free one
    tuned       [nodes] whether the node is of a validation group of questions
    """

    original: np.ndarray
    textual: np.ndarray
    visual: np.ndarray
    padding: np.ndarray
    tokens: np.ndarray
    options: np.ndarray
    tuned: np.ndarray


Rule = Callable[[Rounds], np.ndarray]


def rounds_of(records: Records, replay: Replay) -> Rounds:
    """The rounds of SCI5 in some records, in float64, of the kept tokens alone."""
    nodes = records.nodes
    logits = replay.logits[:, :, :-1].numpy().astype(float)
    place = {name: number for number, name in enumerate(records.rounds)}
    kinds = records.frame["question_type"].to_numpy()[nodes.row]
    counts = records.frame["options"].str.len().to_numpy()[nodes.row]
    return Rounds(
        original=logits[place["original"]],
        textual=logits[[place[name] for name in SCI5.textual]],
        visual=logits[[place[name] for name in SCI5.visual]],
        padding=nodes.padding,
        tokens=nodes.tokens,
        options=np.where(kinds == "yesno", 2, np.where(kinds == "mcq", counts, 0)),
        tuned=(split(records, SPLIT) == "validation")[nodes.row],
    )


def as_sci5(of: Rounds) -> np.ndarray:
    """SCI5 itself: TC / τ1 + VC / τ2 (paper, eq. 5)."""
    return _combined(_tc(of), of.original - of.visual.mean(axis=0))


def where_blind(of: Rounds) -> np.ndarray:
    """SCI5 where the base says what it says to a dummy picture, the base elsewhere."""
    blind = (of.visual.argmax(axis=-1) == of.original.argmax(axis=-1)).any(axis=0)
    return np.where(blind[:, None], as_sci5(of), of.original)


def by_agreement(of: Rounds) -> np.ndarray:
    """SCI5 whose wordings count as often as they agree with the others on validation rows.

    TC is the log of the largest exp(logit); a wording's is multiplied by its share of agreement.
    """
    wordings = _wordings(of)
    says = wordings.argmax(axis=-1)[:, of.tuned]
    others = [np.delete(says, number, axis=0) for number in range(len(says))]
    agrees = np.array([np.sum(rest == mine) for mine, rest in zip(says, others, strict=True)])
    if not agrees.any():  # no two of them, or no validation row: all count alike
        return as_sci5(of)
    with np.errstate(divide="ignore"):  # one that never agrees has no say
        weights = np.log(agrees / agrees.max())
    tc = (wordings + weights[:, None, None]).max(axis=0)
    return _combined(tc, of.original - of.visual.mean(axis=0))


def by_spread(of: Rounds) -> np.ndarray:
    """SCI5 whose VC shrinks where the dummies disagree, by VC² / (VC² + their variance)."""
    vc = _centred(of, of.original - of.visual.mean(axis=0))
    variance = _centred(of, of.visual).var(axis=0)
    kept = np.divide(vc**2, vc**2 + variance, out=np.zeros_like(vc), where=vc != 0)
    return _combined(_tc(of), vc * kept)


def by_usual_prior(of: Rounds) -> np.ndarray:
    """SCI5 with one prior for a data set in place of a question's own dummies: it costs no dummy.

    A token's prior is its mean score on the dummies of validation rows that keep it; a token that
    few of them keep has the mean of all.
    """
    scores = _centred(of, of.visual).mean(axis=0)
    known = of.tuned[:, None] & ~of.padding
    ids, codes = np.unique(of.tokens, return_inverse=True)
    codes = codes.reshape(of.tokens.shape)
    counts = np.bincount(codes[known], minlength=len(ids))
    sums = np.bincount(codes[known], weights=scores[known], minlength=len(ids))
    overall = scores[known].mean() if known.any() else 0.0
    prior = np.where(counts >= FEWEST, sums / np.maximum(counts, 1), overall)[codes]
    return _combined(_tc(of), _centred(of, of.original) - prior)


def to_the_right_prior(of: Rounds) -> np.ndarray:
    """The base, less so much of the dummies' prior that the usual answer keeps no more than chance.

    Over K answers that are equally often right, a usual one leads the others by log(K − 1) at most;
    the dummies show by how much it does. What they say beyond that share is subtracted.
    """
    prior = _centred(of, of.visual).mean(axis=0)
    lead = np.where(of.padding, -np.inf, prior).max(axis=1)
    right = np.log(np.maximum(of.options - 1, 1))
    kept = np.divide(right, lead, out=np.ones_like(lead), where=lead > right)
    return of.original - (1 - kept)[:, None] * prior


RULES: dict[str, Rule] = {
    "SCI5": as_sci5,
    "SCI5 where blind": where_blind,
    "SCI5 by agreement": by_agreement,
    "SCI5 by spread": by_spread,
    "SCI5 with the usual prior": by_usual_prior,
    "base to the right prior": to_the_right_prior,
}
"""By name; `SCI5` is the paper's own, for comparison."""


def right(of: Rounds, replay: Replay, rule: Rule, beta: float = SCI5.beta) -> np.ndarray:
    """1 or 0 for a right or wrong answer of every sample, NaN for a sample with an error.

    The rounds are those of the records of `replay`, `beta` is of the constraint; what a question is
    answered follows from recorded answers, as in `Replay`.
    """
    scores, tc = rule(of), _tc(of) / SCI5.tau1
    spared = tc >= tc.max(axis=1, keepdims=True) + np.log(beta)
    slots = np.where(spared & ~of.padding, scores, -np.inf).argmax(axis=1)
    return replay.right_of(slots)


def _wordings(of: Rounds) -> np.ndarray:
    return np.concatenate([of.original[None], of.textual])


def _tc(of: Rounds) -> np.ndarray:
    return _wordings(of).max(axis=0)


def _combined(tc: np.ndarray, vc: np.ndarray) -> np.ndarray:
    return tc / SCI5.tau1 + vc / SCI5.tau2


def _centred(of: Rounds, logits: np.ndarray) -> np.ndarray:
    """Logits less their mean over a node's kept tokens, so that nodes can be compared."""
    kept = np.where(of.padding, 0.0, logits)
    return logits - kept.sum(axis=-1, keepdims=True) / (~of.padding).sum(axis=-1, keepdims=True)
