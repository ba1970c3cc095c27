"""From questions to what a model reads: the token ids of every round, and the pictures they show.

Equal pictures of a batch are one object, prepared once: when it is first looked at, or ahead.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import torch
from jaxtyping import Int
from PIL import Image
from torch import Tensor

from sci_core.counterfactuals import counterfactual_image, find_dummy, is_constant, is_visual
from sci_core.families.processors import Picture, Processor
from sci_core.images import prepare_image

Noise = Literal["clamp", "wrap", "normalized"]


@dataclass(frozen=True)
class Question:
    """A picture, the text of the user's turn, and that text rewritten for each textual round."""

    image: Image.Image
    prompt: str
    rewrites: tuple[str, ...] = ()

    @cached_property
    def shown(self) -> Image.Image:
        """The picture as every round shows it: upright, opaque, RGB."""
        return prepare_image(self.image)

    @cached_property
    def content(self) -> tuple[tuple[int, int], bytes]:
        """The size and a hash of the pixels of what is shown: the same for equal pictures."""
        return self.shown.size, hashlib.blake2b(self.shown.tobytes(), digest_size=16).digest()


class RoundImage:
    """A picture as a round shows it, prepared when it is first looked at; `key` says which.

    Black is the same for all pictures of the shape of the one it stands for, whatever their size in
    pixels: its key is that shape, and not known before that picture is prepared.
    """

    def __init__(
        self, key: tuple, prepare: Callable[[], Picture], standing_for: "RoundImage | None" = None
    ):
        self._key, self._prepare, self._standing_for = key, prepare, standing_for

    @cached_property
    def key(self) -> tuple:
        if self._standing_for is None:
            return self._key
        return (self._key[0], self._standing_for.picture.shape)

    @property
    def constant(self) -> bool:
        """Whether other pictures have the same dummy."""
        return is_constant(self._key[0])

    def standing_for(self, original: "RoundImage") -> "RoundImage":
        """The same picture as a dummy of this one."""
        return RoundImage(self._key, partial(getattr, self, "picture"), original)

    @cached_property
    def picture(self) -> Picture:
        return self._prepare()


@dataclass(frozen=True)
class EncodedQuestion:
    """A question as a model takes it: ids of its textual rounds, what it shows, its dummies."""

    texts: tuple[list[int], ...]
    original: RoundImage
    dummies: tuple[RoundImage, ...]

    def rounds(self, span: slice) -> list[tuple[list[int], RoundImage]]:
        """Ids and round_image of some rounds, the visual ones after the textual ones."""
        textual = [(ids, self.original) for ids in self.texts]
        return [*textual, *((self.texts[0], dummy) for dummy in self.dummies)][span]


