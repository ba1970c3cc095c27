"""Greedy answers of many decoding policies at the price of the distinct prefixes they pass through.

A *policy* is a round decoded by itself (its free-running answer, which DRBench compares) or a
method. Policies that have chosen the same tokens so far share a *node*, which a round reads once if
one of them needs it. Most questions keep a single node: all policies cost little more than one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from sci_book.run.engines import RunEngine
from sci_core.counterfactuals import is_visual
from sci_core.engine.engine import Engine, start
from sci_core.engine.questions import Noise, Question
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache
from sci_core.families.settings import Rules, adjusted, forbidden
from sci_core.methods import Method
from sci_core.plausibility import require_finite
from sci_core.sampling import choose
from sci_core.scoring import scores

NOTHING_OUTSIDE = -1e9  # a finite stand-in for "no token is left out", far below any logit


@dataclass(frozen=True)
class Node:
    """The logits at one prefix, on the tokens that can matter (see `summarise`).

    prefix       tokens chosen so far
    tokens       [kept] ids, ascending
    logits       [rounds, kept] raw float32 logits
    log_norm     [rounds] log of the sum of exp over the whole vocabulary
    outside      [rounds] over the tokens not kept: for the original and each textual round the
                 largest logit, for each visual round the largest original-minus-visual difference
    """

    prefix: tuple[int, ...]
    tokens: np.ndarray
    logits: np.ndarray
    log_norm: np.ndarray
    outside: np.ndarray


@dataclass
class Answers:
    """What the policies answered to one question.

    tokens         by policy, without the end of sequence
    nodes          those recorded; the first is the empty prefix
    prompt_tokens  text tokens of the prompt
    """

    tokens: dict[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    prompt_tokens: int = 0


@dataclass
class Readings:
    """How often a round read a token or a prompt, and how often it was spared: nobody needed it."""

    done: int = 0
    spared: int = 0


def decode(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    rounds: Sequence[str],
    methods: Sequence[Method],
    *,
    max_new_tokens: int,
    top: int,
    record_all: Sequence[bool],
    engine: Engine = "two_phase",
    noise: Noise = "wrap",
    prefixes: PrefixCache | None = None,
    readings: Readings | None = None,
) -> list[Answers]:
    """Decode a batch of questions under every round and every method.

    Args:
        rounds: names of the rounds, "original" first; every method's rounds must be among them.
        top: how many tokens of each round a node keeps, beside those that a policy chose.
        record_all: for each question, whether to keep every node or the first alone.
        noise: where noise is added (`engine.start`).
        prefixes: a store shared with other batches.
        readings: counts on with those of this batch.

    Raises:
        FloatingPointError: if logits are not finite; names the rounds and the step.
        ValueError: if a question takes more tokens than the model's context.
    """
    state = start(
        model, questions, rounds, engine, noise, prefixes=prefixes, new_tokens=max_new_tokens
    )
    readings = Readings() if readings is None else readings
    readings.done += len(rounds) * len(questions)
    answers = [Answers(prompt_tokens=count) for count in state.prompt_tokens.tolist()]
    rules = rules_of(model, state, max_new_tokens)
    reads = {name: [place] for place, name in enumerate(rounds)}
    reads |= {method.name: [rounds.index(name) for name in method.rounds] for method in methods}
    nodes = [_Open(number, (), list(reads)) for number in range(len(questions))]
    for step in range(max_new_tokens):
        chosen = _choices(state, nodes, reads, methods, step, rules)
        wanted = [k for k, node in enumerate(nodes) if step == 0 or record_all[node.question]]
        if wanted:
            written = [nodes[place].prefix for place in wanted]
            decoded = [{chosen[policy, k] for policy in nodes[k].policies} for k in wanted]
            recorded = summarise(state.logits[:, wanted], rounds, top, written, decoded)
            for place, node in zip(wanted, recorded, strict=True):
                answers[nodes[place].question].nodes.append(node)
        children: list[_Open] = []
        parents: list[int] = []
        for place, node in enumerate(nodes):
            by_token: dict[int, list[str]] = {}
            for policy in node.policies:
                by_token.setdefault(chosen[policy, place], []).append(policy)
            for token, followers in sorted(by_token.items()):
                ended = token in model.eos_token_ids
                extended = node.prefix if ended else (*node.prefix, token)
                if ended or step + 1 == max_new_tokens:
                    answers[node.question].tokens.update(dict.fromkeys(followers, extended))
                else:
                    children.append(_Open(node.question, extended, followers))
                    parents.append(place)
        if not children:
            break
        needed = torch.zeros(len(rounds), len(children), dtype=torch.bool)
        for place, node in enumerate(children):
            needed[[k for name in node.policies for k in reads[name]], place] = True
            needed[:, place] |= record_all[node.question]
        readings.done += int(needed.sum())
        readings.spared += int((~needed).sum())
        tokens = torch.tensor([node.prefix[-1] for node in children])
        state.advance(tokens, torch.tensor(parents), needed)
        nodes = children
    return answers


TRANSFORMERS = RunEngine(None, decode)


class _Open(NamedTuple):
    """A node still being decoded: its question, its tokens so far, and who follows it."""

    question: int
    prefix: tuple[int, ...]
    policies: list[str]


def summarise(
    logits: Tensor,
    rounds: Sequence[str],
    top: int,
    prefixes: Sequence[tuple[int, ...]],
    decoded: Sequence[Collection[int]],
) -> list[Node]:
    """Keep of `logits [rounds, nodes, vocab]` every round's and VC's `top` tokens, and some more.

    These are what a policy chose at the node, `decoded`: a method may choose what no round ranks
    high. VC is the original minus the mean of all visual rounds. The bounds in `outside` let a
    sweep prove, for any method over these rounds, that its winner is among the kept tokens.
    """
    textual = sum(not is_visual(name) for name in rounds)
    gaps = logits[0] - logits[textual:]
    count = min(top, logits.shape[-1])
    keep = torch.zeros(logits.shape[1:], dtype=torch.bool, device=logits.device)
    for scores_ in [*logits, *([gaps.mean(dim=0)] if len(gaps) else [])]:
        keep.scatter_(1, scores_.topk(count, dim=-1).indices, True)
    for node, tokens in enumerate(decoded):
        keep[node, list(tokens)] = True
    outside = torch.cat([logits[:textual], gaps]).masked_fill(keep, NOTHING_OUTSIDE).amax(dim=-1)
    log_norm = logits.logsumexp(dim=-1)

    kept, logits = keep.cpu().numpy(), logits.float().cpu().numpy()
    log_norm, outside = log_norm.float().cpu().numpy(), outside.float().cpu().numpy()
    nodes = []
    for place, prefix in enumerate(prefixes):
        tokens = kept[place].nonzero()[0]
        nodes.append(
            Node(
                tuple(prefix),
                tokens.astype(np.int32),
                logits[:, place, tokens],
                log_norm[:, place],
                outside[:, place],
            )
        )
    return nodes


def rules_of(model: VisionLanguageModel, state: Rounds, new_tokens: int) -> list[list[Rules]]:
    """For each question what the checkpoint's settings ask of each round, decoded by itself.

    They read the round's own prompt; a method's first round is the original.
    """
    rules = partial(
        model.generation.rules, new_tokens=new_tokens, eos=model.eos_token_ids, device=model.device
    )
    return [[rules(ids) for ids, _ in question.rounds(slice(None))] for question in state.asked]


def _choices(
    state: Rounds,
    nodes: Sequence[_Open],
    reads: Mapping[str, Sequence[int]],
    methods: Sequence[Method],
    step: int,
    rules: Sequence[Sequence[Rules]],
) -> dict[tuple[str, int], int]:
    """The greedy token of every policy at every node that it follows."""
    by_name = {method.name: method for method in methods}
    chosen = {}
    for policy, rounds in reads.items():
        places = [place for place, node in enumerate(nodes) if policy in node.policies]
        if not places:
            continue
        Z = state.logits[torch.tensor(rounds)[:, None], places]
        own = [rules[nodes[place].question][rounds[0]] for place in places]
        written = [nodes[place].prefix for place in places]
        barred = forbidden(own, written, Z[0])
        if policy not in by_name:
            require_finite(Z, [policy], step)
            final = Z[0] if barred is None else Z[0].masked_fill(barred, -torch.inf)
        else:
            clock = state.prompt_tokens[places]
            final = scores(by_name[policy], Z, step=step, prompt_tokens=clock, forbidden=barred)
        final = adjusted(final, own, written)
        tokens = choose(final, samples=places, step=step).tolist()
        chosen |= {(policy, place): token for place, token in zip(places, tokens, strict=True)}
    return chosen
