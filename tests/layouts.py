"""Checkpoints laid out as published ones are, with tiny random weights.

`tests/published/` has one JSON file a checkpoint: its files with the keys and values that it is
published with, the tokens that its ids mean, and how its tensors are called. What is made small
here is width, depth and vocabulary; pictures are cut and counted as by the real one.
"""

import base64
import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers.convert_slow_tokenizer import TikTokenConverter

from sci_core.counterfactuals import REWRITES
from tests.tiny import INSTRUCTIONS, QUESTIONS

FOLDER = Path(__file__).with_name("published")
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_window_layers": 2,
    "head_dim": 8,
    "initializer_range": 0.2,
}
_VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "initializer_range": 0.2,
}
_QWEN_VISION = {
    "qwen2_vl": {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2},
    "qwen2_5_vl": {
        "depth": 3, "hidden_size": 32, "out_hidden_size": 32, "intermediate_size": 48,
        "num_heads": 2, "fullatt_block_indexes": [1],
    },
    "qwen3_vl": {
        "depth": 3, "hidden_size": 32, "out_hidden_size": 32, "intermediate_size": 48,
        "num_heads": 2, "deepstack_visual_indexes": [0, 1],
    },
}  # fmt: skip


def layout(name: str) -> dict[str, Any]:
    """What `tests/published/` says of a checkpoint."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def dtype_of(made_of: dict[str, Any]) -> torch.dtype:
    """The dtype of the published weights, as its config.json or its language model's says."""
    config = made_of["files"]["config.json"]
    named = (
        part.get(key)
        for part in (config, config.get("text_config", {}))
        for key in ("torch_dtype", "dtype")
    )
    return getattr(torch, next(filter(None, named)))


def write(name: str, folder: Path) -> tuple[Path, dict[str, torch.Tensor]]:
    """Write the tiny checkpoint to `folder`; return it, and its tensors as transformers names them.

    Its tensors are in the published dtype, in three files with an index, under the published names.
    """
    made_of = layout(name)
    fast = _tokenizer(made_of)
    config = _with_ids(made_of["files"]["config.json"], made_of["tokens"], fast)
    config = _shrunken(config, len(fast))
    fast.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    for file, content in (made_of["files"] | {"config.json": config}).items():
        if file == "generation_config.json":
            content = _with_ids(content, made_of["tokens"], fast)
        elif file == "tokenizer_config.json":
            own = json.loads((folder / file).read_text(encoding="utf-8"))
            content = own | {key: value for key, value in content.items() if key in _TOKENIZER_KEYS}
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (folder / file).write_text(text, encoding="utf-8")
    torch.manual_seed(0)
    hf = transformers.AutoModelForImageTextToText.from_config(
        transformers.AutoConfig.from_pretrained(folder), dtype=dtype_of(made_of)
    )
    tensors = {key: value.clone() for key, value in hf.state_dict().items()}
    _save(folder, _published(tensors, made_of["keys"], hf.config.tie_word_embeddings))
    return folder, tensors


def renamed(name: str, folder: Path, copy: Path) -> Path:
    """The folder; or a copy with today's names for what transformers knows no more."""
    today = layout(name).get("today")
    if not today:
        return folder
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.safetensors"))
    for file, entries in today.items():
        content = json.loads((copy / file).read_text(encoding="utf-8"))
        (copy / file).write_text(json.dumps(content | entries), encoding="utf-8")
    return copy


# Packages that carry the vocabulary of a language model; none is needed, none is in the lock.
_PACKAGES = {
    "qwen": ("dashscope", "resources/qwen.tiktoken", r"\p{N}"),
    "llama3": ("llama_models", "llama3/tokenizer.model", r"\p{N}{1,3}"),
}
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|{digits}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Which class transformers makes, and what it adds, is what the trained tokenizer says instead.
_TOKENIZER_KEYS = ("chat_template", "processor_class", "model_max_length", "padding_side")


