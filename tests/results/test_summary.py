"""Scores side by side, and what a reader must know of answers that nobody can read."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sci_book import resources
from sci_book.papers.shared import gate
from sci_book.pipeline import pocket_data
from sci_book.results.records import Records, write_records
from sci_book.results.summary import summarise_run
from sci_book.run import conditions
from tests.conftest import sci


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


LEFT_OUT = {  # which rows a method leaves out, of a frame with a number of its own a row
    "an eighth": {"SCI5": lambda frame: frame.number % 8 < 1},
    "nearly all": {"SCI5": lambda frame: frame.number % 8 < 7},
    "all": {"SCI5": lambda frame: frame.number >= 0},
    "the last": {"SCI5": lambda frame: frame.number == len(frame) - 1},
    "a data set": {"SCI5": lambda frame: frame.dataset == frame.dataset.iloc[0]},
    "a category": {"SCI7": lambda frame: frame.category == frame.category.iloc[-1]},
    "other rows of each": {
        "SCI5": lambda frame: frame.number % 2 == 0,
        "SCI7": lambda frame: frame.number % 2 == 1,
        "M3ID": lambda frame: frame.number < 3,
    },
}


@pytest.mark.parametrize("left_out", LEFT_OUT.values(), ids=list(LEFT_OUT))
def test_the_base_stands_on_the_rows_of_a_method_that_leaves_some_out(records, left_out):
    frame = records.frame.assign(number=np.arange(len(records.table)))
    fewer, kept = records, {}
    for name, rule in left_out.items():
        rows = rule(frame).to_numpy()
        fewer, kept[name] = without(fewer, f"tokens:{name}", rows), ~rows
    summary = summarise_run(fewer, ["base", *left_out, "TIE"])
    base, *scores, tie = summary.scores
    assert base.base is None and tie.base is None and base.rows == tie.rows == len(frame)
    assert len(scores) == len(kept) == len(left_out)
    heads = [line for line in summary.lines() if line.strip().startswith("category")]
    for score, (name, rows) in zip(scores, kept.items(), strict=True):
        right = records.correct("base")[rows].sum()
        assert (score.base.right, score.base.rows) == (right, rows.sum())
        assert score.rows == score.base.rows and "(the base on these rows:" in str(score)
        assert sum(share.rows for share in score.base_categories.values()) == rows.sum()
        assert all(f"base on {name}'s rows" in line for line in heads)
        told = {"right": score.base.right, "rows": score.base.rows}
        assert summary.as_json()["methods"][name]["base"] == told


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
    assert re.match(rf"not readable: of the answers no rule reads \d+ % under {policies[0]}", said)
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


@pytest.mark.parametrize("policies", [("V2",), ("noise500", "black"), ("original", "V1")])
@pytest.mark.parametrize("command", [["advise"], ["matrix", "--records"]], ids=lambda c: c[0])
def test_every_command_that_reads_records_says_so(
    command, policies, records, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(pocket_data, "draw_companions", lambda **_: None)
    monkeypatch.chdir(resources.ROOT)
    file = tmp_path / f"{records.stamp['model']}.parquet"
    write_records(file, unknown(many(records), 0.9, policies))
    assert sci(*command, file) == 0
    said = "".join(capsys.readouterr())
    for policy in policies:
        assert re.search(rf"not readable: .* no rule reads .*\d+ % under {policy}", said)
