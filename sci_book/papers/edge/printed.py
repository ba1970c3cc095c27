"""What the paper prints: its tables and sentences, its bins, and the counts behind Table 5."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from sci_book.audit.kinds import adding_up
from sci_book.audit.printed import Cell, PrintedTables
from sci_book.papers.edge.conditions import KINDS

BIN_TABLES = ("edge_table11", "edge_table12", "edge_table13", "edge_table14")
DATASETS = ("VQAv2", "COCO")
PAPER_SETS = dict(zip(KINDS, DATASETS, strict=True))
PRINTED = PrintedTables("edge")
PAPER_PAIR = tuple(model for (model,) in PRINTED.distinct("edge_table04", "model", unit="percent"))
"""The compact model and the large one."""
DIFFERENCE = " - ".join(reversed(PAPER_PAIR))
"""What a number about the difference of both has in the place of a model."""


def value(table: str, **fields: str) -> float:
    """A number of one of the paper's tables, such as "edge_table04"; NaN where there is none."""
    values = PRINTED.rows(table, **fields)["value"]
    return float(values.iloc[0]) if len(values) == 1 else float("nan")


def bins(printed: PrintedTables, name: str) -> tuple[pd.DataFrame, str, str]:
    """A printed reliability table, its model and its data set.

    The lines are those of `calibration.reliability`; `accuracy_printed` is the percentage as text.
    """
    frame = printed.tables[name]
    cells = frame[frame["item"] != ""].pivot(index="item", columns="metric", values="value")
    edges = cells.index.str.strip("[)").str.split(",", expand=True)
    lines = pd.DataFrame(
        {
            "low": edges.get_level_values(0).astype(float),
            "high": edges.get_level_values(1).astype(float),
            "count": cells["count"].astype(int).to_numpy(),
            "confidence": cells["confidence"].astype(float).to_numpy(),
            "accuracy": cells["accuracy"].astype(float).to_numpy() / 100,
            "accuracy_printed": cells["accuracy"].to_numpy(),
        }
    )
    return lines, frame["model"].iloc[0], frame["dataset"].iloc[0]


def label_counts(printed: PrintedTables) -> dict[tuple[str, str], dict[str, int]]:
    """The whole numbers of labels behind Table 5, by model and data set; {} where none fit."""
    n = Cell(printed.quoted("labels"))
    labels = {}
    for model, dataset in product(PAPER_PAIR, DATASETS):
        cells = printed.cells("edge_table05", model=model, dataset=dataset)
        labels[model, dataset] = labels_of(cells, n)
    return labels


def labels_of(cells: Sequence[Cell], n: Cell) -> dict[str, int]:
    """The whole numbers of n labels behind some cells of Table 5, by category; {} if none fit.

    The shares are of the labels A to C, whose number is what D and E leave.
    """
    others = {c.fields["item"]: int(c.value) for c in cells if c.count}
    shares = {c.fields["item"]: c.text for c in cells if not c.count}
    fitting = adding_up(list(shares.values()), int(n.value) - sum(others.values()))
    return {**dict(zip(shares, fitting[0], strict=True)), **others} if len(fitting) == 1 else {}
