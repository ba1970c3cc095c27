"""MetaRA's records: originals with their cases, wholes with their parts, sheets in several orders.

What was made of which original stands in the rows that were drawn (`papers.metara.files`), not in
the records. Three failure rates are kept apart everywhere; of an original they are means over its
cases, and originals are what every interval draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from sci_book.data.datasets import file_of, read_manifest
from sci_book.methods import COMPARED
from sci_book.papers.metara import files
from sci_book.papers.metara.failures import ORIGINAL, Failures, from_records
from sci_book.papers.shared import chapters, frame
from sci_book.papers.shared.chapters import Found, Subject
from sci_book.papers.shared.parameters import Names
from sci_book.results.statistics import Interval, measure, of_mean, of_several, ratio
from sci_core.methods import METHODS

PREFIX = "pocket_metara"
TASKS = {"KBVQA": "knowledge", "OCR-VQA": "text"}
"""The paper's two tasks, and the pocket data set that stands for the data sets of each."""
FR = "conditional"
"""The rate that stands beside the paper's FR. By the absolute one nearly all of the paper's models
would answer changed inputs better than the originals (the audit of its tables). The consistency
rate could be as low too; the conditional one is taken because equations 3 to 6 presuppose a right
original."""
FEWEST = 10  # originals of every mean below which there is no interval, and no verdict
SAME_IN_A_MIRROR = frozenset(("h", "t", "x"))
"""Signs of the pocket world that a mirror leaves readable as they are; answers are lower case."""


Cases = Mapping[str, str | Sequence[str]]
"""Columns of cases, and the values that they keep: see `Failures.per_original`."""
ALL: Cases = MappingProxyType({})
Terms = Sequence[tuple[float, pd.DataFrame]]
"""Weights, and rows of originals with `group` and `value` whose mean each weighs."""


def subjects(models: Names, folder: str | Path) -> Found:
    """The models of a chapter that were asked about originals of both tasks: see `companions`."""
    return chapters.companions(models, folder, "metara", "MetaRA", _lacking)


def _lacking(model: Subject) -> str:
    if all(failures(model, task).left["originals"] for task in TASKS.values()):
        return ""
    return f"{model.shown} has records of MetaRA, but of originals of one task or none."


@lru_cache(maxsize=256)
def failures(model: Subject, task: str, method: str = "base") -> Failures:
    """A model's rates on a task ("knowledge" or "text").

    Rows with an error are neither right nor wrong; an original whose own row has one is left out.

    Raises:
        NotRecorded: the records hold no answers of the method (`Subject.decoded`).
    """
    mine, rows = _part(model, task)
    own = rows[(rows["relation"] == ORIGINAL) & rows["index"].isin(mine["index"])]
    whole = rows["original"].isin(own["original"])
    mine = mine[mine["index"].isin(rows.loc[whole, "index"])]
    return Failures(from_records(mine, rows, model.decoded(method)))


def by_original(
    model: Subject, rate: str, task: str, method: str = "base", **where: str | Sequence[str]
) -> pd.DataFrame:
    """A rate of each original that has one: `original`, `group` and `value`.

    Rates and `where` are those of `Failures.per_original`.
    """
    kept = [(name, x if isinstance(x, str) else tuple(x)) for name, x in sorted(where.items())]
    return _by_original(model, rate, task, method, tuple(kept)).copy(deep=False)


@lru_cache(maxsize=1024)
def _by_original(model: Subject, rate: str, task: str, method: str, where: tuple) -> pd.DataFrame:
    return failures(model, task, method).per_original(rate, **dict(where))


def methods(model: Subject) -> list[str]:
    """The base and the compared methods that a model's records hold."""
    compared = [name for name in COMPARED if model.records.policy_of(METHODS[name])]
    return ["base", *compared]


def percent(model: Subject, rate: str, task: str, method: str = "base", **where: str) -> float:
    """The mean of a rate over originals, in percent."""
    return 100 * by_original(model, rate, task, method, **where)["value"].mean()


