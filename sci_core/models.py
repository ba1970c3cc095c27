"""What a vision-language model must offer to be decoded, and the adapters of each family.

This is the only file that knows a model family. An adapter holds an unmodified transformers model
and answers a few questions about it: which positions a prompt has, what the vision tower makes of a
picture, what the language model makes of embeddings. It knows nothing of rounds, methods or batches
of questions.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import torch
from safetensors import SafetensorError
from torch import Tensor

from sci_core.prefix_cache import Prefix
from sci_core.processors import Picture, Processor

ATTENTION = ("sdpa", "eager")
"""Attention implementations that take the 4-D masks of the two-phase engine."""


@runtime_checkable
class VisionLanguageModel(Protocol):
    """What the engine asks of a model."""

    family: str
    name: str
    processor: Processor
    tokenizer: Any
    eos_token_ids: frozenset[int]
    vocab_size: int
    image_token_id: int

    @property
    def identity(self) -> Hashable: ...
    @property
    def revision(self) -> str: ...
    @property
    def parameters(self) -> int: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> torch.device: ...

    def positions(self, ids: Sequence[int], picture: Picture) -> Tensor:
        """Rotary positions `[axes, len(ids)]`: three axes for Qwen2-VL, one for LLaVA-NeXT."""

    def encode(self, pictures: Sequence[Picture]) -> list[Tensor]:
        """Image features `[tokens, hidden]` of each picture, from one call of the vision tower."""

    def embed(self, ids: Tensor, features: Tensor | None = None) -> Tensor:
        """Embeddings of `ids`, image tokens replaced by `features [tokens, hidden]` in order."""

    def hidden(
        self, embeddings: Tensor, positions: Tensor, visible: Tensor | None, cache: Any
    ) -> Tensor:
        """Last hidden states `[batch, length, hidden]`; keys and values are appended to `cache`.

        `positions [axes, batch, length]`; `visible [batch, length, cached + length]` is true
        where a token may look. Every row of it must hold a true value. None: an empty cache, and
        each token looks at itself and those before it.
        """

    def head(self, hidden: Tensor, tokens: Tensor | None = None) -> Tensor:
        """Raw logits of the vocabulary or of some tokens, float32 (float64 of a float64 model)."""

    def new_cache(self, prefixes: Sequence[Prefix] = (), room: int = 0) -> Any:
        """A `cache.RoomyCache` or its like: rows begin with the prefixes, `room` slots follow."""

    def forward(self, ids: Sequence[int], picture: Picture) -> Tensor:
        """Next-token logits `[vocab]` of one plain pass of the unmodified model, uncached."""


_IDENTITIES: WeakKeyDictionary[Any, object] = WeakKeyDictionary()


class _Checkpoint(ABC):
    """What both families share: a transformers model with its processor.

    Sent to another process, it is loaded there anew, by `reload`.
    """

    family: ClassVar[str]

    def __init__(
        self,
        name: str,
        hf: Any,
        tokenizer: Any,
        image_processor: Any,
        chat_template: str | None,
        reload: partial | None,
    ):
        self.name = name
        self._reload = reload
        self.hf = hf
        self.processor = Processor(
            tokenizer, image_processor, hf.config, self._image_tokens, chat_template
        )
        self.tokenizer = tokenizer
        self.image_token_id = hf.config.image_token_id
        self.vocab_size = hf.config.get_text_config().vocab_size
        stop = hf.generation_config.eos_token_id
        stop = tokenizer.eos_token_id if stop is None else stop
        self.eos_token_ids = frozenset([stop] if isinstance(stop, int) else stop or ())

    def __reduce__(self) -> tuple[partial, tuple]:
        if self._reload is None:
            raise TypeError(
                f"{self.name} was made in this process and cannot be sent to another; load a "
                "checkpoint with load_model."
            )
        return self._reload, ()

    @property
    def identity(self) -> Hashable:
        """Tells model and image processor from all others in this process, at no cost."""
        parts = (self.hf, self.processor.image_processor)
        return tuple(_IDENTITIES.setdefault(part, object()) for part in parts if part is not None)

    @cached_property
    def revision(self) -> str:
        """Hub commit, or for a local folder 16 hex digits of the SHA-256 over its files.

        A model made in memory is nobody else's: it has a name for this process only.
        """
        commit = getattr(self.hf.config, "_commit_hash", None)
        if commit is None and not Path(self.name).is_dir():
            return f"in memory at {id(self.hf):x}"
        return commit or _content_hash(Path(self.name))

    @cached_property
    def parameters(self) -> int:
        return self.hf.num_parameters()

    @property
    def dtype(self) -> torch.dtype:
        return self.hf.dtype

    @property
    def device(self) -> torch.device:
        return self.hf.get_input_embeddings().weight.device

    def embed(self, ids: Tensor, features: Tensor | None = None) -> Tensor:
        embeddings = self.hf.get_input_embeddings()(ids)
        if features is not None:
            embeddings[ids == self.image_token_id] = features.to(embeddings.dtype)
        return embeddings

    def hidden(
        self, embeddings: Tensor, positions: Tensor, visible: Tensor | None, cache: Any
    ) -> Tensor:
        mask = None
        if visible is not None:
            # Added once for all layers. A boolean mask would be turned into this by sdpa in every
            # layer, and by eager attention silently into 0 and 1.
            blocked = torch.finfo(embeddings.dtype).min
            mask = torch.zeros_like(visible, dtype=embeddings.dtype).masked_fill_(~visible, blocked)
            mask = mask[:, None]
        return self.hf.model.language_model(
            inputs_embeds=embeddings,
            position_ids=self._position_ids(positions),
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state

    def head(self, hidden: Tensor, tokens: Tensor | None = None) -> Tensor:
        head = self.hf.lm_head
        if tokens is None:
            return _as_logits(head(hidden))
        if type(head) is torch.nn.Linear and head.bias is None:
            return _as_logits(torch.nn.functional.linear(hidden, head.weight[tokens]))
        return _as_logits(head(hidden))[..., tokens]  # quantised, adapted: all or nothing

    def new_cache(self, prefixes: Sequence[Prefix] = (), room: int = 0) -> Any:
        from sci_core.cache import RoomyCache, RoomyLayer

        if prefixes:
            return RoomyCache.of(prefixes, room)
        layers = self.hf.config.get_text_config().num_hidden_layers
        return RoomyCache(layers=[RoomyLayer() for _ in range(layers)])

    def forward(self, ids: Sequence[int], picture: Picture) -> Tensor:
        ids = torch.tensor([list(ids)], device=self.device)
        output = self.hf(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            use_cache=False,
            logits_to_keep=1,
            **self._extra_inputs(ids),
            **{name: value.to(self.device) for name, value in picture.inputs.items()},
        )
        return _as_logits(output.logits[0, -1])

    @staticmethod
    @abstractmethod
    def _image_tokens(config: Any, inputs: Mapping[str, Tensor]) -> int:
        """Placeholders that a picture's inputs stand for."""

    @abstractmethod
    def _position_ids(self, positions: Tensor) -> Tensor:
        """Positions `[axes, rows, tokens]` in the shape that the family's model takes."""

    @abstractmethod
    def _extra_inputs(self, ids: Tensor) -> dict[str, Tensor]:
        """What a plain pass of the family needs besides ids and picture."""


