"""MetaRA's answers, measures and claims: rates of known answers, originals as clusters."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml

from sci_book.methods import COMPARED
from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, measures
from sci_book.papers.metara.chapters.answers import (
    FR,
    TASKS,
    by_original,
    failures,
    less,
    orders,
    rows_of,
    violations,
    weighted,
)
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.originals import read_originals
from sci_book.papers.metara.printed import PRINTED
from sci_book.papers.metara.relations import make_cases
from sci_book.papers.shared import chapters
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims
from sci_book.resources import FROZEN_RECORDS, PAPER, ROOT
from sci_book.results.records import write_records
from sci_book.results.statistics import NO_DATA, verdict
from tests.papers.metara.metara_answers import saying, truth, value, wrong_where
from tests.papers.shared.committed import code, run

QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SETS = yaml.safe_load((ROOT / "data_manifests/datasets/pocket_metara.yaml").read_text())["parts"]
BOTH = list(TASKS.values())


@pytest.fixture(scope="module")
def frozen():
    paper.draw(say=lambda _: None)
    return answers.subjects([QWEN, LLAVA], FROZEN_RECORDS).subjects


@pytest.fixture(scope="module")
def rows(frozen):
    """Every row that was drawn, with its data set."""
    sets = {name: rows_of(name.removeprefix(f"{answers.PREFIX}_")) for name in SETS}
    return pd.concat([frame.assign(set=name) for name, frame in sets.items()], ignore_index=True)


@pytest.fixture(scope="module")
def answering(frozen, rows):
    """Makes a model's answers of `say(method, row)`, and its errors of `error(row)`."""
    return lambda say, **error: saying(frozen[0], rows, say, **error)


@pytest.fixture(scope="module")
def claims():
    return [claim for claim in load_claims() if claim.paper == "metara"]


def mean(rows):
    """The mean over originals of one training."""
    return answers.mean([rows])


def kept_rows(one, mask):
    """A model's answers to some of the rows alone."""
    return replace(one, records=one.records.take(mask.to_numpy()))


# --- records and rows ----------------------------------------------------------------------------


def test_records_of_a_few_originals_or_of_another_set(frozen, tmp_path):
    frame = frozen[0].records.frame
    few = frame["group"].isin(sorted(set(frame["group"]))[:90])  # every knowledge, 18 of text
    assert 0 < len(by_original(kept_rows(frozen[0], few), "absolute", "text")) < 72
    one = kept_rows(frozen[0], frame["dataset"] == "pocket_metara_text")
    assert not failures(one, "knowledge").left["originals"]
    assert not len(violations(one, "text")) and not len(orders(one, "text"))
    assert measures.rankings(one, "text") is None
    assert measures.tau(one, ["text"])[0].interval is NO_DATA
    write_records(tmp_path / "metara" / f"{QWEN}.parquet", one.records)
    found = answers.subjects([QWEN], tmp_path)
    assert not found.subjects and found.absent[0].startswith("pocket Qwen2-VL has")


def test_rows_with_an_error_are_left_out(frozen, answering):
    def broken(row):
        own = row["original"] == "text_00001" and row["relation"] == "original"
        return "SomeError" if own or row["composition"] == 0 or row["order"] == 1 else None

    one = answering(truth, error=broken)
    assert len(by_original(one, "absolute", "text")) == 71
    assert not len(orders(one, "text"))  # an order is missing in every sequence
    assert len(violations(one, "knowledge")) == len(violations(frozen[0], "knowledge")) - 1


# --- means over originals ------------------------------------------------------------------------


def test_a_relation_that_fails_is_seen_and_no_other(answering):
    right, last = answering(truth), answering(wrong_where(lambda row: row["relation"] == "MR4"))
    for task, rate in product(BOTH, RATES):
        assert mean(by_original(right, rate, task)).estimate == 0
        assert mean(by_original(last, rate, task, relation="MR4")).estimate == 1
        assert mean(by_original(last, rate, task, relation="MR1")).estimate == 0
    assert [value(part) for part in measures.hidden(right, BOTH)] == [0, 0]
    # An original without a free place for a text has no MR4 case, and nothing to hide.
    assert min(value(part) for part in measures.hidden(last, BOTH)) > 0.8


