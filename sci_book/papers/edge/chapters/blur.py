"""Table 7 and Figure 4: the paper's blur on rows that both models have right, and on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_book.papers.edge.chapters.models import Found, Model, Pair, paired
from sci_book.papers.edge.conditions import BLURRED, CORRUPTED, KINDS, QUESTIONS
from sci_book.papers.edge.printed import PRINTED, printed
from sci_book.papers.edge.statistics import Ratio, mcnemar_edwards, sensitivity_ratio
from sci_book.papers.shared.chapters import row, side
from sci_book.papers.shared.corruptions import FAMILIES, NAMES, SEVERITIES
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import compared, points, table_of
from sci_book.papers.shared.tables import MISSING, Table, interval, number
from sci_book.results.statistics import difference, mcnemar, share

STRATA = ("both right", "compact alone right", "large alone right", "both wrong")


def change(model: Model, kind: str, policy: str = "base") -> pd.DataFrame:
    """Each row clean and blurred: `right` and `right two`, and their difference, `drop`."""
    clean = model.answers(kind, policy)
    both = paired(clean, model.answers(f"{BLURRED} {kind}", policy))
    return both.assign(drop=both["right"] - both["right two"])


def changes(model: Model) -> pd.DataFrame:
    """`change` of questions and captions together, by kind and row number."""
    return pd.concat({kind: change(model, kind) for kind in KINDS})


def shared(pair: Pair) -> pd.DataFrame:
    """`changes` of the compact model, and of the large one in the columns that end in " large".

    `stratum` is one of `STRATA`, by the clean answers.
    """
    both = paired(changes(pair.compact), changes(pair.large), " large")
    right = both["right"].astype(bool), both["right large"].astype(bool)
    chosen = [right[0] & right[1], right[0] & ~right[1], right[1] & ~right[0]]
    return both.assign(stratum=np.select(chosen, STRATA[:3], STRATA[3]))


def both_right(pair: Pair) -> pd.DataFrame:
    """The rows of `shared` that both models have right when clean."""
    rows = shared(pair)
    return rows[rows["stratum"] == STRATA[0]]


def table07(pair: Pair) -> Table:
    """Clean, blurred and drop of both models on the rows that both have right.

    The paper's own intervals, of its drops, have a column.
    """
    rows, lines, intervals = both_right(pair), {}, []
    for model, name, end in pair.sides:
        look = partial(printed, "edge_table07", model=name)
        blurred = share(rows[f"right two{end}"], rows["group"])
        drop = difference(rows[f"drop{end}"], rows["group"])
        lines[f"blurred, {model.shown}"] = row(blurred, paper=look(metric="blurred"))
        lines[f"drop, {model.shown}"] = row(drop, paper=look(metric="drop"))
        ends = (look(metric=f"drop {end}") for end in ("low", "high"))
        intervals += [MISSING, interval(*ends, 1)]
    caption = "Table 7: accuracy in % and drop in points; clean it is 100 %"
    table = compared(lines, pair[:2], name="table07", caption=caption, decimals=1)
    table.frame.insert(1, "paper’s interval", intervals)
    return table


def tests(pair: Pair) -> Table:
    """The ratio of the drops and the tests of no difference, the paper's beside."""
    rows = both_right(pair)
    compact, large = rows["right two"], rows["right two large"]
    pairs = int((compact > large).sum()), int((large > compact).sum())
    ratio = sensitivity_ratio(rows["drop"], rows["drop large"], rows["group"])
    look = partial(printed, "edge_table07")
    quoted = PRINTED.quoted("discordant pairs")
    value, *ends = (look(metric=f"rho{end}") for end in ("", " low", " high"))
    lines = {
        "discordant pairs (compact alone, large alone right)": (
            f"{quoted}, {quoted}", f"{pairs[0]}, {pairs[1]}"
        ),
        "ρ, compact over large": (f"{number(value)} {interval(*ends)}", ratio_text(ratio)),
        "McNemar, with Edwards’ correction": (
            number(look(metric="McNemar p"), 3), f"p = {number(mcnemar_edwards(*pairs), 3)}"
        ),
        "McNemar, exact": (MISSING, f"p = {number(mcnemar(compact, large), 3)}"),
    }  # fmt: skip
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=["paper", side(pair[:2])])
    return Table("tests", frame, f"{len(rows)} rows that both models have right when clean")


def strata(pair: Pair) -> Table:
    """The change of each model in all four strata of clean answers, which the paper leaves open."""
    rows, lines = shared(pair), {}
    for name in STRATA:
        mine = rows[rows["stratum"] == name]
        for model, _, end in pair.sides:
            drop = difference(mine[f"drop{end}"], mine["group"])
            lines[f"{name}: {model.shown}"] = {"rows": len(mine), **points("drop, points", drop)}
    return table_of(lines, name="strata", caption="Drop under blur by stratum", decimals=1)


