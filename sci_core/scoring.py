"""The score that a method gives to each token, from the logits of its rounds."""

import torch
from jaxtyping import Int
from torch import Tensor

from sci_core.logits import m3id_logits, sci_logits, tc_logits, tie_logits, vcd_logits
from sci_core.methods import Method
from sci_core.plausibility import (
    RoundLogits,
    Scores,
    Tokens,
    constrain,
    plausible,
    plausible_within,
    require_finite,
)

M3ID_DECAY = 0.02


def survivors(
    method: Method, Z: RoundLogits, *, step: int, forbidden: Tokens | None = None
) -> Tokens:
    """Mask the tokens that the constraint leaves at this step (paper, eqs. 9 and 11).

    ``Z`` holds the original and the textual rounds; visual rounds may follow and are not read.
    A method that does not edit this step keeps every token that is not forbidden.

    Raises FloatingPointError for logits that are not finite, ValueError if all are forbidden.
    """
    textual = 1 + len(method.textual)
    Z = _checked(method, Z[:textual], method.rounds[:textual], step)
    return _survivors(method, Z, step, forbidden)


def scores(
    method: Method,
    Z: RoundLogits,
    *,
    step: int,
    prompt_tokens: Int[Tensor, " batch"] | None = None,
    forbidden: Tokens | None = None,
) -> Scores:
    """Score each token; minus infinity where the constraint drops it (paper, eqs. 8 and 10).

    Args:
        Z: raw logits in float32 or float64, rounds exactly ``method.rounds``.
        step: tokens generated so far.
        prompt_tokens: text tokens of each prompt; needed by M3ID on its prompt clock.
        forbidden: tokens another processor forbids; they leave before the constraint's maximum.

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
        if method.clock == "generated":
            prompt_tokens = torch.zeros(Z.shape[1], dtype=torch.long)
        if prompt_tokens is None:
            raise ValueError(
                "M3ID on its prompt clock needs prompt_tokens, the text tokens of each prompt; "
                "pass them, or use dataclasses.replace(M3ID, clock='generated')"
            )
        score = m3id_logits(Z, prompt_tokens.to(Z.device) + step, M3ID_DECAY)
    elif method.rule == "sci":
        score = sci_logits(Z, len(method.textual), method.tau1, method.tau2)
    else:
        raise NotImplementedError(f"the rule {method.rule!r} has no equation in `scoring.scores`")
    if not torch.isfinite(score).all():
        raise FloatingPointError(
            f"the scores of {method.name} overflow {score.dtype} at step {step}; finite scores "
            "were expected: use larger temperatures, float64 logits, or M3ID's generated clock"
        )
    return constrain(score, keep)


def _checked(method: Method, Z: RoundLogits, rounds: tuple[str, ...], step: int) -> RoundLogits:
    if Z.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"logits are {Z.dtype}; convert them to float32 (or float64) first")
    if len(Z) != len(rounds):
        raise ValueError(
            f"{method.name} reads {len(rounds)} rounds ({', '.join(rounds)}); Z has {len(Z)}"
        )
    require_finite(Z, rounds, step)
    return torch.log_softmax(Z, dim=-1) if method.log_probs else Z


def _survivors(method: Method, Z: Tensor, step: int, forbidden: Tokens | None) -> Tokens:
    if not method.edits(step):
        return plausible(Z[0], 0.0, forbidden)
    tc = tc_logits(Z, len(method.textual))
    if method.raw_margin is not None:
        return plausible_within(tc, method.raw_margin, forbidden)
    return plausible(tc / method.tau1, method.beta, forbidden)
