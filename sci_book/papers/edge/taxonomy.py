"""Why an answer is wrong (sections 3.3 and 3.4, Table 5, Figure 1): a tree of rules, or a judge.

Both are a `Judge`: failures in, one label each out. A label without a category is *unjudged*; it is
counted beside the others and never guessed (the published code calls it E).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.metrics import cohen_kappa_score

from sci_book.papers.edge.correctness import MIN_LETTERS, clean_prediction, normalise

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


class Label(NamedTuple):
    """A category, or None for a failure that is unjudged; and why."""

    category: Category | None
    reason: str


@runtime_checkable
class Judge(Protocol):
    """Whatever labels failures. `name` stands in tables beside the labels."""

    name: str

    def judge(self, failures: Sequence[Failure]) -> list[Label]:
        """One label a failure, in order."""
        ...


class Tree:
    """The decision tree of section 3.4, in its order: D, A, B, C, E. It sees text only.

    As printed the tree never reaches C: "shares no tokens with the ground truth" is A's own
    condition, and A comes first (`as_printed=True` keeps that). The published code, which is the
    default, lets A pass an answer that shares a word with the question, calls that one B, and asks
    for more than 20 words in C. Even so C is reached only where the ground truth has no content
    word, such as "yes" or "2". A denial is no Object Blindness where the truth is yes, no or none.

    Key words are whole words; the code also finds "right" in "bright" and "no " in "piano".
    """

    def __init__(self, *, as_printed: bool = False):
        self.as_printed = as_printed
        self.name = "tree as printed" if as_printed else "tree"

    def judge(self, failures: Sequence[Failure]) -> list[Label]:
        """See `Judge.judge`; no failure is unjudged."""
        return [self._one(failure) for failure in failures]

    def _one(self, failure: Failure) -> Label:
        question, truth = normalise(failure.question), normalise(failure.truth)
        prediction = normalise(clean_prediction(failure.prediction))
        if _SPATIAL.search(question):
            return Label("D", "the question is about place or number")
        wanted, asked, given = (_content(text) for text in (truth, question, prediction))
        denies = _DENIAL.search(prediction)
        if denies and (self.as_printed or truth not in ("yes", "no", "none")):
            return Label("A", "the answer denies something")
        shared, on_topic = wanted & given, asked & given
        if self.as_printed:
            if not shared:
                return Label("A", "no word of the truth is in the answer")
            return Label("B", "some words of the truth are in the answer")
        if wanted and not shared and not on_topic:
            return Label("A", "no word of the truth or of the question is in the answer")
        if wanted:
            return Label("B", "words of the truth or of the question are in the answer")
        if len(prediction.split()) > VERBOSE:
            return Label("C", f"more than {VERBOSE} words, and the truth has no content word")
        return Label("E", "no rule fits")


class Concordance(NamedTuple):
    """The paper's kappa between two models' labels, and what chance alone makes of it.

    kappa      None where it is undefined: all labels are one category
    low, high  what it is for 95 % of all orders of the second list (None where undefined)
    n          pairs
    distance   half the sum of absolute differences of the two profiles, 0 (alike) to 1
    """

    kappa: float | None
    low: float | None
    high: float | None
    n: int
    distance: float


def concordance(
    first: Sequence[Label], second: Sequence[Label], *, orders: int = 2_000, seed: int = 0
) -> Concordance:
    """Section 3.4's failure-profile concordance: Cohen's kappa over labels paired by their order.

    The n-th label of one list is set against the n-th of the other, though they are of different
    pictures. Its expectation over orders is 0 whatever the two profiles are, so it measures no
    likeness; the range over random orders is returned to show that, and the distance of the
    profiles, which is one. Unjudged labels are left out; the longer list is cut.

    Raises:
        ValueError: if one list has no judged label.
    """
    lists = [[label.category for label in each if label.category] for each in (first, second)]
    if not all(lists):
        raise ValueError(
            f"Two lists of labels are compared; judged are {len(lists[0])} and {len(lists[1])}."
        )
    profiles = np.array([[each.count(c) / len(each) for c in CATEGORIES] for each in lists])
    distance = float(np.abs(profiles[0] - profiles[1]).sum() / 2)
    n = min(map(len, lists))
    one, two = (np.array(each[:n]) for each in lists)
    if len({*one, *two}) == 1:
        return Concordance(None, None, None, n, distance)
    kappa = float(cohen_kappa_score(one, two, labels=list(CATEGORIES)))
    low, high = _chance_range(one, two, orders, seed)
    return Concordance(kappa, low, high, n, distance)


def _chance_range(one: np.ndarray, two: np.ndarray, orders: int, seed: int) -> tuple[float, float]:
    """Kappa's central 95 % when the second list is shuffled: agreement moves, chance does not."""
    generator = np.random.Generator(np.random.Philox(seed))
    shuffled = generator.permuted(np.tile(two, (orders, 1)), axis=1)
    observed = (shuffled == one).mean(axis=1)
    chance = sum(float((one == c).mean() * (two == c).mean()) for c in CATEGORIES)
    low, high = np.quantile((observed - chance) / (1 - chance), [0.025, 0.975])
    return float(low), float(high)


def _content(text: str) -> set[str]:
    return {word for word in text.split() if len(word) >= MIN_LETTERS} - _STOP_WORDS
