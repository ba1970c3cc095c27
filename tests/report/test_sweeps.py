"""Outcomes of methods that were not decoded, and many results resampled together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.shared import chapters, sweeps
from sci_book.papers.shared.joint import joint
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import RecordsError, write_records
from sci_book.results.statistics import cluster_bootstrap
from sci_core.methods import BASE, SCI5, SCI7, VCD
from tests.report.drawn_records import drawn_records

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
    assert subject.records.policy_of(named) == "SCI5"
    assert subject.records.policy_of(BASE) == "original"
    assert subject.records.policy_of(replace(SCI5, tau2=0.3)) is None
    found = sweeps.outcome(subject, named)
    assert (found.least == found.most).all() and (found.settled == subject.records.ok).all()
    assert (found.least == subject.records.correct("SCI5")).all()


@pytest.mark.parametrize("method", [SCI5, SCI7, VCD], ids=lambda method: method.name)
def test_a_replayed_method_agrees_with_the_decoded_one(subject, method):
    # The same constraint, written as a margin: the same answers, but no decoded method's fields.
    same = replace(method, raw_margin=-method.tau1 * np.log(method.beta).item())
    replayed, decoded = sweeps.outcome(subject, same), sweeps.outcome(subject, method)
    assert subject.records.policy_of(same) is None
    assert (replayed.least == decoded.least).all() and (replayed.settled == decoded.settled).all()


def test_open_rows_count_as_wrong_or_as_what_they_may_be(subject):
    loose = sweeps.outcome(subject, replace(SCI5, beta=0.0, tau2=0.01))
    records = subject.records
    assert not loose.settled[records.ok].all()
    assert (loose.least <= loose.most).all() and not loose.most[~records.ok].any()
    assert not loose.least[~loose.settled].any()
    short = (records.frame["question_type"] == "short").to_numpy()
    assert loose.most[short & ~loose.settled & records.ok].all()
    rows, few = records.ok, records.ok & loose.settled
    share = 1 - loose.settled[rows].mean()
    assert loose.unsettled(rows) == pytest.approx(share) and loose.unsettled(few) == 0
    assert loose.enough(few) and (loose.as_shown(few)[few] == loose.least[few]).all()
    assert (loose.least <= loose.read).all() and (loose.read <= loose.most).all()
    assert loose.enough(rows) == (share <= sweeps.UNSETTLED)
    assert loose.unsettled(rows & ~rows) == 0.0


def test_an_interval_spans_what_open_rows_may_be(subject):
    """A twentieth of one method's rows is open: read as wrong, they may all be right."""
    rows = np.flatnonzero(subject.records.ok)
    right = np.zeros(len(subject.records.ok), dtype=bool)
    right[rows[::2]] = True
    ahead, maybe, settled = right.copy(), right.copy(), np.ones(len(right), dtype=bool)
    ahead[rows[1:41:2]] = True
    maybe[rows[1:9:2]], settled[rows[1:9:2]] = True, False
    open_ones = sweeps.Outcome(right, right, maybe, settled)
    closed = sweeps.Outcome(right, right, right, settled | True)
    won = sweeps.Outcome(ahead, ahead, ahead, settled | True)
    ok, groups = subject.records.ok, subject.groups
    tight = sweeps.bounded(won, closed, ok, groups, 0.95)
    wide = sweeps.bounded(won, open_ones, ok, groups, 0.95)
    assert wide.estimate == tight.estimate == pytest.approx(20 / len(rows))
    assert wide.high == tight.high and wide.low < tight.low
    least = cluster_bootstrap(ahead[ok].astype(float) - maybe[ok], groups[ok])
    assert wide.low == least.low  # the other method may be right on all that is open


def test_the_books_validation_records_settle_most_of_the_grid():
    """A grid or a curve that the records leave open would show little, and claim less."""
    for subject in chapters.subjects(["pocket-qwen2vl", "pocket-llavanext"], FROZEN_RECORDS):
        tuned = sweeps.part(subject, "any", "rows", "validation", "BS")
        everything = np.ones(len(tuned.records.frame), dtype=bool)
        for method in (replace(SCI5, tau1=1.0, tau2=0.5), replace(SCI5, beta=0.1), SCI7):
            assert sweeps.outcome(tuned, method).unsettled(everything) < 0.08
        loose = replace(SCI5, beta=0.0)
        assert tuned.records.policy_of(loose) and sweeps.outcome(tuned, loose).settled.all()


