"""Whether each printed accuracy is a count over its set's size, and totals are sums of parts.

An accuracy printed to two decimals over n rows says which whole number of answers was right, as
long as n is under 10,000. So each cell must be a count, and the counts of the parts must add up to
those of the whole: few slips of a digit survive both. From 10,000 rows on every number fits, and
the sum over the data sets has to speak for it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from math import floor
from typing import Literal, NamedTuple

import pandas as pd

from sci_book.audit.engine import printed_tables
from sci_book.audit.findings import (
    CONSISTENT,
    INCONSISTENT,
    UNTOLD,
    Finding,
    Findings,
    Mark,
    agreement,
)
from sci_book.audit.printed import PrintedTables, counts_behind
from sci_book.papers.shared.tables import number
from sci_book.results.metrics import KINDS

CELL = ("dataset", "question_type")  # what tells the cells of one printed row apart
SETTINGS = {"rounds": "{}", "constraint": "constraint: {}", "tau1": "τ1 = {}", "tau2": "τ2 = {}"}
TITLES = {"fig01c": "Figure 1(c)", "dataset_sizes": "published sizes"}
ALL = ("", "Overall")
SILENT = 10_000  # from this many rows on, every two-decimal percentage is some count
ROUNDED = 0.005 + 1e-9  # points between a share and the two decimals that it rounds to
SHOWN = 2  # cells without a count that a finding spells out
NO_COUNT = "No number of right answers over the rows of the set gives this percentage."
NO_SUM = "The numbers of right answers behind this row do not add up."
NO_MEAN = "This total is not the mean of its parts, weighted by their rows."

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


@cache
def read() -> PrintedTables:
    """The paper's tables."""
    return printed_tables("sci")


def sizes(printed: PrintedTables) -> dict[tuple[SetName, Cell], int]:
    """The rows of every set: the test split's from Table 1, the rest summed over the data sets.

    The whole of a set, both splits together, is there under the split "both splits".
    """
    totals: Counter[tuple[SetName, Cell]] = Counter()
    for line in printed.tables["dataset_sizes"].to_dict("records"):
        name = (line["model"], line["subset"], line["split"])
        whole, kind = (*name[:2], "both splits"), line["question_type"]
        for key in product((name, whole), ((line["dataset"], kind), ("", kind), ALL)):
            totals[key] += int(line["value"])
    for line in printed.tables["table01"].to_dict("records"):
        name = (line["model"], line["subset"], line["split"])
        totals[name, ("", line["question_type"])] = int(line["value"])
    return dict(totals)


def fits(percent: float, n: int, tolerance: float) -> list[int]:
    """Every count of n rows that is printed as `percent`, to two decimals.

    A share may exceed what is printed by `tolerance` points: 0.005 accepts rounding alone, 0.01
    accepts two decimals cut off as well.
    """
    return counts_behind(percent, n, ROUNDED, max(ROUNDED, tolerance - 1e-9))


def accuracy_rows(printed: PrintedTables, name: str) -> list[Row]:
    """The printed rows of accuracies of one table, each with the sizes of its sets."""
    known, rows = sizes(printed), {}
    for cell in printed.cells(name, metric="accuracy"):
        identity = tuple(item for item in cell.fields.items() if item[0] not in CELL)
        place = tuple(cell.fields.get(field, "") for field in CELL)
        rows.setdefault((("table", name), *identity), {})[place] = cell.value
    return [
        Row(
            dict(identity),
            cells,
            {cell: known.get((set_of(dict(identity)), _total_key(cell))) for cell in cells},
        )
        for identity, cells in rows.items()
    ]


def rows_of(printed: PrintedTables) -> dict[str, list[Row]]:
    """The printed rows of every table that has accuracies."""
    by_table = {name: accuracy_rows(printed, name) for name in printed.tables}
    return {name: rows for name, rows in by_table.items() if rows}


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


def unfit(name: str, model: str | None, field: str) -> list[str]:
    """The `field` of those printed rows of a model in one table that no rounded counts fit."""
    mine = [row for row in accuracy_rows(read(), name) if row.fields["model"] == model]
    return [row.fields[field] for row in mine if solve(row, ROUNDED).reading == "none"]


