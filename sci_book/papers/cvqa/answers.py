"""From what a model wrote to the answer it gave, by the rules of C-VQA's public code.

The public code has rules for numbers and booleans and none for the synthetic letters; those are
read by the book's own letter rule (`sci_book.data.answers.rules.letter`). No rule guesses: where
the text names no answer the result is None, which is never right.
"""

from __future__ import annotations

import re

from sci_book.data.answers import rules as answers
from sci_book.data.answers.numerals import NUMBER_WORDS, in_digits
from sci_book.data.answers.texts import undecorated
from sci_book.papers.cvqa.questions import Item, Side, options

_NUMBERS = {word: str(n) for n, word in enumerate(NUMBER_WORDS[:11])} | {"no": "0", "none": "0"}
# A minus and a fraction belong to their number; "1st" is none, nor is the "one" of "twenty-one".
_NUMBER = re.compile(
    r"(?<![a-z0-9_-])(?<![0-9][.,])"
    r"(?:-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?!(?:st|nd|rd|th)\b|[0-9])|[a-z]+)"
)
_NO, _YES = frozenset(("no", "false", "not")), frozenset(("yes", "true", "be", "is", "are"))
_MOST_DIGITS = 18


def number(text: str) -> str | None:
    """The first number in digits or number word (no, none, zero to ten) of an answer, in digits.

    The public code looks for integers; here "2.5" is read whole, as the book's own rule writes it
    (`sci_book.data.answers.numerals`), and an ordinal ("the 1st row") is passed over.

    An answer that repeats the presupposition is read without it: where it starts with "if", the
    text after the first comma; else the text before the first "if".
    """
    text = undecorated(text).strip().lower()
    starts = re.match(r"if\b", text)
    said = text.partition(",")[2] if starts else re.split(r"\bif\b", text, maxsplit=1)[0]
    for token in _NUMBER.findall(said):
        if token in _NUMBERS:
            return _NUMBERS[token]
        if token[-1].isdigit():
            return in_digits(token) if len(token) <= _MOST_DIGITS else None
    return None


def boolean(text: str) -> str | None:
    """The word no where an answer holds no, false or not; else yes where it holds yes, true, be,
    is or are; else None."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    if words & _NO:
        return "no"
    return "yes" if words & _YES else None


def read(item: Item, side: Side, text: str) -> str | None:
    """The answer a model's text gives to one question of an item, or None."""
    if item.form == "number":
        return number(text)
    if item.form == "boolean":
        return boolean(text)
    return answers.letter(text, options(item.query(side)))
