"""From the text a model wrote to the answer it gave: named rules with an explicit *unknown*.

A rule returns the answer in its canonical form, or `None` where the text does not say it. A rule
never guesses: "A or B" names two options and "option A is wrong" denies one; both are unknown. An
unknown equals nothing, not even another unknown (`same`), so it is never right and never agrees.

===========  ==============  ======================================================
rule         question type   canonical form
===========  ==============  ======================================================
`letter`     mcq             the option's letter, upper case
`yes_no`     yesno           "yes" or "no"
`number`     number          digits without leading zeros: "12", "-3", "2.5"
`short`      short           case, outer punctuation and a leading article dropped
`free`       free            the text itself: a caption, or a reply that a probe reads for itself
===========  ==============  ======================================================

These are what `parse` reads with. `RULES` holds them by name, each with a version that changes when
the rule reads any text differently, and beside them the letter rule of a published evaluation
toolkit in its two editions (`vlmevalkit_letter`, `vlmevalkit_letter_anywhere`), to compare with
numbers that were scored by it.

`raw_prefix` is the comparison of the paper's reference implementation, kept as a named variant of
DRBench: lower-cased texts cut to the length of the ground truth, so that "no" and "no." differ
under a ground truth "yes", and "dog" and "dogs" agree under "cat".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sci_core.evaluation.denials import denied, denied_next
from sci_core.evaluation.numerals import number

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
_NAMED_YES_NO = re.compile(
    r"\banswer\s*(?:is|would be|:)?\s*[\"'“]?(yes|no)\b(?!\s+(?:longer|doubt|more|less|one)\b)"
)
_CHINESE_YES_NO = {"是": "yes", "是的": "yes", "否": "no", "不是": "no"}
# What chat models set around an answer: "**B**", "`B`", "$\\boxed{B}$".
_MARKS = re.compile(r"\$?\\boxed\s*\{([^{}]*)\}\$?|\\[()\[\]]|[*`]")
_OUTER_PUNCTUATION = " \t\r\n.,;:!?\"'`“”‘’()[]。，；：！？、（）"
_LETTER_DELIMITERS = frozenset(" \t\n.,:;)、。：，；）")

# Where the toolkit gives up, in words of its own; it then answers "Z".
_TOOLKIT_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_TOOLKIT_FAILURE = "Failed to obtain answer via API"
_TOOLKIT_PUNCTUATION = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))


def letter(text: str, options: Mapping[str, str]) -> str | None:
    """The option letter that `text` names, or `None`.

    Read in this order: the exact text of one option; a letter that opens the answer and is closed
    by punctuation, the end, or its own option's text ("B", "B.", "(B)", "B. red", "B red"); a
    letter that the sentence calls the answer. A second option letter standing alone makes the
    answer unknown, except inside the named option's own text ("B. vitamin C"), and so does a denial
    ("Option A is wrong", "(A) is not right", "not answer A"; `denials`). Where a leading letter and
    the words after it disagree otherwise, the letter decides: it is what the prompt asks for.

    Parameters
    ----------
    text : what the model wrote.
    options : option letters and their texts, as the row shows them.
    """
    text = _unmarked(text)
    by_text = [name for name, option in options.items() if _plain(option) == _plain(text) != ""]
    if len(by_text) == 1:
        return by_text[0]

    leading = _LEADING_LETTER.match(text)
    if leading and leading[1] in options:
        rest, option = text[leading.end() :], _plain(options[leading[1]])
        repeats = option and _plain(rest).startswith(option)
        if not repeats and denied_next(text[leading.end(1) :].lstrip(" :：")):
            return None
        return leading[1] if _names_no_other(rest, leading[1], options) else None
    if text[:1] in options and text[1:2] == " " and _plain(text[2:]) == _plain(options[text[0]]):
        return text[0]
    lone = _LONE_LOWER_CASE_LETTER.fullmatch(text)
    if lone and lone[1].upper() in options:
        return lone[1].upper()

    named = _NAMED_LETTER.search(text)
    if named and named[1] in options and not denied(text[: named.start()], text[named.end(1) :]):
        before, after = text[: named.start(1)], text[named.end(1) :].lstrip(".,:;)） ")
        if _names_no_other(before + " " + after, named[1], options):
            return named[1]
        if not _others(before, named[1], options) and _plain(after) == _plain(options[named[1]]):
            return named[1]
    return None


def yes_no(text: str) -> str | None:
    """ "yes" or "no" where the answer opens with the word or calls it the answer, else `None`.

    A text with both words is unknown, and so are a "no" inside a sentence ("There is no dog", "The
    answer is no longer clear") and a word that is denied ("The answer yes is wrong").
    """
    text = _unmarked(text).casefold()
    if text.rstrip("。. ") in _CHINESE_YES_NO:
        return _CHINESE_YES_NO[text.rstrip("。. ")]
    words = re.findall(r"\b(yes|no)\b", text)
    if len(set(words)) != 1:
        return None
    opens = re.match(r"[\"'“(]*(yes|no)(?=$|[\s.,;:!)\"'”。，！])", text)
    if opens and not re.match(r"[\"'“(]*no\s+[a-z]", text):
        return None if denied_next(text[opens.end() :]) else opens[1]
    named = _NAMED_YES_NO.search(text)
    if named is None or denied(text[: named.start()], text[named.end() :]):
        return None
    return named[1]


def short(text: str) -> str | None:
    """A short answer in canonical form, or `None` where nothing is left of it.

    Case, outer punctuation, marks of emphasis, repeated spaces and one leading English article are
    dropped; nothing else: "dogs" is not "dog", "3" is not "three".
    """
    return re.sub(r"^(?:a|an|the) (?=\S)", "", _plain(text)) or None


def vlmevalkit_letter(text: str, options: Mapping[str, str]) -> str | None:
    """The letter that the evaluation toolkit reads by rule, or `None` where it asks a judge.

    Source: VLMEvalKit, `vlmeval.utils.matching_util.can_infer`, as in release 0.0.20 of its package
    `ms-vlmeval`. Its punctuation becomes spaces; if just one option's letter is among the words,
    and first stands among the last four, that is the answer. Otherwise it is the one option whose
    text occurs in the answer, case aside, unless the answer is longer than twice all options. A
    refusal in one of four known sentences, or a lone "Z", is its "Z", unknown here.

    The toolkit's rule is looser than `letter` ("not B" is B, "no" is found in "note") and, where
    words follow the letter, stricter: it is kept as it is, for comparison.
    """
    return _toolkit_letter(text, options, last_words=4, longest=2)


def vlmevalkit_letter_anywhere(text: str, options: Mapping[str, str]) -> str | None:
    """`vlmevalkit_letter` as the toolkit read until release 0.0.18 of `ms-vlmeval`.

    The letter may stand anywhere, so that the article in "A red bus" is an answer, and an answer of
    any length is searched for the options' texts.
    """
    return _toolkit_letter(text, options, last_words=None, longest=None)


@dataclass(frozen=True)
class Rule:
    """A named way to read answers to one type of question.

    version changes whenever the rule reads any text differently; `read` takes the text and the
    options (empty where the type has none) and returns the canonical answer or `None`, *unknown*.
    """

    name: str
    version: str
    question_type: str
    read: Callable[[str, Mapping[str, str]], str | None]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("letter", "2", "mcq", letter),
        Rule("yes_no", "2", "yesno", lambda text, options: yes_no(text)),
        Rule("number", "2", "number", lambda text, options: number(text)),
        Rule("short", "2", "short", lambda text, options: short(text)),
        Rule("free", "1", "free", lambda text, options: text.strip() or None),
        # Their versions are the toolkit's releases with which they were found to agree.
        Rule("vlmevalkit_letter", "0.0.20", "mcq", vlmevalkit_letter),
        Rule("vlmevalkit_letter_anywhere", "0.0.18", "mcq", vlmevalkit_letter_anywhere),
    )
}
_PARSING = ("letter", "yes_no", "number", "short", "free")
_BY_TYPE = {RULES[name].question_type: RULES[name] for name in _PARSING}


def rule_of(question_type: str) -> Rule:
    """The rule by which `parse` reads answers to this type of question.

    Raises
    ------
    ValueError : for a question type that has no rule.
    """
    if question_type not in _BY_TYPE:
        *others, last = _BY_TYPE
        raise ValueError(
            f"No answer rule for question type {question_type!r}; expected {', '.join(others)} or "
            f"{last}."
        )
    return _BY_TYPE[question_type]


def parse(question_type: str, text: str, options: Mapping[str, str] | None = None) -> str | None:
    """The answer in `text` under the rule of its question type (`rule_of`)."""
    return rule_of(question_type).read(text, options or {})


def rules_stamp(question_types: Iterable[str]) -> dict[str, dict[str, str]]:
    """What the stamp of records says of the rules they are read by: `{"rules": {type: rule}}`.

    Records made before rules had versions do not say it; they were read by `letter 1`, `yes_no 1`
    and `short 1`.
    """
    return {"rules": {each: str(rule_of(each)) for each in sorted(set(question_types))}}


def canonical_truth(question_type: str, answer: str) -> str:
    """The ground truth in the form in which `parse` returns answers."""
    if question_type == "mcq":
        return answer.strip().upper()
    if question_type == "yesno":
        return answer.strip().casefold()
    if question_type == "number":
        return number(answer) or ""
    if question_type == "free":
        return answer.strip()
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


def _unmarked(text: str) -> str:
    return _MARKS.sub(r"\1", text).strip()


def _plain(text: str) -> str:
    return " ".join(_unmarked(text).casefold().split()).strip(_OUTER_PUNCTUATION)


def _others(text: str, chosen: str, options: Mapping[str, str]) -> set[str]:
    return (set(_STANDING_LETTER.findall(text)) & set(options)) - {chosen}


def _names_no_other(rest: str, chosen: str, options: Mapping[str, str]) -> bool:
    return _plain(rest) == _plain(options[chosen]) or not _others(rest, chosen, options)


def _toolkit_letter(
    text: str, options: Mapping[str, str], last_words: int | None, longest: int | None
) -> str | None:
    if _TOOLKIT_FAILURE not in text:
        if any(refusal in text for refusal in _TOOLKIT_REFUSALS):
            return None
        words = text.translate(_TOOLKIT_PUNCTUATION).split()
        named = [name for name in options if name in words]
        if len(named) == 1 and (
            last_words is None or words.index(named[0]) >= len(words) - last_words
        ):
            return named[0]
        if not named and "Z" in words:
            return None
    text = text.lower()
    if longest is not None and len(text) > longest * sum(map(len, options.values())):
        return None
    inside = [name for name, option in options.items() if option.lower() in text]
    return inside[0] if len(inside) == 1 else None
