"""Are these models fit to be asked? What SCI assumes of its rounds, by input, model and seed."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import get_args

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.headline import SEED_COLOURS, trainings
from sci_book.papers.sci.chapters.shapes import Subjects, ends, name_lines
from sci_book.papers.shared import chapters, gate
from sci_book.papers.shared.chapters import Subject, paper_values
from sci_book.papers.shared.extended import extended
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, number, plain, with_ends
from sci_book.run import conditions
from sci_core.engine.questions import Noise
from sci_core.generate import generate

NOISES = get_args(Noise)
DEFAULT_NOISE = signature(generate).parameters["noise"].default
SUBSETS = ("B", "S", "BS")
_ABOVE = ("chance", "nothing")  # what an input must only be above
_CLAIMED = ("original", "black")  # what rewordings and dummies are held against
_MARGIN_COLOUR = "#d1fae5"

BySeed = Mapping[int, Subjects]


def paper_accuracy(label: str | None) -> dict[str, float]:
    """The paper's accuracy of each input alone, percent of its test rows (Table 10).

    By input, as our records name it; empty for a model that the paper does not have.
    """
    printed = paper_values("table10")
    if label not in printed.index.unique("model"):
        return {}
    known = printed[label].xs(("all", "Overall"), level=["subset", "question_type"])
    return known.rename({"base": "original"}).to_dict()


def judged(by_seed: BySeed, spec: Mapping) -> pd.DataFrame:
    """Every condition of every model and seed, on the rows that decide and on test rows.

    Columns `name, shown, seed, part` ("decides" or "test") and those of `conditions.measure`.
    """
    parts = []
    for seed, subject in trainings(by_seed):
        paper = paper_accuracy(subject.label).get("original")
        known = None if paper is None else {"Overall": paper}
        tables = {
            "decides": gate.measured(subject.records, subject.path, paper),
            "test": conditions.measure(subject.records, {**spec, "split": "test"}, paper=known),
        }
        for part, table in tables.items():
            parts.append(table.assign(name=subject.name, shown=subject.shown, seed=seed, part=part))
    return pd.concat(parts, ignore_index=True)


def conclusion(frame: pd.DataFrame) -> str:
    """A line of Markdown a model and seed: the state of all conditions, then the claim's own."""
    lines = []
    for _, model in frame[frame["part"] == "decides"].groupby("shown", sort=False):
        for (label, seed), part in model.groupby(["shown", "seed"], sort=False):
            inside = part["against"].isin(_CLAIMED)
            claimed, apart = part[inside], part[~inside & (part["state"] != "met")]
            line = f"- **{label}, seed {seed}: {conditions.overall(part)}.** "
            line += f"Rewordings and dummies: {conditions.overall(claimed)}."
            for state in ("not met", "undecided"):
                if named := conditions.named(claimed[claimed["state"] == state]):
                    line += f" {state.capitalize()}: {named}."
            line += _furthest(claimed[claimed["state"] == "not met"])
            for row in apart.itertuples():
                gap = with_ends(row.estimate, row.low, row.high)
                line += f" {row.state.capitalize()}: {conditions.BASE_BESIDE[row.against]}, "
                line += f"{gap} points on the rows that decide ({_margin(row)} allowed)."
            lines.append(line)
    return "\n".join(lines)


def _margin(row: tuple) -> str:
    return ("> " if row.against in _ABOVE else "± ") + number(row.margin, 0)


def _furthest(lines: pd.DataFrame) -> str:
    """Of rewordings and of dummies, the input that is furthest from what is allowed, in points."""
    overall = lines[lines["group"] == "Overall"]
    if overall.empty:
        return ""
    worst = overall.loc[overall["estimate"].abs().groupby(overall["against"], sort=False).idxmax()]
    far = [
        f"{line.input} is {number(line.estimate)} points from {line.against} "
        f"({_margin(line)} allowed)"
        for line in worst.itertuples()
    ]
    return f" Furthest: {', '.join(far)}."


