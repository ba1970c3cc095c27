"""ORIC's records as questions, each answered in all its wordings, and intervals of their metrics.

A set of questions is made of two halves: the present objects of one data set and the absent ones of
another (or the same), as in Table 7. Both halves of a set are as large, so it is balanced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from sci_book.papers.oric import scores
from sci_book.papers.oric.paper import QUESTIONS
from sci_book.papers.oric.printed import printed_row
from sci_book.papers.oric.questions import LABELS
from sci_book.papers.oric.scores import Values
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import PAPER, Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.results.statistics import NO_DATA, Interval, of_sums
from sci_core.methods import Method

FOLDER = "oric"  # of its records, beside a model's own
WORDINGS = 4
PREFIX = "pocket_oric"


class Halves(NamedTuple):
    """The data sets of a set's present and absent objects, without `pocket_oric_`."""

    yes: str
    no: str


BENCH = Halves("bench", "bench")
POPE = Halves("pope", "random")
ADVERSARIAL = Halves("pope", "pope")
SAMPLINGS = {
    "random": Halves("random", "random"),
    "positives only": Halves("bench", "random"),
    "negatives only": Halves("random", "bench"),
    "both": BENCH,
}
"""Table 7's, by the names of its columns; "both" is the benchmark itself."""
SETS = {"POPE": POPE, "POPE, adversarial": ADVERSARIAL, "ORIC": BENCH}
COLOURS = {
    "POPE": "#0072b2",
    "POPE, adversarial": "#009e73",
    "ORIC": "#dd6b20",
    "by lot": "#6b7280",
}
"""Who chose the objects, in figures."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One model's questions, each in every wording: `[wordings, questions]` rows of its records."""

    subject: Subject
    rows: np.ndarray

    def __len__(self) -> int:
        return self.rows.shape[1]

    def column(self, name: str) -> np.ndarray:
        """A column of the records, `[questions]`."""
        return self.subject.records.frame[name].to_numpy(dtype=object)[self.rows[0]]

    @property
    def labels(self) -> np.ndarray:
        """ "yes" or "no"."""
        return self.column("truth")

    @property
    def images(self) -> np.ndarray:
        """The cluster of every question: its picture."""
        return self.column("group")

    @cached_property
    def about(self) -> pd.DataFrame:
        """What is known of the questions beside: `pair`, `image`, `object` and `area`."""
        known = _known()
        keys = zip(self.column("dataset"), self.column("index") // WORDINGS, strict=True)
        return known.reindex(pd.MultiIndex.from_tuples(keys, names=known.index.names))

    def said(self, method: Method | str = "base") -> np.ndarray:
        """`questions.Said` of every wording, `[wordings, questions]`.

        "failed" is a row with an error, or without an answer by a method that was replayed.
        """
        answers = self.subject.answers(method)
        said = answers["answer"].to_numpy(dtype=object)
        none = np.where(answers["known"], "unknown", "failed")
        said = np.where(pd.isna(said), none, said)
        said[~self.subject.records.ok] = "failed"
        return said[self.rows]

    def counts(self, method: Method | str = "base") -> np.ndarray:
        """`scores.COUNTS` of every wording, one below the other, `[counts · wordings, rows]`."""
        return scores.columns(self.labels, self.said(method))

    def where(self, mask: np.ndarray) -> Asked:
        """The questions in a mask."""
        return replace(self, rows=self.rows[:, mask])


class Term(NamedTuple):
    """A statistic of one table of counts, added to others or taken from them.

    counts  `[quantities, rows]`
    images  the cluster of every row
    value   of the sums of `counts` over rows
    """

    sign: int
    counts: np.ndarray
    images: np.ndarray
    value: Callable[[np.ndarray], Values]


def subjects(models: Names, folder: str | Path) -> Found:
    """The models of a chapter that have records of ORIC, the benchmark's and POPE's questions.

    Args:
        folder: of the book's records; ORIC's lie in `oric` below it.
    """
    companions = chapters.companions(models, folder, FOLDER, "ORIC")
    needed = (*SETS.values(), *SAMPLINGS.values())
    complete = [
        subject for subject in companions.subjects
        if all(len(of(subject, halves)) for halves in needed)
    ]  # fmt: skip
    lacking = [
        f"{subject.name}: some set of ORIC’s has no question of either label in its records."
        for subject in companions.subjects if subject not in complete
    ]  # fmt: skip
    return companions._replace(subjects=complete, absent=[*companions.absent, *lacking])


def of(subject: Subject, halves: Halves) -> Asked:
    """The questions of a set, present objects first; a half that was not asked makes it empty.

    Only questions answered in all four wordings.
    """
    frame = subject.records.frame
    parts = []
    for label, name in (("yes", halves.yes), ("no", halves.no)):
        mine = np.flatnonzero((frame["dataset"] == f"{PREFIX}_{name}") & (frame["truth"] == label))
        numbers = frame["index"].to_numpy()[mine]
        whole = pd.Series(mine, index=numbers).groupby(numbers // WORDINGS).agg(list)
        parts.append([rows for rows in whole if len(rows) == WORDINGS])
    rows = [*parts[0], *parts[1]] if all(parts) else []
    return Asked(subject, np.array(rows, dtype=int).reshape(-1, WORDINGS).T)


def combine(*terms: Term) -> Interval:
    """Statistics of several tables of counts, added or taken away, with their interval.

    Whatever is on one picture is drawn together, so what shares pictures is paired. `n` is the
    number of the first term's rows; no data where a term has no row or no value.
    """
    for term in terms:
        if not term.counts.shape[1] or np.isnan(term.value(term.counts.sum(axis=1))):
            return NO_DATA
    ends = np.cumsum([len(term.counts) for term in terms])[:-1]

    def total(sums: np.ndarray) -> Values:
        parts = zip(terms, np.split(sums, ends), strict=True)
        return sum(term.sign * term.value(part) for term, part in parts)

    total.__qualname__ = "".join(f"{term.sign:+d} {term.value.__qualname__}" for term in terms)
    images = np.concatenate([term.images for term in terms])
    interval = of_sums(block_diag(*(term.counts for term in terms)), images, total)
    return interval._replace(n=terms[0].counts.shape[1])


def term(sign: int, name: str, asked: Asked, method: Method | str = "base") -> Term:
    """One of `scores.METRICS`; a recall is of the questions with its label alone."""
    label = name.removeprefix("recall_")
    mine = asked.where(asked.labels == label) if label in LABELS else asked
    return Term(sign, mine.counts(method), mine.images, scores.metric(name))


def value(name: str, asked: Asked, method: Method | str = "base") -> Interval:
    """One of `scores.METRICS` as a share, with its interval over pictures."""
    return combine(term(1, name, asked, method))


def difference(name: str, first: Asked, second: Asked) -> Interval:
    """A metric of the first less that of the second, with its interval over pictures."""
    return combine(term(1, name, first), term(-1, name, second))


def gain(name: str, asked: Asked, method: Method | str) -> Interval:
    """A method's metric less the base's, on the same questions."""
    return combine(term(1, name, asked, method), term(-1, name, asked))


def relative(subject: Subject) -> str:
    """The paper's model of the same family; "" where there is none."""
    known = pd.read_csv(PAPER / "oric_relatives.csv", dtype=str).set_index("label")["model"]
    return known.get(subject.label or "", "")


def relatives(models: Sequence[Subject]) -> str:
    """Which of the paper's models stands beside which, in a sentence; "" where none does."""
    known = [f"{relative(model)} beside {model.shown}" for model in models if relative(model)]
    return f"In the columns *paper*: {' and '.join(known)}." if known else ""


def paper_row(subject: Subject, table: str, part: str | None = None) -> dict[str, float]:
    """The row of a subject's `relative` by one of `scores.METRICS`; empty without one."""
    return printed_row(table, relative(subject), part)


def title(name: str) -> str:
    """A metric as the paper's columns name it."""
    if name == "yes_proportion":
        return "share of yes"
    metric, _, label = name.replace("f1", "F1").partition("_")
    return f"{metric}, {label}" if label else f"macro {metric}"


@cache
def _known() -> pd.DataFrame:
    """The frozen questions, by data set and id, which counts within a set from 1."""
    frame = pd.read_csv(QUESTIONS)
    ids = frame.groupby("set").cumcount() + 1
    return frame.set_index([PREFIX + "_" + frame["set"], ids.rename("id")])
