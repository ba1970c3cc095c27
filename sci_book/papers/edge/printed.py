"""What the paper prints: its tables and sentences, its bins, and the counts behind Table 5."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.edge.taxonomy import CATEGORIES, SHARED
from sci_book.papers.shared.audit import PAPER, PrintedTables, counts_printed

BIN_TABLES = ("edge_table11", "edge_table12", "edge_table13", "edge_table14")
DATASETS = ("VQAv2", "COCO")
ROW_LABELS = ("dataset", "model", "item")
"""Fields that label the rows of a redrawn table; the others head its columns."""
PAPER_SETS = dict(zip(KINDS, DATASETS, strict=True))


class Printed(PrintedTables):
    """The paper's tables and sentences, and its two models."""

    paper = "edge"

    def __init__(self, folder: Path = PAPER):
        super().__init__(folder)
        accuracies = self.rows("edge_table04", unit="percent")
        self.compact, self.large = self.models = tuple(dict.fromkeys(accuracies["model"]))
        self.pair = f"{self.large} - {self.compact}"


PRINTED = Printed()
PAPER_PAIR = PRINTED.models  # the compact one and the large one


def printed(table: str, **fields: str) -> float:
    """A number of one of the paper's tables, such as "edge_table04"; NaN where there is none."""
    values = PRINTED.rows(table, **fields)["value"]
    return float(values.iloc[0]) if len(values) == 1 else float("nan")


def bins(printed: Printed, name: str) -> tuple[pd.DataFrame, str, str]:
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


def label_counts(printed: Printed) -> dict[tuple[str, str], dict[str, int]]:
    """The whole numbers of labels behind Table 5, by model and data set; {} where none fit.

    The shares are of the labels A to C, whose number is what D and E leave of 100.
    """
    n = int(printed.quotes["labels"])
    labels = {}
    for model, dataset in product(printed.models, DATASETS):
        look = partial(printed.text, "edge_table05", model=model, dataset=dataset)
        others = {c: int(look(item=c)) for c in CATEGORIES if c not in SHARED}
        total = n - sum(others.values())
        candidates = [counts_printed(look(item=c), total) for c in SHARED]
        fitting = [counts for counts in product(*candidates) if sum(counts) == total]
        labels[model, dataset] = (
            {**dict(zip(SHARED, fitting[0], strict=True)), **others} if len(fitting) == 1 else {}
        )
    return labels
