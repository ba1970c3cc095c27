"""What rounds cost, counted: made-up questions of a fixed layout, and the ways to decode them.

The benchmark of overhead measures these strategies on models with random weights; the book counts
them on a model that only counts.

    sequential      the rounds one after another, each with its own key-value cache
    naive_batch     all rounds as rows of one batch, nothing shared
    two_phase       shared prefixes and packed suffixes, every visual round read
    two_phase_gate  the same, visual rounds only where they can change the answer
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from sci_core.counterfactuals import is_constant, shrinks
from sci_core.engine.engine import begin_rounds
from sci_core.engine.questions import EncodedQuestion, RoundImage
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel
from sci_core.families.prefix_cache import PrefixCache
from sci_core.families.processors import Picture
from sci_core.methods import BASE, Method

LAYOUT = {"before": 15, "question": 60, "instruction": 20, "rewrite": 35}
"""Tokens before the picture, of the question, of its instruction, of a rewritten instruction."""


class MadeUpQuestions:
    """Questions of the layout: random words, and no two pictures alike but for black.

    A round whose dummy shrinks shows `smaller` of its kind ("tinynoise"; "none" and "unk" are words
    in its place), every other round shows `picture`; only the numbers of tokens and patches matter.
    """

    def __init__(
        self,
        model: VisionLanguageModel,
        picture: Picture,
        smaller: Mapping[str, Picture] | None = None,
    ):
        self._image_token_id, self._made = model.image_token_id, 0
        self.picture = self._written(picture)
        self._smaller = {kind: self._written(each) for kind, each in (smaller or {}).items()}
        self._vocabulary = sorted({*range(model.vocab_size)} - {model.image_token_id})
        # The chat template's words, the same in every prompt.
        self._before = random.Random(0).choices(self._vocabulary, k=LAYOUT["before"])

    def _written(self, picture: Picture) -> Picture:
        """The picture with the ids that stand for it in a prompt; words have theirs."""
        if not picture.tokens:
            return picture
        return replace(picture, ids=(self._image_token_id,) * picture.tokens)

    def batch(self, method: Method, size: int, *, repeated: bool = False) -> list[EncodedQuestion]:
        """New questions; `repeated` gives every textual round the original prompt."""
        return [self._one(method, repeated) for _ in range(size)]

    def _one(self, method: Method, repeated: bool) -> EncodedQuestion:
        self._made += 1
        words = random.Random(self._made)

        def text(part: str) -> list[int]:
            return words.choices(self._vocabulary, k=LAYOUT[part])

        image = [self._image_token_id] * self.picture.tokens
        start = [*self._before, *image, *text("question")]
        original = [*start, *text("instruction")]
        texts = [original]
        texts += [original if repeated else [*start, *text("rewrite")] for _ in method.textual]
        first, *dummies = (self._round_image(name) for name in ("original", *method.visual))
        return EncodedQuestion(tuple(texts), first, tuple(dummies))

    def _round_image(self, name: str) -> RoundImage:
        which = self.picture.tokens if is_constant(name) else self._made
        picture = self._smaller[name.rstrip("0123456789")] if shrinks(name) else self.picture
        return RoundImage((name, which), lambda: picture)


class OneByOne:
    """The rounds one after another, each with its own key-value cache."""

    def __init__(self, model: VisionLanguageModel, questions: Sequence[EncodedQuestion]):
        count = len(questions[0].rounds(slice(None)))
        self._rounds = [begin_rounds(model, alone(questions, k)) for k in range(count)]

    @property
    def logits(self) -> Tensor:
        return torch.cat([rounds.logits for rounds in self._rounds])

    @property
    def prompt_tokens(self) -> Tensor:
        return self._rounds[0].prompt_tokens

    def advance(self, tokens: Tensor) -> None:
        for rounds in self._rounds:
            rounds.advance(tokens)


class NaiveBatch:
    """All rounds of all questions as rows of one batch."""

    def __init__(self, model: VisionLanguageModel, questions: Sequence[EncodedQuestion]):
        self._count = len(questions[0].rounds(slice(None)))
        rows = [question for k in range(self._count) for question in alone(questions, k)]
        self._rounds = begin_rounds(model, rows)

    @property
    def logits(self) -> Tensor:
        return self._rounds.logits[0].unflatten(0, (self._count, -1))

    @property
    def prompt_tokens(self) -> Tensor:
        return self._rounds.prompt_tokens[: self.logits.shape[1]]

    def advance(self, tokens: Tensor) -> None:
        self._rounds.advance(tokens.repeat(self._count))


def alone(questions: Sequence[EncodedQuestion], place: int) -> list[EncodedQuestion]:
    """One round of each question as a question of its own, which shares nothing."""
    rounds = [question.rounds(slice(None))[place] for question in questions]
    return [
        EncodedQuestion(
            (ids,),
            RoundImage(("alone", place, number), partial(getattr, round_image, "picture")),
            (),
        )
        for number, (ids, round_image) in enumerate(rounds)
    ]


def strategies(
    model: VisionLanguageModel, questions: Sequence[EncodedQuestion], warm: PrefixCache
) -> dict[tuple[str, str], Callable[[], Rounds]]:
    """By strategy and state of the prefix cache, what begins the rounds of these questions."""
    begin = partial(begin_rounds, model, questions)
    return {
        ("sequential", "none"): partial(OneByOne, model, questions),
        ("naive_batch", "none"): partial(NaiveBatch, model, questions),
        ("two_phase", "cold"): partial(begin, prefixes=PrefixCache(0)),
        ("two_phase", "warm"): partial(begin, prefixes=warm),
        ("two_phase_gate", "warm"): partial(begin, prefixes=warm, deferred=True),
    }


@contextmanager
def counted(model: VisionLanguageModel) -> Iterator[Counter]:
    """Count token rows, calls, pictures, patches and head rows of a model, padding included."""
    counts: Counter = Counter()
    hidden, encode, head = model.hidden, model.encode, model.head

    def counted_hidden(embeddings: Tensor, *rest: Any) -> Tensor:
        counts["token_rows"] += embeddings.shape[0] * embeddings.shape[1]
        counts["calls"] += 1
        return hidden(embeddings, *rest)

    def counted_encode(pictures: Sequence[Picture]) -> list[Tensor]:
        counts["pictures"] += len(pictures)
        counts["patches"] += sum(patches(model, picture) for picture in pictures)
        return encode(pictures)

    def counted_head(last: Tensor, *rest: Any) -> Tensor:
        counts["head_rows"] += last.shape[:-1].numel()
        return head(last, *rest)

    with replaced(model, hidden=counted_hidden, encode=counted_encode, head=counted_head):
        yield counts


@contextmanager
def replaced(model: VisionLanguageModel, **methods: Callable) -> Iterator[None]:
    """These methods in the place of the model's own, which come back; one may lie in another."""
    before = {name: vars(model)[name] for name in methods if name in vars(model)}
    vars(model).update(methods)
    try:
        yield
    finally:
        for name in methods:
            del vars(model)[name]
        vars(model).update(before)


