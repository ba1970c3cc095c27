"""Tiny random checkpoints of every family, written to a folder as Hugging Face would.

They know nothing, but every part is real: architecture, safetensors, a byte-level BPE tokenizer
trained on the spot, an image processor, a chat template. Two layers, 32 wide, about 320 tokens:
a forward pass takes a millisecond, so a law can be tried on hundreds of random cases.
"""

import json
import math
import random
import tempfile
from copy import copy, deepcopy
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
from sci_core.families.settings import GenerationSettings
from sci_core.methods import Method
from sci_core.scoring import deciding_logits, scores
from tests.tiny_kinds import KINDS, PADS

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


def with_settings(kind: str, dtype: str = "float64", **settings: Any) -> VisionLanguageModel:
    """A tiny model whose checkpoint has these settings; its weights are those of the others."""
    shared = load(kind, dtype)
    model = copy(shared)
    model.hf = copy(shared.hf)
    model.hf.generation_config = deepcopy(shared.hf.generation_config)
    model.hf.generation_config.update(**settings)
    model.generation = GenerationSettings(model.hf)
    return model


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
        tc = deciding_logits(method, Z)[0]
        margin = method.raw_margin
        if margin is None:
            tc, margin = tc / method.tau1, -math.log(method.beta)
        gaps.append((tc - tc.max() + margin).abs().min())
    return float(min(gaps))
