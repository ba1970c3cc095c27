"""The grid of tau1, tau2 and beta, and the choice of a point of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.sci.chapters import measures
from sci_book.papers.sci.chapters import temperature_grid as grid_of
from sci_book.papers.shared import sweeps
from sci_book.papers.shared.evidence import Evidence
from sci_book.results.statistics import difference
from sci_core.methods import SCI5
from sci_core.scoring import scores
from tests.soak import examples

QWEN = "pocket-qwen2vl"


@pytest.fixture(scope="module")
def tuned(subjects):
    return [sweeps.part(each, "any", "rows", "validation", "BS") for each in subjects]


@pytest.fixture(scope="module")
def grids(tuned):
    return {each.name: grid_of.sweep(each) for each in tuned}


def made_up(shares, rows=200, unsettled=None, seed=0):
    """A grid whose places are right on random rows, at these shares."""
    rng = np.random.default_rng(seed)
    points = grid_of.grid_points()
    places = list(dict.fromkeys(point.place for point in points))[: len(shares)]
    right = (rng.random((len(shares), rows)) < np.array(shares)[:, None]).astype(float)
    unsettled = np.zeros(len(shares)) if unsettled is None else np.array(unsettled)
    return grid_of.Grid(points, places, right, unsettled, np.arange(rows).astype(str))


points = st.sampled_from(grid_of.grid_points())


@examples(150)
@given(points, points, st.integers(0, 2**32 - 1))
def test_points_of_one_weight_and_one_margin_choose_the_same_tokens(one, other, seed):
    # The point with the first tau1 at the place of the other, on or off the grid.
    moved = grid_of.Point(one.tau1, one.tau1 - other.place[0], other.place[1] - one.tau1)
    assert moved.place == other.place
    Z = torch.randn(5, 6, 12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    chosen = [scores(point.method, 3 * Z, step=0).argmax(dim=1) for point in (moved, other)]
    assert torch.equal(*chosen)


def test_the_grid_is_large_and_begins_at_the_preset():
    found = grid_of.grid_points()
    assert len(found) == len(set(found)) >= 2000
    assert found[0].method == SCI5 and found[0].place == (0, 0)
    methods = [point.method for point in found]
    assert min(each.beta for each in methods) > 0 and max(each.beta for each in methods) < 1
    near = found[:7]
    assert [sum(map(abs, point)) for point in near] == [0, 1, 1, 1, 1, 1, 1]


def test_every_point_of_a_place_has_its_outcomes(tuned, grids):
    found = grids[QWEN]
    rng = np.random.default_rng(0)
    for place in rng.choice(len(found.points), size=25, replace=False):
        point = found.points[place]
        each = sweeps.outcome(tuned[0], point.method)
        assert (each.least == found.right[found.places.index(point.place)]).all()
    assert found.places[0] == (0, 0) and found.method(0) == SCI5
    decoded = tuned[0].records.correct("SCI5")
    assert (found.right[0] == decoded).all() and found.unsettled[0] == 0
    assert found.counts(np.ones(len(found.places), bool)) == len(found.points)


def test_the_best_is_the_nearest_of_the_largest_and_settled():
    grid = made_up([0.5, 0.0, 0.0, 0.0], unsettled=[0, 0, 0, 0.2])
    grid.right[1] = grid.right[2] = 1
    grid.right[3] = 1
    assert grid.best == 1 and grid.accuracies[1] == 100 and np.isnan(grid.accuracies[3])
    swapped = replace(grid, unsettled=np.array([0, 1.0, 0, 0.2]))
    assert swapped.best == 2
    assert made_up([0.5, 0.4], rows=0).best == 0


def test_the_winner_of_noise_promises_what_it_does_not_keep():
    grid = made_up([0.5] * 200, rows=300)
    found = grid_of.winners_curse(grid)
    assert found.promised > found.kept + 5
    ahead = 100 * (grid.right.mean() - grid.right[0].mean())  # of a point drawn blindly
    assert found.kept == pytest.approx(ahead, abs=5)
    real = made_up([0.2] + [0.5] * 5 + [0.9], rows=300)
    curse = grid_of.winners_curse(real)
    assert curse.promised == pytest.approx(curse.kept, abs=1.0) and curse.kept > 50
    assert np.isnan(grid_of.winners_curse(made_up([0.5, 0.6], rows=1))).all()


def test_the_choice_is_read_on_test_beside_the_preset(subjects, grids):
    (part,) = measures.tuned(Evidence(subjects[0], [], None))
    interval = part.interval
    chosen = grids[QWEN].method(grids[QWEN].best)
    rows = subjects[0].sets("any", "rows")["BS"].to_numpy()
    both = [sweeps.outcome(subjects[0], method) for method in (chosen, SCI5)]
    gap = both[0].read[rows].astype(float) - both[1].read[rows]
    assert interval.estimate == pytest.approx(gap.mean())
    most = both[0].most[rows].astype(float) - both[1].least[rows]
    ends = difference(most, subjects[0].groups[rows])
    assert interval.high == pytest.approx(ends.high)  # what open rows may be counts against it


def test_no_row_at_all(subjects):
    rows = np.zeros(len(subjects[0].records.frame), dtype=bool)
    nobody = replace(subjects[0], records=subjects[0].records.take(rows))
    empty = grid_of.sweep(nobody)
    assert empty.best == 0 and not len(empty.groups) and np.isnan(empty.accuracies).all()
    assert np.isnan(grid_of.winners_curse(empty)).all()
    assert not measures.tuned(Evidence(nobody, [], None))
