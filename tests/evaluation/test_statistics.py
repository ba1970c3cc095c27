"""Intervals and tests against known values and against the plain, slow definition."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit

from sci_book.results import statistics
from sci_book.results.statistics import Interval


def test_bootstrap_agrees_with_the_normal_theory_for_independent_rows():
    values = np.random.default_rng(1).normal(2.0, 1.0, 900)
    interval = statistics.cluster_bootstrap(values, range(900))
    half = 1.96 * values.std() / 30
    assert interval.estimate == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - half, abs=0.006)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.006)
    assert (interval.n, interval.clusters) == (900, 900)


def test_bootstrap_equals_resampling_clusters_one_by_one():
    generator = np.random.default_rng(2)
    clusters = generator.integers(0, 40, 200)
    values = generator.integers(-1, 2, 200).astype(float)
    fast = statistics.cluster_bootstrap(values, clusters, replicates=40_000)
    rows = [values[clusters == label] for label in np.unique(clusters)]
    means = []
    for _ in range(4_000):
        drawn = [rows[i] for i in generator.integers(0, len(rows), len(rows))]
        means.append(np.concatenate(drawn).mean())
    low, high = np.quantile(means, [0.025, 0.975])
    assert fast.low == pytest.approx(low, abs=0.015)
    assert fast.high == pytest.approx(high, abs=0.015)


def test_bootstrap_of_unlike_clusters_draws_as_that_of_alike_ones():
    values = np.random.default_rng(3).integers(0, 2, 700).astype(float)
    unlike = values + 1e-9 * np.arange(700)  # as many sums as clusters
    alike, found = (statistics.cluster_bootstrap(x, range(700)) for x in (values, unlike))
    half = 1.96 * values.std() / np.sqrt(700)
    for first, second in zip(alike[1:3], found[1:3], strict=True):
        assert first == pytest.approx(second, abs=0.04 * half)
    assert found == statistics.cluster_bootstrap(unlike, range(700))
    few = statistics.cluster_bootstrap(unlike, range(700), replicates=3)  # fewer than go at a time
    assert few.low <= few.high


def test_copies_of_a_row_in_one_cluster_do_not_narrow_the_interval():
    values = np.random.default_rng(3).integers(0, 2, 100).astype(float)
    single = statistics.cluster_bootstrap(values, range(100))
    tripled = statistics.cluster_bootstrap(np.tile(values, 3), list(range(100)) * 3)
    assert tripled.high - tripled.low == pytest.approx(single.high - single.low, abs=1e-12)
    assert tripled.n == 300


def test_bootstrap_is_deterministic_and_survives_no_rows():
    values, clusters = [0.0, 1.0, 1.0, 0.0], ["a", "a", "b", "c"]
    assert statistics.cluster_bootstrap(values, clusters) == statistics.cluster_bootstrap(
        values, clusters
    )
    empty = statistics.cluster_bootstrap([], [])
    assert empty.n == 0 and math.isnan(empty.estimate)


@pytest.mark.parametrize("count", [1, 2, 9, 19])
@pytest.mark.parametrize("value", [0.0, 1.0, -0.25])
def test_few_rows_that_are_all_alike_have_no_interval(count, value):
    found = statistics.cluster_bootstrap([value] * count, [f"{n}" for n in range(count)])
    assert (found.estimate, found.n) == (value, count)
    assert math.isnan(found.low) and math.isnan(found.high)
    assert statistics.verdict(found) == "inconclusive"


def test_many_rows_that_are_all_alike_and_few_that_are_not_have_one():
    many = statistics.cluster_bootstrap([1.0] * 20, [f"{n}" for n in range(20)])
    assert (many.low, many.high) == (1.0, 1.0)
    few = statistics.cluster_bootstrap([0.0, 1.0, 1.0], ["a", "b", "c"])
    assert few.low == 0.0 and few.high == 1.0


def test_draws_that_are_kept_are_those_made_anew_and_cannot_be_changed():
    values = np.random.default_rng(4).normal(size=60)
    settings = [{}, {"level": 0.9}, {"level": 0.999}, {"seed": 1}, {"replicates": 500}]
    kept = [
        statistics.cluster_bootstrap(values, range(60), **setting)
        for setting in [*settings, *settings]
    ]
    assert kept[: len(settings)] == kept[len(settings) :] and len({*kept}) == len(settings)
    for setting, interval in zip(settings, kept, strict=False):
        statistics._drawn.cache_clear()
        assert interval == statistics.cluster_bootstrap(values, range(60), **setting)
    with pytest.raises(ValueError, match="read-only"):
        statistics.resample(values[None], range(60), lambda sums: sums.__iadd__(1)[0])


def test_bootstrap_refuses_missing_values_and_ragged_input():
    with pytest.raises(ValueError, match="1 of 2 values are not finite"):
        statistics.cluster_bootstrap([1.0, float("nan")], [0, 1])
    with pytest.raises(ValueError, match="one length"):
        statistics.cluster_bootstrap([1.0], [0, 1])


def test_sign_flip_matches_full_enumeration():
    sums = np.array([3.0, 1.0, 2.0, -1.0, 2.0, 1.0])
    values = np.repeat(sums / 2, 2)
    clusters = np.repeat(np.arange(6), 2)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    exact = (np.abs(sums @ signs) >= sums.sum() - 1e-9).mean()
    p = statistics.sign_flip_test(values, clusters, replicates=100_000)
    assert p == pytest.approx(exact, abs=0.005)


def test_sign_flip_on_single_rows_is_mcnemars_test():
    differences = [1.0] * 15 + [-1.0] * 5 + [0.0] * 30
    first = [True] * 15 + [False] * 5 + [True] * 30
    second = [False] * 15 + [True] * 5 + [True] * 30
    exact = statistics.mcnemar(first, second)
    assert exact == pytest.approx(stats.binomtest(5, 20).pvalue)
    p = statistics.sign_flip_test(differences, range(50), replicates=200_000)
    assert p == pytest.approx(exact, abs=0.003)


def test_no_difference_has_p_value_one():
    assert statistics.sign_flip_test([0.0, 1.0, -1.0], ["a", "b", "b"]) == 1.0
    assert statistics.mcnemar([True, False], [True, False]) == 1.0


def test_wilson_known_value():
    interval = statistics.wilson(8, 10)  # Wilson (1927), as in Newcombe (1998)
    assert interval[:3] == pytest.approx((0.8, 0.4901625, 0.9433178), abs=1e-6)
    assert statistics.wilson(0, 0).n == 0


def test_wilson_holds_the_share_of_all_and_of_none():
    """By rounding an end could lie on the wrong side of it, and an error bar be negative."""
    for n in range(1, 300):
        for correct in (0, n):
            found = statistics.wilson(correct, n, level=0.9875)
            assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_holm_known_value():
    np.testing.assert_allclose(statistics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert not len(statistics.holm([]))


def test_simultaneous_level():
    assert statistics.simultaneous_level(0.95, 5) == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("low", "high", "claim", "margin", "expected"),
    [
        (0.1, 0.3, "greater", 0.0, "holds"),
        (-0.3, -0.1, "greater", 0.0, "fails"),
        (-0.1, 0.3, "greater", 0.0, "inconclusive"),
        (0.0, 0.0, "greater", 0.0, "inconclusive"),
        (0.1, 0.3, "greater", 0.2, "inconclusive"),
        (0.1, 0.3, "less", 0.0, "fails"),
        (-0.3, -0.1, "less", 0.0, "holds"),
        (0.1, 0.3, "less", 0.4, "holds"),
    ],
)
def test_verdict_reads_the_interval(low, high, claim, margin, expected):
    interval = Interval((low + high) / 2, low, high, 10, 10)
    assert statistics.verdict(interval, claim=claim, margin=margin) == expected


def test_no_rows_are_not_comparable():
    assert statistics.verdict(statistics.cluster_bootstrap([], [])) == "not comparable"


def test_a_mean_over_trainings_has_students_interval():
    found = statistics.over_trainings([1.0, 2.0, 3.0])
    assert found.estimate == 2 and found.n == 3
    assert found.high - 2 == pytest.approx(4.302652729911275 / np.sqrt(3))  # t, two degrees
    assert 2 - found.low == pytest.approx(found.high - 2)
    alone = statistics.over_trainings([1.5])
    assert alone.estimate == 1.5 and np.isnan(alone.low) and statistics.over_trainings([]).n == 0


def test_a_far_level_takes_more_draws():
    rng = np.random.default_rng(0)
    values, clusters = rng.random(50), [f"c{k}" for k in range(50)]
    usual, far = (
        statistics.cluster_bootstrap(values, clusters, level=level) for level in (0.995, 0.996)
    )
    explicit = statistics.cluster_bootstrap(values, clusters, level=0.996, replicates=100_000)
    assert far == explicit and usual == statistics.cluster_bootstrap(
        values, clusters, level=0.995, replicates=10_000
    )


def test_a_least_squares_line_is_that_of_the_textbook():
    """Student's intervals from (X'X)⁻¹ and the residuals, for a slope and for one more point."""
    rng = np.random.default_rng(4)
    x, other = rng.random(12), rng.random(12)
    y = 2 * x - other + rng.normal(0, 0.1, 12)
    fit = statistics.least_squares([x, other], y)
    design = np.column_stack([np.ones(12), x, other])
    known, (left,) = np.linalg.lstsq(design, y, rcond=None)[:2]
    inverse, error = np.linalg.inv(design.T @ design), np.sqrt(left / (12 - 3))
    for column in (0, 1):
        found, place = statistics.slope(fit, column, 0.9), column + 1
        wide = stdtrit(9, 0.95) * error * np.sqrt(inverse[place, place])
        np.testing.assert_allclose(found[:3], known[place] + np.array([0, -wide, wide]))
        assert found.n == 12
    at = np.array([1, 0.3, 0.7])
    wide = stdtrit(9, 0.975) * error * np.sqrt(1 + at @ inverse @ at)
    found = statistics.one_more(fit, [0.3, 0.7], 0.95)
    np.testing.assert_allclose(found[:3], at @ known + np.array([0, -wide, wide]))


@pytest.mark.parametrize("columns", [[[1, 2, 3], [2, 4, 6]], [[1, 1, 1, 1]], [[1, 2]]])
def test_points_that_settle_no_line_are_refused(columns):
    with pytest.raises(ValueError, match="needs more than"):
        statistics.least_squares(columns, np.zeros(len(columns[0])))
