"""Next-token logits of every round of a batch of questions, step by step.

Two engines give the same numbers. `two_phase` is the one to use: each distinct picture goes
through the vision tower once (one call for the batch); each question's shared prefix is prefilled
once; the suffixes of its textual rounds are packed onto it; then one token a round and step. A
fork copies nothing: it writes on beside its origin, in the same row of the cache; rows with many
forks are taken apart from the others. The output head runs at last positions only. `sequential` is
the reference: every round of every question is a plain pass of the unmodified model over its own
unpadded tokens, anew at every step.

The engine knows nothing of methods: it appends the tokens it is told to.
"""

import hashlib
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from PIL import Image
from torch import Tensor

from sci_core.counterfactuals import counterfactual_image, noisy_pixel_values
from sci_core.models import Picture, VisionLanguageModel, check_image
from sci_core.plan import last_visible, packed_visible, plan, step_visible

Engine = Literal["two_phase", "sequential"]
Noise = Literal["clamp", "wrap", "normalized"]


@dataclass(frozen=True)
class Question:
    """A picture, the text of the user's turn, and that text rewritten for each textual round."""

    image: Image.Image
    prompt: str
    rewrites: tuple[str, ...] = ()


@runtime_checkable
class Rounds(Protocol):
    """A batch of questions being answered. The tokens a question has so far are its *node*.

    logits         raw next-token logits, float32 (float64 for a float64 model); NaN where a round
                   of a node is not needed
    prompt_tokens  text tokens of each original prompt, chat template included, picture excluded
    """

    logits: Float[Tensor, "rounds batch vocab"]
    prompt_tokens: Int[Tensor, " batch"]

    def advance(
        self, tokens: Tensor, parents: Tensor | None = None, needed: Tensor | None = None
    ) -> None:
        """Append `tokens[i]` to every round of node `parents[i]`; update `logits`.

        `parents` (default: every node once, in order) selects: leave finished nodes out, name a
        node twice to fork it. Afterwards node `i` is what `tokens[i]` was appended to.
        `needed [rounds, nodes]` (default: all) tells which rounds of the new nodes will be read,
        now or later; the others are left out for good.

        Raises ValueError for no tokens, unequal lengths, a parent that does not exist, or a round
        that was left out before.
        """


TOKENS_A_CALL = 400
"""Tokens of padding that pay for one more call of the model, and for copying rows of the cache."""

Inputs = list[list[tuple[list[int], Picture]]]
"""Token ids and picture of every round, by question and round."""


@torch.no_grad()
def start(
    model: VisionLanguageModel,
    questions: Sequence[Question],
    rounds: Sequence[str],
    engine: Engine = "two_phase",
    noise: Noise = "clamp",
) -> Rounds:
    """Read the prompts of all `rounds` of all `questions`; the result holds the first logits.

    Args:
        rounds: names of the rounds: "original", then one name for each rewrite of a question, then
            dummy images ("black", "noise500", ...).
        noise: where noise is added: to the picture, cut to its range ("clamp") or wrapping
            ("wrap"); or to the image processor's output ("normalized").

    Raises:
        ValueError: no questions, rounds in another order, rewrites that do not match the rounds,
            an unknown engine, or a picture outside the limits of `models.check_image`.
    """
    engines = {"two_phase": _TwoPhase, "sequential": _Sequential}
    if engine not in engines:
        raise ValueError(f"Unknown engine {engine!r}; use one of {', '.join(engines)}.")
    textual = _count_textual(rounds)
    _check_questions(questions, rounds[1 : 1 + textual])
    inputs = _inputs(model, questions, rounds[1 + textual :], noise)
    return engines[engine](model, inputs, 1 + textual)


class _Sequential:
    """The reference: nothing shared, nothing cached, nothing padded.

    It cannot read on after an image placeholder as a *generated* token, which a plain pass without
    a cache takes for a second picture; the model refuses it by its own count of placeholders.
    """

    def __init__(self, model: VisionLanguageModel, inputs: Inputs, textual: int):
        self._model = model
        self._nodes = inputs
        self.prompt_tokens = _prompt_tokens(model, inputs)
        self._read(torch.ones(len(inputs[0]), len(inputs), dtype=torch.bool))

    @torch.no_grad()
    def advance(
        self, tokens: Tensor, parents: Tensor | None = None, needed: Tensor | None = None
    ) -> None:
        tokens, parents, needed = _checked(tokens, parents, needed, self._needed)
        self._nodes = [
            [([*ids, token], picture) for ids, picture in self._nodes[parent]]
            for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True)
        ]
        self.prompt_tokens = self.prompt_tokens[parents]
        self._read(needed)

    def _read(self, needed: Tensor) -> None:
        self._needed = needed.to(self._model.device)
        logits = {
            (number, place): self._model.forward(*each)
            for place, node in enumerate(self._nodes)
            for number, each in enumerate(node)
            if needed[number, place]
        }
        found = torch.stack(list(logits.values()))
        self.logits = found.new_full((*needed.shape, found.shape[-1]), torch.nan)
        self.logits[torch.tensor(list(logits)).unbind(dim=1)] = found


