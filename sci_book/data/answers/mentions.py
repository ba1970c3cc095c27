"""Where a text names an option, by letter or text, or says yes or no: each mention becomes a sign.

A sign is a character of Unicode's private use, so that the forms in which answers are given
(`claims`) can be written without the options. What only looks like a letter is none: the article of
"a boat", the pronoun I, and letters that belong to a longer name (B12, A+, C-3PO, D'Artagnan). Yes
and no count where they stand for themselves: "no" before a noun belongs to the noun ("no dog", "no
longer"), 是 and 有 inside a sentence are its verb, and "wait, no" takes something back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sci_book.data.answers.cues import MEASURE_WORDS, cue, judged_wrong
from sci_book.data.answers.numerals import number
from sci_book.data.answers.texts import plain

OUTER = " \t\r\n.,;:!?\"'`“”‘’()[]{}«»。、，；：！？（）「」【】"
YES_NO = ("yes", "no")
SIGN = "[\ue000-\uf8ff]"
_LETTERS, _TEXTS = 0xE000, 0xE200  # the first sign of a letter, and of a text
_LETTER_SIGN, _TEXT_SIGN = "[\ue000-\ue1ff]", "[\ue200-\ue3ff]"
_SEVERAL = "\uf8ff"

# A lower-case letter is one where it is all there is, or ends a cue: "answer: b", "option b".
_ALL_THERE_IS = re.compile(r"[(\[{\"'«]*([a-z])[)\]}\"'».:。]*")
_GLUED = re.compile(r"(?<=[0-9])([A-Z])(?![A-Za-z0-9])")  # the A of "2A" counts as told of
_BEFORE_TEXT = re.compile(r"[(\[]?([a-z])[.):\]]{1,2} ?(?=(.+)$)")
# Between a letter and a text: "B. red", "B (red)"; and the other way round: "red (B)".
_BETWEEN = r"[ \n.,:;)\]}、。(\[\"'“‘*–—-]{0,4}"
_LETTER_THEN_TEXT = re.compile(rf"({_LETTER_SIGN})({_BETWEEN})({_TEXT_SIGN}(?: {_TEXT_SIGN})*)")
_TEXT_THEN_LETTER = re.compile(rf"({_TEXT_SIGN})[ ,.(\[–—-]{{1,4}}(?:option )?({_LETTER_SIGN})")
_ENDS_A_LETTER = re.compile(r"[)\]]?[.:)、]\)? ?")
_NO_OPTION_THEN_TEXT = re.compile(rf"(?<![A-Za-z0-9])[A-Z][.:)] ?{_TEXT_SIGN}")


# "A. B", where B is the text of A.
_LETTER_THEN_LETTER = re.compile(
    r"(?<![A-Za-z0-9])([A-Z])([)\]]?[.:)、]\)? ?)[(\[\"']?([A-Za-z])[)\]\"']?(?![A-Za-z0-9'’])"
)


def without_signs(text: str) -> str:
    """`text` without characters that could be taken for signs."""
    return re.sub(SIGN, " ", text)


def taken_back(text: str) -> str:
    """`text` with "wait" for "no, wait": this "no" is no answer."""
    return cue("no_taken_back").sub("wait", text)


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
    known = _options_of(tuple(options.items()))
    text = _capitals(taken_back(without_signs(text)), known)
    if all(map(str.isdigit, known.cores)):
        text = cue("spelt_option").sub(_in_digits, text)
    text = known.with_text_signs(text)
    text = _LETTER_THEN_LETTER.sub(known.without_its_text, text)
    text = _GLUED.sub(known.letter_sign, cue("letter_alone").sub(known.letter_sign, text))
    text = _LETTER_THEN_TEXT.sub(known.one_of_both, text)
    text = _TEXT_THEN_LETTER.sub(_other_way_round, text)
    return _NO_OPTION_THEN_TEXT.sub(_SEVERAL, text)


def marked_yes_no(text: str) -> str:
    """`text` with a sign for each yes and no that is said for itself."""
    text = taken_back(without_signs(text))
    text = cue("yes_no_zh").sub(
        lambda match: match[1] + match[2] + sign(0 if match[3] else 1), text
    )
    if verdict := cue("only_yes_no").fullmatch(text.strip(OUTER)):
        return sign(0 if verdict[1] or verdict[3] else 1)
    return cue("yes_no").sub(lambda match: sign(0 if match[1] else 1), text)


def core(option: str) -> str:
    """An option's text as it may be mentioned: plain, without its article and outer marks."""
    return re.sub(rf"^(?:(?:a|an|the) |一[{MEASURE_WORDS}])(?=\S)", "", plain(option).strip(OUTER))


