"""MetaRA's records: originals with their cases, wholes with their parts, sheets in several orders.

What was made of which original stands in the rows that were drawn (`papers.metara.files`), not in
the records. Three failure rates are kept apart everywhere; of an original they are means over its
cases, and originals are what every interval draws again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.datasets import file_of, read_manifest
from sci_book.papers.metara import files
from sci_book.papers.metara.failures import ORIGINAL, Failures, from_records
from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.intervals import drop_equal_bounds, share
from sci_book.papers.shared.tables import Table, frame_of
from sci_book.results.statistics import NOWHERE, Interval, resample

PREFIX = "pocket_metara"
TASKS = {"KBVQA": "knowledge", "OCR-VQA": "text"}
"""The paper's two tasks, and the pocket data set that stands for the data sets of each."""
METHODS = ("base", "TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7")
LABELS = {
    "absolute": "absolute (eq. 7)",
    "conditional": "conditional on a right original",
    "consistency": "consistency with the original’s answer",
}
FR = "conditional"
"""The rate that stands beside the paper's FR. By the absolute one nearly all of the paper's models
would answer changed inputs better than the originals (the audit of its tables). The consistency
rate could be as low too; the conditional one is taken because equations 3 to 6 presuppose a right
original."""
FEWEST = 10  # originals of every mean below which there is no interval, and no verdict
Term = tuple[float, pd.DataFrame]
UNMIRRORED = tuple(name for name in RELATIONS if name != "MR2")
SAME_IN_A_MIRROR = frozenset(("h", "t", "x"))
"""Signs of the pocket world that a mirror leaves readable as they are; answers are lower case."""


