"""The figures of AMBER and HallusionBench (Figure 5), for any data set of yes / no questions.

The paper gives both sets as macro F1. Their own figures stand beside it: AMBER's F1 takes "no" as
the positive class, since a "no" is what finds a hallucination; HallusionBench counts the pictures
and the groups of questions that are right throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sci_book.papers.oric.questions import Said
from sci_book.papers.oric.scores import counts, metrics
from sci_book.results.metrics import throughout
from sci_book.results.records import Records


def figures(
    truth: Sequence[str],
    said: Sequence[Said],
    pictures: Sequence[str | None],
    groups: Sequence[str | None],
) -> dict[str, float]:
    """The figures of one model's answers, in percent, NaN where there is nothing to count.

    An unknown answer is not right. A picture or group with a failed answer is left out, and so are
    questions of none (None).

    Returns:
        `n` answered questions; `accuracy`; `f1_no`; `macro_f1`, which needs both labels; `pictures`
        and `groups` that are right throughout.
    """
    counted = counts(truth, said)
    percentages = metrics(counted)
    failed = np.asarray(said, dtype=object) == "failed"
    right = np.asarray(said, dtype=object) == np.asarray(truth, dtype=object)
    outcome = pd.Series(np.where(failed, np.nan, right), dtype=float)

    def percent(names: Sequence[str | None]) -> float:
        value = throughout(outcome, pd.Series(list(names), dtype=object)).value
        return float("nan") if value is None else 100 * value

    n = counted["positives"] + counted["negatives"]
    both = counted["positives"] and counted["negatives"]
    return {
        "n": float(n),
        "accuracy": 100 * (counted["tp"] + counted["tn"]) / n if n else float("nan"),
        "f1_no": float(percentages["f1_no"]),
        "macro_f1": float(percentages["f1"]) if both else float("nan"),
        "pictures": percent(pictures),
        "groups": percent(groups),
    }


def recorded(
    records: Records, policy: str, rows: np.ndarray | None = None
) -> dict[str, float] | None:
    """`figures` of a policy's recorded answers; None where other questions stand among them.

    Args:
        rows: a mask; by default all that have an answer of the policy.
    """
    rows = records.answered(policy) if rows is None else rows
    frame = records.frame[rows]
    if frame.empty or not (frame["question_type"] == "yesno").all():
        return None
    said = ["unknown" if answer is None else answer for answer in records.parsed(policy)[rows]]
    truth, pictures, groups = (frame[name].tolist() for name in ("truth", "image_hash", "group"))
    return figures(truth, said, pictures, groups)
