"""ORIC's records as questions, each answered in all its wordings, and intervals of their metrics.

A set of questions is made of two halves: the present objects of one data set and the absent ones of
another (or the same), as in Table 7. Both halves of a set are as large, so it is balanced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from sci_book.papers.oric import scores
from sci_book.papers.oric.paper import QUESTIONS
from sci_book.papers.oric.printed import PRINTED, printed_row
from sci_book.papers.oric.questions import LABELS, explicit
from sci_book.papers.oric.scores import Values
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import PAPER, Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.tables import MISSING, Table, frame_of
from sci_book.results.statistics import NO_DATA, Interval, of_sums

FOLDER = "oric"  # of its records, beside a model's own
WORDINGS = 4
PREFIX = "pocket_oric"
_explicit = cache(explicit)


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

    def said(self, policy: str = "base") -> np.ndarray:
        """`questions.Said` of every wording, `[wordings, questions]`."""
        records = self.subject.records
        texts = np.where(records.ok, records.text(policy), None)[self.rows]
        said = ["failed" if text is None else _explicit(text) for text in texts.flat]
        return np.array(said, dtype=object).reshape(texts.shape)

    def counts(self, policy: str = "base") -> np.ndarray:
        """`scores.COUNTS` of every wording, one below the other, `[counts · wordings, rows]`."""
        return scores.columns(self.labels, self.said(policy))

    def where(self, mask: np.ndarray) -> Asked:
        """The questions in a mask."""
        return replace(self, rows=self.rows[:, mask])


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


def accuracy(sums: np.ndarray) -> Values:
    """The share right, of sums of `columns`, averaged over prompts: of one label, its recall."""
    table = scores.by_count(sums)
    whole = table["positives"] + table["negatives"]
    return np.asarray(((table["tp"] + table["tn"]) / whole).mean(axis=0))


def value(name: str, asked: Asked, *, policy: str = "base") -> Interval:
    """One of `scores.METRICS` as a share, with its interval over pictures.

    A recall is of the questions with its label alone, and n counts these.
    """
    mine = _in_question(name, asked)
    return combine([(1, mine.counts(policy), mine.images)], scores.metric(name))


def difference(
    name: str,
    first: Asked,
    second: Asked,
    *,
    policies: tuple[str, str] = ("base", "base"),
) -> Interval:
    """A metric of the first less that of the second, with its interval over pictures.

    Whatever is on one picture is drawn together, so what shares pictures is paired.
    """
    both = (_in_question(name, asked) for asked in (first, second))
    terms = [
        (sign, asked.counts(policy), asked.images)
        for sign, asked, policy in zip((1, -1), both, policies, strict=True)
    ]
    return combine(terms, scores.metric(name))


def combine(
    terms: Sequence[tuple[int, np.ndarray, np.ndarray]],
    statistic: Callable[[np.ndarray], Values],
) -> Interval:
    """One statistic of several tables of counts, added or taken away, with its interval.

    Args:
        terms: sign, `[quantities, rows]` and the picture of every row. `n` of the result is the
            number of the first term's rows.
    """
    if not all(table.shape[1] for _, table, _ in terms):
        return NO_DATA
    if any(np.isnan(statistic(table.sum(axis=1))) for _, table, _ in terms):
        return NO_DATA  # a label without a question
    signs, tables, images = zip(*terms, strict=True)
    ends = np.cumsum([len(table) for table in tables])[:-1]

    def total(sums: np.ndarray) -> Values:
        parts = zip(signs, np.split(sums, ends), strict=True)
        return sum(sign * statistic(part) for sign, part in parts)

    interval = of_sums(block_diag(*tables), np.concatenate(images), total)
    return interval._replace(n=tables[0].shape[1])


def relative(subject: Subject) -> str:
    """The paper's model of the same family; "" where there is none."""
    known = pd.read_csv(PAPER / "oric_relatives.csv", dtype=str).set_index("label")["model"]
    return known.get(subject.label or "", "")


