"""What all model families share; `adapters` holds what each says of its own.

A family's class holds an unmodified transformers model and answers what the engine asks of it. It
knows nothing of rounds, methods or batches of questions.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from sci_core.families.files import first_line
from sci_core.families.precision import is_out_of_memory
from sci_core.families.prefix_cache import Prefix
from sci_core.families.processors import Picture, Processor
from sci_core.families.settings import GenerationSettings, token_ids

Inputs = Mapping[str, Any]  # what an image processor made of a picture, by name
_IDENTITIES: WeakKeyDictionary[Any, object] = WeakKeyDictionary()


class VisionLanguageModel(ABC):
    """A transformers model with its processor, as the engine reads it.

    A family is a class below this one. It must say its `family` and its `image_tokens`; the rest it
    says only where the plain answer is not its own. Sent to another process, it is loaded there
    anew, by `reload`.

    Attributes:
        family: `model_type` of the family's config.json.
        generation: the checkpoint's own generation settings.
        image_settings: what the family's own processor tells its image processor at every call.
        resizes_once: whether a picture becomes as many tokens as it has pixels, between two limits,
            by one resize of the whole; a dummy is then made of the resized picture.
        axes: how many rotary positions a token has.
        pixel_limits: those that were asked for in place of the checkpoint's own, by name.
    """

    family: ClassVar[str]
    image_settings: ClassVar[Mapping[str, Any]] = {}
    resizes_once: ClassVar[bool] = False
    axes: ClassVar[int] = 1

    def __init__(
        self,
        name: str,
        hf: Any,
        tokenizer: Any,
        image_processor: Any,
        chat_template: str | Mapping[str, str] | None,
        reload: partial | None,
    ):
        self.name = name
        self._reload = reload
        self.hf = hf
        self.processor = Processor(tokenizer, image_processor, hf.config, type(self), chat_template)
        self.tokenizer = tokenizer
        self.generation = GenerationSettings(hf)
        self.image_token_id = hf.config.image_token_id
        self.vocab_size = hf.config.get_text_config().vocab_size
        self.pixel_limits: dict[str, int] = {}
        self._starts: dict[tuple, Tensor] = {}

    def __reduce__(self) -> tuple[partial, tuple, Any]:
        if self._reload is None:
            raise TypeError(
                f"{self.name} was made in this process and cannot be sent to another; load a "
                "checkpoint with load_model."
            )
        return self._reload, (), self.hf.generation_config

    def __setstate__(self, generation_config: Any) -> None:
        self.hf.generation_config = generation_config  # which may have been overridden

    # What a family may say of itself.

    @staticmethod
    @abstractmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        """Count the image tokens, one a feature, of a picture from its image processor's output."""

    @staticmethod
    def size_as_read(image_processor: Any, size: tuple[int, int]) -> tuple[int, int]:
        """Return width and height of the picture that is read of one of `size`."""
        return size

    @staticmethod
    def picture_ids(tokenizer: Any, config: Any, inputs: Inputs, tokens: int) -> list[int]:
        """Return the ids in the placeholder's place: `tokens` image tokens, and any marks."""
        return [config.image_token_id] * tokens

    @staticmethod
    def layout(config: Any, inputs: Inputs) -> dict[str, tuple[int, ...]]:
        """Return, by name, what of an input the features follow from where not from all of it."""
        return {}

    def joined(self, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """Join the inputs of several pictures, as one call of the vision tower takes them."""
        return {name: torch.cat([picture[name] for picture in inputs]) for name in inputs[0]}

    def features(self, output: Any) -> Tensor:
        """Return features `[tokens, width]` of all pictures, of what `get_image_features` gave."""
        return torch.cat(list(output.pooler_output))

    def language_inputs(self, embeddings: Tensor) -> dict[str, Any]:
        """Return embeddings as the language model takes them."""
        return {"inputs_embeds": embeddings}

    # What follows is the same for all.

    @property
    def eos_token_ids(self) -> frozenset[int]:
        """The tokens that end an answer, as the generation settings say now, or the tokenizer."""
        set_now = self.generation.config.eos_token_id
        stop = self.tokenizer.eos_token_id if set_now is None else set_now
        return frozenset(token_ids(stop, f"eos_token_id of {self.name} is"))

    @property
    def identity(self) -> Hashable:
        """A key of model, image processor and its settings in this process, at no cost."""
        parts = (self.hf, self.processor.image_processor)
        known = [_IDENTITIES.setdefault(part, object()) for part in parts if part is not None]
        return (*known, self.processor.settings)

    @cached_property
    def parameters(self) -> int:
        return self.hf.num_parameters()

    @cached_property
    def _cache_argument(self) -> str:
        """What the decoder calls its cache, which newer releases of transformers renamed."""
        taken = inspect.signature(type(self.hf.get_decoder()).forward).parameters
        return "cache" if "cache" in taken else "past_key_values"

    @property
    def dtype(self) -> torch.dtype:
        return self.hf.dtype

    @property
    def device(self) -> torch.device:
        return _device(self.hf.get_input_embeddings())

    def encode(self, pictures: Sequence[Picture]) -> list[Tensor]:
        """Encode pictures in one call of the vision tower: features `[tokens, width]` of each."""
        together = self.joined([picture.inputs for picture in pictures])
        unfit = (
            "Its config.json and preprocessor_config.json do not fit each other, or the "
            f"{self.family} family."
        )
        try:
            output = self.hf.model.get_image_features(
                **{name: value.to(self.device) for name, value in together.items()}
            )
        except (RuntimeError, ValueError, IndexError) as error:
            if is_out_of_memory(error):
                raise
            raise ValueError(
                f"The vision tower of {self.name} cannot read what its image processor makes of a "
                f"picture ({first_line(error)}). {unfit}"
            ) from error
        features, counts = self.features(output), [picture.tokens for picture in pictures]
        if len(features) != sum(counts):
            raise ValueError(
                f"The vision tower of {self.name} gives {len(features):,} features where prompts "
                f"have {sum(counts):,} image tokens; expected one for each. {unfit}"
            )
        return list(features.split(counts))

    def embed(self, ids: Tensor, features: Tensor | None = None) -> Tensor:
        """Embed `ids`, image tokens replaced by `features [tokens, width]` in order."""
        embeddings = self.hf.get_input_embeddings()(ids)
        if features is not None:
            embeddings[ids == self.image_token_id] = features.to(embeddings)
        return embeddings

    def positions(self, ids: Sequence[int], picture: Picture) -> Tensor:
        """Return rotary positions `[axes, len(ids)]`: those that a plain pass of the model takes.

        The model says those up to one token behind the picture, from which the text counts on. It
        is asked once a size and place of the picture, for that takes as long as a layer.
        """
        if not picture.tokens:
            return torch.arange(len(ids), device=self.device).expand(self.axes, -1)
        sizes = {k: size for k, size in picture.inputs.items() if not k.startswith("pixel_")}
        end = ids.index(self.image_token_id) + picture.tokens
        head = ids[: end + 1]
        key = (end, len(head), *(tuple(size.flatten().tolist()) for size in sizes.values()))
        if len(self._starts) > 255:
            self._starts.clear()
        if key not in self._starts:
            self._starts[key] = self._positions_in_a_pass(head, sizes)
        start = self._starts[key].to(self.device)
        text = torch.arange(1, len(ids) - len(head) + 1, device=self.device)
        return torch.cat([start, start[:, -1:] + text], dim=1)

    @torch.no_grad()
    def _positions_in_a_pass(self, ids: Sequence[int], sizes: Mapping[str, Tensor]) -> Tensor:
        """What a plain pass hands to the decoder, where it ends; without pixels it costs little."""
        given: dict[str, Any] = {}

        def end(_: Any, __: tuple, arguments: dict[str, Any]) -> None:
            given.update(arguments)
            raise _DecoderReached

        hook = self.hf.get_decoder().register_forward_pre_hook(end, with_kwargs=True)
        try:
            self._plain_pass(ids, sizes)
        except _DecoderReached:
            pass
        finally:
            hook.remove()
        positions = given.get("position_ids")
        if positions is None:  # which a decoder then takes itself
            positions = torch.arange(len(ids), device=self.device)[None]
        return positions.flatten(0, -2)[-self.axes :]  # some releases put text's own before them

    def _plain_pass(self, ids: Sequence[int], inputs: Mapping[str, Tensor], **more: Any) -> Any:
        row = torch.tensor([list(ids)], device=self.device)
        if "mm_token_type_ids" in inspect.signature(self.hf.forward).parameters:
            more["mm_token_type_ids"] = (row == self.image_token_id).int()
        return self.hf(
            input_ids=row,
            attention_mask=torch.ones_like(row),
            use_cache=False,
            **{name: value.to(self.device) for name, value in inputs.items()},
            **more,
        )

    def hidden(
        self, embeddings: Tensor, positions: Tensor, visible: Tensor | None, cache: Any
    ) -> Tensor:
        """Return last hidden states `[batch, length, hidden]`; append keys and values to `cache`.

        Args:
            positions: `[axes, batch, length]`.
            visible: `[batch, length, cached + length]`, where a token may look, in every row
                somewhere. None: causal, with an empty cache.
        """
        mask = None
        if visible is not None:
            # Made once: of a boolean mask sdpa makes this in every layer, and eager 0 and 1.
            blocked = torch.finfo(embeddings.dtype).min
            mask = torch.zeros_like(visible, dtype=embeddings.dtype).masked_fill_(~visible, blocked)
            mask = mask[:, None]
        return self.hf.get_decoder()(
            **self.language_inputs(embeddings),
            position_ids=positions if self.axes > 1 else positions[0],
            attention_mask=mask,
            use_cache=True,
            **{self._cache_argument: cache},
        ).last_hidden_state.to(self.device)

    def head(self, hidden: Tensor, tokens: Tensor | None = None) -> Tensor:
        """Return raw logits of all or some tokens, float32 (float64 of a float64 model)."""
        head = self.hf.lm_head
        plain = type(head) is torch.nn.Linear and head.bias is None
        if tokens is not None and plain and head.weight.device == self.device:
            return _as_logits(torch.nn.functional.linear(hidden, head.weight[tokens]))
        # Quantised, adapted, or elsewhere: all or nothing.
        logits = _as_logits(head(hidden)).to(self.device)
        return logits if tokens is None else logits[..., tokens]

    def new_cache(self, prefixes: Sequence[Prefix] = (), room: int = 0) -> Any:
        """Make a `cache.RoomyCache`: rows begin with the prefixes, `room` slots follow."""
        from sci_core.families.cache import RoomyCache, RoomyLayer

        if prefixes:
            return RoomyCache.of(prefixes, room)
        layers = self.hf.config.get_text_config().num_hidden_layers
        return RoomyCache(layers=[RoomyLayer() for _ in range(layers)])

    def forward(self, ids: Sequence[int], picture: Picture) -> Tensor:
        """Return next-token logits `[vocab]` of one plain, uncached pass of the model."""
        output = self._plain_pass(ids, picture.inputs, logits_to_keep=1)
        return _as_logits(output.logits[0, -1]).to(self.device)


class _DecoderReached(Exception):
    """Ends a plain pass at the decoder."""


def _device(module: Any) -> torch.device:
    """Where a module computes, also one whose weights accelerate brings there for every call."""
    hook = getattr(module, "_hf_hook", None)
    return module.weight.device if hook is None else torch.device(hook.execution_device)


def _as_logits(logits: Tensor) -> Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()
