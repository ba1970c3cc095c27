"""Rows of a batch that are read together and then step together, a token a round.

A *lane* is one round of one node. All lanes of a row write into its cache slots and see those that
belong to them; so a fork is one more lane, and the cache is not copied.
"""

from collections.abc import Sequence
from copy import copy
from itertools import chain

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import pad as pad_last

from sci_core.engine.plan import step_visible
from sci_core.engine.reading import TOKENS_A_CALL, Prefilled, Read, pad, prefill_rows
from sci_core.families.models import VisionLanguageModel

SLOTS_A_TOKEN = 25  # cache slots that cost as much to copy as a token to compute; speed only


class Group:
    """Rows with a prefix each and rounds packed onto it; later, lanes that go on from there.

    Attributes:
        visible: `[rows, lanes, slots]`, the cache slots that belong to each lane.
        next: `[axes, rows, lanes]`, the position of each lane's next token.
        lanes: `[rounds, nodes]`, the place `row * lanes + lane` of each round of each node, -1
            where it is not in these rows.
        read: `[rounds, nodes, width]`, last hidden states of the prompts of the rounds in the rows.
    """

    def __init__(
        self,
        model: VisionLanguageModel,
        blocks: Sequence[Sequence[Read]],
        prefilled: Prefilled,
        first: int = 0,
        rounds: int | None = None,
    ):
        """Read prompts. A block is one read a node, with the same number of rounds in each.

        The blocks hold consecutive rounds, from `first`, of `rounds` in all (default: theirs).
        """
        self.model = model
        reads = list(chain(*blocks))
        self.cache, self.visible, last = prefill_rows(model, reads, prefilled)
        axes = len(reads[0].positions[0])
        self.next = torch.stack([read.next for read in reads]).expand(axes, -1, -1)
        shape = (len(blocks), len(blocks[0]), last.shape[1])
        self.read = last.view(*shape, -1).transpose(1, 2).flatten(0, 1)
        present = torch.arange(self.next[0].numel(), device=model.device).view(shape)
        self.lanes = torch.full((rounds or len(self.read), shape[1]), -1, device=model.device)
        self.lanes[first : first + len(self.read)] = present.transpose(1, 2).flatten(0, 1)

    @classmethod
    def joined(cls, groups: Sequence["Group"]) -> list["Group"]:
        """Make one group of all rows if a call for each would be small; else return the groups.

        Rows are padded to the one with most lanes and to the one with most slots.
        """
        shapes = [group.visible.shape for group in groups]
        rows = sum(shape[0] for shape in shapes)
        width, slots = (max(shape[axis] for shape in shapes) for axis in (1, 2))
        if len(groups) < 2 or rows * (width + slots / SLOTS_A_TOKEN) > TOKENS_A_CALL:
            return list(groups)
        merged = copy(groups[0])
        merged.cache = type(merged.cache).joined([group.cache for group in groups])
        merged.visible = torch.cat(
            [
                pad_last(g.visible, (0, slots - s[2], 0, width - s[1]))
                for g, s in zip(groups, shapes, strict=True)
            ]
        )
        merged.next = torch.cat(
            [pad_last(g.next, (0, width - s[1])) for g, s in zip(groups, shapes, strict=True)],
            dim=1,
        )
        merged.lanes = groups[0].lanes.clone()
        before = 0
        for group, shape in zip(groups, shapes, strict=True):
            present = group.lanes >= 0
            row, lane = group.lanes[present] // shape[1], group.lanes[present] % shape[1]
            merged.lanes[present] = (before + row) * width + lane
            before += shape[0]
        return [merged]

    def step(
        self, tokens: Tensor, parents: Tensor, needed: Tensor, logits: Tensor
    ) -> list["Group"]:
        """Append one token to the needed rounds of the new nodes; write their `logits`.

        Returns the groups that go on: this one, parts of it, or none if nothing here is needed.
        """
        rounds, nodes = (needed & (self.lanes[:, parents] >= 0)).nonzero(as_tuple=True)
        if not len(rounds):
            return []
        width = self.visible.shape[1]
        lanes = self.lanes[rounds, parents[nodes]]
        rows = lanes // width
        parts = _parts(torch.bincount(rows, minlength=len(self.visible)))
        if parts:
            steps = [self._take(part).step(tokens, parents, needed, logits) for part in parts]
            return [group for groups in steps for group in groups]

        order = rows.argsort(stable=True)
        rounds, nodes, rows, lanes = (index[order] for index in (rounds, nodes, rows, lanes))
        new = torch.arange(len(rows), device=rows.device) - torch.searchsorted(rows, rows)
        origins = lanes.new_full((len(self.visible), int(new.max()) + 1), -1)
        origins[rows, new] = lanes % width
        ids = torch.zeros_like(origins)
        ids[rows, new] = tokens[nodes]

        self.visible = step_visible(self.visible, origins)
        past = origins.clamp(min=0).expand(len(self.next), -1, -1)
        positions = self.next.gather(2, past)
        hidden = self.model.hidden(self.model.embed(ids), positions, self.visible, self.cache)
        self.next = positions + 1
        self.lanes = torch.full(needed.shape, -1, device=lanes.device)
        self.lanes[rounds, nodes] = rows * origins.shape[1] + new
        logits[rounds, nodes] = self.model.head(hidden[rows, new])
        return [self]

    def read_on(self, nodes: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to some nodes, which may have other tokens in other calls.

        Each lane has a row to itself. Returns last hidden states `[rounds, nodes, width]`.
        """
        device = self.lanes.device
        rows = self.lanes[:, nodes].flatten()
        written = [torch.tensor(ids, device=device) for ids in tokens] * len(self.lanes)
        lengths = torch.tensor([len(ids) for ids in written], device=device)
        places = torch.arange(int(lengths.max()), device=device)
        positions = self.next[:, rows] + places
        self.next = self.next.clone()
        self.next[:, rows, 0] += lengths
        real = places < lengths[:, None]
        own = real[:, :, None] & real[:, None, :] & (places <= places[:, None])
        own |= torch.eye(len(places), dtype=torch.bool, device=device)  # padding looks at itself
        past = self.visible[rows] & real[:, :, None]
        everyone = rows.tolist() == list(range(len(self.visible)))
        with self.cache.only(None if everyone else rows):
            visible = torch.cat([past, own], dim=-1)
            hidden = self.model.hidden(
                self.model.embed(pad(written)), positions, visible, self.cache
            )
        appended = real.new_zeros(len(self.visible), 1, len(places))
        appended[rows, 0] = real
        self.visible = torch.cat([self.visible, appended], dim=-1)
        last = hidden[torch.arange(len(rows), device=device), lengths - 1]
        return last.view(len(self.lanes), len(nodes), -1)

    def _take(self, rows: Tensor) -> "Group":
        """Copy some of these rows, with their part of the cache."""
        part = copy(self)
        part.cache = self.cache.rows(rows)
        part.visible, part.next = self.visible[rows], self.next[:, rows]
        width = self.visible.shape[1]
        places = torch.full((len(self.visible),), -1, device=rows.device)
        places[rows] = torch.arange(len(rows), device=rows.device)
        places = places[self.lanes // width]  # of a lane of -1 too, which is left out below
        part.lanes = torch.where(
            (self.lanes < 0) | (places < 0), -1, places * width + self.lanes % width
        )
        return part


def _parts(lanes: Int[Tensor, " rows"]) -> list[Tensor]:
    """Choose rows to take apart, from the lanes each is about to write; none if it does not pay.

    Spares padding to the widest row; costs a copied cache and one more call of the model a step.
    """
    counts, order = lanes.sort(descending=True, stable=True)
    alive = int((counts > 0).sum())
    wide = torch.arange(1, alive, device=lanes.device)
    padded = wide * counts[0] + (alive - wide) * counts[1:alive]
    if alive > 1 and alive * counts[0] - padded.min() > TOKENS_A_CALL:
        cut = int(padded.argmin()) + 1
        return [order[:cut].sort().values, order[cut:alive].sort().values]
    # A quarter at a time, all copies together cost about three whole ones.
    return [order[:alive].sort().values] if 4 * alive <= 3 * len(lanes) else []
