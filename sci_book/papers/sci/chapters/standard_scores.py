"""The data sets' own scores, which Tables 4 and 10 replace by plain accuracy.

Circular accuracy (a multiple-choice question counts if it is right in every rotation), MME's acc,
acc+ and score, ViLP's Prior and Score (`results.metrics` defines them), each with an interval.
They are taken of the test rows of the split by groups: the split by rows tears rotations and pairs
apart.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from sci_book.papers.sci.chapters.standard_sets import column_of
from sci_book.papers.shared.chapters import Subject
from sci_book.results.drbench import split
from sci_book.results.metrics import whole_groups
from sci_book.results.statistics import (
    Interval,
    difference,
    of_sums,
    share,
)

_SCORE = "MME score"


def scores(
    subject: Subject, right: np.ndarray, less: np.ndarray | None = None
) -> dict[str, Interval]:
    """Every score that the data sets of a model's records have, by its name.

    Shares, and for the MME score its hundredth: acc + acc+ summed over the categories. Groups with
    an error count for nothing, nor do questions without rotations. `right` is an outcome for every
    row, NaN for an error; `less` is another one, with which the scores are paired differences.
    """
    units, others = _units(subject, right), {} if less is None else _units(subject, less)
    intervals = {}
    for name, unit in units.items():
        values = unit - others[name] if others else unit
        if name == _SCORE:
            intervals[name] = _mme_score(values.assign(questions=unit["questions"]))
        else:
            groups = values.index.get_level_values("group").to_numpy(dtype=object)
            intervals[name] = (difference if others else share)(values, groups)
    return intervals


def _units(subject: Subject, right: np.ndarray) -> dict[str, pd.Series | pd.DataFrame]:
    """What each score averages, indexed by "group"; for the MME score, columns of pictures."""
    frame = subject.records.frame.assign(right=right)
    frame = frame[split(subject.records, "groups") == "test"]
    units: dict[str, pd.Series | pd.DataFrame] = {}
    for dataset, part in frame[frame["question_type"] == "mcq"].groupby("dataset", sort=False):
        questions = whole_groups(part.groupby("group", sort=False)["right"])
        rotated = questions.loc[questions["size"] > 1, "min"]
        if len(rotated):
            units[f"{column_of(str(dataset))} circular"] = rotated
    pairs = frame[frame["question_type"] == "yesno"]
    pictures = whole_groups(pairs.groupby(["category", "group"])["right"])
    if len(pictures):
        complete = pairs.set_index(["category", "group"]).index.isin(pictures.index)
        units["MME acc"] = pairs[complete].set_index("group")["right"]
        units["MME acc+"] = pictures["min"]
        columns = {"sum": "right", "size": "questions", "min": "both"}
        units[_SCORE] = pictures.rename(columns=columns)[list(columns.values())]
    short = frame[(frame["question_type"] == "short") & frame["right"].notna()]
    first = short["index"] % 3 == 0
    for name, part in (("ViLP Prior", short[first]), ("ViLP Score", short[~first])):
        if len(part):
            units[name] = part.set_index("group")["right"]
    return units


def _mme_score(pictures: pd.DataFrame) -> Interval:
    """acc + acc+ summed over categories; pictures are the groups."""
    category, group = (pictures.index.get_level_values(name) for name in ("category", "group"))
    inside = pd.get_dummies(category).to_numpy(dtype=float).T
    counted = pictures[["right", "questions", "both"]].to_numpy(dtype=float).T
    quantities = np.stack([*counted, np.ones(len(pictures))])[:, None] * inside
    return of_sums(quantities.reshape(-1, len(pictures)), group.to_numpy(dtype=object), _score)


def _score(sums: np.ndarray) -> np.ndarray | np.floating:
    right, questions, both, pictures = sums.reshape(4, -1, *sums.shape[1:])
    return (right / questions + both / pictures).sum(axis=0)
