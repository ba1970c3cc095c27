"""The frontier: what every method and setting gains on BS against what it loses over all rows.

On B the base is wrong, so a change can only help. Outside BS both V1 and V2 agree with it, and it
is right or answers otherwise than a dummy picture, so a change mostly hurts. The setting that is
worth it gains on BS and loses nothing over all rows: chosen on validation groups of questions,
tested on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.shapes import legend_below
from sci_book.papers.shared.chapters import SplitBy, Subject, overall, row
from sci_book.papers.shared.figures import METHOD_COLOURS, WIDTH, colour, nothing
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.sweeps import bounded, outcome
from sci_book.papers.shared.tables import Table, compare, frame_of, plain, with_ends
from sci_book.results.statistics import Interval, verdict
from sci_book.run.method_sets import EDITED
from sci_core.methods import METHODS, SCI5, Method, sci

BETAS = (0.05, 0.1, 0.3, 0.5, 0.8, 0.95)
TAU2 = (0.1, 0.5, 1.0, 2.0, 5.0)
GRID = range(4)  # dummies and rewordings, of each none to three
GAIN, WHOLE = "BS", "all"  # what a setting is chosen and tested by, and the axes of the picture
PARTS = ("B", "outside BS", GAIN, WHOLE)
SPLIT: SplitBy = "groups"  # so that a question is not both chosen by and tested on
TOLERATED = 0.005  # lost over all rows, of 1
WORDINGS = ("original", "V1", "V2", "V3")
ORACLE = "any wording right"


class Setting(NamedTuple):
    """A method with its constants; `preset` is the one whose colour and line it shares."""

    label: str
    preset: str
    method: Method


def settings() -> list[Setting]:
    """Every method along β, SCI5 along τ2, and SCI with every number of rounds up to three."""
    along_beta = [
        Setting(f"{method.name}, β {beta:g}", method.name, replace(method, beta=beta))
        for method, beta in product(EDITED, BETAS)
    ]
    along_tau2 = [Setting(f"SCI5, τ2 {tau2:g}", "SCI5", replace(SCI5, tau2=tau2)) for tau2 in TAU2]
    rounds = [Setting(sci(M, N).name, "", sci(M, N)) for M, N in product(GRID, GRID) if M != N]
    return [*along_beta, *along_tau2, *rounds]


@lru_cache(maxsize=16)  # a page counts, draws and tabulates the same changes
def effects(subject: Subject, part: str) -> pd.DataFrame:
    """By setting, the change against the base in points on each of `PARTS`, in a part of `SPLIT`.

    Settings that the records do not settle, or lack a round of, are left out. The last line is the
    oracle that is right where any wording is.
    """
    sets, base = subject.sets("any", SPLIT, part), subject.right(METHODS["base"])
    lines = {}
    for label, preset, method in settings():
        if not set(method.rounds) <= set(subject.records.rounds):
            continue
        decoded = outcome(subject, method)
        if decoded.enough(sets["all"].to_numpy()):
            lines[label] = {"preset": preset, **_changes(decoded.read - base, sets)}
    if lines:
        lines[ORACLE] = {"preset": "", **_changes(oracle(subject) - base, sets)}
    return pd.DataFrame.from_dict(lines, orient="index", columns=["preset", *PARTS])


def oracle(subject: Subject) -> np.ndarray:
    """1 where any recorded wording is right; NaN for a row with an error."""
    records = subject.records
    wordings = [name for name in WORDINGS if name in records.rounds]
    right = np.any([records.correct(name) for name in wordings], axis=0)
    return np.where(records.ok, right, np.nan)


def _changes(values: np.ndarray, sets: pd.DataFrame) -> dict[str, float]:
    return {
        part: 100 * float(values[rows].mean()) if (rows := sets[part].to_numpy()).any() else np.nan
        for part in PARTS
    }


def chosen(frame: pd.DataFrame) -> str | None:
    """The setting `worth_it` that gains most on BS; None where there is none."""
    fine = worth_it(frame)
    return None if fine.empty else fine[GAIN].idxmax()


def worth_it(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of `effects` whose setting gains on BS and loses nothing over all rows."""
    alone = frame.drop(index=ORACLE, errors="ignore")
    return alone[(alone[WHOLE] >= 0) & (alone[GAIN] > 0)]


def tested(subject: Subject, label: str, part: str) -> Interval:
    """A setting's change against the base on test rows, as a share; open rows widen it."""
    method = next(setting.method for setting in settings() if setting.label == label)
    rows = subject.sets("any", SPLIT)[part].to_numpy()
    base = outcome(subject, METHODS["base"])
    return bounded(outcome(subject, method), base, rows, subject.groups)