def paper_row(subject: Subject, table: str, part: str | None = None) -> dict[str, float]:
    """The row of a subject's `relative` by label and metric (`printed_row`); empty without one."""
    return printed_row(table, relative(subject), part)


def beside(subject: Subject, known: bool = True) -> str:
    """Which model's numbers stand beside which, for a caption; `known`: whether the paper's are."""
    name = (known and relative(subject)) or "no model of its family"
    return f"in the paper {name}, here {subject.shown}"


def as_printed(table: str, caption: str) -> Table:
    """A table of the paper such as "oric_table10", digit by digit: a line a model (and part).

    A part that is a group of models has a line of its own above them.
    """
    frame = PRINTED.tables[table]
    several = frame["part"].nunique() > 1
    grouped = several and frame.groupby("model")["part"].nunique().max() == 1
    named = [key for key in ("label", "metric", "item") if frame[key].nunique() > 1]
    rows: dict[str, dict[str, str]] = {}
    for line in frame.to_dict("records"):
        if grouped:
            rows.setdefault(line["part"], {})
        whole = several and not grouped
        row = rows.setdefault(f"{line['part']}: {line['model']}" if whole else line["model"], {})
        column = " ".join(line[key] for key in named if line[key])
        column = column.replace("yes_proportion", "share of yes").replace("f1", "F1")
        row[column] = line["value"].replace("-", "−")
    cells = pd.DataFrame(list(rows.values()), index=list(rows)).fillna(MISSING)
    if grouped:
        cells.loc[frame["part"].unique()] = ""
    name = f"printed-{table.removeprefix('oric_')}"
    return Table(name, cells, f"{caption}, as the paper prints it; percent")


def paper_key(name: str) -> str:
    """One of `scores.METRICS` as a key of `printed_row`."""
    metric, _, label = name.partition("_")
    return f"{label} {metric}" if label in LABELS else f"overall {name}"


def rows(
    asked: Asked, metrics: Iterable[str], paper: Mapping[str, float], what: str = ""
) -> dict[str, dict]:
    """A row for each metric, beside the paper's (a `paper_row`); `what` names the set."""
    return {
        what + title(name): chapters.row(value(name, asked), paper=paper.get(paper_key(name)))
        for name in metrics
    }


def levels(subject: Subject, lines: Mapping[str, dict], *, name: str, caption: str) -> Table:
    """Intervals of one model, of which nothing is claimed."""
    name, ours = f"{name}-{subject.name}", subject.shown
    return chapters.levels(frame_of(lines), name=name, caption=caption, ours=ours, subtract=False)


def title(name: str) -> str:
    """A metric as the paper's columns name it."""
    if name == "yes_proportion":
        return "share of yes"
    metric, _, label = name.replace("f1", "F1").partition("_")
    return f"{metric}, {label}" if label else f"macro {metric}"


def unread(models: Sequence[Subject], sets: Mapping[str, Halves]) -> str:
    """How many answers could not be read or failed, where some did; in sentences."""
    sentences, sizes = [], set()
    for model, (name, halves) in product(models, sets.items()):
        said = of(model, halves).said()
        unknown, failed = ((said == word).sum() for word in ("unknown", "failed"))
        if unknown or failed:
            counts = f"{unknown} unknown and {failed} failed of {said.size}"
            sentences.append(f"{model.shown}, {name}: {counts}.")
        else:
            sizes.add(said.size)
    if sizes:
        other = "other " if sentences else ""
        told = " or ".join(f"{size:,}" for size in sorted(sizes))
        sentences.append(f"No {other}answer was unknown or failed, of {told} a model and set.")
    return " ".join(sentences)


def _in_question(name: str, asked: Asked) -> Asked:
    label = name.removeprefix("recall_")
    return asked.where(asked.labels == label) if label in LABELS else asked


@cache
def _known() -> pd.DataFrame:
    """The frozen questions, by data set and id, which counts within a set from 1."""
    frame = pd.read_csv(QUESTIONS)
    ids = frame.groupby("set").cumcount() + 1
    return frame.set_index([PREFIX + "_" + frame["set"], ids.rename("id")])