class Qwen2VL(_Checkpoint):
    """Qwen2-VL: patches of any picture size in one sequence, rotary positions on three axes."""

    family = "qwen2_vl"

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        self._starts: dict[tuple[int, ...], Tensor] = {}

    def positions(self, ids: Sequence[int], picture: Picture) -> Tensor:
        grid = picture.inputs["image_grid_thw"]
        start = self._positions_of_start(ids.index(self.image_token_id), picture.tokens, grid)
        text = torch.arange(1, len(ids) - start.shape[1] + 1, device=self.device)
        return torch.cat([start, start[:, -1:] + text], dim=1)[:, : len(ids)]

    def _positions_of_start(self, before: int, tokens: int, grid: Tensor) -> Tensor:
        """Positions of `before` text tokens, the picture, and one text token: the rest counts on.

        The model's own computation, kept: it takes as long as a layer, and few starts are distinct.
        """
        key = (before, *grid[0].tolist())
        if len(self._starts) > 255:
            self._starts.clear()
        if key not in self._starts:
            ids = torch.tensor([[self.image_token_id]], device=self.device)
            ids = torch.nn.functional.pad(ids.expand(1, tokens), (before, 1), value=-1)
            positions, _ = self.hf.model.get_rope_index(
                ids, image_grid_thw=grid.to(self.device), **self._extra_inputs(ids)
            )
            self._starts[key] = positions[:, 0]
        return self._starts[key].to(self.device)

    def encode(self, pictures: Sequence[Picture]) -> list[Tensor]:
        output = self.hf.model.get_image_features(
            torch.cat([picture.inputs["pixel_values"] for picture in pictures]).to(self.device),
            torch.cat([picture.inputs["image_grid_thw"] for picture in pictures]).to(self.device),
        )
        return list(output.pooler_output)

    @staticmethod
    def _image_tokens(config: Any, inputs: Mapping[str, Tensor]) -> int:
        merged = config.vision_config.spatial_merge_size**2
        return int(inputs["image_grid_thw"].prod()) // merged

    def _position_ids(self, positions: Tensor) -> Tensor:
        return positions

    def _extra_inputs(self, ids: Tensor) -> dict[str, Tensor]:
        return {"mm_token_type_ids": (ids == self.image_token_id).int()}


