"""The two pocket architectures: the real families' classes, in two sizes.

Pictures are 96 x 96. Qwen2-VL sees them as 6 x 6 patches merged 2 x 2, one token a grid cell (9);
LLaVA-NeXT as one thumbnail and one tile of 6 x 6 patches each, with its newline tokens (78).
"""

from __future__ import annotations

from typing import NamedTuple

from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaNextConfig,
    LlavaNextForConditionalGeneration,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
)
from transformers.models.llava_next.image_processing_pil_llava_next import (
    LlavaNextImageProcessorPil,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from sci_book.pocket.draw import SIZE


class Size(NamedTuple):
    """Width and depth of a pocket model; heads are 32 wide in every size."""

    width: int
    layers: int
    vision_layers: int

    @property
    def heads(self) -> int:
        return self.width // 32


SIZES = {"standard": Size(128, 4, 3), "small": Size(96, 4, 3)}
"""About 2 and 1.2 million parameters; the small one as deep, since with three layers it learned no
letters."""


def _text_numbers(tokenizer: PreTrainedTokenizerBase, size: Size) -> dict:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": size.width,
        "intermediate_size": 3 * size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.heads,
        "max_position_embeddings": 4096,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "tie_word_embeddings": True,
        # Outputs of unit size. The usual 0.02 is meant for models 20 times as wide: here attention
        # would start almost flat.
        "initializer_range": size.width**-0.5,
    }


def _qwen2_vl(tokenizer: PreTrainedTokenizerBase, size: Size):
    token = tokenizer.convert_tokens_to_ids
    config = Qwen2VLConfig(
        text_config={
            **_text_numbers(tokenizer, size),
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 6, 6],
            },
        },
        vision_config={
            "depth": size.vision_layers, "embed_dim": size.width, "hidden_size": size.width,
            "num_heads": size.heads,
            "mlp_ratio": 3, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2,
        },
        image_token_id=token("<|image_pad|>"),
        video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"),
        vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=True,
    )  # fmt: skip
    processor = Qwen2VLImageProcessorPil(
        patch_size=16,
        merge_size=2,
        temporal_patch_size=2,
        size={"shortest_edge": 32 * 32, "longest_edge": 4 * SIZE * SIZE},
    )
    return Qwen2VLForConditionalGeneration(config), processor


def _llava_next(tokenizer: PreTrainedTokenizerBase, size: Size):
    config = LlavaNextConfig(
        text_config=LlamaConfig(**_text_numbers(tokenizer, size)),
        vision_config=CLIPVisionConfig(
            hidden_size=size.width,
            intermediate_size=3 * size.width,
            projection_dim=size.width,
            # The last layer's output is not the one used.
            num_hidden_layers=size.vision_layers + 1,
            num_attention_heads=size.heads,
            image_size=SIZE,
            patch_size=SIZE // 6,
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=[[SIZE, SIZE], [SIZE, 2 * SIZE], [2 * SIZE, SIZE]],
        tie_word_embeddings=True,
    )
    processor = LlavaNextImageProcessorPil(
        size={"shortest_edge": SIZE},
        crop_size={"height": SIZE, "width": SIZE},
        image_grid_pinpoints=config.image_grid_pinpoints,
    )
    return LlavaNextForConditionalGeneration(config), processor


def processor_config(config: PreTrainedConfig) -> dict[str, str | int]:
    """What `AutoProcessor` must know beside the image processor, for processor_config.json."""
    if config.model_type != "llava_next":
        return {}
    return {
        "processor_class": "LlavaNextProcessor",
        "patch_size": config.vision_config.patch_size,
        "vision_feature_select_strategy": config.vision_feature_select_strategy,
        "num_additional_image_tokens": 1,  # the tower's class token
    }


def build(arch: str, tokenizer: PreTrainedTokenizerBase, size: str = "standard"):
    """An untrained pocket model and its image processor, weights from torch's current seed."""
    builders = {"qwen2_vl": _qwen2_vl, "llava_next": _llava_next}
    for what, name, known in (("architecture", arch, builders), ("size", size, SIZES)):
        if name not in known:
            raise ValueError(f"unknown pocket {what} {name!r}: expected one of {', '.join(known)}")
    model, processor = builders[arch](tokenizer, SIZES[size])
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.bos_token_id = tokenizer.bos_token_id
    model.generation_config.do_sample = False
    return model, processor