def split_rounds(rounds: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The textual rounds after "original", and the visual ones.

    Raises ValueError for rounds in another order, and for a dummy picture that does not exist.
    """
    visual = [is_visual(name) for name in rounds]
    if not rounds or rounds[0] != "original" or visual != sorted(visual):
        raise ValueError(
            f"Rounds are {list(rounds)}; expected 'original' first, then the textual rounds, then "
            "the visual ones."
        )
    textual = visual.count(False)
    for name in rounds[textual:]:
        find_dummy(name)
    return tuple(rounds[1:textual]), tuple(rounds[textual:])


def check_questions(questions: Sequence[Question], textual: Sequence[str]) -> None:
    """Raise TypeError or ValueError, naming the question, for one that cannot be asked.

    Its rewrites must match the textual rounds, and `prepare_image` must accept its picture.
    """
    for number, question in enumerate(questions):
        try:
            _ = question.shown
        except (TypeError, ValueError) as error:
            raise type(error)(f"Question {number}: {error}") from None
        if len(question.rewrites) != len(textual):
            raise ValueError(
                f"Question {number} has {len(question.rewrites)} rewrites; the rounds need "
                f"{len(textual)} ({', '.join(textual) or 'none'})."
            )


def round_images(
    questions: Sequence[Question],
    visual: Sequence[str],
    noise: Noise,
    prepare: Callable[[Image.Image, str, Noise], Callable[[], Picture]],
) -> list[list[RoundImage]]:
    """What each question shows: its picture, then its dummies; equal pictures are one object.

    `prepare(image, round, noise)` returns what will return the preprocessed picture.
    """
    made: dict[tuple, RoundImage] = {}
    shown = []
    for question in questions:
        size, pixels = question.content
        keys = [
            (name, size) if is_constant(name) else (name, noise, size, pixels)
            for name in ("original", *visual)
        ]
        for key in keys:
            if key not in made:
                made[key] = RoundImage(key, prepare(question.shown, key[0], noise))
        original, *dummies = (made[key] for key in keys)
        shown.append(
            [
                original,
                *(each.standing_for(original) if each.constant else each for each in dummies),
            ]
        )
    return shown


def when_needed(processor: Processor) -> Callable[..., Callable[[], Picture]]:
    """The `prepare` of `round_images` that works in this process, when the picture is needed."""
    return partial(partial, prepare_picture, processor)


def ask(
    processor: Processor, questions: Sequence[Question], shown: Sequence[Sequence[RoundImage]]
) -> list[EncodedQuestion]:
    """The questions with the token ids of all their textual rounds."""
    texts = [text for question in questions for text in (question.prompt, *question.rewrites)]
    count = len(texts) // len(questions)
    ids = processor.token_ids(
        texts, [original.picture.ids for original, *_ in shown for _ in range(count)]
    )
    return [
        EncodedQuestion(tuple(ids[number * count : (number + 1) * count]), original, tuple(dummies))
        for number, (original, *dummies) in enumerate(shown)
    ]


def prepare_picture(processor: Processor, image: Image.Image, name: str, noise: Noise) -> Picture:
    """What a round shows of an RGB picture, preprocessed."""
    if name == "original":
        return processor.prepare(image)
    dummy, number = find_dummy(name)
    if noise == "normalized" and dummy.on_values is not None:
        prepared = processor.prepare(image)
        values = dummy.on_values(prepared.inputs["pixel_values"], image, number)
        return replace(prepared, inputs={**prepared.inputs, "pixel_values": values})
    variant = "clamp" if noise == "normalized" else noise
    return processor.prepare(counterfactual_image(image, name, variant))


def check_context(
    config: Any,
    asked: Sequence[EncodedQuestion],
    new_tokens: int,
    names: Sequence[int] | None = None,
) -> None:
    """Refuse questions that the model has no positions for, where its configuration says so.

    Counted are the tokens of the longest textual round, the picture's included, and `new_tokens` to
    come. Raises ValueError, naming the question by its place.
    """
    longest = _context_length(config)
    for number, each in zip(names or range(len(asked)), asked, strict=True):
        read = max(map(len, each.texts))
        if longest is not None and read + new_tokens > longest:
            picture = len(each.original.picture.ids)
            raise ValueError(
                f"Question {number} takes {read:,} tokens ({picture:,} of them its picture), and "
                f"up to {new_tokens:,} are to come; the model's context is {longest:,}. Shorten "
                "the prompt, make the picture smaller, or ask for fewer new tokens."
            )


def _context_length(config: Any) -> int | None:
    """How many tokens the language model was made for; None if its configuration does not say."""
    text = config.get_text_config()
    longest = getattr(text, "max_position_embeddings", None)
    rope = getattr(text, "rope_parameters", None) or {}
    # These two stretch the positions that the configuration states; the others state the stretched.
    factor = rope.get("factor", 1) if rope.get("rope_type") in ("linear", "dynamic") else 1
    return int(longest * factor) if isinstance(longest, int) else None


def prompt_tokens(asked: Sequence[EncodedQuestion], device: Any) -> Int[Tensor, " batch"]:
    """Text tokens of each original prompt, chat template included, picture excluded."""
    counts = [len(each.texts[0]) - len(each.original.picture.ids) for each in asked]
    return torch.tensor(counts, device=device)
