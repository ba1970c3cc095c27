"""From the text a model wrote to the answer it gave: named rules with an explicit *unknown*.

A rule returns the answer in its canonical form, or `None` where the text does not say it. A rule
never guesses: "A or B" names two options and is unknown. An unknown equals nothing, not even
another unknown (`same`), so it is never right and never agrees.

===========  ==============  ======================================================
rule         question type   canonical form
===========  ==============  ======================================================
`letter`     mcq             the option's letter, upper case
`yes_no`     yesno           "yes" or "no"
`short`      short           case, outer punctuation and a leading article dropped
===========  ==============  ======================================================

`raw_prefix` is the comparison of the paper's reference implementation, kept as a named variant of
DRBench: lower-cased texts cut to the length of the ground truth, so that "no" and "no." differ
under a ground truth "yes", and "dog" and "dogs" agree under "cat".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# A letter closed by punctuation or by the end of the answer: "B", "B.", "(B)", "B) red", "B：红".
_LEADING_LETTER = re.compile(r"[(（]?\s*([A-Z])\s*(?:$|[.,:;)\]、。：，；）])\s*")
# A letter the sentence itself calls the answer: "The answer is B", "Answer: (B)", "答案是B".
_NAMED_LETTER = re.compile(
    r"(?:\b(?:answer|option|choice)\b|答案|选项|选择|选)\s*"
    r"(?:is|would be|应该是|应为|是|为)?\s*[:：]?\s*"
    r"(?:\boption\b|选项)?\s*[(（]?([A-Z])(?![A-Za-z])",
    re.IGNORECASE,
)
_LONE_LOWER_CASE_LETTER = re.compile(r"[(（]?([a-z])[.)）。]{0,2}")
# A capital standing alone. "A" before a lower-case word is the article, "I" before one the pronoun.
_STANDING_LETTER = re.compile(r"(?<![A-Za-z])(?![AI] [a-z])([A-Z])(?![A-Za-z'’])")
_NAMED_YES_NO = re.compile(r"\banswer\s*(?:is|would be|:)?\s*[\"'“]?(yes|no)\b")
_CHINESE_YES_NO = {"是": "yes", "是的": "yes", "否": "no", "不是": "no"}
_OUTER_PUNCTUATION = " \t\r\n.,;:!?\"'`“”‘’()[]。，；：！？、（）"
_LETTER_DELIMITERS = frozenset(" \t\n.,:;)、。：，；）")


def letter(text: str, options: Mapping[str, str]) -> str | None:
    """The option letter that `text` names, or `None`.

    Read in this order: the exact text of one option; a letter that opens the answer and is closed
    by punctuation, the end, or its own option's text ("B", "B.", "(B)", "B. red", "B red"); a
    letter that the sentence calls the answer. A second option letter standing alone makes the
    answer unknown, except inside the named option's own text ("B. vitamin C"). Where a leading
    letter and the words after it disagree, the letter decides: it is what the prompt asks for.

    Parameters
    ----------
    text : what the model wrote.
    options : option letters and their texts, as the row shows them.
    """
    text = text.strip()
    by_text = [name for name, option in options.items() if _plain(option) == _plain(text) != ""]
    if len(by_text) == 1:
        return by_text[0]

    leading = _LEADING_LETTER.match(text)
    if leading and leading[1] in options:
        rest = text[leading.end():]
        return leading[1] if _names_no_other(rest, leading[1], options) else None
    if text[:1] in options and text[1:2] == " " and _plain(text[2:]) == _plain(options[text[0]]):
        return text[0]
    lone = _LONE_LOWER_CASE_LETTER.fullmatch(text)
    if lone and lone[1].upper() in options:
        return lone[1].upper()

    named = _NAMED_LETTER.search(text)
    if named and named[1] in options:
        before, after = text[: named.start(1)], text[named.end(1):].lstrip(".,:;)） ")
        if _names_no_other(before + " " + after, named[1], options):
            return named[1]
        if not _others(before, named[1], options) and _plain(after) == _plain(options[named[1]]):
            return named[1]
    return None


def yes_no(text: str) -> str | None:
    """ "yes" or "no" where the answer opens with the word or calls it the answer, else `None`.

    A text with both words is unknown, and so is a "no" inside a sentence ("There is no dog").
    """
    text = text.strip().casefold()
    if text.rstrip("。. ") in _CHINESE_YES_NO:
        return _CHINESE_YES_NO[text.rstrip("。. ")]
    words = re.findall(r"\b(yes|no)\b", text)
    if len(set(words)) != 1:
        return None
    opens = re.match(r"[\"'“(]*(yes|no)(?=$|[\s.,;:!)\"'”。，！])", text)
    if opens and not re.match(r"[\"'“(]*no\s+[a-z]", text):
        return opens[1]
    named = _NAMED_YES_NO.search(text)
    return named[1] if named else None


def short(text: str) -> str | None:
    """A short answer in canonical form, or `None` where nothing is left of it.

    Case, outer punctuation, repeated spaces and one leading English article are dropped; nothing
    else: "dogs" is not "dog", "3" is not "three".
    """
    return re.sub(r"^(?:a|an|the) (?=\S)", "", _plain(text)) or None


def parse(question_type: str, text: str, options: Mapping[str, str] | None = None) -> str | None:
    """The answer in `text` under the rule of its question type (`mcq`, `yesno` or `short`).

    Raises
    ------
    ValueError : for a question type that has no rule.
    """
    if question_type == "mcq":
        return letter(text, options or {})
    if question_type == "yesno":
        return yes_no(text)
    if question_type == "short":
        return short(text)
    raise ValueError(
        f"No answer rule for question type {question_type!r}; expected mcq, yesno or short."
    )


def canonical_truth(question_type: str, answer: str) -> str:
    """The ground truth in the form in which `parse` returns answers."""
    if question_type == "mcq":
        return answer.strip().upper()
    if question_type == "yesno":
        return answer.strip().casefold()
    return short(answer) or ""


def same(first: str | None, second: str | None) -> bool:
    """Whether two parsed answers agree; an unknown agrees with nothing (SCI_SPEC: DRBench)."""
    return first is not None and first == second


def raw_prefix(text: str, truth: str) -> str:
    """`text` lower-cased and cut to the length of the ground truth (the reference's comparison)."""
    return text.lower()[: len(truth)]


def letter_is_delimited(text: str) -> bool:
    """Whether the first character of `text` is followed by a delimiter or by nothing.

    The reference drops from its bias subset the multiple-choice rows whose letter is not.
    """
    return len(text) == 1 or text[1:2] in _LETTER_DELIMITERS


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_OUTER_PUNCTUATION)


def _others(text: str, chosen: str, options: Mapping[str, str]) -> set[str]:
    return (set(_STANDING_LETTER.findall(text)) & set(options)) - {chosen}


def _names_no_other(rest: str, chosen: str, options: Mapping[str, str]) -> bool:
    return _plain(rest) == _plain(options[chosen]) or not _others(rest, chosen, options)
