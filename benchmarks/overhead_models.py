"""Models with random weights for the benchmark of overhead, at pocket size, in full and in small.

Nothing is fetched: configurations are written here, weights are drawn on the device, and the
tokenizers are the pocket models' own, whose marks of turns and pictures are the families'.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from PIL import Image

from sci_book.papers.sci.overhead import MadeUpQuestions
from sci_core.families.models import VisionLanguageModel, adapt
from sci_core.families.processors import Picture

CHECKPOINTS = Path(__file__).resolve().parents[1] / "checkpoints"
POCKET = ("pocket-qwen2vl", "pocket-llavanext")


class Parts(NamedTuple):
    """What a model is made of, but for its weights."""

    config: Any
    tokenizer: Any
    image_processor: Any


Build = Callable[[], Parts]


def pocket_qwen2vl() -> Parts:
    """The shipped checkpoint's configuration, and an image processor for larger pictures."""
    config = transformers.AutoConfig.from_pretrained(CHECKPOINTS / POCKET[0])
    image_processor = transformers.Qwen2VLImageProcessorPil(
        patch_size=16, merge_size=2, size={"shortest_edge": 32 * 32, "longest_edge": 2048 * 2048}
    )
    return Parts(config, _tokenizer(POCKET[0]), image_processor)


def pocket_llavanext() -> Parts:
    """The shipped checkpoint's configuration, with tiles of 100 patches for larger pictures."""
    config = transformers.AutoConfig.from_pretrained(CHECKPOINTS / POCKET[1])
    config.vision_config.image_size = 160
    config.image_grid_pinpoints = [[320, 160], [320, 960]]
    return Parts(config, _tokenizer(POCKET[1]), _tiles(config))


def qwen2_vl_7b() -> Parts:
    """The published configuration of Qwen2-VL-7B, as far as it matters to the time."""
    return _qwen2_vl(
        text={
            "vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944,
            "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
        },
        mrope_section=[16, 24, 24],
        vision={"depth": 32, "embed_dim": 1280, "num_heads": 16},
    )  # fmt: skip


def qwen2_vl_hundredth() -> Parts:
    """Qwen2-VL with less than a hundredth of the weights."""
    return _qwen2_vl(
        text={
            "vocab_size": 1536, "hidden_size": 224, "intermediate_size": 1184,
            "num_hidden_layers": 2, "num_attention_heads": 14, "num_key_value_heads": 2,
        },
        mrope_section=[2, 3, 3],
        vision={"depth": 2, "embed_dim": 128, "num_heads": 4},
    )  # fmt: skip