class LlavaNext(_Checkpoint):
    """LLaVA-NeXT: a thumbnail and tiles of the picture, plain rotary positions."""

    family = "llava_next"

    def positions(self, ids: Sequence[int], picture: Picture) -> Tensor:
        return torch.arange(len(ids), device=self.device)[None]

    def encode(self, pictures: Sequence[Picture]) -> list[Tensor]:
        output = self.hf.model.get_image_features(
            torch.cat([picture.inputs["pixel_values"][0] for picture in pictures]).to(self.device),
            torch.cat([picture.inputs["image_sizes"] for picture in pictures]).to(self.device),
        )
        return list(output.pooler_output)

    @staticmethod
    def _image_tokens(config: Any, inputs: Mapping[str, Tensor]) -> int:
        # The model's own unpadding, on a tensor of no channels, so that the two cannot disagree.
        from transformers.models.llava_next.modeling_llava_next import (
            get_anyres_image_grid_shape,
            unpad_image,
        )

        size = inputs["image_sizes"][0].tolist()
        side = config.vision_config.image_size // config.vision_config.patch_size
        rows, columns = get_anyres_image_grid_shape(
            size, config.image_grid_pinpoints, config.vision_config.image_size
        )
        _, height, width = unpad_image(torch.empty(0, rows * side, columns * side), size).shape
        return side * side + height * (width + 1)

    def _position_ids(self, positions: Tensor) -> Tensor:
        return positions[0]

    def _extra_inputs(self, ids: Tensor) -> dict[str, Tensor]:
        return {}


FAMILIES: dict[str, type[_Checkpoint]] = {
    adapter.family: adapter for adapter in (Qwen2VL, LlavaNext)
}


def load_model(
    name_or_path: str | Path,
    *,
    dtype: str = "float32",
    device: str | torch.device | None = None,
    attn_implementation: str = "sdpa",
    trust_remote_code: bool = False,
    revision: str | None = None,
) -> VisionLanguageModel:
    """Load a checkpoint of a supported family from a local folder or by its hub id.

    Args:
        name_or_path: a folder in the Hugging Face layout, or a hub id.
        dtype: "float32", "float64", "bfloat16" or "float16".
        device: where to put the model; a GPU if there is one, otherwise the CPU.
        attn_implementation: "sdpa" or "eager".
        trust_remote_code: run code that ships with the checkpoint. Never needed by the
            supported families.
        revision: branch, tag or commit of a hub id.

    Raises:
        FileNotFoundError: no such folder or hub id, or a part of the checkpoint is missing.
        ValueError: an unknown family, dtype or attention implementation, or weights that do not
            fit the configuration.
    """
    _check_attention(attn_implementation)
    if dtype not in ("float32", "float64", "bfloat16", "float16"):
        raise ValueError(
            f"Unknown dtype {dtype!r}; use 'float32', 'float64', 'bfloat16' or 'float16'."
        )
    name = str(name_or_path)
    local = Path(name).is_dir()
    source = {"trust_remote_code": trust_remote_code, "revision": revision}

    import transformers

    _check_family(name, _model_type(name, **source))
    if local and not list(Path(name).glob("*.safetensors")):
        raise FileNotFoundError(
            f"{name} holds no *.safetensors file. Weights are loaded from safetensors only, since "
            "pickled files (*.bin, *.pt, *.pth) can run code; convert them with `save_pretrained`."
        )
    tokenizer = _part(transformers.AutoTokenizer, "tokenizer.json", name, **source)
    image_processor = _part(
        transformers.AutoImageProcessor, "preprocessor_config.json", name, **source
    )
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _legacy_chat_template(name, revision)

    hf = _weights(name, local, dtype=dtype, attn_implementation=attn_implementation, **source)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    hf = hf.to(device).eval().requires_grad_(False)
    reload = partial(
        load_model,
        name,
        dtype=dtype,
        device=device,
        attn_implementation=attn_implementation,
        **source,
    )
    return adapt(hf, tokenizer, image_processor, name=name, reload=reload)


