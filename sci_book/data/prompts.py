"""From a data row to the text of the user's turn, by model family.

The templates are data: `data_manifests/prompts.yaml`. The rewrites V1, V2, V3 of these prompts
belong to the library (`sci_core.counterfactuals`).
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from sci_book.data.answers.rules import FREE
from sci_book.data.rows import Row
from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS

TEMPLATES = MANIFESTS / "prompts.yaml"
SHARED = MANIFESTS / "prompts_shared.yaml"
_read = cache(read_yaml)
_CHINESE = re.compile("[\u4e00-\u9fff]")


def build_prompt(row: Row, family: str) -> str:
    """The user's text for one row, without the picture and without the chat template.

    Raises:
        ValueError: if the family has no templates; the message lists those that have.
    """
    templates, shared = _read(TEMPLATES), _read(SHARED)
    own = shared.get(family, family)
    if own not in templates["families"]:
        known = sorted({*templates["families"], *shared})
        raise ValueError(
            f"There are no prompts for the model family {family!r}; expected one of "
            f"{', '.join(known)}. Give it templates in {TEMPLATES.name}, or another family's in "
            f"{SHARED.name}."
        )
    # A number's question says itself how it is answered, as a yes/no question does; a free one is
    # put as it stands.
    kind = "yesno" if row.question_type in ("number", *FREE) else row.question_type
    template = templates["families"][own][kind]
    hint = template["hint"].format(hint=row.hint) if row.hint and "hint" in template else ""
    options = "".join(f"{letter}. {text}\n" for letter, text in row.options.items())
    body = template["body"].format(hint=hint, question=row.question, options=options)
    instruction = template.get("instruction", "")
    if row.question_type == "mcq" and _CHINESE.search(body):
        instruction = templates["chinese_instruction"]
    return body + instruction


def template_families() -> list[str]:
    """The model families that have templates of their own; each of the others takes one's."""
    return list(_read(TEMPLATES)["families"])


def templates_digest() -> str:
    """16 hex digits of the SHA-256 over the templates, for the stamp of records."""
    return hashlib.sha256(TEMPLATES.read_bytes()).hexdigest()[:16]
