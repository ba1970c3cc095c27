"""Where a text names an option, by its letter or by its text: each mention becomes one sign.

A sign is a character of Unicode's private use, so that the forms in which answers are given
(`claims`) can be written without the options. What only looks like a letter is none: the article of
"a boat", the pronoun I, and letters that belong to a longer name (B12, A+, C-3PO, D'Artagnan).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from sci_core.evaluation.denials import judged_wrong
from sci_core.evaluation.texts import plain

OUTER = " \t\r\n.,;:!?\"'`“”‘’()[]{}«»。、，；：！？（）「」【】"
SIGN = "[\ue000-\uf8ff]"
_LETTERS, _TEXTS = 0xE000, 0xE200  # the first sign of a letter, and of a text
_LETTER_SIGN, _TEXT_SIGN = "[\ue000-\ue1ff]", "[\ue200-\ue3ff]"
_SEVERAL = "\uf8ff"

# Words behind which a capital A or I is neither article nor pronoun: "A is correct", "A or B".
_BEHIND_A = (
    "is|isn't|was|because|since|as|or|and|but|not|rather|fits|matches|with|must|can|cannot|could"
    "|would|should|may|might|does|doesn't|did|has|seems|looks|which"
)
_BEHIND_I = "is|isn't|because|since|or|and|fits|matches"
_TAKEN_BACK = re.compile(
    r"\b(?:wait|oh|hmm),? no\b(?=\W+\w)|\bno,? (?:wait|sorry|actually)\b", re.IGNORECASE
)
_ALONE = re.compile(  # a capital letter that stands for itself
    r"(?<!\bMr\. )(?<!\bDr\. )(?<!\bMs\. )(?<!\bMrs\. )"
    r"(?<![A-Za-z0-9&/+@#_])(?<![A-Za-z0-9]['’-])(?<! & )([A-Z])"
    r"(?![A-Za-z0-9+#&_*]|['’][A-Za-z]|[-/][A-Za-z0-9]|\.(?!\1)[A-Za-z]\.| & )"
    r"(?:(?<![AI])|(?<=[Oo]ption .)|(?<=[Cc]hoice .)|(?! (?:[a-z]|[A-Z][A-Za-z'’]))"
    rf"|(?<=A)(?= (?:{_BEHIND_A})\b)|(?<=I)(?= (?:{_BEHIND_I})\b))"
)
# A lower-case letter is one where it is all there is, or ends a cue: "answer: b", "option b".
_ALL_THERE_IS = re.compile(r"[(\[{\"'«]*([a-z])[)\]}\"'».:。]*")
_AFTER_CUE = re.compile(
    r"(?:\b(?:option|choice|letter)|选项?|选择|答案(?:是|为)?|\banswer(?= ?[:=(]))"
    r"[ :=]*[(\[]?([a-z])[)\].。]*$"
    r"|\b(?:answer|option|choice) is:? (?:[(\[]([a-z])[)\]]|([a-z])\)|([b-hj-z]))[)\].。]*$",
    re.IGNORECASE,
)
_GLUED = re.compile(r"(?<=[0-9])([A-Z])(?![A-Za-z0-9])")  # the A of "2A" counts as told of
_BEFORE_TEXT = re.compile(r"[(\[]?([a-z])[.):\]]{1,2} ?(?=(.+)$)")
# Between a letter and a text: "B. red", "B (red)"; and the other way round: "red (B)".
_BETWEEN = r"[ \n.,:;)\]}、。(\[\"'“‘*–—-]{0,4}"
_LETTER_THEN_TEXT = re.compile(rf"({_LETTER_SIGN})({_BETWEEN})({_TEXT_SIGN}(?: {_TEXT_SIGN})*)")
_TEXT_THEN_LETTER = re.compile(rf"({_TEXT_SIGN})[ ,.(\[–—-]{{1,4}}(?:option )?({_LETTER_SIGN})")
_ENDS_A_LETTER = re.compile(r"[)\]]?[.:)、]\)? ?")
_NO_OPTION_THEN_TEXT = re.compile(rf"(?<![A-Za-z0-9])[A-Z][.:)] ?{_TEXT_SIGN}")


def without_signs(text: str) -> str:
    """`text` without characters that could be taken for signs."""
    return re.sub(SIGN, " ", text)


def taken_back(text: str) -> str:
    """`text` with "wait" for "no, wait": this "no" is no answer."""
    return _TAKEN_BACK.sub("wait", text)


def sign(place: int) -> str:
    """The sign of the option at a place."""
    return chr(_LETTERS + place)


def has_letter(signs: str) -> bool:
    """Whether an option is mentioned by its letter, alone or with its text, or may be."""
    return re.search(f"{_LETTER_SIGN}|{_SEVERAL}", signs) is not None


def named_by(text: str, names: Iterable[str]) -> set[str]:
    """The names whose signs stand in `text`; all, where a sign may be of several."""
    every, signs = list(names), set(text)
    if _SEVERAL in signs:
        return set(every)
    return {name for k, name in enumerate(every) if {chr(_LETTERS + k), chr(_TEXTS + k)} & signs}


def marked(text: str, options: Mapping[str, str]) -> str:
    """`text` with a sign for each mention of an option: its letter, its text, or both."""
    names = list(options)
    cores = [core(option) for option in options.values()]
    text = taken_back(without_signs(text))
    text = _capitals(text, dict(zip(names, cores, strict=True)))

    def text_sign(match: re.Match[str]) -> str:
        said = core(match[0])
        return chr(_TEXTS + cores.index(said)) if cores.count(said) == 1 else _SEVERAL

    def letter_sign(match: re.Match[str]) -> str:
        if match[1] not in options:
            return match[0]
        place = names.index(match[1])
        own = cores[place] == match[1].casefold() or match[1].casefold() not in cores
        return sign(place) if own else _SEVERAL

    def one_of_both(match: re.Match[str]) -> str:
        letter, between, said = match.groups()
        if _ENDS_A_LETTER.fullmatch(between):  # the letter decides, whatever follows it
            if _alike(letter, said):
                return letter + "."
            judged = judged_wrong(cores[ord(said[0]) - _TEXTS])
            return _SEVERAL if judged else letter + "."
        if _alike(letter, said):
            return letter
        return _SEVERAL if between == " " else match[0]

    text = _texts(tuple(options.values())).sub(text_sign, text)
    text = _ALONE.sub(letter_sign, text)
    text = _GLUED.sub(letter_sign, text)
    text = _LETTER_THEN_TEXT.sub(one_of_both, text)
    text = _TEXT_THEN_LETTER.sub(
        lambda match: match[match.lastindex] if _alike(match[2], match[1]) else match[0], text
    )
    return _NO_OPTION_THEN_TEXT.sub(_SEVERAL, text)


def core(option: str) -> str:
    """An option's text as it may be mentioned: plain, without its article and outer marks."""
    return re.sub(r"^(?:a|an|the) (?=\S)", "", plain(option).strip(OUTER))


