"""MetaRA's chapters and claims: rates of known answers, originals as clusters, other outcomes."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from sci_book.data.datasets import load_dataset
from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import (
    answers,
    difficulty,
    effects,
    gallery,
    measures,
    models,
    ranking,
    relations,
    tasks,
)
from sci_book.papers.metara.chapters.answers import METHODS, Answers, less, mean, rows_of, weighted
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.printed import PRINTED
from sci_book.papers.metara.relations import make_cases
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import PAPER, Subject
from sci_book.pipeline import ledger, verdicts
from sci_book.pipeline.claims import load_claims
from sci_book.results.records import write_records
from sci_book.results.statistics import NO_DATA
from tests.report.metara_answers import saying, truth, value, wrong_where

ROOT = Path(__file__).resolve().parents[2]
FROZEN = ROOT / "data_manifests" / "records"
QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SETS = yaml.safe_load((ROOT / "data_manifests/datasets/pocket_metara.yaml").read_text())["parts"]


@pytest.fixture(scope="module")
def frozen():
    paper.draw(say=lambda _: None)
    return answers.subjects([QWEN, LLAVA], FROZEN).subjects


@pytest.fixture(scope="module")
def rows(frozen):
    """Every row that was drawn, with its data set."""
    sets = {name: rows_of(name.removeprefix(f"{answers.PREFIX}_")) for name in SETS}
    return pd.concat([frame.assign(set=name) for name, frame in sets.items()], ignore_index=True)


@pytest.fixture(scope="module")
def answering(frozen, rows):
    """Makes a model's answers of `say(method, row)`, and its errors of `error(row)`."""
    return lambda say, **error: Answers(saying(frozen[0], rows, say, **error))


@pytest.fixture(scope="module")
def claims():
    return [claim for claim in load_claims() if claim.paper == "metara"]


# --- records and rows ----------------------------------------------------------------------------


def test_the_frozen_records_are_whole(frozen):
    assert [each.name for each in frozen] == [QWEN, LLAVA]
    dataset = load_dataset(paper.SET)
    for one in map(Answers, frozen):
        frame = one.subject.records.frame
        assert len(frame) == len(dataset) == 2_607 and frame["error"].isna().all()
        assert one.left["knowledge: originals"] == one.left["text: originals"] == 72
        assert one.orders["original"].nunique() == 2 * paper.ON_SHEETS
        for task in answers.TASKS.values():
            composed = set(one.violations(task)["group"])
            assert len(composed) == paper.IN_PARTS
            assert composed <= set(one.rate("absolute", task)["group"])
    assert {row.group.split(":")[0] for row in dataset} == {"pocket_metara"}


def test_models_without_records_are_named_and_left_out(frozen):
    found = answers.subjects([QWEN, "pocket-qwen2vl-small"], FROZEN)
    assert [each.name for each in found.subjects] == [QWEN] and len(found.absent) == 1
    made = answers.answers(found.subjects)
    assert "pocket-qwen2vl-small" in answers.absences(found, made)


def test_records_of_a_few_originals_or_of_another_set(frozen):
    frame = frozen[0].records.frame
    few = frame["group"].isin(sorted(set(frame["group"]))[:90])  # every knowledge, 18 of text
    one = Answers(replace(frozen[0], records=frozen[0].records.take(few.to_numpy())))
    assert 0 < len(one.rate("absolute", "text")) < 72
    assert answers.answers([one.subject])
    alone = frame["dataset"] == "pocket_metara_text"
    one = Answers(replace(frozen[0], records=frozen[0].records.take(alone.to_numpy())))
    assert not one.left["knowledge: originals"] and not answers.answers([one.subject])
    assert one.subject.shown in answers.absences(chapters.Found([one.subject], [], "MetaRA"), [])
    assert not len(one.violations("text")) and difficulty.ordered(one, "text") is None
    assert ranking.agree(one, "text") is None and ranking.tau(one, "text") is NO_DATA


def test_rows_with_an_error_are_left_out_and_counted(frozen, answering):
    def broken(row):
        own = row["original"] == "text_00001" and row["relation"] == "original"
        return "SomeError" if own or row["composition"] == 0 or row["order"] == 1 else None

    one = answering(truth, error=broken)
    assert one.left["with an error"] > 2
    assert len(one.rate("absolute", "text")) == 71
    assert not len(one.orders)  # an order is missing in every sequence
    whole = Answers(frozen[0]).violations("knowledge")
    assert len(one.violations("knowledge")) == len(whole) - 1


# --- rates ---------------------------------------------------------------------------------------


