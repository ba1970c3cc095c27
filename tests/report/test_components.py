"""Table 5: every combination of rounds, and what each round adds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.sci import shapley
from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters import component_table, components, measures
from sci_book.papers.shared import sweeps
from sci_book.papers.shared.evidence import Evidence
from sci_core.methods import SCI3, SCI5, SCI7, sci
from tests.soak import examples

QWEN, MINE = "pocket-qwen2vl", "mine"


@pytest.fixture(scope="module")
def sets(subjects):
    return {each.name: each.sets("any", "rows") for each in subjects}


@pytest.fixture(scope="module")
def right(subjects):
    return {each.name: components.outcomes(each) for each in subjects}


@pytest.fixture(scope="module")
def added(subjects, sets, right):
    values = {name: components.contributions(found) for name, found in right.items()}
    return components.marginals(subjects, sets, values)


def by_orders(players, value):
    """Each player's mean contribution over all k! orders of arrival."""
    total = dict.fromkeys(players, 0.0)
    orders = list(itertools.permutations(players))
    for order in orders:
        here = set()
        for player in order:
            before = value[frozenset(here)]
            here.add(player)
            total[player] += value[frozenset(here)] - before
    return np.array([total[player] / len(orders) for player in players])


@examples(40)
@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_shapley_values_average_over_all_orders(k, seed):
    players = "abcde"[:k]
    values = np.random.default_rng(seed).normal(size=1 << k)
    found = shapley.coalitions(players)
    value = {frozenset(each): one for each, one in zip(found, values, strict=True)}
    shares = shapley.weights(k) @ values
    assert shares == pytest.approx(by_orders(players, value))
    assert shares.sum() == pytest.approx(values[-1] - values[0])  # efficiency


def test_coalitions_are_numbered_by_their_bits():
    found = shapley.coalitions(["x", "y", "z"])
    assert found[0] == () and found[5] == ("x", "z") and found[-1] == ("x", "y", "z")
    assert len(set(found)) == 8


def test_the_value_of_a_round_is_linear_in_the_rows(right, sets):
    found, rows = right[QWEN], sets[QWEN]["all"].to_numpy()
    values = components.contributions(found)
    means = {each: outcome[rows].mean() for each, outcome in found.items()}
    players = list(found)[-1]
    value = {frozenset(each): mean for each, mean in means.items()}
    assert by_orders(players, value) == pytest.approx(
        [values[name][rows].mean() for name in players]
    )
    textual, visual = players[:3], players[3:]
    both = means[players] - means[textual] - means[visual] + means[()]
    assert values[components.INTERACTION][rows].mean() == pytest.approx(both)


def test_combinations_are_the_presets_where_the_paper_has_one():
    for preset in (SCI3, SCI5, SCI7):
        assert replace(components.combination(preset.rounds[1:]), name=preset.name) == preset
    alone = components.combination(("V1", "V2"))
    assert replace(alone, name="") == replace(sci(0, 2), name="")


def test_every_subset_of_the_recorded_rounds_is_one_method(subjects, right):
    records, found = subjects[0].records, right[QWEN]
    assert len(found) == 64 and list(found)[-1] == SCI7.rounds[1:]
    for name, rounds in (("original", ()), ("SCI3", SCI3.rounds[1:]), ("SCI7", SCI7.rounds[1:])):
        assert (found[tuple(r for r in SCI7.rounds if r in rounds)] == records.correct(name))[
            records.ok
        ].all()
    assert all(np.isnan(outcome[~records.ok]).all() for outcome in found.values())
    rows = subjects[0].sets("any", "rows")["all"].to_numpy()
    every = components.coalitions(components.counterfactuals(subjects[0]))
    found = [sweeps.outcome(subjects[0], components.combination(each)) for each in every]
    shares = [(~each.settled[rows]).mean() for each in found]
    assert components.most_unsettled(subjects[0], rows) == pytest.approx(max(shares))


def test_the_grid_holds_every_combination_once(right, sets):
    rows = sets[QWEN]["BS"].to_numpy()
    grid = components.accuracy_grid(right[QWEN], rows)
    assert grid.shape == (8, 8) and grid.index[-1] == "black + noise500 + noise400"
    assert grid.columns.tolist()[:5] == ["none", "V1", "V2", "V3", "V1 + V2"]
    expected = 100 * right[QWEN]["V2", "noise500"][rows].mean()
    assert grid.loc["noise500", "V2"] == pytest.approx(expected)
    assert components.accuracy_grid(right[QWEN], rows & ~rows).isna().all(axis=None)


