"""What an answer depends on beside method and question: the weights, and how they compute."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sci_core.families.models import VisionLanguageModel

PATTERNS = (
    "*config.json", "*.safetensors", "tokenizer*", "chat_template*", "vocab*", "merges*",
    "additional_chat_templates/default.jinja",
)  # fmt: skip
"""Files of a checkpoint that take part in an answer."""

_REVISIONS: WeakKeyDictionary[VisionLanguageModel, str] = WeakKeyDictionary()


def revision(model: VisionLanguageModel) -> str:
    """Hub commit, or for a local folder 16 hex digits of the SHA-256 over its files.

    Computed once a model. A model made in memory is nobody else's: it has a name for this process
    only.
    """
    if model not in _REVISIONS:
        commit = getattr(model.hf.config, "_commit_hash", None)
        local = Path(model.name)
        made_here = f"in memory at {id(model.hf):x}"
        _REVISIONS[model] = commit or (content_hash(local) if local.is_dir() else made_here)
    return _REVISIONS[model]


def precision(model: VisionLanguageModel) -> dict[str, str | int]:
    """What changes an answer beside the dtype; empty for whole weights, sdpa and own limits."""
    settings: dict[str, str | int] = dict(model.pixel_limits)
    config = model.hf.config
    quantization = getattr(config, "quantization_config", None)
    if quantization is not None:
        settings["quantization"] = "int8" if quantization.load_in_8bit else "nf4"
    attention = [
        getattr(part, "_attn_implementation", None) or "sdpa"
        for part in (config.vision_config, config.get_text_config())
    ]
    if attention != ["sdpa", "sdpa"]:
        settings["attention"] = " and ".join(dict.fromkeys(attention))
    return settings


def as_recorded(stamp: Mapping[str, Any]) -> dict[str, Any]:
    """What `load_model` takes to load a model as it was when its records were made."""
    known = ("dtype", "min_pixels", "max_pixels", "quantization")
    return {name: stamp[name] for name in known if name in stamp}


def content_hash(folder: Path) -> str:
    """16 hex digits of the SHA-256 over every file that takes part in an answer, with its name.

    A processor_config.json does where it has the image processor or the chat template; what else
    it may hold is for `AutoProcessor`, which is not used.
    """
    digest = hashlib.sha256()
    for path in sorted({path for pattern in PATTERNS for path in folder.glob(pattern)}):
        if path.name == "processor_config.json":
            text = path.read_bytes()
            if not any(entry in text for entry in (b'"image_processor"', b'"chat_template"')):
                continue
        digest.update(path.name.encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
