"""What the paper prints: its tables and sentences."""

from sci_book.audit.printed import PrintedTables

PRINTED = PrintedTables("oric")


def printed_row(table: str, model: str, part: str | None = None) -> dict[str, float]:
    """A row's values by label and metric, such as "overall f1"; empty where there is none.

    `part` is needed where a table has a model in several.
    """
    mine = PRINTED.rows(table, model=model, **({} if part is None else {"part": part}))
    names = (mine["label"] + " " + mine["metric"]).tolist()
    return dict(zip(names, mine["value"].astype(float), strict=True))
