"""Reading prompts: image features, then prefixes, each once; then what is packed onto them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from sci_core.engine.plan import Plan, packed_visible, plan
from sci_core.engine.questions import EncodedQuestion, RoundImage
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import Prefix, PrefixCache

Features = dict[tuple, Tensor]
Prefixes = dict[tuple, Prefix]
Prefilled = tuple[Features, Prefixes]

# Calls of the model below so many tokens are merged: a call costs about that much by itself, on a
# GPU for reading all weights. It affects speed only.
TOKENS_A_CALL = 400
# Image tokens of one call of the vision tower at most: beyond, a processor's caches overflow.
TOKENS_AN_ENCODING = 2048


@dataclass(frozen=True)
class Read:
    """What is read of one question at a time: rounds that show one picture.

    Attributes:
        positions: of the prefix, `[axes, prefix]`, and of the packed row, `[axes, packed]`.
        next: position of each round's next token, `[rounds]`.
    """

    plan: Plan
    round_image: RoundImage
    positions: tuple[Tensor, Tensor]
    next: Tensor

    @property
    def key(self) -> tuple:
        """What the keys and values of the prefix depend on beside the model."""
        return (self.round_image.key, self.plan.prefix)

    @property
    def whole(self) -> "Read":
        """The same with nothing kept apart as a prefix."""
        unsplit = Plan((), self.plan.prefix + self.plan.shared, self.plan.suffixes)
        positions = (self.positions[0][:, :0], torch.cat(self.positions, dim=1))
        return replace(self, plan=unsplit, positions=positions)


def read(
    model: VisionLanguageModel, asked: EncodedQuestion, span: slice, written: Sequence[int] = ()
) -> Read:
    """Plan some rounds of a question, after the tokens written so far."""
    rounds = [([*ids, *written], round_image) for ids, round_image in asked.rounds(span)]
    split = plan([ids for ids, _ in rounds], model.image_token_id)
    # Other dummies have the size of the original, and so its positions: none need be prepared.
    sized = [image if image.shrunk else asked.original for _, image in rounds]
    positions = [
        model.positions(ids, image.picture) for (ids, _), image in zip(rounds, sized, strict=True)
    ]
    start = len(split.prefix)
    cut = start + len(split.shared)
    packed = [positions[0][:, start:cut], *(own[:, cut:] for own in positions)]
    return Read(
        split,
        rounds[0][1],
        (positions[0][:, :start], torch.cat(packed, dim=1)),
        torch.stack([own.max() for own in positions]) + 1,
    )


def read_all(
    model: VisionLanguageModel,
    store: PrefixCache,
    questions: Sequence[EncodedQuestion],
    span: slice,
    written: Sequence[Sequence[int]] | None = None,
) -> list[Read]:
    """Plan some rounds of all questions, with prefixes in all rows or in none.

    A prefix is kept apart where several rounds or questions read it, or where the store keeps it.
    Otherwise a round is one plainly causal row.
    """
    after = zip(questions, written or [()] * len(questions), strict=True)
    rows = [read(model, question, span, tokens) for question, tokens in after]
    apart = all(row.plan.prefix for row in rows)
    if apart and len(rows[0].plan.suffixes) == 1:
        apart = len({row.key for row in rows}) < len(rows) or any(
            store.keeps(row.round_image.constant) for row in rows
        )
    return rows if apart else [row.whole for row in rows]


def prefill(
    model: VisionLanguageModel, store: PrefixCache, groups: Sequence[Sequence[Read]]
) -> Prefilled:
    """Return image features by round image, and prefixes by key, of all that the groups read.

    Pictures go through the vision tower together, up to a limit; the prefixes that the store lacks
    are prefilled with one call a group. Constant pictures are read alone: what they give is then
    the same to the last bit whatever batch they came with.
    """
    begun: Prefixes = {}
    owner = (model.identity, model.dtype, model.device)  # the store outlives the batch
    calls: list[list[Read]] = []
    seen: set[tuple] = set()
    for group in groups:
        together: list[Read] = []
        for read in group:
            if not read.plan.prefix or read.key in seen:
                continue
            seen.add(read.key)
            constant = read.round_image.constant
            stored = store.get((*owner, *read.key)) if store.keeps(constant) else None
            if stored is not None:
                begun[read.key] = stored
            elif constant:
                calls.append([read])
            else:
                together.append(read)
        if together:
            calls.append(together)
    bare = [read for read in chain(*groups) if not read.plan.prefix]
    shown = [read.round_image for read in (*chain(*calls), *bare)]
    features = _features(model, [image for image in shown if image.picture.inputs])
    for reads in calls:
        cache = model.new_cache()
        images = [features[read.round_image.key] for read in reads]
        embeddings = embed(model, [(read.plan.prefix,) for read in reads], images)
        model.hidden(embeddings, pad([read.positions[0] for read in reads]), None, cache)
        for row, read in enumerate(reads):
            begun[read.key] = cache.prefix(row, len(read.plan.prefix))
            store.put((*owner, *read.key), begun[read.key], read.round_image.constant)
    return features, begun


def prefill_rows(
    model: VisionLanguageModel, reads: Sequence[Read], prefilled: Prefilled
) -> tuple[Any, Tensor, Tensor]:
    """Read packed rows, each behind its prefix if it has one.

    Returns the cache, with a row a read; what the last token of each round looks at, `[rows,
    rounds, slots]`; and its last hidden state, `[rows, rounds, width]`.
    """
    features, begun = prefilled
    plans = [read.plan for read in reads]
    cached = max(len(plan.prefix) for plan in plans)
    length = max(len(plan.packed) for plan in plans)
    cache = model.new_cache([begun[read.key] for read in reads if read.plan.prefix], room=length)
    lasts = torch.tensor([plan.lasts for plan in plans], device=model.device)[:, :, None]
    if not cached and len(plans[0].suffixes) == 1:
        # A round alone is plainly causal, for which attention has a faster path than a mask.
        visible = None
        seen = torch.arange(length, device=model.device) <= lasts
    else:
        visible = packed_visible(plans, cached).to(model.device)
        seen = visible.gather(1, lasts.expand(-1, -1, visible.shape[-1]))
    images = [features.get(read.round_image.key) for read in reads]
    embeddings = embed(model, [(plan.shared, *plan.suffixes) for plan in plans], images)
    hidden = model.hidden(embeddings, pad([read.positions[1] for read in reads]), visible, cache)
    last = hidden.gather(1, lasts.expand(-1, -1, hidden.shape[-1]))
    return cache, seen, last


def embed(
    model: VisionLanguageModel,
    rows: Sequence[Sequence[tuple[int, ...]]],
    images: Sequence[Tensor | None],
) -> Tensor:
    """Embed rows of pieces, padded; a piece has all of the row's image or none.

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
    """Stack `[..., length]` tensors before their last axis, with zeros on the right."""
    length = max(row.shape[-1] for row in rows)
    padded = [torch.nn.functional.pad(row, (0, length - row.shape[-1])) for row in rows]
    return torch.stack(padded, dim=-2)


def _features(model: VisionLanguageModel, round_images: Sequence[RoundImage]) -> Features:
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
    features: Features = {}
    for keys in calls:
        encoded = model.encode([distinct[key].picture for key in keys])
        features |= dict(zip(keys, encoded, strict=True))
    return features
