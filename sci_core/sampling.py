"""Choosing one token per question: greedy, or sampled from one uniform number each.

The uniform number depends on (seed, sample, step) only, so a choice does not depend on the batch,
the order of questions or the numbers drawn before.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

Sample = int | np.integer | str


def choose(
    scores: Float[Tensor, "batch vocab"],
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
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

    Raises ValueError for settings out of range, for scores that are NaN or +infinity, and for a
    question without any finite score.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must be 0 (greedy) or more; got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be 1 or more, or None for all tokens; got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be in (0, 1], or None for all tokens; got {top_p}")
    if len(samples) != len(scores):
        raise ValueError(f"{len(scores)} rows of scores but {len(samples)} sample identities")
    best = scores.amax(dim=-1)  # NaN wins a maximum, so one look at it finds every fault
    if not torch.isfinite(best).all():
        row = int((~torch.isfinite(best)).nonzero()[0])
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


def uniform(seed: int, sample: Sample, step: int) -> float:
    """Return Philox's number in [0, 1): key a hash of seed and sample, counter the step."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be a whole number in [0, 2**64); got {seed}")
    name = f"text {sample}" if isinstance(sample, str) else f"number {int(sample)}"
    salt = seed.to_bytes(16, "little")
    key = hashlib.blake2b(name.encode(), digest_size=16, salt=salt).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"), counter=step)
    return float(np.random.Generator(bits).random())


def _sample(
    row: np.ndarray, number: float, temperature: float, top_k: int | None, top_p: float | None
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
