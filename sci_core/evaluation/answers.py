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

from sci_core.evaluation.denials import denied, judged_wrong
from sci_core.evaluation.numerals import number
from sci_core.evaluation.texts import plain, tidy

# A letter closed by punctuation, the end, or a line end with a sentence behind it: "B", "B.",
# "(B)", "B) red", "B：红".
_LEADING_LETTER = re.compile(
    r"[(（]? ?([A-Z]) ?(?:$|[.,:;)\]、。：，；）]|\n(?=[A-Z][a-z]|[一-鿿]))\s?"
)
# A letter the sentence itself calls the answer: "The answer is B", "Answer: (B)", "答案是B".
_NAMED_LETTER = re.compile(
    r"(?:\banswer(?: to (?:the|this) question)?\b|\b(?:option|choice|choose|pick|select|go with)\b"
    r"|答案|选项|选择|选)\s?"
    r"(?:(?:is|would be|should be|must be|(?:应该|可能|就|显然)?是|应为|为)\s?)?"
    r"(?:(?:most )?[a-z]+ly\s)?(?:[:：]\s?)?(?:(?:\boption\b|选项)\s?)?"
    r"[\"'“(（【]*([A-Z])(?![A-Za-z])",
    re.IGNORECASE,
)
# Or that opens the sentence: "B is correct.", "B是正确的".
_JUDGED_RIGHT = re.compile(
    r"[(（]?([A-Z])[)）]? ?(?:is (?:the )?(?:correct|right|best)(?: answer| option| choice| one)?"
    r"|is the answer|(?:选?项)?(?:是正确(?:的|答案|选项)|正确|是答案))"
    r"(?= because|$|[\n.,;:!。，；！])"
)
# "b", "(b).", and before its own option's text "b) red".
_LOWER_CASE_LETTER = re.compile(r"[(（]?([a-z])(?:$|[.)）。:：]{1,2} ?)")
# A capital standing alone. "A" before a lower-case word is the article, "I" before one the pronoun.
_STANDING_LETTER = re.compile(r"(?<![A-Za-z])(?![AI] [a-z])([A-Z])(?![A-Za-z'’])")
# "No" before another word belongs to that word: "no dog", "no longer". "No because" does not.
_NO_OF_ANOTHER_WORD = r"no (?!(?:because|since|as|for|it|there|and|but|so|i)\b)[a-z]"
_OPENING_YES_NO = re.compile(r"[\"'“(]*(yes|no)(?=$|[\s.,;:!)\"'”。，！—–])")
_NAMED_YES_NO = re.compile(
    r"(?:\banswer(?: to (?:the|this) question)?|答案)(?: ?(?:is|would be|should be|是|为))?"
    rf"(?: ?[:：])?\s?[\"'“]?(?!{_NO_OF_ANOTHER_WORD})(yes|no)\b"
)
_CHINESE_YES_NO = re.compile(
    r"(?:(?:答案|回答)(?:是|为)?[:：] ?)?[“\"]?(是的?|有|对的?|否|不是的?|没有|不对|不)"
    r"(?=$|[\s。，！；,.!;”\"])"
)
_CHINESE_YES = ("是", "有", "对")
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
    letter that the sentence calls the answer, or correct. A second option letter standing alone
    makes the answer unknown, except inside the named option's own text ("B. vitamin C"), and so
    does a denial ("Option A is wrong", "(A) is not right", "not answer A"; `denials`). Where a
    leading letter and the words after it disagree otherwise, the letter decides: it is what the
    prompt asks for.

    Parameters
    ----------
    text : what the model wrote.
    options : option letters and their texts, as the row shows them.
    """
    text = tidy(text)
    said = _plain(text)
    by_text = [name for name, option in options.items() if said != "" and _plain(option) == said]
    if text in options and by_text and by_text != [text]:
        return None  # the letter of one option and the text of another
    if len(by_text) == 1:
        return by_text[0]

    leading = _LEADING_LETTER.match(text)
    if leading and leading[1] in options:
        rest = text[leading.end() :]
        repeats = _opens_with(rest, options[leading[1]])
        if not repeats and judged_wrong(text[leading.end(1) :]):
            return None
        return leading[1] if _names_no_other(rest, leading[1], options) else None
    if text[:1] in options and text[1:2] == " " and _plain(text[2:]) == _plain(options[text[0]]):
        return text[0]
    lower = _LOWER_CASE_LETTER.match(text)
    chosen = lower[1].upper() if lower else ""
    if chosen in options and _plain(text[lower.end() :]) in ("", _plain(options[chosen])):
        return chosen

    named = _JUDGED_RIGHT.match(text) or _NAMED_LETTER.search(text)
    if named is None:
        return None
    chosen, after = named[1], text[named.end(1) :]
    if chosen not in "ai" and chosen.islower() and not after.strip(_OUTER_PUNCTUATION):
        chosen = chosen.upper()  # "the answer is b" has ended; "the answer is a" may have been cut
    if chosen not in options:
        return None
    repeats = _opens_with(after, options[chosen])
    if denied(text[: named.start()], "" if repeats else after):
        return None
    before, after = text[: named.start(1)], after.lstrip(".,:;)） ")
    if _names_no_other(before + " " + after, chosen, options):
        return chosen
    if not _others(before, chosen, options) and _plain(after) == _plain(options[chosen]):
        return chosen
    return None


def yes_no(text: str) -> str | None:
    """ "yes" or "no" where the answer opens with the word, or 是 and its like, or calls it the
    answer; else `None`.

    A text with both words is unknown, and so are a "no" inside a sentence ("There is no dog", "The
    answer is no longer clear") and a word that is denied ("The answer yes is wrong").
    """
    text = tidy(text).casefold()
    words = set(re.findall(r"\b(yes|no)\b", text))
    chinese = _CHINESE_YES_NO.match(text)
    if chinese:
        answer = "yes" if chinese[1].startswith(_CHINESE_YES) else "no"
        return answer if words <= {answer} else None
    if len(words) != 1:
        return None
    opens = _OPENING_YES_NO.match(text)
    if opens and not re.match(rf"[\"'“(]*{_NO_OF_ANOTHER_WORD}", text):
        return None if judged_wrong(text[opens.end() :]) else opens[1]
    named = _NAMED_YES_NO.search(text)
    if named is None or denied(text[: named.start()], text[named.end() :]):
        return None
    return named[1]


def short(text: str) -> str | None:
    """A short answer in canonical form, or `None` where nothing is left of it.

    Case, outer punctuation, marks (`texts.plain`), repeated spaces and one leading English article
    are dropped; nothing else: "dogs" is not "dog", "3" is not "three".
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


def _plain(text: str) -> str:
    return plain(text).strip(_OUTER_PUNCTUATION)


def _opens_with(text: str, option: str) -> bool:
    """Whether `text` opens with the option's own text: there a denial denies nothing."""
    option = _plain(option)
    return option != "" and _plain(text).startswith(option)


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
