"""Where a text says yes or no, in English and Chinese: each mention becomes a sign (`mentions`).

A word counts where it stands for itself. "No" before a noun belongs to the noun ("no dog", "no
longer"), 是 and 有 inside a sentence are its verb, and "wait, no" takes something back.
"""

from __future__ import annotations

import re

from sci_book.data.answers.mentions import OUTER, sign, taken_back, without_signs

YES_NO = ("yes", "no")

# Behind these "no" stands for itself: "No because it is dark".
_NOT_ITS_NOUN = (
    r"because|since|as|for|it|there|and|but|so|i|or|not|in|with|no|from|the|this|that|these|they"
    r"|he|she|we|you|is|isn't|was|would|indeed|definitely"
)
_ENGLISH = re.compile(
    r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9]['’-])(?:(yes|yeah|yep|yup)"
    rf"|(no|nope|nah)(?! (?!(?:{_NOT_ITS_NOUN})\b)[a-z])(?!\. ?\d))(?!\w|['’-][A-Za-z0-9])",
    re.IGNORECASE,
)
# Words of another use, which are answers only where nothing else is said.
_SURE = r"(?:definitely|absolutely|certainly|of course)"
_ALL_THERE_IS = re.compile(
    r"(?:(?:the )?answer(?: is|:) ?)?(?:(true|affirmative)|(false|negative))"
    rf"|({_SURE}|indeed|correct|(?:that|it)(?:'s| is) (?:correct|right|true))"
    rf"|({_SURE} not|not at all)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(^|[\n。!,:;?]|(?:答案|回答|认为|觉得|所以|因此)(?:答案)?[】\])*]*(?:应该?)?(?:是|为)?:?)"
    r"(\s?[\"“「【\[(*]*)"
    r"(?:((?<!答案)(?<!回答)是的?|是啊|是这样的|有的?|对的?|没错|正确|当然(?:是|有)?|肯定的?|可以|能)"
    r"|(否|不是的?|没有|不对|不|错误?|不正确|否定的?|不可以|不能))"
    r"(?=[\"”」】\])*]*(?:$|[\s。!,;.(]))",
    re.MULTILINE,
)


def marked_yes_no(text: str) -> str:
    """`text` with a sign for each yes and no that is said for itself."""
    text = taken_back(without_signs(text))
    text = _CHINESE.sub(lambda match: match[1] + match[2] + sign(0 if match[3] else 1), text)
    if verdict := _ALL_THERE_IS.fullmatch(text.strip(OUTER)):
        return sign(0 if verdict[1] or verdict[3] else 1)
    return _ENGLISH.sub(lambda match: sign(0 if match[1] else 1), text)
