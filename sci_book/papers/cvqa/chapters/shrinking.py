"""The question the paper leaves: does a decoding method shrink the counterfactual drop?

A method's drop is taken item by item, so that the base's less the method's is paired too. It is
positive where the method loses less. A drop shrinks also where the original question is answered
worse, so both sides' changes stand beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.methods import COMPARED, SCI
from sci_book.papers.cvqa.chapters import pairs
from sci_book.papers.cvqa.chapters.pairs import TYPES, Pairs
from sci_book.papers.shared import chapters, figures
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.effects import effect_frames, effect_of_rows
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, Table, frame_of, interval, signed
from sci_book.results.statistics import difference

METHODS = COMPARED
# Each method against the base; SCI against the method it builds on; more rounds against fewer.
CONTRASTS = (
    *((name, "base") for name in METHODS),
    *((name, "VCD") for name in SCI),
    ("SCI5", "SCI3"), ("SCI7", "SCI5"),
)  # fmt: skip


def label(contrast: tuple[str, str]) -> str:
    """A contrast as a row's name."""
    return f"{contrast[0]} against {contrast[1]}"


def shrinkage(items: Pairs, method: str, other: str) -> np.ndarray:
    """The other's drop less the method's, item by item; NaN where a row failed."""
    return items.drop(other) - items.drop(method)


def family(subjects: Sequence[Subject]) -> dict[str, pd.DataFrame]:
    """Every contrast on all items of every model that has some: `effect_frames`."""
    effects = {}
    for subject in subjects:
        items, lines = pairs.understood(subject), []
        for contrast in CONTRASTS if len(items) else ():
            values = shrinkage(items, *contrast)
            ok = np.isfinite(values)
            lines.append(effect_of_rows(label(contrast), "greater", values[ok], items.groups[ok]))
        effects |= {subject.name: lines} if lines else {}
    return effect_frames(effects)


def table(subject: Subject, frame: pd.DataFrame) -> Table:
    """A model's contrasts, with Holm's p-values; the ledger judges, once for all."""
    return chapters.levels(
        frame, name=f"shrinking-{subject.name}", ours=subject.shown, paper=False,
        caption=f"How much smaller the drop of {subject.shown} is, in points (− is larger)",
    )  # fmt: skip


def both_sides(subject: Subject) -> Table:
    """Accuracy on either side and the drop by method, and the changes from the base."""
    items, rows = pairs.understood(subject), {}
    ok = items.ok
    base = 100 * items.right("base")[:, ok].mean(axis=1)
    for name in ("base", *METHODS):
        original, counterfactual = 100 * items.right(name)[:, ok].mean(axis=1)
        drop = difference(items.drop(name)[ok], items.groups[ok])
        rows[name] = {
            "original": original, "change ": signed(original - base[0]),
            "counterfactual": counterfactual, "change": signed(counterfactual - base[1]),
            "drop": 100 * drop.estimate,
            INTERVAL: interval(100 * drop.low, 100 * drop.high),
        }  # fmt: skip
    caption = f"{subject.shown}: percent right of {int(ok.sum()):,} items, and the drop in points"
    return table_of(rows, name=f"sides-{subject.name}", caption=caption)


def by_type(subject: Subject) -> Table:
    """What SCI3, SCI5 and SCI7 take off the drop, by type; nothing is claimed here."""
    items, rows = pairs.understood(subject), {}
    for kind in TYPES:
        for name in SCI:
            values = shrinkage(items, name, "base")
            keep = np.isfinite(values) & (items.kinds == kind)
            reduction = difference(values[keep], items.groups[keep])
            rows[f"{kind}, {name}"] = chapters.row(reduction)
    return chapters.levels(
        frame_of(rows), name=f"types-{subject.name}",
        caption="Base’s drop less the method’s by type, in points",
        ours=subject.shown,
        paper=False,
    )  # fmt: skip


def moved(subject: Subject) -> str:
    """On how many items a method changes the drop at all: what the intervals rest on."""
    items = pairs.understood(subject)
    words = []
    for name in METHODS:
        values = shrinkage(items, name, "base")
        values = values[np.isfinite(values)]
        words.append(f"{name} {int((values != 0).sum())}")
    return (
        f"{subject.shown}: items whose drop a method changes, of {len(items)}: {', '.join(words)}."
    )


def draw(subjects: Sequence[Subject], tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Every method against the base, with its interval; a panel a model."""
    figure, axes = plt.subplots(
        1, len(tables), figsize=(figures.WIDTH, 2.9), sharex=True, squeeze=False
    )
    tested = [subject for subject in subjects if subject.name in tables]
    for ax, subject in zip(axes[0], tested, strict=True):
        lines = {name: tables[subject.name].loc[label((name, "base"))] for name in METHODS}
        figures.estimates(
            ax, {name: line["reproduced"] for name, line in lines.items()},
            {name: (line["low"], line["high"]) for name, line in lines.items()},
            ours=subject.shown, xlabel="points off the drop",
        )  # fmt: skip
        ax.get_legend().remove()
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_title(subject.shown)
    return figure
