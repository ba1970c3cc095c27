"""The score that a method gives to each token, from the logits of its rounds.

The equations are in `logits` (paper, eqs. 1 and 3 to 7), the constraint in `plausibility` (eqs. 9
and 11).
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sci_core.logits import m3id_logits, sci_logits, tc_logits, tie_logits, vcd_logits
from sci_core.methods import Method
from sci_core.plausibility import constrain, plausible, plausible_within, require_finite

M3ID_DECAY = 0.02


def survivors(
    method: Method,
    Z: Float[Tensor, "rounds batch vocab"],
    *,
    step: int,
    forbidden: Bool[Tensor, "batch vocab"] | None = None,
) -> Bool[Tensor, "batch vocab"]:
    """Tokens the constraint leaves at this step; known before any visual round has run.

    ``Z`` holds the original and the textual rounds; visual rounds may follow and are not read.
    Where one token survives it is the answer, greedy or sampled, and the visual rounds can be
    skipped. A method that does not edit this step keeps every token that is not forbidden.

    Raises FloatingPointError for logits that are not finite, ValueError if all are forbidden.
    """
    textual = 1 + len(method.textual)
    return _survivors(
        method, _checked(method, Z[:textual], method.rounds[:textual], step), step, forbidden
    )


def scores(
    method: Method,
    Z: Float[Tensor, "rounds batch vocab"],
    *,
    step: int,
    prompt_tokens: Int[Tensor, " batch"] | None = None,
    forbidden: Bool[Tensor, "batch vocab"] | None = None,
) -> Float[Tensor, "batch vocab"]:
    """The final score of each token, minus infinity where the constraint drops it.

    Arguments:
      Z              raw logits in float32 or float64, rounds exactly ``method.rounds``
      step           tokens generated so far
      prompt_tokens  text tokens of each prompt; needed by M3ID on its prompt clock
      forbidden      tokens another processor forbids; they leave before the constraint's maximum

    Temperature, top-k and top-p act on the result (``sampling.choose``).

    Raises FloatingPointError for logits that are not finite or scores that overflow, TypeError
    for half precision, ValueError for the wrong number of rounds.
    """
    Z = _checked(method, Z, method.rounds, step)
    keep = _survivors(method, Z, step, forbidden)
    if not method.edits(step):
        score = Z[0]
    elif method.rule == "tie":
        score = tie_logits(Z)
    elif method.rule == "vcd":
        score = vcd_logits(Z, method.alpha)
    elif method.rule == "m3id":
        score = m3id_logits(Z, _position(method, Z, step, prompt_tokens), M3ID_DECAY)
    else:
        score = sci_logits(Z, len(method.textual), method.tau1, method.tau2)
    if not torch.isfinite(score).all():
        raise FloatingPointError(
            f"the scores of {method.name} overflow {score.dtype} at step {step}; finite scores "
            "were expected: use larger temperatures, float64 logits, or M3ID's generated clock"
        )
    return constrain(score, keep)


def _checked(
    method: Method, Z: Float[Tensor, "rounds batch vocab"], rounds: tuple[str, ...], step: int
) -> Float[Tensor, "rounds batch vocab"]:
    if Z.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"logits are {Z.dtype}; convert them to float32 (or float64) first")
    if len(Z) != len(rounds):
        raise ValueError(
            f"{method.name} reads {len(rounds)} rounds ({', '.join(rounds)}); Z has {len(Z)}"
        )
    require_finite(Z, rounds, step)
    return torch.log_softmax(Z, dim=-1) if method.log_probs else Z


def _survivors(
    method: Method, Z: Tensor, step: int, forbidden: Bool[Tensor, "batch vocab"] | None
) -> Bool[Tensor, "batch vocab"]:
    if not method.edits(step):
        return plausible(Z[0], 0.0, forbidden)
    tc = tc_logits(Z, len(method.textual))
    if method.raw_margin is not None:
        return plausible_within(tc, method.raw_margin, forbidden)
    return plausible(tc / method.tau1, method.beta, forbidden)


def _position(
    method: Method, Z: Tensor, step: int, prompt_tokens: Int[Tensor, " batch"] | None
) -> Int[Tensor, " batch"]:
    if method.clock == "generated":
        return torch.full((Z.shape[1],), step, device=Z.device)
    if prompt_tokens is None:
        raise ValueError(
            "M3ID on its prompt clock needs prompt_tokens, the text tokens of each prompt; pass "
            "them, or use dataclasses.replace(M3ID, clock='generated')"
        )
    return prompt_tokens.to(Z.device) + step
