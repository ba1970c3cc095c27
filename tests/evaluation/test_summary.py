"""Scores side by side, and what a reader must know of answers that nobody can read."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sci_book.papers.shared import gate
from sci_book.results.records import Records
from sci_book.results.summary import summarise_run
from sci_book.run import conditions


def without(records, column, rows):
    """The records with some rows of a column unknown."""
    place = records.table.schema.get_field_index(column)
    values = records.table[column].to_pylist()
    values = [None if gone else value for value, gone in zip(values, rows, strict=True)]
    field = records.table.schema.field(column)
    return Records(
        records.table.set_column(place, field, pa.array(values, field.type)),
        records.stamp,
        records.pieces,
    )


@pytest.fixture
def records(run):
    return run[1]


@pytest.mark.parametrize("left_out", [1, 3, 7])
def test_the_base_stands_on_the_rows_of_a_method_that_leaves_some_out(records, left_out):
    rows = np.arange(len(records.table)) % 8 < left_out
    fewer = without(records, "tokens:SCI5", rows)
    base, sci5, tie = summarise_run(fewer, ["base", "SCI5", "TIE"]).scores
    assert base.base is None and tie.base is None and base.rows == len(records.table)
    kept = ~rows
    assert (sci5.base.right, sci5.base.rows) == (records.correct("base")[kept].sum(), kept.sum())
    assert sci5.rows == sci5.base.rows and "(the base on these rows:" in str(sci5)
    assert sum(share.rows for share in sci5.base_categories.values()) == kept.sum()
    summary = summarise_run(fewer, ["base", "SCI5"])
    heads = [line for line in summary.lines() if line.strip().startswith("category")]
    assert all("base on SCI5's rows" in line for line in heads)
    assert summary.as_json()["methods"]["SCI5"]["base"] == {
        "right": sci5.base.right, "rows": sci5.base.rows,
    }  # fmt: skip


def test_the_same_rows_are_not_told_twice(records):
    assert "the base on these rows" not in "".join(summarise_run(records, ["base", "TIE"]).lines())


def unknown(records, share, policies):
    rows = np.random.default_rng(0).random(len(records.table)) < share
    for policy in policies:
        records = without(records, f"parsed:{policy}", rows)
    return records


def many(records):
    """The records forty times over, each copy with groups of its own."""
    tables = []
    for copy in range(40):
        place = records.table.schema.get_field_index("group")
        groups = [f"{group}, {copy}" for group in records.table["group"].to_pylist()]
        tables.append(records.table.set_column(place, "group", pa.array(groups)))
    whole = replace(records, table=pa.concat_tables(tables))
    for policy in whole.rounds:  # of which the model of these tests writes some
        column = f"parsed:{policy}"
        values = [value or "A" for value in whole.table[column].to_pylist()]
        place = whole.table.schema.get_field_index(column)
        table = whole.table.set_column(place, column, pa.array(values))
        whole = replace(whole, table=table)
    return whole


@pytest.mark.parametrize("share", [0.78, 0.3, 0.1, 1.0])
@pytest.mark.parametrize("policies", [("original",), ("V1", "V2"), ("original", "V1", "black")])
def test_a_model_that_cannot_be_read_is_said_to_be_so(records, share, policies):
    spoilt = unknown(many(records), share, policies)
    table = conditions.readable(spoilt).set_index("input")["state"]
    assert (table[list(policies)] == "not met").all()
    assert (table.drop(list(policies)) == "met").all()
    said = conditions.unreadable(spoilt)
    assert re.match(rf"not readable: no rule reads {policies[0]} \d+ %", said)
    states = gate.unmet(spoilt, conditions.CONDITIONS.with_name("absent.parquet"), None)
    assert states[conditions.READABLE] == "not met"
    assert "readable not met" in gate.of_claim(("rewording",), {"mine": states})


def test_a_few_unknown_answers_keep_nobody_from_judging(records):
    whole = many(records)
    assert conditions.unreadable(whole) == conditions.unreadable(unknown(whole, 0.02, ["V1"])) == ""
    assert conditions.overall(conditions.readable(whole)) == "met"
    states = gate.unmet(whole, conditions.CONDITIONS.with_name("absent.parquet"), None)
    assert states[conditions.READABLE] == ""


def test_nine_rows_of_which_none_can_be_read_are_enough_to_say_so(records):
    nine = unknown(records.take(np.arange(9)), 1.0, records.rounds)
    assert conditions.overall(conditions.readable(nine)) == "not met"
