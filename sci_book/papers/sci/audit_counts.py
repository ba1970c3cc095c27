"""Whether each printed accuracy is a count over its set's size, and each total a mean of its parts.

Under 10,000 rows not every percentage with two decimals is a count, so a number can fail; from
there on every number fits, and the sum over the data sets has to speak for it.
"""

from math import floor

import pandas as pd

from sci_book.papers.sci.audit import (
    ROUNDED,
    SILENT,
    Cell,
    Row,
    SetName,
    Solution,
    Tables,
    describe,
    fits,
    mark,
    parts_of,
    rows_of,
    set_of,
    sizes,
    solve,
    title,
    total_key,
)
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, UNTOLD, Finding, agreement
from sci_book.papers.shared.tables import number

SHOWN = 2  # cells without a count that a finding spells out
NO_COUNT = "No number of right answers over the rows of the set gives this percentage."
NO_SUM = "The numbers of right answers behind this row do not add up."
NO_MEAN = "This total is not the mean of its parts, weighted by their rows."


def count_summary(tables: Tables, tolerance: float) -> pd.DataFrame:
    """By table: numbers and rows printed, how many fit counts, how many would fit by chance.

    `fit` counts the numbers that are counts over their size; `silent` those over 10,000 rows or
    more, which every value fits; `by chance` is how many of the others a number drawn at random
    would fit when rounded.
    """
    lines = {}
    for name, rows in rows_of(tables).items():
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


def count_findings(tables: Tables, tolerance: float) -> dict[str, Finding]:
    """Every row of accuracies that is not a plain, rounded count, and a line a table for the rest.

    A row that fits no counts of its own set is tried on every other set whose size is known.
    """
    findings = {}
    for name, rows in rows_of(tables).items():
        fitting = 0
        for row in rows:
            solution = solve(row, tolerance)
            if solution.reading == "rounded":
                fitting += 1
                continue
            findings[describe(row)] = _misfit(row, solution, tables, tolerance)
        findings[f"{title(name)}, other rows" if fitting < len(rows) else title(name)] = Finding(
            title(name),
            f"{fitting} rows of accuracies",
            "each is a whole number of right answers, parts adding up to the whole",
            CONSISTENT if fitting else UNTOLD,
        )
    return findings


def mean_findings(tables: Tables) -> dict[str, Finding]:
    """By table: whether Overall is the mean of MCQ and Others, and these of the data sets.

    Weighted by rows. This asks no count, so it speaks of rows that fit none and of large sets too.
    """
    findings = {}
    for name, rows in rows_of(tables).items():
        totals = sum(len(parts_of(list(row.cells))) for row in rows)
        wrong = [
            f"{describe(row)}, {kind}: {number(row.cells[dataset, kind])}, not {number(mean)}"
            for row in rows
            for (dataset, kind), mean in _means(row).items()
        ]
        if totals:
            findings[f"totals of {title(name)}"] = Finding(
                title(name),
                f"{totals} totals",
                "; ".join(wrong) or "each is the mean of its parts, weighted by rows",
                agreement(not wrong),
                [mark(row, cell, NO_MEAN) for row in rows for cell in _means(row)],
            )
    return findings


def summary_of(tables: Tables, tolerance: float) -> str:
    """One sentence: of how many printed rows of accuracies, how many are counts, and how."""
    frame = count_summary(tables, tolerance)
    total = frame[["rows", "rounded", "truncated", "fit no counts"]].sum()
    return (
        f"Of {total['rows']} printed rows of accuracies, {total['rounded']} are rounded counts, "
        f"{total['truncated']} are counts cut off in places and {total['fit no counts']} fit no "
        "counts."
    )


def elsewhere(row: Row, tables: Tables, tolerance: float) -> list[SetName]:
    """The other sets of known size (either model, any subset and split) whose counts a row fits.

    A set counts only if every part of the row has less than `SILENT` rows there: more say nothing.
    """
    known = sizes(tables)
    parts = set(row.cells) - set(parts_of(list(row.cells)))
    names = []
    for name in sorted({name for name, _ in known if name != set_of(row.fields)}):
        sized = row._replace(sizes={cell: known.get((name, total_key(cell))) for cell in row.cells})
        speaks = all((sized.sizes[cell] or SILENT) < SILENT for cell in parts)
        if speaks and solve(sized, tolerance).counts:
            names.append(name)
    return names


def _misfit(row: Row, solution: Solution, tables: Tables, tolerance: float) -> Finding:
    printed = " / ".join(number(value) for value in row.cells.values())
    place = title(row.fields["table"])
    if solution.reading == "truncated":
        cut = [cell for cell, value in row.cells.items() if not fits(value, row.sizes[cell], 0.0)]
        follows = "; ".join(_share(solution.counts[0][cell], row.sizes[cell]) for cell in cut)
        return Finding(place, printed, f"counts, cut off after two decimals: {follows}", CONSISTENT)
    if not solution.misfits:
        marks = [mark(row, cell, NO_SUM) for cell in row.cells]
        text = "each is a count, but they do not add up"
        return Finding(place, printed, text, INCONSISTENT, marks)
    if any(row.sizes[cell] is None for cell in solution.misfits):
        return Finding(place, printed, "the set's size is nowhere printed", UNTOLD)
    nearest = []
    for cell in solution.misfits[:SHOWN]:
        percent, n = row.cells[cell], row.sizes[cell]
        below = floor(percent * n / 100)
        between = f"{_share(below, n)} and {_share(below + 1, n)}"
        nearest.append(f"{number(percent)} lies between {between}")
    if (more := len(solution.misfits) - SHOWN) > 0:
        nearest.append(f"{more} more without a count")
    others = [" ".join(filter(None, name)) for name in elsewhere(row, tables, tolerance)]
    beyond = f"the row fits {', '.join(others)}" if others else "no other known set fits the row"
    means = f"its totals are {'not ' if _means(row) else ''}the means of its parts"
    marks = [mark(row, cell, NO_COUNT) for cell in solution.misfits]
    return Finding(place, printed, "; ".join([*nearest, beyond, means]), INCONSISTENT, marks)


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