def test_three_printed_rows_fit_no_counts():
    assert unfit("table05", "Qwen2-VL", "rounds") == [
        "original V2 noise500", "original black noise500", "original V1 V2",
    ]  # fmt: skip
    assert unfit("table05", None, "rounds") == []
    assert component_table.printed("mine").isna().all(axis=None)
    assert len(component_table.printed("Qwen2-VL").dropna()) == 14


def test_table_5_sets_single_inputs_and_combinations_beside_the_papers(subjects, sets, right):
    table = component_table.table05(subjects[0], sets[QWEN], right[QWEN])
    frame, rows = table.frame, sets[QWEN]["BS"].to_numpy()
    assert frame.index[0] == "original alone" and len(frame) == 16
    assert frame.index[-2:].tolist() == ["runner-up", "uniform other"]
    assert frame.index.str.endswith(component_table.UNFIT).sum() == 3
    last = frame.iloc[-3]
    assert last["Overall", "paper"] == "29.50"
    expected = 100 * subjects[0].records.correct("SCI5")[rows].mean()
    assert last["Overall", "pocket"] == f"{expected:.2f}"
    alone = 100 * subjects[0].records.correct("V2")[rows].mean()
    assert frame.loc["V2 alone", ("Overall", "pocket")] == f"{alone:.2f}"
    other = component_table.table05(subjects[1], sets[MINE], right[MINE]).frame
    assert set(other["Overall", "paper"]) == {"—"} and not other.index.str.contains("†").any()


def test_marginal_values_sum_to_the_gain_of_the_full_combination(added, right, sets):
    for subset in components.SHOWN:
        rows = sets[QWEN][subset].to_numpy()
        gain = 100 * (right[QWEN][SCI7.rounds[1:]] - right[QWEN][()])[rows].mean()
        part = added[QWEN].loc[subset].drop(index=components.INTERACTION)
        assert part["reproduced"].sum() == pytest.approx(gain)
        assert (part["low"] < part["reproduced"]).all() and (part["n"] == rows.sum()).all()


def test_combinations_are_counted_against_the_base(subjects, sets, right):
    counts = components.against_base(subjects, sets, right)
    assert (counts[["better", "worse", "undecided"]].sum(axis=1) == 63).all()
    always = {name: {each: np.ones(len(v)) for each, v in r.items()} for name, r in right.items()}
    never = {name: {**found, (): 0 * found[()]} for name, found in always.items()}
    counts = components.against_base(subjects, sets, never)
    assert (counts["better"] == 63).all()


def test_tables_figures_and_sentences(subjects, sets, right, added):
    table = components.marginal_table(added[QWEN], subjects[0], components.SHOWN)
    assert table.frame.shape == (7, 5) and table.frame.columns[0].startswith("BS, n = ")
    parts = measures.adds(Evidence(subjects[0], [], None), ["BS"])
    assert [part.what for part in parts] == [f"{name}, BS" for name in SCI7.rounds[1:]]
    values = added[QWEN].loc["BS"]["reproduced"].drop(index=components.INTERACTION)
    assert [100 * part.interval.estimate for part in parts] == pytest.approx(values.tolist())
    assert "textual rounds" in components.reading(added[QWEN], subjects[0])
    assert "% (mine) of the test rows" in components.open_rows(subjects, sets)
    components.draw_grids(subjects, sets, right)
    components.draw_marginals(subjects, added)


def test_a_subset_without_rows_is_empty_and_breaks_nothing(subjects, sets, right):
    none = {name: frame & False for name, frame in sets.items()}
    values = {name: components.contributions(found) for name, found in right.items()}
    added = components.marginals(subjects, none, values)
    assert set(added[QWEN]["n"]) == {0}
    table = components.marginal_table(added[QWEN], subjects[0], components.SHOWN)
    assert set(table.frame.iloc[0]) == {"— —"}
    assert "no row" in components.reading(added[QWEN], subjects[0])
    assert (components.against_base(subjects, none, right)["undecided"] == 63).all()
    table = component_table.table05(subjects[0], none[QWEN], right[QWEN])
    assert set(table.frame["Overall", "pocket"]) == {"—"}
    components.draw_grids(subjects, none, right)
    components.draw_marginals(subjects, added)
