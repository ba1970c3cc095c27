"""What the paper prints: its tables and sentences."""

from sci_book.audit.printed import PrintedTables
from sci_book.papers.shared.tables import MISSING, Table

PRINTED = PrintedTables("oric")


def printed_row(table: str, model: str, part: str | None = None) -> dict[str, float]:
    """A row's values by one of `scores.METRICS`, such as "f1_yes"; empty where there is none.

    `part` is needed where a table has a model in several.
    """
    mine = PRINTED.rows(table, model=model, **({} if part is None else {"part": part}))
    labels = mine["label"].where(mine["label"].isin(["yes", "no"]), "")
    names = (mine["metric"] + "_" + labels).str.rstrip("_").tolist()
    return dict(zip(names, mine["value"].astype(float), strict=True))


def printed_table(name: str) -> Table:
    """A table of the paper such as "oric_table10", digit by digit: a line a model and part."""
    frame = PRINTED.tables[name]
    line, column = (
        frame[[key for key in keys if frame[key].nunique() > 1]].agg(" ".join, axis=1).str.strip()
        for keys in (("part", "model"), ("label", "metric", "item"))
    )
    values = frame["value"].str.replace("-", "−")
    cells = frame.assign(line=line, column=column, value=values)
    cells = cells.pivot(index="line", columns="column", values="value").fillna(MISSING)
    cells = cells.loc[line.unique(), column.unique()].rename_axis(index=None, columns=None)
    number = name.removeprefix("oric_table").lstrip("0")
    return Table(f"printed-{number}", cells, f"Table {number}, as the paper prints it; percent")
