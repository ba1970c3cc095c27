"""What the paper leaves open: does SCI change calibration, blur sensitivity or negation?

Every difference is taken of the same rows, a method less the base. Intervals and Holm's correction
are over the lines of all models (`shared.effects`), for each method by itself.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product, starmap
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_book.papers.edge.calibration import ece_of_sums, terms
from sci_book.papers.edge.chapters.accuracy import exact
from sci_book.papers.edge.chapters.blur import change, corrupted
from sci_book.papers.edge.chapters.models import Found, Model, paired, paired_probes
from sci_book.papers.edge.conditions import CAPTIONS, KINDS
from sci_book.papers.shared.chapters import levels
from sci_book.papers.shared.effects import effect_frames, effect_of_rows
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table
from sci_book.results.statistics import NO_DATA, Interval, Rows, of_sums

SCI = "SCI5"
METHODS = (SCI, "VCD")
Side = Literal["greater", "less"]
_ENDS = ("", " two")  # of the columns of the base and of a method


class Line(NamedTuple):
    """What a method changes of one measure: the side that is better, and every row's change."""

    what: str
    better: Side
    values: np.ndarray
    clusters: np.ndarray


@lru_cache(maxsize=16)  # a chapter shows, draws and concludes from the same lines
def lines(model: Model, method: str) -> tuple[Line, ...]:
    """The differences of one model, in the order of the table; experiments not run are empty."""
    changes: list[Line] = []

    def add(what: str, better: Side, values: Rows, rows: pd.DataFrame) -> None:
        groups = rows["group"].to_numpy(dtype=object)
        changes.append(Line(what, better, np.asarray(values, dtype=float), groups))

    for kind in KINDS:
        both = _clean(model, kind, method)
        add(f"accuracy, {kind}", "greater", both["right two"] - both["right"], both)
        both = _confident(model, kind, method)
        base, other = ((both[f"confidence{end}"] - both[f"right{end}"]) ** 2 for end in _ENDS)
        add(f"Brier score, {kind}", "less", other - base, both)
    both = _clean(model, CAPTIONS, method)
    whole = exact(both.assign(text=both["text two"])) - exact(both)
    add("whole scene, captions", "greater", whole, both)
    for kind in KINDS:
        both = paired(change(model, kind), change(model, kind, method), " of method")
        add(f"drop under blur, {kind}", "less", both["drop of method"] - both["drop"], both)
    both = paired(corrupted(model), corrupted(model, method))
    add("accuracy, corrupted questions", "greater", both["right two"] - both["right"], both)
    probes = paired_probes(model.probes(), model.probes(method), " two")
    for kind in KINDS:
        both = probes[probes["kind"] == kind]
        add(f"probes passed, {kind}", "greater", both["success two"] - both["success"], both)
    return tuple(changes)


@lru_cache(maxsize=16)
def effect_tables(recorded: Found, method: str = SCI) -> dict[str, pd.DataFrame]:
    """By model as it is, every effect of a method: `effect_frames`."""
    return effect_frames(
        {model.name: list(starmap(effect_of_rows, lines(model, method))) for model in recorded.full}
    )


def shown(recorded: Found, model: Model, method: str = SCI) -> Table:
    """One model's lines, with Holm's p-values."""
    return levels(
        effect_tables(recorded, method)[model.name], name=f"effects-{model.name}-{method}",
        ours=model.shown, caption=f"{model.shown}: {method} less the base, in points", paper=False,
    )  # fmt: skip


def ece_change(model: Model, kind: str, method: str) -> Interval:
    """ECE with a method less that of the base on the same rows, clusters drawn for both at once."""
    both = _confident(model, kind, method)
    if not len(both):
        return NO_DATA
    columns = np.vstack([terms(both[f"confidence{end}"], both[f"right{end}"]) for end in _ENDS])

    def change_of(sums: np.ndarray) -> np.ndarray:
        base, other = np.split(sums, 2)
        return ece_of_sums(other) - ece_of_sums(base)

    return of_sums(columns, both["group"], change_of)


def ece_table(recorded: Found) -> Table:
    """ECE with each method and the change against the base, with its interval."""
    lines = {}
    names = ("ECE change", "low", "high", "n")
    for model, kind, method in product(recorded.full, KINDS, METHODS):
        both = _confident(model, kind, method)
        lines[f"{kind}, {method}, {model.shown}"] = {
            "confidence, base": both["confidence"].mean(),
            "confidence, method": both["confidence two"].mean(),
            **dict(zip(names, ece_change(model, kind, method)[:4], strict=True)),
        }
    caption = "Confidence in the answer and ECE, method against base, same rows"
    return table_of(lines, name="ece-change", caption=caption, decimals=3)


def draw(recorded: Found) -> Figure:
    """Every effect of every model, turned so that the better is to the right."""
    frames = [(model, effect_tables(recorded)[model.name]) for model in recorded.full]
    names = list(frames[0][1].index) if frames else []
    figure, ax = plt.subplots(figsize=(WIDTH, 0.8 + 0.36 * max(len(names), 1)))
    for index, (model, frame) in enumerate(frames):
        sides = np.where(frame["claim"] == "greater", 1.0, -1.0)
        y = np.arange(len(frame)) + 0.22 * (index - (len(frames) - 1) / 2)
        ends = np.sort([sides * frame["low"], sides * frame["high"]], axis=0)
        ax.hlines(y, *ends, color=model.colour, linewidth=2.5)
        ax.plot(sides * frame["reproduced"], y, "o", color=model.colour, label=model.shown)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"change by {SCI}, points; to the right is better")
    if frames:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _clean(model: Model, kind: str, method: str) -> pd.DataFrame:
    return paired(model.answers(kind), model.answers(kind, method))


def _confident(model: Model, kind: str, method: str) -> pd.DataFrame:
    """Those of `_clean` whose two answers have a confidence: not where a token was not kept."""
    both = _clean(model, kind, method)
    return both[both["confidence"].notna() & both["confidence two"].notna()]
