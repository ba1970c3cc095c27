"""Who says whether an object is expected beside others (equation 3).

The paper asks a text model. Offline, the statistics of training annotations answer in its place:
an object is expected where the others make it likelier than it is anywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from sci_book.data.answers.rules import yes_no
from sci_book.files import json_text
from sci_book.papers.shared.text_model import TextModel

_PROMPT = """\
Given the following background objects: {background_objects}, can you determine whether the \
following target object {target_object} is present in the image without relying on textual priors, \
common-sense knowledge, or general assumptions about object co-occurrences?
Please respond with yes or no."""
"""Figure 6 as printed; the public code has "with" in place of "without"."""


class Case(NamedTuple):
    """An object to be judged, and the categories of the non-ROI objects beside it."""

    target: str
    background: tuple[str, ...]


class Verdict(NamedTuple):
    """ "yes" (expected), "no", or None where the judge says neither, and then why."""

    answer: Literal["yes", "no"] | None
    reason: str = ""


Judge = Callable[[Sequence[Case]], list[Verdict]]
"""One verdict a case, in order; a failure is a verdict without an answer."""


def text_judge(model: TextModel) -> Judge:
    """Figure 6's prompt, put to a text model; the answer is read as yes or no."""

    def judge(cases: Sequence[Case]) -> list[Verdict]:
        completions = model.complete(
            [
                _PROMPT.format(
                    background_objects=json_text(case.background, ensure_ascii=False),
                    target_object=json_text(case.target, ensure_ascii=False),
                )
                for case in cases
            ]
        )
        return [
            Verdict(None, completion.error or "no answer")
            if completion.text is None
            else _verdict(completion.text)
            for completion in completions
        ]

    return judge


class CooccurrenceJudge:
    """Says yes where the background raises the odds of the target above its own frequency.

    The evidence is that of naive Bayes, ``Σ_b log P(b | o) / P(b | not o)``, where both shares are
    drawn towards the frequency of b by the weight of one picture; "yes" where it is positive. What
    the training annotations never show gives no evidence, and the answer is "no": unexpected.

    Args:
        pictures: the categories of each training picture.
        own: whether the cases come from these same pictures. Each case then leaves one picture with
            all its objects, its own, out of the counts: what it asks about would else be expected
            because it is there.
    """

    def __init__(self, pictures: Iterable[Iterable[str]], *, own: bool = False):
        self._own = int(own)
        self._pictures_with: Counter[str] = Counter()
        self._pictures_with_both: Counter[frozenset[str]] = Counter()
        self._n = 0
        for categories in pictures:
            distinct = sorted(set(categories))
            self._n += 1
            self._pictures_with.update(distinct)
            self._pictures_with_both.update(map(frozenset, combinations(distinct, 2)))

    def evidence(self, case: Case) -> float:
        """By how much the background changes the log odds of the target."""
        n, with_target = self._n - self._own, self._pictures_with[case.target] - self._own
        total = 0.0
        for other in case.background:
            both = self._pictures_with_both[frozenset((case.target, other))] - self._own
            with_other = self._pictures_with[other] - self._own
            if other == case.target or with_target <= 0 or with_other <= 0:
                continue
            usual = with_other / n
            among = (both + usual) / (with_target + 1)
            elsewhere = (with_other - both + usual) / (n - with_target + 1)
            total += math.log(among / elsewhere)
        return total

    def __call__(self, cases: Sequence[Case]) -> list[Verdict]:
        """One verdict a case."""
        return [Verdict("yes" if self.evidence(case) > 0 else "no") for case in cases]


def _verdict(text: str) -> Verdict:
    answer = yes_no(text)
    return Verdict(answer, "" if answer else "the answer is neither yes nor no")