def llava_next_8b() -> Parts:
    """The published configuration of LLaVA-NeXT on Llama 3 8B, as far as it matters to the time."""
    return _llava_next(
        text={
            "vocab_size": 128320, "hidden_size": 4096, "intermediate_size": 14336,
            "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        },
        vision={
            "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
            "num_attention_heads": 16, "projection_dim": 768, "image_size": 336,
        },
    )  # fmt: skip


def llava_next_hundredth() -> Parts:
    """LLaVA-NeXT with less than a hundredth of the weights, and tiles of four patches."""
    return _llava_next(
        text={
            "vocab_size": 1536, "hidden_size": 256, "intermediate_size": 896,
            "num_hidden_layers": 2, "num_attention_heads": 16, "num_key_value_heads": 4,
        },
        vision={
            "hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2,
            "num_attention_heads": 4, "projection_dim": 64, "image_size": 28,
        },
    )  # fmt: skip


def _qwen2_vl(text: dict, mrope_section: list[int], vision: dict) -> Parts:
    tokenizer = _tokenizer(POCKET[0])
    token = tokenizer.convert_tokens_to_ids
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": mrope_section}
    config = transformers.Qwen2VLConfig(
        text_config={**text, "rope_parameters": rope, **_ends(tokenizer)},
        vision_config={**vision, "hidden_size": text["hidden_size"]},
        image_token_id=token("<|image_pad|>"),
        video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"),
        vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=False,
    )
    return Parts(config, tokenizer, transformers.Qwen2VLImageProcessorPil())


def _llava_next(text: dict, vision: dict) -> Parts:
    tokenizer = _tokenizer(POCKET[1])
    side = vision["image_size"]
    config = transformers.LlavaNextConfig(
        text_config=transformers.LlamaConfig(
            **text, max_position_embeddings=8192, **_ends(tokenizer)
        ),
        vision_config=transformers.CLIPVisionConfig(**vision, patch_size=14),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        # The published ones, in tiles: 1 x 2, 2 x 1, 2 x 2, 3 x 1, 1 x 3.
        image_grid_pinpoints=[
            [side * rows, side * columns]
            for rows, columns in ((1, 2), (2, 1), (2, 2), (3, 1), (1, 3))
        ],
        tie_word_embeddings=False,
    )
    return Parts(config, tokenizer, _tiles(config))


def _tokenizer(name: str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(CHECKPOINTS / name)


def _ends(tokenizer: Any) -> dict[str, int | None]:
    names = ("eos_token_id", "pad_token_id", "bos_token_id")
    return {name: getattr(tokenizer, name) for name in names}


def _tiles(config: Any) -> Any:
    side = config.vision_config.image_size
    return transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": side},
        crop_size={"height": side, "width": side},
        image_grid_pinpoints=config.image_grid_pinpoints,
    )


def random_model(build: Build, device: str, dtype: torch.dtype) -> VisionLanguageModel:
    """A model of this configuration, with random weights drawn on the device."""
    torch.manual_seed(0)
    config, tokenizer, image_processor = build()
    with torch.device(device):
        hf = transformers.AutoModelForImageTextToText.from_config(
            config, dtype=dtype, attn_implementation="sdpa"
        )
    return adapt(hf.eval().requires_grad_(False), tokenizer, image_processor)


def made_up(model: VisionLanguageModel, size: tuple[int, int]) -> MadeUpQuestions:
    """Questions about pictures of this width and height, on the model's device."""
    return MadeUpQuestions(model, random_picture(model, size, seed=0))


def random_picture(model: VisionLanguageModel, size: tuple[int, int], seed: int) -> Picture:
    """A picture of random pixels, as the model takes it, on its device."""
    picture = prepared(model, size, seed)
    inputs = {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in picture.inputs.items()
    }
    return Picture(inputs, picture.tokens)


def prepared(model: VisionLanguageModel, size: tuple[int, int], seed: int = 0) -> Picture:
    """A picture of random pixels as the model's processor leaves it."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    return model.processor.prepare(Image.fromarray(pixels))


@dataclass(frozen=True)
class Weights:
    """How large a model is, from which its work is counted.

    language    weights of the layers of the language model, without embeddings and head
    attention   multiplications of a token with another in all layers, of language and vision
    slot        numbers that one token leaves in the cache
    """

    language: int
    head: int
    vision: int
    layers: tuple[int, int]
    attention: tuple[int, int]
    slot: int


def weights(model: VisionLanguageModel) -> Weights:
    """Of a model which may be on the device "meta"."""
    text, vision = model.hf.config.get_text_config(), model.hf.config.vision_config
    embedding = model.hf.get_input_embeddings().weight.numel()
    language = sum(each.numel() for each in model.hf.get_decoder().parameters()) - embedding
    head = model.hf.lm_head.weight.numel()
    layers = (text.num_hidden_layers, getattr(vision, "depth", 0) or vision.num_hidden_layers)
    widths = (text.hidden_size, getattr(vision, "embed_dim", 0) or vision.hidden_size)
    heads = text.num_key_value_heads * (text.hidden_size // text.num_attention_heads)
    return Weights(
        language=language,
        head=head,
        vision=model.parameters - language - head - embedding,
        layers=layers,
        attention=(2 * layers[0] * widths[0], 2 * layers[1] * widths[1]),
        slot=2 * layers[0] * heads,
    )


def size_of(pixels: str) -> tuple[int, int]:
    """Width and height of "560x420"."""
    width, height = map(int, pixels.split("x"))
    return width, height
