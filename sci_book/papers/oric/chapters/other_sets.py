"""Beside Figure 5: AMBER's and HallusionBench's own figures, and the macro F1 that it gives.

What a constant answer scores follows from the sets' labels alone, so that it needs no model: a
known answer of every formula. The released files are not in this repository; their figures stand
in `data_manifests/paper/oric_other_sets.csv`, which the tests compute again where the files are.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.oric.chapters import answers
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.tables import Table, number, plain

CONSTANTS = PAPER / "oric_other_sets.csv"
OWN = {"AMBER": ("accuracy", "f1"), "HallusionBench": ("aAcc", "fAcc", "qAcc")}
NAMES = {"accuracy": "accuracy", "f1": "F1 of no", "aAcc": "aAcc", "fAcc": "fAcc", "qAcc": "qAcc",
         "macro_f1": "macro F1"}  # fmt: skip


def read() -> pd.DataFrame:
    """What always yes and always no score on the released files, by set and group, as committed.

    Columns `set, answer, group, n` and every figure of `NAMES`, NaN where a set has it not.
    """
    return pd.read_csv(CONSTANTS)


def table(frame: pd.DataFrame, name: str) -> Table:
    """A set's own figures and macro F1 of both constant answers, by group."""
    mine = frame[frame["set"] == name]
    shown = mine.set_index("always " + mine["answer"] + ", " + mine["group"])
    shown = shown[["n", *OWN[name], "macro_f1"]].rename(columns=NAMES).rename_axis(index=None)
    return plain(shown, name=f"constants-{name}", caption=f"{name}: constant answers, in percent")


def apart(frame: pd.DataFrame) -> pd.DataFrame:
    """By set and constant answer: its own headline figure less macro F1, in points.

    AMBER's headline is its F1, HallusionBench's aAcc.
    """
    whole = frame[frame["group"] == "all"].set_index(["set", "answer"])
    own = {"AMBER": "f1", "HallusionBench": "aAcc"}
    lines = {
        f"{name}, always {answer}": {
            NAMES[own[name]]: line[own[name]], "macro F1": line["macro_f1"],
            "difference": line[own[name]] - line["macro_f1"],
        }
        for (name, answer), line in whole.iterrows()
    }  # fmt: skip
    return pd.DataFrame.from_dict(lines, orient="index")


def apart_table(frame: pd.DataFrame) -> Table:
    """`apart` with one column of own figures."""
    own = frame[[c for c in frame if c not in ("macro F1", "difference")]].bfill(axis=1).iloc[:, 0]
    shown = pd.DataFrame({"own figure": own, **frame[["macro F1", "difference"]]})
    return plain(shown, name="apart", caption="AMBER’s F1 and HallusionBench’s aAcc less macro F1")


def flattered(frame: pd.DataFrame, margin: float) -> str:
    """Which constant answers score over `margin` points more by the own figure than by macro F1.

    Exact counts: there is nothing to sample, so no interval.
    """
    told = "; ".join(f"{name}: {number(line)}" for name, line in frame["difference"].items())
    above = int((frame["difference"] > margin).sum())
    return (
        f"{above} of {len(frame)} constant answers score over {margin:g} points more by the set's "
        f"own figure than by macro F1 ({told}). Exact counts, without an interval."
    )


def draw(frame: pd.DataFrame) -> Figure:
    """Own figure against macro F1 of the constant answers, the paper's numbers as lines."""
    figure, ax = plt.subplots(figsize=(WIDTH, 2.6))
    own = frame["macro F1"] + frame["difference"]
    for place, name in enumerate(frame.index):
        ax.plot([frame["macro F1"][name], own[name]], [place, place], color="#9ca3af")
    ax.plot(frame["macro F1"], range(len(frame)), "o", color="#dd6b20", label="macro F1")
    ax.plot(own, range(len(frame)), "o", color="#0072b2", label="own figure")
    quote = answers.printed().quote
    for place, name in enumerate(frame.index):
        known = quote(f"figure 5 {name.partition(',')[0]} before")
        ax.plot(known, place, "D", mfc="white", mec="#111827", markersize=5,
                label=None if place else "paper’s macro F1,\nbefore training")  # fmt: skip
    ax.set_yticks(range(len(frame)), frame.index)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("percent")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
