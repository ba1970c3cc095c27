"""Which rows two models stumble over, each by itself and both: Figure 1(c)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from sci_book.papers.sci.chapters.shapes import Sets, Subjects, name_lines
from sci_book.papers.shared.chapters import paper_values, row
from sci_book.papers.shared.figures import SUBSET_COLOURS
from sci_book.papers.shared.tables import number
from sci_book.results.statistics import NO_DATA, Interval, of_sums

_STACKED = ("B only", "B and S", "S only")
_SHARED_COLOURS = ("#3b82f6", "#7c3aed", "#dd6b20")  # the one alone, both, the other alone

Bars = dict[str, dict[str, tuple[float, str]]]  # by bar and part: percent and colour


def parts_of(sets: pd.DataFrame) -> dict[str, np.ndarray]:
    """BS and the three parts it falls into, as masks."""
    B, S = sets["B"].to_numpy(), sets["S"].to_numpy()
    return {"B only": B & ~S, "S only": S & ~B, "B and S": B & S, "BS": B | S}


def paper_parts(label: str | None) -> dict[str, float]:
    """The same in the paper, percent of its test rows, from Table 1; empty for another model."""
    printed = paper_values("table01")
    if label not in printed.index.unique("model"):
        return {}
    names = ("B", "S", "BS", "overlap")
    B, S, BS, both = (printed[label, "", subset, "Overall"] for subset in names)
    counts = {"B only": B - both, "S only": S - both, "B and S": both, "BS": BS}
    total = printed["", "", "all", "Overall"]
    return {part: 100 * count / total for part, count in counts.items()}


def failures(subjects: Subjects, sets: Sets) -> pd.DataFrame:
    """BS of each model and its parts, percent of all rows; rows for `chapters.levels`."""
    lines = {}
    for subject in subjects:
        paper, among = paper_parts(subject.label), sets[subject.name]["all"].to_numpy()
        for part, mask in parts_of(sets[subject.name]).items():
            interval = subject.share(mask, among)
            lines[f"{subject.brief}: {part}"] = row(interval, paper=paper.get(part))
    return pd.DataFrame.from_dict(lines, orient="index")


def shared(subjects: Subjects, sets: Sets) -> pd.DataFrame:
    """The rows that the first two models have in common; rows for `chapters.levels`.

    The last row is a ratio, all others are percent. With one model there is nothing to count, and
    the table says so.
    """
    if len(subjects) < 2:
        return pd.DataFrame.from_dict({"both": row(NO_DATA)}, orient="index")
    members, share = [sets[subject.name] for subject in subjects[:2]], subjects[0].share
    first, second = (of["BS"].to_numpy() for of in members)
    among = (members[0]["all"] & members[1]["all"]).to_numpy()
    names = [subject.brief for subject in subjects[:2]]
    one, other, both = _paper_pair(names)
    expected = first[among].mean() * second[among].mean() if among.any() else np.nan
    independent = Interval(expected, np.nan, np.nan, int(among.sum()), 0)
    times = lift(first[among], second[among], subjects[0].groups[among])
    lines = {
        f"BS of {names[0]}": row(share(first, among), paper=one),
        f"BS of {names[1]}": row(share(second, among), paper=other),
        "both": row(share(first & second, among), paper=both),
        "both, if independent": row(independent, paper=one * other / 100),
        "both, times independence": row(times, paper=100 * both / (one * other), scale=1.0),
    }
    return pd.DataFrame.from_dict(lines, orient="index")


def paper_numbers(subjects: Subjects) -> dict[tuple[str, str], float]:
    """What the paper prints of each model's BS that is another's too, by model and part."""
    numbers = {}
    for one, other in permutations(subjects, 2):
        hard, _, both = _paper_pair([one.brief, other.brief])
        if not np.isnan(both):
            numbers[one.name, f"share also in {other.shown}’s BS"] = 100 * both / hard
    return numbers


def lift(one: np.ndarray, other: np.ndarray, clusters: np.ndarray) -> Interval:
    """How much more often both masks hold than if they were independent; 1 where they are.

    The share of rows in both, over the product of the two shares. NaN, and no rows,
    where a mask is empty.
    """
    if not (one.any() and other.any()):
        return NO_DATA
    columns = np.stack([one & other, one, other, np.ones(len(one))]).astype(float)
    return of_sums(columns, clusters, lambda sums: sums[0] * sums[3] / (sums[1] * sums[2]))


def failure_bars(subjects: Subjects, sets: Sets) -> Bars:
    """Two bars a model, the paper's and ours: B only, B and S, S only."""
    frame, bars = failures(subjects, sets), {}
    for subject in subjects:
        heads = {f"{subject.label}, paper": "paper", subject.shown: "reproduced"}
        for head, column in heads.items():
            widths = {part: frame.loc[f"{subject.brief}: {part}", column] for part in _STACKED}
            if not np.isnan(list(widths.values())).any():
                bars[head] = {part: (width, SUBSET_COLOURS[part]) for part, width in widths.items()}
    return bars


def shared_bars(subjects: Subjects, sets: Sets) -> Bars:
    """The paper's pair and ours: rows that the first alone, both, the second alone stumble over."""
    if len(subjects) < 2:
        return {}
    names = [subject.brief for subject in subjects[:2]]
    lines = shared(subjects, sets).loc[[*(f"BS of {name}" for name in names), "both"]]
    bars = {}
    for head, column in {"paper": "paper", "here": "reproduced"}.items():
        one, other, both = lines[column]
        if not np.isnan(both):
            labels = f"{names[0]} alone", "both", f"{names[1]} alone"
            widths = zip((one - both, both, other - both), _SHARED_COLOURS, strict=True)
            bars[head] = dict(zip(labels, widths, strict=True))
    return bars


def draw_bars(ax: Axes, bars: Bars) -> None:
    """One stacked horizontal bar a line, each part's percentage written inside."""
    for place, parts in enumerate(bars.values()):
        left = 0.0
        for part, (width, shade) in parts.items():
            ax.barh(place, width, left=left, color=shade, label=None if place else part)
            if width > 3:
                ax.text(left + width / 2, place, number(width, 1), color="white", fontsize=8,
                        ha="center", va="center")  # fmt: skip
            left += width
    name_lines(ax, bars)
    ax.set_xlabel("share of all test rows, %")
    if bars:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _paper_pair(names: Sequence[str]) -> tuple[float, float, float]:
    """The paper's BS of each and of both, percent; NaN unless it compares these two models."""
    printed, pair = paper_values("fig01c"), " and ".join(sorted(names))
    if pair not in printed.index.unique("model"):
        return np.nan, np.nan, np.nan
    both = printed[pair, "", "BS", "Overall"]
    return *(paper_parts(name)["BS"] for name in names), both
