"""Visual rounds that are read only where they are looked at, from the tokens written so far."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor

from sci_core.engine.questions import EncodedQuestion
from sci_core.engine.reading import (
    TOKENS_A_CALL,
    Prefilled,
    Read,
    embed,
    prefill,
    prefill_rows,
    read_all,
)
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache


class Deferred:
    """The deferred visual rounds of all nodes.

    Nodes whose visual rounds were read in one call share a cache, and are a *cohort*.
    """

    def __init__(self, spans: Sequence[slice], count: int):
        self._spans = spans
        self._nodes = [_Node(number) for number in range(count)]

    def advance(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Append a token to each parent; other nodes are gone."""
        self._nodes = [
            replace(self._nodes[parent], unread=(*self._nodes[parent].unread, token))
            for token, parent in zip(tokens, parents, strict=True)
        ]

    def read(
        self,
        model: VisionLanguageModel,
        store: PrefixCache,
        questions: Sequence[EncodedQuestion],
        places: Sequence[int],
    ) -> Tensor:
        """Return the last hidden states `[visual, nodes, width]` of these nodes."""
        by_cohort: dict[tuple[_Call, ...] | None, list[int]] = {}
        for place in sorted(set(places)):
            node = self._nodes[place]
            if node.cohort is None or node.unread:  # otherwise it was looked at just here
                by_cohort.setdefault(node.cohort, []).append(place)
        for cohort, group in by_cohort.items():
            nodes = [self._nodes[place] for place in group]
            unread = [node.unread for node in nodes]
            if cohort is None:
                # A written image placeholder is text; in one piece with a prompt it is a picture.
                apart = any(model.image_token_id in tokens for tokens in unread)
                written = [() if apart else tokens for tokens in unread]
                encoded = [questions[node.question] for node in nodes]
                reads = [read_all(model, store, encoded, span, written) for span in self._spans]
                prefilled = prefill(model, store, reads)
                cohort = tuple(_Call(model, blocks, prefilled) for blocks in in_calls(reads))
                rows = list(range(len(nodes)))
                states = [call.read_on(rows, unread) if apart else call.first for call in cohort]
            else:
                rows = [node.row for node in nodes]
                states = [call.read_on(rows, unread) for call in cohort]
            for place, row, last in zip(group, rows, torch.cat(states).unbind(dim=1), strict=True):
                node = self._nodes[place]
                self._nodes[place] = replace(node, cohort=cohort, row=row, unread=(), last=last)
        return torch.stack([self._nodes[place].last for place in places], dim=1)


def in_calls(reads: Sequence[Sequence[Read]]) -> list[list[Sequence[Read]]]:
    """Put dummies together until a call is not small, none with a prefix beside one without.

    The rows of a call are padded to its longest: one much shorter is no small addition to it.
    """
    calls: list[list[Sequence[Read]]] = []
    for block in reads:
        apart = bool(block[0].plan.prefix)
        together = [*calls[-1], block] if calls else []
        longest = max((len(read.plan.packed) for part in together for read in part), default=0)
        if (
            together
            and bool(together[0][0].plan.prefix) == apart
            and len(together) * len(block) * longest <= TOKENS_A_CALL
        ):
            calls[-1].append(block)
        else:
            calls.append([block])
    return calls


class _Call:
    """Some dummies of a cohort's nodes: a row of the cache for each dummy and node.

    `first [dummies, nodes, width]` is what reading their prompts gave.
    """

    def __init__(
        self, model: VisionLanguageModel, blocks: Sequence[Sequence[Read]], prefilled: Prefilled
    ):
        self._model, self._dummies, self._nodes = model, len(blocks), len(blocks[0])
        reads = list(chain(*blocks))
        self._cache, visible, last = prefill_rows(model, reads, prefilled)
        self._visible = visible[:, 0]
        self._next = torch.cat([read.next for read in reads])
        self._axes = len(reads[0].positions[0])
        self.first = last.view(self._dummies, self._nodes, -1)

    def read_on(self, nodes: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to some nodes; return last hidden states `[dummies, nodes, width]`."""
        device = self._model.device
        rows = torch.tensor(
            [dummy * self._nodes + node for dummy in range(self._dummies) for node in nodes],
            device=device,
        )
        written = [tuple(ids) for ids in tokens] * self._dummies
        lengths = torch.tensor([len(ids) for ids in written], device=device)
        places = torch.arange(max(map(len, written)), device=device)
        positions = self._next[rows][:, None] + places
        self._next[rows] += lengths
        real = places < lengths[:, None]
        own = real[:, :, None] & real[:, None, :] & (places <= places[:, None])
        own |= torch.eye(len(places), dtype=torch.bool, device=device)  # padding looks at itself
        past = self._visible[rows][:, None, :] & real[:, :, None]
        everyone = rows.tolist() == list(range(len(self._visible)))
        with self._cache.only(None if everyone else rows):
            hidden = self._model.hidden(
                embed(self._model, [(ids,) for ids in written], [None] * len(rows)),
                positions.expand(self._axes, -1, -1),
                torch.cat([past, own], dim=-1),
                self._cache,
            )
        appended = real.new_zeros(len(self._visible), len(places))
        appended[rows] = real
        self._visible = torch.cat([self._visible, appended], dim=1)
        last = hidden[torch.arange(len(rows), device=device), lengths - 1]
        return last.view(self._dummies, len(nodes), -1)


@dataclass(frozen=True)
class _Node:
    """A node: its question, its row in a cohort, and the tokens its visual rounds have not read.

    `last [visual, width]` is the last hidden state of what they have read.
    """

    question: int
    cohort: tuple[_Call, ...] | None = None
    row: int = 0
    unread: tuple[int, ...] = ()
    last: Tensor | None = None
