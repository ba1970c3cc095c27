"""The one number in an answer to a counting question: digits, English words, Chinese numerals.

Number words are read by looking up how a number is spelt, never by adding up words: what spells no
number ("three four", 三四只, "twenty hundred") is no number.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from sci_book.data.answers.cues import MEASURE_WORDS, NUMBER_WORDS, TENS, cue
from sci_book.data.answers.texts import spoken, untagged

_CHINESE_DIGITS = "零一二三四五六七八九"
SPELT = 10_000
"""Numbers below this one are read from words."""

# What stands together with a digit: "12", "1,000", "2.5", "-3", "3rd", "b2", "2-3", "3-legged".
_STRETCH = re.compile(r"[-−+a-z0-9_.,]+")
_DIGITS = re.compile(r"([-−+]?)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]+))?")
_CHINESE = re.compile("[〇零一二两三四五六七八九十百千万]+")
# Raised and lowered digits, which NFKC would set beside the others: "3²" is not 32.
_RAISED = re.compile("[⁰¹²³⁴-⁹₀-₉]")
_EQUALS = re.compile(r"=|\bequals\b|等于")
_ASKED = re.compile(r"(?:\?|吗)[\"'”)]*$")
_OUTER = " \t\r\n.,;:!?\"'`“”‘’()[]。、"


def number(text: str) -> str | None:
    """The one number that `text` names, or `None`: for counting questions.

    Digits ("12", "1,000", "2.5", "-3", full width too), English words and Chinese numerals below
    `SPELT`, these as the whole answer or before a measure word. "None" alone is 0; "no" is not.
    "There are no dogs" is 0, too. Ordinals count nothing. Where several numbers stand, a clause
    that gives the sum or the answer decides ("2 and 3, so 5 in total"). Else two different numbers,
    an amount such as "two dozen", a bound ("at least 3", "over 100", "3+"), a denial, a question,
    digits glued to letters ("3-legged") and words that spell no
    number make the answer unknown.
    """
    if _RAISED.search(text):
        return None
    # Full-width digits and punctuation become ASCII.
    lines = unicodedata.normalize("NFKC", untagged(spoken(text))).casefold().splitlines()
    text = "\n".join(" ".join(line.split()) for line in lines).strip()
    if cue("no_number").fullmatch(text.strip(_OUTER)):
        return "0"
    text = re.sub(r"\b(?:a|one) single\b", "one", text)
    text = cue("not_this_number").sub("", _corrected(text))
    if (answer := _one(text) or _one(cue("number_aside").sub("", text))) is not None:
        return answer
    clauses = cue("number_clauses").split(cue("concluding_comma").sub(r"\1", text))
    concluded = [clause for clause in clauses if cue("number_concludes").search(clause)]
    if len(parts := _EQUALS.split(text)) > 1:
        concluded.append(parts[-1])
    answers = {_one(clause) for clause in concluded} - {None}
    if not concluded and (alone := cue("number_alone").fullmatch(text)):
        return _one(alone[1])
    return answers.pop() if len(answers) == 1 else None


def _corrected(text: str) -> str:
    """What follows the last word that takes something back, if a number does."""
    ends = [match.end() for match in cue("number_taken_back").finditer(text)]
    numbers = [match.start() for match in cue("some_number").finditer(text)]
    return text[max((end for end in ends if numbers and end <= numbers[-1]), default=0) :]


def _one(text: str) -> str | None:
    """The number in a text that holds one, not doubted, denied or bounded."""
    if _ASKED.search(text.strip()):
        return None
    if cue("other_amount").search(text):
        return None
    text = re.sub(r"\.{2,}|--+", " ", cue("not_counted").sub(" ", text))
    numbers = {
        in_digits(match[0]) for match in _STRETCH.finditer(text) if re.search("[0-9]", match[0])
    }
    # "3 one-way streets" are three: a word glued to another counts nothing.
    numbers |= {
        _in_english(match[0]) for match in cue("spelt_number").finditer(text) if not match[1]
    }
    numbers |= {_in_chinese(match) for match in _CHINESE.finditer(text)}
    return numbers.pop() if len(numbers) == 1 else None


def in_digits(text: str) -> str | None:
    """The canonical form of a stretch with digits; None if it is no number by itself."""
    match = _DIGITS.fullmatch(text.rstrip(".,-−"))
    if match is None:
        return None
    sign, whole, fraction = match.groups(default="")
    whole = whole.replace(",", "").lstrip("0") or "0"
    value = f"{whole}.{fraction}".rstrip("0").rstrip(".") if fraction else whole
    return f"-{value}" if sign in {"-", "−"} and value != "0" else value


def _in_english(words: str) -> str | None:
    plain = re.sub(r"\b(hundred|thousand)\s+and\b", r"\1", words).replace("-", " ")
    return _english().get(" ".join(plain.split()))


def _in_chinese(match: re.Match[str]) -> str | None:
    """The value of a numeral that is the whole answer or stands before a measure word."""
    text, end = match.string, match.end()
    measured = text[end : end + 1] in set(MEASURE_WORDS)
    if (
        not measured
        and cue("number_opening").sub("", text.strip(_OUTER), count=1).strip() != match[0]
    ):
        return None
    return _chinese().get(match[0].replace("两", "二").replace("〇", "零"))


@cache
def _english() -> dict[str, str]:
    """Numbers by their spelling, without "and" and hyphens."""
    spelt = {"hundred": "100", "thousand": "1000"}
    for value in range(SPELT):
        thousands, hundreds, rest = value // 1000, value // 100 % 10, value % 100
        words = [NUMBER_WORDS[thousands], "thousand"] if thousands else []
        words += [NUMBER_WORDS[hundreds], "hundred"] if hundreds else []
        if rest >= 20:
            words += [TENS[rest // 10 - 2], *([NUMBER_WORDS[rest % 10]] if rest % 10 else [])]
        elif rest or not words:
            words.append(NUMBER_WORDS[rest])
        spelt[" ".join(words)] = str(value)
    return spelt


@cache
def _chinese() -> dict[str, str]:
    """Numbers by their spelling, 十二 as well as 一十二, with 二 for 两."""
    spelt = {"零": "0"}
    for value in range(1, SPELT):
        text, gap = "", False
        for unit, power in (("千", 1000), ("百", 100), ("十", 10), ("", 1)):
            digit = value // power % 10
            if digit:
                text += ("零" if gap and text else "") + _CHINESE_DIGITS[digit] + unit
            gap = not digit
        spelt[text] = str(value)
        if 10 <= value < 20:
            spelt[text[1:]] = str(value)
    return spelt