def draw(pair: Pair) -> Figure:
    """Figure 4: both models clean and blurred, the paper's numbers as open marks."""
    rows = both_right(pair)
    figure, ax = plt.subplots(figsize=(WIDTH * 0.75, 3.2))
    for index, (model, name, end) in enumerate(pair.sides):
        blurred = share(rows[f"right two{end}"], rows["group"])
        x, colour = np.array([0, 1]) + 0.06 * (index - 0.5), model.colour
        ax.plot(x, [100, 100 * blurred.estimate], "o-", color=colour, label=model.shown)
        ax.vlines(x[1], 100 * blurred.low, 100 * blurred.high, color=colour, linewidth=2.5)
        paper = printed("edge_table07", model=name, metric="blurred")
        ax.plot(x, [100, paper], "D:", mfc="white", color=colour, label=f"paper, {name}")
    ax.set_xticks([0, 1], ["clean", "blurred"])
    ax.set_xlim(-0.3, 1.3)
    ax.set_ylabel("accuracy, %")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


# --- more corruptions -------------------------------------------------------------------------


def corruption_curve(model: Model, names: Sequence[str]) -> pd.DataFrame:
    """Accuracy at severities 0 (the same questions, clean) to 5 of some corruptions together.

    Columns `severity`, `accuracy`, `low`, `high` (shares) and `n`; empty if none was run.
    """
    rows = corrupted(model)
    rows = rows[rows["name"].isin(names)]
    lines = []
    for severity in (0, *SEVERITIES) if len(rows) else ():
        mine = rows[rows["severity"] == max(severity, 1)]
        right = share(mine["right" if severity else "clean"], mine["group"])
        lines.append((severity, *right[:4]))
    return pd.DataFrame(lines, columns=["severity", "accuracy", "low", "high", "n"])


def corrupted(model: Model, policy: str = "base") -> pd.DataFrame:
    """Corrupted questions: `name`, `severity`, `right`, and `clean`, right on the clean picture."""
    rows = model.answers(f"{CORRUPTED} {QUESTIONS}", policy)
    parts = rows["category"].str.rsplit(" ", n=1)
    clean = model.answers(QUESTIONS, policy).groupby("group")["right"].mean()
    rows = rows.assign(
        name=parts.str[0], severity=parts.str[1].astype(int), clean=rows["group"].map(clean)
    )
    return rows[rows["clean"].notna()]


def severity_table(recorded: Found) -> Table:
    """Accuracy at every severity, by family of corruptions and over all nineteen."""
    lines = {}
    for model in recorded.full:
        for family, names in {**FAMILIES, "all": NAMES}.items():
            curve = corruption_curve(model, names)
            if len(curve):
                cells = 100 * curve.set_index("severity")["accuracy"]
                last = curve.iloc[-1]
                lines[f"{family}, {model.shown}"] = {
                    **{("clean" if k == 0 else f"severity {k}"): v for k, v in cells.items()},
                    "interval at 5": interval(100 * last["low"], 100 * last["high"], 0),
                    "n": int(last["n"]),
                }
    return table_of(lines, name="severities", caption="Questions right, %", decimals=1)


def draw_curves(recorded: Found) -> Figure:
    """A panel a family of corruptions: each model's accuracy over severity."""
    figure, panels = plt.subplots(1, len(FAMILIES), figsize=(WIDTH, 2.9), sharey=True)
    for ax, (family, names) in zip(panels, FAMILIES.items(), strict=True):
        for model in recorded.full:
            curve, colour = corruption_curve(model, names), model.colour
            severity = curve["severity"].to_numpy(dtype=float)
            ends = [100 * curve[end].to_numpy(dtype=float) for end in ("low", "high")]
            ax.plot(severity, 100 * curve["accuracy"], "o-", color=colour, label=model.shown)
            ax.fill_between(severity, *ends, color=colour, alpha=0.15, linewidth=0)
        ax.set_title(family)
        ax.set_xticks([0, *SEVERITIES])
        ax.set_xlabel("severity")
    panels[0].set_ylabel("questions right, %")
    if recorded.full:
        panels[0].legend(fontsize=7, loc="lower left")
    return figure


def draw_each(recorded: Found) -> Figure:
    """A panel a corruption, thin: where the families' curves come from."""
    figure, panels = plt.subplots(4, 5, figsize=(WIDTH, 6), sharex=True, sharey=True)
    for ax, name in zip(panels.ravel(), NAMES, strict=False):
        for model in recorded.full:
            curve = corruption_curve(model, [name])
            accuracy = 100 * curve["accuracy"]
            ax.plot(curve["severity"], accuracy, color=model.colour, label=model.shown)
        ax.set_title(name.replace("_", " "), fontsize=8)
        ax.tick_params(labelsize=7)
    for ax in panels.ravel()[len(NAMES) :]:
        ax.set_axis_off()
    if recorded.full:
        handles = panels[0, 0].get_legend_handles_labels()
        panels[-1, -1].legend(*handles, fontsize=7, loc="center")
    figure.supxlabel("severity", fontsize=9)
    figure.supylabel("questions right, %", fontsize=9)
    return figure


# --- ratios, as they are shown ----------------------------------------------------------------


def ratio_text(ratio: Ratio) -> str:
    """A ratio with its interval, or why it has none."""
    if ratio.value is None:
        return f"degenerate: {ratio.degenerate}"
    if ratio.low is None:
        return f"{number(ratio.value)}, without bounds: {ratio.degenerate}"
    return f"{number(ratio.value)} {interval(ratio.low, ratio.high)}"