class _TwoPhase:
    """A group that reads the original picture with all textual rounds, and one for each dummy."""

    def __init__(self, model: VisionLanguageModel, inputs: Inputs, textual: int):
        self.prompt_tokens = _prompt_tokens(model, inputs)
        pictures = {id(picture): picture for node in inputs for _, picture in node}
        encoded = model.encode(list(pictures.values()))
        features = dict(zip(pictures, encoded, strict=True))
        rounds = len(inputs[0])
        # One call for each dummy: larger calls are slower where a cache of the processor ends.
        spans = [slice(0, textual), *(slice(k, k + 1) for k in range(textual, rounds))]
        self._groups = [_Group(model, inputs, span, features) for span in spans]
        self.logits = torch.cat([group.logits for group in self._groups])
        self._needed = torch.ones(rounds, len(inputs), dtype=torch.bool, device=model.device)

    @torch.no_grad()
    def advance(
        self, tokens: Tensor, parents: Tensor | None = None, needed: Tensor | None = None
    ) -> None:
        tokens, parents, self._needed = _checked(tokens, parents, needed, self._needed)
        self.prompt_tokens = self.prompt_tokens[parents]
        shape = (*self._needed.shape, self.logits.shape[-1])
        self.logits = self.logits.new_full(shape, torch.nan)
        self._groups = [
            part
            for group in self._groups
            for part in group.step(tokens, parents, self._needed, self.logits)
        ]


class _Group:
    """Rows of one shape: a prefix each, and the same number of rounds packed onto it.

    A *lane* is one round of one node. All lanes of a row write into its cache slots and see those
    that belong to them; so a fork is one more lane, and the cache is not copied.

    State: the cache; `visible [rows, lanes, slots]`, the cache slots that belong to each lane;
    `next [axes, rows, lanes]`, the position of each lane's next token; `lanes [rounds, nodes]`, the
    place `row * lanes + lane` of each round of each node, -1 where it is not in these rows.
    """

    def __init__(
        self, model: VisionLanguageModel, inputs: Inputs, span: slice, features: dict[int, Tensor]
    ):
        """Read the prompts of a span of rounds, all of one picture; `logits` of these rounds."""
        self.model = model
        self.cache = model.new_cache()
        device = model.device
        rows = [node[span] for node in inputs]
        plans = [plan([ids for ids, _ in row], model.image_token_id) for row in rows]
        positions = [[model.positions(ids, picture) for ids, picture in row] for row in rows]
        images = [features[id(row[0][1])] for row in rows]

        cuts = [len(each.prefix) for each in plans]
        cached = max(cuts)
        if cached:
            model.hidden(
                self._embed([[each.prefix] for each in plans], images),
                _pad([row[0][:, :cut] for row, cut in zip(positions, cuts, strict=True)]),
                None,
                self.cache,
            )
        suffixes = [
            torch.cat([each[:, cut:] for each in row], dim=1)
            for row, cut in zip(positions, cuts, strict=True)
        ]
        visible = packed_visible(plans, cached).to(device)
        # A round alone is plainly causal, for which attention has a faster path than a mask.
        plain = not cached and len(rows[0]) == 1
        hidden = model.hidden(
            self._embed([each.suffixes for each in plans], images),
            _pad(suffixes),
            None if plain else visible,
            self.cache,
        )
        lasts = torch.tensor([each.lasts for each in plans], device=device)
        ends = torch.stack([torch.stack([each.max() for each in row]) for row in positions])
        self.visible = last_visible(visible, lasts)
        self.next = (ends + 1).expand(len(suffixes[0]), -1, -1)
        last = hidden.gather(1, lasts[:, :, None].expand(-1, -1, hidden.shape[-1]))
        self.logits = model.head(last).transpose(0, 1)
        self.lanes = torch.full((len(inputs[0]), len(inputs)), -1, device=device)
        self.lanes[span] = torch.arange(lasts.numel(), device=device).view_as(lasts).T

    def step(
        self, tokens: Tensor, parents: Tensor, needed: Tensor, logits: Tensor
    ) -> list["_Group"]:
        """Append one token to the needed rounds of the new nodes; write their `logits`.

        What goes on is this group; or none, if nothing here is needed; or parts of it.
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
        rounds, nodes, rows, lanes = (each[order] for each in (rounds, nodes, rows, lanes))
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

    def _take(self, rows: Tensor) -> "_Group":
        """A group of some of these rows, with a copy of their part of the cache."""
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

    def _embed(self, rows: Sequence[Sequence[tuple[int, ...]]], images: Sequence[Tensor]) -> Tensor:
        """Embeddings of rows of pieces, padded; a piece has all of the row's image or none."""
        device, place = self.model.device, self.model.image_token_id
        ids = [torch.tensor(sum(row, ()), device=device, dtype=torch.long) for row in rows]
        used = [
            image
            for row, image in zip(rows, images, strict=True)
            for piece in row
            if place in piece
        ]
        return self.model.embed(_pad(ids), torch.cat(used) if used else None)


