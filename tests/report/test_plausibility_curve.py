"""Table 6 and beyond: curves of beta, margins held fixed, questions the constraint decides."""

from dataclasses import replace
from math import log

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import measures, rounds_and_margin
from sci_book.papers.sci.chapters import plausibility_curve as curve
from sci_book.papers.shared import sweeps
from sci_book.papers.shared.evidence import Evidence
from sci_book.papers.shared.tables import Table
from sci_core.methods import SCI3, SCI5, SCI7, VCD

QWEN, MINE = "pocket-qwen2vl", "mine"


@pytest.fixture(scope="module")
def sets(subjects):
    return {each.name: each.sets("any", "rows") for each in subjects}


def test_the_odds_are_those_of_the_specification():
    shown = rounds_and_margin.odds_table().frame["least odds"]
    assert shown.tolist() == ["0.164", "0.090", "0.049"]


def test_regimes_hold_what_they_name():
    found = rounds_and_margin.regimes()
    own = {name: each.margin for name, each in found[rounds_and_margin.OWN].items()}
    assert len(set(own.values())) == 3
    for regime in (rounds_and_margin.ONE_MARGIN, rounds_and_margin.ONE_TAU):
        margins = [each.margin for each in found[regime].values()]
        assert margins == pytest.approx([2 * log(1 / 0.3)] * 3)
    assert {each.tau1 / each.tau2 for each in found[rounds_and_margin.ONE_TAU].values()} == {10.0}
    assert len({each.tau1 for each in found[rounds_and_margin.ONE_MARGIN].values()}) == 3


def test_table_6_stands_beside_the_papers(subjects, sets):
    frame = curve.table06(subjects[0], sets[QWEN])
    subsets = [label.split(":")[0] for label in frame.index]
    assert subsets == ["all"] * 3 + ["B"] * 5 + ["S"] * 5 + ["BS"] * 5  # with two null methods
    assert frame.loc["B: runner-up", "reproduced"] > 0
    rows = sets[QWEN]["BS"].to_numpy()
    right = 100 * subjects[0].records.correct("SCI5")[rows].mean()
    assert frame.loc["BS: SCI5", ["paper", "reproduced"]].tolist() == pytest.approx([32.55, right])
    assert frame.loc["B: base", "reproduced"] == 0 and frame.loc["all: base", "paper"] == 81.12
    free = frame.loc[[label for label in frame.index if "no constraint" in label]]
    assert free["paper"].tolist() == [68.93, 26.16, 34.04, 27.63]
    assert curve.table06(subjects[1], sets[MINE])["paper"].isna().all()


def test_the_constraints_gain_is_paired_and_left_out_where_rows_are_open(subjects, sets):
    paper = curve.paper_numbers(subjects)
    assert [round(value, 2) for value in paper.values()] == [12.10, 3.49, 6.39, 4.92]
    free = sweeps.outcome(subjects[0], curve.FREE)
    subsets = list(curve.SUBSETS)
    without = [{"M": 2, "N": 2, "beta": 0.0}]
    found = measures.difference(Evidence(subjects[0], [], None), ["SCI5"], without, subsets)
    for subset, sample in zip(subsets, found, strict=True):
        rows = subjects[0].sets("any", "rows")[subset].to_numpy()
        assert (QWEN, sample.what) in paper
        assert len(sample.values) == (rows.sum() if free.enough(rows) else 0)
        gap = subjects[0].records.correct("SCI5")[rows] - free.read[rows].astype(float)
        assert not len(sample.values) or sample.values.mean() == pytest.approx(gap.mean())


def test_curves_pass_through_the_decoded_presets(subjects, sets):
    frame = curve.beta_curves(subjects[0], sets[QWEN])
    at = frame.set_index(["subset", "curve", "at"])["value"]
    for subset in curve.SUBSETS:
        rows = sets[QWEN][subset].to_numpy()
        for name in ("SCI3", "SCI5", "SCI7", "VCD"):
            right = 100 * subjects[0].records.correct(name)[rows].mean()
            assert at[subset, name, 0.3] == pytest.approx(right)
    shown = frame.dropna()
    assert (shown["low"] <= shown["value"]).all() and (shown["value"] <= shown["high"]).all()
    assert (frame["value"].isna() == (frame["unsettled"] > 100 * sweeps.UNSETTLED)).all()
    table = curve.curve_table(frame, subjects[0], "BS", "β").frame
    assert table.index[0] == "β = 1" and table.shape == (len(curve.BETAS), 4)
    assert "reach down" in curve.unsettled_sentence(frame, subjects[0])


def test_a_margin_is_the_same_for_all_sizes_and_none_is_the_argmax(subjects, sets):
    frame = curve.margin_curves(subjects[0], sets[QWEN])
    at = frame[frame["subset"] == "all"].set_index(["curve", "at"])["value"]
    rows = sets[QWEN]["all"].to_numpy()
    for method in (SCI3, SCI5, SCI7):
        tightest = sweeps.outcome(subjects[0], replace(method, beta=1.0))
        assert at[method.name, 0.0] == pytest.approx(100 * tightest.least[rows].mean())


