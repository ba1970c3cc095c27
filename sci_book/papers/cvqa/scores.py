"""Accuracy on original and counterfactual questions, the drop between them, and Figures 3 and 8.

Rows on one picture are one cluster. A drop is original less counterfactual, so that a positive one
is a loss (the paper prints its negative).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sci_book.papers.cvqa.answers import read
from sci_book.papers.cvqa.questions import SIDES, Item, Side
from sci_book.results.statistics import Interval, difference, share

Texts = Sequence[str | None]


def outcomes(items: Sequence[Item], originals: Texts, counterfactuals: Texts) -> np.ndarray:
    """Whether each text answers its question rightly, `[2, items]`; NaN for a failed row.

    Args:
        originals, counterfactuals: what was written, None where it failed. A text that names no
            answer is wrong.

    Raises:
        ValueError: if there is not one text an item.
    """
    right = np.full((2, len(items)), np.nan)
    for row, texts in enumerate((originals, counterfactuals)):
        if len(items) != len(texts):
            raise ValueError(
                f"{len(items)} items need one text each, failed ones None; got {len(texts)}."
            )
        for place, (item, text) in enumerate(zip(items, texts, strict=True)):
            if text is not None:
                right[row, place] = read(item, SIDES[row], text) == item.answer(SIDES[row])
    return right


def fall(right: np.ndarray, clusters: np.ndarray) -> dict[str, Interval]:
    """Percent right on either side and the drop in points, the two sides of an item kept together.

    Args:
        right: outcomes, `[2, items]`. An item that failed on either side is left out of both, so
            that the three numbers are about the same items.
        clusters: the picture of every item.
    """
    ok = np.isfinite(right).all(axis=0)
    found = {side: share(right[row, ok], clusters[ok]) for row, side in enumerate(SIDES)}
    found["drop"] = difference(right[0, ok] - right[1, ok], clusters[ok])
    return {name: interval.times(100) for name, interval in found.items()}


def mean_words(items: Sequence[Item], side: Side) -> float:
    """The mean number of words, split at spaces, of one side's questions; NaN of none."""
    return sum(len(item.query(side).split()) for item in items) / len(items) if items else np.nan


def type_token_ratio(items: Iterable[Item], side: Side) -> float:
    """Figure 8: distinct words over words of one side's questions, lower-cased, letters only;
    NaN of none."""
    words = [w for item in items for w in re.findall(r"[a-z]+", item.query(side).lower())]
    return len(set(words)) / len(words) if words else np.nan


def answer_shares(items: Iterable[Item], side: Side) -> pd.DataFrame:
    """Figure 3: percent of each answer by type; one line an answer, one column a type."""
    frame = pd.DataFrame([(item.kind, item.answer(side)) for item in items])
    shares = pd.crosstab(frame[1], frame[0], normalize="columns") * 100
    order = sorted(shares.index, key=lambda a: (int(a) if a.isdecimal() else -1, a))
    return shares.loc[order].rename_axis(index="answer", columns="type")
