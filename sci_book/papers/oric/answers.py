"""From what a model wrote to yes, no or unknown (section 4.1).

The paper reads an explicit yes or no and puts the rest to a text model. Here the book's own rule
reads (`sci_book.data.answers.rules.yes_no`: of a text with a `<SOLUTION>`, that alone); what it
cannot read is "unknown", and its share is shown beside every result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from sci_book.data.answers.rules import yes_no

Said = Literal["yes", "no", "unknown", "failed"]
"""What an answer says; "failed" where there is none, which is no answer of the model's."""


def explicit(text: str) -> Said:
    """The yes or no that a text states by the book's own rule, else "unknown"."""
    return yes_no(text) or "unknown"


def read(texts: Sequence[str | None], rule: Callable[[str], Said] = explicit) -> list[Said]:
    """What each answer says; None, an answer that was never given, is "failed"."""
    return ["failed" if text is None else rule(text) for text in texts]
