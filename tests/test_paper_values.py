"""The transcribed tables of the paper are whole; what their numbers obey, `test_audit` checks."""

import csv

import pytest

from sci_book.resources import PAPER

ROWS = {
    "table01": 28, "table02": 126, "table03": 24, "table04": 90, "table05": 42, "table06": 12,
    "table07": 14, "table08": 27, "table09": 234, "table10": 162, "fig01c": 2, "dataset_sizes": 84,
}  # fmt: skip
PUBLISHED = {
    "mmbench_en": 4876, "mmbench_cn": 4876, "ccbench": 2040, "mmstar": 1500, "mme": 2374,
    "vilp": 900,
}  # fmt: skip


def table(name):
    with (PAPER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ROWS)
def test_tables_are_whole(name):
    rows = table(name)
    assert len(rows) == ROWS[name]
    identities = [tuple(v for k, v in row.items() if k != "value") for row in rows]
    assert len(set(identities)) == len(rows)
    assert {row["table"] for row in rows} == {name}
    assert all(float(row["value"]) >= 0 for row in rows)


def test_splits_are_a_fifth_and_four_fifths_of_the_published_sizes():
    sizes = {name: {} for name in PUBLISHED}
    for row in table("dataset_sizes"):
        if row["subset"] == "all":
            parts = sizes[row["dataset"]]
            parts[row["split"]] = parts.get(row["split"], 0) + int(row["value"])
    for name, rows in PUBLISHED.items():
        test = rows * 8 // 10
        assert sizes[name] == {"test": test, "validation": rows - test}
