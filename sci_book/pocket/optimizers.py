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
from torch.optim import _muon

from sci_book.files import write_whole
from sci_core.families.precision import computes_bfloat16

ADAMW_RATE, MUON_RATE = 2e-3, 0.02
TOWER_RATE = 5e-4  # of the vision tower in dialogue
WARMUP = 100
# By step: down to a half, more slowly to a twentieth, and once more up and down for the last stage.
RATE_SHARES = ((0, 1.0), (2070, 0.5), (5699, 0.05), (5760, 0.2), (6179, 0.02))
# Of a training that goes on from a finished checkpoint: a quarter, down to a fiftieth.
ONWARD_SHARES = (0.25, 0.02)


def rate_share(step: int, *, onward: int | None = None) -> float:
    """Share of the full rate: a warm-up, then the straight lines between `RATE_SHARES`.

    Where a training of `onward` steps goes on from a finished checkpoint, one line, much lower.
    """
    if onward is None:
        line = np.interp(step, *zip(*RATE_SHARES, strict=True))
    else:
        line = np.interp(step, (0, onward - 1), ONWARD_SHARES)
    return min(1.0, (step + 1) / WARMUP) * float(line)


def _orthogonal_in_float32(
    gradient: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    """What `torch.optim.Muon` does to a gradient, without its cast to bfloat16."""
    a, b, c = coefficients
    tall = gradient.shape[0] > gradient.shape[1]
    update = gradient.T if tall else gradient
    update = update / update.norm().clamp(min=eps)
    for _ in range(steps):
        gram = update @ update.T
        update = torch.addmm(update, torch.addmm(gram, gram, gram, beta=b, alpha=c), update, beta=a)
    return update.T if tall else update


def optimizers_of(model: nn.Module) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the language model's layers, AdamW for the embeddings and all else.

    Muon moves all directions of a matrix alike, so that what few examples ask for is learned too:
    that a letter stands for the option beside it is such a thing. `rate` is a group's full rate.
    """
    if not computes_bfloat16(model.device.type):
        _muon._zeropower_via_newtonschulz = _orthogonal_in_float32
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
        torch.optim.Muon([{"params": muon, "rate": MUON_RATE}], weight_decay=0.01),
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