def _tokenizer(made_of: dict[str, Any]) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer with the published special tokens, of bytes or of pieces (▁) as Llama 2's is."""
    settings = made_of["files"]["tokenizer_config.json"]
    core = _real_vocabulary(made_of) or _trained_vocabulary(made_of)
    if "bos" in made_of:
        bos = made_of["bos"]
        core.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, core.token_to_id(bos))]
        )
    roles = ("bos_token", "eos_token", "pad_token", "unk_token")
    names = settings.get("extra_special_tokens")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        **{role: settings[role] for role in roles if settings.get(role)},
        **({"extra_special_tokens": names} if names else {}),
    )


class _Ranks(TikTokenConverter):
    @staticmethod
    def load_tiktoken_bpe(file: str) -> dict[bytes, int]:
        lines = (line.split() for line in Path(file).read_bytes().splitlines())
        return {base64.b64decode(token): int(rank) for token, rank in lines}


def _real_vocabulary(made_of: dict[str, Any]) -> Tokenizer | None:
    """The published vocabulary, if the package that carries it can be imported."""
    package, file, digits = _PACKAGES.get(made_of.get("words"), ("", "", ""))
    spec = find_spec(package) if package else None
    if spec is None:
        return None
    pattern = _PATTERN.replace("{digits}", digits)
    path = str(Path(spec.submodule_search_locations[0], file))
    return _Ranks(path, pattern, extra_special_tokens=list(made_of["tokens"])).converted()


def _trained_vocabulary(made_of: dict[str, Any]) -> Tokenizer:
    specials, lines = list(made_of["tokens"]), [*QUESTIONS, *INSTRUCTIONS, *REWRITES["V3"].values()]
    if made_of["vocabulary"] == "bytes":
        core = Tokenizer(models.BPE())
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        core.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        core = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
        core.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        )
        core.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        )
        alphabet = [chr(code) for code in range(33, 127)]
        specials += [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=len(specials) + 400,
        initial_alphabet=alphabet,
        special_tokens=specials,
        show_progress=False,
    )
    core.train_from_iterator(lines, trainer)
    return core


def _with_ids(content: Any, tokens: dict[str, int], fast: Any) -> Any:
    """Put the tiny tokenizer's ids in the place of the published ones; unknown ones go."""
    if not isinstance(content, dict):
        return content
    by_id = {number: token for token, number in tokens.items()}
    found = {}
    for key, value in content.items():
        if not key.endswith(("_token_id", "_token_index")):
            found[key] = _with_ids(value, tokens, fast)
            continue
        several = value if isinstance(value, list) else [value]
        ids = [fast.convert_tokens_to_ids(by_id[number]) for number in several if number in by_id]
        if ids:
            found[key] = ids if isinstance(value, list) else ids[0]
    return found


def _shrunken(config: dict[str, Any], vocabulary: int) -> dict[str, Any]:
    """Make width, depth and vocabulary small, at the keys of a flat or a nested config.json."""
    text = _TEXT | {"vocab_size": vocabulary}
    sections = {"mrope_section": [2, 1, 1]}
    family = config["model_type"]
    vision = _QWEN_VISION.get(family, _VISION)
    found = config | {"vision_config": config["vision_config"] | vision}
    if "text_config" in config:
        found["text_config"] = config["text_config"] | text
        places = (found["text_config"],)
    else:
        found |= {key: value for key, value in text.items() if key != "head_dim"}
        places = (found,)
    for place in places:
        if "mrope_section" in (place.get("rope_scaling") or {}):
            place["rope_scaling"] = place["rope_scaling"] | sections
    return found


def _published(
    tensors: dict[str, torch.Tensor], renamed: list[list[str]], tied: bool
) -> dict[str, torch.Tensor]:
    """Call tensors as the published files do; tied ones are in there once."""
    found = {}
    for key, value in tensors.items():
        if tied and key == "lm_head.weight":
            continue
        old, new = next((pair for pair in renamed if key.startswith(pair[0])), ("", ""))
        found[new + key.removeprefix(old)] = value
    return found


def _save(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Three shards and their index."""
    keys, places = sorted(tensors), {}
    for shard in range(3):
        file = f"model-{shard + 1:05d}-of-00003.safetensors"
        part = {key: tensors[key].contiguous() for key in keys[shard::3]}
        save_file(part, folder / file, metadata={"format": "pt"})
        places |= dict.fromkeys(part, file)
    size = sum(value.nbytes for value in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(places.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
