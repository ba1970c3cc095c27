"""Any number of finished runs side by side: what each read, what a method gained, who answers best.

A run is a file of records or the folder of a finished `sci evaluate`; two runs are paired only on
the rows that both answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.shapes import ends
from sci_book.papers.shared import chapters, figures, parameters
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.stamp import checksum, located, provenance
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, number, plain
from sci_book.results.records import Records, read_records
from sci_book.results.statistics import (
    Interval,
    difference,
    holm,
    sign_flip_test,
    verdict,
)

BASE = "base"
_ROW = ["dataset", "index", "image_hash", "truth"]  # a row of the same name may be another's


@dataclass(frozen=True, eq=False)
class Run:
    """One finished run.

    Attributes:
        shown: its model's name, and the folder where two runs are of one model.
        path: the file of its records, or the folder of its shards.
    """

    shown: str
    path: Path
    records: Records

    def right(self, policy: str) -> np.ndarray:
        """1 or 0 for a right or wrong answer of every row, NaN where there is none."""
        if not self._answered(policy):
            return np.full(len(self.records.frame), np.nan)
        return np.where(self.records.ok, self.records.correct(policy), np.nan)

    def unknown(self, policy: str) -> float:
        """Answers without a meaning, in percent; NaN where there is no answer."""
        if not (self._answered(policy) and self.records.ok.any()):
            return np.nan
        return 100 * float(pd.isna(self.records.parsed(policy)[self.records.ok]).mean())

    def _answered(self, policy: str) -> bool:
        return policy in (BASE, *self.records.policies)

    @cached_property
    def groups(self) -> np.ndarray:
        """The question group of every row: the clusters of every interval."""
        return self.records.frame["group"].to_numpy(dtype=object)


def load(paths: Names) -> list[Run]:
    """The runs at these paths, relative to where the reader is or to the repository.

    Raises:
        ValueError: no path, or one given twice.
        RecordsError: a path without the records of a finished run.
    """
    paths = parameters.names(paths, "runs")
    places = [located(path) for path in paths]
    if not places or len({place.resolve() for place in places}) < len(places):
        raise ValueError(
            f"runs is {paths}; expected one or more different files of records, or folders "
            "of finished runs."
        )
    loaded = [(place, read_records(place)) for place in places]
    names = [records.stamp["model"] for _, records in loaded]
    return [
        Run(name if names.count(name) == 1 else f"{name} ({_folder(place)})", place, records)
        for name, (place, records) in zip(names, loaded, strict=True)
    ]


def overview(runs: Sequence[Run], method: str) -> Table:
    """What each run is: precision, data, rows, and answers that say nothing; see also the stamp."""
    lines = []
    for run in runs:
        stamp = run.records.stamp
        lines.append(
            {
                "dtype": stamp["dtype"],
                "data sets": ", ".join(stamp["datasets"]),
                "rows": len(run.records.frame),
                "with an error": int((~run.records.ok).sum()),
                **{f"unknown, {name} (%)": run.unknown(name) for name in (BASE, method)},
            }
        )
    frame = pd.DataFrame(lines, index=[run.shown for run in runs])
    caption = "The runs. Unknown: answers that no rule reads; they count as wrong"
    return plain(frame, name="prose_runs", caption=caption)


def gains(runs: Sequence[Run], method: str) -> pd.DataFrame:
    """Accuracy of the base and the method, and the paired gain, by run and data set.

    Indexed by (run, data set), the last of each run being "all"; `base`, `method` in percent;
    `gain, low, high` in points; `n`; `verdict` of the claim that the gain is positive,
    NaN but for "all", and its `p alone`.
    """
    lines = {}
    for run in runs:
        names = run.records.frame["dataset"].to_numpy(dtype=object)
        before, after = run.right(BASE), run.right(method)
        answered = np.isfinite(before) & np.isfinite(after)
        for name in [*run.records.stamp["datasets"], "all"]:
            rows = answered if name == "all" else answered & (names == name)
            gap = difference((after - before)[rows], run.groups[rows])
            lines[run.shown, name] = {
                "base": 100 * before[rows].mean() if rows.any() else np.nan,
                "method": 100 * after[rows].mean() if rows.any() else np.nan,
                **_points("gain", gap),
                "verdict": verdict(gap) if name == "all" else None,
                "p alone": gap.p(),
            }
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis(["run", "data set"])


def gains_table(frame: pd.DataFrame, method: str) -> Table:
    """`gains` as a table."""
    cells = frame.assign(
        low=_ends(frame),
        verdict=frame["verdict"].fillna(MISSING),
    ).set_axis([f"{run}: {name}" for run, name in frame.index])
    cells = cells.drop(columns=["high", "p alone", "key"]).rename(
        columns={"low": INTERVAL, "method": method}
    )
    caption = f"Accuracy in percent, and what {method} gains in points, paired by row"
    return plain(cells, name="gains", caption=caption)


def draw(frame: pd.DataFrame, method: str) -> Figure:
    """Base and method, a line a run and data set, from `gains`."""
    figure, axes = plt.subplots(figsize=(figures.WIDTH, 0.9 + 0.24 * len(frame)))
    places = np.arange(len(frame))[::-1]
    axes.hlines(places, frame["base"], frame["method"], color="#9ca3af", linewidth=1.5, zorder=1)
    for column, policy in (("base", BASE), ("method", method)):
        colour = figures.colour(policy)
        axes.scatter(frame[column], places, color=colour, label=policy, zorder=2, s=28)
    axes.set_yticks(places, [f"{run}: {name}" for run, name in frame.index])
    axes.set_xlabel("accuracy (%)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    axes.grid(axis="y", visible=False)
    return figure


def against_first(runs: Sequence[Run], method: str) -> pd.DataFrame:
    """Every other run less the first, on the rows that both answered without an error.

    Indexed by (run, policy), for the base and the method; `difference, low, high` in points;
    `p`, adjusted over the lines that have rows
    (Holm); `n`, 0 where the two runs share no row.
    """
    policies = list(dict.fromkeys([BASE, method]))
    lines, tests = {}, {}
    for run in runs[1:]:
        in_first, in_run = _common(runs[0], run)
        for policy in policies:
            gap = run.right(policy)[in_run] - runs[0].right(policy)[in_first]
            rows, groups = np.isfinite(gap), runs[0].groups[in_first]
            apart = difference(gap[rows], groups[rows])
            lines[run.shown, policy] = {**_points("difference", apart), "p": np.nan}
            if apart.n:
                tests[run.shown, policy] = sign_flip_test(gap[rows], groups[rows])
    for key, p in zip(tests, holm(list(tests.values())), strict=True):
        lines[key]["p"] = p
    index = pd.MultiIndex.from_tuples(list(lines), names=["run", "policy"])
    columns = ["difference", "low", "high", "n", "key", "p"]
    return pd.DataFrame(list(lines.values()), index=index, columns=columns)


def against_table(frame: pd.DataFrame, first: str) -> Table:
    """`against_first` as a table."""
    cells = pd.DataFrame(
        {
            "difference": frame["difference"],
            INTERVAL: _ends(frame),
            "p (Holm)": [number(p, 4) for p in frame["p"]],
            "n": frame["n"],
        }
    ).set_axis([f"{run}, {policy}" for run, policy in frame.index])
    caption = f"Accuracy less that of {first}, in points, on the rows both answered"
    return plain(cells, name="against", caption=caption)


def conclusion(runs: Sequence[Run], frame: pd.DataFrame, method: str) -> str:
    """The verdict and, by run, what the method gains over all rows, from `gains`, in Markdown."""
    together = frame.xs("all", level="data set").rename(columns={"gain": "reproduced"})
    word = chapters.overall(together["verdict"], together["p alone"])
    lines = [f"**Verdict: {word}.** {method} less base, all rows:\n"]
    for run in runs:
        methods = run.records.stamp["methods"]
        beta = {
            each["name"]: f", β = {each['beta']:g}"
            for each in methods
            if each.get("rule", "base") != "base"
        }
        shown = run.shown + beta.get(method, "")
        lines.append(f"- {chapters.finding(shown, together.loc[run.shown])}.")
    return "\n".join(lines)


def stamp_of(runs: Sequence[Run]) -> Table:
    """The provenance of the page."""
    data = {name: text[:16] for run in runs for name, text in run.records.stamp["datasets"].items()}
    return provenance(
        models={run.shown: run.records.stamp["revision"][:16] for run in runs},
        data=data,
        records={run.shown: checksum([run.path]) for run in runs},
    )


def _ends(frame: pd.DataFrame) -> pd.Series:
    return pd.Series(ends(frame), frame.index, dtype=object)  # str would drop the keys


def _points(name: str, change: Interval) -> dict[str, Any]:
    points = change.times(100)
    return {name: points.estimate, "low": points.low, "high": points.high, "n": points.n,
            "key": change.key}  # fmt: skip


def _common(first: Run, other: Run) -> tuple[np.ndarray, np.ndarray]:
    """Places of the rows that two runs share, in either."""
    frames = [
        run.records.frame[_ROW].assign(place=np.arange(len(run.records.frame)))
        for run in (first, other)
    ]
    shared = frames[0].merge(frames[1], on=_ROW, suffixes=("_first", "_other"))
    return shared["place_first"].to_numpy(), shared["place_other"].to_numpy()


def _folder(path: Path) -> str:
    """What tells a run of one model from another's: where its records lie."""
    folder = path if path.is_dir() else path.parent
    return folder.parent.name if folder.name in ("records", "shards") else folder.name