def patches(model: VisionLanguageModel, picture: Picture) -> int:
    """Patches that the vision tower reads of a picture."""
    grid = picture.inputs.get("image_grid_thw")
    if grid is not None:
        return int(grid.prod())
    values = picture.inputs["pixel_values"]  # of one tile or more, with or without an axis for them
    side = model.processor.config.vision_config.patch_size
    height, width = side if isinstance(side, list | tuple) else (side, side)
    return (values.numel() // values.shape[-3]) // (height * width)


class CountingModel(VisionLanguageModel):
    """A model of no weights, which a token costs nothing: it serves to count the engine's work."""

    family, name, parameters = "none", "a model that counts", 0
    identity = "a model that counts"
    dtype, device = torch.float32, torch.device("cpu")
    image_token_id, vocab_size, eos_token_ids = 1, 1024, frozenset()
    processor = tokenizer = generation = None  # no text is read or written

    def __init__(self) -> None:
        pass  # without weights or files

    @staticmethod
    def image_tokens(config: Any, inputs: Any) -> int:
        raise NotImplementedError("this model is given its pictures with their number of tokens")

    def positions(self, ids: Sequence[int], picture: Picture) -> Tensor:
        return torch.arange(len(ids))[None]

    def encode(self, pictures: Sequence[Picture]) -> list[Tensor]:
        return [torch.zeros(picture.tokens, 1) for picture in pictures]

    def embed(self, ids: Tensor, features: Tensor | None = None) -> Tensor:
        return torch.zeros(*ids.shape, 1)

    def hidden(
        self, embeddings: Tensor, positions: Tensor, visible: Tensor | None, cache: Any
    ) -> Tensor:
        cache.layers[0].update(embeddings[:, None], embeddings[:, None])
        return embeddings

    def head(self, hidden: Tensor, tokens: Tensor | None = None) -> Tensor:
        count = self.vocab_size if tokens is None else len(tokens)
        return hidden.expand(*hidden.shape[:-1], count)

    def forward(self, ids: Sequence[int], picture: Picture) -> Tensor:
        return torch.zeros(self.vocab_size)

    def new_cache(self, prefixes: Sequence[Any] = (), room: int = 0) -> Any:
        from sci_core.families.cache import RoomyCache, RoomyLayer

        return RoomyCache.of(prefixes, room) if prefixes else RoomyCache(layers=[RoomyLayer()])


def made_up(image_tokens: int) -> tuple[CountingModel, MadeUpQuestions]:
    """A model that counts, and questions of the fixed layout with pictures of so many tokens."""
    model = CountingModel()

    def of(tokens: int) -> Picture:
        # Four patches a token, as where two by two of them are merged.
        return Picture({"image_grid_thw": torch.tensor([[1, 4, tokens]])}, tokens)

    smaller = {"smallnoise": of(image_tokens // 4), "tinynoise": of(image_tokens // 16)}
    smaller |= {"none": Picture({}, 0), "unk": Picture({}, 0, (model.image_token_id + 1,))}
    return model, MadeUpQuestions(model, of(image_tokens), smaller)


def work(
    method: Method, image_tokens: int, strategy: str = "two_phase", cache: str = "warm"
) -> dict[str, int]:
    """Tokens, pictures, calls and head rows of a question, the store filled by one before it."""
    model, questions = made_up(image_tokens)
    store = PrefixCache(constants_only=True)
    for _ in range(2):
        batch = questions.batch(method, 1)
        with counted(model) as counts:
            strategies(model, batch, store)[strategy, cache]()
    return dict(counts)


def ratio(
    method: Method, image_tokens: int, strategy: str = "two_phase", cache: str = "warm"
) -> float:
    """Tokens through the language model, in multiples of the base."""
    base = work(BASE, image_tokens)["token_rows"]
    return work(method, image_tokens, strategy, cache)["token_rows"] / base


class Cost(NamedTuple):
    """Tokens through the language model: those of a question, and those of a token of its answer.

    Padding counts as `read`; each `new` token goes through every round.
    """

    read: int
    new: int


def cost(method: Method, image_tokens: int) -> Cost:
    """What a method costs; a control costs what it `reads` (`controls`).

    Its rounds share what they have in common, the picture for one, as in `two_phase`.
    """
    return Cost(work(method, image_tokens)["token_rows"], len(method.rounds))


def again(method: Method, image_tokens: int) -> float:
    """Tokens of a further question about a kept picture, to the base's first on it."""
    model, questions = made_up(image_tokens)
    store = PrefixCache()
    first, second = questions.batch(method, 2)
    begin_rounds(model, [first], prefixes=store)
    with counted(model) as counts:
        second = replace(second, original=first.original, dummies=first.dummies)
        begin_rounds(model, [second], prefixes=store)
    return counts["token_rows"] / work(BASE, image_tokens)["token_rows"]