def adapt(
    hf: Any,
    tokenizer: Any,
    image_processor: Any,
    *,
    chat_template: str | None = None,
    name: str | None = None,
    reload: partial | None = None,
) -> VisionLanguageModel:
    """The adapter around a transformers model that is in memory; it is used as it is.

    Args:
        chat_template: instead of the tokenizer's own.
        name: what to call it; by default the name it was loaded by.
        reload: makes the same adapter in another process.

    Raises:
        ValueError: an unknown family, or attention that the masks of the engine do not fit.
    """
    name = name or getattr(hf.config, "name_or_path", "") or type(hf).__name__
    _check_family(name, hf.config.model_type)
    attention = hf.config.get_text_config()._attn_implementation
    _check_attention(attention)
    if getattr(hf.config.get_text_config(), "sliding_window", None):
        raise ValueError(
            f"{name} attends through a sliding window, which the engine's masks do not describe; "
            "use a checkpoint with full attention."
        )
    return FAMILIES[hf.config.model_type](
        name, hf, tokenizer, image_processor, chat_template, reload
    )


def _as_logits(logits: Tensor) -> Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()


def _check_attention(name: str) -> None:
    if name not in ATTENTION:
        raise ValueError(
            f"Attention {name!r} cannot take the 4-D masks of the engine; use one of "
            f"{', '.join(ATTENTION)}."
        )


def _check_family(name: str, family: str | None) -> None:
    if family not in FAMILIES:
        raise ValueError(
            f"{name} is of the family {family!r}; supported are {', '.join(sorted(FAMILIES))}."
        )


def _model_type(name: str, **source: Any) -> str | None:
    """The family that the checkpoint's config.json names."""
    from transformers import PreTrainedConfig

    if Path(name).is_dir() and not (Path(name) / "config.json").is_file():
        raise FileNotFoundError(
            f"The folder {name} is no checkpoint: it holds no config.json. Expected a folder "
            "written by `save_pretrained`, or a hub id."
        )
    try:
        config, _ = PreTrainedConfig.get_config_dict(name, **source)
    except OSError as error:
        raise FileNotFoundError(
            f"No model {name!r}: it is neither a local folder nor a hub id that can be reached "
            f"({_first_line(error)}). Check the name; a checkpoint that is to be downloaded needs "
            "HF_HUB_OFFLINE=0."
        ) from error
    return config.get("model_type")


def _part(auto: Any, file: str, name: str, **source: Any) -> Any:
    """The tokenizer or image processor that `file` beside config.json describes."""
    try:
        return auto.from_pretrained(name, **source)
    except (OSError, ValueError, TypeError) as error:
        raise FileNotFoundError(
            f"{name} has no {file} that {auto.__name__} can load ({_first_line(error)})."
        ) from error


def _weights(name: str, local: bool, **settings: Any) -> Any:
    import transformers

    bars = transformers.utils.logging
    bars_were_on = bars.is_progress_bar_enabled()
    if local:
        bars.disable_progress_bar()  # a second's work; a download keeps its bar
    try:
        hf, report = transformers.AutoModelForImageTextToText.from_pretrained(
            name, use_safetensors=True, output_loading_info=True, **settings
        )
    except (OSError, SafetensorError) as error:
        raise FileNotFoundError(
            f"The weights of {name} cannot be read as safetensors ({_first_line(error)}). Fetch or "
            "copy the checkpoint again."
        ) from error
    finally:
        if bars_were_on:
            bars.enable_progress_bar()
    # transformers only warns, and fills the gap with random numbers
    wrong = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if wrong:
        raise ValueError(
            f"The weights of {name} do not fit its config.json: {len(wrong)} tensors are missing "
            f"or of another shape, such as {wrong[0]}."
        )
    return hf


def _legacy_chat_template(name: str, revision: str | None) -> str:
    """The template of older checkpoints, which keep it in chat_template.json."""
    from transformers.utils import cached_file

    path = cached_file(
        name,
        "chat_template.json",
        revision=revision,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if path is None:
        raise FileNotFoundError(
            f"{name} has no chat template; expected chat_template.jinja, chat_template.json or an "
            "entry in tokenizer_config.json."
        )
    return json.loads(Path(path).read_text(encoding="utf-8"))["chat_template"]


def _content_hash(folder: Path) -> str:
    """SHA-256 over name and content of every file that takes part in an answer."""
    digest = hashlib.sha256()
    patterns = (
        "*config.json",
        "*.safetensors",
        "tokenizer*",
        "chat_template*",
        "vocab*",
        "merges*",
    )
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        digest.update(path.name.encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