def test_originals_are_what_is_drawn_again(frozen):
    found = mean(by_original(frozen[1], "absolute", "knowledge"))
    assert found.n == found.clusters == 72
    (paired,) = measures.change(frozen[1], "SCI5", ["absolute"], ["knowledge"])
    assert paired.interval.n == 72  # of the same originals, drawn for both methods at once
    (both,) = measures.task_gap(frozen[1], ["all"])
    assert both.interval.n == sum(len(by_original(frozen[1], FR, task)) for task in BOTH)


def frame_of(values, groups):
    return pd.DataFrame({"value": np.array(values, float), "group": groups})


def test_a_contrast_is_a_sum_of_weighted_means():
    first, second = frame_of([1, 0], ["a", "b"]), frame_of([0.5, 0, 0.25], ["a", "b", "c"])
    found = weighted([less(first, second)])
    assert found.estimate == 0.25 and found.n == 3
    three = [(0.5, first), (0.5, second), (-1.0, first)]
    assert weighted([three]).estimate == -0.125
    assert weighted([less(first, second.iloc[:0])]) is NO_DATA
    alike = weighted([less(first, first)])
    assert alike.estimate == 0 and np.isnan(alike.low)  # nothing that could differ
    few = mean(frame_of([1] * answers.FEWEST, [0, *range(answers.FEWEST - 1)]))
    assert few.estimate == 1 and np.isnan(few.low)  # too few originals to say how sure it is
    assert verdict(few) == "inconclusive"
    certain = mean(frame_of([1] * 20, list(range(20))))
    assert certain.estimate == 1 and 0.8 < certain.low < 1


def test_pairs_of_one_original_move_together():
    lot = np.random.default_rng(0)
    shared, groups = lot.random(60), list(range(60))
    first, second = frame_of(shared + 0.1, groups), frame_of(shared, groups)
    found = weighted([less(first, second)])
    assert found.high - found.low < 1e-9 or np.isnan(found.low)
    apart = weighted([less(first, frame_of(shared, [f"other {g}" for g in groups]))])
    assert apart.high - apart.low > 0.1


# --- measures ------------------------------------------------------------------------------------


def test_a_sentence_about_relations_is_all_its_pairs(claims, answering):
    local = answering(wrong_where(lambda row: row["relation"] in ("MR2", "MR4")))
    (claim,) = (one for one in claims if one.id == "metara-local-higher")
    pairs = measures.between(local, **claim.arguments)
    assert {value(part) for part in pairs} == {1}
    assert {part.what for part in pairs} == {
        f"{task}: {first} less {second}"
        for task in BOTH for first in ("MR2", "MR4") for second in ("MR1", "MR3")
    }  # fmt: skip
    assert [value(part) for part in measures.particular_gap(local, ["MR2"], ["MR1"])] == [0]


def test_relations_are_compared_on_originals_that_have_both(frozen):
    def originals(relation):
        return {*by_original(one, FR, "knowledge", relation=relation)["original"]}

    frame = frozen[0].records.frame  # of which some originals lose their cases of one relation
    lost = sorted(set(frame.loc[frame["dataset"] == "pocket_metara_knowledge", "group"]))[:5]
    one = kept_rows(frozen[0], ~(frame["group"].isin(lost) & (frame["category"] == "MR4")))
    first, second = measures.on_common_originals(one, "knowledge", "MR4", "MR1")
    assert list(first["original"]) == list(second["original"])
    assert {*first["original"]} == originals("MR4") & originals("MR1") < originals("MR1")
    knowledge, text = map(value, measures.between(one, BOTH, ["MR4"], ["MR1"]))
    (gap,) = measures.particular_gap(one, ["MR4"], ["MR1"])
    assert value(gap) == pytest.approx(text - knowledge)


def test_the_mirror_is_judged_on_the_signs_that_it_changes(answering):
    def disrupted(row):
        return row["operation"] == "mirror" and row["truth"] not in answers.SAME_IN_A_MIRROR

    (found,) = measures.mirrored(answering(wrong_where(disrupted)))
    assert value(found) == 1
    always = answering(wrong_where(lambda row: row["operation"] == "mirror"))
    assert value(measures.mirrored(always)[0]) == 0
    gaps = measures.task_gap(always, ["all", "MR1", "MR2"])
    assert value(gaps[0]) > 0 and [value(gap) for gap in gaps[1:]] == [0, 1]
    (than,) = measures.operations(always, "text", ["mirror"], "scale")
    assert value(than) == 1


