"""What chapters compute beside the evaluation: sizes, shared rows, contrasts, words for results."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.edge.chapters import models as edge_models
from sci_book.papers.oric.rft import result as rft
from sci_book.papers.sci.chapters import nonrobust_share, subset_sizes
from sci_book.papers.shared import chapters
from sci_book.pipeline import findings
from sci_book.resources import FROZEN_RECORDS
from sci_book.results import places
from sci_book.results.metrics import KINDS
from sci_book.results.records import Records, RecordsError, build_table, write_records
from sci_book.results.statistics import Interval
from tests.report.pair_records import LLAVA, PAIR, QWEN, records_of

FIGURE = "Figure 1(c)"


def test_subjects_know_what_the_paper_calls_them(folder):
    found = chapters.subjects([QWEN, "mine", "hub"], folder)
    assert [each.label for each in found] == ["Qwen2-VL", None, "Qwen2-VL"]
    assert [each.shown for each in found] == ["pocket Qwen2-VL", "mine", "Qwen2-VL, run here"]
    assert [each.brief for each in found] == ["Qwen2-VL", "mine", "hub"]
    assert chapters.labelled(found, "Qwen2-VL") is found[0]
    assert chapters.labelled(found, "LLaVA-NeXT") is None
    assert chapters.side(found[:1]) == "pocket" and chapters.side(found) == "run here"
    assert "records" in repr(chapters.stamp_of(found))


def test_a_model_may_be_named_by_its_path_and_records_lie_here_or_in_the_repository(
    folder, tmp_path, monkeypatch
):
    (named,) = chapters.subjects([f"checkpoints/{QWEN}"], folder)
    assert named.name == QWEN
    monkeypatch.chdir(tmp_path)
    (frozen,) = chapters.subjects([QWEN], "data_manifests/records")
    assert frozen.path == FROZEN_RECORDS / f"{QWEN}.parquet"


@pytest.mark.parametrize(
    "path",
    [
        "/cache/models--me--{}/snapshots/0123456789abcdef",
        "cache/models--me--{}/snapshots/main/",
        "/weights/{}/",
        "me/{}",
    ],
)
def test_every_look_up_of_a_models_records_knows_the_same_names(path, tmp_path):
    named = path.format(QWEN)
    assert [each.name for each in chapters.subjects([named], FROZEN_RECORDS)] == [QWEN]
    assert [each.name for each in findings.named(named, FROZEN_RECORDS)] == [QWEN]
    found = chapters.companions([named], FROZEN_RECORDS, "cvqa", "C-VQA")
    assert [each.name for each in found.subjects] == [QWEN] and not found.absent
    assert edge_models.read([named], FROZEN_RECORDS).full[0].name == QWEN
    assert rft.file_of(named, tmp_path) == tmp_path / f"{QWEN}.json"
    whole = records_of(QWEN)
    write_records(tmp_path / "r.parquet", replace(whole, stamp={**whole.stamp, "model": named}))
    assert places.models_at(tmp_path / "r.parquet") == [QWEN]


def test_validation_rows_may_have_records_of_their_own(tmp_path):
    whole = records_of(QWEN)
    stamp = {**whole.stamp, "prompts": "p"}
    write_records(tmp_path / f"{QWEN}.parquet", replace(whole, stamp=stamp))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    validation = np.flatnonzero(chapters.split(subject.records) == "validation")
    assert subject.tuned.records.table.equals(subject.records.take(validation).table)

    more = {**stamp, "methods": [*stamp["methods"], {"name": "one more"}]}
    beside = tmp_path / "validation" / f"{QWEN}.parquet"
    part = whole.take(validation)
    built = [row | {f"{k}:one more": None for k in ("tokens", "text", "parsed")}
             for row in part.table.to_pylist()]  # fmt: skip
    table = build_table(built, [*part.policies, "one more"])
    write_records(beside, Records(table, more, part.pieces))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    assert "one more" in subject.tuned.records.policies and subject.tuned.path == beside

    for change, told in (({"revision": "x"}, "other revision"), ({"prompts": "x"}, "other prompt")):
        write_records(beside, Records(table, {**more, **change}, part.pieces))
        (subject,) = chapters.subjects([QWEN], tmp_path)
        with pytest.raises(RecordsError, match=told):
            _ = subject.tuned
    write_records(beside, Records(table.slice(1), more, part.pieces))
    with pytest.raises(RecordsError, match="other rows"):
        _ = chapters.subjects([QWEN], tmp_path)[0].tuned


def test_trainings_are_the_records_in_the_folders_of_seeds_beside(tmp_path):
    whole = records_of(QWEN)
    for seed, few in ((1, whole.answers_alone()), (12, whole), ("s", whole)):
        write_records(tmp_path / f"seed{seed}" / f"{QWEN}.parquet", few)
    for name in (QWEN, LLAVA):
        write_records(tmp_path / f"{name}.parquet", records_of(name))
    qwen, llava = models = chapters.subjects([QWEN, LLAVA], tmp_path)
    assert [each.seed for each in qwen.trainings] == [0, 1, 12] and llava.trainings == [llava]
    by_seed = chapters.by_seed(models)
    assert {seed: [each.name for each in found] for seed, found in by_seed.items()} == {
        0: [QWEN, LLAVA], 1: [QWEN], 12: [QWEN],
    }  # fmt: skip
    assert all(each.trainings == [each] for found in by_seed.values() for each in found)
    first, second = by_seed[0][0], by_seed[1][0]
    np.testing.assert_array_equal(first.right("VCD"), second.right("VCD"))  # from answers alone
    write_records(tmp_path / "seed1" / f"{QWEN}.parquet", whole.take(np.arange(9)))
    second = chapters.subjects([QWEN], tmp_path)[0].trainings[1]
    assert second.ordinary is None and len(second.records.frame) == 9  # judged on its own


def test_two_models_of_one_family_keep_apart(folder):
    twins = chapters.subjects([QWEN, "seed1"], folder)
    assert [each.label for each in twins] == ["Qwen2-VL", "Qwen2-VL"]
    assert [each.brief for each in twins] == ["Qwen2-VL", "seed1"]
    assert [each.shown for each in twins] == ["pocket Qwen2-VL", "pocket Qwen2-VL (seed1)"]
    sets = {each.name: each.sets("any", "rows") for each in twins}
    bars = nonrobust_share.shared_bars(twins, sets)
    assert list(bars["here"]) == ["Qwen2-VL alone", "both", "seed1 alone"]


def test_subjects_refuse_nothing_absent_records_and_other_rows(folder):
    with pytest.raises(ValueError, match="No model is named"):
        chapters.subjects([], folder)
    with pytest.raises(RecordsError, match=r"absent\.parquet holds no records"):
        chapters.subjects(["absent"], folder)
    with pytest.raises(ValueError, match="of different rows"):
        chapters.subjects([QWEN, "cut"], folder)


def test_sets_keep_to_their_part_of_the_split(pair):
    test, validation = (pair[0].sets("any", "rows", part) for part in ("test", "validation"))
    assert test["all"].sum() == 95 and validation["all"].sum() == 24  # one of 120 has an error
    assert not (test["all"] & validation["all"]).any()
    assert (test["overlap"] == (test["B"] & test["S"])).all() and test["overlap"].any()


def test_rows_are_accounted_for(pair):
    table = chapters.rows_table(pair, "any", "rows").frame
    assert table.loc[pair[0].shown].tolist() == ["120", "1", "95", "24"]


def test_a_row_carries_percent_and_a_verdict_only_where_something_is_claimed():
    found = Interval(0.5, 0.4, 0.7, 10, 5)
    plain = chapters.row(found, paper=45.0)
    assert (plain["paper"], plain["reproduced"], plain["low"]) == (45.0, 50.0, 40.0)
    assert plain["verdict"] is None
    assert chapters.row(found, claim="greater")["verdict"] == "holds"
    assert chapters.row(found, claim="less")["verdict"] == "fails"
    assert chapters.row(found, claim="less", fit=False)["verdict"] == "not comparable"
    shown = chapters.levels(pd.DataFrame([plain]), name="t", caption="c", ours="pocket")
    assert list(shown.frame.columns) == ["paper", "pocket", "ours − paper", "n", "95 % interval"]


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "inconclusive"], "inconclusive"),
        (["not comparable", "holds"], "not comparable"),
        (["inconclusive", "fails", "holds"], "fails"),
        ([], "not comparable"),
    ],
)
def test_a_claim_of_several_parts_is_no_better_than_its_worst(verdicts, whole):
    assert chapters.overall(verdicts) == whole


def test_words_follow_the_sign():
    assert chapters.gain(3.214) == "gains 3.21 points"
    assert chapters.gain(-3.214) == "loses 3.21 points"
    assert chapters.gain(-0.004) == "neither gains nor loses"
    assert chapters.gain(float("nan")) == "has no row"
    line = chapters.row(Interval(-0.1, -0.2, -0.05, 1234, 9), claim="greater")
    text = chapters.finding("SCI5 − VCD", line)
    assert text == "SCI5 − VCD: −10.00 points, interval [−20.00, −5.00], 1,234 rows: *fails*"
    empty = chapters.row(Interval(np.nan, np.nan, np.nan, 0, 0), claim="greater")
    assert "not comparable" in chapters.finding("x", empty)


def test_sizes_count_rows_beside_the_papers(pair, sets):
    frame = subset_sizes.sizes(pair[0], sets[QWEN])
    mcq = (pair[0].records.frame["question_type"] == "mcq").to_numpy()
    inside = sets[QWEN]["B"].to_numpy() & mcq
    line = frame.loc["B, MCQ"]
    assert line["rows"] == inside.sum() and line["n"] == (sets[QWEN]["all"].to_numpy() & mcq).sum()
    assert line["reproduced"] == pytest.approx(100 * line["rows"] / line["n"])
    assert line["paper rows"] == 1080 and line["paper"] == pytest.approx(100 * 1080 / 10632)
    for kind in KINDS:
        part = frame["rows"]
        assert part[f"BS, {kind}"] == (
            part[f"B, {kind}"] + part[f"S, {kind}"] - part[f"overlap, {kind}"]
        )
    table = subset_sizes.size_table(pair[0], frame, name="t", caption="c")
    assert table.frame.loc["B, Overall", ("rows", "paper")] == "1407"
    assert table.frame.loc["B, Overall", ("rows", "pocket")] == str(sets[QWEN]["B"].sum())


def test_sizes_of_a_model_the_paper_lacks_stand_alone(folder):
    mine = chapters.subjects(["mine"], folder)[0]
    frame = subset_sizes.sizes(mine, mine.sets("any", "rows"))
    assert frame["paper"].isna().all() and frame["rows"].gt(0).any()


def test_statements_are_paired_differences_of_shares(pair, sets):
    frame = subset_sizes.statements(pair, PAIR, "any", "rows")
    paper = subset_sizes.paper_numbers(pair, PAIR)
    assert sorted(round(value, 2) for value in paper.values()) == [-11.43, 6.37, 7.73]
    page = findings.of_page("table01_fig01c_sizes", pair)
    assert set(paper) == {
        (finding.model, part) for finding in page if finding.claim.leads not in ("", FIGURE)
        for part, *_ in finding.parts
    }  # fmt: skip
    share = {(name, s): 100 * sets[name][s].sum() / 95 for name in sets for s in ("B", "S", "BS")}
    expected = [
        share[QWEN, "BS"] - share[LLAVA, "BS"],
        share[QWEN, "B"] - share[QWEN, "S"],
        share[LLAVA, "S"] - share[QWEN, "S"],
    ]
    assert frame["reproduced"].tolist() == pytest.approx(expected)


def test_statements_about_an_absent_model_are_not_comparable(pair):
    alone = subset_sizes.statements(pair[:1], PAIR, "any", "rows")["verdict"].tolist()
    assert alone[0] == alone[2] == "not comparable" and alone[1] != "not comparable"


def test_floors_look_at_the_validation_rows(pair):
    frame = subset_sizes.floors(pair[0], "rows", "any")
    sets = pair[0].sets("any", "rows", "validation")
    assert frame["rows"].sum() == sets["B"].sum() + sets["S"].sum()
    assert set(frame["reached"]) == {"no"} and frame["floor"].tolist() == [125, 50, 125, 50]


def test_lift_is_one_for_independent_masks_and_the_inverse_share_for_equal_ones():
    one, other = np.repeat([True, False], 50), np.tile([True, False], 50)
    clusters = np.arange(100)
    found = nonrobust_share.lift(one, other, clusters)
    assert found.estimate == pytest.approx(1) and found.low < 1 < found.high
    assert (found.n, found.clusters) == (100, 100)
    assert nonrobust_share.lift(one, one, clusters).estimate == pytest.approx(2)
    assert nonrobust_share.lift(one, one & ~one, clusters).n == 0


def test_shared_rows_stand_beside_the_papers_in_either_order(pair, sets):
    frame = nonrobust_share.shared(pair, sets)
    both = sets[QWEN]["BS"] & sets[LLAVA]["BS"]
    assert frame.loc["both", "reproduced"] == pytest.approx(100 * both.sum() / 95)
    page = findings.of_page("table01_fig01c_sizes", pair)
    (own,) = (each for each in findings.leading(page, FIGURE) if each.model == QWEN)
    assert own.interval.estimate == pytest.approx(both.sum() / sets[QWEN]["BS"].sum())
    paper = nonrobust_share.paper_numbers(pair)
    assert paper[QWEN, own.part] == pytest.approx(100 * 7.34 / (100 * 1756 / 13251))
    assert frame.loc["both, times independence", "paper"] == pytest.approx(2.2445, abs=1e-3)
    assert nonrobust_share.paper_numbers(pair[::-1]) == paper
    assert nonrobust_share.shared(pair[:1], sets)["n"].tolist() == [0]
    alone = findings.of_page("table01_fig01c_sizes", pair[:1])
    assert findings.verdict_of(alone, FIGURE) == "not comparable"


def test_parts_of_bs_add_up(pair, sets):
    frame = nonrobust_share.failures(pair, sets)
    for name in ("Qwen2-VL", "LLaVA-NeXT"):
        for column in ("paper", "reproduced"):
            parts = [
                frame.loc[f"{name}: {part}", column] for part in ("B only", "S only", "B and S")
            ]
            assert sum(parts) == pytest.approx(frame.loc[f"{name}: BS", column])
    assert frame.loc["LLaVA-NeXT: BS", "paper"] == pytest.approx(24.68, abs=0.005)