def violations(model: Subject, task: str, method: str = "base") -> pd.DataFrame:
    """MetaVQA's compositions, answered in full: `group`, `relation`, `value`."""
    mine, rows = _part(model, f"metavqa_{task}", "composition")
    found = files.violations(mine, rows, model.decoded(method))
    return found.assign(group=f"{PREFIX}:" + found["group"])


def orders(model: Subject, task: str) -> pd.DataFrame:
    """Answers to a task's sheets in several orders, in full, as `order.order_rates` takes them."""
    sheets = files.order_frame(*_part(model, "sheets", "original"), "original")
    return sheets[[name.partition("_")[0] == task for name in sheets["original"]]]


def _part(model: Subject, name: str, whole: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records and rows of a set; those of a `whole` only where each was answered."""
    records, rows = model.records.frame, rows_of(name)
    mine = records[records["dataset"] == f"{PREFIX}_{name}"]
    if whole:
        answered = rows["index"].isin(mine.loc[mine["error"].isna(), "index"])
        rows = rows[answered.groupby(rows[whole]).transform("all")]
        mine = mine[mine["index"].isin(rows["index"])]
    return mine, rows


def mean(trainings: Sequence[pd.DataFrame]) -> Interval:
    """The mean over originals, rows with `group` and `value` of each training."""
    trainings = [rows for rows in trainings if len(rows)]
    samples = [of_mean(rows["value"], rows["group"]) for rows in trainings]
    return enough(measure(samples, ratio, span=(0.0, 1.0)), trainings)


def line(model: Subject, rate: str, task: str, cases: Cases = ALL, **keys: Any) -> dict[str, Any]:
    """A line of the frame: the mean over originals of one of the base's rates, on some cases."""
    rows = partial(by_original, rate=rate, task=task, **cases)
    return frame.score(model, rows, mean, task=task, rate=rate, **keys)


def less(first: pd.DataFrame, second: pd.DataFrame) -> Terms:
    """The mean of the first less that of the second."""
    return [(1.0, first), (-1.0, second)]


def weighted(trainings: Sequence[Terms]) -> Interval:
    """The weighted sum of a training's means over originals, over trainings.

    An original is drawn for all of them at once. `n` counts originals. There is no estimate where a
    mean is of no row, and no end where one is of fewer than `FEWEST` originals.
    """
    weights = np.array([weight for terms in trainings[:1] for weight, _ in terms])
    return over_originals(
        [[rows for _, rows in terms] for terms in trainings],
        lambda *rates: np.tensordot(weights, [sums / size for sums, size in rates], 1),
    )


def over_originals(
    trainings: Sequence[Sequence[pd.DataFrame]],
    statistic: Callable[..., np.ndarray],
    powers: Sequence[int] = (1, 0),
) -> Interval:
    """A statistic of several rates, over trainings; an original counts once for all of them.

    Args:
        trainings: of each, of each rate, rows with `group` and `value`.
        statistic: takes the sums of each rate, one for each power of its values.
    """
    trainings = [frames for frames in trainings if all(map(len, frames))]
    samples = [
        [(np.stack([rows["value"].to_numpy(float) ** n for n in powers]), rows["group"])
         for rows in frames]
        for frames in trainings
    ]  # fmt: skip
    found = of_several(samples, statistic)
    if not found.n:
        return found
    originals = [pd.concat(frames)["group"].nunique() for frames in trainings]
    return enough(found._replace(n=round(np.mean(originals))), chain.from_iterable(trainings))


def enough(interval: Interval, frames: Iterable[pd.DataFrame]) -> Interval:
    """An interval, without its ends if a mean is of fewer than `FEWEST` originals.

    An interval of so few is too narrow, whatever it says; a claim about it is inconclusive.
    """
    if min((rows["group"].nunique() for rows in frames), default=FEWEST) < FEWEST:
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
