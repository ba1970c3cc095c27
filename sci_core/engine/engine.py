"""Next-token logits of every round of a batch of questions, step by step.

`two_phase` encodes the distinct pictures of a batch together, prefills each distinct prefix (a
picture and the text before it) once, packs a question's rounds onto it, then reads one token a
round and step; visual rounds may wait for `read_visual_rounds`. `sequential`, the reference, gives
the same numbers by a plain pass of the model for every round. Neither knows of methods.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from sci_core.engine.deferred import Deferred, in_calls
from sci_core.engine.lanes import Group
from sci_core.engine.questions import (
    EncodedQuestion,
    Noise,
    Question,
    ask,
    check_context,
    check_questions,
    round_images,
    split_rounds,
)
from sci_core.engine.reading import Read, prefill, read_all
from sci_core.engine.rounds import Rounds
from sci_core.engine.sequential import SequentialRounds
from sci_core.families.models import VisionLanguageModel
from sci_core.families.named import check_choice
from sci_core.families.prefix_cache import PrefixCache

Engine = Literal["two_phase", "sequential"]


def start(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    rounds: Sequence[str],
    engine: Engine = "two_phase",
    noise: Noise = "wrap",
    *,
    prefixes: PrefixCache | None = None,
    deferred: bool = False,
    new_tokens: int = 0,
) -> Rounds:
    """Read the prompts of all `rounds` of all `questions`; the result holds the first logits.

    Args:
        rounds: "original", then a name for each rewrite, then dummy images ("black", "noise500").
        noise: added to the picture, wrapping as in the published code ("wrap") or cut to its range
            ("clamp"), where a family resizes a picture once after that; or wrapping and before it
            ("unresized"); or to the image processor's output ("normalized").
        prefixes: a store shared with other batches; without one, this batch alone shares.
        deferred: leave the visual rounds, and their logits, to `Rounds.read_visual_rounds`.
        new_tokens: how many will follow, for which the model's context must have room.

    Raises:
        ValueError: no questions, rounds in another order, rewrites that do not match the rounds,
            an unknown engine, a picture outside the limits of `images.check_image`, or more
            tokens than the model's context.
    """
    textual, visual = split_rounds(rounds)
    check_choice("engine", engine, get_args(Engine))
    check_choice("noise", noise, get_args(Noise))
    if not questions:
        raise ValueError("No questions: expected at least one.")
    check_questions(questions, textual)
    images = round_images(model.processor, questions, visual, noise)
    asked = ask(model.processor, questions, images)
    check_context(model.processor.config, asked, new_tokens)
    return begin_rounds(model, asked, engine, prefixes, deferred)


@torch.no_grad()
def begin_rounds(
    model: VisionLanguageModel,
    asked: Sequence[EncodedQuestion],
    engine: Engine = "two_phase",
    prefixes: PrefixCache | None = None,
    deferred: bool = False,
) -> Rounds:
    """Do as `start` does, for questions that are prepared already."""
    if engine == "sequential":
        return SequentialRounds(model, asked, deferred)
    store = PrefixCache(0) if prefixes is None else prefixes
    return TwoPhaseRounds(model, asked, store, deferred)


class TwoPhaseRounds(Rounds):
    """A group that reads the original picture with all textual rounds, and groups of dummies."""

    def __init__(
        self,
        model: VisionLanguageModel,
        asked: Sequence[EncodedQuestion],
        prefixes: PrefixCache,
        deferred: bool,
    ):
        super().__init__(model, asked, deferred)
        self._prefixes = prefixes
        textual, dummies = len(asked[0].texts), len(asked[0].dummies)
        spans = [slice(textual + k, textual + k + 1) for k in range(dummies)]
        self._late = Deferred(spans, len(asked))
        now = [slice(0, textual), *([] if deferred else spans)]
        reads = [read_all(model, prefixes, asked, span) for span in now]
        prefilled = prefill(model, prefixes, reads)
        self._groups: list[Group] = []
        first = 0
        calls: list[Sequence[Sequence[Read]]] = [reads[:1], *in_calls(reads[1:])]
        for blocks in calls:
            self._groups.append(Group(model, blocks, prefilled, first, self._count))
            first += len(self._groups[-1].read)
        self.logits = torch.cat([model.head(group.read) for group in self._groups])
        self._stepped = False

    def _step(self, tokens: Tensor, parents: Tensor, needed: Tensor) -> None:
        if not self._stepped:
            self._groups, self._stepped = Group.joined(self._groups), True
        self.logits = self.logits.new_full((*needed.shape, self.logits.shape[-1]), torch.nan)
        self._groups = [
            part
            for group in self._groups
            for part in group.step(tokens, parents, needed, self.logits)
        ]
        if self._deferred:
            self._late.advance(tokens.tolist(), parents.tolist())

    def _look(self, nodes: Tensor, tokens: Tensor | None) -> Tensor:
        last = self._late.read(self._model, self._prefixes, self.asked, nodes.tolist())
        return self._model.head(last, tokens)
