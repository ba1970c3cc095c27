"""The decoding loop: score the rounds, choose one token a question, append it to every round.

A question's rounds stop together at the end of sequence (paper, section 3). A question whose logits
are not finite stops there with an error of its own; the others of its batch go on.
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
from sci_core.engine.questions import EncodedQuestion
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache
from sci_core.families.settings import GenerationSettings, Rules, adjusted, forbidden
from sci_core.methods import Method
from sci_core.sampling import Sample, choose
from sci_core.scoring import scores


@dataclass(frozen=True)
class Answer:
    """What a model said to one question.

    text      the tokens as text, special tokens left out
    tokens    chosen token ids, without the end of sequence
    end       the end of sequence that was chosen; None if `max_new_tokens` or an error came first
    rounds    names of the rounds, in the order of `logits`
    looked    for each step, whether the visual rounds were read
    logits    raw logits of every step, the one that chose the end of sequence included; None
              unless asked for
    error     why the answer ends early: which rounds were not finite, at which step; None if they
              all were
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
    """How to decode.

    eos       token ids that end a sequence
    sampling  `temperature`, `top_k`, `top_p` and `seed` of `sampling.choose`
    prefixes  the store of pictures already read
    gate      read the visual rounds only where they can change the answer
    settings  a checkpoint's own, or a call's: tokens that must not come, penalties, …
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


@dataclass
class _Open:
    """An answer being written."""

    sample: Sample
    asked: EncodedQuestion
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
    asked: Sequence[EncodedQuestion],
) -> list[Answer]:
    """Answer a batch of questions; the random numbers of each follow from its sample identity."""
    method = how.method
    rules = partial(
        how.settings.rules, new_tokens=how.max_new_tokens, eos=how.eos, device=model.device
    )
    answers = [
        _Open(sample, each, rules(each.texts[0]))
        for sample, each in zip(samples, asked, strict=True)
    ]
    open_answers = answers
    # Recorded logits must be whole, so that nothing is left out of them.
    gate = how.gate and not how.return_logits
    rounds = begin_rounds(model, asked, how.engine, how.prefixes, deferred=gate)
    for step in range(how.max_new_tokens):
        barred = forbidden(*_written(open_answers), rounds.logits[0])
        if gate:
            Z, looked = gated_logits(method, rounds, step, barred)
        else:
            Z = rounds.logits
            looked = torch.full(Z.shape[1:2], bool(method.visual))
        sound = torch.isfinite(Z).all(dim=-1).all(dim=0).tolist()
        nodes = [node for node, fine in enumerate(sound) if fine]
        for node in sorted(set(range(len(sound))) - set(nodes)):
            there = Z[:, node] if not gate or looked[node] else rounds.logits[:, node]
            open_answers[node].error = _fault(model, method, open_answers[node], there)
        if not nodes:
            break
        chosen = _choose(how, rounds, Z, step, barred, nodes, open_answers)
        for node, token in zip(nodes, chosen.tolist(), strict=True):
            answer = open_answers[node]
            answer.looked.append(bool(looked[node]))
            if how.return_logits:
                answer.logits.append(Z[:, node].cpu())
            if token in how.eos:
                answer.end = token
            else:
                answer.tokens.append(token)
        going = [k for k, node in enumerate(nodes) if open_answers[node].end is None]
        if not going or step + 1 == how.max_new_tokens:
            break
        parents = [nodes[k] for k in going]
        rounds.advance(chosen[going], torch.tensor(parents, device=chosen.device))
        open_answers = [open_answers[node] for node in parents]
    return [_closed(model, how, answer) for answer in answers]


def _written(answers: Sequence[_Open]) -> tuple[list[Rules], list[list[int]]]:
    return [each.rules for each in answers], [each.tokens for each in answers]


def _choose(
    how: Decoding,
    rounds: Rounds,
    Z: Tensor,
    step: int,
    barred: Tensor | None,
    nodes: Sequence[int],
    answers: Sequence[_Open],
) -> Tensor:
    """One token for each of these nodes."""
    clock = rounds.prompt_tokens
    if len(nodes) < Z.shape[1]:  # a copy, so only where a node has failed
        Z, clock = Z[:, nodes], clock[nodes]
        barred = None if barred is None else barred[nodes]
    score = scores(how.method, Z, step=step, prompt_tokens=clock, forbidden=barred)
    chosen = [answers[node] for node in nodes]
    score = adjusted(score, *_written(chosen))
    return choose(score, samples=[each.sample for each in chosen], step=step, **how.sampling)


def _fault(model: VisionLanguageModel, method: Method, answer: _Open, Z: Tensor) -> str:
    """Which rounds are not finite: read by themselves, for those packed beside them are not either.

    `Z [rounds, vocab]`, of the rounds that were read, tells it where none is when read by itself.
    """
    faulty = [False]
    if model.image_token_id not in answer.tokens:  # a plain pass takes it for a second picture
        alone = [
            model.forward([*ids, *answer.tokens], round_image.picture)
            for ids, round_image in answer.asked.rounds(slice(len(Z)))
        ]
        faulty = [not bool(torch.isfinite(logits).all()) for logits in alone]
    if not any(faulty):
        faulty = (~torch.isfinite(Z).all(dim=-1)).tolist()
    names = [name for name, bad in zip(method.rounds, faulty, strict=False) if bad]
    return (
        f"Question {answer.sample}: the logits of {', '.join(names)} are not finite at step "
        f"{len(answer.tokens)}; every raw logit must be finite. Load the model in float32 or "
        "bfloat16 (float16 overflows), or leave this question out."
    )


def _closed(model: VisionLanguageModel, how: Decoding, answer: _Open) -> Answer:
    return Answer(
        text=model.tokenizer.decode(answer.tokens, skip_special_tokens=True),
        tokens=tuple(answer.tokens),
        end=answer.end,
        rounds=how.method.rounds,
        looked=tuple(answer.looked),
        logits=tuple(answer.logits) if how.return_logits else None,
        error=answer.error,
    )