def counts_of(printed: PrintedTables, name: str, tolerance: float) -> dict[tuple[str, ...], dict]:
    """The one solution of each row of a table with B, S and BS, by (model, method, setting).

    The value maps a subset to its counts by question type; a row with no solution, or with more
    than one, is left out.
    """
    solutions: dict[tuple[str, ...], dict] = {}
    for row in accuracy_rows(printed, name):
        counts = solve(row, tolerance).counts
        if len(counts) == 1:
            key = (row.fields["model"], row.fields["method"], row.fields.get("constraint", ""))
            by_type = {kind: count for (_, kind), count in counts[0].items()}
            solutions.setdefault(key, {})[row.fields["subset"]] = by_type
    return solutions


def set_of(fields: Mapping[str, str]) -> SetName:
    """The set of rows that a printed row is about; all rows belong to no model."""
    model = fields.get("construction_model") or fields["model"]
    return ("" if fields["subset"] == "all" else model, fields["subset"], fields["split"])


def title(name: str) -> str:
    """ "Table 2" for "table02", "Figure 1(c)" for "fig01c"."""
    return TITLES.get(name) or f"Table {int(name.removeprefix('table'))}"


def describe(row: Row) -> str:
    """A row by everything that tells it apart, such as "Table 5: SCI, original V1, BS"."""
    fields = row.fields
    setting = [text.format(fields[name]) for name, text in SETTINGS.items() if fields.get(name)]
    names = [fields["model"], fields["method"], *setting, fields["subset"]]
    if maker := fields.get("construction_model"):
        names[-1] += f" of {maker}"
    return f"{title(fields['table'])}: {', '.join(names)}"


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


