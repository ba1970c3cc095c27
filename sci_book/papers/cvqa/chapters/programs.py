"""Table 6: programs about a scene, run in the sandbox (`papers.cvqa.neuro_symbolic`).

The writers by rule show what the sandbox and the scenes allow, and nothing is claimed of them. The
paper's claim is about text models, and is tested on one where one is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.data.datasets import DatasetError
from sci_book.papers.cvqa.chapters.drops import SIDE_COLOURS, read_table
from sci_book.papers.cvqa.chapters.pairs import questions_file
from sci_book.papers.cvqa.neuro_symbolic import (
    Programmed,
    RuleProgrammer,
    answer_by_program,
    load_scenes,
)
from sci_book.papers.cvqa.questions import REAL, SIDES, Item, load
from sci_book.papers.cvqa.scores import drop_table, outcomes
from sci_book.papers.shared import figures
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.stamp import checksum, provenance
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, Table, interval, plain
from sci_book.papers.shared.text_model import TextModel

DATA = "pocket_cvqa_real"
SCENES = "C-VQA-Pocket_scenes.jsonl"


class World(NamedTuple):
    """The questions and the scenes that programs are run over."""

    items: list[Item]
    scenes: dict[str, dict]


def world(name: str = DATA) -> World | None:
    """The twin's questions and scenes; None where they are not at hand."""
    try:
        path = questions_file(name)
        return World(load(path).items, load_scenes(path.with_name(SCENES)))
    except DatasetError:
        return None


def writers() -> list[TextModel]:
    """Who writes programs without a model: rules that heed the presupposition, or ignore it."""
    return [RuleProgrammer(), RuleProgrammer(heeds=False)]


def run(twin: World, writer: TextModel) -> list[list[Programmed]]:
    """Every question's program and what came of it, side by side."""
    return [answer_by_program(twin.items, side, twin.scenes, writer) for side in SIDES]


def lines(twin: World, ran: Sequence[Sequence[Programmed]]) -> pd.DataFrame:
    """`scores.drop_table` of a writer's programs, by type."""
    return drop_table(twin.items, *_texts(ran)).set_index("type").rename_axis(index=None)


def accuracy_table(name: str, table: pd.DataFrame, ran: Sequence[Sequence[Programmed]]) -> Table:
    """A writer's accuracies and drops, and how many of its programs failed."""
    frame = table[["n", *SIDES, "drop"]].astype({"n": int})
    ends = zip(table["drop_low"], table["drop_high"], strict=True)
    frame[INTERVAL] = [interval(low, high) for low, high in ends]
    failed = sum(programmed.error is not None for side in ran for programmed in side)
    caption = f"Programs by {name}, percent right; {failed} of {2 * len(ran[0])} programs failed"
    return plain(frame, name=f"programs-{_slug(name)}", caption=caption)


@dataclass(frozen=True, eq=False)
class Written:
    """A text model's programs and what came of them, which the ledger tests as it does a model."""

    name: str
    world: World
    ran: Sequence[Sequence[Programmed]]
    label = "ViperGPT"  # the paper's model that the claim is about
    path = Path()  # of no file

    @property
    def shown(self) -> str:
        """What tables call it."""
        return self.name

    @property
    def kinds(self) -> np.ndarray:
        """The type of every item."""
        return np.array([item.kind for item in self.world.items], dtype=object)

    @property
    def groups(self) -> np.ndarray:
        """The cluster of every item: its picture."""
        return np.array([item.image for item in self.world.items], dtype=object)

    def drop(self, policy: str) -> np.ndarray:
        """Right on the original less right on the counterfactual question; `policy` is the base."""
        (original, counterfactual), _ = outcomes(self.world.items, *_texts(self.ran))
        return original - counterfactual


def examples(twin: World, name: str, ran: Sequence[Sequence[Programmed]]) -> Table:
    """Figure 9: the first program of each type, for the counterfactual question, by a writer."""
    rows: dict[str, dict] = {}
    for item, programmed in zip(twin.items, ran[1], strict=True):
        row = {
            "question": item.counterfactual,
            "program": (programmed.program or programmed.error or "").replace("\n", " ⏎ "),
            "it answers": programmed.text or programmed.error or "",
            "right": item.counterfactual_answer,
        }
        rows.setdefault(item.kind, row)
    caption = f"One program a type, as it was run: {name}"
    return table_of(rows, name=f"prose-{_slug(name)}", caption=caption)


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Our writers' drops by type as bars, the paper's code models' as diamonds."""
    paper = read_table(6)
    figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.2))
    places, width = np.arange(len(REAL)), 0.8 / max(len(tables), 1)
    tints = [*SIDE_COLOURS.values(), "#009e73"]
    for number, (name, table) in enumerate(tables.items()):
        shift = width * (number + 0.5) - 0.4
        label = f"{name}: 0 everywhere" if len(table) and (table["drop"] == 0).all() else name
        ax.bar(places + shift, table["drop"].reindex(REAL), 0.9 * width, label=label,
               color=tints[number % len(tints)])  # fmt: skip
    for place, kind in enumerate(REAL):
        values = -paper.loc[paper["type"] == kind, "change"]
        ax.plot(np.full(len(values), place), values, "D", mfc="white", mec=INK,
                markersize=5, label="" if place else "paper’s code models")  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xticks(places, REAL)
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("drop, points")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def stamp_of(*names: str) -> Table:
    """The provenance of a chapter that reads questions and scenes and no model."""
    data = {}
    for name in names:
        with suppress(DatasetError, FileNotFoundError):
            files = [questions_file(name)]
            files += [path for path in [files[0].with_name(SCENES)] if path.is_file()]
            data[name] = checksum(files)
    return provenance(models={}, data=data)


def _texts(ran: Sequence[Sequence[Programmed]]) -> list[list[str | None]]:
    return [[programmed.text for programmed in side] for side in ran]


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name)
