"""Next-token logits of every round of a batch of questions, step by step.

Two engines give the same numbers. `two_phase` is the one to use: each distinct picture goes
through the vision tower once (one call for the batch); each question's shared prefix is prefilled
once; the suffixes of its textual rounds are packed onto it; then one token a round and step. The
output head runs at last positions only. `sequential` is the reference: every round of every
question is a plain pass of the unmodified model over its own unpadded tokens, anew at every step.

The engine knows nothing of methods: it appends the tokens it is told to.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from PIL import Image
from torch import Tensor

from sci_core.counterfactuals import counterfactual_image, noisy_pixel_values
from sci_core.models import Picture, VisionLanguageModel, check_image
from sci_core.plan import last_visible, packed_visible, plan, prefix_visible, step_visible

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

    logits         raw next-token logits, float32 (float64 for a float64 model)
    prompt_tokens  text tokens of each original prompt, chat template included, picture excluded
    """

    logits: Float[Tensor, "rounds batch vocab"]
    prompt_tokens: Int[Tensor, " batch"]

    def advance(self, tokens: Tensor, parents: Tensor | None = None) -> None:
        """Append `tokens[i]` to every round of node `parents[i]`; update `logits`.

        `parents` (default: every node once, in order) selects: leave finished nodes out, name a
        node twice to fork it. Afterwards node `i` is what `tokens[i]` was appended to.

        Raises ValueError for no tokens, unequal lengths, or a parent that does not exist.
        """


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
        self._read()

    @torch.no_grad()
    def advance(self, tokens: Tensor, parents: Tensor | None = None) -> None:
        tokens, parents = _checked(tokens, parents, len(self._nodes), self._model.device)
        self._nodes = [
            [([*ids, token], picture) for ids, picture in self._nodes[parent]]
            for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True)
        ]
        self.prompt_tokens = self.prompt_tokens[parents]
        self._read()

    def _read(self) -> None:
        logits = [[self._model.forward(*each) for each in node] for node in self._nodes]
        self.logits = torch.stack([torch.stack(node) for node in logits], dim=1)


class _TwoPhase:
    """Rows that read the original picture with all textual rounds, and rows of dummy images."""

    def __init__(self, model: VisionLanguageModel, inputs: Inputs, textual: int):
        self._model = model
        self.prompt_tokens = _prompt_tokens(model, inputs)
        pictures = {id(picture): picture for node in inputs for _, picture in node}
        encoded = model.encode(list(pictures.values()))
        features = dict(zip(pictures, encoded, strict=True))
        shared = [[node[:textual]] for node in inputs]
        alone = [[[each] for each in node[textual:]] for node in inputs]
        self._groups = [
            _Group(model, [node[copy] for copy in range(len(rows[0])) for node in rows], features)
            for rows in (shared, alone)
            if rows[0]
        ]
        self._gather()

    @torch.no_grad()
    def advance(self, tokens: Tensor, parents: Tensor | None = None) -> None:
        batch = len(self.prompt_tokens)
        tokens, parents = _checked(tokens, parents, batch, self._model.device)
        for group in self._groups:
            group.step(tokens, parents, batch)
        self.prompt_tokens = self.prompt_tokens[parents]
        self._gather()

    def _gather(self) -> None:
        batch = len(self.prompt_tokens)
        self.logits = torch.cat(
            [
                # rows are copies x batch; either there is one copy or one round a row
                group.logits.unflatten(0, (-1, batch)).transpose(1, 2).flatten(0, 1)
                for group in self._groups
            ]
        )


class _Group:
    """Rows of one shape: a prefix each, and the same number of rounds packed onto it.

    State: the cache; `visible [rows, rounds, slots]`, the cache slots that belong to each round;
    `next [axes, rows, rounds]`, the position of each round's next token; the `logits`.
    """

    def __init__(
        self,
        model: VisionLanguageModel,
        rows: Sequence[Sequence[tuple[list[int], Picture]]],
        features: dict[int, Tensor],
    ):
        self.model = model
        self.cache = model.new_cache()
        device = model.device
        plans = [plan([ids for ids, _ in row], model.image_token_id) for row in rows]
        positions = [[model.positions(ids, picture) for ids, picture in row] for row in rows]
        images = [features[id(row[0][1])] for row in rows]

        cuts = [len(each.prefix) for each in plans]
        cached = max(cuts)
        if cached:
            model.hidden(
                self._embed([[each.prefix] for each in plans], images),
                _pad([row[0][:, :cut] for row, cut in zip(positions, cuts, strict=True)]),
                prefix_visible(cached, len(rows)).to(device),
                self.cache,
            )
        suffixes = [
            torch.cat([each[:, cut:] for each in row], dim=1)
            for row, cut in zip(positions, cuts, strict=True)
        ]
        visible = packed_visible(plans, cached).to(device)
        hidden = model.hidden(
            self._embed([each.suffixes for each in plans], images),
            _pad(suffixes),
            visible,
            self.cache,
        )
        lasts = torch.tensor([each.lasts for each in plans], device=device)
        ends = torch.stack([torch.stack([each.max() for each in row]) for row in positions])
        self.visible = last_visible(visible, lasts)
        self.next = (ends + 1).expand(len(suffixes[0]), -1, -1)
        self.logits = model.head(
            hidden.gather(1, lasts[:, :, None].expand(-1, -1, hidden.shape[-1]))
        )

    def step(self, tokens: Tensor, parents: Tensor, batch: int) -> None:
        """Append one token to every round; row `copy * batch + node` belongs to `node`."""
        copies = len(self.visible) // batch
        if not torch.equal(parents, torch.arange(batch, device=parents.device)):
            offsets = torch.arange(copies, device=parents.device) * batch
            rows = (offsets[:, None] + parents).flatten()
            self.cache.batch_select_indices(rows)
            self.visible, self.next = self.visible[rows], self.next[:, rows]
        rounds = self.visible.shape[1]
        self.visible = step_visible(self.visible)
        ids = tokens.repeat(copies)[:, None].expand(-1, rounds)
        hidden = self.model.hidden(self.model.embed(ids), self.next, self.visible, self.cache)
        self.next = self.next + 1
        self.logits = self.model.head(hidden)

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
    inputs = []
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

        original = picture("original")
        texts = (question.prompt, *question.rewrites)
        node = [(model.token_ids(text, original.tokens), original) for text in texts]
        inputs.append(node + [(node[0][0], picture(name)) for name in visual])
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
    tokens: Tensor, parents: Tensor | None, batch: int, device: torch.device
) -> tuple[Tensor, Tensor]:
    parents = torch.arange(batch) if parents is None else parents
    if tokens.ndim != 1 or len(tokens) == 0 or parents.shape != tokens.shape:
        raise ValueError(
            f"Expected one token a parent and at least one, got tokens of shape "
            f"{tuple(tokens.shape)} and parents of shape {tuple(parents.shape)}."
        )
    if parents.min() < 0 or parents.max() >= batch:
        raise ValueError(f"Parents are {parents.tolist()}; there are nodes 0 to {batch - 1}.")
    return tokens.to(device), parents.to(device)
