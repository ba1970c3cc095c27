"""What decodes the batches of a run: transformers (`trajectories.TRANSFORMERS`), or vLLM.

Loads nothing, so that a command is checked before torch is loaded.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RunEngine:
    """`decode` answers a batch as `trajectories.decode` does; `said` names it in the stamp.

    One that is not the usual one works in this process and gives back answers without logits.
    """

    said: Mapping[str, Any] | None
    decode: Callable[..., list]


def check_can(engine: str, record: str | None, executor: Any, workers: int | None) -> None:
    """Refuse what an engine beside transformers cannot do.

    Raises:
        ValueError: for logits to be recorded, or workers.
    """
    if record == "logits":
        raise ValueError(
            f"record='logits' with the engine {engine}, which gives back tokens and no logits; "
            "expected 'answers'. For sweeps, evaluate with the engine transformers."
        )
    if executor not in (None, "inline") or workers not in (None, 1):
        raise ValueError(
            f"executor={executor!r} and workers={workers} with the engine {engine}, which works in "
            "one process. Leave both out; several engines share a run by --shard I/N."
        )


def vllm_settings(engine: str, text: str) -> dict[str, Any]:
    """vLLM's own settings, as `--vllm` gives them in JSON.

    Raises:
        ValueError: for no object in JSON, or settings of an engine that is not asked for.
    """
    try:
        settings = json.loads(text or "{}")
    except json.JSONDecodeError:
        settings = None
    if not isinstance(settings, dict):
        raise ValueError(
            f"--vllm {text}: expected an object in JSON, such as "
            '\'{"max_model_len": 4096, "max_num_seqs": 64}\'.'
        )
    if settings and engine != "vllm":
        raise ValueError("--vllm goes with --engine vllm; leave it out, or ask for that engine.")
    return settings
