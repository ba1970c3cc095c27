"""Where a text names an option, by its letter or by its text: each mention becomes one sign.

A sign is a character of Unicode's private use, so that the forms in which answers are given
(`claims`) can be written without the options. What only looks like a letter is none: the article of
"a boat", the pronoun I, and letters that belong to a longer name (B12, A+, C-3PO, D'Artagnan).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from sci_core.evaluation.texts import plain

_LETTERS, _TEXTS = 0xE000, 0xE100  # the first sign of a letter, and of a text
_SEVERAL = "\uf8ff"
SIGN = "[\ue000-\uf8ff]"
_LETTER_SIGN, _TEXT_SIGN = "[\ue000-\ue0ff]", "[\ue100-\ue1ff]"
OUTER = " \t\r\n.,;:!?\"'`“”‘’()[]{}。、，；：！？（）「」【】"

_ARTICLE = "(?:(?:a|an|the) )?"
# Between a letter and its option's text, "B. red", "B (red)", and the other way round, "red (B)".
_LETTER_THEN_TEXT = r"[ \n.,:;)\]}、。(\[\"'“‘*–—-]{1,4}"
_TEXT_THEN_LETTER = r"[ ,.(\[–—-]{1,4}(?:option )?"
# Words behind which a capital A or I is neither article nor pronoun: "A is correct", "A or B".
_BEHIND_A = (
    "is|isn't|was|because|since|as|or|and|but|not|rather|fits|matches|with|must|can|cannot|could"
    "|would|should|may|might|does|doesn't|did|has|seems|looks|which"
)
_BEHIND_I = "is|isn't|because|since|or|and|fits|matches"
_ALONE = (  # a capital letter that stands for itself
    r"(?<![A-Za-z0-9'’&/+@#_])(?<![A-Za-z0-9]-){letters}"
    r"(?![A-Za-z0-9'’+#&*_]|[-/][A-Za-z0-9]|\.[A-Za-z](?![a-z])| & )"
    r"(?:(?<![AI])|(?<=[Oo]ption .)|(?<=[Cc]hoice .)|(?! [A-Za-z])"
    rf"|(?<=A)(?= (?:{_BEHIND_A})\b)|(?<=I)(?= (?:{_BEHIND_I})\b))"
)
# A lower-case letter is one where it is all there is, or ends a cue: "answer: b", "option b".
_ALL_THERE_IS = re.compile(r"[(\[{\"']*([a-z])[)\]}\"'.:。]*")
_AFTER_CUE = re.compile(
    r"(?:(?:\b(?:option|choice|letter)|选项?|选择)[ :]*\(?|\banswer ?[:=] ?\(?|答案(?:是|为)?:? ?"
    r"|\banswer(?: is| would be)?:? \(|\b(?:answer|option|choice) is:? (?=[b-hj-z]))([a-z])[).。]*$",
    re.IGNORECASE,
)
_BEFORE_TEXT = re.compile(r"\(?([a-z])[.):]{1,2} ?(?=(.+)$)")


def without_signs(text: str) -> str:
    """`text` without characters that could be taken for signs."""
    return re.sub(SIGN, " ", text)


def sign(place: int) -> str:
    """The sign of the option at a place."""
    return chr(_LETTERS + place)


def named_by(text: str, names: Iterable[str]) -> set[str]:
    """The names whose signs stand in `text`; all, where a sign may be of several."""
    every = list(names)
    if _SEVERAL in text:
        return set(every)
    return {name for k, name in enumerate(every) if {chr(_LETTERS + k), chr(_TEXTS + k)} & {*text}}


def marked(text: str, options: Mapping[str, str]) -> str:
    """`text` with a sign for each mention of an option: its letter, its text, or both."""
    text = _capitals(without_signs(text), options)
    text = _pattern(tuple(options.items())).sub(lambda match: _sign(match, options), text)
    # "B. red" where red is another option's: the letter decides.
    return re.sub(rf"({_LETTER_SIGN})[)\]]?[.:)、] ?{_TEXT_SIGN}", r"\1", text)


def core(option: str) -> str:
    """An option's text as it may be mentioned: plain, without its article and outer marks."""
    return re.sub(r"^(?:a|an|the) (?=\S)", "", plain(option).strip(OUTER))


def _sign(match: re.Match[str], options: Mapping[str, str]) -> str:
    kind, place = match.lastgroup[0], int(match.lastgroup[1:])
    names = list(options)
    name, text = names[place], match[0]
    if kind == "b":
        return chr(_LETTERS + place)
    if kind == "l":
        texts = {each for each in names if core(options[each]) == text.casefold()}
        return chr(_LETTERS + place) if texts <= {name} else _SEVERAL
    alike = sum(core(each) == core(options[name]) for each in options.values())
    # In "A boat" the A may be the letter of another option, or the article.
    article = text.startswith("A ") and not options[name].casefold().startswith("a ")
    if alike > 1 or (article and name != "A" and "A" in options):
        return _SEVERAL
    return chr(_TEXTS + place)


@lru_cache(maxsize=256)
def _pattern(options: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Letters with their own texts, then texts, the longest first, then letters alone."""
    both, texts, letters = [], [], []
    for place, (name, option) in enumerate(options):
        letter = re.escape(name)
        letters.append(f"(?P<l{place}>{_ALONE.format(letters=letter)})")
        if not (text := core(option)):
            continue
        said = rf"(?i:{_ARTICLE}{_bounded(text)})"
        between = _LETTER_THEN_TEXT if text[0].isascii() else f"(?:{_LETTER_THEN_TEXT})?"
        both.append(
            rf"(?P<b{place}>(?<![A-Za-z0-9]){letter}{between}{said}"
            rf"|{said}{_TEXT_THEN_LETTER}{letter}(?![A-Za-z0-9]))"
        )
        if text.upper() not in dict(options):
            texts.append((len(text), f"(?P<t{place}>{said})"))
    texts = [pattern for _, pattern in sorted(texts, key=lambda each: -each[0])]
    return re.compile("|".join([*both, *texts, *letters]) or r"(?!)")


def _bounded(text: str) -> str:
    """The pattern of a text that is no part of a longer word."""
    before = "(?<![a-z0-9])" if text[0].isascii() and text[0].isalnum() else ""
    after = r"(?![a-z0-9]|[.,]\d)" if text[-1].isascii() else ""
    return before + re.escape(text).replace(r"\ ", r"\s") + after


def _capitals(text: str, options: Mapping[str, str]) -> str:
    """`text` with a lower-case letter that is an answer set in upper case."""
    alone = _ALL_THERE_IS.fullmatch(text) or _AFTER_CUE.search(text[-80:])
    if alone and alone[1].upper() in options:
        place = len(text) - len(text[-80:]) + alone.start(1) if alone.re is _AFTER_CUE else alone.start(1)
        return text[:place] + alone[1].upper() + text[place + 1 :]
    opening = _BEFORE_TEXT.match(text)
    name = opening[1].upper() if opening else ""
    if name in options and core(opening[2]) == core(options[name]):
        return name + text[opening.end(1) :]
    return text
