"""What Figures 3 and 8 count in a file of questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sci_book.papers.cvqa.questions import Item, Side


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
