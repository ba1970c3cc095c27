"""A committed run of Visual-RFT: a pocket model's answers before and after, and their scores.

The file holds every answer (`experiment`), so that intervals are made here. A picture is a cluster;
both sides of a difference are of the same pictures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.catalogue import model_entry, model_name
from sci_book.papers.oric import scores
from sci_book.papers.shared.stamp import located
from sci_book.results.records import RecordsError
from sci_book.results.statistics import NO_DATA, Interval, of_several, of_sums

RESULTS = "benchmarks/results/rft"
SHOWN = {
    "cot": "0-shot CoT", "plain": "as it is", "taught": "taught the form", "rft": "Visual-RFT",
}  # fmt: skip
"""The conditions of Table 5(a), and the control that is ours, as readers meet them."""
COMPARISONS = ("plain", "taught")
"""What the claims of Table 5 and of Figure 5 compare Visual-RFT with."""
LEAST_READ = 50.0
"""Percent of answers that say yes or no, for a condition to be compared with."""


@dataclass(frozen=True, eq=False)
class Result:
    """A committed run: its file, and what is in it."""

    path: Path
    content: dict

    @property
    def heading(self) -> str:
        """The head of columns with its numbers."""
        try:
            entry = model_entry(self.content["model"])
        except ValueError:  # a model this book does not know
            return self.content["model"]
        return f"pocket {entry['title']}" if entry["pocket"] else entry["title"]

    @property
    def curve(self) -> pd.DataFrame:
        """One line an update."""
        return pd.DataFrame(self.content["curve"])

    def rows(self, name: str) -> dict:
        """The questions and answers of the set "oric" or "probe"."""
        return self.content["sets"][name]

    def said(self, name: str, condition: str) -> np.ndarray:
        """The answers, `[wordings, questions]`."""
        return np.array(self.rows(name)["said"][condition], dtype=object).T

    def counts(self, name: str, condition: str) -> np.ndarray:
        """`scores.columns` of the answers, `[counts · wordings, questions]`."""
        labels = np.array(self.rows(name)["label"], dtype=object)
        return scores.columns(labels, self.said(name, condition))

    def answered(self, name: str, condition: str) -> float:
        """The percent of answers that say yes or no."""
        return float(100 * (self.said(name, condition) != "unknown").mean())


def file_of(model: str, folder: str | Path = RESULTS) -> Path:
    """Where the result of a model lies."""
    return located(folder) / f"{model_name(model)}.json"


def read(model: str, folder: str | Path = RESULTS) -> Result:
    """The result of a model; a `RecordsError` where there is none."""
    path = file_of(model, folder)
    if not path.is_file():
        raise RecordsError(
            f"No result of Visual-RFT for {path.stem} ({path.name}); make it with "
            "`sci rft --model … --out …` and copy its result.json there under this name."
        )
    return Result(path, json.loads(path.read_text(encoding="utf-8")))


def score(result: Result, name: str, condition: str, metric: str) -> Interval:
    """A metric of equations (8) to (17) as a share, averaged over wordings; by pictures."""
    images = result.rows(name)["image"]
    return of_sums(result.counts(name, condition), images, scores.metric(metric))


def difference(result: Result, name: str, first: str, second: str) -> Interval:
    """Macro F1 of one condition less that of another, as a share, on the same questions.

    No interval where either condition says yes or no to less than half of them.
    """
    if min(result.answered(name, first), result.answered(name, second)) < LEAST_READ:
        return NO_DATA
    f1, images = scores.metric("f1"), result.rows(name)["image"]
    both = [(result.counts(name, condition), images) for condition in (first, second)]
    return of_several([both], lambda one, other: f1(one) - f1(other))


def gain_part(other: str) -> str:
    """The name of the part of a claim that Visual-RFT is better than another condition."""
    return f"Visual-RFT less {'the model ' if other == 'plain' else ''}{SHOWN[other]}"