def verdicts(subjects: Sequence[Subject]) -> pd.DataFrame:
    """The setting chosen for each model, and what it does on test rows: rows of `compare`.

    That it gains on BS, and loses over all rows at most what is tolerated. Columns `model` and
    `setting` beside.
    """
    picked = {subject.name: chosen(effects(subject, "validation")) for subject in subjects}
    lines = {}
    for subject in subjects:
        if (label := picked[subject.name]) is None:
            continue
        for part, margin in ((GAIN, 0.0), (WHOLE, -TOLERATED)):
            change = tested(subject, label, part)
            word = verdict(change, margin=margin) if subject.fit else "not comparable"
            more = {"verdict": word, "p alone": change.p(margin), "model": subject.shown}
            more["setting"] = label
            lines[f"{subject.shown}: {label}, {part}"] = row(change) | more
    return frame_of(lines, "model", "setting")


def verdict_table(frame: pd.DataFrame) -> Table:
    """`verdicts` as a table."""
    caption = (
        f"The setting chosen on validation rows, on test rows, in points: above 0 on BS, above "
        f"−{100 * TOLERATED:g} over all rows"
    )
    return compare(frame, name="chosen", caption=caption, ours="change", paper=False)


def conclusion(subjects: Sequence[Subject], frame: pd.DataFrame) -> str:
    """The page's verdict and, by model, how many settings are worth it and what was chosen."""
    lines, words = [], list(frame["verdict"])
    for subject in subjects:
        table, mine = effects(subject, "test"), frame[frame["model"] == subject.shown]
        text = (
            f"- {subject.shown}: of {len(table.drop(index=ORACLE, errors='ignore'))} settings "
            f"{len(worth_it(table))} gain on BS and lose nothing over all rows, by their estimates."
        )
        if len(mine):
            on_bs, over_all = (
                with_ends(*line[["reproduced", "low", "high"]]) for _, line in mine.iterrows()
            )
            text += (
                f" Chosen on validation rows: {mine['setting'].iloc[0]}; on test rows {on_bs} "
                f"points on BS and {over_all} over all."
            )
        elif _validation(subject):
            text += " On validation rows none does both, so none was tested."
            words.append("inconclusive" if subject.fit else "not comparable")
        else:
            text += " There is no validation row to choose one by."
            words.append("not comparable")
        lines.append(
            text + ("" if subject.fit else " Not judged: it does not meet the conditions.")
        )
    tested = (
        f"The setting chosen has to gain on BS, and to lose less than {100 * TOLERATED:g} points "
        "over all rows."
    )
    word = overall(words, frame["p alone"])
    return "\n".join([f"**Verdict: {word}.** {tested}\n", *lines])


def _validation(subject: Subject) -> bool:
    """Whether there is a row to choose a setting by."""
    return bool(subject.sets("any", SPLIT, "validation")["all"].any())


def table(subject: Subject) -> Table:
    """Every setting on test rows, most gained on BS first, in points."""
    frame = effects(subject, "test").drop(columns="preset").sort_values(GAIN, ascending=False)
    caption = f"{subject.shown}: every setting less the base, test rows, in points"
    return plain(frame, name=f"settings-{subject.name}", caption=caption)


def draw(subjects: Sequence[Subject], chosen: pd.DataFrame) -> Figure:
    """A panel a model: the change over all rows along, the gain on BS upward; a line a method's β.

    The settings of `chosen`, lines of `verdicts`, are ringed.
    """
    figure, panels = plt.subplots(1, len(subjects), figsize=(WIDTH, 4.2), squeeze=False)
    for ax, subject in zip(panels[0], subjects, strict=True):
        picked = chosen.loc[chosen["model"] == subject.shown, "setting"]
        _draw(ax, effects(subject, "test"), list(picked.unique()))
        ax.set_title(subject.shown)
        ax.set_xlabel("change over all rows, points")
    panels[0, 0].set_ylabel("gain on BS, points")
    legend_below(figure, ncols=4)
    return figure


def _draw(ax: Axes, frame: pd.DataFrame, picked: Sequence[str]) -> None:
    if frame.empty or frame[GAIN].isna().all():
        nothing(ax, "There is no row in BS, or no setting that the records settle.")
        return
    others = frame[frame["preset"].eq("") & (frame.index != ORACLE)]
    ax.plot(others[WHOLE], others[GAIN], "o", mfc="none", mec="#9ca3af", markersize=5,
            label="SCI of M dummies, N rewordings")  # fmt: skip
    for name in METHOD_COLOURS:
        line = frame[frame["preset"].eq(name) & frame.index.str.contains("β")]
        if len(line):
            ax.plot(line[WHOLE], line[GAIN], "o-", color=colour(name), markersize=4, label=name)
    tau2 = frame[frame.index.str.contains("τ2")]
    ax.plot(tau2[WHOLE], tau2[GAIN], "s", color=colour("SCI5"), markersize=5,
            label="SCI5, along τ2")  # fmt: skip
    best = frame.loc[ORACLE]
    ax.plot(best[WHOLE], best[GAIN], "*", color="#15803d", markersize=12, label=ORACLE)
    if picked:
        ringed = frame.reindex(picked)
        ax.plot(ringed[WHOLE], ringed[GAIN], "o", mfc="none", mec=INK, ms=12, label="chosen")
    ax.axvline(-100 * TOLERATED, color=INK, linewidth=0.8, linestyle="--")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.axhline(0, color=INK, linewidth=0.8)
