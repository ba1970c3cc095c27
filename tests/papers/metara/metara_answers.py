"""Models of MetaRA whose answers are replaced, so that what is found is known."""

from dataclasses import replace

import pyarrow as pa

from sci_book.methods import COMPARED
from sci_book.results.records import Records


def saying(subject, rows, say, *, error=None):
    """A model's answers replaced: `say(method, row)` of every row, and `error(row)` its error."""
    frame = subject.records.frame[["dataset", "index", "truth"]]
    about = frame.merge(rows, left_on=["dataset", "index"], right_on=["set", "index"], how="left",
                        suffixes=("", "_drawn")).to_dict("records")  # fmt: skip
    table = subject.records.table
    for method in ("base", *COMPARED):
        name = "parsed:original" if method == "base" else f"parsed:{method}"
        said = pa.array([say(method, row) for row in about], pa.string())
        table = table.set_column(table.schema.get_field_index(name), name, said)
    if error is not None:
        place = table.schema.get_field_index("error")
        failed = pa.array([error(row) for row in about], pa.string())
        table = table.set_column(place, "error", failed)
    return replace(subject, records=Records(table, subject.records.stamp, {}))


def truth(method, row):
    return row["truth"]


def wrong_where(condition):
    return lambda method, row: "wrong" if condition(row) else row["truth"]


def value(contrast):
    return contrast.interval.estimate
