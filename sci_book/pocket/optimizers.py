"""The optimizers of a pocket model's training: rates by step, one update, state to resume from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from sci_book.files import write_whole

ADAMW_RATE, MUON_RATE = 2e-3, 0.02
TOWER_RATE = 5e-4  # of the vision tower in dialogue
WARMUP = 100
# Of Muon, as its author gives them (https://kellerjordan.github.io/posts/muon).
MOMENTUM, NEWTON_SCHULZ, NEWTON_SCHULZ_STEPS = 0.95, (3.4445, -4.7750, 2.0315), 5


def rate_share(step: int, shares: Sequence[tuple[int, float]]) -> float:
    """Share of the full rate: a warm-up, then the straight lines between the points of `shares`."""
    return min(1.0, (step + 1) / WARMUP) * float(np.interp(step, *zip(*shares, strict=True)))


class Muon(torch.optim.Optimizer):
    """Momentum, then a step that moves all directions of a matrix alike.

    Like `torch.optim.Muon`, but in float32 throughout: torch casts to bfloat16, which some
    processors only emulate, so that a training would depend on its machine.
    """

    def __init__(self, params: list[Tensor], rate: float, weight_decay: float):
        super().__init__(
            [{"params": params, "rate": rate}], {"lr": rate, "weight_decay": weight_decay}
        )

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Move every matrix once, by its gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                momentum = self.state[matrix].setdefault(
                    "momentum_buffer", torch.zeros_like(matrix)
                )
                momentum.lerp_(matrix.grad, 1 - MOMENTUM)
                update = orthogonal(matrix.grad.lerp(momentum, MOMENTUM))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                rows, columns = matrix.shape
                matrix.add_(update, alpha=-group["lr"] * max(1.0, rows / columns) ** 0.5)


def orthogonal(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors and singular values near 1, by Newton-Schulz."""
    a, b, c = NEWTON_SCHULZ
    tall = matrix.shape[0] > matrix.shape[1]
    wide = matrix.T if tall else matrix
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.T if tall else wide


def optimizers_of(model: nn.Module) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the language model's layers, AdamW for the embeddings and all else.

    Muon moves all directions of a matrix alike, so that what few examples ask for is learned too:
    that a letter stands for the option beside it is such a thing. `rate` is a group's full rate.
    """
    language_model = model.model.language_model
    layers = [module for module in language_model.modules() if isinstance(module, nn.Linear)]
    matrices = {id(layer.weight) for layer in layers}
    language = {id(parameter) for parameter in language_model.parameters()}
    muon, adamw, tower = [], [], []
    for parameter in model.parameters():
        key = id(parameter)
        (muon if key in matrices else adamw if key in language else tower).append(parameter)
    return [
        torch.optim.AdamW(
            [{"params": adamw, "rate": ADAMW_RATE}, {"params": tower, "rate": TOWER_RATE}],
            betas=(0.9, 0.98),
            weight_decay=0.01,
        ),
        Muon(muon, MUON_RATE, weight_decay=0.01),
    ]


def update(optimizers: list[torch.optim.Optimizer], loss: Tensor) -> None:
    """One step down the gradient of `loss`, whose norm over all weights is cut to 1."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    nn.utils.clip_grad_norm_([p for group in groups for p in group["params"]], 1.0)
    for optimizer in optimizers:
        optimizer.step()


def save_state(
    path: Path, step: int, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> None:
    """Weights and optimizers' state in one safetensors file, replaced atomically."""
    tensors = {f"model/{k}": v for k, v in model.state_dict().items() if "lm_head" not in k}
    for optimizer in optimizers:
        for index, state in optimizer.state_dict()["state"].items():
            name = f"{type(optimizer).__name__}/{index}"
            tensors |= {f"{name}/{key}": value for key, value in state.items()}
    tensors = {key: value.contiguous() for key, value in tensors.items()}
    write_whole(path, save(tensors, metadata={"step": str(step)}))


def load_state(
    path: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> int | None:
    """The step to go on from; None if nothing was saved."""
    if not path.exists():
        return None
    with safe_open(path, "pt") as file:
        step = int(file.metadata()["step"])
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
    weights = {k.removeprefix("model/"): v for k, v in tensors.items() if k.startswith("model/")}
    missing = model.load_state_dict(weights, strict=False).missing_keys
    if any("lm_head" not in key for key in missing):
        raise ValueError(f"{path} lacks {missing[0]}: delete the folder to train from the start")
    for optimizer in optimizers:
        state = defaultdict[int, dict[str, Tensor]](dict)
        for key, value in tensors.items():
            if key.startswith(type(optimizer).__name__ + "/"):
                _, index, field = key.split("/")
                state[int(index)][field] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": dict(state)})
    return step
