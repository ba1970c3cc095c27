"""The score that a method gives to each token, from the logits of its rounds.

Nothing here knows an equation: a method's row of `methods.RULES` says which to call with what, and
which rounds decide what is plausible.
"""

import math
from pkgutil import resolve_name

import torch
from jaxtyping import Int
from torch import Tensor

from sci_core.logits import tc_logits
from sci_core.methods import RULES, Method
from sci_core.plausibility import (
    RoundLogits,
    Scores,
    Tokens,
    all_finite,
    plausible,
    require_finite,
)


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
    score = unconstrained(method, Z, step=step, prompt_tokens=prompt_tokens)
    if not all_finite(score):
        raise FloatingPointError(
            f"the scores of {method.name} overflow {score.dtype} at step {step}; finite scores "
            "were expected: use larger temperatures, float64 logits, or M3ID's generated clock"
        )
    return score.masked_fill(~keep, -math.inf)


def unconstrained(
    method: Method,
    Z: RoundLogits,
    *,
    step: int,
    prompt_tokens: Int[Tensor, " batch"] | None = None,
) -> Scores:
    """Score each token as `scores` does, before the constraint drops any; nothing is checked.

    ``Z`` holds what the equation reads: of a method on log-probabilities these, not raw logits.
    """
    return _equation(method, Z, step, prompt_tokens) if method.edits(step) else Z[0]


def _checked(method: Method, Z: RoundLogits, rounds: tuple[str, ...], step: int) -> RoundLogits:
    if Z.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"logits are {Z.dtype}; convert them to float32 (or float64) first")
    if len(Z) != len(rounds):
        raise ValueError(
            f"{method.name} reads {len(rounds)} rounds ({', '.join(rounds)}); Z has {len(Z)}"
        )
    require_finite(Z, rounds, step)
    return torch.log_softmax(Z, dim=-1) if method.log_probs else Z


def _equation(method: Method, Z: Tensor, step: int, prompt_tokens: Tensor | None) -> Tensor:
    rule = RULES[method.rule]
    assert rule.equation is not None  # without one a method edits no step
    given = {name: getattr(method, name) for name in rule.takes if name != "position"}
    if "position" in rule.takes:
        if method.clock == "generated":
            prompt_tokens = torch.zeros(Z.shape[1], dtype=torch.long)
        if prompt_tokens is None:
            raise ValueError(
                f"{method.name} on its prompt clock needs prompt_tokens, the text tokens of each "
                "prompt; pass them, or use dataclasses.replace(M3ID, clock='generated')"
            )
        given["position"] = prompt_tokens.to(Z.device) + step
    return resolve_name(rule.equation)(Z, *(given[name] for name in rule.takes))


def deciding_logits(method: Method, Z: RoundLogits) -> Scores:
    """The logits, not yet divided by tau1, that decide which tokens are plausible."""
    by_mean = RULES[method.rule].tc == "mean"
    return Z[: 1 + method.deciding].mean(dim=0) if by_mean else tc_logits(Z, method.deciding)


def _survivors(method: Method, Z: Tensor, step: int, forbidden: Tokens | None) -> Tokens:
    if not method.edits(step):
        return plausible(Z[0], math.inf, forbidden)
    deciding = deciding_logits(method, Z)
    if method.raw_margin is not None:
        return plausible(deciding, float(method.raw_margin), forbidden)
    margin = -math.log(method.beta) if method.beta else math.inf
    return plausible(deciding / float(method.tau1), margin, forbidden)
