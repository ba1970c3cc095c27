"""What chapters share: the models they read, rows of tables, words for results."""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.edge.chapters import models as edge_models
from sci_book.papers.oric.rft import result as rft
from sci_book.papers.shared import chapters, sweeps
from sci_book.pipeline import findings
from sci_book.resources import FROZEN_RECORDS
from sci_book.results import places
from sci_book.results.records import Records, RecordsError, build_table, write_records
from sci_book.results.statistics import Interval
from sci_core.methods import ICD
from tests.papers.shared.drawn_records import drawn_records
from tests.papers.shared.pair_records import LLAVA, QWEN, records_of


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


def further_of(whole, spoilt):
    """Records of these rows in another order, of ICD alone, which answers as V1 does."""
    rows = [
        {key: value for key, value in row.items() if ":" not in key}
        | {"nodes": [], "error": "RowError" if place == spoilt else None}
        | {f"{kind}:{policy}": row[f"{kind}:V1"]
           for kind in ("tokens", "text", "parsed") for policy in ("original", "confused", "ICD")}
        for place, row in enumerate(whole.table.to_pylist())
    ]  # fmt: skip
    policies = ["original", "confused"]
    stamp = {**whole.stamp, "rounds": policies, "methods": [asdict(ICD)]}
    return Records(build_table(rows[::-1], [*policies, "ICD"]), stamp, {})


def test_further_records_hold_methods_that_a_models_own_do_not(tmp_path):
    whole = drawn_records(QWEN)
    write_records(tmp_path / f"{QWEN}.parquet", whole)
    (before,) = chapters.subjects([QWEN], tmp_path)
    assert not before.holds(ICD) and not before.holds("confused")
    spoilt = int(np.flatnonzero(whole.ok)[3])
    beside = tmp_path / "further" / f"{QWEN}.parquet"
    write_records(beside, further := further_of(whole, spoilt))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    expected = before.right("V1").copy()
    expected[spoilt] = np.nan
    assert np.isnan(expected).sum() < len(expected) / 2
    for name in (ICD, "ICD", "confused", replace(ICD, name="another name")):
        np.testing.assert_array_equal(subject.right(name), expected)
    np.testing.assert_array_equal(sweeps.outcome(subject, ICD).read, expected == 1)
    np.testing.assert_array_equal(subject.right("base"), before.right("base"))  # its own
    few = subject.with_records(subject.records.take(np.arange(5, 20)))
    np.testing.assert_array_equal(few.right(ICD), expected[5:20])
    assert not subject.holds(replace(ICD, beta=0.5)) and not subject.holds("none")
    for other, told in (
        (replace(further, stamp={**further.stamp, "revision": "x"}), "other revision"),
        (further.take(np.arange(9)), "other rows"),
    ):
        write_records(beside, other)
        (subject,) = chapters.subjects([QWEN], tmp_path)
        with pytest.raises(RecordsError, match=f"{told}. Make .* --methods ICD,VDD"):
            subject.right(ICD)
        assert subject.holds("SCI5")


def test_trainings_are_the_records_in_the_folders_of_seeds_beside(tmp_path):
    whole = records_of(QWEN)
    for seed, few in ((1, whole.answers_alone()), (12, whole), ("s", whole), ("2old", whole)):
        write_records(tmp_path / f"training{seed}" / f"{QWEN}.parquet", few)
    for name in (QWEN, LLAVA):
        write_records(tmp_path / f"{name}.parquet", records_of(name))
    qwen, llava = models = chapters.subjects([QWEN, LLAVA], tmp_path)
    assert [each.number for each in qwen.trainings] == [0, 1, 12] and llava.trainings == [llava]
    beside = [tmp_path / at / "oric" / f"{QWEN}.parquet" for at in ("training1", ".")]
    for path in beside:
        write_records(path, whole)
    (told,) = chapters.stamp_of(models, beside).frame.loc["records"]
    read = [
        QWEN,
        f"{QWEN} training 1",
        f"{QWEN} training 12",
        LLAVA,
        f"training1/oric/{QWEN}",
        f"oric/{QWEN}",
    ]
    assert [pair.partition(":")[0] for pair in told.split(", ")] == read
    by_training = chapters.by_training(models)
    assert {seed: [each.name for each in found] for seed, found in by_training.items()} == {
        0: [QWEN, LLAVA], 1: [QWEN], 12: [QWEN],
    }  # fmt: skip
    assert all(each.trainings == [each] for found in by_training.values() for each in found)
    first, second = by_training[0][0], by_training[1][0]
    np.testing.assert_array_equal(first.right("VCD"), second.right("VCD"))  # from answers alone
    write_records(tmp_path / "training1" / f"{QWEN}.parquet", whole.take(np.arange(9)))
    second = chapters.subjects([QWEN], tmp_path)[0].trainings[1]
    assert second.ordinary is None and len(second.records.frame) == 9  # judged on its own


def test_the_folder_of_a_seed_is_laid_out_as_the_one_around_it(tmp_path):
    few = records_of(QWEN).take(np.arange(9))
    for folder in ("oric", "training1/oric", "training1", "oric/training2", "training3/edge"):
        write_records(tmp_path / folder / f"{QWEN}.parquet", few)
    (own,) = chapters.companions([QWEN], tmp_path, "oric", "ORIC").subjects
    assert [(each.number, each.path.parent) for each in own.trainings] == [
        (0, tmp_path / "oric"), (1, tmp_path / "training1" / "oric"),
    ]  # fmt: skip