def noise_sentence(by_seed: BySeed) -> str:
    """Which noise the records were made with, where it is not the default; else nothing."""
    made_with = {subject.records.stamp.get("noise", "clamp") for _, subject in trainings(by_seed)}
    if made_with == {DEFAULT_NOISE}:
        return ""
    named = " and ".join(f"`{noise}`" for noise in sorted(made_with - {DEFAULT_NOISE}))
    return (
        f"Noisy pictures of these records were made by {named}, not by the default "
        f"`{DEFAULT_NOISE}`; what a model reads of either stands under [three ways to make a noisy "
        "picture](#three-ways-to-make-a-noisy-picture)."
    )


def readable_sentence(by_seed: BySeed) -> str:
    """Whether a model's answers can be read, in Markdown: of one's own, and of any that cannot.

    It is no registered condition; of the book's own models nothing is said while they meet it.
    """
    lines = []
    for seed, subject in trainings(by_seed):
        state = conditions.overall(conditions.readable(subject.records))
        if state == "not met" or not subject.shown.startswith("pocket "):
            said = conditions.unreadable(subject.records) or (
                f"at most {conditions.MOST_UNKNOWN:.0f} % of each round’s answers may be such that "
                "no rule reads them."
            )
            lines.append(f"- **{subject.shown}, seed {seed}, readable: {state}.** {said}")
    return "\n".join(lines)


def conditions_table(mine: pd.DataFrame) -> Table:
    """One model and seed of `judged`: a line a condition, input and group, and its state.

    Beside the rows that decide (`gate.measured`), what the test rows say.
    """
    name, shown, seed = mine[["name", "shown", "seed"]].iloc[0]
    mine = mine.set_axis([_line(row.input, row.against, row.group) for row in mine.itertuples()])
    margins = mine[~mine.index.duplicated()]
    columns = {"allowed": pd.Series(list(map(_margin, margins.itertuples())), margins.index)}
    for part, lines in mine.groupby("part", sort=False):
        columns[part] = lines["estimate"].map(number) + " " + ends(lines)
        if part == "decides":
            columns["state"] = lines["state"]
    table = pd.DataFrame(columns).reindex(margins.index).fillna(MISSING)
    caption = f"{shown}, seed {seed}: differences of accuracy in points"
    return plain(table, name=f"conditions-{name}-{seed}", caption=caption)


def _line(name: str, against: str, group: str) -> str:
    """A line of `conditions_table`, "V1 less original, MCQ"."""
    return f"small sister, {group}" if against == "nothing" else f"{name} less {against}, {group}"


def accuracy(subject: Subject) -> pd.DataFrame:
    """The accuracy of each input alone with its interval; rows of `chapters.row` by input."""
    among = subject.sets("any", "rows")["all"].to_numpy() & subject.records.ok
    known = paper_accuracy(subject.label)
    lines = {}
    for name in subject.records.rounds:
        level = subject.share(subject.records.correct(name), among)
        lines[name] = chapters.row(level, paper=known.get(name))
    return pd.DataFrame.from_dict(lines, orient="index")


def accuracy_table(by_seed: BySeed, name: str) -> Table:
    """One model: the paper's accuracy of each input alone beside every seed's, on test rows."""
    mine = {seed: subject for seed, subject in trainings(by_seed) if subject.name == name}
    lines = {
        f"{line}, seed {seed}": values
        for seed, subject in mine.items()
        for line, values in accuracy(subject).iterrows()
    }
    label = next(iter(mine.values())).shown
    return chapters.levels(
        pd.DataFrame.from_dict(lines, orient="index"),
        name=f"inputs-{name}",
        caption=f"{label}: accuracy of each input alone, % of test rows",
        ours=label,
    )


