"""MetaRA's records: originals with their cases, wholes with their parts, sheets in several orders.

What was made of which original stands in the rows that were drawn (`papers.metara.files`), not in
the records. Three failure rates are kept apart everywhere; of an original they are means over its
cases, and originals are what every interval draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.datasets import file_of, read_manifest
from sci_book.methods import COMPARED
from sci_book.papers.metara import files
from sci_book.papers.metara.failures import ORIGINAL, Failures, from_records
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.tables import Table, frame_of
from sci_book.results.statistics import NO_DATA, Interval, of_sums, share

PREFIX = "pocket_metara"
TASKS = {"KBVQA": "knowledge", "OCR-VQA": "text"}
"""The paper's two tasks, and the pocket data set that stands for the data sets of each."""
METHODS = ("base", *COMPARED)
TASK_COLOURS = {"knowledge": "#009e73", "text": "#6b21a8"}  # unlike those of models
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
SAME_IN_A_MIRROR = frozenset(("h", "t", "x"))
"""Signs of the pocket world that a mirror leaves readable as they are; answers are lower case."""


class Answers:
    """One model's answers to MetaRA's pocket sets.

    Rows with an error are neither right nor wrong; an original whose own row has one is left out,
    and so are compositions and sequences of which not every row was answered.
    """

    def __init__(self, subject: Subject):
        self.subject, self.name, self.shown = subject, subject.name, subject.shown
        self._failures: dict[tuple[str, str], Failures] = {}

    def failures(self, task: str, policy: str = "base") -> Failures:
        """The rates of a task ("knowledge" or "text")."""
        if (policy, task) not in self._failures:
            mine, rows = self._part(task)
            own = rows[(rows["relation"] == ORIGINAL) & rows["index"].isin(mine["index"])]
            whole = rows["original"].isin(own["original"])
            mine = mine[mine["index"].isin(rows.loc[whole, "index"])]
            self._failures[policy, task] = Failures(from_records(mine, rows, _column(policy)))
        return self._failures[policy, task]

    def rate(
        self, rate: str, task: str, policy: str = "base", **where: str | Sequence[str]
    ) -> pd.DataFrame:
        """A rate of each original that has one: `original`, `group` and `value`.

        Rates and `where` are those of `Failures.per_original`.
        """
        return self.failures(task, policy).per_original(rate, **where)

    def percent(self, rate: str, task: str, policy: str = "base", **where: str) -> float:
        """The mean of `rate` over originals, in percent."""
        return 100 * self.rate(rate, task, policy, **where)["value"].mean()

    def violations(self, task: str, policy: str = "base") -> pd.DataFrame:
        """MetaVQA's compositions, answered in full: `group`, `relation`, `value`."""
        mine, rows = self._part(f"metavqa_{task}", "composition")
        frame = files.violations(mine, rows, _column(policy))
        return frame.assign(group=f"{PREFIX}:" + frame["group"])

    def orders(self, task: str) -> pd.DataFrame:
        """Answers to a task's sheets in several orders, as `order.order_rates` takes them."""
        mine, rows = self._part("sheets", "original")
        frame = files.order_frame(mine, rows, _column("base"))
        return frame[[name.partition("_")[0] == task for name in frame["original"]]]

    def _part(self, name: str, whole: str | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Records and rows of a set; those of a `whole` only where each was answered."""
        frame, rows = self.subject.records.frame, rows_of(name)
        mine = frame[frame["dataset"] == f"{PREFIX}_{name}"]
        if whole is not None:
            answered = rows["index"].isin(mine.loc[mine["error"].isna(), "index"])
            rows = rows[answered.groupby(rows[whole]).transform("all")]
            mine = mine[mine["index"].isin(rows["index"])]
        return mine, rows


def read(models: Names, folder: str | Path) -> tuple[list[Answers], Found]:
    """The answers of each model that was asked about originals of both tasks, and what was found.

    Args:
        models: names, paths or hub ids.
        folder: of the book's records; MetaRA's lie in `metara` below it.
    """
    found = chapters.companions(models, folder, "metara", "MetaRA")
    answered: list[Answers] = []
    absent = [*found.absent]
    for one in map(Answers, found.subjects):
        if all(one.failures(task).left["originals"] for task in TASKS.values()):
            answered.append(one)
        else:
            said = "has records of MetaRA, but of originals of one task or none."
            absent.append(f"{one.shown} {said}")
    return answered, found._replace(absent=absent)


def levels(models: Sequence[Answers], lines: Mapping[str, Mapping], **options) -> Table:
    """Intervals of models, each a `chapters.row`; nothing is claimed of them."""
    ours = chapters.side(models)
    return chapters.levels(frame_of(lines), ours=ours, subtract=False, **options)


def mean(rows: pd.DataFrame) -> Interval:
    """The mean over originals (rows with `group` and `value`) with its interval."""
    if not len(rows):
        return NO_DATA
    return enough(share(rows["value"], rows["group"]), [rows])


def less(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """The mean of the first less that of the second."""
    return weighted([(1.0, first), (-1.0, second)])


def weighted(terms: Sequence[tuple[float, pd.DataFrame]]) -> Interval:
    """A weighted sum of means over originals; an original is drawn for all of them at once.

    `n` of its interval counts originals. There is no estimate where a mean is of no row, and no end
    where one is of fewer than `FEWEST` originals.

    Args:
        terms: weight, and rows with `group` and `value`.
    """
    weights = np.array([weight for weight, _ in terms])
    frames = [rows for _, rows in terms]
    return over_originals(
        frames, (1, 0), lambda sums, sizes: np.tensordot(weights, sums / sizes, 1)
    )


def over_originals(
    frames: Sequence[pd.DataFrame],
    powers: Sequence[int],
    statistic: Callable[..., np.ndarray],
) -> Interval:
    """A statistic of several rates; an original counts once for all of them.

    Args:
        frames: of each rate, rows with `group` and `value`.
        powers: of the values, whose sums `[frames, ...]` the statistic takes, one for each power.
    """
    if not all(map(len, frames)):
        return NO_DATA
    inside = np.repeat(np.eye(len(frames)), [len(rows) for rows in frames], axis=1)
    rows = pd.concat(frames)
    columns = np.concatenate([inside * rows["value"].to_numpy(float) ** n for n in powers])

    def on_sums(sums: np.ndarray) -> np.ndarray:
        return statistic(*sums.reshape(len(powers), len(frames), *sums.shape[1:]))

    interval = of_sums(columns, rows["group"], on_sums)
    return enough(interval._replace(n=interval.clusters), frames)


def enough(interval: Interval, frames: Sequence[pd.DataFrame]) -> Interval:
    """An interval, without its ends if a mean is of fewer than `FEWEST` originals.

    An interval of so few is too narrow, whatever it says; a claim about it is inconclusive.
    """
    if min(rows["group"].nunique() for rows in frames) < FEWEST:
        return interval._replace(low=np.nan, high=np.nan)
    return interval


def drawn(name: str) -> Path:
    """The YAML file of the set of a task, say; its rows and pictures lie beside it."""
    name = f"{PREFIX}_{name}"
    return file_of(read_manifest(name), name).with_suffix(".yaml")


@cache
def rows_of(name: str) -> pd.DataFrame:
    """The rows that were drawn of a set, one an index.

    Raises:
        FileNotFoundError: it is not drawn.
    """
    return files.read_rows(drawn(name))


def same_in_a_mirror() -> set[str]:
    """The text originals whose sign a mirror leaves as it is."""
    rows = rows_of(TASKS["OCR-VQA"])
    return set(rows.loc[rows["answer"].str.lower().isin(SAME_IN_A_MIRROR), "original"])


def _column(policy: str) -> str:
    """The recorded answer of a policy: the base's is that of the round it consists of."""
    return "original" if policy == "base" else policy
