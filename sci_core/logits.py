"""The decoding rules of the paper as pure functions of next-token logits.

Every function takes ``Z``, the raw next-token logits of all rounds, ``[rounds, batch, vocab]``.
The original round comes first, then the textual rounds, then the visual ones. Nothing here knows a
model, a prompt or an image; the plausibility constraint is in ``plausibility.py``.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def tie_logits(Z: Float[Tensor, "2 batch vocab"]) -> Float[Tensor, "batch vocab"]:
    """Total indirect effect: what the image adds to the original logits (paper, eq. 1).

    ``TIE = Z(v, q) - Z(v*, q)``; the fusion features of CF-VQA are dropped (paper, section 3.2).
    Rounds of ``Z``: original, dummy image.
    """
    original, dummy = Z
    return original - dummy


def vcd_logits(
    Z: Float[Tensor, "rounds batch vocab"], alpha: float
) -> Float[Tensor, "batch vocab"]:
    """Visual contrastive decoding (paper, eq. 3), and its kin that subtract other rounds.

    ``Z_vcd = (1 + alpha) Z(v, q) - alpha Z(v*, q)``. Rounds of ``Z``: original, dummy image. ICD
    subtracts a disturbed prompt, ``Z(v, q*)``; VDD the mean of two prompts without the picture.
    """
    return (1 + alpha) * Z[0] - alpha * Z[1:].mean(dim=0)


def m3id_logits(
    Z: Float[Tensor, "2 batch vocab"], position: Int[Tensor, " batch"], decay: float = 0.02
) -> Float[Tensor, "batch vocab"]:
    """M3ID: the form of eq. 4 with a weight that grows along the text (paper, section 4.2).

    ``Z(v, q) + (1 - g)/g * (Z(v, q) - Z(v*, q))`` with ``g = exp(-decay * t)``. The weight is
    ``exp(decay * t) - 1``: 0 at t = 0, 2.3 at t = 60, 6.4 at t = 100 for a decay of 0.02.

    Rounds of ``Z``: original, dummy image. ``position``: t of each question, in tokens.
    """
    original, dummy = Z
    weight = torch.expm1(decay * position.to(device=Z.device, dtype=Z.dtype))
    return original + weight[:, None] * (original - dummy)


def tc_logits(Z: Float[Tensor, "rounds batch vocab"], textual: int) -> Float[Tensor, "batch vocab"]:
    """Textual counterfactual: the element-wise maximum over the prompts (paper, eq. 6).

    ``TC_k = max_{i = 0..N} Z_k(v0, q_i)``, the original prompt i = 0 included. ``textual`` is N.
    Only the first 1 + N rounds are read, so the visual rounds may be missing.
    """
    return Z[: 1 + textual].amax(dim=0)


def vc_logits(Z: Float[Tensor, "rounds batch vocab"], textual: int) -> Float[Tensor, "batch vocab"]:
    """Visual counterfactual: the original minus the mean of the dummy images (paper, eq. 7).

    ``VC = Z(v0, q0) - mean_{j = 1..M} Z(v_j, q0)``. ``textual`` is N; the rounds after the first
    1 + N are the M visual ones. The mean of nothing is undefined, so M = 0 defines VC = 0.
    """
    visual = Z[1 + textual :]
    if len(visual) == 0:
        return torch.zeros_like(Z[0])
    return Z[0] - visual.mean(dim=0)


def sci_logits(
    Z: Float[Tensor, "rounds batch vocab"], textual: int, tau1: float, tau2: float
) -> Float[Tensor, "batch vocab"]:
    """Self-Critical Inference: the log of eq. 5, up to a constant.

    ``TC / tau1 + VC / tau2``. ``textual`` is N, ``tau1`` and ``tau2`` are temperatures.
    """
    return tc_logits(Z, textual) / tau1 + vc_logits(Z, textual) / tau2


def mean_logits(
    Z: Float[Tensor, "rounds batch vocab"], textual: int, tau1: float, tau2: float
) -> Float[Tensor, "batch vocab"]:
    """SCI with the mean over the prompts as TC, in the place of their maximum: a control.

    Without a dummy image it is their mean log-probability, up to a constant.
    """
    return Z[: 1 + textual].mean(dim=0) / tau1 + vc_logits(Z, textual) / tau2