class Answers:
    """One model's answers to MetaRA's pocket sets.

    Rows with an error are neither right nor wrong, and counted in `left`; an original whose own row
    has one is left out, and so are compositions and sequences of which not every row was answered.
    """

    def __init__(self, subject: Subject):
        self.subject = subject
        self._failures: dict[tuple[str, str], Failures] = {}

    def failures(self, policy: str, task: str) -> Failures:
        """The rates of a task ("knowledge" or "text")."""
        if (policy, task) not in self._failures:
            mine, rows = self._part(task)
            own = rows[(rows["relation"] == ORIGINAL) & rows["index"].isin(mine["index"])]
            whole = rows["original"].isin(own["original"])
            mine = mine[mine["index"].isin(rows.loc[whole, "index"])]
            self._failures[policy, task] = Failures(from_records(mine, rows, _column(policy)))
        return self._failures[policy, task]

    def rate(self, policy: str, rate: str, task: str, **where: str | Sequence[str]) -> pd.DataFrame:
        """A rate of each original that has one: `original`, `group` and `value`.

        Rates and `where` are those of `Failures.per_original`.
        """
        return self.failures(policy, task).per_original(rate, **where)

    def percent(self, rate: str, task: str, policy: str = "base", **where: str) -> float:
        """The mean of `rate` over originals, in percent."""
        return 100 * self.rate(policy, rate, task, **where)["value"].mean()

    def violations(self, policy: str, task: str) -> pd.DataFrame:
        """MetaVQA's compositions, answered in full: `group`, `relation`, `value`."""
        mine, rows = self._part(f"metavqa_{task}", "composition")
        frame = files.violations(mine, rows, _column(policy))
        return frame.assign(group=f"{PREFIX}:" + frame["group"])

    def orders(self, policy: str) -> pd.DataFrame:
        """Answers to sheets in several orders, as `order.order_rates` takes them, with `task`."""
        mine, rows = self._part("sheets", "original")
        frame = files.order_frame(mine, rows, _column(policy))
        return frame.assign(task=[name.partition("_")[0] for name in frame["original"]])

    @cached_property
    def left(self) -> dict[str, int]:
        """How many rows were read and had an error, and what of either set was left out."""
        frame = self.subject.records.frame
        counts = {"rows": len(frame), "with an error": int(frame["error"].notna().sum())}
        for task in TASKS.values():
            left = self.failures("base", task).left
            counts |= {f"{task}: {name}": count for name, count in left.items()}
        return counts

    def _part(self, name: str, whole: str | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Records and rows of a set; those of a `whole` only where each was answered."""
        frame, rows = self.subject.records.frame, rows_of(f"{PREFIX}_{name}")
        mine = frame[frame["dataset"] == f"{PREFIX}_{name}"]
        if whole is not None:
            answered = rows["index"].isin(mine.loc[mine["error"].isna(), "index"])
            rows = rows[answered.groupby(rows[whole]).transform("all")]
            mine = mine[mine["index"].isin(rows["index"])]
        return mine, rows


def subjects(models: Sequence[str], folder: str | Path) -> Found:
    """The models of a chapter that have records of MetaRA.

    Args:
        models: names, paths or hub ids.
        folder: of the book's records; MetaRA's lie in `metara` below it.
    """
    return chapters.companions(models, folder, "metara", "MetaRA")


def answers(recorded: Iterable[Subject]) -> list[Answers]:
    """The answers of each model that was asked about originals of every task."""
    models = [Answers(subject) for subject in recorded]
    tasks = TASKS.values()
    return [one for one in models if all(one.failures("base", t).left["originals"] for t in tasks)]


def read(models: Sequence[str], folder: str | Path) -> tuple[Found, list[Answers]]:
    """A chapter's models that have records of MetaRA, and the answers of those to be shown."""
    recorded = subjects(models, folder)
    return recorded, answers(recorded.subjects)


def levels(answered: Sequence[Answers], lines: Mapping[str, Mapping], **options) -> Table:
    """Intervals of several models, each a `chapters.row`; nothing is claimed of them."""
    ours = chapters.side([one.subject for one in answered])
    return chapters.levels(frame_of(lines), ours=ours, **options)


def absences(recorded: Found, answered: Sequence[Answers]) -> str:
    """What to say above a chapter's first table of models that have nothing to show."""
    names = {one.subject.name for one in answered}
    incomplete = [
        f"{subject.shown} has records of MetaRA, but of originals of one task or none."
        for subject in recorded.subjects
        if subject.name not in names
    ]
    return chapters.absences(recorded._replace(absent=[*recorded.absent, *incomplete]))


def common(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of two rates whose originals have both: not every original has every case."""
    return (
        first[first["original"].isin(second["original"])],
        second[second["original"].isin(first["original"])],
    )


def enough(interval: Interval, frames: Iterable[pd.DataFrame]) -> Interval:
    """An interval, without its ends if a mean is of fewer than `FEWEST` originals.

    A bootstrap of so few is too narrow, whatever it says; a claim about it is inconclusive.
    """
    if min(rows["group"].nunique() for rows in frames) < FEWEST:
        return interval._replace(low=np.nan, high=np.nan)
    return interval


def average(rows: pd.DataFrame, level: float = 0.95) -> Interval:
    """The mean over originals with its interval."""
    return mean("", rows).interval(level)


def mean(what: str, rows: pd.DataFrame) -> Part:
    """The mean over originals."""
    return weighted(what, [(1.0, rows)])


def less(what: str, first: pd.DataFrame, second: pd.DataFrame) -> Part:
    """The mean of the first less that of the second."""
    return weighted(what, [(1.0, first), (-1.0, second)])


def weighted(what: str, terms: Sequence[Term]) -> Part:
    """A weighted sum of means, each over originals; an original is drawn for all of them at once.

    `n` of its interval counts originals. Where all draws are alike, a share has Wilson's interval
    and a difference none. There is no estimate where a mean is of no row, and no end where one is
    of fewer than `FEWEST` originals.

    Args:
        what: names this part of a claim.
        terms: weight, and rows with `group` and `value`.
    """
    return Part(what, partial(_interval, terms))


def _interval(terms: Sequence[Term], level: float) -> Interval:
    weights = np.array([weight for weight, _ in terms])
    frames = [rows for _, rows in terms]
    if not all(map(len, frames)):
        return NOWHERE
    if len(frames) == 1:
        return enough(share(frames[0]["value"], frames[0]["group"], level), frames)
    inside = np.repeat(np.eye(len(frames)), [len(rows) for rows in frames], axis=1)
    values = np.concatenate([rows["value"].to_numpy(float) for rows in frames])
    groups = np.concatenate([rows["group"].to_numpy(object) for rows in frames])

    def sum_of_means(sums: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, sums[: len(frames)] / sums[len(frames) :], 1)

    columns = np.concatenate([inside * values, inside])
    interval = drop_equal_bounds(resample(columns, groups, sum_of_means, level=level))
    return enough(interval._replace(n=interval.clusters), frames)


@cache
def rows_of(name: str) -> pd.DataFrame:
    """The rows that were drawn of a set, one an index.

    Raises:
        FileNotFoundError: it is not drawn.
    """
    manifest = read_manifest(name)
    return files.read_rows(file_of(manifest, name).with_suffix(".yaml"))


def same_in_a_mirror() -> set[str]:
    """The text originals whose sign a mirror leaves as it is."""
    rows = rows_of(f"{PREFIX}_{TASKS['OCR-VQA']}")
    return set(rows.loc[rows["answer"].str.lower().isin(SAME_IN_A_MIRROR), "original"])


def _column(policy: str) -> str:
    """The recorded answer of a policy: the base's is that of the round it consists of."""
    return "original" if policy == "base" else policy
