"""Tables 6 and 11 to 14, Figure 3: confidence from raw logits against what is right."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sci_core.evaluation.statistics import NOWHERE, Interval
from sci_core.probes.edge.audit import BIN_TABLES, Printed, bins
from sci_core.probes.edge.calibration import ece, ece_interval, reliability
from sci_core.probes.edge.conditions import KINDS
from sci_core.report.chapters import row
from sci_core.report.edge.models import (
    PAPER_PAIR,
    PAPER_SETS,
    Found,
    Model,
    Pair,
    frame_of,
    mean,
    printed,
    side,
)
from sci_core.report.figures import WIDTH
from sci_core.report.tables import Table, compare, number, plain

TOP_BIN = 0.9
SATURATED = 0.99
"""The claim's margin: this share of the answers lies in the top bin (the paper has all)."""


def sample(model: Model, kind: str, policy: str = "base") -> pd.DataFrame:
    """The answers of one kind that have a confidence."""
    found = model.answers(kind, policy)
    return found[found["confidence"].notna()]


def ece_of(model: Model, kind: str, policy: str = "base") -> Interval:
    """The ECE with its interval; of no row, nowhere."""
    found = sample(model, kind, policy)
    if not len(found):
        return NOWHERE
    return ece_interval(found["confidence"], found["right"], found["group"])


def table06(found: Found, pair: Pair | None) -> Table:
    """ECE of every model and kind, the paper's beside the pair's."""
    beside = _beside(pair)
    lines = {}
    for model in found.models:
        for kind in KINDS:
            name = beside.get(model.name, "")
            paper = printed("edge_table06", dataset=PAPER_SETS[kind], model=name)
            lines[f"{kind}, {model.shown}"] = row(ece_of(model, kind), paper=paper, scale=1.0)
    return compare(
        frame_of(lines).assign(verdict=None),
        name="table06", caption="Table 6: expected calibration error, 10 bins",
        ours=side(found.models), decimals=3,
    )  # fmt: skip


def bin_table(model: Model, kind: str) -> Table:
    """One of Tables 11 to 14: the bins of a model."""
    found = sample(model, kind)
    diagram = reliability(found["confidence"], found["right"])
    ends = zip(diagram["low"], diagram["high"], strict=True)
    names = [f"[{low:.1f}, {high:.1f}{']' if high == 1 else ')'}" for low, high in ends]
    shown = pd.DataFrame(
        {
            "count": diagram["count"].tolist(),
            "mean confidence": diagram["confidence"].tolist(),
            "accuracy, %": (100 * diagram["accuracy"]).tolist(),
        },
        index=names,
    )
    caption = f"{model.shown}, {kind}: {len(found)} answers, ECE {number(ece(diagram), 3)}"
    return plain(shown, name=f"bins-{model.name}-{kind}", caption=caption, decimals=[0, 3, 1])


def gaps(found: Found) -> pd.DataFrame:
    """Confidence less accuracy, in points: above 0 is overconfident."""
    lines = {}
    for model in found.models:
        for kind in KINDS:
            mine = sample(model, kind)
            over = mean(mine["confidence"] - mine["right"], mine["group"])
            lines[f"{kind}, {model.shown}: confidence − accuracy"] = row(over)
    return frame_of(lines)


def top_share(model: Model, kind: str) -> Interval:
    """The share of answers in the top bin."""
    mine = sample(model, kind)
    return mean(mine["confidence"] >= TOP_BIN, mine["group"])


def claim_table(found: Found) -> pd.DataFrame:
    """The chapter's claim for every model as it is."""
    lines = {
        model.shown: row(top_share(model, KINDS[0]), claim="greater", margin=SATURATED)
        for model in found.full
    }
    return frame_of(lines)


def gate(found: Found, thresholds: tuple[float, ...] = (0.5, 0.7, 0.9, 0.99)) -> Table:
    """What a threshold on confidence lets pass, and what of it is right, in %."""
    lines = {}
    for model in found.full:
        for kind in KINDS:
            mine = sample(model, kind)
            cells = {}
            for threshold in thresholds:
                passed = mine[mine["confidence"] >= threshold]
                right = f"{100 * passed['right'].mean():.0f}" if len(passed) else "—"
                share = f"{100 * len(passed) / len(mine):.0f}" if len(mine) else "—"
                cells[f"≥ {threshold:g}"] = f"{share} ({right})"
            lines[f"{kind}, {model.shown}"] = cells
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return plain(frame, name="gate", caption="Answers that pass a threshold, % (right of them, %)")


def draw(found: Found, pair: Pair | None) -> Figure:
    """Figure 3: the reliability diagrams, the paper's printed bins as open marks."""
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.6), sharex=True, sharey=True)
    names = dict(zip(PAPER_PAIR, (pair.compact.name, pair.large.name), strict=True)) if pair else {}
    own = {model.name: model.colour for model in found.models}
    tables = {(model, dataset): diagram for diagram, model, dataset in _printed_bins()}
    for ax, kind in zip(panels, KINDS, strict=True):
        ax.plot([0, 1], [0, 1], "--", color="#9ca3af", linewidth=1)
        for model in found.full:
            mine = sample(model, kind)
            diagram = reliability(mine["confidence"], mine["right"])
            size = 8 + 160 * diagram["count"] / max(diagram["count"].sum(), 1)
            ax.plot(diagram["confidence"], diagram["accuracy"], color=own[model.name], alpha=0.5)
            ax.scatter(
                diagram["confidence"], diagram["accuracy"], s=size, color=own[model.name],
                label=model.shown,
            )  # fmt: skip
        for name, marker in zip(PAPER_PAIR, "Ds", strict=True):
            diagram = tables[name, PAPER_SETS[kind]]
            ax.plot(
                diagram["confidence"], diagram["accuracy"], marker, mfc="white", markersize=5,
                mec=own.get(names.get(name, ""), "#6b7280"), label=f"paper, {name}",
            )  # fmt: skip
        ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
        ax.set_xlabel("confidence")
        ax.set_xlim(0, 1.03)
        ax.set_ylim(-0.03, 1.03)
    panels[0].set_ylabel("accuracy")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, ncols=4, loc="outside lower center")
    return figure


def _printed_bins() -> list[tuple[pd.DataFrame, str, str]]:
    printed_ = Printed()
    return [bins(printed_, name) for name in BIN_TABLES]


def _beside(pair: Pair | None) -> dict[str, str]:
    if pair is None:
        return {}
    return {pair.compact.name: PAPER_PAIR[0], pair.large.name: PAPER_PAIR[1]}
