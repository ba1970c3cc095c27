"""The difficulty d(x) of an image and a question, and how many cases it is given (III-B, IV-C).

The paper names what enters, the relevance of image and question and the content of both, and
prints no formula. Here

    d(x) = (0.50 (1 − relevance) + 0.25 entropy / 8 + 0.25 min(words, 30) / 30) / (sum of weights)

in [0, 1], where a relevance that is not known is left out with its weight. Half of the weight lies
on what both have to do with each other, a quarter on what each has in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Real

import numpy as np

from sci_book.papers.metara.relations import Original

WEIGHTS = {"relevance": 0.5, "entropy": 0.25, "length": 0.25}
MOST_WORDS = 30  # longer questions are no harder
LEVELS = ("easy", "middle", "hard")
FUNCTION_WORDS = frozenset((
    "a", "an", "and", "any", "are", "at", "be", "been", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in", "is", "it",
    "its", "many", "me", "most", "much", "must", "of", "on", "one", "or", "please", "shall",
    "should", "some", "that", "the", "their", "them", "there", "these", "they", "this", "those",
    "to", "was", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "will", "with", "would", "you", "your", "image", "picture", "photo", "shown",
))  # fmt: skip


def difficulty(original: Original) -> float:
    """d(x) of an original, in [0, 1].

    Its relevance is the share of the question's content words that `original.words` name; not known
    where there are no words. Entropy is that of the grey values, in bits.
    """
    parts = {
        "entropy": original.image.convert("L").entropy() / 8,
        "length": min(count_words(original.question), MOST_WORDS) / MOST_WORDS,
    }
    related = word_overlap(original.question, original.words)
    if related is not None:
        parts["relevance"] = 1 - related
    weight = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / weight


def count_words(text: str) -> int:
    """Words of a text; two Chinese characters count as one."""
    chinese = len(re.findall(r"[㐀-鿿]", text))
    return len(re.findall(r"[^\W㐀-鿿]+", text)) + (chinese + 1) // 2


def word_overlap(question: str, words: Sequence[str]) -> float | None:
    """The share of a question's content words that are among `words`; None where one has none.

    A plural is its singular. Of a Chinese question, the share of `words` it contains is taken as
    0 or 1: whether it names anything known.
    """
    if not words:
        return None
    if re.search(r"[㐀-鿿]", question):
        return float(any(word and word in question for word in words))
    known = {_stem(part) for word in words for part in re.findall(r"\w+", word.lower())}
    content = {
        _stem(word)
        for word in re.findall(r"[^\W\d_]+", question.lower())
        if word not in FUNCTION_WORDS
    }
    return len(content & known) / len(content) if content else None


def cases_a_relation(score: Real) -> int:
    """How many cases of each relation a difficulty is given: one to three, in equal steps.

    Raises:
        ValueError: if the score is not in [0, 1].
    """
    if not 0 <= score <= 1:
        raise ValueError(f"A difficulty of {score}; expected a number in [0, 1].")
    return 1 + min(int(score * 3), 2)


def levels(scores: Sequence[float] | np.ndarray) -> list[str]:
    """Easy, middle or hard: the thirds of these scores; equal scores have one level."""
    scores = np.asarray(scores, dtype=float)
    if not len(scores):
        return []
    low, high = np.quantile(scores, [1 / 3, 2 / 3])
    return [LEVELS[int(score > low) + int(score > high)] for score in scores]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
