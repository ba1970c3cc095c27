"""A pocket checkpoint as JSON that the page's own model reads (`book/_assets/live/model.js`).

A weight has 20 bits: a whole number, times the largest of its row. A test holds every logit to
within 0.001 of that of `sci_core.generate`, and every token.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from sci_book.pocket.draw import SIZE

LEVELS = 2**19  # of a weight on either side of 0


def exported(checkpoint: Path) -> dict[str, Any]:
    """The configuration, tokenizer and weights of a Qwen2-VL that reads pictures of the world.

    Raises ValueError for a checkpoint that the page's model does not compute as transformers does.
    """
    config, tokenizer, pixels = (
        json.loads((checkpoint / name).read_text(encoding="utf-8"))
        for name in ("config.json", "tokenizer.json", "preprocessor_config.json")
    )
    text, vision = config["text_config"], config["vision_config"]
    _check(checkpoint, config, tokenizer, pixels)
    tensors, values, scales, start = {}, [], [], 0
    for name, tensor in _tensors(checkpoint).items():
        rows = tensor.reshape(len(tensor) if tensor.ndim > 1 else 1, -1)
        tensors[name] = {"start": start, "rows": len(rows), "size": rows.shape[1]}
        start += tensor.size
        scale = (np.abs(rows).max(axis=1) / (LEVELS - 1)).astype("<f4")
        scales.append(scale)
        divisor = np.where(scale > 0, scale, 1).astype(np.float64)
        values.append(np.rint(rows / divisor[:, None]).astype(np.int64).ravel())
    vocabulary = tokenizer["model"]["vocab"]
    return {
        "side": SIZE,
        "text": {
            "layers": text["num_hidden_layers"],
            "hidden": text["hidden_size"],
            "heads": text["num_attention_heads"],
            "kvHeads": text["num_key_value_heads"],
            "eps": text["rms_norm_eps"],
            "theta": text["rope_parameters"]["rope_theta"],
            "sections": text["rope_parameters"]["mrope_section"],
        },
        "vision": {
            "layers": vision["depth"],
            "dim": vision["embed_dim"],
            "heads": vision["num_heads"],
            "patch": vision["patch_size"],
            "merge": vision["spatial_merge_size"],
            "theta": vision["rope_parameters"]["rope_theta"],
        },
        "mean": pixels["image_mean"],
        "std": pixels["image_std"],
        "imageToken": config["image_token_id"],
        "ends": [text["eos_token_id"]],
        "tokenizer": {
            "special": [token["content"] for token in tokenizer["added_tokens"]],
            "vocabulary": sorted(vocabulary, key=vocabulary.get),
            "merges": [" ".join(pair) for pair in tokenizer["model"]["merges"]],
        },
        "tensors": tensors,
        "scales": base64.b64encode(np.concatenate(scales).tobytes()).decode(),
        "values": base64.b64encode(_packed(np.concatenate(values))).decode(),
    }


def _tensors(checkpoint: Path) -> dict[str, np.ndarray]:
    """The weights by short names; the two frames of a still picture are equal, so their sum."""
    found = {}
    for name, tensor in load_file(checkpoint / "model.safetensors").items():
        short = name.removeprefix("model.").removeprefix("language_model.")
        found[short.removeprefix("model.")] = tensor.double().numpy()
    patch = "visual.patch_embed.proj.weight"  # [dim, channels, frames, side, side]
    found[patch] = found[patch].sum(axis=2)
    return {
        name: tensor.reshape(len(tensor), -1) if tensor.ndim > 1 else tensor
        for name, tensor in found.items()
    }


def _packed(values: np.ndarray) -> bytes:
    """Whole numbers of 20 bits, two in five bytes, the lower first."""
    if len(values) % 2:
        values = np.append(values, 0)
    low, high = (values + LEVELS).astype("<u8").reshape(-1, 2).T
    both = (low | high << np.uint64(20)).astype("<u8")
    return both.view(np.uint8).reshape(-1, 8)[:, :5].tobytes()


def _check(checkpoint: Path, config: dict, tokenizer: dict, pixels: dict) -> None:
    text, vision = config["text_config"], config["vision_config"]
    expected = {
        "text rope": (text["rope_parameters"]["rope_type"], "default"),
        "text activation": (text["hidden_act"], "silu"),
        "sliding window": (text["use_sliding_window"], False),
        "tied embeddings": (config["tie_word_embeddings"], True),
        "vision activation": (vision["hidden_act"], "quick_gelu"),
        "tokenizer": (tokenizer["model"]["type"], "BPE"),
        "normalizer": (tokenizer["normalizer"], None),
        "a picture's pixels read as they are": (
            pixels["size"]["shortest_edge"] <= SIZE**2 <= pixels["size"]["longest_edge"]
            and SIZE % (vision["patch_size"] * vision["spatial_merge_size"]) == 0,
            True,
        ),
    }
    for what, (came, wanted) in expected.items():
        if came != wanted:
            raise ValueError(
                f"The page's model reads checkpoints with {what} {wanted!r}; {checkpoint} has "
                f"{came!r}. Change book/_assets/live/model.js with it."
            )