def noise_table(subjects: Subjects, folder: str | Path) -> Table:
    """What a model still reads of a noisy picture, by what becomes of noise beyond its range.

    The models' ordinary records were made with one of the three; those under the others lie in
    the folder (`extended`).
    """
    lines = {}
    for subject in subjects:
        own, known = subject.records.stamp.get("noise", "clamp"), paper_accuracy(subject.label)
        for noise in NOISES:
            noisy = subject if noise == own else extended(subject, folder, noise)
            for name, line in () if noisy is None else accuracy(noisy).iterrows():
                if name.startswith("noise"):
                    label = f"{subject.shown}: {name}, {noise}"
                    lines[label] = {**line, "paper": known.get(name, np.nan)}
        lines[f"{subject.shown}: black"] = accuracy(subject).loc["black"]
    return chapters.levels(
        pd.DataFrame.from_dict(lines, orient="index"),
        name="noises",
        caption="Accuracy of a noisy picture alone, % of test rows",
        ours=chapters.side(subjects),
    )


def shares_table(by_seed: BySeed) -> Table:
    """B, S and BS in percent of all test rows, by model and seed: outcomes, and no conditions."""
    lines, printed = {}, paper_values("table01")
    for seed, subject in trainings(by_seed):
        sets = subject.sets("any", "rows")
        for subset in SUBSETS:
            count = printed.get((subject.label, "", subset, "Overall"), np.nan)
            share = subject.share(sets[subset].to_numpy(), sets["all"].to_numpy())
            paper = 100 * count / printed["", "", "all", "Overall"]
            lines[f"{subject.shown}, seed {seed}: {subset}"] = chapters.row(share, paper=paper)
    return chapters.levels(
        pd.DataFrame.from_dict(lines, orient="index"),
        name="shares",
        caption="Subsets of DRBench, % of all test rows; no condition",
        ours=chapters.side(subject for _, subject in trainings(by_seed)),
    )


def draw(by_seed: BySeed, spec: Mapping) -> Figure:
    """A panel a model: each input's accuracy alone by seed, the paper's, and what is allowed."""
    first = next(iter(by_seed.values()))
    figure, panels = plt.subplots(
        len(first), 1, figsize=(WIDTH, 0.4 + 2.9 * len(first)), squeeze=False, sharex=True
    )
    for ax, subject in zip(panels[:, 0], first, strict=True):
        known, inputs = paper_accuracy(subject.label), subject.records.rounds
        for order, (seed, models) in enumerate(by_seed.items()):
            mine = next((model for model in models if model.name == subject.name), None)
            if mine is None:
                continue
            frame, shade = accuracy(mine), SEED_COLOURS[order % len(SEED_COLOURS)]
            for place, name in enumerate(inputs):
                line = frame.loc[name]
                y = place + 0.2 * (order - (len(by_seed) - 1) / 2)
                ax.hlines(y, line["low"], line["high"], color=shade, linewidth=2)
                label = None if place else f"seed {seed}"
                ax.plot(line["reproduced"], y, "o", color=shade, markersize=4, label=label)
            for name, low, high in _allowed(frame, spec):
                place = inputs.index(name)
                ax.fill_betweenx(
                    [place - 0.45, place + 0.45], low, high, color=_MARGIN_COLOUR, zorder=0,
                    alpha=1 / len(by_seed), linewidth=0,
                )  # fmt: skip
        marks = [name for name in inputs if name in known]
        ax.plot(
            [known[name] for name in marks], [inputs.index(name) for name in marks], "D",
            mfc="white", mec=INK, markersize=6, label="paper" if marks else None, zorder=3,
        )  # fmt: skip
        name_lines(ax, inputs)
        ax.set_title(subject.shown)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    panels[-1, 0].set_xlabel("accuracy of an input alone, % of test rows")
    return figure


def _allowed(frame: pd.DataFrame, spec: Mapping) -> list[tuple[str, float, float]]:
    """The range that a condition leaves an input's accuracy, where it is held against another."""
    return [
        (name, middle - condition["within"], middle + condition["within"])
        for condition in spec["conditions"]
        if condition["against"] in frame.index
        for middle in [frame.loc[condition["against"], "reproduced"]]
        for name in condition["inputs"]
        if name in frame.index
    ]
