"""Which tokens the rounds of a question share, and who may look at whom.

The textual rounds of a question share a *prefix* up to the end of the picture, then *shared* text
up to the first token that differs; each round's *suffix* follows. Shared text and suffixes are
packed into one row behind the prefix: `[shared | q0 ... | q1 ... | q2 ...]`. A token looks at the
prefix, the shared text and the earlier tokens of its own suffix, at the position of its own round,
so every round sees exactly what it would see alone. Token ids in, numbers and masks out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

SHARED = -1
PADDING = -2


@dataclass(frozen=True)
class Plan:
    """What some rounds share, and their suffixes: `round = prefix + shared + suffix`.

    `prefix` and `shared` may be empty, a suffix never is: its last token gives the round's logits.
    None of them divides a picture, which may be several runs of image tokens.
    """

    prefix: tuple[int, ...]
    shared: tuple[int, ...]
    suffixes: tuple[tuple[int, ...], ...]

    @property
    def packed(self) -> tuple[int, ...]:
        """The token ids of the row that is read behind the prefix."""
        return tuple(chain(self.shared, *self.suffixes))

    @property
    def owners(self) -> tuple[int, ...]:
        """The round each token of the packed row belongs to, or `SHARED`."""
        owned = (repeat(k, len(suffix)) for k, suffix in enumerate(self.suffixes))
        return tuple(chain(repeat(SHARED, len(self.shared)), *owned))

    @property
    def lasts(self) -> tuple[int, ...]:
        """Where each round's last token stands in the packed row."""
        ends = accumulate(map(len, self.suffixes), initial=len(self.shared))
        return tuple(end - 1 for end in ends)[1:]


def plan(rounds: Sequence[Sequence[int]], image_token_id: int) -> Plan:
    """Split the token ids of a question's rounds into prefix, shared text and suffixes.

    What is shared ends at the first token that differs, before any round's last token, and before
    the picture if it would end inside it. The prefix is empty if the picture is not shared.

    Raises ValueError for no round, or a round without tokens.
    """
    if not rounds or not all(rounds):
        raise ValueError(
            f"A plan needs at least one round of at least one token, got lengths "
            f"{[len(tokens) for tokens in rounds]}."
        )
    first = tuple(rounds[0])
    cut = min(len(tokens) for tokens in rounds) - 1
    for other in rounds[1:]:
        differs = (i for i in range(cut) if first[i] != other[i])
        cut = next(differs, cut)
    if any(image_token_id in tokens[cut:] for tokens in rounds) and image_token_id in first[:cut]:
        cut = first.index(image_token_id)
    seen = max((i + 1 for i in range(cut) if first[i] == image_token_id), default=0)
    return Plan(first[:seen], first[seen:cut], tuple(tuple(tokens[cut:]) for tokens in rounds))


def packed_visible(plans: Sequence[Plan], cached: int) -> Bool[Tensor, "batch length slots"]:
    """Mask what each packed token looks at: the prefix, the shared text, its own suffix so far.

    Rows are padded on the right, prefixes to `cached` slots; `slots = cached + length`. Padding
    looks at itself: a softmax of no entry is NaN, which in a cache slot survives a weight of zero.
    """
    rows = [torch.tensor(plan.owners) for plan in plans]
    owners = pad_sequence(rows, batch_first=True, padding_value=PADDING)
    length = owners.shape[1]
    prefixes = torch.tensor([len(plan.prefix) for plan in plans])
    real = owners != PADDING
    before = real[:, :, None] & (torch.arange(cached) < prefixes[:, None])[:, None, :]
    same = owners[:, :, None] == owners[:, None, :]
    common = (owners == SHARED)[:, None, :] & real[:, :, None]
    within = (same & real[:, :, None] | common) & torch.ones(
        length, length, dtype=torch.bool
    ).tril()
    return torch.cat([before, within | torch.eye(length, dtype=torch.bool)], dim=-1)


def step_visible(
    visible: Bool[Tensor, "batch lanes slots"], parents: Int[Tensor, "batch new"]
) -> Bool[Tensor, "batch new slots_and_new"]:
    """Mask one new token a lane: it looks at what its parent lane has seen so far, and at itself.

    A lane named twice forks: both see its past, neither the other. A parent of -1 is padding, which
    sees itself only.
    """
    new = parents.shape[1]
    past = parents.clamp(min=0)[..., None].expand(-1, -1, visible.shape[-1])
    before = visible.gather(1, past) & (parents >= 0)[..., None]
    own = torch.eye(new, dtype=torch.bool, device=visible.device).expand(len(parents), -1, -1)
    return torch.cat([before, own], dim=-1)
