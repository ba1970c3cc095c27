"""The chapter of the dial: what was predicted of sixteen short trainings, and what they show."""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.sci import dial, dial_predictions
from sci_book.papers.sci.chapters.shapes import points
from sci_book.papers.sci.dial import KNOWN, PARTS
from sci_book.papers.shared.chapters import overall
from sci_book.papers.shared.figures import WIDTH, colour, legend_below
from sci_book.papers.shared.pages import named
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, number, with_ends
from sci_book.results.statistics import slope

SHOWN = ("VCD", "SCI5")
VERDICTS = {"holds": "hold", "inconclusive": "are inconclusive", "fails": "fail"}
AXES = {
    "skew": "how often training shows the usual",
    "reword": "share of training turns with another wording",
}
_SAID = {
    "habit": "share of the base’s errors that are habit, %",
    "deficit": "accuracy that V1 and V2 cost, points",
}


def estimates(samples: dial.Samples) -> pd.DataFrame:
    """`dial.estimates`, with how far each training was turned: `skew`, `reword`."""
    return dial_predictions.turned(dial.estimates(samples))


def along(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The trainings that are turned along one axis, the common one among them."""
    settings = {"skew": "skew", "reword": "wordings"}[axis]
    chosen = frame[frame["setting"].isin(dial_predictions.load_predictions()["settings"][settings])]
    return chosen.sort_values(axis)


def answer(outcomes: pd.DataFrame, frame: pd.DataFrame, samples: dial.Samples) -> str:
    """The verdict of all predictions, how many hold, and the gain at both ends, in Markdown."""
    words = outcomes["verdict"].value_counts()
    counted = ", ".join(f"{words.get(word, 0)} {said}" for word, said in VERDICTS.items())
    rest = [
        f"\n- *{' '.join(line['means'].split())}* {word.capitalize()}: "
        f"{_found(line)}, claimed {line['claimed']}."
        for word in VERDICTS
        for _, line in outcomes[outcomes["verdict"] == word].iterrows()
        if word != "holds"
    ]
    ends = []
    settings = along(frame, "skew").groupby("skew")["setting"].first()
    for skew, setting in settings.iloc[[0, -1]].items():
        mean = dial_predictions.mean("SCI5 − base, all", samples, [setting])
        ends.append(f"{points(mean)} at a skew of {skew:g}")
    return (
        f"**Verdict, {named('dial')}: {overall(outcomes['verdict'])}.** Of {len(outcomes)} "
        f"predictions {counted}. "
        f"Over all rows SCI5 changes the base by {' and by '.join(ends)}, in points."
        + ("\n\nThose that do not hold, in shares of 1:\n" + "".join(rest) if rest else "")
    )


def predictions_table(outcomes: pd.DataFrame) -> Table:
    """Every prediction, why, the interval of its measure, and the verdict."""
    because = {
        each["id"]: each["because"] for each in dial_predictions.load_predictions()["predictions"]
    }
    lines = {
        name: {
            "predicted, and why": " ".join(f"{line['means']} ({because[name]})".split()),
            "claimed": line["claimed"].replace("-", "−"),
            "found": _found(line),
            "n": f"{line['n']:,.0f}",
            "verdict": line["verdict"],
        }
        for name, line in outcomes.iterrows()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table(
        "prose-predicted", frame, "Shares of 1; n counts rows of a mean, trainings of a slope"
    )


def draw_turned(frame: pd.DataFrame) -> Figure:
    """A row an axis of the dial, a panel a part: what VCD and SCI5 gain over the base."""
    figure, panels = plt.subplots(
        len(AXES), len(PARTS), figsize=(WIDTH, 4.6), sharex="row", sharey="col"
    )
    for (row, axis), (column, part) in product(enumerate(AXES), enumerate(PARTS)):
        ax, turned = panels[row, column], along(frame, axis)
        for method in SHOWN:
            gain, style = f"{method} − base, {part}", {"color": colour(method)}
            mean = 100 * turned.groupby(axis)[gain].mean()
            ax.plot(mean.index, mean, linewidth=1.5, label=method, **style)
            ax.plot(turned[axis], 100 * turned[gain], "o", markersize=4, **style)
        ax.axhline(0, color=INK, linewidth=0.8)
        if not row:
            ax.set_title(part)
    for row, text in enumerate(AXES.values()):
        panels[row, 0].set_ylabel("gain, points")
        panels[row, 1].set_xlabel(text, loc="left")
    legend_below(figure, ncols=len(SHOWN))
    return figure


def draw_known(frame: pd.DataFrame) -> Figure:
    """Two panels: SCI5's gain over all rows against habit and against the rewordings' cost."""
    figure, panels = plt.subplots(1, len(KNOWN), figsize=(WIDTH, 3.2), sharey=True)
    skewed, shade = frame.index.isin(along(frame, "skew").index), colour("SCI5")
    marks = {
        "turned along the skew": (frame[skewed], "o", shade),
        "along the wordings": (frame[~skewed], "s", "none"),
    }
    for ax, name in zip(panels, KNOWN, strict=True):
        for label, (chosen, mark, face) in marks.items():
            gain = 100 * chosen["SCI5 − base, all"]
            ax.plot(100 * chosen[name], gain, mark, color=shade, mfc=face, label=label)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set_xlabel(_SAID[name])
    panels[0].set_ylabel("SCI5 − base, all rows, points")
    legend_below(figure, panels[:1], ncols=2)
    return figure


def rule_table(frame: pd.DataFrame) -> Table:
    """By method, the rule's coefficients, habit's and deficit's with intervals, and its R²."""
    lines = {}
    for method in dial.methods():
        fit = dial.rule(frame, method)
        slopes = [slope(fit, column) for column in range(len(KNOWN))]
        lines[method] = {
            "c0": number(fit.params[0], 3),
            **{
                f"c{place}, {name}": with_ends(*each[:3], 3)
                for place, (name, each) in enumerate(zip(KNOWN, slopes, strict=True), start=1)
            },
            "R²": number(fit.rsquared),
        }
    caption = f"The rule by {len(frame)} trainings: gain(all) = c0 + c1 · habit + c2 · deficit"
    return Table("rule", pd.DataFrame.from_dict(lines, orient="index"), caption)


def _found(line: pd.Series) -> str:
    return with_ends(*line[["estimate", "low", "high"]], 3)


def trainings_table(frame: pd.DataFrame) -> Table:
    """Every training: its accuracies alone, habit, deficit, and SCI5's gain by part, in percent."""
    names = {
        "original alone": "base", "V1 alone": "V1", "V2 alone": "V2", "black alone": "black",
        "noise500 alone": "noise500", "B": "B, %", "S": "S, %", "habit": "habit, %",
        "deficit": "deficit",
    }  # fmt: skip
    gains = [*(f"SCI5 − base, {part}" for part in PARTS), "VCD − base, all"]
    cells = (100 * frame[[*names, *gains]]).rename(columns=names).map(number)
    cells.index = [f"{line.setting}, seed {line.seed}" for line in frame.itertuples()]
    caption = "Every training on the fixed rows: inputs alone in %, gains in points"
    return Table("dial-trainings", cells, caption).fold()
