"""What an engine offers: the logits of every round of a batch of questions, step by step."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sci_core.engine.questions import EncodedQuestion
from sci_core.families.models import VisionLanguageModel


class Rounds(ABC):
    """A batch of questions being answered. The tokens a question has so far are its *node*.

    Attributes:
        logits: raw next-token logits, float32 (float64 of a float64 model); NaN where a round of a
            node is not needed.
        prompt_tokens: text tokens of each original prompt, template included, picture excluded.
        asked: the questions that were begun with, as a model takes them.
    """

    logits: Float[Tensor, "rounds batch vocab"]
    prompt_tokens: Int[Tensor, " batch"]
    asked: Sequence[EncodedQuestion]

    def __init__(
        self, model: VisionLanguageModel, asked: Sequence[EncodedQuestion], deferred: bool
    ):
        self.asked, self._model = asked, model
        text_tokens = [question.text_tokens for question in asked]
        self.prompt_tokens = torch.tensor(text_tokens, device=model.device)
        texts, dummies = len(asked[0].texts), len(asked[0].dummies)
        self._deferred = deferred and dummies > 0
        self._count = texts if deferred else texts + dummies  # of the rounds in `logits`
        self._needed = torch.ones(self._count, len(asked), dtype=torch.bool, device=model.device)

    @torch.no_grad()
    def advance(
        self, tokens: Tensor, parents: Tensor | None = None, needed: Tensor | None = None
    ) -> None:
        """Append `tokens[i]` to every round of node `parents[i]`; update `logits`.

        Args:
            parents: by default every node once, in order; leave finished nodes out, name a node
                twice to fork it. Afterwards node `i` is what `tokens[i]` was appended to.
            needed: `[rounds, nodes]`, which rounds of the new nodes will be read, now or later
                (default: all); the others are left out for good.

        Raises:
            ValueError: no tokens, unequal lengths, a parent that does not exist, a round that was
                left out before, or a fork where visual rounds are deferred.
        """
        device, batch = self._needed.device, self._needed.shape[1]
        parents = torch.arange(batch) if parents is None else parents
        if tokens.ndim != 1 or len(tokens) == 0 or parents.shape != tokens.shape:
            raise ValueError(
                f"Expected one token a parent and at least one, got tokens of shape "
                f"{tuple(tokens.shape)} and parents of shape {tuple(parents.shape)}."
            )
        if parents.min() < 0 or parents.max() >= batch:
            raise ValueError(f"Parents are {parents.tolist()}; there are nodes 0 to {batch - 1}.")
        if self._deferred and len(parents.unique()) < len(parents):
            raise ValueError(
                f"Parents are {parents.tolist()}: a node was named twice, but where visual rounds "
                "are deferred no node can fork."
            )
        tokens, parents = tokens.to(device), parents.to(device)
        available = self._needed[:, parents]
        needed = available if needed is None else needed.to(device)
        if needed.shape != available.shape or not needed.any():
            raise ValueError(
                f"needed has shape {tuple(needed.shape)}, {int(needed.sum())} of it true; expected "
                f"(rounds, nodes) = {tuple(available.shape)} and at least one."
            )
        if (needed & ~available).any():
            number, node = (needed & ~available).nonzero()[0].tolist()
            raise ValueError(
                f"Round {number} of new node {node} was left out at an earlier step; a round that "
                "will be read again must be needed at every step."
            )
        self._step(tokens, parents, needed)
        self.prompt_tokens, self._needed = self.prompt_tokens[parents], needed

    @torch.no_grad()
    def read_visual_rounds(
        self, nodes: Int[Tensor, " looked"], tokens: Int[Tensor, " some"] | None = None
    ) -> Float[Tensor, "visual looked _"]:
        """Read the deferred visual rounds of some nodes; logits of all tokens or of some.

        Raises ValueError if the visual rounds are not deferred.
        """
        if not self._deferred:
            raise ValueError(
                "read_visual_rounds reads deferred ones; start with deferred=True and some."
            )
        return self._look(nodes, tokens)

    @abstractmethod
    def _step(self, tokens: Tensor, parents: Tensor, needed: Bool[Tensor, "rounds nodes"]) -> None:
        """Do as `advance`, whose arguments are right; update `logits` alone."""

    @abstractmethod
    def _look(self, nodes: Tensor, tokens: Tensor | None) -> Tensor:
        """Do as `read_visual_rounds`, where they are deferred."""
