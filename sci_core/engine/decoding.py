"""The decoding loop: score the rounds, choose one token a question, append it to every round.

A question's rounds stop together at the end of sequence (paper, section 3). One whose logits are
not finite stops with an error; the others of its batch go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from sci_core.engine.engine import Engine, begin_rounds
from sci_core.engine.gate import gated_logits
from sci_core.engine.questions import EncodedQuestion, check_context
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache
from sci_core.families.settings import GenerationSettings, Rules, adjusted, forbidden
from sci_core.methods import Method
from sci_core.plausibility import finite
from sci_core.sampling import Sample, choose
from sci_core.scoring import scores


@dataclass(frozen=True)
class Answer:
    """What a model said to one question.

    Attributes:
        text: the tokens as text, special tokens left out.
        tokens: chosen token ids, without the end of sequence.
        end: the end of sequence that was chosen; None if `max_new_tokens` or an error came first.
        rounds: names of the rounds, in the order of `logits`.
        looked: for each step, whether the visual rounds were read.
        logits: raw logits of every step, that of the end of sequence included, if asked for.
        error: which rounds were not finite, at which step; None if all were.
    """

    text: str
    tokens: tuple[int, ...]
    end: int | None
    rounds: tuple[str, ...]
    looked: tuple[bool, ...]
    logits: tuple[Float[Tensor, "rounds vocab"], ...] | None = None
    error: str | None = None

    @property
    def stopped(self) -> bool:
        """Whether the model ended the answer itself."""
        return self.end is not None


@dataclass(frozen=True)
class Decoding:
    """How to decode: `eos` ends a sequence, `sampling` is passed on to `sampling.choose`.

    `streamer` (transformers') is put the tokens of every step.
    """

    method: Method
    max_new_tokens: int
    eos: frozenset[int]
    sampling: dict[str, Any]
    prefixes: PrefixCache
    settings: GenerationSettings
    engine: Engine = "two_phase"
    gate: bool = True
    return_logits: bool = False
    streamer: Any = None


@dataclass
class _Open:
    """An answer being written."""

    sample: Sample
    question: EncodedQuestion
    rules: Rules
    tokens: list[int] = field(default_factory=list)
    looked: list[bool] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)
    end: int | None = None
    error: str | None = None


def decode(
    model: VisionLanguageModel,
    how: Decoding,
    samples: Sequence[Sample],
    questions: Sequence[EncodedQuestion],
) -> list[Answer]:
    """Answer a batch of questions; the random numbers of each follow from its sample identity."""
    check_context(model.processor.config, questions, how.max_new_tokens, samples)
    method = how.method
    rules = partial(
        how.settings.rules, new_tokens=how.max_new_tokens, eos=how.eos, device=model.device
    )
    answers = [
        _Open(sample, question, rules(question.texts[0]))
        for sample, question in zip(samples, questions, strict=True)
    ]
    open_answers = answers
    gate = how.gate and not how.return_logits
    rounds = begin_rounds(model, questions, how.engine, how.prefixes, deferred=gate)
    for step in range(how.max_new_tokens):
        barred = forbidden(*_written(open_answers), rounds.logits[0])
        if gate:
            Z, looked = gated_logits(method, rounds, step, barred)
        else:
            Z = rounds.logits
            looked = torch.full(Z.shape[1:2], bool(method.visual))
        sound = finite(Z).all(dim=0).tolist()
        nodes = [node for node, fine in enumerate(sound) if fine]
        for node in [node for node, fine in enumerate(sound) if not fine]:
            logits = Z[:, node] if not gate or looked[node] else rounds.logits[:, node]
            open_answers[node].error = _fault(model, method, open_answers[node], logits)
        if not nodes:
            break
        answering = [open_answers[node] for node in nodes]
        clock = rounds.prompt_tokens
        if len(nodes) < len(sound):  # a copy, so only where a node has failed
            Z, clock, looked = Z[:, nodes], clock[nodes], looked[nodes]
            barred = None if barred is None else barred[nodes]
        score = scores(method, Z, step=step, prompt_tokens=clock, forbidden=barred)
        score = adjusted(score, *_written(answering))
        identities = [answer.sample for answer in answering]
        chosen = choose(score, samples=identities, step=step, **how.sampling)
        if how.streamer is not None:
            how.streamer.put(chosen.cpu())
        for row, (answer, token) in enumerate(zip(answering, chosen.tolist(), strict=True)):
            answer.looked.append(bool(looked[row]))
            if how.return_logits:
                answer.logits.append(Z[:, row].cpu())
            if token in how.eos:
                answer.end = token
            else:
                answer.tokens.append(token)
        left = [row for row, answer in enumerate(answering) if answer.end is None]
        if not left or step + 1 == how.max_new_tokens:
            break
        parents = torch.tensor([nodes[row] for row in left], device=chosen.device)
        rounds.advance(chosen[left], parents)
        open_answers = [answering[row] for row in left]
    return [
        Answer(
            text=model.tokenizer.decode(answer.tokens, skip_special_tokens=True),
            tokens=tuple(answer.tokens),
            end=answer.end,
            rounds=method.rounds,
            looked=tuple(answer.looked),
            logits=tuple(answer.logits) if how.return_logits else None,
            error=answer.error,
        )
        for answer in answers
    ]


def _written(answers: Sequence[_Open]) -> tuple[list[Rules], list[list[int]]]:
    return [answer.rules for answer in answers], [answer.tokens for answer in answers]


def _fault(model: VisionLanguageModel, method: Method, answer: _Open, Z: Tensor) -> str:
    """Rerun each round alone to find the non-finite ones, for packing spreads NaN; else ask `Z`."""
    faulty = [False]
    if model.image_token_id not in answer.tokens:  # a plain pass takes it for a second picture
        alone = [
            model.forward([*ids, *answer.tokens], round_image.picture)
            for ids, round_image in answer.question.rounds(slice(len(Z)))
        ]
        faulty = [not bool(finite(logits).all()) for logits in alone]
    if not any(faulty):
        faulty = (~finite(Z)).tolist()
    return not_finite(method, answer.sample, faulty, len(answer.tokens))


def not_finite(method: Method, sample: Sample, faulty: Sequence[bool], step: int) -> str:
    """Say which rounds of a question, the `faulty` ones, have no finite logits at a step."""
    names = [name for name, bad in zip(method.rounds, faulty, strict=False) if bad]
    return (
        f"Question {sample}: the logits of {', '.join(names)} are not finite at step {step}; every "
        "raw logit must be finite. Load the model in float32 or bfloat16 (float16 overflows), or "
        "leave this question out."
    )
