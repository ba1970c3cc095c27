"""Edge statistics: the paper's own numbers, the textbook's, and degenerate cases."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import mcnemar as textbook

from sci_book.papers.edge import statistics
from sci_book.results.statistics import mcnemar


def test_wald_gap_of_table_9():
    gap = statistics.wald_difference(534, 800, 634, 800)
    assert gap.estimate == pytest.approx(0.125)
    assert (round(100 * gap.low, 2), round(100 * gap.high, 2)) == (8.19, 16.81)
    assert round(gap.z, 3) == 5.688
    assert gap.p == pytest.approx(1.29e-8, rel=0.005)
    assert gap.p > 1e-8 > gap.p / 2  # the printed p < 1e-8 is the one-sided one


def test_wald_changes_sign_with_the_order():
    forth, back = (statistics.wald_difference(*n) for n in ((3, 10, 7, 12), (7, 12, 3, 10)))
    assert back.estimate == pytest.approx(-forth.estimate)
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low))
    assert back.p == pytest.approx(forth.p)


def test_wald_without_variance():
    assert statistics.wald_difference(4, 4, 9, 9)[:3] == (0, 0, 0)
    assert statistics.wald_difference(4, 4, 9, 9).p == 1
    assert statistics.wald_difference(0, 4, 9, 9).p == 0


@pytest.mark.parametrize("counts", [(0, 0, 1, 2), (3, 2, 1, 2), (-1, 2, 1, 2)])
def test_wald_refuses_what_is_no_proportion(counts):
    with pytest.raises(ValueError, match="is no proportion"):
        statistics.wald_difference(*counts)


def test_mcnemar_of_table_7():
    assert round(statistics.mcnemar_edwards(3, 3), 3) == 0.683
    assert statistics.mcnemar_edwards(3, 3) == pytest.approx(chi2.sf(1 / 6, 1))
    assert statistics.mcnemar_edwards(3, 3, clamped=True) == 1
    places = np.arange(100)
    assert mcnemar(places >= 3, (places < 3) | (places >= 6)) == 1  # each alone is right on three


@pytest.mark.parametrize(("b", "c"), [(3, 3), (1, 0), (12, 5)])
def test_edwards_is_the_textbooks(b, c):
    expected = textbook([[10, b], [c, 4]], exact=False, correction=True)
    assert statistics.mcnemar_edwards(b, c) == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("b", "c"), list(product(range(8), repeat=2)))
def test_clamping_matters_only_at_equal_counts(b, c):
    plain, clamped = (statistics.mcnemar_edwards(b, c, clamped=word) for word in (False, True))
    assert (plain == clamped) == (b != c or b == 0)
    assert b != c or clamped == 1


def test_rho_of_table_7():
    first, second = np.zeros(100), np.zeros(100)
    first[:3], second[3:6] = 1, 1  # three discordant pairs each: no picture fails both
    ratio, why = statistics.sensitivity_ratio(first, second, range(100))
    assert ratio.estimate == 1
    assert "may not drop" in why  # the paper prints [0.00, 5.00]; a drop of 3 in 100 may be none


@pytest.mark.parametrize(("second", "reason"), [([0, 0], "does not drop"), ([-1, 0], "gains")])
def test_rho_without_a_drop_is_no_number(second, reason):
    ratio, why = statistics.sensitivity_ratio([1, 0], second, [0, 1])
    assert ratio.n == 0 and reason in why
    assert statistics.sensitivity_ratio([], [], [])[0].n == 0