def _parts(lanes: Int[Tensor, " rows"]) -> list[Tensor]:
    """Which rows to take apart, from the lanes each is about to write; none if that does not pay.

    Rows are padded to the one with most lanes, and finished rows to that too. Taking rows apart
    copies their cache and costs a call of the model at each further step.
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


def _pad(rows: Sequence[Tensor]) -> Tensor:
    """`[..., length]` tensors stacked before their last axis, zeros on the right."""
    length = max(row.shape[-1] for row in rows)
    padded = [torch.nn.functional.pad(row, (0, length - row.shape[-1])) for row in rows]
    return torch.stack(padded, dim=-2)


def _prompt_tokens(model: VisionLanguageModel, inputs: Inputs) -> Tensor:
    counts = [len(ids) - picture.tokens for (ids, picture), *_ in inputs]
    return torch.tensor(counts, device=model.device)


def _inputs(
    model: VisionLanguageModel, questions: Sequence[Question], visual: Sequence[str], noise: Noise
) -> Inputs:
    """Token ids and pictures of all rounds; equal pictures are one object."""
    pictures: dict[tuple, Picture] = {}
    shown = []
    for number, question in enumerate(questions):
        try:
            check_image(question.image)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Question {number}: {error}") from None
        image = question.image.convert("RGB")
        content = (image.size, hashlib.blake2b(image.tobytes()).digest())

        def picture(name: str, image: Image.Image = image, content: tuple = content) -> Picture:
            key = (name, image.size) if name == "black" else (name, content)
            if key not in pictures:
                pictures[key] = _picture(model, image, name, noise)
            return pictures[key]

        shown.append([picture(name) for name in ("original", *visual)])
    texts = [text for question in questions for text in (question.prompt, *question.rewrites)]
    count = len(texts) // len(questions)
    ids = model.token_ids(texts, [original.tokens for original, *_ in shown for _ in range(count)])
    inputs = []
    for number, (original, *dummies) in enumerate(shown):
        own = ids[number * count : (number + 1) * count]
        inputs.append([(each, original) for each in own] + [(own[0], each) for each in dummies])
    return inputs


def _picture(model: VisionLanguageModel, image: Image.Image, name: str, noise: Noise) -> Picture:
    if name == "original":
        return model.prepare(image)
    if noise == "normalized" and name != "black":
        prepared = model.prepare(image)
        noisy = noisy_pixel_values(prepared.inputs["pixel_values"], image, name)
        return Picture({**prepared.inputs, "pixel_values": noisy}, prepared.tokens)
    return model.prepare(
        counterfactual_image(image, name, "clamp" if noise == "normalized" else noise)
    )


def _is_visual(name: str) -> bool:
    return name == "black" or name.startswith("noise")


def _count_textual(rounds: Sequence[str]) -> int:
    """How many rounds after "original" are textual."""
    kinds = [_is_visual(name) for name in rounds[1:]]
    if not rounds or rounds[0] != "original" or kinds != sorted(kinds):
        raise ValueError(
            f"Rounds are {list(rounds)}; expected 'original' first, then the textual rounds, then "
            "the visual ones."
        )
    return kinds.count(False)


def _check_questions(questions: Sequence[Question], textual: Iterable[str]) -> None:
    if not questions:
        raise ValueError("No questions: expected at least one.")
    names = list(textual)
    for number, question in enumerate(questions):
        if len(question.rewrites) != len(names):
            raise ValueError(
                f"Question {number} has {len(question.rewrites)} rewrites; the rounds need "
                f"{len(names)} ({', '.join(names) or 'none'})."
            )


def _checked(
    tokens: Tensor, parents: Tensor | None, needed: Tensor | None, before: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The arguments of `advance` on the device of `before`, the rounds that the last one needed."""
    batch = before.shape[1]
    parents = torch.arange(batch) if parents is None else parents
    if tokens.ndim != 1 or len(tokens) == 0 or parents.shape != tokens.shape:
        raise ValueError(
            f"Expected one token a parent and at least one, got tokens of shape "
            f"{tuple(tokens.shape)} and parents of shape {tuple(parents.shape)}."
        )
    if parents.min() < 0 or parents.max() >= batch:
        raise ValueError(f"Parents are {parents.tolist()}; there are nodes 0 to {batch - 1}.")
    tokens, parents = tokens.to(before.device), parents.to(before.device)
    there = before[:, parents]
    needed = there if needed is None else needed.to(before.device)
    if needed.shape != there.shape or not needed.any():
        raise ValueError(
            f"needed has shape {tuple(needed.shape)}, {int(needed.sum())} of it true; expected "
            f"(rounds, nodes) = {tuple(there.shape)} and at least one."
        )
    if (needed & ~there).any():
        number, node = (needed & ~there).nonzero()[0].tolist()
        raise ValueError(
            f"Round {number} of new node {node} was left out at an earlier step; a round that will "
            "be read again must be needed at every step."
        )
    return tokens, parents, needed
