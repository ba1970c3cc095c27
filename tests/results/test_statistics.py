"""Intervals and tests against known values and against the plain, slow definition."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit

from sci_book.resources import FROZEN_RECORDS
from sci_book.results import statistics
from sci_book.results.drbench import subsets
from sci_book.results.records import read_records
from sci_book.results.statistics import LEVEL, Interval

pytestmark = pytest.mark.quick

ENDS = np.array([1 - LEVEL, 1 + LEVEL]) / 2


def bootstrap(columns, clusters, statistic, draws=4_000):
    """The plain, slow definition: groups drawn with replacement; the ends of their middle."""
    generator = np.random.default_rng(2)
    labels = np.asarray(clusters, dtype=object)
    sums = np.stack([columns[:, labels == name].sum(axis=1) for name in dict.fromkeys(labels)], 1)
    chosen = generator.integers(sums.shape[1], size=(draws, sums.shape[1]))
    return np.nanquantile(statistic(sums[:, chosen].sum(axis=2)), ENDS)


def test_an_interval_of_independent_rows_is_the_textbooks():
    values = np.random.default_rng(1).normal(2.0, 1.0, 30)
    found = statistics.mean(values, range(30))
    error = values.std(ddof=1) / np.sqrt(30)
    assert found.error == pytest.approx(error, rel=1e-6) and found.freedom == pytest.approx(29)
    half = stats.t.ppf(ENDS[1], 29) * error
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert (found.n, found.clusters) == (30, 30)
    assert found.p(2.1) == pytest.approx(stats.ttest_1samp(values, 2.1).pvalue)


STATISTICS = {
    "mean": lambda s: s[0] / s[1],
    "ratio": lambda s: s[0] / s[2],
    "F1": lambda s: 2 * s[0] / (s[1] + s[2]),
    "variance": lambda s: s[2] / s[1] - (s[0] / s[1]) ** 2,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_an_interval_is_as_wide_as_the_bootstrap_of_clusters(name):
    generator = np.random.default_rng(2)
    clusters = generator.integers(0, 300, 1_500)
    right = (generator.random(1_500) < 0.2 + 0.6 * (clusters % 3 > 0)).astype(float)
    columns = np.stack([right, np.ones(1_500), 0.5 + right + generator.random(1_500)])
    found = statistics.of_sums(columns, clusters, STATISTICS[name])
    low, high = bootstrap(columns, clusters, STATISTICS[name])
    assert found.high - found.low == pytest.approx(high - low, rel=0.05)
    jumps = statistics.of_sums(columns, clusters, STATISTICS[name], smooth=False)
    assert jumps.error == pytest.approx(found.error, rel=0.04)


@pytest.mark.parametrize("name", ["pocket-qwen2vl", "pocket-llavanext"])
def test_intervals_of_the_committed_records_are_as_wide_as_the_bootstraps(name):
    records = read_records(FROZEN_RECORDS / f"{name}.parquet")
    sets, groups = subsets(records, "any"), records.frame["group"].to_numpy(dtype=object)
    gap = records.correct("SCI5").astype(float) - records.correct("VCD")
    for subset in ("B", "S", "BS"):
        rows = sets[subset].to_numpy() & records.ok
        columns = np.stack([gap[rows], np.ones(rows.sum())])
        found = statistics.difference(gap[rows], groups[rows])
        low, high = bootstrap(columns, groups[rows], STATISTICS["mean"])
        assert found.high - found.low == pytest.approx(high - low, rel=0.05)
        assert found.low == pytest.approx(low, abs=0.1 * (high - low))


def test_copies_of_a_row_in_one_cluster_do_not_narrow_the_interval():
    values = np.random.default_rng(3).integers(0, 2, 100).astype(float)
    single = statistics.mean(values, range(100))
    tripled = statistics.mean(np.tile(values, 3), list(range(100)) * 3)
    assert tripled.high - tripled.low == pytest.approx(single.high - single.low, abs=1e-9)
    assert tripled.n == 300


def test_no_row_and_a_single_cluster_have_no_interval():
    assert statistics.mean([], []) is statistics.NO_DATA
    alone = statistics.mean([0.0, 1.0], ["a", "a"])
    assert alone.estimate == 0.5 and np.isnan(alone.low) and np.isnan(alone.p())


@pytest.mark.parametrize("count", [2, 9, 19, 300])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_rows_that_are_all_alike_allow_for_as_many_others_as_may_be(count, value):
    names = [f"{n}" for n in range(count)]
    bare = statistics.mean([value] * count, names)
    assert bare.estimate == value and np.isnan(bare.low) and bare.error == 0
    assert statistics.verdict(bare) == "inconclusive"
    known = statistics.wilson(count * int(value), count)
    share = statistics.share([value] * count, names)
    assert share[:3] == pytest.approx(known[:3]) and share.n == count
    gap = statistics.difference([value] * count, names)
    missed = known.high - known.low
    assert (gap.low, gap.high) == pytest.approx((value - (1 + value) * missed,
                                                 value + (1 - value) * missed))  # fmt: skip


def test_missing_values_and_ragged_input_are_refused():
    with pytest.raises(ValueError, match="1 of 2 values are not finite"):
        statistics.mean([1.0, float("nan")], [0, 1])
    with pytest.raises(ValueError, match="one length"):
        statistics.mean([1.0], [0, 1])


def trained(generator, trainings, between, within, groups=300):
    """Trainings of one recipe on the same groups of questions, each on its own rows of them.

    The measure is 0 on average, over trainings and over questions.
    """
    shared = within * generator.normal(size=groups)
    for effect in between * generator.normal(size=trainings):
        rows = np.flatnonzero(generator.random(groups) < generator.uniform(0.3, 0.9))
        values = effect + shared[rows] + 0.3 * within * generator.normal(size=len(rows))
        yield np.stack([values, np.ones(len(rows))]), rows


@pytest.mark.parametrize("trainings", [4, 5])
@pytest.mark.parametrize(("between", "within"), [(0.1, 0.0), (0.0, 1.0), (0.05, 1.0), (0.2, 1.0)])
def test_intervals_over_trainings_cover_as_often_as_they_say(trainings, between, within):
    generator, covered, times = np.random.default_rng(5), 0, 1_000
    for _ in range(times):
        made = list(trained(generator, trainings, between, within))
        found = statistics.measure(made, statistics.ratio)
        covered += found.low <= 0 <= found.high
    assert 0.93 <= covered / times <= 0.99


def test_a_measure_over_trainings_is_their_plain_mean_with_both_variances():
    generator = np.random.default_rng(6)
    made = list(trained(generator, 4, 0.1, 1.0))
    found = statistics.measure(made, statistics.ratio)
    each = np.array([columns[0].mean() for columns, _ in made])
    assert found.estimate == pytest.approx(each.mean())
    pull = np.zeros(300)  # how far each group moves the mean over trainings
    for (columns, rows), mine in zip(made, each, strict=True):
        np.add.at(pull, rows, (columns[0] - mine) / columns.shape[1] / 4)
    known = (pull != 0).sum()
    questions, between = (pull**2).sum() * known / (known - 1), each.var(ddof=1) / 4
    assert found.error == pytest.approx(np.sqrt(questions + between), rel=1e-6)
    freedom = (questions + between) ** 2 / (questions**2 / (known - 1) + between**2 / 3)
    assert found.freedom == pytest.approx(freedom, rel=1e-6) and found.clusters == known
    assert found.n == round(np.mean([columns.shape[1] for columns, _ in made]))
    empty = (np.empty((2, 0)), np.array([], dtype=int))
    assert statistics.measure([*made, empty], statistics.ratio) == found and found.trainings == 4


@pytest.mark.parametrize("trainings", [2, 3])
def test_fewer_than_four_trainings_have_no_interval_and_one_has_its_questions(trainings):
    made = list(trained(np.random.default_rng(7), trainings, 0.1, 1.0))
    found = statistics.measure(made, statistics.ratio)
    assert np.isfinite(found.estimate) and np.isnan(found.low) and np.isnan(found.error)
    (columns, rows), *_ = made
    alone = statistics.measure(made[:1], statistics.ratio)
    assert alone == statistics.mean(columns[0], rows) and alone.low < alone.high


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
            found = statistics.wilson(correct, n)
            assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_holm_known_value():
    np.testing.assert_allclose(statistics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert not len(statistics.holm([]))


def test_one_part_among_many_lies_beyond_its_margin_by_chance():
    assert statistics.beyond_chance(0.04, 1) and not statistics.beyond_chance(0.04, 2)
    assert statistics.beyond_chance(0.01, 5) and not statistics.beyond_chance(0.011, 5)
    assert statistics.beyond_chance(float("nan"), 9)


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
    assert statistics.verdict(statistics.mean([], [])) == "not comparable"


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
        found, place = statistics.slope(fit, column), column + 1
        wide = stdtrit(9, ENDS[1]) * error * np.sqrt(inverse[place, place])
        np.testing.assert_allclose(found[:3], known[place] + np.array([0, -wide, wide]))
        assert found.n == 12
    at = np.array([1, 0.3, 0.7])
    wide = stdtrit(9, ENDS[1]) * error * np.sqrt(1 + at @ inverse @ at)
    found = statistics.one_more(fit, [0.3, 0.7])
    np.testing.assert_allclose(found[:3], at @ known + np.array([0, -wide, wide]))


def test_a_number_of_a_line_has_the_key_of_its_points_and_its_place():
    x = np.arange(6.0)
    fits = [statistics.least_squares([x, x**2], x**3 + end) for end in (0, 0, 1)]
    first, again, other = ([statistics.slope(fit, column).key for column in (0, 1)]
                           + [statistics.one_more(fit, [at, 2.0]).key for at in (0.5, 1.0)]
                           for fit in fits)  # fmt: skip
    assert first == again and len({*first, *other}) == 8


@pytest.mark.parametrize("columns", [[[1, 2, 3], [2, 4, 6]], [[1, 1, 1, 1]], [[1, 2]]])
def test_points_that_settle_no_line_are_refused(columns):
    with pytest.raises(ValueError, match="needs more than"):
        statistics.least_squares(columns, np.zeros(len(columns[0])))


def test_a_share_lies_between_none_and_all_and_a_difference_between_their_gaps():
    few = [1.0] + [0.0] * 30
    names = [f"{n}" for n in range(31)]
    assert statistics.mean(few, names).low < 0 == statistics.share(few, names).low
    most = [0.0] + [1.0] * 30
    assert statistics.share(most, names).high == 1 < statistics.mean(most, names).high
    assert statistics.difference([-1.0] * 30 + [1.0], names).low == -1