def test_three_rates_have_their_known_answers(answering):
    right = answering(truth)
    same = answering(lambda method, row: "always")
    last = answering(wrong_where(lambda row: row["relation"] == "MR4"))
    for task in answers.TASKS.values():
        for rate in ("absolute", "conditional", "consistency"):
            assert value(mean("", right.rate(rate, task))) == 0
            assert value(mean("", last.rate(rate, task, relation="MR4"))) == 1
            assert value(mean("", last.rate(rate, task, relation="MR1"))) == 0
        assert value(mean("", right.rate("robust", task))) == 1
        assert value(mean("", same.rate("absolute", task))) == 1
        assert value(mean("", same.rate("consistency", task))) == 0
        assert mean("", same.rate("conditional", task)).interval is NO_DATA
        assert value(models.hidden(right, task)) == 0
        # An original without a free place for a text has no MR4 case, and nothing to hide.
        assert value(models.hidden(last, task)) > 0.8


def test_unknown_answers_are_failures_and_counted(answering):
    silent = answering(lambda method, row: None)
    assert silent.left["text: unknown"] == 72
    assert value(mean("", silent.rate("absolute", "text"))) == 1
    assert not len(silent.rate("consistency", "text"))


def test_originals_are_what_is_drawn_again(frozen):
    one = Answers(frozen[1])
    found = mean("", one.rate("absolute", "knowledge")).interval
    assert found.n == found.clusters == 72
    paired = effects.change(one, "SCI5", "absolute", "knowledge").interval
    assert paired.n == 72  # of the same originals, drawn for both methods at once
    both = tasks.gap(one).interval
    assert both.n == sum(len(one.rate(answers.FR, task)) for task in tasks.TASKS.values())


def frame_of(values, groups):
    return pd.DataFrame({"value": np.array(values, float), "group": groups})


def test_a_contrast_is_a_sum_of_weighted_means():
    first, second = frame_of([1, 0], ["a", "b"]), frame_of([0.5, 0, 0.25], ["a", "b", "c"])
    found = less("x", first, second).interval
    assert found.estimate == 0.25 and found.n == 3
    assert value(weighted("x", [(0.5, first), (0.5, second), (-1.0, first)])) == -0.125
    assert less("x", first, second.iloc[:0]).interval is NO_DATA
    alike = less("x", first, first).interval
    assert alike.estimate == 0 and np.isnan(alike.low)  # nothing that could differ
    few = mean("x", frame_of([1] * answers.FEWEST, [0, *range(answers.FEWEST - 1)])).interval
    assert few.estimate == 1 and np.isnan(few.low)  # too few originals to say how sure it is
    assert chapters.row(few, claim="greater")["verdict"] == "inconclusive"
    certain = mean("x", frame_of([1] * 20, list(range(20)))).interval
    assert certain.estimate == 1 and 0.8 < certain.low < 1


def test_pairs_of_one_original_move_together():
    lot = np.random.default_rng(0)
    shared, groups = lot.random(60), list(range(60))
    first, second = frame_of(shared + 0.1, groups), frame_of(shared, groups)
    found = less("x", first, second).interval
    assert found.high - found.low < 1e-9 or np.isnan(found.low)
    apart = less("x", first, frame_of(shared, [f"other {g}" for g in groups])).interval
    assert apart.high - apart.low > 0.1


# --- chapters ------------------------------------------------------------------------------------


def test_a_sentence_about_relations_is_all_its_pairs(claims, answering):
    local = answering(wrong_where(lambda row: row["relation"] in ("MR2", "MR4")))
    (claim,) = (one for one in claims if one.id == "metara-local-higher")
    pairs = measures.between(local, **claim.arguments)
    assert {value(part) for part in pairs} == {1}
    assert {part.what for part in pairs} == {
        f"{task}: {first} less {second}"
        for task in ("knowledge", "text")
        for first in ("MR2", "MR4")
        for second in ("MR1", "MR3")
    }
    assert value(relations.particularly(local, "MR2", "MR1")) == 0


def test_relations_are_compared_on_originals_that_have_both(frozen):
    one = Answers(frozen[0])
    first, second = relations.on_common_originals(one, "knowledge", "MR4", "MR1")
    assert list(first["original"]) == list(second["original"])
    assert len(first) < len(one.rate(answers.FR, "knowledge", relation="MR1"))
    text, knowledge = (
        value(relations.between(one, t, "MR4", "MR1")) for t in ("text", "knowledge")
    )
    assert value(relations.particularly(one, "MR4", "MR1")) == pytest.approx(text - knowledge)


def test_what_rests_on_the_mirror_is_gone_without_it(answering):
    one = answering(wrong_where(lambda row: row["operation"] == "mirror"))
    assert value(tasks.gap(one)) > 0
    assert value(tasks.gap(one, over=answers.UNMIRRORED)) == 0
    assert value(models.hidden(one, "text")) == 1
    assert value(models.hidden(one, "text", relation=answers.UNMIRRORED)) == 0


