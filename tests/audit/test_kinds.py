"""Each kind of check: numbers that were rounded agree, and one that is beyond rounding does not."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sci_book.audit import kinds
from sci_book.audit.printed import (
    Cell,
    counts_printed,
    rounds_to,
    sizes_behind,
    table_title,
)
from sci_book.results.statistics import wilson

PLACES = st.integers(1, 3)
VALUES = st.lists(st.floats(0.1, 99, allow_nan=False), min_size=2, max_size=5)


def cell(value, places=2, **fields):
    return Cell(f"{value:.{places}f}", "made", fields, count=False)


def off(one, slack):
    """A number so far beyond another that no rounding leads there."""
    return Cell(f"{one.value + 2 * slack:.6f}", "made", {}, count=False)


@given(VALUES, PLACES)
def test_sums_means_and_differences_of_rounded_numbers(values, places):
    parts = [cell(value, places) for value in values]
    slack = (len(values) + 1) * 10.0**-places
    for check, value in (
        (kinds.total, sum(values)),
        (kinds.mean, sum(values) / len(values)),
        (kinds.means, sum(values) / len(values)),
    ):
        printed = cell(value, places)
        assert check([printed], parts).fits
        assert not check([off(printed, slack)], parts).fits
    first, second = parts[:2]
    printed = cell(values[0] - values[1], places)
    assert kinds.difference([printed], first, second).fits
    assert not kinds.difference([off(printed, slack)], first, second).fits


@given(VALUES, st.data())
def test_a_weighted_mean_is_within_its_parts(values, data):
    weights = [data.draw(st.integers(1, 900)) for _ in values]
    mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    parts, sizes = list(map(cell, values)), [Cell(str(weight)) for weight in weights]
    assert kinds.mean([cell(mean)], parts, sizes).fits and kinds.between(cell(mean), parts).fits
    assert not kinds.mean([cell(mean + 0.03)], parts, sizes).fits
    assert not kinds.between(cell(max(values) + 0.03), parts).fits


def test_what_a_part_would_have_to_be_is_told():
    outcome = kinds.mean([Cell("79.50", count=False)], [cell(84.14), cell(71.84)])
    assert not outcome.fits and outcome.values["last"] == pytest.approx(74.86)
    assert outcome.values["terms"] == "(84.14 + 71.84) / 2"
    weighted = kinds.mean([cell(1.5)], [cell(1), cell(2)], [Cell("30"), Cell("1500")])
    assert weighted.values["terms"] == "(30 × 1.00 + 1,500 × 2.00) / (30 + 1,500)"


@given(st.floats(1, 99), st.floats(1, 99))
def test_ratios_and_products_of_rounded_numbers(one, two):
    first, second = cell(one), cell(two)
    assert kinds.ratio(cell(one / two), first, second).fits
    assert not kinds.ratio(cell(1.05 * one / two + 0.02), first, second).fits
    assert kinds.product(cell(one * two / 100), [first, second], percent=True).fits
    assert not kinds.product(
        cell(1.05 * one * two / 100 + 0.02), [first, second], percent=True
    ).fits


@given(st.integers(1, 2_000), st.data())
def test_a_share_is_a_whole_number_of_rows(n, data):
    right = data.draw(st.integers(0, n))
    assert kinds.count(cell(100 * right / n), Cell(str(n))).fits
    between = 100 * (right + 0.5) / n
    assume(not counts_printed(f"{between:.2f}", n))
    assert not kinds.count(cell(between), Cell(str(n))).fits


@given(st.lists(st.integers(0, 100), min_size=2, max_size=8))
def test_shares_of_several_parts_are_pooled(counts):
    parts = [Cell(str(count), "made", {}, count=False) for count in counts]
    n, total, rows = Cell("100"), sum(counts), 100 * len(counts)
    share = cell(100 * total / rows, 1)
    assert kinds.pooled(share, parts, n).fits
    assert not kinds.pooled(cell(share.value + 0.3, 1), parts, n).fits
    low, high = (cell(100 * end, 1) for end in wilson(total, rows, 0.9)[1:3])
    assert kinds.interval(low, high, parts, n, 90).fits
    assert not kinds.interval(low, cell(high.value + 0.2, 1), parts, n, 90).fits
    no_count = [*parts[1:], cell(parts[0].value + 0.4, 1)]
    assert not kinds.pooled(share, no_count, n).fits
    assert not kinds.interval(low, high, no_count, n, 90).fits


def test_shares_that_divide_all_rows_are_found_as_counts():
    shares = [cell(26.4, 1, item="A"), cell(69.4, 1, item="B"), cell(4.2, 1, item="C")]
    others = [Cell("19", "made", {"item": "D"}), Cell("9", "made", {"item": "E"})]
    outcome = kinds.counts(shares, Cell("100"), "item", others)
    assert outcome.fits and outcome.values["counts"] == "A 19, B 50, C 3, D 19, E 9"
    assert not kinds.counts([*shares[:2], cell(5.2, 1, item="C")], Cell("100"), "item", others).fits


@given(st.floats(1, 99), st.floats(1, 99))
def test_an_f1_is_that_of_precision_and_recall(precision, recall):
    value = 2 * precision * recall / (precision + recall)
    both = (cell(precision), cell(recall))
    assert kinds.f1(cell(value), *both).fits
    assert kinds.f1(cell(max(0, value - 5)), *both, averaged=True).fits
    for averaged in (False, True):
        assert not kinds.f1(cell(value + 0.05), *both, averaged=averaged).fits
    assert value < 5 or not kinds.f1(cell(value - 5), *both).fits


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [("24.26", "24.25", False), ("24.3", "24.26", True), ("24.26", "24.260", True),
     ("24.2", "24.26", False), ("78.0", "78.00", True), ("5", "5", True), ("5", "6", False)],
)  # fmt: skip
def test_a_number_printed_twice_is_one_if_a_value_rounds_to_both(one, two, same):
    first, second = (Cell(text, "made", {}, count=False) for text in (one, two))
    assert kinds.repeated(first, second).fits == same == kinds.repeated(second, first).fits
    assert kinds.one_of(first, [Cell("99.9", count=False), second]).fits == same


@given(st.integers(1, 500), st.data())
def test_what_is_in_two_sets_is_in_either(n, data):
    rows = [data.draw(st.tuples(st.booleans(), st.booleans())) for _ in range(min(n, 30))]
    n = len(rows)
    sizes = [Cell(str(sum(row[k] for row in rows))) for k in (0, 1)]
    both = sum(all(row) for row in rows)
    assert kinds.overlap(cell(100 * both / n), *sizes, Cell(str(n))).fits
    more = min(size.value for size in sizes) + 1
    assert not kinds.overlap(cell(100 * more / n), *sizes, Cell(str(n))).fits


@pytest.mark.parametrize(("text", "fits"), [("three", True), ("3", True), ("four", False)])
def test_rows_are_counted_by_their_fields(text, fits):
    table = [cell(1, model=model, set=name) for model in "abc" for name in ("x", "y")]
    assert kinds.rows(Cell(text), table, ["model"]).fits == fits
    assert not kinds.rows(Cell(text), table, ["model", "set"]).fits


@given(VALUES)
def test_a_comparison_names_the_two_that_come_closest(values):
    values = sorted({round(value, 2) for value in values})
    assume(len(values) > 1)
    for k, (most, least) in enumerate(pairwise(values), 1):
        less, greater = (list(map(cell, part)) for part in (values[:k], values[k:]))
        outcome = kinds.compared(greater, less)
        assert outcome.fits and outcome.values["least"].value == pytest.approx(least)
        assert outcome.values["most"].value == pytest.approx(most)
        wrong = kinds.compared([*greater, cell(values[0])], less)
        assert not wrong.fits and wrong.values["beyond"] == 1
    same = [cell(values[0])]
    assert not kinds.compared(same, same).fits and kinds.compared(same, same, or_equal=True).fits


def test_values_round_to_what_is_printed_and_tables_have_titles():
    assert rounds_to(8.193, "8.19") and not rounds_to(8.193, "8.20")
    assert table_title("oric_table04") == "Table 4"
    assert Cell("37").half == 0 and cell(37, 1).half == 0.05 and Cell("three").value == 3
    assert sizes_behind(["50.4", "14.6"], range(1, 201)) == [123, 137]
