"""Figure 5 on the probe, and beside it AMBER's and HallusionBench's own figures.

What a constant answer scores follows from the sets' labels alone, so that it needs no model: a
known answer of every formula. The released files are not in this repository; their figures stand
in `data_manifests/paper/oric_other_sets.csv`, which the tests compute again where the files are.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.oric.chapters import rft
from sci_book.papers.oric.printed import PRINTED
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, Table, interval, number, plain
from sci_book.results.statistics import difference

OTHERS = ("HallusionBench", "AMBER")  # the sets of the paper's Figure 5
CONSTANTS = PAPER / "oric_other_sets.csv"
OWN = {"AMBER": ("accuracy", "f1"), "HallusionBench": ("aAcc", "fAcc", "qAcc")}
NAMES = {"accuracy": "accuracy", "f1": "F1 of no", "aAcc": "aAcc", "fAcc": "fAcc", "qAcc": "qAcc",
         "macro_f1": "macro F1"}  # fmt: skip


def figure05(result: rft.Result) -> Table:
    """Figure 5: macro F1 by setting, the paper's on its two sets beside ours on the probe.

    The paper's text prints the numbers without CoT and after Visual-RFT; its numbers with CoT are
    drawn and nowhere written.
    """
    paper, rows = _printed_others(), {}
    for condition, setting in rft.SHOWN.items():
        score = rft.score(result, "probe", condition, "f1").times(100)
        rows[setting] = {
            **{f"{name}, paper": paper[name].get(condition, np.nan) for name in OTHERS},
            f"probe, {result.heading}": score.estimate,
            "n": score.n,
            INTERVAL: interval(score.low, score.high),
            "yes or no, %": rft.answered(result, "probe", condition),
        }
    caption = (
        "Figure 5, macro F1 in percent: the paper’s model on two other sets, ours on the probe"
    )
    return table_of(rows, name="figure05", caption=caption)


def draw_others(result: rft.Result) -> Figure:
    """`figure05`: a panel a set of the paper and one for the probe, with its intervals."""
    figure, axes = plt.subplots(1, len(OTHERS) + 1, figsize=(WIDTH, 2.6), sharey=True)
    paper = _printed_others()
    for ax, name in zip(axes, OTHERS, strict=False):
        rft.draw_settings(ax, paper[name])
        ax.set_title(f"{name}, paper", fontsize=10)
    rft.draw_settings(axes[-1], {}, result, "probe")
    axes[-1].set_title(f"probe, {result.heading}", fontsize=10)
    axes[0].invert_yaxis()
    return figure


def untested(result: rft.Result) -> str:
    """Which parts of the claim have no verdict and why, in sentences; "" where all have one."""
    read = {name: rft.answered(result, "probe", name) for name in ("rft", *rft.COMPARISONS)}
    few = [f"{rft.SHOWN[name]}: {number(n)} %" for name, n in read.items() if n < rft.LEAST_READ]
    lost = [o for o in rft.COMPARISONS if min(read["rft"], read[o]) < rft.LEAST_READ]
    if not lost:
        return ""
    return (
        f"Not comparable: “{'” and “'.join(map(rft.gain_part, lost))}”. Fewer than "
        f"{rft.LEAST_READ:g} % of the answers to the claims say yes or no ({'; '.join(few)}). So "
        f"{'no' if len(lost) == len(rft.COMPARISONS) else 'only the other'} part is tested."
    )


def by_family(result: rft.Result) -> Table:
    """Accuracy on the probe by family of claims."""
    rows = result.rows("probe")
    target, label = np.array(rows["target"]), np.array(rows["label"])
    image = np.array(rows["image"])
    right = {
        condition: (np.array(rows["said"][condition])[:, 0] == label).astype(float)
        for condition in rft.SHOWN
    }
    families = list(dict.fromkeys(rows["target"]))
    lines = {}
    for family in families:
        mine = target == family
        change = difference((right["rft"] - right["plain"])[mine], image[mine]).times(100)
        lines[family] = {
            "claims": int(mine.sum()),
            **{f"{rft.SHOWN[name]}, %": 100 * hits[mine].mean() for name, hits in right.items()},
            "Visual-RFT − as it is, points": change.estimate,
            INTERVAL: interval(change.low, change.high, 1),
        }
    caption = "The probe by what is claimed"
    return table_of(lines, name="families", caption=caption, decimals=1)


def read() -> pd.DataFrame:
    """What always yes and always no score on the released files, by set and group, as committed.

    Columns `set, answer, group, n` and every figure of `NAMES`, NaN where a set has it not.
    """
    return pd.read_csv(CONSTANTS)


def table(frame: pd.DataFrame, name: str) -> Table:
    """A set's own figures and macro F1 of both constant answers, by group."""
    mine = frame[frame["set"] == name]
    lines = mine.set_index("always " + mine["answer"] + ", " + mine["group"])
    lines = lines[["n", *OWN[name], "macro_f1"]].rename(columns=NAMES).rename_axis(index=None)
    return plain(lines, name=f"constants-{name}", caption=f"{name}: constant answers, in percent")


def apart(frame: pd.DataFrame) -> pd.DataFrame:
    """By set and constant answer: its own headline figure less macro F1, in points.

    AMBER's headline is its F1, HallusionBench's aAcc.
    """
    whole = frame[frame["group"] == "all"]
    own = whole["f1"].where(whole["set"] == "AMBER", whole["aAcc"])
    comparison = pd.DataFrame({"own figure": own, "macro F1": whole["macro_f1"]})
    comparison["difference"] = comparison["own figure"] - comparison["macro F1"]
    return comparison.set_axis((whole["set"] + ", always " + whole["answer"]).tolist())


def apart_table(frame: pd.DataFrame) -> Table:
    """`apart` as a table."""
    caption = "AMBER’s F1 and HallusionBench’s aAcc less macro F1"
    return plain(frame, name="apart", caption=caption)


def flattered(frame: pd.DataFrame, margin: float) -> str:
    """Which constant answers score over `margin` points more by the own figure than by macro F1.

    Exact counts: there is nothing to sample, so no interval.
    """
    differences = "; ".join(f"{name}: {number(line)}" for name, line in frame["difference"].items())
    above = int((frame["difference"] > margin).sum())
    return (
        f"{above} of {len(frame)} constant answers score over {margin:g} points more by the set's "
        f"own figure than by macro F1 ({differences}). Exact counts, without an interval."
    )


def draw(frame: pd.DataFrame) -> Figure:
    """Own figure against macro F1 of the constant answers, the paper's numbers as lines."""
    figure, ax = plt.subplots(figsize=(WIDTH, 2.6))
    own = frame["own figure"]
    ax.hlines(range(len(frame)), frame["macro F1"], own, color="#9ca3af")
    ax.plot(frame["macro F1"], range(len(frame)), "o", color="#dd6b20", label="macro F1")
    ax.plot(own, range(len(frame)), "o", color="#0072b2", label="own figure")
    quote = PRINTED.quote
    for place, name in enumerate(frame.index):
        known = quote(f"figure 5 {name.partition(',')[0]} before")
        ax.plot(known, place, "D", mfc="white", mec=INK, markersize=5,
                label=None if place else "paper’s macro F1,\nbefore training")  # fmt: skip
    ax.set_yticks(range(len(frame)), frame.index)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("percent")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _printed_others() -> dict[str, dict[str, float]]:
    """What the text prints of Figure 5, by set and condition; nothing with CoT."""
    quote, when = PRINTED.quote, {"plain": "before", "rft": "after"}
    return {
        name: {condition: quote(f"figure 5 {name} {word}") for condition, word in when.items()}
        for name in OTHERS
    }
