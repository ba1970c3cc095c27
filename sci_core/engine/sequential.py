"""The reference engine: every round of every question is a plain pass of the unmodified model."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sci_core.engine.questions import EncodedQuestion
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel


class SequentialRounds(Rounds):
    """Nothing shared, cached or padded: a whole pass a round, node and step.

    A generated image placeholder, which a plain pass takes for a second picture, is a ValueError.
    """

    def __init__(
        self, model: VisionLanguageModel, asked: Sequence[EncodedQuestion], deferred: bool
    ):
        super().__init__(model, asked, deferred)
        self._nodes = [question.rounds(slice(None)) for question in asked]
        self._read(self._needed)

    def _step(self, tokens: Tensor, parents: Tensor, needed: Tensor) -> None:
        place = self._model.image_token_id
        if place in tokens.tolist():
            raise ValueError(
                f"The model wrote its image placeholder (token {place}), which a plain pass takes "
                "for a second picture, so that the sequential engine cannot read on; use "
                "engine='two_phase'."
            )
        self._nodes = [
            [([*ids, token], round_image) for ids, round_image in self._nodes[parent]]
            for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True)
        ]
        self._read(needed)

    def _look(self, nodes: Tensor, tokens: Tensor | None) -> Tensor:
        late = [self._nodes[node][self._count :] for node in nodes.tolist()]
        logits = [self._model.forward(ids, image.picture) for node in late for ids, image in node]
        by_round = torch.stack(logits).unflatten(0, (len(late), -1)).transpose(0, 1)
        return by_round if tokens is None else by_round[..., tokens]

    def _read(self, needed: Tensor) -> None:
        logits = {
            (number, place): self._model.forward(ids, round_image.picture)
            for place, node in enumerate(self._nodes)
            for number, (ids, round_image) in enumerate(node[: self._count])
            if needed[number, place]
        }
        read = torch.stack(list(logits.values()))
        self.logits = read.new_full((*needed.shape, read.shape[-1]), torch.nan)
        self.logits[torch.tensor(list(logits)).unbind(dim=1)] = read
