"""Which chat template a checkpoint is asked with: the one that `AutoProcessor` would use."""

from collections.abc import Mapping
from typing import Any

from sci_core.families.files import AGAIN, find_file, read_object

PLACES = (
    "chat_template.jinja, chat_template.json, or an entry in processor_config.json or "
    "tokenizer_config.json"
)
_MORE = "additional_chat_templates"


def checkpoint_template(name: str, revision: str | None, tokenizer: Any) -> str:
    """Return the template of a checkpoint whose tokenizer is loaded.

    A processor of transformers takes the first of these: the entry in processor_config.json;
    chat_template.json; chat_template.jinja; the default in the folder additional_chat_templates,
    which its tokenizer reads, too. The tokenizer's own entry in tokenizer_config.json, often the
    language model's, is for a checkpoint whose processor has no template.

    Raises:
        FileNotFoundError: there is none, or its file is damaged.
        ValueError: there are several and none is the default, or files that exclude each other.
    """
    own = (read_object(name, "processor_config.json", revision) or {}).get("chat_template")
    if own is not None:
        return default_template(own, f"processor_config.json of {name}")
    legacy = read_object(name, "chat_template.json", revision)
    if legacy is not None:
        _check_no_more(name, revision)
        return default_template(legacy.get("chat_template"), f"chat_template.json of {name}")
    plain = find_file(name, "chat_template.jinja", revision)
    if plain is not None:
        return plain.read_text(encoding="utf-8")
    if tokenizer.chat_template is None:
        raise FileNotFoundError(f"{name} has no chat template; expected {PLACES}.")
    return default_template(tokenizer.chat_template, f"the tokenizer of {name}")


def default_template(template: Any, where: str) -> str:
    """Return a template, the one called "default" of several by name.

    Several are a mapping, or a list of objects with name and template, as tokenizers save them.

    Raises ValueError if none of several is the default, FileNotFoundError for something else.
    """
    several = _by_name(template)
    if several is not None:
        if "default" not in several:
            names = ", ".join(sorted(map(repr, several)))
            raise ValueError(
                f"{where} has the chat templates {names}, none of them called 'default'. Rename "
                "the one that takes pictures, or set tokenizer.chat_template to it."
            )
        template = several["default"]
    if not isinstance(template, str):
        raise FileNotFoundError(
            f"{where} has {type(template).__name__} as its chat_template; expected a text, or "
            f"texts by name. {AGAIN}"
        )
    return template


def _by_name(template: Any) -> Mapping[str, Any] | None:
    if isinstance(template, Mapping):
        return template
    if not isinstance(template, list | tuple):
        return None
    try:
        return {each["name"]: each["template"] for each in template}
    except (TypeError, KeyError):  # some are no such objects
        return None


def _check_no_more(name: str, revision: str | None) -> None:
    """Refuse chat_template.json beside a folder of templates, as transformers does."""
    config = find_file(name, "config.json", revision)
    more = sorted((config.parent / _MORE).glob("*.jinja")) if config else []
    if more:
        raise ValueError(
            f"{name} has both chat_template.json and {_MORE}/{more[0].name}, which exclude each "
            "other in transformers. Write the first one's text into chat_template.jinja and take "
            "chat_template.json away."
        )
