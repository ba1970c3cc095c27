"""`sci evaluate --engine vllm`: vLLM answers the batches of a run, which records answers alone.

A record holds what each round says by itself and what each method says: every one of them is asked
for by requests of its own, since a request cannot part where answers do. The tokens are those that
`trajectories.decode` chooses.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sci_book.integrations.vllm import (
    LLM,
    Counts,
    answer_policies,
    asker,
    check_noise,
    load_llm,
)
from sci_book.run.engines import RunEngine
from sci_book.run.trajectories import Answers, Readings
from sci_core.engine.questions import Noise, Question
from sci_core.families.models import VisionLanguageModel
from sci_core.families.named import check_choice
from sci_core.methods import BASE, Method

DTYPES = ("auto", "float32", "bfloat16", "float16")
USUAL = {"attn_implementation": "sdpa", "quantization": None, "device_map": None, "device": None}
"""Settings of `load_model` that vLLM has others for, each with the value that asks for nothing."""


def serve(
    checkpoint: str,
    settings: Mapping[str, Any],
    *,
    noise: Noise,
    dtype: str,
    revision: str | None = None,
    trust_remote_code: bool = False,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
    **others: Any,
) -> tuple[VisionLanguageModel, RunEngine]:
    """Load a checkpoint into vLLM: what asks its questions, and what answers them.

    Args:
        settings: vLLM's own, such as max_model_len; they are part of the run's stamp.
        others: what else `load_model` takes.

    Raises:
        ValueError: for what transformers does and vLLM does otherwise, and as `load_llm`.
    """
    check_noise(noise)
    check_choice("dtype", dtype, DTYPES)
    for name, value in others.items():
        if value not in (None, USUAL[name]):
            raise ValueError(
                f"{name}={value!r} is for the engine transformers. Leave it out; vLLM's own "
                "settings are given to it in --vllm."
            )
    llm = load_llm(
        checkpoint,
        min_pixels=min_pixels,
        max_pixels=max_pixels,
        dtype=dtype,
        revision=revision,
        trust_remote_code=trust_remote_code,
        **settings,
    )
    return asker(llm), engine_of(llm, settings)


def engine_of(llm: LLM, settings: Mapping[str, Any]) -> RunEngine:
    """An engine of vLLM's as `runner.evaluate` takes it."""
    return RunEngine({"name": "vllm", **settings}, partial(_decode, llm))


def _decode(
    llm: LLM,
    model: VisionLanguageModel,
    questions: Sequence[Question],
    rounds: Sequence[str],
    methods: Sequence[Method],
    *,
    max_new_tokens: int,
    noise: Noise,
    readings: Readings,
    **_: Any,
) -> list[Answers]:
    """What `trajectories.decode` answers, without logits; its stores and its `top` are not used.

    Raises:
        FloatingPointError: if logits are not finite.
        ValueError: if the engine has no room for a question's rounds.
    """
    policies = {name: (BASE, [name]) for name in rounds}
    policies |= {method.name: (method, method.rounds) for method in methods}
    asked = [*policies.values()]
    answered = answer_policies(llm, questions, rounds, asked, max_new_tokens, noise, Counts())
    for answer in [answer for _, answers in answered for answer in answers]:
        if answer.error:
            raise FloatingPointError(answer.error)
        readings.done += len(answer.rounds) * len(answer.looked)
    return [
        Answers(
            {name: answer.tokens for name, answer in zip(policies, answers, strict=True)},
            prompt_tokens=prompt_tokens,
        )
        for prompt_tokens, answers in answered
    ]