def test_no_wording_goes_with_a_relation(rows):
    asked = rows[rows["set"] == "pocket_metara_knowledge"]
    mine = asked[asked["relation"] != "original"]
    reordered = mine["question"].eq("This is what place?").groupby(mine["relation"]).sum()
    assert len(reordered) == 4 and reordered.min() > 0


def test_the_mirror_is_judged_on_the_signs_that_it_changes(answering):
    def disrupted(row):
        return row["operation"] == "mirror" and row["truth"] not in answers.SAME_IN_A_MIRROR

    assert value(relations.mirrored(answering(wrong_where(disrupted)))) == 1
    always = answering(wrong_where(lambda row: row["operation"] == "mirror"))
    assert value(relations.mirrored(always)) == 0


def test_a_hard_family_is_no_evidence_for_the_difficulty(answering):
    hard = {task: difficulty.originals(task) for task in ("knowledge", "text")}
    names = {name for about in hard.values() for name in about.index[about["harder"]]}
    one = answering(wrong_where(lambda row: row["original"] in names))
    assert value(difficulty.harder(one, "knowledge")) == value(difficulty.harder(one, "text")) == 1
    place = set(hard["knowledge"].index[hard["knowledge"]["family"] == "What place"])
    one = answering(wrong_where(lambda row: row["original"] in place))
    assert value(mean("", one.rate("absolute", "knowledge"))) == pytest.approx(1 / 3)
    assert value(difficulty.harder(one, "knowledge")) == 0


def test_rankings_that_agree_and_that_do_not(answering):
    numbers = {name: place for place, name in enumerate(METHODS)}

    def worse(sign):
        """Later methods fail more cases, and violate more or fewer relations."""

        def say(method, row):
            lot = sum(map(ord, f"{row['original']}{row['relation']}{row['number']}")) % 7
            composed = 0 if pd.isna(row["composition"]) else int(row["composition"]) % 7
            if "metavqa" in row["dataset"]:
                bad = composed < (numbers[method] if sign > 0 else 6 - numbers[method])
                return None if bad else {"yesno": "no", "number": "0", "short": "red"}[row["kind"]]
            failing = row["relation"] != "original" and lot < numbers[method]
            return "wrong" if failing else row["truth"]

        return say

    agreeing = ranking.agree(answering(worse(1)), "text")
    assert agreeing.tau.estimate == 1
    assert [agreeing.first[name] for name in METHODS] == [1, 2, 3, 4, 5, 6, 7]
    assert ranking.agree(answering(worse(-1)), "text").tau.estimate == -1
    constant = answering(truth)
    assert ranking.tau(constant, "text") is NO_DATA  # all tie: there is no ranking


def test_the_papers_own_rates_do_not_rank_as_its_ranks_say():
    frame = ranking.paper_table().frame
    assert frame["tau"]["printed ranks"] == "1.00"
    assert all(frame["tau"][f"{name}: printed FR"].startswith("−") for name in ("E-VQA", "TextVQA"))


def test_the_order_changes_answers_or_does_not(answering):
    still = answering(truth)
    first = answering(wrong_where(lambda row: row["position"] == 0))
    for task in ("knowledge", "text"):
        assert difficulty.ordered(still, task).changed.estimate == 0
        assert difficulty.ordered(still, task).variance.estimate == 0
        assert difficulty.ordered(first, task).changed.estimate > 0.3


def test_a_method_that_fails_less_lowers_every_rate(answering):
    def say(method, row):
        failing = row["relation"] == "MR1" and row["original"][-1] in "02468"
        return "wrong" if failing and method != "SCI5" else row["truth"]

    one = answering(say)
    found = effects.family([one])
    for part in measures.change(one, "SCI5", list(RATES), ["knowledge", "text"]):
        assert part.interval.high < 0
    others = found[one.subject.name].filter(regex="(?<!SCI5)$", axis=0)
    assert set(others["verdict"]) == {"inconclusive"} and (others["reproduced"] == 0).all()
    assert "fails less on 6 by its interval, 6 by p too" in effects.beyond([one], found)
    lead = SimpleNamespace(title="mine", model=one.subject.name, part="text, absolute, SCI5")
    said = effects.tested([lead], found)
    assert "over all 36 lines of this page is 0.0" in said and "for mine (text, absolute)." in said
    assert effects.tested([], found) == ""
    assert effects.moved(one).count("36 of 72 originals") == 2


