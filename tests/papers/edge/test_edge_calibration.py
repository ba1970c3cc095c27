"""Confidence and ECE: Tables 11 to 14, definitions, and records against decoding."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.edge import calibration
from sci_book.papers.edge.printed import BIN_TABLES, PRINTED, bins
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import RecordsError, read_records
from sci_book.results.statistics import measure
from tests.soak import examples


@pytest.mark.parametrize(
    ("name", "expected"), list(zip(BIN_TABLES, (0.22768, 0.43144, 0.443, 0.087), strict=True))
)
def test_ece_of_the_printed_bins(name, expected):
    diagram, _, _ = bins(PRINTED, name)
    assert calibration.ece(diagram) == pytest.approx(expected, abs=5e-6)


unit = st.floats(0, 1)


@examples(60)
@given(st.lists(st.tuples(unit, st.booleans()), min_size=1, max_size=40))
def test_bins_and_ece_by_definition(rows):
    confidence, correct = zip(*rows, strict=True)
    diagram = calibration.reliability(confidence, correct)
    expected = 0.0
    for m in range(10):
        inside = [(c, ok) for c, ok in rows if m / 10 <= c < (m + 1) / 10 or (m == 9 and c == 1)]
        if inside:
            gap = sum(ok for _, ok in inside) - sum(c for c, _ in inside)
            expected += abs(gap) / len(rows)
    assert diagram["count"].sum() == len(rows)
    assert calibration.ece(diagram) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("edge", [m / 10 for m in range(10)])
def test_an_edge_belongs_to_the_bin_above(edge):
    (line,) = calibration.reliability([edge], [True]).itertuples()
    assert line.low == edge
    assert calibration.reliability([1.0], [True])["high"].item() == 1


def test_what_cannot_be_binned_is_refused():
    with pytest.raises(ValueError, match="outside"):
        calibration.reliability([0.2, float("nan")], [True, True])
    with pytest.raises(ValueError, match="One confidence a row"):
        calibration.reliability([0.2], [True, True])
    assert math.isnan(calibration.ece(calibration.reliability([], [])))


def test_interval_covers_the_estimate_of_a_miscalibrated_model():
    generator = np.random.default_rng(0)
    confidence = generator.uniform(0.5, 1, 600)
    correct = generator.random(600) < confidence - 0.3
    sums = calibration.terms(confidence, correct), np.arange(600)
    interval = measure([sums], calibration.ece_of_sums)
    diagram = calibration.reliability(confidence, correct)
    assert interval.estimate == pytest.approx(calibration.ece(diagram))
    assert interval.low < 0.3 < interval.high and interval.low < interval.estimate < interval.high


@pytest.fixture(scope="module")
def recorded():
    records = read_records(FROZEN_RECORDS / "pocket-qwen2vl.parquet")
    kinds = records.frame["question_type"].to_numpy()
    lengths = np.array([len(tokens) for tokens in records.table["tokens:original"].to_pylist()])
    long = (kinds == "short") & (lengths == 2)  # whatever a model says first, some of these
    chosen = *(kinds == kind for kind in ("mcq", "yesno", "short")), long
    places = np.unique(np.concatenate([np.flatnonzero(rows)[:30] for rows in chosen]))
    return records.take(places)


def test_recorded_confidence_is_equation_2_over_the_recorded_steps(recorded):
    nodes, tokens = recorded.nodes, recorded.table["tokens:original"].to_pylist()
    at = {key: k for k, key in enumerate(zip(nodes.row.tolist(), nodes.prefix, strict=True))}
    confidence = calibration.recorded_confidence(recorded)
    kinds = recorded.frame["question_type"]
    lengths = set()
    for row, (kind, answer) in enumerate(zip(kinds, tokens, strict=True)):
        steps = len(answer) if kind == "short" else 1
        log_probs = []
        for step in range(steps):
            node = at[row, tuple(answer[:step])]
            slot = list(nodes.tokens[node]).index(answer[step])
            log_probs.append(nodes.logits[0, node, slot] - nodes.log_norm[0, node])
        assert confidence[row] == pytest.approx(math.exp(np.mean(log_probs)), rel=1e-5)
        lengths.add((kind, steps))
    assert ("short", 2) in lengths and ("mcq", 1) in lengths and ("yesno", 1) in lengths


def test_no_other_first_token_is_more_likely_than_the_bases(recorded):
    first = (recorded.frame["question_type"] != "short").to_numpy()
    found = (calibration.recorded_confidence(recorded, policy) for policy in ("base", "black"))
    base, other = (each[first] for each in found)
    assert (other <= base + 1e-6).all() and (other < base).any()


def test_policies_that_are_not_recorded_are_refused(recorded):
    with pytest.raises(RecordsError, match="these records hold the answers of original"):
        calibration.recorded_confidence(recorded, "nobody")
