"""Table 5: every combination of rounds, and what each round adds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.sci import shapley
from sci_book.papers.sci.chapters import components, measures
from sci_book.papers.shared.evidence import Evidence
from sci_core.methods import SCI3, SCI5, SCI7, sci
from tests.soak import examples

QWEN = "pocket-qwen2vl"


@pytest.fixture(scope="module")
def sets(subjects):
    return {each.name: each.sets("any", "rows") for each in subjects}


@pytest.fixture(scope="module")
def right(subjects):
    return {each.name: components.outcomes(each) for each in subjects}


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


def test_the_claim_is_about_the_mean_value_of_each_round(subjects, right, sets):
    parts = measures.adds(Evidence(subjects[0], [], None), ["BS"])
    assert [part.what for part in parts] == [f"{name}, BS" for name in SCI7.rounds[1:]]
    values, rows = components.contributions(right[QWEN]), sets[QWEN]["BS"].to_numpy()
    found = [part.interval.estimate for part in parts]
    assert found == pytest.approx([values[name][rows].mean() for name in SCI7.rounds[1:]])
    gain = (right[QWEN][SCI7.rounds[1:]] - right[QWEN][()])[rows].mean()
    assert sum(found) == pytest.approx(gain)


def test_other_constants_are_those_of_every_combination(subjects):
    found = components.outcomes(subjects[0], beta=0.8, tau2=1.0)
    expected = subjects[0].right(replace(SCI5, beta=0.8, tau2=1.0))
    np.testing.assert_array_equal(found[SCI5.rounds[1:]], expected)
