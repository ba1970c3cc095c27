"""What the tiny checkpoints of `tiny` are made of, family by family."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import transformers


@dataclass(frozen=True)
class Kind:
    """What a tiny checkpoint is made of: special tokens, chat template, architecture, pixels."""

    specials: tuple[str, ...]
    roles: dict[str, str]
    template: str
    make: Callable[[transformers.PreTrainedTokenizerFast], Any]
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


def _mrope(**more: Any) -> dict:
    return {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 1e4,
            "mrope_section": [2, 1, 1],
            **more,
        }
    }


def _qwen_ids(fast: transformers.PreTrainedTokenizerFast) -> dict:
    ids = fast.convert_tokens_to_ids
    return {
        "image_token_id": ids("<|image_pad|>"),
        "video_token_id": ids("<|video_pad|>"),
        "vision_start_token_id": ids("<|vision_start|>"),
        "vision_end_token_id": ids("<|vision_end|>"),
        **role_ids(fast),
    }


def _qwen2_vl(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.Qwen2VLForConditionalGeneration:
    vision = {
        "depth": 2,
        "embed_dim": 32,
        "hidden_size": 32,
        "num_heads": 2,
        "mlp_ratio": 2,
        "patch_size": 8,
        "initializer_range": 0.2,
    }
    config = transformers.Qwen2VLConfig(
        text_config=text_config(fast) | _mrope(), vision_config=vision, **_qwen_ids(fast)
    )
    return transformers.Qwen2VLForConditionalGeneration(config)


def _qwen2_5_vl(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.Qwen2_5_VLForConditionalGeneration:
    vision = {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 48,
        "out_hidden_size": 32,
        "num_heads": 2,
        "patch_size": 8,
        "window_size": 32,  # two by two image tokens
        "fullatt_block_indexes": [1],
        "initializer_range": 0.2,
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=text_config(fast) | _mrope(), vision_config=vision, **_qwen_ids(fast)
    )
    return transformers.Qwen2_5_VLForConditionalGeneration(config)


def _qwen3_vl(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.Qwen3VLForConditionalGeneration:
    vision = {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 48,
        "out_hidden_size": 32,
        "num_heads": 2,
        "patch_size": 8,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [0, 1],
        "initializer_range": 0.2,
    }
    text = text_config(fast) | _mrope(mrope_interleaved=True)
    text |= {"num_hidden_layers": 3, "head_dim": 8}
    config = transformers.Qwen3VLConfig(text_config=text, vision_config=vision, **_qwen_ids(fast))
    return transformers.Qwen3VLForConditionalGeneration(config)


def _llava(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.LlavaForConditionalGeneration:
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**vision_part()),
        text_config=transformers.LlamaConfig(**text_config(fast)),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.LlavaForConditionalGeneration(config)


def _llava_siglip(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.LlavaForConditionalGeneration:
    """As llava-interleave is: a tower without a class token, all of whose features are taken."""
    config = transformers.LlavaConfig(
        vision_config=transformers.SiglipVisionConfig(**vision_part(vision_use_head=False)),
        text_config=transformers.Qwen2Config(**text_config(fast)),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.LlavaForConditionalGeneration(config)


def _llava_next(
    fast: transformers.PreTrainedTokenizerFast, text: type = transformers.LlamaConfig, **more: Any
) -> transformers.LlavaNextForConditionalGeneration:
    config = transformers.LlavaNextConfig(
        vision_config=transformers.CLIPVisionConfig(**vision_part()),
        text_config=text(**text_config(fast), **more),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=PINPOINTS,
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.LlavaNextForConditionalGeneration(config)


def _llava_next_mistral(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.LlavaNextForConditionalGeneration:
    return _llava_next(fast, transformers.MistralConfig, sliding_window=None)


def _llava_next_qwen2(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.LlavaNextForConditionalGeneration:
    return _llava_next(fast, transformers.Qwen2Config)


def _llava_onevision(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.LlavaOnevisionForConditionalGeneration:
    config = transformers.LlavaOnevisionConfig(
        vision_config=transformers.SiglipVisionConfig(**vision_part(vision_use_head=False)),
        text_config=transformers.Qwen2Config(**text_config(fast)),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        video_token_index=fast.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[*PINPOINTS, [96, 96]],
        vision_aspect_ratio="anyres_max_2",  # so that several tiles are shrunk
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.LlavaOnevisionForConditionalGeneration(config)


def _idefics3(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.Idefics3ForConditionalGeneration:
    config = transformers.Idefics3Config(
        vision_config=vision_part(),
        text_config=transformers.LlamaConfig(**text_config(fast)),
        image_token_id=fast.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.Idefics3ForConditionalGeneration(config)


def _smolvlm(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.SmolVLMForConditionalGeneration:
    config = transformers.SmolVLMConfig(
        vision_config=vision_part(),
        text_config=transformers.LlamaConfig(**text_config(fast)),
        image_token_id=fast.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.SmolVLMForConditionalGeneration(config)


def _internvl(
    fast: transformers.PreTrainedTokenizerFast,
) -> transformers.InternVLForConditionalGeneration:
    config = transformers.InternVLConfig(
        vision_config=vision_part(image_size=[32, 32], patch_size=[8, 8]),
        text_config=transformers.Qwen2Config(**text_config(fast)),
        image_token_id=fast.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        initializer_range=0.2,
        **role_ids(fast),
    )
    return transformers.InternVLForConditionalGeneration(config)


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
KINDS = {
    "qwen2_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY, SYSTEM),
        _qwen2_vl,
        QWEN_PIXELS,
    ),
    "qwen2_5_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY, SYSTEM),
        _qwen2_5_vl,
        QWEN_PIXELS,
    ),
    "qwen3_vl": Kind(
        QWEN,
        CHAT_ROLES,
        _template(TURN, QWEN_IMAGE, "<|im_end|>\n", REPLY),
        _qwen3_vl,
        QWEN_PIXELS | {"image_processor_type": "Qwen2VLImageProcessorFast"},  # as it is published
    ),
    "llava": Kind(
        LLAMA,
        LLAMA_ROLES,
        VICUNA_TEMPLATE,
        _llava,
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
        _llava,
        {
            "image_processor_type": "LlavaImageProcessor",
            "do_pad": True,
            "size": {"shortest_edge": 32},
            "crop_size": {"height": 32, "width": 32},
        },
    ),
    "llava_siglip": Kind(
        (*CHAT, "<image>"),
        CHAT_ROLES,
        _template(TURN, "<image>\n", "<|im_end|>\n", REPLY),
        _llava_siglip,
        {"image_processor_type": "SiglipImageProcessor", "size": {"height": 32, "width": 32}},
    ),
    "llava_next": Kind(LLAMA, LLAMA_ROLES, VICUNA_TEMPLATE, _llava_next, NEXT_PIXELS),
    "llava_next_mistral": Kind(
        LLAMA,
        LLAMA_ROLES,
        _template("[INST] ", "<image>\n", " [/INST]", ""),
        _llava_next_mistral,
        NEXT_PIXELS,
    ),
    "llava_next_qwen2": Kind(
        (*CHAT, "<image>"),
        CHAT_ROLES,
        _template(TURN, "<image>\n", "<|im_end|>\n", REPLY, SYSTEM),
        _llava_next_qwen2,
        NEXT_PIXELS,
    ),
    "llava_onevision": Kind(
        (*CHAT, "<image>", "<video>"),
        CHAT_ROLES,
        _template("<|im_start|>user ", "<image>\n", "<|im_end|>", REPLY),
        _llava_onevision,
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
        _idefics3,
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
        _smolvlm,
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
        _internvl,
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
