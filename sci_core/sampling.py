"""Choosing one token per question: greedy, or sampled from one uniform number each.

The uniform number depends on (seed, sample, step) only, so a choice does not depend on the batch,
the order of questions or the numbers drawn before.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from sci_core.arguments import Number, Whole, check, is_number, is_whole

Sample = int | np.integer | str


def choose(
    scores: Float[Tensor, "batch vocab"],
    *,
    temperature: Number = 0.0,
    top_k: Whole | None = None,
    top_p: Number | None = None,
    seed: Whole = 0,
    samples: Sequence[Sample],
    step: int = 0,
) -> Int[Tensor, " batch"]:
    """Choose the token of each question from its final scores (minus infinity = masked).

    Sampling inverts the cumulative distribution in the order of token ids, in float64.

    Args:
        temperature: 0 is greedy: the highest score, the lowest id among ties.
        top_k: keep the k highest scores, and ties with the last of them.
        top_p: then keep the most likely tokens until their probability reaches p.
        seed: whole number in [0, 2**64).
        samples: one identity per question, a number or a text; the same identity at the same step
            draws the same uniform number in any batch.
        step: tokens generated so far.

    Raises as `check_sampling`, and ValueError for scores that are NaN or +infinity, and for a
    question without any finite score.
    """
    check_sampling(temperature, top_k, top_p, seed)
    if len(samples) != len(scores):
        raise ValueError(f"{len(scores)} rows of scores but {len(samples)} sample identities")
    best = scores.amax(dim=-1)  # NaN wins a maximum, so one look at it finds every fault
    fine = best.abs() < math.inf
    if not fine.all():
        row = int((~fine).nonzero()[0])
        raise ValueError(
            f"the best score of {samples[row]!r} is {best[row].item()}; scores must be finite, or "
            "-inf for a masked token, and at least one token must be left"
        )
    if temperature == 0:
        return scores.argmax(dim=-1)  # the first maximum, that is, the lowest id
    rows = scores.double().cpu().numpy()
    tokens = [
        _sample(row, uniform(seed, sample, step), temperature, top_k, top_p)
        for row, sample in zip(rows, samples, strict=True)
    ]
    return torch.tensor(tokens, dtype=torch.long, device=scores.device)


def check_sampling(temperature: Any, top_k: Any, top_p: Any, seed: Any) -> dict[str, Any]:
    """Return the settings of `choose` as numbers of Python.

    Raises ValueError for one out of range, TypeError for one that is no number.
    """
    settings = {}
    for name, value, expected, holds in (
        ("temperature", temperature, "0 (greedy) or a number above it", lambda t: t >= 0),
        ("top_k", top_k, "a whole number of 1 or more, or None for all tokens", lambda k: k >= 1),
        ("top_p", top_p, "a number in (0, 1], or None for all tokens", lambda p: 0 < p <= 1),
        ("seed", seed, "a whole number in [0, 2**64)", lambda seed: 0 <= seed < 2**64),
    ):
        known = is_whole if "whole" in expected else is_number
        left_out = value is None and "None" in expected
        check(name, value, expected, left_out or (known(value) and bool(holds(value))))
        settings[name] = value.item() if isinstance(value, np.generic) else value
    return settings


def uniform(seed: Whole, sample: Sample, step: int) -> float:
    """Return Philox's number in [0, 1): key a hash of seed and sample, counter the step."""
    name = f"text {sample}" if isinstance(sample, str) else f"number {int(sample)}"
    salt = int(seed).to_bytes(16, "little")
    key = hashlib.blake2b(name.encode(), digest_size=16, salt=salt).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"), counter=step)
    return float(np.random.Generator(bits).random())


def _sample(
    row: np.ndarray,
    number: float,
    temperature: Number,
    top_k: Whole | None,
    top_p: Number | None,
) -> int:
    ids = np.flatnonzero(np.isfinite(row))
    values = row[ids]
    if top_k is not None and top_k < len(ids):
        kept = values >= np.partition(values, -top_k)[-top_k]
        ids, values = ids[kept], values[kept]
    weights = np.exp((values - values.max()) / temperature)
    if top_p is not None:
        order = np.argsort(-weights, kind="stable")
        before = np.cumsum(weights[order]) - weights[order]
        kept = np.sort(order[before < top_p * weights.sum()])
        ids, weights = ids[kept], weights[kept]
    cumulative = np.cumsum(weights)
    return int(ids[np.searchsorted(cumulative, number * cumulative[-1], side="right")])
