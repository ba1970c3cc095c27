"""From questions to what a model reads: the token ids of every round, and the pictures they show.

Equal pictures of a batch are one object, prepared once: when it is first looked at, or ahead.
"""

import hashlib
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

from PIL import Image

from sci_core.counterfactuals import (
    counterfactual_image,
    find_dummy,
    is_constant,
    is_visual,
    reduced,
    shrinks,
)
from sci_core.families.precision import context, ropes
from sci_core.families.processors import Picture, Processor
from sci_core.images import prepare_image

Noise = Literal["clamp", "wrap", "normalized", "unresized"]


@dataclass(frozen=True)
class Question:
    """A picture, the text of the user's turn, and that text rewritten for each textual round."""

    image: Image.Image
    prompt: str
    rewrites: tuple[str, ...] = ()

    @cached_property
    def prepared(self) -> Image.Image:
        """The picture as every round shows it, upright, opaque and RGB."""
        return prepare_image(self.image)

    @cached_property
    def content(self) -> tuple[tuple[int, int], bytes]:
        """The prepared picture's size and a hash of its pixels, the same for equal pictures."""
        pixels = self.prepared.tobytes()
        return self.prepared.size, hashlib.blake2b(pixels, digest_size=16).digest()


class RoundImage:
    """A picture as a round shows it, prepared when it is first looked at; `key` says which.

    The key of a constant picture is what it is to the model, so that several sizes may share one;
    `contents`, if given, remembers that by name and size, so that it is prepared once a size.
    """

    def __init__(
        self,
        key: tuple,
        prepare: Callable[[], Picture],
        contents: MutableMapping[tuple, bytes] | None = None,
    ):
        self._key, self._prepare, self._contents = key, prepare, contents

    @cached_property
    def key(self) -> tuple:
        if self._contents is None or not self.constant:
            return self._key
        if self._key not in self._contents:
            self._contents[self._key] = self.picture.content
        return (self._key[0], self._contents[self._key])

    @property
    def constant(self) -> bool:
        """Whether all pictures of its size have the same dummy."""
        return is_constant(self._key[0])

    @property
    def shrunk(self) -> bool:
        """Whether it is smaller than the question's picture, with image tokens of its own."""
        return shrinks(self._key[0])

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
        """Return ids and image of some rounds, the visual ones after the textual ones."""
        rounds = [(ids, self.original) for ids in self.texts]
        rounds += [(self.texts[0], dummy) for dummy in self.dummies]
        return [
            (self._resized(ids, image) if image.shrunk else ids, image)
            for ids, image in rounds[span]
        ]

    @property
    def text_tokens(self) -> int:
        """How many tokens the original prompt has, chat template included, picture excluded.

        The marks around tiles belong to the picture: they grow with it, and no prompt's text does.
        """
        return len(self.texts[0]) - len(self.original.picture.ids)

    def _resized(self, ids: list[int], dummy: RoundImage) -> list[int]:
        """Put the dummy's image tokens where the picture's are."""
        old, new = list(self.original.picture.ids), dummy.picture.ids
        start = next(k for k in range(len(ids)) if ids[k : k + len(old)] == old)
        return [*ids[:start], *new, *ids[start + len(old) :]]