def test_a_part_of_a_subject_keeps_its_rows_and_its_outcomes(subject):
    rows = subject.sets("any", "rows", "validation")["BS"].to_numpy()
    part = sweeps.part(subject, "any", "rows", "validation", "BS")
    assert len(part.records.frame) == rows.sum() > 0
    assert part.sets("any", "rows", "validation")["BS"].all()
    method = replace(SCI5, tau2=0.4)
    whole, cut = sweeps.outcome(subject, method), sweeps.outcome(part, method)
    assert (whole.least[rows] == cut.least).all() and (whole.settled[rows] == cut.settled).all()


def test_models_are_shown_once_the_first_first_and_of_the_others_those_with_records(tmp_path):
    for seed, name in enumerate("ab"):
        write_records(tmp_path / f"{name}.parquet", drawn_records(name, seed=seed, rows=4))
    names = [each.name for each in sweeps.subjects("checkpoints/b", ["a", "b"], tmp_path)]
    assert names == ["b", "a"]
    # A default of the chapter that one's own folder knows nothing of.
    assert [each.name for each in sweeps.subjects("a", ["pocket-llavanext"], tmp_path)] == ["a"]
    with pytest.raises(RecordsError, match="holds no records"):
        sweeps.subjects("pocket-llavanext", ["a"], tmp_path)


def test_columns_resampled_together_agree_with_one_at_a_time(rng):
    clusters = rng.integers(60, size=300).astype(str)
    columns = (rng.random((3, 300)) < [[0.2], [0.5], [0.9]]).astype(float)
    found = joint(columns, clusters)
    assert (found.n, found.clusters) == (300, len(set(clusters)))
    for column, end in zip(columns, found.pointwise(), strict=True):
        alone = cluster_bootstrap(column, clusters)
        assert end.estimate == pytest.approx(alone.estimate)
        assert (end.low, end.high) == pytest.approx((alone.low, alone.high), abs=0.006)
    again = joint(columns, clusters)
    assert (again.draws == found.draws).all()


def test_one_column_needs_no_wider_interval_and_many_do(rng):
    clusters = np.arange(400).astype(str)
    columns = rng.normal(size=(30, 400))
    together, alone = joint(columns, clusters), joint(columns[:1], clusters)
    assert together.draws[:, 0] == pytest.approx(alone.draws[:, 0])
    width = [end.high - end.low for end in (together.intervals()[0], alone.intervals()[0])]
    assert width[0] > 1.4 * width[1]
    plain = alone.pointwise()[0]
    assert width[1] == pytest.approx(plain.high - plain.low, rel=0.05)
    # Two equal columns deviate together, so that they need no more than one.
    twice = joint(columns[[0, 0]], clusters).intervals()
    assert twice[0].high - twice[0].low == pytest.approx(width[1])


def test_simultaneous_intervals_cover_as_often_as_they_say(rng):
    clusters, covered = np.arange(80).astype(str), 0
    for seed in range(100):
        columns = rng.normal(size=(6, 80))
        ends = joint(columns, clusters, replicates=400, seed=seed).intervals(0.9)
        covered += all(end.low <= 0 <= end.high for end in ends)
    assert 78 <= covered <= 97


def test_no_row_and_no_spread_have_intervals_all_the_same():
    nothing = joint(np.empty((2, 0)), np.array([], dtype=object))
    assert [end.n for end in nothing.intervals() + nothing.pointwise()] == [0] * 4
    assert np.isnan(nothing.estimates).all()
    constant = joint(np.ones((1, 5)), np.arange(5).astype(str)).intervals()[0]
    assert (constant.low, constant.estimate, constant.high) == (1, 1, 1)


def test_the_smallest_line_is_named():
    lines = pd.DataFrame({"reproduced": [2.0, -1.0, np.nan]}, index=["a", "b", "c"])
    assert sweeps.least(lines).name == "b"
    assert sweeps.least(lines.assign(reproduced=np.nan)).name == "a"
