"""A prediction for models that were not trained here: SCI5 − VCD on BS from the mix of BS alone.

If SCI5's gains on B and on the rest of BS are much the same for every model, its gain on BS follows
from |B| / |BS|, which a model's own Table 1 tells before any SCI is decoded:

    SCI5 − VCD on BS = w · gain(B) + (1 − w) · gain(S∖B),    w = |B| / |BS|

Both gains are those of the pocket trainings, whose differences give the prediction an interval.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.sci import printed
from sci_book.papers.sci.chapters import why
from sci_book.papers.sci.chapters.shapes import Subjects, points
from sci_book.papers.shared.chapters import gain
from sci_book.papers.shared.figures import WIDTH, model_colours
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, interval, number, with_ends
from sci_book.results.statistics import NO_DATA, Interval, least_squares, one_more

OPPONENT = "VCD"


def trainings(by_seed: Mapping[int, Subjects]) -> pd.DataFrame:
    """A line a pocket training: `share` of B in BS, the gains on `B` and `rest`, both in points.

    Columns `name`, `shown`, `seed`, `fit` (whether it meets what claims about SCI rest on) and
    `lacks` (which of its conditions are undecided or not met, in words) beside, and the gain on
    `BS`. A training without a row in B or in S∖B is left out.
    """
    lines = []
    for seed, models in by_seed.items():
        for model in models:
            parts = [why.on(model, OPPONENT, part) for part in ("B", "S∖B", "BS")]
            if parts[0].n and parts[1].n:
                gains = (100 * part.estimate for part in parts)
                share = why.share_of_b(model)
                known = (model.name, model.shown, seed, model.fit, lacks(model.unmet))
                lines.append((*known, share, *gains))
    heads = ["name", "shown", "seed", "fit", "lacks", "share", "B", "rest", "BS"]
    return pd.DataFrame(lines, columns=heads)


def lacks(unmet: Mapping[str, str]) -> str:
    """The conditions that a model was judged on and does not meet (`gate.unmet`), in words."""
    judged = {name: state for name, state in unmet.items() if state in ("not met", "undecided")}
    return ", ".join(f"{name} {state}" for name, state in judged.items())


def predict(known: pd.DataFrame, share: float) -> Interval:
    """SCI5 − VCD on BS in points for a new model with this share of B; NaN below two trainings.

    The mean over trainings and the interval in which one more of them would lie
    (Student's t, as if trainings were drawn like the new model: they are not, and a real model may
    well lie outside).
    """
    values = (share * known["B"] + (1 - share) * known["rest"]).to_numpy(dtype=float)
    if len(values) < 2:
        middle = float(values.mean()) if len(values) else np.nan
        return NO_DATA._replace(estimate=middle, n=len(values), clusters=len(values))
    return one_more(least_squares([], values), [])


def paper_points() -> dict[str, tuple[float, float]]:
    """The paper's models: share of B in BS, and SCI5 − VCD on BS in points."""
    models = {}
    for label in printed.labels():
        (gap,) = printed.difference(label, ["SCI5"], [OPPONENT], ["BS"])
        share = why.paper_share_of_b(label)
        if gap is not None and share is not None:
            models[label] = (share, 100 * gap)
    return models


def own_points(subjects: Subjects) -> dict[str, tuple[float, Interval]]:
    """Models run here that are no pocket models: share of B in BS, and SCI5 − VCD on BS."""
    return {
        subject.shown: (why.share_of_b(subject), why.on(subject, OPPONENT, "BS"))
        for subject in subjects
        if not subject.shown.startswith("pocket ")
    }


def trainings_table(known: pd.DataFrame) -> Table:
    """What the prediction is made of."""
    lines = {
        f"{line.shown}, seed {line.seed}": {
            "may be asked": "yes" if line.fit else "no",
            "not met or undecided": line.lacks or "none",
            "B, % of BS": number(100 * line.share),
            "gain on B": number(line.B),
            "gain on S∖B": number(line.rest),
            "gain on BS": number(line.BS),
        }
        for line in known.itertuples()
    }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("trainings", frame, "Pocket trainings: SCI5 − VCD in points, test rows")


