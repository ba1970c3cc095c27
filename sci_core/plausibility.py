"""The adaptive plausibility constraint, and the survivors it leaves (paper, appendix B).

A token may be chosen only if the plausibility logits (``Z(v, q)`` in eq. 9, ``TC / tau1`` in
eq. 11) find it likely enough beside the best token.
"""

import math
from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor

RoundLogits = Float[Tensor, "rounds batch vocab"]
Scores = Float[Tensor, "batch vocab"]
Tokens = Bool[Tensor, "batch vocab"]


def plausible(logits: Scores, margin: float, forbidden: Tokens | None = None) -> Tokens:
    """Mask the tokens at most ``margin`` below the best one (paper, eqs. 9 and 11).

    The paper's ratio beta is ``margin = -log(beta)``: 0 keeps the maximum and its ties, infinity
    drops nothing. ``logits`` are already divided by their temperature. ``forbidden`` tokens
    (minimum length, bad words) leave before the maximum is taken.

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


def finite(values: Float[Tensor, "*rows vocab"]) -> Bool[Tensor, "*rows"]:
    """Mask the rows without NaN or infinity, which show in a row's extremes: it is read once."""
    least, most = values.aminmax(dim=-1)
    return (least > -math.inf) & (most < math.inf)


def all_finite(values: Float[Tensor, "*rows vocab"]) -> bool:
    """Whether no row has a NaN or infinity: `finite` of all, in a reduction that needs no rows."""
    if not values.numel():
        return True
    least, most = values.aminmax()
    return bool((least > -math.inf) & (most < math.inf))


def require_finite(Z: RoundLogits, rounds: Sequence[str], step: int) -> None:
    """Raise FloatingPointError if a raw logit is NaN or infinite.

    To be called before the constraint, through which a NaN passes unseen. ``rounds`` are the names
    along the first axis, ``step`` is the number of tokens generated so far.
    """
    if not all_finite(Z):
        bad = ~finite(Z)
        names = [name for name, hit in zip(rounds, bad.any(dim=1).tolist(), strict=True) if hit]
        raise FloatingPointError(
            f"logits are not finite at step {step} in round(s) {', '.join(names)} for question(s) "
            f"{_numbers(bad.any(dim=0))} of the batch; every raw logit must be finite: load the "
            "model in float32 or bfloat16 (float16 overflows), or leave these questions out"
        )


def _numbers(mask: Bool[Tensor, " batch"]) -> str:
    return ", ".join(str(i) for i in mask.nonzero().flatten().tolist())
