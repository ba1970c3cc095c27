"""Hyper-parameters of Visual-RFT: the paper's (Table 9), and those of a pocket model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """One run of GRPO.

    Attributes:
        answers: sampled for one update, over all devices: a whole number of groups.
        per_device: answers that a device takes through the model at once.
        group: answers to one question, G.
        clip: ε of equation (6); every answer serves one update, so nothing is clipped.
        kl: β of equation (6); with 0 no reference model is kept.
        top_k: 0 keeps all tokens.
        longest: tokens of an answer at most.
        dtype: that the model computes in; its weights are float32.
    """

    learning_rate: float
    answers: int
    per_device: int
    temperature: float
    top_p: float
    top_k: int
    longest: int
    epochs: int
    dtype: str
    group: int = 8
    clip: float = 0.2
    kl: float = 0.0
    weight_decay: float = 0.0
    gradient_norm: float = 1.0
    schedule: str = "cosine"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.answers % self.group or self.answers % self.per_device:
            raise ValueError(
                f"{self.answers} answers an update came; expected a multiple of the group "
                f"({self.group}) and of what a device takes at once ({self.per_device})."
            )


PRESETS = {
    # Table 9: one answer a device, four accumulated, on four devices: 16 an update.
    "paper": Settings(
        learning_rate=2e-6, answers=16, per_device=1, temperature=0.7, top_p=0.8, top_k=20,
        longest=256, epochs=15, dtype="bfloat16",
    ),
    # A pocket model has a thousandth of the weights, so it takes larger steps; it is sampled from
    # as it is (nothing cut off), so that its answers vary more; one epoch is 300 updates.
    "pocket": Settings(
        learning_rate=5e-5, answers=16, per_device=16, temperature=1.0, top_p=1.0, top_k=0,
        longest=80, epochs=1, dtype="float32",
    ),
}  # fmt: skip
"""By the name that `sci rft --preset` takes."""

PRINTED_AS = {
    "KL Penalty (β)": "kl", "Learning Rate": "learning_rate", "Clipping Range ϵ": "clip",
    "LR Scheduler": "schedule", "Weight Decay": "weight_decay", "Precision": "dtype",
    "Gradient Clipping": "gradient_norm", "Per-device Batch Size": "per_device",
    "Rollout Temperature": "temperature", "Rollout Top-p": "top_p", "Rollout Top-k": "top_k",
    "Group Size G": "group", "Max Completion Length": "longest", "Epochs": "epochs",
    "answers an update": "answers",
}  # fmt: skip
"""The fields by the names of Table 9, which prints no number of answers."""