def test_the_spread_is_the_variance_between_originals(answering):
    one = answering(
        wrong_where(lambda row: row["relation"] == "MR1" and str(row["original"]) < "text_00036")
    )
    text, knowledge = (
        by_original(one, FR, task)["value"].var(ddof=0) for task in ("text", "knowledge")
    )
    assert value(measures.task_spread(one)[0]) == pytest.approx(text - knowledge)
    assert text > 0


def test_a_hard_family_is_no_evidence_for_the_difficulty(answering):
    hard = {task: measures.halves(task) for task in BOTH}
    names = {name for about in hard.values() for name in about.index[about["harder"]]}
    one = answering(wrong_where(lambda row: row["original"] in names))
    assert [value(part) for part in measures.harder(one, BOTH)] == [1, 1]
    place = set(hard["knowledge"].index[hard["knowledge"]["family"] == "What place"])
    one = answering(wrong_where(lambda row: row["original"] in place))
    assert mean(by_original(one, "absolute", "knowledge")).estimate == pytest.approx(1 / 3)
    assert value(measures.harder(one, ["knowledge"])[0]) == 0


def test_methods_are_ranked_by_how_often_they_fail(answering):
    def say(method, row):
        return "wrong" if method == "SCI7" and row["relation"] == "MR1" else row["truth"]

    first = measures.rankings(answering(say), "text").first
    assert first == {name: 7 if name == "SCI7" else 3.5 for name in ("base", *COMPARED)}
    (tied,) = measures.tau(answering(truth), ["text"])  # all tie: there is no ranking
    assert tied.interval is NO_DATA


def test_a_method_that_fails_less_lowers_every_rate(answering):
    def say(method, row):
        failing = row["relation"] == "MR1" and row["original"][-1] in "02468"
        return "wrong" if failing and method != "SCI5" else row["truth"]

    one = answering(say)
    for name in COMPARED:
        parts = measures.change(one, name, RATES, BOTH)
        assert all(part.interval.high < 0 if name == "SCI5" else value(part) == 0 for part in parts)


# --- what a page computes ------------------------------------------------------------------------


def test_what_a_relation_promises_is_seen_to_be_broken():
    """The page's own check of its promises, on cases that keep them and on cases that do not."""
    page, _ = run(code("metara_relations", "import", "def kept("))
    folders = [answers.drawn(task).parent / "originals" / task for task in BOTH]
    asked = [one for folder in folders for one in read_originals(folder).originals[:6]]
    cases = make_cases(asked, 3).cases
    assert set(page["kept"](cases)["verdict"]) == {"holds"}
    other = asked[1].image.rotate(90)
    broken = page["kept"]([case._replace(image=other, question="What?") for case in cases])
    assert broken["verdict"].value_counts()["fails"] >= 5
    assert set(page["kept"]([])["verdict"]) == {"not comparable"}


def test_the_papers_models_that_stand_beside_ours_are_in_its_tables():
    relatives = pd.read_csv(PAPER / "metara_relatives.csv", dtype=str, keep_default_na=False)
    for row in relatives.itertuples():
        assert (row.model, row.base) in PRINTED.distinct(row.table, "model", "base")


# --- the ledger ----------------------------------------------------------------------------------


def test_every_claim_can_come_out_otherwise(claims, answering, tmp_path):
    """For every claim there is a model of which it does not hold."""
    (subject,) = chapters.subjects([QWEN], FROZEN_RECORDS)
    subject = replace(subject, path=tmp_path / f"{QWEN}.parquet")
    benign = wrong_where(lambda row: row["relation"] in ("MR1", "MR3"))
    held = set()
    for say in (truth, benign):
        records = answering(say).records
        write_records(tmp_path / "metara" / f"{QWEN}.parquet", records)
        found = ledger.evaluate(claims, [subject], None)
        held |= {(each.claim.id, say is truth) for each in found if each.word == "holds"}
    assert not [each.id for each in claims if {(each.id, True), (each.id, False)} <= held]
