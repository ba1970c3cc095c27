"""Tiny random checkpoints of both families, written to a folder as Hugging Face would.

They know nothing, but every part is real: architecture, safetensors, a byte-level BPE tokenizer
trained on the spot, an image processor, a chat template. Two layers, 32 wide, about 320 tokens:
a forward pass takes a millisecond, so a law can be tried on hundreds of random cases.
"""

import json
import math
import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaNextConfig,
    LlavaNextForConditionalGeneration,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
)

from sci_core.decoding import Answer
from sci_core.logits import tc_logits
from sci_core.methods import Method, scores
from sci_core.models import VisionLanguageModel, load_model

FAMILIES = ("qwen2_vl", "llava_next")
QWEN_SPECIALS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
PADS = ("<|image_pad|>", "<|video_pad|>", "<image>")
LLAVA_SPECIALS = ("<s>", "</s>", "<pad>", "<image>")
QWEN_TEMPLATE = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}{% if part.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAVA_TEMPLATE = (
    "{% for message in messages %}USER: "
    "{% for part in message.content %}{% if part.type == 'image' %}<image>\n"
    "{% else %}{{ part.text }}{% endif %}{% endfor %} {% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
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


def tokenizer(family: str) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on the prompts above, with the family's special tokens."""
    specials = QWEN_SPECIALS if family == "qwen2_vl" else LLAVA_SPECIALS
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(specials),
        show_progress=False,
    )
    core.train_from_iterator(QUESTIONS + INSTRUCTIONS, trainer)
    roles = (
        {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
        if family == "qwen2_vl"
        else {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=core, **roles)
    fast.chat_template = QWEN_TEMPLATE if family == "qwen2_vl" else LLAVA_TEMPLATE
    return fast


def _text_config(fast: PreTrainedTokenizerFast) -> dict:
    return {
        "vocab_size": len(fast),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "initializer_range": 0.2,  # wide, so that logits are far apart and depend on the picture
        "bos_token_id": fast.bos_token_id,
        "eos_token_id": fast.eos_token_id,
        "pad_token_id": fast.pad_token_id,
    }


def _qwen2_vl(fast: PreTrainedTokenizerFast) -> Qwen2VLForConditionalGeneration:
    ids = fast.convert_tokens_to_ids
    text = _text_config(fast) | {
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
    }
    vision = {
        "depth": 2,
        "embed_dim": 32,
        "hidden_size": 32,
        "num_heads": 2,
        "mlp_ratio": 2,
        "patch_size": 8,
        "initializer_range": 0.2,
    }
    config = Qwen2VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>"),
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )
    return Qwen2VLForConditionalGeneration(config)


def _llava_next(fast: PreTrainedTokenizerFast) -> LlavaNextForConditionalGeneration:
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=32,
        patch_size=8,
        initializer_range=0.2,
    )
    config = LlavaNextConfig(
        vision_config=vision,
        text_config=LlamaConfig(**_text_config(fast)),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=[[32, 64], [64, 32], [64, 64], [96, 32], [32, 96]],
        initializer_range=0.2,
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.pad_token_id,
    )
    return LlavaNextForConditionalGeneration(config)


def write_checkpoint(folder: Path, family: str, *, seed: int = 0, stops: int = 0) -> Path:
    """Write a random checkpoint of `family` to `folder` and return the folder.

    `stops` random tokens end the sequence, beside the end of sequence itself: answers of a model
    that knows nothing then have all lengths. Picture placeholders are among them: a random model
    writes one now and then, a trained one never does.
    """
    fast = tokenizer(family)
    torch.manual_seed(seed)
    model = (_qwen2_vl if family == "qwen2_vl" else _llava_next)(fast)
    pads = [place for place, token in fast.added_tokens_decoder.items() if token.content in PADS]
    more = random.Random(seed).sample(range(len(fast)), stops)
    model.generation_config.eos_token_id = sorted({fast.eos_token_id, *pads, *more})
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(_image_processor(family), indent=2))
    return folder


def _image_processor(family: str) -> dict:
    if family == "qwen2_vl":
        return {
            "image_processor_type": "Qwen2VLImageProcessor",
            "patch_size": 8,
            "merge_size": 2,
            "temporal_patch_size": 2,
            "size": {"shortest_edge": 16 * 16 * 4, "longest_edge": 16 * 16 * 24},
        }
    return {
        "image_processor_type": "LlavaNextImageProcessor",
        "size": {"shortest_edge": 32},
        "crop_size": {"height": 32, "width": 32},
        "image_grid_pinpoints": [[32, 64], [64, 32], [64, 64], [96, 32], [32, 96]],
    }


@cache
def checkpoint(family: str) -> Path:
    """The folder of a checkpoint with many stops, written once and removed when Python ends."""
    return write_checkpoint(Path(_FOLDER.name) / family, family, stops=30)


@cache
def load(family: str, dtype: str = "float32", attention: str = "sdpa") -> VisionLanguageModel:
    """That checkpoint, loaded once on the CPU. Shared by all tests: leave it as it is."""
    return load_model(checkpoint(family), dtype=dtype, device="cpu", attn_implementation=attention)


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
    text_tokens = torch.tensor([len(model.processor.token_ids([prompt], [0])[0])])
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
