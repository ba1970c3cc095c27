"""The paper's printed numbers against each other: is every accuracy a count over its set's size?

An accuracy printed to two decimals over n rows says which whole number of answers was right, as
long as n is under 10,000. So each cell must be a count, and the counts of the parts must add up to
those of the whole: few slips of a digit survive both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from sci_book.papers.shared.audit import PAPER, Mark, counts_behind
from sci_book.results.metrics import KINDS

FIELDS = (
    "table", "model", "method", "subset", "split", "dataset", "construction_model", "rounds",
    "constraint", "batched", "tau1", "tau2", "question_type", "metric",
)  # fmt: skip
CELL = ("dataset", "question_type")  # what tells the cells of one printed row apart
ROW_LABELS = (
    "model", "construction_model", "method", "rounds", "constraint", "tau1", "tau2",
)  # fmt: skip
"""Fields that label the rows of a redrawn table; the others head its columns."""
REPOSITORY = "dataset_sizes"  # published sizes, which no table of the paper prints
SETTINGS = {"rounds": "{}", "constraint": "constraint: {}", "tau1": "τ1 = {}", "tau2": "τ2 = {}"}
ALL = ("", "Overall")
SILENT = 10_000  # from this many rows on, every two-decimal percentage is some count
ROUNDED = 0.005 + 1e-9  # points between a share and the two decimals that it rounds to

Tables = Mapping[str, pd.DataFrame]
SetName = tuple[str, str, str]  # model ("" for all rows), subset, split
Cell = tuple[str, str]  # data set ("all", or "" where a table has none), question type


class Row(NamedTuple):
    """A printed row of accuracies: fields, cells in percent, rows behind each (None: unknown)."""

    fields: Mapping[str, str]
    cells: Mapping[Cell, float]
    sizes: Mapping[Cell, int | None]


class Solution(NamedTuple):
    """The counts behind a printed row.

    reading  "rounded"; "truncated" if some cell fits only cut off; "none" if no counts fit
    counts   every choice of one count a cell that adds up, under that reading
    misfits  cells that no count fits; empty if counts exist but none add up
    """

    reading: Literal["rounded", "truncated", "none"]
    counts: Sequence[Mapping[Cell, int]]
    misfits: Sequence[Cell]


def read_tables(folder: Path = PAPER) -> dict[str, pd.DataFrame]:
    """The transcribed tables by name ("table01", …): fields as text ("" = does not apply).

    `value` is a number, `printed` the same as the paper prints it. Raises FileNotFoundError where
    the folder holds none.
    """
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(frame)[-2:] == ["metric", "value"]:
            frame = frame.assign(printed=frame["value"], value=frame["value"].astype(float))
            tables[path.stem] = frame.assign(**{name: "" for name in FIELDS if name not in frame})
    if not tables:
        raise FileNotFoundError(f"{folder} holds no transcribed table (*.csv)")
    return tables


def sizes(tables: Tables) -> dict[tuple[SetName, Cell], int]:
    """The rows of every set: the test split's from Table 1, the rest summed over the data sets.

    The whole of a set, both splits together, is there under the split "both splits".
    """
    totals: Counter[tuple[SetName, Cell]] = Counter()
    for line in tables["dataset_sizes"].to_dict("records"):
        name = (line["model"], line["subset"], line["split"])
        whole, kind = (*name[:2], "both splits"), line["question_type"]
        for key in product((name, whole), ((line["dataset"], kind), ("", kind), ALL)):
            totals[key] += int(line["value"])
    for line in tables["table01"].to_dict("records"):
        name = (line["model"], line["subset"], line["split"])
        totals[name, ("", line["question_type"])] = int(line["value"])
    return dict(totals)


def fits(percent: float, n: int, tolerance: float) -> list[int]:
    """Every count of n rows that is printed as `percent`, to two decimals.

    A share may exceed what is printed by `tolerance` points: 0.005 accepts rounding alone, 0.01
    accepts two decimals cut off as well.
    """
    return counts_behind(percent, n, ROUNDED, max(ROUNDED, tolerance - 1e-9))


def accuracy_rows(tables: Tables, name: str) -> list[Row]:
    """The printed rows of accuracies of one table, each with the sizes of its sets."""
    known = sizes(tables)
    frame = tables[name]
    frame = frame[frame["metric"] == "accuracy"]
    identity = [field for field in FIELDS if field not in CELL]
    rows = []
    for fields, part in frame.groupby(identity, sort=False):
        fields = dict(zip(identity, fields, strict=True))
        cells = part.set_index(list(CELL))["value"].to_dict()
        set_sizes = {cell: known.get((set_of(fields), total_key(cell))) for cell in cells}
        rows.append(Row(fields, cells, set_sizes))
    return rows


def solve(row: Row, tolerance: float) -> Solution:
    """The counts behind a printed row: data sets add up to question types, these to Overall."""
    for reading, accepted in (("rounded", ROUNDED), ("truncated", tolerance)):
        candidates = {
            cell: fits(value, row.sizes[cell], accepted) if row.sizes[cell] is not None else []
            for cell, value in row.cells.items()
        }
        misfits = [cell for cell, options in candidates.items() if not options]
        counts = [] if misfits else _adding_up(candidates)
        if counts:
            return Solution(reading, counts, [])
    return Solution("none", [], misfits)


def rows_of(tables: Tables) -> dict[str, list[Row]]:
    """The printed rows of every table that has accuracies."""
    by_table = {name: accuracy_rows(tables, name) for name in tables}
    return {name: rows for name, rows in by_table.items() if rows}


def unfit(name: str, model: str | None, field: str) -> list[str]:
    """The `field` of those printed rows of a model in one table that no rounded counts fit."""
    rows = accuracy_rows(read_tables(), name)
    mine = [row for row in rows if row.fields["model"] == model]
    return [row.fields[field] for row in mine if solve(row, ROUNDED).reading == "none"]


def counts_of(tables: Tables, name: str, tolerance: float) -> dict[tuple[str, ...], dict]:
    """The one solution of each row of a table with B, S and BS, by (model, method, setting).

    The value maps a subset to its counts by question type; a row with no solution, or with more
    than one, is left out.
    """
    solutions: dict[tuple[str, ...], dict] = {}
    for row in accuracy_rows(tables, name):
        counts = solve(row, tolerance).counts
        if len(counts) == 1:
            key = (row.fields["model"], row.fields["method"], row.fields["constraint"])
            by_type = {kind: count for (_, kind), count in counts[0].items()}
            solutions.setdefault(key, {})[row.fields["subset"]] = by_type
    return solutions


def set_of(fields: Mapping[str, str]) -> SetName:
    """The set of rows that a printed row is about; all rows belong to no model."""
    model = fields["construction_model"] or fields["model"]
    return ("" if fields["subset"] == "all" else model, fields["subset"], fields["split"])


def title(name: str) -> str:
    """ "Table 2" for "table02", "Figure 1(c)" for "fig01c"."""
    if name.startswith("table"):
        return f"Table {int(name.removeprefix('table'))}"
    return {"fig01c": "Figure 1(c)", "dataset_sizes": "published sizes"}.get(name, name)


def mark(row: Row, cell: Cell, reason: str) -> Mark:
    """One cell of a printed row as a number in question."""
    fields = {**row.fields, **dict(zip(CELL, cell, strict=True))}
    return Mark(row.fields["table"], fields, reason)


def describe(row: Row) -> str:
    """A row by everything that tells it apart, such as "Table 5: SCI, original V1, BS"."""
    fields = row.fields
    setting = [SETTINGS[field].format(fields[field]) for field in SETTINGS if fields[field]]
    name = [fields["model"], fields["method"], *setting, fields["subset"]]
    if fields["construction_model"]:
        name[-1] += f" of {fields['construction_model']}"
    return f"{title(fields['table'])}: {', '.join(name)}"


def total_key(cell: Cell) -> Cell:
    """The key of a cell's size: a total over all data sets has no data set."""
    dataset, kind = cell
    return ("" if dataset == "all" else dataset, kind)


def _adding_up(candidates: Mapping[Cell, Sequence[int]]) -> list[dict[Cell, int]]:
    """The choices of one candidate a cell in which every total is the sum of its parts."""
    parts = parts_of(list(candidates))
    leaves = [cell for cell in candidates if cell not in parts]
    choices = []
    for chosen in product(*(candidates[cell] for cell in leaves)):
        counts = dict(zip(leaves, chosen, strict=True))
        for cell in sorted(parts, key=lambda cell: cell[1] == "Overall"):  # types, then their sum
            counts[cell] = sum(counts[part] for part in parts[cell])
        if all(counts[cell] in candidates[cell] for cell in parts):
            choices.append(counts)
    return choices


def parts_of(cells: Sequence[Cell]) -> dict[Cell, list[Cell]]:
    """The cells that each total is the sum of; cells that are no total are left out."""
    parts = {}
    for cell in cells:
        dataset, kind = cell
        if dataset not in ("", "all"):
            continue
        if kind == "Overall":
            summands = [part for part in cells if part[0] == dataset and part[1] in KINDS[:2]]
        else:
            summands = [part for part in cells if part[0] not in ("", "all") and part[1] == kind]
        if summands:
            parts[cell] = summands
    return parts
