"""Visual rounds that are read only where they are looked at, from the tokens written so far."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sci_core.engine.lanes import Group
from sci_core.engine.questions import EncodedQuestion
from sci_core.engine.reading import TOKENS_A_CALL, Read, prefill, read_all
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
        by_cohort: dict[tuple[Group, ...] | None, list[int]] = {}
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
                cohort = tuple(Group(model, blocks, prefilled) for blocks in in_calls(reads))
                rows = list(range(len(nodes)))
                states = [call.read_on(rows, unread) if apart else call.read for call in cohort]
            else:
                rows = [node.row for node in nodes]
                states = [call.read_on(rows, unread) for call in cohort]
            for place, row, last in zip(group, rows, torch.cat(states).unbind(dim=1), strict=True):
                node = self._nodes[place]
                self._nodes[place] = replace(node, cohort=cohort, row=row, unread=(), last=last)
        asked = [self._nodes[place].last for place in places]  # none is None: all are read now
        return torch.stack(asked, dim=1)  # type: ignore[arg-type]


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


@dataclass(frozen=True)
class _Node:
    """A node: its question, its row in a cohort, and the tokens its visual rounds have not read.

    `last [visual, width]` is the last hidden state of what they have read.
    """

    question: int
    cohort: tuple[Group, ...] | None = None
    row: int = 0
    unread: tuple[int, ...] = ()
    last: Tensor | None = None
