"""Reading prompts: image features, then prefixes, each once; then what is packed onto them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from sci_core.engine.plan import Plan, last_visible, packed_visible, plan
from sci_core.engine.questions import EncodedQuestion, RoundImage
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import Prefix, PrefixCache

TOKENS_A_CALL = 400
"""Smaller calls of the model are put together, and so much padding is not worth another call: what
a call costs whatever it holds (on a GPU, reading all weights) is of that order. No result depends
on it, only time."""

TOKENS_AN_ENCODING = 2048
"""Image tokens for one call of the vision tower at most: beyond, a processor's caches are too small
for what lies between its layers, and a picture takes longer the more go with it."""


@dataclass(frozen=True)
class Read:
    """What is read of one question at a time: rounds that show one picture.

    positions   of the prefix, `[axes, prefix]`, and of the packed row, `[axes, packed]`
    next        position of each round's next token, `[rounds]`
    """

    plan: Plan
    round_image: RoundImage
    positions: tuple[Tensor, Tensor]
    next: Tensor

    @property
    def key(self) -> tuple:
        """All that the keys and values of the prefix depend on, but for the model."""
        return (self.round_image.key, self.plan.prefix)

    @property
    def whole(self) -> "Read":
        """The same with nothing kept apart as a prefix."""
        made = Plan((), self.plan.prefix + self.plan.shared, self.plan.suffixes)
        positions = (self.positions[0][:, :0], torch.cat(self.positions, dim=1))
        return replace(self, plan=made, positions=positions)


def read(
    model: VisionLanguageModel, asked: EncodedQuestion, span: slice, written: Sequence[int] = ()
) -> Read:
    """The plan and the positions of some rounds of a question, after the tokens written so far."""
    rounds = [([*ids, *written], round_image) for ids, round_image in asked.rounds(span)]
    made = plan([ids for ids, _ in rounds], model.image_token_id)
    # A dummy has the size of the original, and so its positions.
    positions = [model.positions(ids, asked.original.picture) for ids, _ in rounds]
    start = len(made.prefix)
    cut = start + len(made.shared)
    packed = [positions[0][:, start:cut], *(each[:, cut:] for each in positions)]
    return Read(
        made,
        rounds[0][1],
        (positions[0][:, :start], torch.cat(packed, dim=1)),
        torch.stack([each.max() for each in positions]) + 1,
    )


def with_shared_prefixes(store: PrefixCache, reads: Sequence[Read]) -> list[Read]:
    """These reads with prefixes in all rows or in none.

    A prefix is kept apart where several rounds or questions read it, or where the store keeps it.
    Otherwise a round is one plainly causal row.
    """
    apart = all(each.plan.prefix for each in reads)
    if apart and len(reads[0].plan.suffixes) == 1:
        keys = {each.key for each in reads}
        apart = len(keys) < len(reads) or any(
            store.keeps(each.round_image.constant) for each in reads
        )
    return list(reads) if apart else [each.whole for each in reads]


def prefill(
    model: VisionLanguageModel, store: PrefixCache, groups: Sequence[Sequence[Read]]
) -> tuple[dict[tuple, Tensor], dict[tuple, Prefix]]:
    """Image features by round_image and prefixes by key, of all that the groups read.

    Pictures go through the vision tower together, up to a limit, and the prefixes that the store
    lacks are prefilled with one call a group. Constant pictures, which are read once in a data set,
    are read alone: what they give is then the same to the last bit whatever batch they came with.
    """
    begun: dict[tuple, Prefix] = {}
    calls: list[list[Read]] = []
    seen: set[tuple] = set()
    for group in groups:
        together: list[Read] = []
        for each in group:
            if not each.plan.prefix or each.key in seen:
                continue
            seen.add(each.key)
            kept = None
            if store.keeps(each.round_image.constant):
                kept = store.get(_stored(model, each.key))
            if kept is not None:
                begun[each.key] = kept
            elif each.round_image.constant:
                calls.append([each])
            else:
                together.append(each)
        if together:
            calls.append(together)
    bare = [each for group in groups for each in group if not each.plan.prefix]
    features = _features(model, [each.round_image for each in (*chain(*calls), *bare)])
    for reads in calls:
        cache = model.new_cache()
        model.hidden(
            embed(
                model,
                [(each.plan.prefix,) for each in reads],
                [features[each.round_image.key] for each in reads],
            ),
            pad([each.positions[0] for each in reads]),
            None,
            cache,
        )
        for row, each in enumerate(reads):
            begun[each.key] = cache.prefix(row, len(each.plan.prefix))
            store.put(_stored(model, each.key), begun[each.key], each.round_image.constant)
    return features, begun


def prefill_rows(
    model: VisionLanguageModel,
    reads: Sequence[Read],
    features: Mapping[tuple, Tensor],
    begun: Mapping[tuple, Prefix],
) -> tuple[Any, Tensor, Tensor]:
    """Read packed rows, each behind its prefix if it has one.

    Returns the cache, with a row a read; what the last token of each round looks at, `[rows,
    rounds, slots]`; and its last hidden state, `[rows, rounds, width]`.
    """
    plans = [each.plan for each in reads]
    cached = max(len(each.prefix) for each in plans)
    cache = model.new_cache(
        [begun[each.key] for each in reads if each.plan.prefix],
        room=max(len(each.packed) for each in plans),
    )
    visible = packed_visible(plans, cached).to(model.device)
    # A round alone is plainly causal, for which attention has a faster path than a mask.
    plain = not cached and len(plans[0].suffixes) == 1
    hidden = model.hidden(
        embed(
            model,
            [(each.shared, *each.suffixes) for each in plans],
            [features.get(each.round_image.key) for each in reads],
        ),
        pad([each.positions[1] for each in reads]),
        None if plain else visible,
        cache,
    )
    lasts = torch.tensor([each.lasts for each in plans], device=model.device)
    last = hidden.gather(1, lasts[:, :, None].expand(-1, -1, hidden.shape[-1]))
    return cache, last_visible(visible, lasts), last


def embed(
    model: VisionLanguageModel,
    rows: Sequence[Sequence[tuple[int, ...]]],
    images: Sequence[Tensor | None],
) -> Tensor:
    """Embeddings of rows of pieces, padded; a piece has all of the row's image or none.

    Where no row has an image, a placeholder is a token like any other.
    """
    device, place = model.device, model.image_token_id
    ids = [torch.tensor(sum(row, ()), device=device, dtype=torch.long) for row in rows]
    used = [
        image
        for row, image in zip(rows, images, strict=True)
        for piece in row
        if image is not None and place in piece
    ]
    return model.embed(pad(ids), torch.cat(used) if used else None)


def pad(rows: Sequence[Tensor]) -> Tensor:
    """`[..., length]` tensors stacked before their last axis, zeros on the right."""
    length = max(row.shape[-1] for row in rows)
    padded = [torch.nn.functional.pad(row, (0, length - row.shape[-1])) for row in rows]
    return torch.stack(padded, dim=-2)


def _features(
    model: VisionLanguageModel, round_images: Sequence[RoundImage]
) -> dict[tuple, Tensor]:
    distinct = {round_image.key: round_image for round_image in round_images}
    calls: list[list[tuple]] = []
    room = 0
    for key, round_image in distinct.items():
        if round_image.constant:
            calls.insert(0, [key])
            continue
        room -= round_image.picture.tokens
        if room < 0:
            calls.append([])
            room = TOKENS_AN_ENCODING - round_image.picture.tokens
        calls[-1].append(key)
    found: dict[tuple, Tensor] = {}
    for keys in calls:
        encoded = model.encode([distinct[key].picture for key in keys])
        found |= dict(zip(keys, encoded, strict=True))
    return found


def _stored(model: VisionLanguageModel, key: tuple) -> tuple:
    """The key of a prefix in a store that outlives the batch, and perhaps the model."""
    return (model.identity, model.dtype, model.device, *key)