def prediction_table(known: pd.DataFrame, subjects: Subjects) -> Table:
    """Predicted and found, for the paper's models and for models of a reader's own."""
    lines = {}
    for label, (share, gap) in paper_points().items():
        lines[f"{label}, paper"] = _line(share, predict(known, share), number(gap), gap)
    for name, (share, measured) in own_points(subjects).items():
        if measured.n:
            predicted = predict(known, share)
            lines[name] = _line(share, predicted, points(measured), 100 * measured.estimate)
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("prediction", frame, "SCI5 − VCD on BS in points, predicted and found")


def _line(share: float, predicted: Interval, measured: str, value: float) -> dict[str, str]:
    return {
        "B, % of BS": number(100 * share),
        f"predicted, {INTERVAL}": with_ends(*predicted[:3]),
        "found": measured,
        "within": MISSING if predicted.n < 2 else "yes" if _inside(predicted, value) else "no",
    }


def _inside(predicted: Interval, value: float) -> bool:
    return predicted.low <= value <= predicted.high


def draw(known: pd.DataFrame, subjects: Subjects) -> Figure:
    """The prediction by share of B with its interval, every training, the paper and one's own."""
    figure, ax = plt.subplots(figsize=(WIDTH, 3.4))
    shares = np.linspace(0, 1, 21)
    bands = [predict(known, share) for share in shares]
    ax.plot(100 * shares, [band.estimate for band in bands], color=INK, label="predicted")
    if len(known) > 1:
        ax.fill_between(100 * shares, [band.low for band in bands], [band.high for band in bands],
                        color="#9ca3af", alpha=0.3, linewidth=0)  # fmt: skip
    for name, shade in model_colours(list(known["name"].unique())).items():
        mine = known[known["name"] == name]
        label = f"{mine['shown'].iloc[0]}, by seed"
        ax.plot(100 * mine["share"], mine["BS"], "o", color=shade, label=label)
    for (label, (share, gap)), mark in zip(paper_points().items(), "Ds", strict=False):
        ax.plot(100 * share, gap, mark, mfc="none", mec=INK, ms=8, label=f"{label}, paper")
    for name, (share, measured) in own_points(subjects).items():
        if measured.n:
            ax.vlines(100 * share, 100 * measured.low, 100 * measured.high, color="#b91c1c")
            ax.plot(100 * share, 100 * measured.estimate, "o", color="#b91c1c", label=name)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xlabel("B, % of BS")
    ax.set_ylabel("SCI5 − VCD on BS, points")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def answer(known: pd.DataFrame) -> str:
    """The prediction in words, for a model with half of BS in B, in Markdown."""
    if len(known) < 2:
        return "Fewer than two pocket trainings have rows in B and in S∖B: nothing is predicted."
    half, fit = predict(known, 0.5), int(known["fit"].sum())
    tenth, whole = predict(known, 0.6).estimate - half.estimate, int((known["lacks"] == "").sum())
    met = "none of them meets what a claim about SCI rests on, so it is provisional"
    if fit:
        met = (
            f"{'all' if fit == len(known) else fit} of them meet what a claim about SCI rests on, "
            f"and {'all' if whole == len(known) else whole or 'none'} every condition"
        )
    papers = []
    for label, (share, gap) in paper_points().items():
        predicted = predict(known, share)
        where = "inside" if _inside(predicted, gap) else "outside"
        ends = interval(predicted.low, predicted.high)
        papers.append(f"{label} gains {number(gap)} points, {where} {ends}")
    return (
        f"**Prediction.** Over VCD, SCI5 {gain(half.estimate)} {interval(half.low, half.high)} on "
        f"the BS of a model half of whose BS is B, and {number(tenth)} points more for every "
        f"further tenth of BS that is B. It rests on {len(known)} pocket trainings; {met}.\n\n"
        f"**The paper's models**, with the interval predicted for each: {'; '.join(papers)}."
    )
