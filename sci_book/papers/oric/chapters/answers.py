"""ORIC's records as questions, each answered in all its wordings, and intervals of their metrics.

A set of questions is made of two halves: the present objects of one data set and the absent ones of
another (or the same), as in Table 7. Both halves of a set are as large, so it is balanced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.oric import scores
from sci_book.papers.oric.pocket_questions import QUESTIONS
from sci_book.papers.oric.printed import printed_row
from sci_book.papers.oric.questions import LABELS
from sci_book.papers.oric.scores import Values, size_of
from sci_book.papers.shared import chapters, frame, tables
from sci_book.papers.shared.chapters import PAPER, Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.results.statistics import NO_DATA, Interval, of_several
from sci_core.methods import Method

FOLDER = "oric"  # of its records, beside a model's own
WORDINGS = 4
ROWS = [f"row {wording}" for wording in range(WORDINGS)]
"""Of a question, the rows of the records that hold its answers: a column a wording."""
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
    """The models of a chapter that have records of ORIC, the benchmark's and POPE's questions."""
    return chapters.companions(models, folder, FOLDER, "ORIC", _lacking)


def _lacking(model: Subject) -> str:
    if all(len(asked(model, halves)) for halves in (*SETS.values(), *SAMPLINGS.values())):
        return ""
    return f"{model.name}: some set of ORIC’s has no question of either label in its records."


@lru_cache(maxsize=64)
def asked(model: Subject, halves: Halves) -> pd.DataFrame:
    """The questions of a set that a model answered in all four wordings, present objects first.

    Columns: `label`, `object`, `size` (None where unknown), `image`, `pair`, the cluster `group`,
    and `ROWS`. A half that was not asked makes the set empty.
    """
    records, parts = model.records.frame, []
    for label, name in zip(LABELS, halves, strict=True):
        mine = (records["dataset"] == f"{PREFIX}_{name}") & (records["truth"] == label)
        numbers = records["index"].to_numpy()[mine]
        rows = pd.Series(np.flatnonzero(mine), [numbers // WORDINGS, numbers % WORDINGS]).unstack()
        rows = rows.reindex(columns=range(WORDINGS)).dropna().astype(int).set_axis(ROWS, axis=1)
        groups = model.groups[rows[ROWS[0]]]
        about = _known().loc[name].reindex(rows.index).assign(label=label, group=groups)
        parts.append(pd.concat([about, rows], axis=1))
    questions = pd.concat(parts, ignore_index=True)
    return questions if all(map(len, parts)) else questions[:0]


def said(model: Subject, questions: pd.DataFrame, method: Method | str = "base") -> np.ndarray:
    """`questions.Said` of every wording, `[wordings, questions]`.

    "failed" is a row with an error, or without an answer by a method that was replayed.
    """
    answers = model.answers(method)
    words = answers["answer"].to_numpy(dtype=object)
    words = np.where(pd.isna(words), np.where(answers["known"], "unknown", "failed"), words)
    words[~model.records.ok] = "failed"
    return words[questions[ROWS].to_numpy().T]


def unread(models: Sequence[Subject]) -> str:
    """How many of the base's answers on the benchmark no rule reads, in Markdown; "" of none."""
    told = []
    for model in models:
        answered = [one for one in model.trainings if len(asked(one, BENCH))]
        each = [(said(one, asked(one, BENCH)) == "unknown").mean() for one in answered]
        if max(each, default=0) > 0:
            shares = ", ".join(f"{tables.number(100 * share, 0)} %" for share in each)
            told.append(f"{shares} ({model.shown})")
    if not told:
        return ""
    return (
        "**Mind the format.** An answer that is neither yes nor no counts as wrong. Of the base’s "
        f"answers on the benchmark this is so, by training, of {'; '.join(told)}: there a level is "
        "of the format as much as of the picture."
    )


def counts(model: Subject, questions: pd.DataFrame, method: Method | str = "base") -> np.ndarray:
    """`scores.COUNTS` of every wording, one below the other, `[counts · wordings, questions]`."""
    return scores.columns(questions["label"], said(model, questions, method))


def term(
    sign: int, name: str, model: Subject, questions: pd.DataFrame, method: Method | str = "base"
) -> Term:
    """One of `scores.METRICS`; a recall is of the questions with its label alone."""
    label = name.removeprefix("recall_")
    mine = questions[questions["label"] == label] if label in LABELS else questions
    return Term(sign, counts(model, mine, method), mine["group"].to_numpy(), scores.metric(name))


def less(name: str, model: Subject, first: pd.DataFrame, second: pd.DataFrame) -> list[Term]:
    """A metric of the first questions less that of the second."""
    return [term(1, name, model, first), term(-1, name, model, second)]


def gain(
    name: str, model: Subject, method: Method | str, halves: Sequence[str] = BENCH
) -> list[Term]:
    """A method's metric less the base's, on the benchmark's questions or those of other halves."""
    questions = asked(model, halves)
    return [term(1, name, model, questions, method), term(-1, name, model, questions)]


def combine(trainings: Sequence[Sequence[Term]]) -> Interval:
    """The sum of a training's terms, over trainings, with its interval.

    Whatever is on one picture is drawn together, so what shares pictures is paired. `n` is the
    number of the first term's rows. A training of which a term has no row or no value is left out.
    """
    trainings = [terms for terms in trainings if terms and all(map(_has_value, terms))]
    if not trainings:
        return NO_DATA
    terms = trainings[0]

    def total(*sums: np.ndarray) -> Values:
        return sum(term.sign * term.value(part) for term, part in zip(terms, sums, strict=True))

    total.__qualname__ = "".join(f"{term.sign:+d} {term.value.__qualname__}" for term in terms)
    return of_several([[(t.counts, t.images) for t in mine] for mine in trainings], total)


def line(
    model: Subject,
    name: str,
    questions: Callable[[Subject], pd.DataFrame],
    minus: Callable[[Subject], pd.DataFrame] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """A line of the frame: one of `scores.METRICS` on some questions, less that on others.

    Args:
        questions, minus: of a training.
    """

    def terms(training: Subject) -> list[Term]:
        if minus is None:
            return [term(1, name, training, questions(training))]
        return less(name, training, questions(training), minus(training))

    return frame.score(model, terms, combine, metric=title(name), **keys)


def value(name: str, model: Subject, questions: pd.DataFrame, *method: Method | str) -> Interval:
    """One of `scores.METRICS` of one training as a share, with its interval over pictures."""
    return combine([[term(1, name, model, questions, *method)]])


def _has_value(term: Term) -> bool:
    return bool(len(term.images)) and not np.isnan(term.value(term.counts.sum(axis=1)))


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
    """The frozen questions, by set and id, which counts within a set from 1."""
    questions = pd.read_csv(QUESTIONS)
    questions["size"] = [size_of(area) for area in questions.pop("area")]
    ids = questions.groupby("set").cumcount() + 1
    return questions.set_index(["set", ids.rename("id")])
