"""Three failure rates under three names, and Robust(M) (sections III-A and III-E, eqs. 1, 2, 7).

The paper calls one thing FR and its tables show another. Of a case x_t of an original x_o:

absolute      its answer is not the ground truth (eq. 7)
conditional   the same, among originals that are answered right (what eqs. 3 to 6 presuppose)
consistency   its answer is not the answer to the original, whatever the truth is (metamorphic
              testing without an oracle)

A rate is the mean over an original's cases, then over originals (captions of Tables II, III), so an
original with more cases weighs no more. An unknown answer is a failure in all three. Where the
original's own answer is unknown there is nothing to be consistent with: the original is left out of
that rate, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.metara.relations import RELATIONS
from sci_book.results.statistics import Interval, cluster_bootstrap

RATES = ("absolute", "conditional", "consistency")
ORIGINAL = "original"  # the relation of an original's own row
COLUMNS = ("dataset", "original", "group", "relation", "answer", "truth")


class Left(NamedTuple):
    """Originals that enter a rate or not.

    originals     all of them
    without_case  no case could be made: no rate, and no Robust(M)
    wrong         answered wrong or unknown: not in the conditional rate
    unknown       the answer is unknown: not in the consistency rate
    errors        rows that a model could not be asked: neither right nor wrong, left out
    """

    originals: int
    without_case: int
    wrong: int
    unknown: int
    errors: int


class Failures:
    """The answers of one model to originals and cases, and the rates that follow.

    Args:
        frame: one row an answer. `dataset` and `original` name the original; `relation` is
            `ORIGINAL` in its own row and the relation in its cases'; `answer` is parsed, None where
            unknown; `truth` the ground truth in the same form; `group` the cluster of intervals.
            Other columns (operation, level) can be asked for by name. An `error` that is not null
            marks a row without an answer.

    Raises:
        ValueError: for a missing column, an unknown relation, or an original without its own row,
            or with several.
    """

    def __init__(self, frame: pd.DataFrame):
        if missing := [name for name in COLUMNS if name not in frame]:
            raise ValueError(f"The answers lack {', '.join(missing)}; they need {COLUMNS}.")
        if unknown := set(frame["relation"]) - {ORIGINAL, *RELATIONS}:
            raise ValueError(f"Unknown relations {sorted(unknown)}; expected {RELATIONS}.")
        failed = frame["error"].notna() if "error" in frame else pd.Series(False, frame.index)
        keys = ["dataset", "original"]
        own = frame[frame["relation"] == ORIGINAL]
        if own.duplicated(keys).any():
            raise ValueError("An original has two rows of its own; expected one.")
        absent = set(map(tuple, frame[keys].values)) - set(map(tuple, own[keys].values))
        if absent:
            raise ValueError(f"{len(absent)} originals have no row of their own: {min(absent)}.")
        spoiled = own.loc[failed[own.index], keys]
        usable = own[~failed[own.index]]
        usable = usable.assign(right=_same(usable["answer"], usable["truth"]))
        cases = frame[(frame["relation"] != ORIGINAL) & ~failed]
        cases = cases.merge(
            usable[[*keys, "answer", "right"]], on=keys, suffixes=("", "_original"),
            validate="many_to_one",
        )  # fmt: skip
        wrong = ~_same(cases["answer"], cases["truth"])
        self._cases = cases.assign(
            absolute=wrong.astype(float),
            conditional=np.where(cases["right"], wrong.astype(float), np.nan),
            consistency=np.where(
                cases["answer_original"].notna(),
                (~_same(cases["answer"], cases["answer_original"])).astype(float), np.nan,
            ),
        )  # fmt: skip
        self._originals = usable
        with_case = set(map(tuple, cases[keys].values))
        self.left = Left(
            originals=len(own),
            without_case=sum(tuple(key) not in with_case for key in usable[keys].values),
            wrong=int((~usable["right"]).sum()),
            unknown=int(usable["answer"].isna().sum()),
            errors=int(failed.sum()),
        )
        self.spoiled = list(map(tuple, spoiled.values))

    def per_original(self, rate: str, **where: str | Sequence[str]) -> pd.DataFrame:
        """A rate of each original that has one: dataset, original, group, value.

        `where` keeps cases whose column has this value, as in `relation="MR1"`, or one of these.
        """
        if rate not in RATES:
            raise ValueError(f"There is no failure rate {rate!r}; there are {', '.join(RATES)}.")
        cases = self._cases
        for column, value in where.items():
            cases = cases[cases[column].isin([value] if isinstance(value, str) else value)]
        cases = cases[cases[rate].notna()]
        found = cases.groupby(["dataset", "original"], sort=True)
        return found.agg(group=("group", "first"), value=(rate, "mean")).reset_index()

    def cases(self) -> pd.DataFrame:
        """Every case that was answered, with `answer_original` and 0 or 1 (or NaN) by each rate."""
        return self._cases

    def rate(self, rate: str, *, seed: int = 0, **where: str) -> Interval:
        """A failure rate over originals, with a cluster bootstrap; NaN where none has it."""
        each = self.per_original(rate, **where)
        return cluster_bootstrap(each["value"], each["group"], seed=seed)

    def robust(self, *, seed: int = 0, **where: str) -> Interval:
        """The share of originals with Robust(M) = 1: right, and right in every case (eqs. 1, 2)."""
        each = self.robust_originals(**where)
        return cluster_bootstrap(each["value"], each["group"], seed=seed)

    def robust_originals(self, **where: str | Sequence[str]) -> pd.DataFrame:
        """Robust(M) of each original that has a case: dataset, original, group, value (0 or 1)."""
        each = self.per_original("absolute", **where)
        right = self._originals.set_index(["dataset", "original"])["right"]
        mine = right.loc[list(zip(each["dataset"], each["original"], strict=True))].to_numpy(bool)
        return each.assign(value=(mine & (each["value"] == 0).to_numpy()).astype(float))

    def accuracy(self) -> Interval:
        """The share of originals answered right."""
        each = self.accuracies()
        return cluster_bootstrap(each["value"], each["group"])

    def accuracies(self) -> pd.DataFrame:
        """Whether each original is answered right: dataset, original, group, value (0 or 1)."""
        each = self._originals[["dataset", "original", "group"]]
        return each.assign(value=self._originals["right"].astype(float))

    def table(self, by: Sequence[str] = (), *, seed: int = 0) -> pd.DataFrame:
        """Every rate and Robust(M), for each value of some columns that occurs.

        Columns: those of `by`, rate, estimate, low, high, n (originals), clusters.
        """
        by = list(by)
        keys = self._cases[by].drop_duplicates().sort_values(by) if by else pd.DataFrame([{}])
        rows = []
        for where in keys.to_dict("records"):
            for name in RATES:
                rows.append(
                    {**where, "rate": name, **self.rate(name, seed=seed, **where)._asdict()}
                )
            rows.append({**where, "rate": "robust", **self.robust(seed=seed, **where)._asdict()})
        return pd.DataFrame(rows)


def from_records(
    records: pd.DataFrame, cases: pd.DataFrame, policy: str = "original"
) -> pd.DataFrame:
    """The answers of one policy, as `Failures` takes them.

    Args:
        records: `Records.frame` of a run over the written cases.
        cases: `files.read_rows` of the same set, one row an index.
        policy: a round or a method.

    Raises:
        ValueError: if the records hold other rows than the cases, or no such policy.
    """
    column = f"parsed:{policy}"
    if column not in records:
        known = [name.removeprefix("parsed:") for name in records if name.startswith("parsed:")]
        raise ValueError(f"The records hold no policy {policy!r}; they hold {', '.join(known)}.")
    if not set(records["index"]) <= set(cases["index"]):
        raise ValueError("The records hold rows that are no cases of this set.")
    mine = records[["index", "truth", "group", "error", column]].rename(columns={column: "answer"})
    names = ["index", "dataset", "original", "relation", "operation", "level"]
    return mine.merge(cases[names], on="index", validate="one_to_one")


def _same(first: pd.Series, second: pd.Series) -> pd.Series:
    """Whether two columns of answers agree; an unknown agrees with nothing."""
    return (first.notna() & (first == second)).astype(bool)
