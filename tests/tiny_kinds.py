"""What the tiny checkpoints of `tiny` are made of, family by family."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import transformers

Make = Callable[[transformers.PreTrainedTokenizerFast], transformers.PreTrainedModel]


@dataclass(frozen=True)
class Kind:
    """What a tiny checkpoint is made of: special tokens, chat template, architecture, pixels."""

    specials: tuple[str, ...]
    roles: dict[str, str]
    template: str
    make: Make
    pixels: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)


def text_config(fast: transformers.PreTrainedTokenizerFast) -> dict:
    return {
        "vocab_size": len(fast),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "initializer_range": 0.2,  # wide, so that logits are far apart and depend on the picture
        **role_ids(fast),
    }


def role_ids(fast: transformers.PreTrainedTokenizerFast) -> dict:
    return {
        "bos_token_id": fast.bos_token_id,
        "eos_token_id": fast.eos_token_id,
        "pad_token_id": fast.pad_token_id,
    }


def vision_part(**more: Any) -> dict:
    return {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 2,
        "num_hidden_layers": 3,
        "image_size": 32,
        "patch_size": 8,
        "initializer_range": 0.2,
    } | more


def _qwen(name: str, *, rope: dict | None = None, text: dict | None = None, **vision: Any) -> Make:
    """What makes a model with Qwen's positions of three parts and its own tower."""

    def make(fast: transformers.PreTrainedTokenizerFast) -> transformers.PreTrainedModel:
        parts = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
        ids = {
            f"{part}_token_id": fast.convert_tokens_to_ids(f"<|{token}|>")
            for part, token in (
                ("image", "image_pad"), ("video", "video_pad"),
                ("vision_start", "vision_start"), ("vision_end", "vision_end"),
            )
        }  # fmt: skip
        config = getattr(transformers, f"{name}Config")(
            text_config=text_config(fast)
            | {"rope_parameters": parts | (rope or {})}
            | (text or {}),
            vision_config={"num_heads": 2, "patch_size": 8, "initializer_range": 0.2} | vision,
            **ids,
            **role_ids(fast),
        )
        return getattr(transformers, f"{name}ForConditionalGeneration")(config)

    return make


def _model(
    name: str,
    tower: str = "",
    text: str = "Llama",
    vision: dict | None = None,
    language: dict | None = None,
    **fields: Any,
) -> Make:
    """What makes a language model behind a tower; a field that is a token becomes its id."""

    def make(fast: transformers.PreTrainedTokenizerFast) -> transformers.PreTrainedModel:
        part = vision_part(**(vision or {}))
        ids = {
            key: fast.convert_tokens_to_ids(field) if str(field).startswith("<") else field
            for key, field in fields.items()
        }
        config = getattr(transformers, f"{name}Config")(
            vision_config=getattr(transformers, f"{tower}VisionConfig")(**part) if tower else part,
            text_config=getattr(transformers, f"{text}Config")(
                **text_config(fast), **(language or {})
            ),
            initializer_range=0.2,
            **ids,
            **role_ids(fast),
        )
        return getattr(transformers, f"{name}ForConditionalGeneration")(config)

    return make


def _template(turn: str, image: str, end: str, reply: str, before: str = "") -> str:
    """A chat template as the real ones are made: messages, and the parts of each."""
    return (
        before + "{% for message in messages %}" + turn + "{% for part in message.content %}"
        "{% if part.type == 'image' %}" + image + "{% else %}{{ part.text }}{% endif %}"
        "{% endfor %}" + end + "{% endfor %}"
        "{% if add_generation_prompt %}" + reply + "{% endif %}"
    )


CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_ROLES = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
QWEN = (*CHAT, "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
SYSTEM = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
TURN = "<|im_start|>{{ message.role }}\n"
REPLY = "<|im_start|>assistant\n"
LLAMA = ("<s>", "</s>", "<pad>", "<image>")
LLAMA_ROLES = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
VICUNA_TEMPLATE = _template("USER: ", "<image>\n", " ", "ASSISTANT:")
AROUND = ("<image>", "<fake_token_around_image>", "<end_of_utterance>")
PLACES = tuple(f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5))
PADS = ("<|image_pad|>", "<|video_pad|>", "<image>", "<video>", "<IMG_CONTEXT>")
PINPOINTS = [[32, 64], [64, 32], [64, 64], [96, 32], [32, 96]]
QWEN_PIXELS = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "patch_size": 8,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "size": {"shortest_edge": 16 * 16 * 4, "longest_edge": 16 * 16 * 24},
}
NEXT_PIXELS = {
    "image_processor_type": "LlavaNextImageProcessor",
    "size": {"shortest_edge": 32},
    "crop_size": {"height": 32, "width": 32},
    "image_grid_pinpoints": PINPOINTS,
}
TOWER = {"depth": 3, "hidden_size": 32, "intermediate_size": 48, "out_hidden_size": 32}
HEADLESS = {"vision_use_head": False}
LLAVA = _model("Llava", "CLIP", image_token_index="<image>")
ANYRES = {"image_token_index": "<image>", "image_grid_pinpoints": PINPOINTS}
KINDS = {
    "qwen2_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY, SYSTEM),
        _qwen("Qwen2VL", depth=2, embed_dim=32, hidden_size=32, mlp_ratio=2),
        QWEN_PIXELS,
    ),
    "qwen2_5_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY, SYSTEM),
        _qwen(  # windows of two by two image tokens
            "Qwen2_5_VL", **TOWER, window_size=32, fullatt_block_indexes=[1]
        ),
        QWEN_PIXELS,
    ),
    "qwen3_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY),
        _qwen(
            "Qwen3VL",
            rope={"mrope_interleaved": True},
            text={"num_hidden_layers": 3, "head_dim": 8},
            **TOWER,
            num_position_embeddings=16,
            deepstack_visual_indexes=[0, 1],
        ),
        QWEN_PIXELS | {"image_processor_type": "Qwen2VLImageProcessorFast"},  # as it is published
    ),
    "llava": Kind(
        LLAMA,
        LLAMA_ROLES,
        VICUNA_TEMPLATE,
        LLAVA,
        {
            "image_processor_type": "CLIPImageProcessor",
            "size": {"shortest_edge": 32},
            "crop_size": {"height": 32, "width": 32},
        },
    ),
    "llava_padded": Kind(  # to a square with the mean colour, as LLaVA-1.5's own code does
        LLAMA,
        LLAMA_ROLES,
        VICUNA_TEMPLATE,
        LLAVA,
        {
            "image_processor_type": "LlavaImageProcessor",
            "do_pad": True,
            "size": {"shortest_edge": 32},
            "crop_size": {"height": 32, "width": 32},
        },
    ),
    "llava_siglip": Kind(  # as llava-interleave is: no class token, and all features are taken
        (*CHAT, "<image>"),
        CHAT_ROLES,
        _template(TURN, "<image>\n", "<|im_end|>\n", REPLY),
        _model(
            "Llava",
            "Siglip",
            "Qwen2",
            HEADLESS,
            image_token_index="<image>",
            vision_feature_layer=-1,
            vision_feature_select_strategy="full",
        ),
        {"image_processor_type": "SiglipImageProcessor", "size": {"height": 32, "width": 32}},
    ),
    "llava_next": Kind(
        LLAMA, LLAMA_ROLES, VICUNA_TEMPLATE, _model("LlavaNext", "CLIP", **ANYRES), NEXT_PIXELS
    ),
    "llava_next_mistral": Kind(
        LLAMA,
        LLAMA_ROLES,
        _template("[INST] ", "<image>\n", " [/INST]", ""),
        _model("LlavaNext", "CLIP", "Mistral", language={"sliding_window": None}, **ANYRES),
        NEXT_PIXELS,
    ),
    "llava_next_qwen2": Kind(
        (*CHAT, "<image>"),
        CHAT_ROLES,
        _template(TURN, "<image>\n", "<|im_end|>\n", REPLY, SYSTEM),
        _model("LlavaNext", "CLIP", "Qwen2", **ANYRES),
        NEXT_PIXELS,
    ),
    "llava_onevision": Kind(
        (*CHAT, "<image>", "<video>"),
        CHAT_ROLES,
        _template("<|im_start|>user ", "<image>\n", "<|im_end|>", REPLY),
        _model(  # several tiles are shrunk
            "LlavaOnevision",
            "Siglip",
            "Qwen2",
            HEADLESS,
            image_token_index="<image>",
            video_token_index="<video>",
            image_grid_pinpoints=[*PINPOINTS, [96, 96]],
            vision_aspect_ratio="anyres_max_2",
        ),
        {
            "image_processor_type": "LlavaOnevisionImageProcessor",
            "size": {"height": 32, "width": 32},
            "image_grid_pinpoints": [*PINPOINTS, [96, 96]],
        },
    ),
    "idefics3": Kind(
        ("<|begin_of_text|>", "<|end_of_text|>", "<pad>", *AROUND),  # places are plain text
        {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": "<pad>"},
        _template("User:", "<image>", "<end_of_utterance>\n", "Assistant:", "<|begin_of_text|>"),
        _model("Idefics3", image_token_id="<image>", scale_factor=2),
        {
            "image_processor_type": "Idefics3ImageProcessor",
            "size": {"longest_edge": 96},
            "max_image_size": {"longest_edge": 32},
        },
    ),
    "smolvlm": Kind(
        ("<|endoftext|>", "<|im_start|>", *AROUND, "<global-img>", "<video>", *PLACES),
        {
            "bos_token": "<|im_start|>",
            "eos_token": "<end_of_utterance>",
            "pad_token": "<|endoftext|>",
        },
        _template("User:", "<image>", "<end_of_utterance>\n", "Assistant:", "<|im_start|>"),
        _model("SmolVLM", image_token_id="<image>", scale_factor=2),
        {
            "image_processor_type": "SmolVLMImageProcessor",
            "size": {"longest_edge": 96},
            "max_image_size": {"longest_edge": 32},
        },
    ),
    "internvl": Kind(
        (*CHAT, "<img>", "</img>", "<IMG_CONTEXT>", "<video>"),
        CHAT_ROLES,
        _template(TURN, "<IMG_CONTEXT>\n", "<|im_end|>\n", REPLY),
        _model(
            "InternVL",
            text="Qwen2",
            vision={"image_size": [32, 32], "patch_size": [8, 8]},
            image_token_id="<IMG_CONTEXT>",
            image_seq_length=4,
        ),
        {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": 32, "width": 32},
            "min_patches": 1,
            "max_patches": 6,
        },
        {
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
    ),
}
"""Every family, and one of them with each language model it comes with."""
