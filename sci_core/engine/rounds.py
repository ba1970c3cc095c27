"""What an engine offers: the logits of every round of a batch of questions, step by step."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sci_core.engine.questions import EncodedQuestion


@runtime_checkable
class Rounds(Protocol):
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

    def read_visual_rounds(
        self, nodes: Int[Tensor, " looked"], tokens: Int[Tensor, " some"] | None = None
    ) -> Float[Tensor, "visual looked _"]:
        """Read the deferred visual rounds of some nodes; logits of all tokens or of some.

        Raises ValueError if the visual rounds are not deferred.
        """


def checked_step(
    tokens: Tensor,
    parents: Tensor | None,
    needed: Tensor | None,
    before: Bool[Tensor, "rounds nodes"],
    deferred: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Check the arguments of `advance`; bring them to `before`, the rounds needed last."""
    batch = before.shape[1]
    parents = torch.arange(batch) if parents is None else parents
    if tokens.ndim != 1 or len(tokens) == 0 or parents.shape != tokens.shape:
        raise ValueError(
            f"Expected one token a parent and at least one, got tokens of shape "
            f"{tuple(tokens.shape)} and parents of shape {tuple(parents.shape)}."
        )
    if parents.min() < 0 or parents.max() >= batch:
        raise ValueError(f"Parents are {parents.tolist()}; there are nodes 0 to {batch - 1}.")
    if deferred and len(parents.unique()) < len(parents):
        raise ValueError(
            f"Parents are {parents.tolist()}: a node was named twice, but where visual rounds are "
            "deferred no node can fork."
        )
    tokens, parents = tokens.to(before.device), parents.to(before.device)
    available = before[:, parents]
    needed = available if needed is None else needed.to(before.device)
    if needed.shape != available.shape or not needed.any():
        raise ValueError(
            f"needed has shape {tuple(needed.shape)}, {int(needed.sum())} of it true; expected "
            f"(rounds, nodes) = {tuple(available.shape)} and at least one."
        )
    if (needed & ~available).any():
        number, node = (needed & ~available).nonzero()[0].tolist()
        raise ValueError(
            f"Round {number} of new node {node} was left out at an earlier step; a round that will "
            "be read again must be needed at every step."
        )
    return tokens, parents, needed


def check_deferred(deferred: bool) -> None:
    """Raise ValueError where no visual round waits to be looked at."""
    if not deferred:
        raise ValueError(
            "read_visual_rounds reads deferred ones; start with deferred=True and some."
        )
