"""Outcomes of methods that were not decoded, and how far the records settle them."""

from dataclasses import replace

import numpy as np
import pytest

from sci_book.papers.shared import chapters, sweeps
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import write_records
from sci_book.results.statistics import mean
from sci_core.methods import SCI5, SCI7, VCD
from tests.papers.shared.drawn_records import drawn_records

MODEL = "pocket-qwen2vl"


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    write_records(folder / f"{MODEL}.parquet", drawn_records(MODEL, spoilt=(3, 70)))
    return chapters.subjects([MODEL], folder)[0]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_decoded_method_is_known_by_its_fields(subject):
    named = replace(SCI5, name="any other name")
    found = sweeps.outcome(subject, named)
    assert (found.least == found.most).all() and (found.resolved == subject.records.ok).all()
    assert (found.least == subject.records.correct("SCI5")).all()


@pytest.mark.parametrize("method", [SCI5, SCI7, VCD], ids=lambda method: method.name)
def test_a_replayed_method_agrees_with_the_decoded_one(subject, method):
    # The same constraint, written as a margin: the same answers, but no decoded method's fields.
    same = replace(method, raw_margin=-method.tau1 * np.log(method.beta).item())
    replayed, decoded = sweeps.outcome(subject, same), sweeps.outcome(subject, method)
    assert subject.records.policy_of(same) is None
    assert (replayed.least == decoded.least).all() and (replayed.resolved == decoded.resolved).all()


def test_open_rows_count_as_wrong_or_as_what_they_may_be(subject):
    loose = sweeps.outcome(subject, replace(SCI5, beta=0.0, tau2=0.01))
    records = subject.records
    assert not loose.resolved[records.ok].all()
    assert (loose.least <= loose.most).all() and not loose.most[~records.ok].any()
    assert not loose.least[~loose.resolved].any()
    short = (records.frame["question_type"] == "short").to_numpy()
    assert loose.most[short & ~loose.resolved & records.ok].all()
    rows, few = records.ok, records.ok & loose.resolved
    share = 1 - loose.resolved[rows].mean()
    assert loose.unsettled(rows) == pytest.approx(share) and loose.unsettled(few) == 0
    assert loose.enough(few) and (loose.read_or_most(few)[few] == loose.least[few]).all()
    assert (loose.least <= loose.read).all() and (loose.read <= loose.most).all()
    assert loose.enough(rows) == (share <= sweeps.UNSETTLED)
    assert loose.unsettled(rows & ~rows) == 0.0


def test_an_interval_spans_what_open_rows_may_be(subject):
    """A twentieth of one method's rows is open: read as wrong, they may all be right."""
    rows = np.flatnonzero(subject.records.ok)
    right = np.zeros(len(subject.records.ok), dtype=bool)
    right[rows[::2]] = True
    ahead, maybe, resolved = right.copy(), right.copy(), np.ones(len(right), dtype=bool)
    ahead[rows[1:41:2]] = True
    maybe[rows[1:9:2]], resolved[rows[1:9:2]] = True, False
    open_ones = sweeps.Outcome(right, right, maybe, resolved)
    closed = sweeps.Outcome(right, right, right, resolved | True)
    won = sweeps.Outcome(ahead, ahead, ahead, resolved | True)
    ok, groups = subject.records.ok, subject.groups
    tight = sweeps.bounded([(won, closed, ok, groups)])
    wide = sweeps.bounded([(won, open_ones, ok, groups)])
    assert wide.estimate == tight.estimate == pytest.approx(20 / len(rows))
    assert wide.high == tight.high and wide.low < tight.low
    least = mean(ahead[ok].astype(float) - maybe[ok], groups[ok])
    assert wide.low == least.low  # the other method may be right on all that is open


def test_the_books_validation_records_settle_most_of_the_grid():
    """A grid or a curve that the records leave open would show little, and claim less."""
    for subject in chapters.subjects(["pocket-qwen2vl", "pocket-llavanext"], FROZEN_RECORDS):
        tuned = sweeps.part(subject, "any", "rows", "validation", "BS")
        everything = np.ones(len(tuned.records.frame), dtype=bool)
        for method in (replace(SCI5, tau1=1.0, tau2=0.5), replace(SCI5, beta=0.1), SCI7):
            assert sweeps.outcome(tuned, method).unsettled(everything) < 0.08
        loose = replace(SCI5, beta=0.0)
        assert tuned.records.policy_of(loose) and sweeps.outcome(tuned, loose).resolved.all()


def test_a_part_of_a_subject_keeps_its_rows_and_its_outcomes(subject):
    rows = subject.sets("any", "rows", "validation")["BS"].to_numpy()
    part = sweeps.part(subject, "any", "rows", "validation", "BS")
    assert len(part.records.frame) == rows.sum() > 0
    assert part.sets("any", "rows", "validation")["BS"].all()
    method = replace(SCI5, tau2=0.4)
    whole, cut = sweeps.outcome(subject, method), sweeps.outcome(part, method)
    assert (whole.least[rows] == cut.least).all() and (whole.resolved[rows] == cut.resolved).all()
