"""The pocket models' tokenizer: byte-level BPE, like the real families', trained on pocket text.

Byte level means that any text a user types can be encoded; the merges make the world's own words
single tokens. The corpus is drawn from a fixed seed, so the tokenizer is the same on every machine.
"""

from __future__ import annotations

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from sci_book.pocket.dialogue import segment, user_texts
from sci_book.pocket.words import manifest
from sci_book.pocket.world import Lot, sample_scene

SEGMENTS = 24_000  # of dialogue that the vocabulary is learnt from
VOCAB_SIZE = 1536


def _corpus(arch: str, segments: int) -> list[str]:
    """Pocket dialogue, every rewritten instruction, and the turn names."""
    rng = np.random.default_rng(20240)
    lot = Lot(skew=0.4)
    lines = ["user\n", "assistant\n", "system\n", *user_texts() * 40]
    while len(lines) < segments:
        turn = segment(sample_scene(rng, lot), arch, rng)
        lines += [turn.user, turn.answer]
    return lines


def build_tokenizer(arch: str) -> PreTrainedTokenizerFast:
    """The tokenizer of one architecture (`qwen2_vl` or `llava_next`), with its chat template."""
    marks = manifest("chat_formats.yaml")[arch]
    core = Tokenizer(models.BPE())
    # A Chinese character is a token, never part of a longer one: words stay composable.
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("[\u4e00-\u9fff]"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    core.train_from_iterator(
        _corpus(arch, SEGMENTS),
        trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE,
            special_tokens=marks["special"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=marks["eos_token"],
        pad_token=marks["pad_token"],
        bos_token=marks["bos_token"],
        additional_special_tokens=marks["special"],
        chat_template=marks["template"],
        padding_side="left",
        model_max_length=4096,
    )
