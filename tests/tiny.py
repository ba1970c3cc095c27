"""Tiny random checkpoints of every family, written to a folder as Hugging Face would.

They know nothing, but every part is real: architecture, safetensors, a byte-level BPE tokenizer
trained on the spot, an image processor, a chat template. Two layers, 32 wide, about 320 tokens:
a forward pass takes a millisecond, so a law can be tried on hundreds of random cases.
"""

import json
import math
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from sci_core.engine.decoding import Answer
from sci_core.families.models import VisionLanguageModel, load_model
from sci_core.logits import tc_logits
from sci_core.methods import Method
from sci_core.scoring import scores

FAMILIES = ("qwen2_vl", "llava_next")
"""The two that the deep tests use: one of each kind of positions, of pixels and of templates."""

INSTRUCTIONS = (
    "Please select the correct answer from the options above.",
    "Please answer yes or no.",
    "Please try to answer the question with short words or phrases if possible.",
    "Answer with the option's letter from the given choices directly.",
    "请直接回答选项字母。",
)
QUESTIONS = (
    "What colour is the ball?",
    "Question: Which object is beside the lamp?\nOptions:\nA. a cup\nB. a boat\nC. a tree\n",
    "Is there a dog in the kitchen?",
    "How many cups are on the table, and which of them is the largest one?",
    "图中的苹果是什么颜色?\n选项:\nA. 红色\nB. 绿色\n",
    "图中有几只猫?",
)
_FOLDER = tempfile.TemporaryDirectory(prefix="tiny-checkpoints-")
NEAR_TIE = 1e-4
"""Logits that lie nearer may change places in float32."""

IMAGE_SIZES = ((64, 64), (96, 48), (40, 90), (33, 57), (120, 70))


@dataclass(frozen=True)
class Kind:
    """What a tiny checkpoint is made of: special tokens, chat template, architecture, pixels."""

    specials: tuple[str, ...]
    roles: dict[str, str]
    template: str
    make: Callable[[transformers.PreTrainedTokenizerFast], Any]
    pixels: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)


def tokenizer(kind: str) -> transformers.PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on the prompts above, with the family's special tokens."""
    made_of = KINDS[kind]
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(made_of.specials),
        show_progress=False,
    )
    core.train_from_iterator(QUESTIONS + INSTRUCTIONS, trainer)
    more = {"extra_special_tokens": made_of.names} if made_of.names else {}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=core, **made_of.roles, **more)
    fast.chat_template = made_of.template
    return fast


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


def write_checkpoint(folder: Path, kind: str, *, seed: int = 0, stops: int = 0) -> Path:
    """Write a random checkpoint of `kind` to `folder` and return the folder.

    `stops` random tokens end the sequence, beside the end of sequence itself: answers of a model
    that knows nothing then have all lengths. Picture placeholders are among them: a random model
    writes one now and then, a trained one never does.
    """
    fast = tokenizer(kind)
    torch.manual_seed(seed)
    model = KINDS[kind].make(fast)
    pads = [place for place, token in fast.added_tokens_decoder.items() if token.content in PADS]
    more = random.Random(seed).sample(range(len(fast)), stops)
    model.generation_config.eos_token_id = sorted({fast.eos_token_id, *pads, *more})
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(KINDS[kind].pixels, indent=2))
    return folder


@cache
def checkpoint(kind: str) -> Path:
    """The folder of a checkpoint with many stops, written once and removed when Python ends."""
    return write_checkpoint(Path(_FOLDER.name) / kind, kind, stops=30)


@cache
def load(kind: str, dtype: str = "float32", attention: str = "sdpa") -> VisionLanguageModel:
    """That checkpoint, loaded once on the CPU. Shared by all tests: leave it as it is."""
    return load_model(checkpoint(kind), dtype=dtype, device="cpu", attn_implementation=attention)


def random_image(generator: random.Random) -> Image.Image:
    """A picture of one of the `IMAGE_SIZES`: random coarse blocks, enlarged."""
    noise = np.random.default_rng(generator.getrandbits(32)).integers(0, 256, (6, 6, 3), np.uint8)
    return Image.fromarray(noise).resize(generator.choice(IMAGE_SIZES), Image.Resampling.BICUBIC)


def random_prompt(generator: random.Random) -> str:
    """A question in English or Chinese followed by one of the instructions the rewrites know."""
    question = generator.choice(QUESTIONS)
    if any("\u4e00" <= letter <= "\u9fff" for letter in question):
        return question + INSTRUCTIONS[-1]
    return f"{question}\n{generator.choice(INSTRUCTIONS[:-1])}"


def random_questions(generator: random.Random, count: int) -> tuple[list[Image.Image], list[str]]:
    """Pictures and prompts; now and then a picture serves two questions."""
    images = [random_image(generator) for _ in range(count)]
    images = [generator.choice(images) for _ in images]
    return images, [random_prompt(generator) for _ in images]


def deciding_gap(model: VisionLanguageModel, method: Method, prompt: str, answer: Answer) -> float:
    """How near a greedy answer came to another: the least gap of scores or distance to a cutoff."""
    text_tokens = torch.tensor([len(model.processor.token_ids([prompt], [()])[0])])
    gaps = []
    for step, logits in enumerate(answer.logits):
        Z = logits[:, None]
        best = scores(method, Z, step=step, prompt_tokens=text_tokens)[0].topk(2).values
        gaps.append(best[0] - best[1])
        if not method.edits(step):
            continue
        if method.log_probs:
            Z = Z.log_softmax(dim=-1)
        tc = tc_logits(Z, len(method.textual))[0]
        margin = method.raw_margin
        if margin is None:
            tc, margin = tc / method.tau1, -math.log(method.beta)
        gaps.append((tc - tc.max() + margin).abs().min())
    return float(min(gaps))
