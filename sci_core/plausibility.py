"""The adaptive plausibility constraint, and the survivors it leaves (paper, appendix B).

A token may be chosen only if the plausibility logits (``Z(v, q)`` in eq. 9, ``TC / tau1`` in
eq. 11) find it likely enough beside the best token.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

RoundLogits = Float[Tensor, "rounds batch vocab"]
Scores = Float[Tensor, "batch vocab"]
Tokens = Bool[Tensor, "batch vocab"]


def plausible(logits: Scores, beta: float, forbidden: Tokens | None = None) -> Tokens:
    """Mask the tokens that survive the constraint with ratio ``beta`` (paper, eqs. 9 and 11).

    Token k is dropped where ``logits_k < max(logits) + log(beta)``. beta = 1 keeps the maximum
    and its ties; beta = 0 drops nothing. ``logits`` are already divided by their temperature.
    """
    return plausible_within(logits, math.inf if beta == 0 else -math.log(beta), forbidden)


def plausible_within(logits: Scores, margin: float, forbidden: Tokens | None = None) -> Tokens:
    """Mask the tokens at most ``margin`` below the best one; ties with the cutoff are kept.

    ``forbidden`` tokens (minimum length, bad words) leave before the maximum is taken.

    Raises ValueError if every token of a question is forbidden.
    """
    if forbidden is None:
        return logits >= logits.amax(dim=-1, keepdim=True) - margin
    empty = forbidden.all(dim=-1)
    if empty.any():
        raise ValueError(
            f"every token is forbidden for question(s) {_numbers(empty)} of the batch; "
            "at least one must stay allowed: check the processors that forbid tokens"
        )
    logits = logits.masked_fill(forbidden, -math.inf)
    return (logits >= logits.amax(dim=-1, keepdim=True) - margin) & ~forbidden


def constrain(scores: Scores, survivors: Tokens) -> Scores:
    """Set scores to minus infinity where a token did not survive (paper, eqs. 8 and 10)."""
    return scores.masked_fill(~survivors, -math.inf)


def require_finite(Z: RoundLogits, rounds: Sequence[str], step: int) -> None:
    """Raise FloatingPointError if a raw logit is NaN or infinite.

    To be called before the constraint, through which a NaN passes unseen. ``rounds`` are the names
    along the first axis, ``step`` is the number of tokens generated so far.
    """
    bad = ~torch.isfinite(Z).all(dim=-1)
    if bad.any():
        names = [name for name, hit in zip(rounds, bad.any(dim=1).tolist(), strict=True) if hit]
        raise FloatingPointError(
            f"logits are not finite at step {step} in round(s) {', '.join(names)} for question(s) "
            f"{_numbers(bad.any(dim=0))} of the batch; every raw logit must be finite: load the "
            "model in float32 or bfloat16 (float16 overflows), or leave these questions out"
        )


def _numbers(mask: Bool[Tensor, " batch"]) -> str:
    return ", ".join(str(i) for i in mask.nonzero().flatten().tolist())