def split_rounds(rounds: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split names of rounds into the textual ones after "original" and the visual ones.

    Raises ValueError for rounds in another order, and for a dummy image that does not exist.
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

    Its rewrites must be texts, one a textual round, and `prepare_image` must accept its picture.
    """
    for number, question in enumerate(questions):
        try:
            _ = question.prepared
        except (TypeError, ValueError) as error:
            raise type(error)(f"Question {number}: {error}") from None
        texts = question.rewrites
        known = isinstance(texts, tuple) and all(isinstance(text, str) for text in texts)
        if not known or len(texts) != len(textual):
            raise ValueError(
                f"The rewrites of question {number} are {texts!r}; expected one text for each "
                f"textual round ({', '.join(textual) or 'none'})."
            )


def round_images(
    processor: Processor,
    questions: Sequence[Question],
    visual: Sequence[str],
    noise: Noise,
    prepare: Callable[[Image.Image, str, Noise], Callable[[], Picture]] | None = None,
) -> list[list[RoundImage]]:
    """Return each question's picture, then its dummies; equal pictures are one object.

    `prepare(image, round, noise)` returns what will return the preprocessed picture; by default it
    is prepared here when it is first looked at.
    """
    prepare = prepare or partial(partial, prepare_picture, processor)
    contents = processor.contents.setdefault(processor.settings, {})
    distinct: dict[tuple, RoundImage] = {}
    images = []
    for question in questions:
        size, pixels = question.content
        keys = [
            (name, size) if is_constant(name) else (name, noise, size, pixels)
            for name in ("original", *visual)
        ]
        for key in keys:
            if key not in distinct:
                distinct[key] = RoundImage(key, prepare(question.prepared, key[0], noise), contents)
        images.append([distinct[key] for key in keys])
    return images


def ask(
    processor: Processor, questions: Sequence[Question], images: Sequence[Sequence[RoundImage]]
) -> list[EncodedQuestion]:
    """Encode all textual rounds of the questions, whose `round_images` are `images`."""
    texts = [text for question in questions for text in (question.prompt, *question.rewrites)]
    count = len(texts) // len(questions)
    ids = processor.token_ids(
        texts, [original.picture.ids for original, *_ in images for _ in range(count)]
    )
    return [
        EncodedQuestion(tuple(ids[number * count : (number + 1) * count]), original, tuple(dummies))
        for number, (original, *dummies) in enumerate(images)
    ]


def prepare_picture(processor: Processor, image: Image.Image, name: str, noise: Noise) -> Picture:
    """Preprocess what a round shows of an RGB picture."""
    if name == "original":
        return processor.prepare(image)
    dummy, number = find_dummy(name)
    if dummy.words is not None:
        return processor.words_for_picture(dummy.words)
    if noise == "normalized" and dummy.on_values is not None:
        source = reduced(image, dummy.factor)
        prepared = processor.prepare(source)
        values = dummy.on_values(prepared.inputs["pixel_values"], source, number)
        return replace(prepared, inputs={**prepared.inputs, "pixel_values": values})
    shown = draw_dummy(processor, image, name, noise)
    return processor.prepare(shown, read_before=noise != "unresized" and not shrinks(name))


def draw_dummy(processor: Processor, image: Image.Image, name: str, noise: Noise) -> Image.Image:
    """Draw the picture that a visual round shows in the place of an RGB picture."""
    if noise == "unresized":
        return counterfactual_image(image, name, "wrap")
    variant = "clamp" if noise == "normalized" else noise
    return counterfactual_image(image, name, variant, processor.as_read)


def check_context(
    config: Any, asked: Sequence[EncodedQuestion], new_tokens: int, names: Sequence | None = None
) -> None:
    """Refuse questions that the model has no positions for, where its configuration says so.

    The longest textual round counts, its picture included, and the `new_tokens` to come. Raises
    ValueError, naming the question by its place.
    """
    text = config.get_text_config()
    longest = context(text)
    if longest is None:
        return
    kinds = {"dynamic", "longrope"} & {rope.get("rope_type") for rope in ropes(text)}
    why = f" with one set of {' and '.join(sorted(kinds))} frequencies" if kinds else ""
    for number, question in zip(names or range(len(asked)), asked, strict=True):
        read = max(map(len, question.texts))
        if read + new_tokens > longest:
            picture = len(question.original.picture.ids)
            raise ValueError(
                f"Question {number} takes {read:,} tokens ({picture:,} of them its picture), and "
                f"up to {new_tokens:,} are to come; the model's context{why} is {longest:,}. "
                "Shorten the prompt, make the picture smaller, or ask for fewer new tokens."
            )
