"""How a published evaluation toolkit, VLMEvalKit, reads option letters, in three editions.

Kept as they are, to compare with numbers that were scored by them: "not B" is B in each, and "no"
is found in "note".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Where the toolkit gives up, in words of its own; it then answers "Z".
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_FAILURE = "Failed to obtain answer via API"
_PUNCTUATION = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_ANSWER_IS = re.compile(r"answer\s+is\s+\**([A-D])", re.IGNORECASE)


def vlmevalkit_letter(text: str, options: Mapping[str, str]) -> str | None:
    """The letter that the evaluation toolkit reads by rule, or `None` where it asks a judge.

    Source: VLMEvalKit, `vlmeval.utils.matching_util.can_infer`, as in release 0.0.20 of its package
    `ms-vlmeval`. Its punctuation becomes spaces; if just one option's letter is among the words,
    and first stands among the last four, that is the answer. Otherwise it is the one option whose
    text occurs in the answer, case aside, unless the answer is longer than twice all options. A
    refusal in one of four known sentences, or a lone "Z", is its "Z", unknown here.
    """
    return _read(text, options, last_words=4, longest=2)


def vlmevalkit_letter_anywhere(text: str, options: Mapping[str, str]) -> str | None:
    """`vlmevalkit_letter` as the toolkit read until release 0.0.18 of `ms-vlmeval`.

    The letter may stand anywhere, so that the article in "A red bus" is an answer, and an answer of
    any length is searched for the options' texts.
    """
    return _read(text, options, last_words=None, longest=None)


def vlmevalkit_letter_verbose(text: str, options: Mapping[str, str]) -> str | None:
    """`vlmevalkit_letter` as the toolkit's repository reads since 17 June 2026 (commit a67ace50).

    Where no letter is found among the last words, the first ``answer is X`` or ``answer is **X**``
    counts, in any case, for X from A to D ("The correct answer is **B**. Here's why: …"). X need
    not end there: "the answer is blue" is B, "the answer is a boat" A.
    """
    return _read(text, options, last_words=4, longest=2, answer_is=True)


def _read(
    text: str,
    options: Mapping[str, str],
    last_words: int | None,
    longest: int | None,
    *,
    answer_is: bool = False,
) -> str | None:
    if _FAILURE not in text:
        if any(refusal in text for refusal in _REFUSALS):
            return None
        words = text.translate(_PUNCTUATION).split()
        named = [name for name in options if name in words]
        if len(named) == 1 and (
            last_words is None or words.index(named[0]) >= len(words) - last_words
        ):
            return named[0]
        if not named and "Z" in words:
            return None
        called = _ANSWER_IS.search(text) if answer_is else None
        if called and called[1].upper() in options:
            return called[1].upper()
    text = text.lower()
    if longest is not None and len(text) > longest * sum(map(len, options.values())):
        return None
    inside = [name for name, option in options.items() if option.lower() in text]
    return inside[0] if len(inside) == 1 else None
