"""The forms of words by which answers are read: `data_manifests/answer_cues.yaml`.

Among them those that deny the answer beside them: "option A is wrong", "not A", 选A不对. Only a
denial that touches the answer counts: "The cat is not visible so the answer is A" denies no answer.
"""

from __future__ import annotations

import re
from functools import cache
from string import Template

from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS

_FORMS = read_yaml(MANIFESTS / "answer_cues.yaml")
NUMBER_WORDS: list[str] = _FORMS["number_words"]
TENS: list[str] = _FORMS["tens"]
MEASURE_WORDS: str = _FORMS["measure_words"]

_NEAR = 120  # characters before an answer that are looked at for a denial


@cache
def _expressions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, form in _FORMS.items():
        text = "|".join(form) if isinstance(form, list) else form.replace("\n", "")
        found[name] = Template(text).safe_substitute(found)
    return found


@cache
def cue(name: str) -> re.Pattern[str]:
    """One of the forms."""
    return re.compile(_expressions()[name])


def denied(before: str, after: str) -> bool:
    """Whether an answer that a sentence names is denied in it, or only asked about."""
    near = before[-_NEAR:]
    return bool(cue("denied_before").search(near) or cue("denied_after").match(after))


def judged_wrong(after: str) -> bool:
    """Whether the words after an answer that opens the text say that it is wrong, or only ask.

    Less than `denied`: "(B) does not have a cat" explains, and "option B does not fit" denies.
    """
    return cue("judged_wrong").match(after) is not None