class _Options(NamedTuple):
    """The options of a row: their letters, the cores of their texts, patterns of the longest first.

    A pattern an option, since a text is an option of many rows, and compiling one is slow.
    """

    names: tuple[str, ...]
    cores: tuple[str, ...]
    texts: tuple[re.Pattern[str], ...]

    def with_text_signs(self, text: str) -> str:
        parts, end = [], 0
        while matches := [m for pattern in self.texts if (m := pattern.search(text, end))]:
            match = min(matches, key=lambda match: match.start())  # of two, the longer option's
            parts += [text[end : match.start()], self.text_sign(match)]
            end = match.end()
        return "".join(parts) + text[end:]

    def text_sign(self, match: re.Match[str]) -> str:
        said = core(match[0])
        return chr(_TEXTS + self.cores.index(said)) if self.cores.count(said) == 1 else _SEVERAL

    def letter_sign(self, match: re.Match[str]) -> str:
        if match[1] not in self.names:
            return match[0]
        return sign(self.names.index(match[1]))  # though it may be the text of another option

    def without_its_text(self, match: re.Match[str]) -> str:
        texts = dict(zip(self.names, self.cores, strict=True))
        return match[1] + "." if texts.get(match[1]) == match[3].casefold() else match[0]

    def one_of_both(self, match: re.Match[str]) -> str:
        letter, between, said = match.groups()
        alike = _alike(letter, said)
        if "\n" in between:  # "B.\nThe car is red" is an answer and its reason
            return match[0]
        if _ENDS_A_LETTER.fullmatch(between):  # the letter decides, whatever follows it
            judged = not alike and judged_wrong(self.cores[ord(said[0]) - _TEXTS])
            return _SEVERAL if judged else letter + "."
        if alike:
            return letter
        return _SEVERAL if between == " " else match[0]


def _in_digits(spelt: re.Match[str]) -> str:
    return number(spelt[0]) or spelt[0]


def _other_way_round(match: re.Match[str]) -> str:
    return match[2] if _alike(match[2], match[1]) else match[0]


def _alike(letter: str, texts: str) -> bool:
    """Whether a letter's sign and the signs of texts stand for one option."""
    return {ord(letter) - _LETTERS} == {ord(mark) - _TEXTS for mark in texts if mark != " "}


@lru_cache(maxsize=256)
def _options_of(options: tuple[tuple[str, str], ...]) -> _Options:
    names = tuple(name for name, _ in options)
    cores = tuple(core(text) for _, text in options)
    patterns = [
        (len(said), _written(said, article=said != plain(text).strip(OUTER)))
        for said, (_, text) in zip(cores, options, strict=True)
        if said and said.upper() not in names  # the letter of an option is no text
    ]
    longest_first = sorted(patterns, key=lambda pattern: -pattern[0])
    texts = tuple(pattern for _, pattern in longest_first)
    return _Options(names, cores, texts)


@lru_cache(maxsize=4096)
def _written(text: str, *, article: bool) -> re.Pattern[str]:
    """The pattern of an option's text; a letter in upper case only.

    An article of the option's own may be written in any case. With the option "boat", the capital A
    of "A boat" is left out, for it may be a letter.
    """
    before = rf"(?:(?:a|an|the) |一[{MEASURE_WORDS}])?" if article else "(?:(?-i:a|an|An|[Tt]he) )?"
    letter = len(text) == 1 and text.isascii() and text.isalpha()
    pattern = f"(?-i:{text.upper()})" if letter else re.escape(text).replace(r"\ ", r"\s")
    pattern = re.sub(r"(?<=[0-9])\\s(?=[a-z])", r"\\s?", pattern)
    return re.compile(before + _bounded(text, pattern), re.IGNORECASE)


def _bounded(text: str, pattern: str) -> str:
    """The pattern of a text that is no part of a longer word."""
    before = "(?<![A-Za-z0-9])" if text[0].isascii() and text[0].isalnum() else ""
    after = r"(?![A-Za-z0-9]|[.,]\d|['’-][A-Za-z0-9])" if text[-1].isascii() else ""
    return before + pattern + after


def _capitals(text: str, known: _Options) -> str:
    """`text` with a lower-case letter that is an answer set in upper case."""
    match = _ALL_THERE_IS.fullmatch(text) or cue("letter_after_cue").search(
        text, max(0, len(text) - 80)
    )
    if match is None and (opening := _BEFORE_TEXT.match(text)):
        texts = dict(zip(known.names, known.cores, strict=True))
        match = opening if core(opening[2]) == texts.get(opening[1].upper()) else None
    if match is None:
        return text
    place = match.start(1 if match.re is _BEFORE_TEXT else match.lastindex)
    name = text[place].upper()
    return text[:place] + name + text[place + 1 :] if name in known.names else text