def test_what_a_relation_promises_is_seen_to_be_broken():
    asked = [*gallery.originals("knowledge", 6), *gallery.originals("text", 6)]
    cases = make_cases(asked, 3).cases
    assert set(gallery.promises(cases)["verdict"]) == {"holds"}
    assert gallery.identities(3) == {"knowledge": 0, "text": 0}
    other = asked[1].image.rotate(90)
    broken = gallery.promises([case._replace(image=other, question="What?") for case in cases])
    assert broken["verdict"].value_counts()["fails"] >= 5
    assert set(gallery.promises([])["verdict"]) == {"not comparable"}


def test_every_table_is_made_without_models_and_every_figure_with_some(frozen):
    made = answers.answers(frozen)
    family = effects.family(made)
    for some, lines in ((made, family), ([], effects.family([]))):
        assert len(tasks.table05(some).frame) == 1 + len(some)
        for task in answers.TASKS:
            assert len(models.columns_table(some, task).frame) > 10
        assert effects.beyond(some, lines).startswith("Of all" if some else "")
    assert len(difficulty.level_table(made).frame) == 18 * len(made)
    assert len(effects.alone_table(made).frame) == 14 * len(made)
    for draw in (
        models.draw, tasks.draw, relations.draw_heat, relations.draw_bars, difficulty.draw,
        ranking.draw, partial(effects.draw, frames=family),
    ):  # fmt: skip
        draw(made[:1])  # nbval draws them with both


def test_few_changes_that_all_point_one_way_do_not_decide(answering):
    """The interval lies above zero, and an exact test of four changes cannot."""
    few = {f"text_{number:05d}" for number in range(4)}

    def say(method, row):
        failing = row["original"] in few and row["relation"] == "MR1" and method == "SCI3"
        return "wrong" if failing else row["truth"]

    assert effects.p_value(answering(say), "SCI3", "absolute", "text") > 0.1


# --- the ledger ----------------------------------------------------------------------------------


def test_models_of_the_paper_stand_beside_by_name():
    printed = PRINTED
    frame = pd.read_csv(PAPER / "metara_relatives.csv", dtype=str, keep_default_na=False)
    for row in frame.itertuples():
        assert models.relative(row.label, row.table) == {"model": row.model, "base": row.base}
        assert (row.model, row.base) in printed.distinct(row.table, "model", "base")
    assert models.relative(None, "metara_table02") == {}


def test_twelve_claims_and_every_place():
    claims = [each for each in load_claims(own=True) if each.paper == "metara"]
    assert len(claims) >= 12 and {each.measure for each in claims} == set(measures.MEASURES)
    pages = {each.page for each in claims}
    entries = verdicts.load_index("metara")
    assert pages <= {entry["page"] for entry in entries}
    assert verdicts.completeness("metara", pd.DataFrame(entries)) == "holds"
    assert {"Figure A", "Figure B"} <= {entry["place"] for entry in entries}
    for entry in entries:
        assert (ROOT / "notebooks" / f"{entry['page']}.py").is_file(), entry


def test_claims_are_tested_on_the_frozen_records(claims, frozen):
    (subject,) = chapters.subjects([QWEN], FROZEN)
    found = ledger.evaluate(claims, [subject], None)
    assert all(each.verdict != "not comparable" and each.interval.n for each in found)
    assert {each.verdict for each in found} >= {"holds", "fails"}
    assert "pocket Qwen2-VL: *inconclusive*, 0.0005 [" in tasks.spread_line(found)
    absent = replace(subject, path=Path("x/none.parquet"))
    assert tasks.spread_line(ledger.evaluate(claims, [absent], None)) == ""
    assert PAPERS["metara"].evidence([absent], None) == [None]


def test_every_claim_can_come_out_otherwise(claims, answering, tmp_path):
    """For every claim there is a model of which it does not hold."""
    subject = replace(chapters.subjects([QWEN], FROZEN)[0], path=tmp_path / f"{QWEN}.parquet")
    benign = wrong_where(lambda row: row["relation"] in ("MR1", "MR3"))
    held = set()
    for say in (truth, benign):
        records = answering(say).subject.records
        write_records(tmp_path / "metara" / f"{QWEN}.parquet", records)
        found = ledger.evaluate(claims, [subject], None)
        held |= {(each.claim.id, say is truth) for each in found if each.verdict == "holds"}
    assert not [each.id for each in claims if {(each.id, True), (each.id, False)} <= held]


def test_records_are_written_and_read_back(frozen, tmp_path):
    write_records(tmp_path / "metara" / f"{QWEN}.parquet", frozen[0].records)
    (one,) = answers.subjects([QWEN], tmp_path).subjects
    assert isinstance(one, Subject) and one.records.keys == frozen[0].records.keys