def count_summary(printed: PrintedTables, tolerance: float) -> pd.DataFrame:
    """By table: numbers and rows printed, how many fit counts, how many would fit by chance.

    `fit` counts the numbers that are counts over their size; `silent` those over 10,000 rows or
    more, which every value fits; `by chance` is how many of the others a number drawn at random
    would fit when rounded.
    """
    lines = {}
    for name, rows in rows_of(printed).items():
        spoken = [(value, row.sizes[cell]) for row in rows for cell, value in row.cells.items()
                  if (row.sizes[cell] or 0) < SILENT]  # fmt: skip
        solved = [solve(row, tolerance).reading for row in rows]
        lines[title(name)] = {
            "rows": len(rows),
            "rounded": solved.count("rounded"),
            "truncated": solved.count("truncated"),
            "fit no counts": solved.count("none"),
            "numbers": sum(len(row.cells) for row in rows),
            "silent": sum(len(row.cells) for row in rows) - len(spoken),
            "fit": sum(bool(n and fits(value, n, tolerance)) for value, n in spoken),
            "by chance": round(sum((n or 0) / SILENT for _, n in spoken)),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def summary_of(printed: PrintedTables, tolerance: float) -> str:
    """One sentence: of how many printed rows of accuracies, how many are counts, and how."""
    total = count_summary(printed, tolerance)[
        ["rows", "rounded", "truncated", "fit no counts"]
    ].sum()
    return (
        f"Of {total['rows']} printed rows of accuracies, {total['rounded']} are rounded counts, "
        f"{total['truncated']} are counts cut off in places and {total['fit no counts']} fit no "
        "counts."
    )


def count_findings(printed: PrintedTables, tolerance: float) -> Findings:
    """Every row of accuracies that is not a plain, rounded count, and a line a table for the rest.

    A row that fits no counts of its own set is tried on every other set whose size is known.
    """
    findings = {}
    for name, rows in rows_of(printed).items():
        solved = [(row, solve(row, tolerance)) for row in rows]
        odd = [(row, solution) for row, solution in solved if solution.reading != "rounded"]
        findings |= {describe(row): _misfit(row, s, printed, tolerance) for row, s in odd}
        findings[f"{title(name)}, other rows" if odd else title(name)] = Finding(
            title(name),
            f"{len(rows) - len(odd)} rows of accuracies",
            "each is a whole number of right answers, parts adding up to the whole",
            CONSISTENT if len(odd) < len(rows) else UNTOLD,
        )
    return findings


def mean_findings(printed: PrintedTables) -> Findings:
    """By table: whether Overall is the mean of MCQ and Others, and these of the data sets.

    Weighted by rows. This asks no count, so it speaks of rows that fit none and of large sets too.
    """
    findings = {}
    for name, rows in rows_of(printed).items():
        totals = sum(len(parts_of(list(row.cells))) for row in rows)
        wrong = [(row, cell, mean) for row in rows for cell, mean in _means(row).items()]
        texts = [
            f"{describe(row)}, {cell[1]}: {number(row.cells[cell])}, not {number(mean)}"
            for row, cell, mean in wrong
        ]
        if totals:
            findings[f"totals of {title(name)}"] = Finding(
                title(name),
                f"{totals} totals",
                "; ".join(texts) or "each is the mean of its parts, weighted by rows",
                agreement(not wrong),
                [_mark(row, cell, NO_MEAN) for row, cell, _ in wrong],
            )
    return findings


def elsewhere(row: Row, printed: PrintedTables, tolerance: float) -> list[SetName]:
    """The other sets of known size (either model, any subset and split) whose counts a row fits.

    A set counts only if every part of the row has less than `SILENT` rows there: more say nothing.
    """
    known = sizes(printed)
    parts = set(row.cells) - set(parts_of(list(row.cells)))
    names = []
    for name in sorted({name for name, _ in known if name != set_of(row.fields)}):
        sized = row._replace(sizes={c: known.get((name, _total_key(c))) for c in row.cells})
        speaks = all((sized.sizes[cell] or SILENT) < SILENT for cell in parts)
        if speaks and solve(sized, tolerance).counts:
            names.append(name)
    return names


def _misfit(row: Row, solution: Solution, printed: PrintedTables, tolerance: float) -> Finding:
    said = " / ".join(number(value) for value in row.cells.values())
    place = title(row.fields["table"])
    if solution.reading == "truncated":
        cut = [cell for cell, value in row.cells.items() if not fits(value, row.sizes[cell], 0.0)]
        follows = "; ".join(_share(solution.counts[0][cell], row.sizes[cell]) for cell in cut)
        return Finding(place, said, f"counts, cut off after two decimals: {follows}", CONSISTENT)
    if not solution.misfits:
        marks = [_mark(row, cell, NO_SUM) for cell in row.cells]
        return Finding(place, said, "each is a count, but they do not add up", INCONSISTENT, marks)
    if any(row.sizes[cell] is None for cell in solution.misfits):
        return Finding(place, said, "the set's size is nowhere printed", UNTOLD)
    nearest = []
    for cell in solution.misfits[:SHOWN]:
        percent, n = row.cells[cell], row.sizes[cell]
        below = floor(percent * n / 100)
        between = f"{_share(below, n)} and {_share(below + 1, n)}"
        nearest.append(f"{number(percent)} lies between {between}")
    if (more := len(solution.misfits) - SHOWN) > 0:
        nearest.append(f"{more} more without a count")
    others = [" ".join(filter(None, name)) for name in elsewhere(row, printed, tolerance)]
    beyond = f"the row fits {', '.join(others)}" if others else "no other known set fits the row"
    means = f"its totals are {'not ' if _means(row) else ''}the means of its parts"
    marks = [_mark(row, cell, NO_COUNT) for cell in solution.misfits]
    return Finding(place, said, "; ".join([*nearest, beyond, means]), INCONSISTENT, marks)


def _mark(row: Row, cell: Cell, reason: str) -> Mark:
    return Mark(row.fields["table"], {**row.fields, **dict(zip(CELL, cell, strict=True))}, reason)


def _total_key(cell: Cell) -> Cell:
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


def _share(count: int, n: int) -> str:
    return f"{count:,}/{n:,} = {number(100 * count / n, 3)}"


def _means(row: Row) -> dict[Cell, float]:
    """The totals that are not the means of their parts, and what these would give."""
    wrong = {}
    for total, parts in parts_of(list(row.cells)).items():
        n = [row.sizes[part] or 0 for part in parts]
        mean = sum(row.cells[part] * size for part, size in zip(parts, n, strict=True)) / sum(n)
        # The parts and the total may each be off by half a unit of the last place, or cut off.
        if abs(mean - row.cells[total]) > 2 * ROUNDED:
            wrong[total] = mean
    return wrong
