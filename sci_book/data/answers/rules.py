"""From the text a model wrote to the answer it gave: named rules with an explicit *unknown*.

A rule returns the answer in its canonical form, or `None` where the text does not say it; it never
guesses. An unknown answer differs from every answer, also from another unknown one (`same`).

===========  ==============  ======================================================
rule         question type   canonical form
===========  ==============  ======================================================
`letter`     mcq             the option's letter, upper case
`yes_no`     yesno           "yes" or "no"
`number`     number          digits without leading zeros: "12", "-3", "2.5"
`short`      short           case, outer punctuation and a leading article dropped
`free`       free            the text itself: a caption, or a reply that a probe reads for itself
===========  ==============  ======================================================

A text is read in steps: what it is wrapped in comes off (`texts`), mentions of an option or of yes
and no are found (`mentions`), the words around each tell what is claimed of it
(`cues`), and the claims settle on one answer or on none (`claims`). Numbers have a rule
of their own (`numerals`). `corpus` measures how well all this reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sci_book.data.answers.claims import settled
from sci_book.data.answers.mentions import (
    OUTER,
    YES_NO,
    has_letter,
    marked,
    marked_yes_no,
)
from sci_book.data.answers.numerals import number
from sci_book.data.answers.texts import behind_boxes, plain, spoken, tidy, undecorated
from sci_book.data.answers.toolkit import (
    vlmevalkit_letter,
    vlmevalkit_letter_anywhere,
    vlmevalkit_letter_verbose,
)

_LETTER_DELIMITERS = frozenset(" \t\n.,:;)、。：，；）")


def letter(text: str, options: Mapping[str, str]) -> str | None:
    """The option letter that `text` names, or `None`.

    It is the option whose exact text this is; else the one that the text calls the answer, or
    right ("The answer is B", "B fits best", "not A but B"); else the one that stands bare, by its
    letter or its text ("B", "(B) red", "So B.", "B, because …", "Red."). Two options, a denial
    ("Option A is wrong"), a question, a condition and doubt make the answer unknown (`claims`). The
    article of "A boat" and the letters of "B12" are no options. Where a letter and the text behind
    it disagree ("B. blue"), the letter decides: it is what the prompt asks for. So it does where
    the text of an option is another's letter.

    Args:
        text: what the model wrote.
        options: option letters and their texts, as the row shows them.
    """
    options = {name: undecorated(option) for name, option in options.items()}
    return _letter(spoken(text), options) or _letter(behind_boxes(text), options)


def _letter(text: str, options: Mapping[str, str]) -> str | None:
    text = tidy(text)
    said = plain(text).strip(OUTER)
    if said.upper() in options:
        exact = set()  # a letter, though it may be the text of another option
    else:
        exact = {name for name, option in options.items() if said and _said(option) == said}
    if len(exact) == 1:
        return exact.pop()
    signs = marked(text, options)
    if (answer := settled(signs, options)) or has_letter(signs):
        return answer
    return _as_yes_no(text, options)


def _as_yes_no(text: str, options: Mapping[str, str]) -> str | None:
    """The option that says yes, or no, where `text` does: "Yes, it is" beside "A. Yes", "B. No"."""
    meant = {name: yes_no(option) for name, option in options.items()}
    others = [name for name, meaning in meant.items() if not meaning]
    if any(_said(options[name]) in plain(text) for name in others):
        return None
    by_meaning = {meaning: name for name, meaning in meant.items() if meaning}
    if sorted(filter(None, meant.values())) != ["no", "yes"]:
        return None
    for name in by_meaning.values():  # "True, it is" beside "A. True"
        if re.match(rf"{re.escape(_said(options[name]))}\b", plain(text)):
            text = meant[name] + plain(text)[len(_said(options[name])) :]
    return by_meaning.get(yes_no(text))


def _said(option: str) -> str:
    return plain(option).strip(OUTER)


@lru_cache(maxsize=4096)  # models say the same few things again and again
def yes_no(text: str) -> str | None:
    """ "yes" or "no" where the answer opens with the word, or 是 and its like, calls it the answer,
    or concludes with it ("There is a dog, so yes"); else `None`.

    Two answers are unknown, and so are a "no" that belongs to a noun ("There is no dog", "The
    answer is no longer clear"), a word that is denied ("The answer yes is wrong"), asked, or in
    doubt.
    """
    parts = (spoken(text), behind_boxes(text))
    read = (settled(marked_yes_no(tidy(part)), YES_NO, any_reason=True) for part in parts)
    return next(filter(None, read), None)


@lru_cache(maxsize=4096)
def short(text: str) -> str | None:
    """A short answer in canonical form, or `None` where nothing is left of it.

    Case, outer punctuation, marks (`texts.plain`), repeated spaces and one leading English article
    are dropped; nothing else: "dogs" is not "dog", "3" is not "three".
    """
    return re.sub(r"^(?:a|an|the) (?=\S)", "", plain(spoken(text)).strip(OUTER)) or None


@dataclass(frozen=True)
class Rule:
    """A named way to read answers to one type of question.

    `version` changes whenever the rule reads any text differently; `read` takes the text and the
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
        Rule("letter", "4", "mcq", letter),
        Rule("yes_no", "4", "yesno", lambda text, options: yes_no(text)),
        Rule("number", "4", "number", lambda text, options: number(text)),
        Rule("short", "4", "short", lambda text, options: short(text)),
        Rule("free", "1", "free", lambda text, options: text.strip() or None),
        Rule("description", "1", "description", lambda text, options: text.strip() or None),
        # Their versions are the toolkit's releases with which they were found to agree; the third
        # edition, by its month, for it was in the repository (commit a67ace50) before a release.
        Rule("vlmevalkit_letter", "0.0.20", "mcq", vlmevalkit_letter),
        Rule("vlmevalkit_letter_anywhere", "0.0.18", "mcq", vlmevalkit_letter_anywhere),
        Rule("vlmevalkit_letter_verbose", "2026.06", "mcq", vlmevalkit_letter_verbose),
    )
}
_PARSING = ("letter", "yes_no", "number", "short", "free", "description")
FREE = ("free", "description")
"""The question types whose answer is kept as it stands, and whose prompt has no instruction."""
_BY_TYPE = {RULES[name].question_type: RULES[name] for name in _PARSING}


