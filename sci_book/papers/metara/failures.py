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

import pandas as pd

from sci_book.papers.metara.relations import RELATIONS

RATES = ("absolute", "conditional", "consistency")
ORIGINAL = "original"  # the relation of an original's own row
COLUMNS = ("dataset", "original", "group", "relation", "answer", "truth")


class Failures:
    """The answers of one model to originals and cases, and the rates that follow.

    Args:
        frame: one row an answer. `dataset` and `original` name the original; `relation` is
            `ORIGINAL` in its own row and the relation in its cases'; `answer` is parsed, None where
            unknown; `truth` the ground truth in the same form; `group` the cluster of intervals.
            Other columns (operation, level) can be asked for by name. An `error` that is not null
            marks a row without an answer.

    Attributes:
        cases: every case that was answered, with `answer_original`, and 0 or 1 (or NaN) by each
            rate and Robust(M).
        left: how many originals there are, and how many of them have no conditional rate (they are
            answered wrong or unknown) or no consistency (unknown).

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
        usable = own[~failed[own.index]]
        usable = usable.assign(right=_same(usable["answer"], usable["truth"]))
        cases = frame[(frame["relation"] != ORIGINAL) & ~failed]
        cases = cases.merge(
            usable[[*keys, "answer", "right"]], on=keys, suffixes=("", "_original"),
            validate="many_to_one",
        )  # fmt: skip
        wrong = ~_same(cases["answer"], cases["truth"])
        differs = ~_same(cases["answer"], cases["answer_original"])
        self.cases = cases.assign(
            absolute=wrong.astype(float),
            conditional=wrong.where(cases["right"]).astype(float),
            consistency=differs.where(cases["answer_original"].notna()).astype(float),
            robust=(cases["right"] & ~wrong).astype(float),
        )
        self._originals = usable.assign(value=usable["right"].astype(float))
        self.left = {
            "originals": len(own),
            "wrong or unknown": int((~usable["right"]).sum()),
            "unknown": int(usable["answer"].isna().sum()),
        }

    def per_original(self, rate: str, **where: str | Sequence[str]) -> pd.DataFrame:
        """A rate of each original that has one: dataset, original, group, value.

        `rate` is one of `RATES`, "robust" (1 where the original and all its cases are right, else
        0: eqs. 1, 2) or "accuracy" of the original itself. `where` keeps cases whose column has
        this value, as in `relation="MR1"`, or one of these.
        """
        if rate == "accuracy":
            return self._originals[["dataset", "original", "group", "value"]]
        if rate not in (*RATES, "robust"):
            raise ValueError(f"There is no failure rate {rate!r}; there are {', '.join(RATES)}.")
        cases = self.cases
        for column, value in where.items():
            cases = cases[cases[column].isin([value] if isinstance(value, str) else value)]
        by_original = cases[cases[rate].notna()].groupby(["dataset", "original"], sort=True)
        # Not by `agg`, which takes as long again to see what is asked.
        values = by_original[rate].min() if rate == "robust" else by_original[rate].mean()
        return by_original["group"].first().to_frame().assign(value=values).reset_index()


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
    mine = answers_of(records, policy, "index", "truth", "group", "error")
    if not set(mine["index"]) <= set(cases["index"]):
        raise ValueError("The records hold rows that are no cases of this set.")
    names = ["index", "dataset", "original", "relation", "operation", "level"]
    return mine.merge(cases[names], on="index", validate="one_to_one")


def answers_of(records: pd.DataFrame, policy: str, *columns: str) -> pd.DataFrame:
    """The column `answer` of a policy, and these columns of its records."""
    column = f"parsed:{policy}"
    if column not in records:
        known = [name.removeprefix("parsed:") for name in records if name.startswith("parsed:")]
        raise ValueError(f"The records hold no policy {policy!r}; they hold {', '.join(known)}.")
    return records[[*columns, column]].rename(columns={column: "answer"})


def _same(first: pd.Series, second: pd.Series) -> pd.Series:
    """Whether two columns of answers agree; an unknown agrees with nothing."""
    return (first.notna() & (first == second)).astype(bool)