def test_a_companions_records_may_be_those_of_a_further_training_of_the_model(tmp_path):
    """A claim of a companion is asked of each training by itself, in its own folder."""
    for file, made_by in ((QWEN, "qwen2_vl-3"), (LLAVA, "qwen2_vl-3")):
        path = tmp_path / "training3" / "cvqa" / f"{file}.parquet"
        write_records(path, records_of(made_by, rows=12))
    found = chapters.companions([QWEN, LLAVA], tmp_path / "training3", "cvqa", "C-VQA")
    assert [model.name for model in found.subjects] == [QWEN]
    assert found.absent == [
        f"cvqa/{LLAVA}.parquet holds the records of qwen2_vl-3, not of {LLAVA}."
    ]


def test_models_without_records_of_a_companion_are_named_and_left_out(tmp_path):
    for file, model in (("mine", "mine"), ("stolen", "other")):
        write_records(tmp_path / "cvqa" / f"{file}.parquet", records_of(model, rows=12))
    (tmp_path / "cvqa" / "broken.parquet").write_bytes(b"PAR1 no")
    models = ["mine", "absent", "stolen", "broken", "mine"]
    found = chapters.companions(models, tmp_path, "cvqa", "C-VQA")
    assert [model.name for model in found.subjects] == ["mine"] and len(found.absent) == 3
    text = chapters.absences(found)
    assert "absent has no records of C-VQA (cvqa/absent.parquet)" in text
    assert "cvqa/stolen.parquet holds the records of other, not of stolen" in text
    assert "broken" in text and "is no file of records" in text and str(tmp_path) not in text
    assert chapters.absences(chapters.companions(["mine"], tmp_path, "cvqa", "C-VQA")) == ""


def test_two_models_of_one_family_keep_apart(folder):
    twins = chapters.subjects([QWEN, "seed1"], folder)
    assert [each.label for each in twins] == ["Qwen2-VL", "Qwen2-VL"]
    assert [each.brief for each in twins] == ["Qwen2-VL", "seed1"]
    assert [each.shown for each in twins] == ["pocket Qwen2-VL", "pocket Qwen2-VL (seed1)"]


def test_subjects_refuse_nothing_absent_records_and_other_rows(folder):
    with pytest.raises(ValueError, match="No model is named"):
        chapters.subjects([], folder)
    with pytest.raises(RecordsError, match=r"absent\.parquet holds no records"):
        chapters.subjects(["absent"], folder)
    with pytest.raises(ValueError, match="of different rows"):
        chapters.subjects([QWEN, "cut"], folder)


def test_numbers_tell_the_groups_of_all_records_apart(pair):
    names, numbers = (np.concatenate([getattr(each, kind) for each in pair])
                      for kind in ("groups", "clusters"))  # fmt: skip
    assert (pd.factorize(numbers)[0] == pd.factorize(names)[0]).all() and len(set(numbers)) > 9


def test_sets_keep_to_their_part_of_the_split(pair):
    test, validation = (pair[0].sets("any", "rows", part) for part in ("test", "validation"))
    assert test["all"].sum() == 95 and validation["all"].sum() == 24  # one of 120 has an error
    assert not (test["all"] & validation["all"]).any()
    assert (test["overlap"] == (test["B"] & test["S"])).all() and test["overlap"].any()


def test_rows_are_accounted_for(pair):
    table = chapters.rows_table(pair, "any", "rows").frame
    assert table.loc[pair[0].shown].tolist() == ["120", "1", "95", "24"]


def test_a_row_carries_percent_and_no_verdict():
    plain = chapters.row(Interval(0.5, 0.4, 0.7, 10, 5), paper=45.0)
    assert (plain["paper"], plain["reproduced"], plain["low"]) == (45.0, 50.0, 40.0)
    assert plain["verdict"] is None


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


@pytest.mark.parametrize(
    ("compared", "changed", "contradicted", "word"),
    [
        (False, True, True, "not comparable"),
        (True, False, False, "holds"),
        (True, True, False, "inconclusive"),
        (True, True, True, "fails"),
    ],
)
def test_a_choice_decides_only_where_it_turns_a_verdict_over(compared, changed, contradicted, word):
    found = chapters.unchanged(compared=compared, changed=changed, contradicted=contradicted)
    assert found == word


def test_words_follow_the_sign():
    assert chapters.gain(3.214) == "gains 3.21 points"
    assert chapters.gain(-3.214) == "loses 3.21 points"
    assert chapters.gain(-0.004) == "neither gains nor loses"
    assert chapters.gain(float("nan")) == "has no row"
    line = chapters.row(Interval(-0.1, -0.2, -0.05, 1234, 9)) | {"verdict": "fails"}
    text = chapters.finding("SCI5 − VCD", line)
    assert text == "SCI5 − VCD: −10.00 points, interval [−20.00, −5.00], 1,234 rows: *fails*"
    empty = chapters.row(Interval(np.nan, np.nan, np.nan, 0, 0))
    assert "not comparable" in chapters.finding("x", empty)
