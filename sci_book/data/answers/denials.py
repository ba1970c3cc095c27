"""Whether a sentence denies the answer that it names: "option A is wrong", "not A", 选A不对.

Only a denial that touches the answer counts: "The cat is not visible so the answer is A" denies no
answer. Blanks are single here (`texts.tidy`), and a line end ends what is said.
"""

from __future__ import annotations

import re

_CUES = (
    r"(?:\b(?:not|cannot|never|neither|nor|wrong|incorrect|false|unlikely|unclear|unsure|hesitate"
    r"|I doubt|avoid|discard|except|(?:reject|exclude|eliminate|rule)[sd]?(?: out)?"
    r"|(?:rejecting|excluding|eliminating|ruling)(?: out)?|(?:instead|rather|other) (?:of|than)"
    r"|least (?:likely|plausible|correct))|n['’]t)"
)
# What may stand between a denial and what it denies: "I don't *think the correct* answer is B".
_BETWEEN = (
    r"(?: (?:think|believe|say|suppose|sure|certain|clear|tell|choose|pick|select|take|go with|if"
    r"|that|whether|the|an?|any|my|to|be|is|correct|right|best|final|answer|option|choice|statement"
    r"|one))*"
)
_BEFORE = re.compile(
    rf"{_CUES}{_BETWEEN} ?[\"'“]*$"
    r"|(?:(?<!不得)不|并非|(?<![特分区识])别|排除|除了|没有?|无法|错误的?|不正确的?|不对的?)"
    r"(?:是|会|能|要|再|说|认为|觉得|应该?|选择?|答案|选项|的)*[“（(]*$",
    re.IGNORECASE,
)
_WRONG = r"(?:wrong|incorrect|false|invalid|impossible|unlikely|excluded|eliminated|rejected)"
_VERBS = r"(?:is|was|will|would|can|could|should|must|may|might|has|had|does|did|do|seems?|looks?)"
_ADVERBS = r"(?:(?:\w+ly|also|just|to|be|been|have) ){0,3}"
_NOT = r"(?:(?:not|never|cannot)\b|[a-z]+n['’]t\b)"
_JUDGED = (  # a verdict on the answer itself
    rf"(?: ?[-–—:：,，.(（]? ?{_WRONG} ?(?=$|[\n.,;:!)）])"
    rf"|(?:,? which)? (?:{_VERBS} )?{_ADVERBS}(?:{_VERBS} )?{_ADVERBS}(?:{_WRONG}\b|ruled out\b)"
    rf"|(?:,? which)? (?:{_VERBS} )?{_NOT} {_ADVERBS}"
    r"(?:right|correct|true|valid|possible|likely|it\b|the (?:right |correct )?(?:answer|one))"
    r"| ?[,，:：]? ?(?:选?项|答案)?(?:是|肯定|显然|明显|应该|也|并|完全)*"
    r"(?:(?:[与和跟][^\s,.;。，；]{1,6})?不(?:相?符合?|一致|匹配)|有误|不对|不正确|不可能|不是(?:正确)?(?:答案|选项)|错误|错[的了]?(?=$|[\n。，！,.!])|被?排除)"
    r"| ?[?？]|吗)"
)
_AFTER_LEADING = re.compile(rf"[\"'”’)）]*{_JUDGED}", re.IGNORECASE)
_AFTER = re.compile(
    rf"[\"'”’)）]*(?:{_JUDGED}| (?:{_VERBS} {_ADVERBS}){{0,3}}{_NOT})", re.IGNORECASE
)


# A denial touches its answer: what lies further back than this is not looked at.
_NEAR = 120


def denied(before: str, after: str) -> bool:
    """Whether an answer that a sentence names is denied in it, or only asked about."""
    return _BEFORE.search(before[-_NEAR:]) is not None or _AFTER.match(after) is not None


def judged_wrong(after: str) -> bool:
    """Whether the words after an answer that opens the text say that it is wrong, or only ask.

    Less than `denied`: "(B) does not have a cat" explains, and "option B does not fit" denies.
    """
    return _AFTER_LEADING.match(after) is not None
