"""The sizes of DRBench's subsets, and what the paper reads off them: Table 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from sci_core.evaluation import cluster_bootstrap, simultaneous_level
from sci_core.evaluation.drbench import Quantifier
from sci_core.evaluation.metrics import KINDS
from sci_core.report.chapters import SplitBy, Subject, labelled, levels, paper_values, row, share
from sci_core.report.figures import colour
from sci_core.report.tables import Table, number

COUNTED = ("B", "S", "BS", "overlap")
FLOORS = {"MCQ": 125, "Others": 50}  # validation rows each of B and S must have to be tuned on
_COLOURS = {"B": "B only", "S": "S only", "overlap": "B and S"}
_BS_COLOUR = "#374151"


def of_kind(subject: Subject, kind: str) -> np.ndarray:
    """Rows of a question type; all rows for "Overall"."""
    return np.isin(subject.kinds, KINDS[:2] if kind == "Overall" else kind)


def sizes(subject: Subject, sets: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Rows and share (percent of the rows of that type) of each subset, the paper's beside.

    One line a subset and question type, labelled "B, MCQ"; columns of `tables.compare` and the
    counts `rows` and `paper rows`.
    """
    printed = paper_values("table01")
    lines = {}
    for subset in COUNTED:
        for kind in KINDS:
            among = sets["all"].to_numpy() & of_kind(subject, kind)
            found = share(sets[subset].to_numpy(), among, subject.groups, level)
            count = printed.get((subject.label, "", subset, kind))
            percent = None if count is None else 100 * count / printed["", "", "all", kind]
            lines[f"{subset}, {kind}"] = {
                "rows": int((sets[subset].to_numpy() & among).sum()),
                "paper rows": np.nan if count is None else count,
                **row(found, paper=percent),
            }
    return pd.DataFrame.from_dict(lines, orient="index")


def size_table(subject: Subject, frame: pd.DataFrame, *, name: str, caption: str) -> Table:
    """Table 1 of one model: rows, then shares with their intervals."""
    shares = levels(frame, name=name, caption=caption, ours=subject.shown)
    counts = {
        "paper": [number(value, 0) for value in frame["paper rows"]],
        subject.shown: [number(value, 0) for value in frame["rows"]],
    }
    both = {"rows": pd.DataFrame(counts, index=frame.index), "share of n, %": shares.frame}
    return Table(name, pd.concat(both, axis=1), caption)


def statements(
    subjects: Sequence[Subject], quantifier: Quantifier, split_by: SplitBy
) -> pd.DataFrame:
    """What the paper reads off Table 1 (section 3.3), tested on the subjects beside its two models.

    Each is a paired difference of two shares of the same rows, in points, with intervals
    simultaneous over the three. A statement about a model that is not among the subjects has no
    row and is "not comparable".
    """
    printed = paper_values("table01")
    total = printed["", "", "all", "Overall"]

    def size(label: str, subset: str) -> float:
        return printed[label, "", subset, "Overall"]

    small, large = (labelled(subjects, label) for label in ("Qwen2-VL", "LLaVA-NeXT"))
    claims = {
        "Qwen2-VL is the more robust (BS: Qwen2-VL − LLaVA-NeXT)": (
            (small, "BS"), (large, "BS"), "less"
        ),
        "Qwen2-VL is more biased than sensitive (B − S)": (
            (small, "B"), (small, "S"), "greater"
        ),
        "LLaVA-NeXT is the more sensitive (S: LLaVA-NeXT − Qwen2-VL)": (
            (large, "S"), (small, "S"), "greater"
        ),
    }  # fmt: skip
    papers = (
        size("Qwen2-VL", "BS") - size("LLaVA-NeXT", "BS"),
        size("Qwen2-VL", "B") - size("Qwen2-VL", "S"),
        size("LLaVA-NeXT", "S") - size("Qwen2-VL", "S"),
    )
    level = simultaneous_level(0.95, len(claims))
    lines = {}
    for (text, (one, other, side)), paper in zip(claims.items(), papers, strict=True):
        values, clusters = _paired(one, other, quantifier, split_by)
        found = cluster_bootstrap(values, clusters, level=level)
        lines[text] = row(found, paper=100 * paper / total, claim=side)
    return pd.DataFrame.from_dict(lines, orient="index")


def floors(subject: Subject, split_by: SplitBy, quantifier: Quantifier) -> pd.DataFrame:
    """Validation rows in B and S by question type, beside the floor the pocket world was set."""
    sets = subject.sets(quantifier, split_by, "validation")
    lines = {}
    for subset in ("B", "S"):
        for kind, floor in FLOORS.items():
            count = int((sets[subset].to_numpy() & of_kind(subject, kind)).sum())
            lines[f"{subject.shown}: {subset}, {kind}"] = {
                "rows": count, "floor": floor, "reached": "yes" if count >= floor else "no",
            }  # fmt: skip
    return pd.DataFrame.from_dict(lines, orient="index")


def draw_sizes(ax: Axes, frame: pd.DataFrame, *, title: str) -> None:
    """The shares of `sizes` with their intervals; the paper's as open diamonds."""
    for place, (name, line) in enumerate(frame.iterrows()):
        subset = name.split(",")[0]
        shade = _BS_COLOUR if subset == "BS" else colour(_COLOURS[subset])
        ax.hlines(place, line["low"], line["high"], color=shade, linewidth=2.5)
        ax.plot(line["reproduced"], place, "o", color=shade, markersize=6)
    ax.plot(frame["paper"], range(len(frame)), "D", mfc="white", mec="#111827", markersize=5)
    ax.set_yticks(range(len(frame)), frame.index)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlim(left=0)
    ax.set_title(title)
    ax.set_xlabel("share of the rows of that type, %")


def _paired(
    one: tuple[Subject | None, str],
    other: tuple[Subject | None, str],
    quantifier: Quantifier,
    split_by: SplitBy,
) -> tuple[np.ndarray, np.ndarray]:
    """Membership in one subset minus membership in the other, by row, and the rows' groups."""
    if one[0] is None or other[0] is None:
        return np.array([]), np.array([], dtype=object)
    first = one[0].sets(quantifier, split_by)
    second = other[0].sets(quantifier, split_by)
    among = (first["all"] & second["all"]).to_numpy()
    values = first[one[1]].to_numpy(dtype=float) - second[other[1]].to_numpy(dtype=float)
    return values[among], one[0].groups[among]
