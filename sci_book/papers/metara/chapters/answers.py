"""MetaRA's records: originals with their cases, wholes with their parts, sheets in several orders.

What was made of which original stands in the rows that were drawn (`papers.metara.files`), not in
the records. Three failure rates are kept apart everywhere; of an original they are means over its
cases, and originals are what every interval draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.datasets import file_of, read_manifest
from sci_book.methods import COMPARED
from sci_book.papers.metara import files
from sci_book.papers.metara.failures import ORIGINAL, Failures, from_records
from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.tables import Table, frame_of
from sci_book.results.statistics import NO_DATA, Interval, of_sums, share

PREFIX = "pocket_metara"
TASKS = {"KBVQA": "knowledge", "OCR-VQA": "text"}
"""The paper's two tasks, and the pocket data set that stands for the data sets of each."""
METHODS = ("base", *COMPARED)
TASK_COLOURS = ("#009e73", "#6b21a8")  # unlike those of models
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

    @property
    def orders(self) -> pd.DataFrame:
        """Answers to sheets in several orders, as `order.order_rates` takes them, with `task`."""
        mine, rows = self._part("sheets", "original")
        frame = files.order_frame(mine, rows, _column("base"))
        return frame.assign(task=[name.partition("_")[0] for name in frame["original"]])

    @cached_property
    def left(self) -> dict[str, int]:
        """How many rows were read and had an error, and what of either set was left out."""
        frame = self.subject.records.frame
        counts = {"rows": len(frame), "with an error": int(frame["error"].notna().sum())}
        for task in TASKS.values():
            left = self.failures(task).left
            counts |= {f"{task}: {name}": count for name, count in left.items()}
        return counts

    def named(self, name: str, caption: str) -> dict[str, str]:
        """Name and caption of a table of this model alone."""
        subject = self.subject
        return {"name": f"{name}-{subject.name}", "caption": f"{subject.shown}: {caption}"}

    def _part(self, name: str, whole: str | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Records and rows of a set; those of a `whole` only where each was answered."""
        frame, rows = self.subject.records.frame, rows_of(name)
        mine = frame[frame["dataset"] == f"{PREFIX}_{name}"]
        if whole is not None:
            answered = rows["index"].isin(mine.loc[mine["error"].isna(), "index"])
            rows = rows[answered.groupby(rows[whole]).transform("all")]
            mine = mine[mine["index"].isin(rows["index"])]
        return mine, rows


def subjects(models: Names, folder: str | Path) -> Found:
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
    return [one for one in models if all(one.failures(t).left["originals"] for t in tasks)]


def read(models: Names, folder: str | Path) -> tuple[Found, list[Answers]]:
    """A chapter's models that have records of MetaRA, and the answers of those to be shown."""
    recorded = subjects(models, folder)
    return recorded, answers(recorded.subjects)


def levels(answered: Sequence[Answers], lines: Mapping[str, Mapping], **options) -> Table:
    """Intervals of several models, each a `chapters.row`; nothing is claimed of them."""
    ours = chapters.side([one.subject for one in answered])
    return chapters.levels(frame_of(lines), ours=ours, subtract=False, **options)


def own_levels(one: Answers, lines: pd.DataFrame, *, name: str, caption: str, **options) -> Table:
    """Intervals of one model, under its name; nothing is claimed of them."""
    options |= one.named(name, caption)
    return chapters.levels(lines, ours=one.subject.shown, subtract=False, **options)


def absences(recorded: Found, answered: Sequence[Answers]) -> str:
    """What to say above a chapter's first table of models that have nothing to show."""
    names = {one.subject.name for one in answered}
    incomplete = [
        f"{subject.shown} has records of MetaRA, but of originals of one task or none."
        for subject in recorded.subjects
        if subject.name not in names
    ]
    return chapters.absences(recorded._replace(absent=[*recorded.absent, *incomplete]))


def enough(interval: Interval, frames: Iterable[pd.DataFrame]) -> Interval:
    """An interval, without its ends if a mean is of fewer than `FEWEST` originals.

    An interval of so few is too narrow, whatever it says; a claim about it is inconclusive.
    """
    if min(rows["group"].nunique() for rows in frames) < FEWEST:
        return interval._replace(low=np.nan, high=np.nan)
    return interval


def average(rows: pd.DataFrame) -> Interval:
    """The mean over originals with its interval."""
    return mean("", rows).interval


def mean(what: str, rows: pd.DataFrame) -> Part:
    """The mean over originals."""
    return weighted(what, [(1.0, rows)])


def less(what: str, first: pd.DataFrame, second: pd.DataFrame) -> Part:
    """The mean of the first less that of the second."""
    return weighted(what, [(1.0, first), (-1.0, second)])


def weighted(what: str, terms: Sequence[Term]) -> Part:
    """A weighted sum of means, each over originals; an original is drawn for all of them at once.

    `n` of its interval counts originals. There is no estimate where a mean is of no row, and no end
    where one is of fewer than `FEWEST` originals.

    Args:
        what: names this part of a claim.
        terms: weight, and rows with `group` and `value`.
    """
    return Part(what, partial(_interval, terms))


def _interval(terms: Sequence[Term]) -> Interval:
    weights = np.array([weight for weight, _ in terms])
    frames = [rows for _, rows in terms]
    if len(frames) == 1 and len(frames[0]):
        return enough(share(frames[0]["value"], frames[0]["group"]), frames)
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
