"""The conditions of SCI's rounds: what their states are, and that no method is scored for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sci_book.results.records import read_records
from sci_book.results.statistics import Interval, measure, ratio
from sci_book.run import conditions
from tests.papers.shared.drawn_records import drawn_records

SPEC = conditions.load_conditions()
WITHIN, ABOVE = {"within": 3}, {"above": 0}


@pytest.mark.parametrize(
    ("low", "high", "n", "condition", "expected"),
    [
        (-2.9, 2.9, 500, WITHIN, "met"),
        (-3.1, 2.0, 500, WITHIN, "undecided"),
        (1.0, 3.1, 500, WITHIN, "undecided"),
        (3.1, 9.0, 500, WITHIN, "not met"),
        (-9.0, -3.1, 500, WITHIN, "not met"),
        (-2.9, 2.9, 199, WITHIN, "undecided"),
        (-9.0, -3.1, 199, WITHIN, "undecided"),
        (0.1, 5.0, 200, ABOVE, "met"),
        (-0.1, 5.0, 200, ABOVE, "undecided"),
        (-5.0, 0.0, 200, ABOVE, "not met"),
    ],
)
def test_a_state_follows_from_the_interval_and_the_rows(low, high, n, condition, expected):
    interval = Interval((low + high) / 2, low, high, n, n)
    assert conditions.state(interval, condition, SPEC["least_rows"]) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["met", "met"], "met"),
        (["met", "undecided"], "undecided"),
        (["met", "undecided", "not met"], "not met"),
    ],
)
def test_one_condition_that_is_not_met_settles_a_model(states, expected):
    assert conditions.overall(pd.DataFrame({"state": states})) == expected


def test_differences_of_the_frozen_records_are_those_of_their_accuracies():
    records = read_records("data_manifests/records/pocket-llavanext.parquet")
    table = conditions.measure(records, SPEC, paper={"Overall": 70.46}).set_index(
        ["id", "input", "group"]
    )
    validation = records.ok & (records.frame["position"].to_numpy() % 5 == 0)
    mcq = validation & (records.frame["kind"] == "MCQ").to_numpy()
    base, v2 = records.correct("original"), records.correct("V2")
    expected = 100 * (v2[mcq].mean() - base[mcq].mean())
    found = table.loc[("rewording", "V2", "MCQ")]
    assert found["estimate"] == pytest.approx(expected)
    assert found["n"] == mcq.sum()
    keys = [key for key, n in zip(table["key"], table["n"], strict=True) if n]
    assert len({*keys}) == len(keys) and all(keys)
    assert table.loc[("as-the-paper", "original", "Overall"), "estimate"] == pytest.approx(
        100 * base[validation].mean() - 70.46
    )
    by_id = {condition["id"]: condition for condition in SPEC["conditions"]}
    for (name, *_), line in table.iterrows():
        interval = Interval(*line[["estimate", "low", "high", "n", "n"]])
        assert line["state"] == conditions.state(interval, by_id[name], SPEC["least_rows"])
    without = conditions.measure(records, SPEC)
    assert "as-the-paper" not in set(without["id"])


def test_over_trainings_each_number_is_the_mean_of_theirs_with_their_interval():
    name, folders = "pocket-llavanext.parquet", ("", "training1/", "training2/", "training1/")
    trainings = [read_records(f"data_manifests/records/{folder}{name}") for folder in folders]
    table = conditions.measure(trainings[0], SPEC, further=trainings[1:])
    found = table.set_index(["id", "input", "group"]).loc[("rewording", "V1", "Others")]
    sides = []
    for records in trainings:
        rows = records.ok & (records.frame["position"].to_numpy() % 5 == 0)
        rows = rows & (records.frame["kind"] == "Others").to_numpy()
        gap = 100.0 * records.correct("V1")[rows] - 100.0 * records.correct("original")[rows]
        sides.append((np.stack([gap, np.ones(len(gap))]), records.frame["group"][rows]))
    expected = measure(sides, ratio, span=(-100.0, 100.0))
    assert tuple(found[["estimate", "low", "high", "n"]]) == pytest.approx(expected[:4])
    assert found["state"] == conditions.state(expected, WITHIN, SPEC["least_rows"])


def test_a_dummy_picture_that_still_shows_something_is_none():
    """As noise that is cut to the picture's range may: here it is answered as the original is."""
    records = drawn_records("mine", rows=120, skill=3.0)
    name = "parsed:noise500"
    place = records.table.schema.get_field_index(name)
    table = records.table.set_column(place, name, records.table["parsed:original"])
    seen = conditions.measure(replace(records, table=table), {**SPEC, "split": "all"})
    states = seen.set_index(["id", "input"])["state"]
    assert states["dummy", "noise500"] == "not met" != states["dummy", "noise400"]


def test_an_input_that_was_not_read_is_undecided():
    records = read_records("data_manifests/records/pocket-llavanext.parquet")
    spec = {**SPEC, "conditions": [{**SPEC["conditions"][0], "inputs": ["V4"]}]}
    table = conditions.measure(records, spec)
    assert set(table["state"]) == {"undecided"} and set(table["n"]) == {0}


def test_a_guess_is_one_of_the_options_or_the_commonest_answer():
    frame = pd.DataFrame(
        {
            "dataset": ["a", "a", "b", "b", "b"],
            "options": ["ABCD", "AB", "", "", ""],
            "truth": ["A", "B", "yes", "yes", "no"],
        }
    )
    np.testing.assert_allclose(conditions.chance(frame), [1 / 4, 1 / 2, 2 / 3, 2 / 3, 2 / 3])