def test_more_rounds_are_paired_differences(subjects, sets):
    found = rounds_and_margin.more_rounds(subjects, sets)
    frame, rows = found[QWEN], sets[QWEN]["BS"].to_numpy()
    records = subjects[0].records
    gap = records.correct("SCI7")[rows].mean() - records.correct("SCI3")[rows].mean()
    assert frame.loc["own margins: SCI7 − SCI3", "reproduced"] == pytest.approx(100 * gap)
    assert frame.loc["own margins: SCI7 − SCI3", "paper"] == pytest.approx(31.72 - 26.94)
    assert frame["paper"].notna().sum() == 3 and len(frame) == 9
    for regime in rounds_and_margin.regimes():
        steps = [frame.loc[f"{regime}: {pair}", "reproduced"]
                 for pair in ("SCI5 − SCI3", "SCI7 − SCI5", "SCI7 − SCI3")]  # fmt: skip
        assert steps[0] + steps[1] == pytest.approx(steps[2])
    assert found[MINE]["paper"].isna().all()
    text = rounds_and_margin.rounds_sentence(frame, subjects[0])
    assert text.count("SCI7 − SCI3") == 3


def test_a_question_is_decided_where_one_token_is_within_the_margin(subjects):
    records = subjects[0].records
    for method in (SCI3, SCI5, VCD, replace(SCI7, beta=0.8)):
        found = curve.decided(records, method)
        textual = [records.rounds.index(name) for name in ("original", *method.textual)]
        for row, nodes in enumerate(records.table["nodes"].to_pylist()):
            if not nodes:
                assert not found[row]
                continue
            logits = np.array(nodes[0]["logits"]).reshape(len(records.rounds), -1)[textual]
            best, second = np.sort(logits.max(axis=0))[::-1][:2]
            assert found[row] == (best - second > method.margin)


def test_a_decided_question_has_one_answer_whatever_the_weight_of_vc(subjects):
    method = SCI5
    decided = curve.decided(subjects[0].records, method)
    mcq = (subjects[0].kinds == "MCQ") & decided
    answers = [
        subjects[0].replay.answers(replace(method, tau2=tau2))["answer"].to_numpy()[mcq]
        for tau2 in (0.01, 0.2, 100.0)
    ]
    assert mcq.any() and (answers[0] == answers[1]).all() and (answers[1] == answers[2]).all()


def test_a_token_that_was_not_kept_may_survive(subjects):
    records = subjects[0].records
    here = curve.decided(records, SCI5)
    nodes = records.nodes
    raised = nodes._replace(outside=nodes.outside + 198)  # its bound now beats every kept token
    other = records.take(np.arange(len(records.frame)))
    other.__dict__["nodes"] = raised
    found = curve.decided(other, SCI5)
    # It may be that nothing but this token survives; which one it is, the records do not say.
    assert here.any() and not (found & here).any()


def test_tighter_constraints_decide_more(subjects, sets):
    table = curve.decided_table(subjects[0], sets[QWEN]).frame
    for head in table.columns.levels[0].drop("margin"):
        shares = table[head].astype(float).to_numpy()
        assert (np.diff(shares, axis=1) <= 0).all()
    assert table["margin"].iloc[:, 0].tolist() == ["1.81", "2.41", "3.01", "1.20"]


def test_figures_and_empty_subsets(subjects, sets):
    beta = {each.name: curve.beta_curves(each, sets[each.name]) for each in subjects}
    margins = {each.name: curve.margin_curves(each, sets[each.name]) for each in subjects}
    curve.draw_beta(subjects, beta)
    curve.draw_margins(subjects[:1], margins)
    none = {name: frame & False for name, frame in sets.items()}
    empty = {each.name: curve.beta_curves(each, none[each.name]) for each in subjects}
    assert all(not len(frame) for frame in empty.values())
    curve.draw_beta(subjects, empty)
    assert curve.table06(subjects[0], none[QWEN])["n"].eq(0).all()
    assert set(rounds_and_margin.more_rounds(subjects, none)[QWEN]["verdict"]) == {"not comparable"}
    assert "—" in curve.decided_table(subjects[0], none[QWEN]).frame.iloc[0].tolist()
    assert curve.curve_table(empty[QWEN], subjects[0], "BS", "β").frame.empty
    assert "no validation row" in curve.unsettled_sentence(empty[QWEN], subjects[0])


def test_unread_answers_are_counted_of_rows_that_have_one(subjects, monkeypatch):
    subject, ok = subjects[0], subjects[0].records.ok
    assert "was not decoded" in curve.unread_sentence(subject)
    monkeypatch.setattr(curve, "FREE", SCI5)
    share = 100 * pd.isna(subject.records.parsed("SCI5")[ok]).mean()
    assert not ok.all() and f"read on {share:.1f} % of all" in curve.unread_sentence(subject)
    failed = replace(subject, records=subject.records.take(~ok))
    assert curve.unread_sentence(failed) == f"- {subject.shown} has no validation row."


def test_at_most_is_explained_where_it_is_said():
    bound, exact = (
        Table("x", pd.DataFrame(index=[f"all: SCI5{end}"]), "") for end in (sweeps.AT_MOST, "")
    )
    assert curve.with_note(bound).notes == [curve.AT_MOST_NOTE]
    assert curve.with_note(exact) is exact
