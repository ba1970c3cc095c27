"""The reference engine: every round of every question is a plain pass of the unmodified model."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sci_core.engine.questions import EncodedQuestion, prompt_tokens
from sci_core.engine.rounds import check_deferred, checked_step
from sci_core.families.models import VisionLanguageModel


class SequentialRounds:
    """Nothing shared, cached or padded: a whole pass a round, node and step.

    A generated image placeholder, which a plain pass takes for a second picture, is a ValueError.
    """

    def __init__(
        self, model: VisionLanguageModel, asked: Sequence[EncodedQuestion], deferred: bool
    ):
        self._model, self.asked = model, asked
        count = len(asked[0].texts)
        self._nodes = [question.rounds(slice(count if deferred else None)) for question in asked]
        self._late = [q.rounds(slice(count, None)) if deferred else [] for q in asked]
        self.prompt_tokens = prompt_tokens(asked, model.device)
        self._read(torch.ones(len(self._nodes[0]), len(asked), dtype=torch.bool))

    @torch.no_grad()
    def advance(
        self, tokens: Tensor, parents: Tensor | None = None, needed: Tensor | None = None
    ) -> None:
        tokens, parents, needed = checked_step(
            tokens, parents, needed, self._needed, any(self._late)
        )
        place = self._model.image_token_id
        if place in tokens.tolist():
            raise ValueError(
                f"The model wrote its image placeholder (token {place}), which a plain pass takes "
                "for a second picture, so that the sequential engine cannot read on; use "
                "engine='two_phase'."
            )
        self._nodes, self._late = (
            [
                [([*ids, token], round_image) for ids, round_image in rounds[parent]]
                for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True)
            ]
            for rounds in (self._nodes, self._late)
        )
        self.prompt_tokens = self.prompt_tokens[parents]
        self._read(needed)

    @torch.no_grad()
    def read_visual_rounds(self, nodes: Tensor, tokens: Tensor | None = None) -> Tensor:
        check_deferred(any(self._late))
        late = [self._late[node] for node in nodes.tolist()]
        logits = [self._model.forward(ids, image.picture) for node in late for ids, image in node]
        by_round = torch.stack(logits).unflatten(0, (len(late), -1)).transpose(0, 1)
        return by_round if tokens is None else by_round[..., tokens]

    def _read(self, needed: Tensor) -> None:
        self._needed = needed.to(self._model.device)
        logits = {
            (number, place): self._model.forward(ids, round_image.picture)
            for place, node in enumerate(self._nodes)
            for number, (ids, round_image) in enumerate(node)
            if needed[number, place]
        }
        read = torch.stack(list(logits.values()))
        self.logits = read.new_full((*needed.shape, read.shape[-1]), torch.nan)
        self.logits[torch.tensor(list(logits)).unbind(dim=1)] = read
