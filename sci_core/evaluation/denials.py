"""Whether a sentence denies the answer that it names: "option A is wrong", "not A", 选A不对.

Heard in the clause the answer stands in, and no further: "It is not red, so the answer is A" denies
nothing. Where a clause could be meant either way it counts as a denial, for the rules in `answers`
take an answer as unknown rather than guess it.
"""

from __future__ import annotations

import re

_CLAUSE_ENDS = re.compile(
    r"[.,;!?。，；！？\n]|\b(?:so|but|thus|hence|therefore|because|since|then|and)\b", re.IGNORECASE
)
_BEFORE = re.compile(
    r"\b(?:not|cannot|never|neither|nor|without|unlike(?:ly)?|except|instead of"
    r"|(?:rather|other) than|wrong|incorrect|false|least|doubt\w*|avoid\w*|reject\w*|exclud\w+"
    r"|eliminat\w+|rul(?:e|es|ed|ing) out)\b|n['’]t\b"
    r"|[不没错别]|非(?!常)|排除|除了",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:(?:is|was|be|seems?|looks?|appears?|can|could|would|should|must|may|might|has|does|did)\s+"
    r"(?:\w+ly\s+|also\s+|just\s+|to\s+|been\s+|an?\s+|the\s+)*)*"
)
_AFTER = re.compile(
    rf"[\s\"'”’)）*]*(?:{_VERBS}(?:(?:not|never|cannot|wrong|incorrect|false|invalid|impossible"
    r"|unlikely|excluded|eliminated|rejected|least|(?:ruled )?out)\b|[a-z]+n['’]t\b)"
    r"|(?:选项|这个?|肯定|一定|应该|应当|显然|明显|并|也|是)*(?:[不没错]|非(?!常)|被?排除)"
    r"|[?？吗])",
    re.IGNORECASE,
)


def denied(before: str, after: str) -> bool:
    """Whether an answer between `before` and `after` is denied, or only asked about."""
    return denied_next(after) or _BEFORE.search(_CLAUSE_ENDS.split(before)[-1]) is not None


def denied_next(after: str) -> bool:
    """Whether the words right after an answer deny it, or only ask."""
    return _AFTER.match(after) is not None
