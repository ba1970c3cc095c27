"""Which tokens the rounds of a question share, and who may look at whom.

The textual rounds of a question read one picture and begin with the same tokens. Those are a
*prefix*, computed once; what follows differs from round to round and is a *suffix*. The suffixes
of a question are laid one after another in one row: `[q0 ... | q1 ... | q2 ...]`. A token looks at
the prefix and at the earlier tokens of its own suffix, at nothing else, and keeps the position it
has in its own round; so every round sees exactly what it would see alone.

Nothing here knows a model: token ids in, whole numbers and boolean masks out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class Plan:
    """The shared prefix of some rounds and their suffixes: `round = prefix + suffix`.

    `prefix` may be empty, a suffix never is: a round's next-token logits come from its own last
    token. Neither divides a run of image tokens.
    """

    prefix: tuple[int, ...]
    suffixes: tuple[tuple[int, ...], ...]

    @property
    def owners(self) -> tuple[int, ...]:
        """The round each token of the packed row belongs to."""
        return tuple(
            chain.from_iterable(repeat(k, len(suffix)) for k, suffix in enumerate(self.suffixes))
        )

    @property
    def lasts(self) -> tuple[int, ...]:
        """Where each round's last token stands in the packed row."""
        return tuple(end - 1 for end in accumulate(map(len, self.suffixes)))


def plan(rounds: Sequence[Sequence[int]], image_token_id: int) -> Plan:
    """Split the token ids of a question's rounds into a shared prefix and suffixes.

    The prefix ends at the first token that differs, before any round's last token, and before the
    picture if it would end inside it. A round alone shares nothing: it is all suffix.

    Raises:
        ValueError: no round, or a round without tokens.
    """
    if not rounds or not all(rounds):
        raise ValueError(
            f"A plan needs at least one round of at least one token, got lengths "
            f"{[len(tokens) for tokens in rounds]}."
        )
    first = tuple(rounds[0])
    cut = 0 if len(rounds) == 1 else min(len(tokens) for tokens in rounds) - 1
    for other in rounds[1:]:
        differs = (i for i in range(cut) if first[i] != other[i])
        cut = next(differs, cut)
    inside = any(tokens[cut] == image_token_id for tokens in rounds)
    while inside and cut and first[cut - 1] == image_token_id:
        cut -= 1
    return Plan(first[:cut], tuple(tuple(tokens[cut:]) for tokens in rounds))


def packed_visible(plans: Sequence[Plan], cached: int) -> Bool[Tensor, "batch length slots"]:
    """What each packed token may look at: the prefix, and its own suffix so far.

    Rows are padded on the right, prefixes to `cached` slots; `slots = cached + length`. Padding
    looks at itself only: a row of a softmax without any entry would be NaN, and NaN in a cache
    slot survives a weight of zero.
    """
    rows = [torch.tensor(each.owners) for each in plans]
    owners = pad_sequence(rows, batch_first=True, padding_value=-1)
    length = owners.shape[1]
    prefixes = torch.tensor([len(each.prefix) for each in plans])
    real = owners >= 0
    before = real[:, :, None] & (torch.arange(cached) < prefixes[:, None])[:, None, :]
    same = (owners[:, :, None] == owners[:, None, :]) & real[:, :, None]
    within = same & torch.ones(length, length, dtype=torch.bool).tril()
    return torch.cat([before, within | torch.eye(length, dtype=torch.bool)], dim=-1)


def last_visible(
    visible: Bool[Tensor, "batch length slots"], lasts: Int[Tensor, "batch rounds"]
) -> Bool[Tensor, "batch rounds slots"]:
    """What each round's last token looks at: the whole round, seen from its end."""
    return visible.gather(1, lasts[:, :, None].expand(-1, -1, visible.shape[-1]))


def step_visible(
    visible: Bool[Tensor, "batch lanes slots"], parents: Int[Tensor, "batch new"]
) -> Bool[Tensor, "batch new slots_and_new"]:
    """Masks for one new token a lane: what its parent lane has seen so far, and the token itself.

    A lane named twice forks: both see its past, neither sees the other. A parent of -1 is padding,
    which sees itself only.
    """
    new = parents.shape[1]
    past = parents.clamp(min=0)[..., None].expand(-1, -1, visible.shape[-1])
    before = visible.gather(1, past) & (parents >= 0)[..., None]
    own = torch.eye(new, dtype=torch.bool, device=visible.device).expand(len(parents), -1, -1)
    return torch.cat([before, own], dim=-1)