def rule_of(question_type: str) -> Rule:
    """The rule by which `parse` reads answers to this type of question.

    Raises:
        ValueError: for a question type that has no rule.
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
    return {"rules": {kind: str(rule_of(kind)) for kind in sorted(set(question_types))}}


def canonical_truth(question_type: str, answer: str) -> str:
    """The ground truth in the form in which `parse` returns answers."""
    if question_type == "mcq":
        return answer.strip().upper()
    if question_type == "yesno":
        return answer.strip().casefold()
    if question_type == "number":
        return number(answer) or ""
    if question_type in FREE:
        return answer.strip()
    return short(answer) or ""


def same(first: Iterable, second: Iterable) -> np.ndarray:
    """Whether two columns of parsed answers agree, row by row, as DRBench counts.

    An unknown one, None, agrees with nothing.
    """
    one, other = (np.asarray(column, dtype=object) for column in (first, second))
    return np.equal(one, other).astype(bool) & np.not_equal(one, None).astype(bool)


def raw_prefix(text: str, truth: str) -> str:
    """`text` lower-cased and cut to the length of the ground truth, as the reference compares.

    So "no" and "no." differ under a ground truth "yes", and "dog" and "dogs" agree under "cat".
    """
    return text.lower()[: len(truth)]


def letter_is_delimited(text: str) -> bool:
    """Whether the first character of `text` is followed by a delimiter or by nothing.

    The reference drops from its bias subset the multiple-choice rows whose letter is not.
    """
    return len(text) == 1 or text[1:2] in _LETTER_DELIMITERS
