"""The one number in an answer to a counting question: digits, English words, Chinese numerals.

Number words are read by looking up how a number is spelt, never by adding up words: what spells no
number ("three four", 三四只, "twenty hundred") is no number.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from sci_book.data.answers.texts import spoken, untagged

NUMBER_WORDS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_CHINESE_DIGITS = "零一二三四五六七八九"
SPELT = 10_000
"""Numbers below this one are read from words."""

# What stands together with a digit: "12", "1,000", "2.5", "-3", "3rd", "b2", "2-3", "3-legged".
_STRETCH = re.compile(r"[-−+a-z0-9_.,]+")
_DIGITS = re.compile(r"([-−+]?)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.([0-9]+))?")
_WORD = "(?:" + "|".join([*NUMBER_WORDS, *_TENS, "hundred", "thousand"]) + ")"
_WORDS = re.compile(rf"\b{_WORD}(?:(?:[\s-]+|\s+and\s+){_WORD})*\b(-[a-z]+)?")
_CHINESE = re.compile("[〇零一二两三四五六七八九十百千万]+")
MEASURE_WORDS = (
    "个只條条张辆件位名人本台架头匹棵朵颗块片把间座粒串份盆层种杯瓶盘碗枚根支"
    "艘套盏扇幅群排部栋株束家节副口"
)
_OPENING = re.compile(
    "(?:答案|图中|图片中|图里|画面中|这里)?(?:.{0,6}数量)?(?:一共|总共|共)?(?:有|是|为)?:?"
)
# What looks like a number and counts nothing: "the one on the left", "one of them", 第三, 一些.
_NOT_COUNTED = re.compile(
    r"\b(?:no|the|this|that|which|each|every|any|some|another|other|first|second"
    r"|third|last|next|left|right|middle|top|bottom)[\s-]+one\b"
    r"|\bone\s+of\b|\b(?:in|since|of|year)\s+(?:19|20)[0-9]{2}\b"
    r"|\b(?:one|1)\s+(?:number|word|digit|phrase|letter)\b|一个(?:数字|词|字|选项)|\b[0-9]+(?:st|nd|rd|th)\b"
    r"|第\s?(?:[一二三四五六七八九十百]+|[0-9]+)|一(?:共|些|样|起|般|定|直|边|下)|唯一|三角"
    r"|[0-9一二三四五六七八九十]+点(?:半|钟|$)"
)
_A_NUMBER = rf"(?=(?:(?:a|about|around|roughly|of|the)\s+)*(?:[0-9]|{_WORD}\b))"
_A_CHINESE_NUMBER = r"(?=\s?[0-9〇零一二两三四五六七八九十百千万])"
# Amounts that nothing here computes, bounds and denials: the number beside them is not the count.
_OTHER_AMOUNT = re.compile(
    r"\b(?:dozens?|pairs?|couples?|hal(?:f|ves)|quarters?|hundreds|thousands|[mb]illions?"
    r"|twice|thrice)\b|[0-9一二两三四五六七八九十百千万]\s?[对双打半亿]"
    r"|\b(?:more|fewer|less|than|least|most(?! likely))\b"
    # In front of a number these bound it; "2 cats under the table" are two.
    r"|\b(?:over|under|above|below|beyond|up\s+to|close\s+to|as\s+many\s+as|almost|nearly"
    r"|exceed(?:s|ing)?|excess\s+of|upwards?\s+of|without|instead\s+of|max(?:imum)?\.?"
    rf"|min(?:imum)?\.?|no(?!\s+one\b))\s+{_A_NUMBER}"
    rf"|(?:(?<![-=])[<>≤≥⩽⩾≦≧≠]=?|\\[gl]eq?\b)\s?{_A_NUMBER}"
    rf"|(?:[0-9]|\b{_WORD})\s?(?:\+|\b(?:plus\b(?!-)|max(?:imum)?\b|min(?:imum)?\b))"
    r"|\b(?:not|cannot|neither|except|excluding|wrong|incorrect)\b|n['’]t\b"
    r"|没|不(?!同|锈)|错误|至少|至多|最多|最少|起码|超过|以上|以下|以内|[多少大小高低]于|除了"
    rf"|(?:将近|接近|几乎|多达|[逾超]|(?<![附最靠远临接])近){_A_CHINESE_NUMBER}|几[十百千万]"
    rf"|数[十百千万]|个半|[0-9十百千万]\s?[多余几来](?=$|[\s。，{MEASURE_WORDS}])"
)
# Raised and lowered digits, which NFKC would set beside the others: "3²" is not 32.
_RAISED = re.compile("[⁰¹²³⁴-⁹₀-₉]")
_NUMBER = (
    rf"(?:[0-9][0-9,.]{{0,20}}|{_WORD}(?:[ -]{_WORD}){{0,5}}"
    r"|[〇零一二两三四五六七八九十百千万]{1,9})"
)
_NOT_THIS = re.compile(  # "not 3 but", "…, not 3": what is corrected is not the answer
    rf"\bnot {_NUMBER}(?: [a-z]+)?,? (?:but(?: rather)?|it'?s|it is) "
    rf"|,? (?:(?:and )?not|rather than) {_NUMBER}(?: [a-z]+)?(?=[.!]*$)"
    rf"|不是{_NUMBER}[^,。]?,(?:而是|是)|,(?:而)?不是{_NUMBER}[^,。]?(?=[。!]*$)"
)
# What follows takes back what stood before: "There are 4. Wait, there are 5."
_TAKEN_BACK = re.compile(
    rf"(?<=[.;!,…]) ?actually,?(?= (?:it|there|i|only|just|[0-9]|{_WORD}))"
    r"|\b(?:wait|sorry|correction|hold on|let me (?:re-?|check|count)[a-z ]{0,30})\b"
    r"|不对|等等|更正|纠正"
)
_SOME_NUMBER = re.compile(rf"[0-9]|\b{_WORD}\b|[一二两三四五六七八九十]")
# A number that is a sentence by itself, before others: "4. They stand in two rows."
_ALONE = re.compile(
    rf"({_NUMBER})[.。](?:\s+(?=[a-z])|(?=[一-鿿]))(?!.*\n\W*[0-9]+[.)]).*", re.DOTALL
)
# A clause that says what the count is, after others that say how it came about.
_CLAUSES = re.compile(r"[;。!\n]|[,.](?=\s|[^0-9\s])|(?=\bso\b)")
_CONCLUDES = re.compile(
    r"\b(?:answer|correct (?:number|count)|total|sum|altogether|so|thus|hence|therefore)\b"
    r"|答案|共|所以|因此"
)
_CONCLUDING_COMMA = re.compile(r"\b(therefore|so|thus|hence|in total|altogether|总共|所以|因此),")
_EQUALS = re.compile(r"=|\bequals\b|等于")
_ASIDE = re.compile(
    rf"\([^()]*[a-z一-鿿]{{2}}[^()]*\)|,? {_NUMBER} of (?:which|whom|them)\b[^.;\n]*"
)
_ASKED = re.compile(r"(?:\?|吗)[\"'”)]*$")
_NONE = re.compile(
    r"(?:the answer is |answer: |there (?:are|is) )?none"
    r"|(?:there (?:are|is)|i (?:can )?see|it has) (?:no|not any|zero) "
    r"(?!one\b|way\b|[0-9])[a-z ]{1,60}"
    r"|no (?!news)[a-z]{2,30}[^s]s(?: (?:in|on|at|are|here|visible)\b[a-z ]{0,40})?"
    r"|(?:图中|图片中|图里|画面中|这里)?没有(?!足够|办法|答案|提供|[0-9一二两三四五六七八九十])[^,.;?]{1,6}"
    r"|(?:图中)?一[个只条张辆人][^,]{0,4}[也都]没有"
)
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
    if _NONE.fullmatch(text.strip(_OUTER)):
        return "0"
    text = re.sub(r"\b(?:a|one) single\b", "one", text)
    text = _NOT_THIS.sub("", _corrected(text))
    if (answer := _one(text) or _one(_ASIDE.sub("", text))) is not None:
        return answer
    clauses = _CLAUSES.split(_CONCLUDING_COMMA.sub(r"\1", text))
    concluded = [clause for clause in clauses if _CONCLUDES.search(clause)]
    if len(parts := _EQUALS.split(text)) > 1:
        concluded.append(parts[-1])
    answers = {_one(clause) for clause in concluded} - {None}
    if not concluded and (alone := _ALONE.fullmatch(text)):
        return _one(alone[1])
    return answers.pop() if len(answers) == 1 else None


def _corrected(text: str) -> str:
    """What follows the last word that takes something back, if a number does."""
    ends = [match.end() for match in _TAKEN_BACK.finditer(text)]
    numbers = [match.start() for match in _SOME_NUMBER.finditer(text)]
    return text[max((end for end in ends if numbers and end <= numbers[-1]), default=0) :]


def _one(text: str) -> str | None:
    """The number in a text that holds one, not doubted, denied or bounded."""
    if _ASKED.search(text.strip()):
        return None
    if _OTHER_AMOUNT.search(text):
        return None
    text = re.sub(r"\.{2,}|--+", " ", _NOT_COUNTED.sub(" ", text))
    numbers = {
        in_digits(match[0]) for match in _STRETCH.finditer(text) if re.search("[0-9]", match[0])
    }
    # "3 one-way streets" are three: a word glued to another counts nothing.
    numbers |= {_in_english(match[0]) for match in _WORDS.finditer(text) if not match[1]}
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
    if not measured and _OPENING.sub("", text.strip(_OUTER), count=1).strip() != match[0]:
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
            words += [_TENS[rest // 10 - 2], *([NUMBER_WORDS[rest % 10]] if rest % 10 else [])]
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