def _alike(letter: str, texts: str) -> bool:
    """Whether a letter's sign and the signs of texts stand for one option."""
    return {ord(letter) - _LETTERS} == {ord(each) - _TEXTS for each in texts if each != " "}


@lru_cache(maxsize=256)
def _texts(options: tuple[str, ...]) -> re.Pattern[str]:
    """The options' texts, the longest first; a text that is a capital letter in its own case."""
    patterns = []
    for option in options:
        if text := core(option):
            # An article of the option's own belongs to it: with the option "boat", the A of "A
            # boat" may be a letter.
            article = (
                "(?:(?:a|an|the) )?"
                if core(option) != plain(option).strip(OUTER)
                else "(?:(?-i:a|an|An|[Tt]he) )?"
            )
            letter = len(text) == 1 and text.isascii() and text.isalpha()
            written = f"(?-i:{text.upper()})" if letter else re.escape(text).replace(r"\ ", r"\s")
            patterns.append((len(text), article + _bounded(text, written)))
    ordered = [pattern for _, pattern in sorted(patterns, key=lambda each: -each[0])]
    return re.compile("|".join(ordered) or r"(?!)", re.IGNORECASE)


def _bounded(text: str, pattern: str) -> str:
    """The pattern of a text that is no part of a longer word."""
    before = "(?<![A-Za-z0-9])" if text[0].isascii() and text[0].isalnum() else ""
    after = r"(?![A-Za-z0-9]|[.,]\d|['’-][A-Za-z0-9])" if text[-1].isascii() else ""
    return before + pattern + after


def _capitals(text: str, cores: Mapping[str, str]) -> str:
    """`text` with a lower-case letter that is an answer set in upper case."""
    found = _ALL_THERE_IS.fullmatch(text) or _AFTER_CUE.search(text, max(0, len(text) - 80))
    if found is None and (opening := _BEFORE_TEXT.match(text)):
        found = opening if core(opening[2]) == cores.get(opening[1].upper()) else None
    if found is None:
        return text
    place = found.start(1 if found.re is _BEFORE_TEXT else found.lastindex)
    name = text[place].upper()
    return text[:place] + name + text[place + 1 :] if name in cores else text
