"""Where a text says yes or no, in English and Chinese: each mention becomes a sign (`mentions`).

A word counts where it stands for itself. "No" before a noun belongs to the noun ("no dog", "no
longer"), 是 and 有 inside a sentence are its verb, and "wait, no" takes something back.
"""

from __future__ import annotations

from sci_book.data.answers.cues import cue
from sci_book.data.answers.mentions import OUTER, sign, taken_back, without_signs

YES_NO = ("yes", "no")


def marked_yes_no(text: str) -> str:
    """`text` with a sign for each yes and no that is said for itself."""
    text = taken_back(without_signs(text))
    text = cue("yes_no_zh").sub(
        lambda match: match[1] + match[2] + sign(0 if match[3] else 1), text
    )
    if verdict := cue("only_yes_no").fullmatch(text.strip(OUTER)):
        return sign(0 if verdict[1] or verdict[3] else 1)
    return cue("yes_no").sub(lambda match: sign(0 if match[1] else 1), text)
