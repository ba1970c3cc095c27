"""Why an answer is wrong (sections 3.3 and 3.4, Table 5, Figure 1): a tree of rules.

A failure without a category, None, is *unjudged*; it is counted beside the others and never guessed
(the published code calls it E).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from sklearn.metrics import cohen_kappa_score

from sci_book.papers.edge.correctness import MIN_LETTERS, clean_prediction, normalise
from sci_book.results.statistics import LEVEL

Category = Literal["A", "B", "C", "D", "E"]
CATEGORIES: dict[str, str] = {
    "A": "Object Blindness",
    "B": "Semantic Drift",
    "C": "Prior Bias",
    "D": "Spatial/Relational Error",
    "E": "Other",
}
SHARED = ("A", "B", "C")
"""The categories whose shares Table 5 prints; D and E are given as counts."""
VERBOSE = 20  # words: a longer answer is "verbally fluent" (the published code's number)

_SPATIAL = re.compile(
    r"\b(how many|count|number of|where (is|are)|which side|left|right|next to|beside|between"
    r"|in front|behind|above|below|under|on top|position|location|direction|facing)\b"
)
# Contractions have lost their apostrophe: "don't" is "don t".
_DENIAL = re.compile(
    r"\b(no|not|cannot|none|nothing|nobody|nowhere|unable|missing|absent|invisible|fails?)\b|n t\b"
)
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """the a an is are was were be been being have has had do does did will would could should
        may might shall can this that these those it its he she they we you i me him her them us
        what which who how when where why there here with from into onto upon and or but not no in
        on at to for of by as up out yes any some""",
    )
)


class Failure(NamedTuple):
    """A wrong answer: what was asked, what is right, what the model wrote."""

    dataset: str
    question: str
    truth: str
    prediction: str


def tree(failure: Failure, *, as_printed: bool = False) -> Category:
    """The category by the decision tree of section 3.4, in its order: D, A, B, C, E.

    As printed the tree never reaches C: "shares no tokens with the ground truth" is A's own
    condition, and A comes first (`as_printed=True` keeps that). The published code, which is the
    default, lets A pass an answer that shares a word with the question, calls that one B, and asks
    for more than 20 words in C. Even so C is reached only where the ground truth has no content
    word, such as "yes" or "2". A denial is no Object Blindness where the truth is yes, no or none.

    Key words are whole words; the code also finds "right" in "bright" and "no " in "piano".
    """
    question, truth = normalise(failure.question), normalise(failure.truth)
    prediction = normalise(clean_prediction(failure.prediction))
    if _SPATIAL.search(question):
        return "D"
    if _DENIAL.search(prediction) and (as_printed or truth not in ("yes", "no", "none")):
        return "A"
    in_truth, in_question, in_answer = (_content(text) for text in (truth, question, prediction))
    if as_printed:
        return "B" if in_truth & in_answer else "A"
    if in_truth:
        return "B" if (in_truth | in_question) & in_answer else "A"
    return "C" if len(prediction.split()) > VERBOSE else "E"


class Concordance(NamedTuple):
    """The paper's kappa between two models' labels, and what chance alone makes of it.

    kappa      None where it is undefined: all labels are one category
    low, high  what it is for most orders (`LEVEL`) of the second list; None as `kappa`
    n          pairs
    distance   half the sum of absolute differences of the two profiles, 0 (alike) to 1
    """

    kappa: float | None
    low: float | None
    high: float | None
    n: int
    distance: float


def concordance(
    first: Sequence[str | None],
    second: Sequence[str | None],
    *,
    orders: int = 2_000,
    seed: int = 0,
) -> Concordance:
    """Section 3.4's failure-profile concordance: Cohen's kappa over labels paired by their order.

    The n-th category of one list is set against the n-th of the other, though they are of different
    pictures. Its expectation over orders is 0 whatever the two profiles are, so it measures no
    likeness; the range over random orders is returned to show that, and the distance of the
    profiles, which is one. Unjudged failures (None) are left out; the longer list is cut.

    Raises:
        ValueError: if one list has no category.
    """
    lists = [[category for category in labels if category] for labels in (first, second)]
    if not all(lists):
        raise ValueError(
            f"Two lists of labels are compared; judged are {len(lists[0])} and {len(lists[1])}."
        )
    profiles = np.array([[labels.count(c) / len(labels) for c in CATEGORIES] for labels in lists])
    distance = float(np.abs(profiles[0] - profiles[1]).sum() / 2)
    n = min(map(len, lists))
    one, two = (np.array(labels[:n]) for labels in lists)
    if len({*one, *two}) == 1:
        return Concordance(None, None, None, n, distance)
    kappa = float(cohen_kappa_score(one, two, labels=list(CATEGORIES)))
    low, high = _chance_range(one, two, orders, seed)
    return Concordance(kappa, low, high, n, distance)


def _chance_range(one: np.ndarray, two: np.ndarray, orders: int, seed: int) -> tuple[float, float]:
    """Kappa's central `LEVEL` when the second list is shuffled: only agreement moves."""
    generator = np.random.Generator(np.random.Philox(seed))
    shuffled = generator.permuted(np.tile(two, (orders, 1)), axis=1)
    observed = (shuffled == one).mean(axis=1)
    chance = sum(float((one == c).mean() * (two == c).mean()) for c in CATEGORIES)
    low, high = np.quantile((observed - chance) / (1 - chance), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _content(text: str) -> set[str]:
    return {word for word in text.split() if len(word) >= MIN_LETTERS} - _STOP_WORDS
