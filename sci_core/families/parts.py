"""The tokenizer and the image processor of a checkpoint, as `AutoProcessor` would make them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sci_core.families.files import download_hint, first_line, read_object
from sci_core.families.templates import checkpoint_template

_IMAGE_PROCESSOR = r"(\w+?)(?:ImageProcessor|FeatureExtractor)(?:Fast|Pil)?"  # of which model


def load_tokenizer(name: str, **source: Any) -> Any:
    """Load the tokenizer, with the chat template that the checkpoint's processor would use.

    `source` is revision and the like, as transformers takes them. Raises FileNotFoundError for a
    file that is missing or damaged, and as `checkpoint_template`.
    """
    import transformers

    tokenizer = _part(transformers.AutoTokenizer, "tokenizer.json", name, **source)
    tokenizer.chat_template = checkpoint_template(name, source["revision"], tokenizer)
    return tokenizer


def load_image_processor(name: str, **source: Any) -> Any:
    """Load the image processor; the same pixels whether torchvision is installed or not.

    A checkpoint may name it after its model, as older transformers did (Qwen2_5_VLImageProcessor,
    CLIPFeatureExtractor): where that is no class any more, the model's image processor is meant.
    `source` may also hold settings that take the place of the checkpoint's own.
    """
    import transformers

    revision = source["revision"]
    own = (read_object(name, "processor_config.json", revision) or {}).get("image_processor")
    file = "preprocessor_config.json" if own is None else "processor_config.json"
    settings = read_object(name, file, revision) or {} if own is None else own
    kind = settings.get("image_processor_type") if isinstance(settings, dict) else None
    model = re.fullmatch(_IMAGE_PROCESSOR, str(kind))
    config: Any = getattr(transformers, f"{model[1]}Config", None) if model else None
    known = isinstance(config, type) and issubclass(config, transformers.PreTrainedConfig)
    more = {"config": config()} if known else {}
    try:
        with _without_hints():
            return _part(
                transformers.AutoImageProcessor, file, name, backend="pil", **more, **source
            )
    except FileNotFoundError as error:
        if kind is None:
            raise
        why = first_line(error.__cause__ or error).rstrip(".")
        known = "Unrecognized image processor" not in why
        reason = f"cannot be loaded: {why}" if known else "transformers does not have"
        raise FileNotFoundError(
            f"{file} of {name} asks for the image processor {kind!r}, which {reason}. Put the one "
            "of the model's family there, as its other checkpoints name it."
        ) from error


def _part(auto: Any, file: str, name: str, **source: Any) -> Any:
    """Load the tokenizer or image processor that `file` beside config.json describes."""
    try:
        return auto.from_pretrained(name, **source)
    except ImportError:
        raise
    except Exception as error:  # of a damaged file, tokenizers raises just this
        raise FileNotFoundError(
            f"{name} has no {file} that {auto.__name__} can load ({first_line(error)})."
            f"{download_hint(name)}"
        ) from error


@contextmanager
def _without_hints() -> Iterator[None]:
    """Keep transformers from recommending torchvision, whose pixels are not wanted."""
    import transformers

    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(level)
