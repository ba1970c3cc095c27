"""C-VQA's chapters on made-up records: pairs, drops, letters, groups, shrinking, and bad input."""

import csv

import numpy as np
import pandas as pd
import pytest

from sci_book.data.datasets import read_manifest
from sci_book.papers.cvqa.chapters import (
    drops,
    groups,
    letters,
    measures,
    pairs,
    shrinking,
)
from sci_book.papers.cvqa.paper import PUZZLES, STEPS, TWIN
from sci_book.papers.shared import chapters
from sci_book.pipeline.claims import load_claims
from sci_book.pocket import what_if
from sci_book.results.records import write_records
from sci_book.results.statistics import verdict
from tests.report.cvqa_records import (
    MODELS,
    NUMBER,
    YES_NO,
    finding_on,
    frozen,
    line,
    numbers,
    puzzles,
    records_of,
    subject_of,
)

# --- the data sets ------------------------------------------------------------------------------


SUFFIX = " Answer the question using a single word or phrase."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pocket_cvqa_real", "{question}" + SUFFIX),
        ("pocket_cvqa_steps", "{question}" + SUFFIX + " Let's think step by step:"),
        ("pocket_cvqa_yesno", "{question} Please answer yes or no."),
    ],
)
def test_the_manifests_ask_as_the_paper_does(name, expected):
    assert read_manifest(name).prompt == expected


def test_the_collection_holds_every_part_that_chapters_read():
    parts = read_manifest("pocket_cvqa").parts
    assert set(parts) == {names[0] for names in pairs.SETS.values()}
    for part in parts:
        assert read_manifest(part).group_prefix in ("pocket_cvqa", "")


def test_the_frozen_records_are_whole():
    assert [each.name for each in frozen()] == MODELS
    for each in frozen():
        assert each.records.ok.all() and each.path.stat().st_size < 2_000_000
        assert len(pairs.of(each, "real")) == sum(TWIN.values())
        assert len(pairs.of(each, "steps")) == sum(STEPS.values())
        assert len(pairs.of(each, "yesno")) == TWIN["boolean"]
        assert len(pairs.of(each, "synthetic")) == 6 * PUZZLES["per_type"]
        assert set(pairs.understood(each).groups) == set(pairs.of(each, "real").groups)


# --- pairs --------------------------------------------------------------------------------------


def test_sides_stay_together_and_a_failed_row_takes_both_out(tmp_path):
    lines = numbers(10)
    lines[3] = line("pocket_cvqa_real", 1, 1, "direct", NUMBER, "3", {}, error="RowError")
    found = pairs.of(subject_of(tmp_path, lines[:-1]), "real")
    assert len(found) == 9  # the last item has lost its counterfactual question
    assert found.ok.tolist() == [True, False, *[True] * 7]
    right = found.right("base")
    assert np.isnan(right[:, 1]).all() and np.nansum(right[0]) == 8
    assert np.nansum(found.drop("base")) == np.nansum(right[0]) - np.nansum(right[1])
    assert not found.unread("base")[:, 1].any()


def test_answers_are_read_by_the_papers_rules(tmp_path):
    lines = [
        line("pocket_cvqa_real", 0, 0, "direct", NUMBER, "0", {"original": "no"}),
        line("pocket_cvqa_real", 0, 1, "direct", NUMBER, "4", {"original": "white boat"}),
        line("pocket_cvqa_real", 1, 0, "boolean", YES_NO, "yes", {"original": "It is."}),
        line("pocket_cvqa_real", 1, 1, "boolean", YES_NO, "no", {"original": "purple"}),
    ]
    found = pairs.of(subject_of(tmp_path, lines), "real")
    assert found.answers("base").tolist() == [["0", "yes"], [None, None]]
    assert found.right("base").tolist() == [[1, 1], [0, 0]]
    assert found.unread("base").tolist() == [[False, False], [True, True]]


def test_booleans_in_a_wording_understood_stand_for_the_papers(tmp_path):
    booleans = [
        line("pocket_cvqa_real", item, side, "boolean", YES_NO, "yes", {"original": "cup"})
        for item in range(5, 10)
        for side in (0, 1)
    ]
    again = [{**each, "dataset": "pocket_cvqa_yesno", "text:original": "yes"} for each in booleans]
    alone = subject_of(tmp_path, numbers(5) + booleans)
    assert pairs.understood(alone).right("base")[:, 5:].sum() == 0
    assert drops.claimed(drops.lines(alone)) == ["direct", "boolean"]
    both = subject_of(tmp_path, numbers(5) + booleans + again, "both")
    assert pairs.understood(both).right("base")[:, 5:].tolist() == [[1] * 5] * 2
    found = drops.lines(both)
    assert found.index.tolist() == ["direct", "boolean", drops.AS_UNDERSTOOD]
    assert drops.claimed(found) == ["direct", drops.AS_UNDERSTOOD]
    assert found.loc["boolean", "unread_original"] == 5


# --- Tables 3 to 5 ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "expected"),
    [((1.0, 0.5), "holds"), ((0.5, 1.0), "fails"), ((0.5, 0.5), "inconclusive")],
)
def test_a_drop_is_claimed_by_its_interval(tmp_path, right, expected):
    subject = subject_of(tmp_path, numbers(60, right=right))
    (row,) = drops.family([subject])["mine"].to_dict("records")
    assert row["drop"] == 100 * (right[0] - right[1]) and (row["p"] < 0.01) == (row["drop"] != 0)
    (part,) = measures.drop(measures.Evidence(subject), ["direct"])
    found = part.interval
    assert verdict(found, claim="greater", margin=0.0) == expected
    assert 100 * found.estimate == row["drop"]
    assert (found.low, found.high) == pytest.approx((row["drop_low"] / 100, row["drop_high"] / 100))
    none, _ = measures.drop(measures.Evidence(subject), ["indirect", "boolean"])
    assert none.interval.n == 0


def test_p_values_are_holms_over_all_models(tmp_path):
    each = [
        subject_of(tmp_path, numbers(30, right=(1.0, share)), f"m{k}")
        for k, share in enumerate((0.3, 0.9))
    ]
    found = drops.family(each)
    raw = [drops.lines(one).loc["direct", "p"] for one in each]
    assert found["m0"].loc["direct", "p"] == pytest.approx(min(1, 2 * min(raw)))
    assert drops.tests(found, each).frame.shape == (1, 2)


def test_the_papers_numbers_stand_beside():
    for each in frozen():
        assert len(drops.relative(each, 3)) == len(drops.relative(each, 4)) == 3
    assert drops.paper_numbers(frozen())["pocket-qwen2vl", "drop of base, direct"] == 34.4
    tenths = drops.tenths(frozen())
    table = drops.tenth_table(frozen()[0], tenths[frozen()[0].name]).frame
    assert table.loc["boolean", "paper"] == "17.90"
    assert 0.05 < table["n"].astype(int).sum() / len(pairs.understood(frozen()[0])) < 0.15


def test_step_by_step_is_paired_with_the_same_items(tmp_path):
    plainly = numbers(30, right=(1.0, 0.5))
    steps = [
        {**each, "dataset": "pocket_cvqa_steps", "text:original": "3"} for each in plainly[:20]
    ]
    each = subject_of(tmp_path, plainly + steps)
    one, other = drops.both_prompts(each)
    assert drops.said(each, "steps").frame.loc["direct", "1"] == "“3” 100 %"
    assert len(one) == len(other) == 10 and one.groups.tolist() == other.groups.tolist()
    direct, boolean = measures.step_gain(measures.Evidence(each), ["direct", "boolean"])
    found = direct.interval
    assert found.n == 10 and found.estimate == found.low == 0 < found.high  # of few, all alike
    assert boolean.interval.n == 0


def test_step_by_step_a_boolean_is_compared_in_one_wording(tmp_path):
    """Behind the sentence stands the paper's wording, so before it, too."""
    asked = numbers(20, kind="boolean", right=(1.0, 0.0))
    steps = [{**each, "dataset": "pocket_cvqa_steps", "text:original": "3"} for each in asked]
    understood = numbers(20, kind="boolean", right=(1.0, 1.0), dataset="pocket_cvqa_yesno")
    each = subject_of(tmp_path, asked + steps + understood)
    plainly, _ = drops.both_prompts(each)
    assert set(plainly.column("dataset").ravel()) == {"pocket_cvqa_real"}
    (gain,) = measures.step_gain(measures.Evidence(each), ["boolean"])
    assert gain.values.mean() == 1


def test_tables_are_shown_as_printed():
    for table, models, first in ((3, 14, "40.3"), (4, 4, "63.2"), (5, 1, "50.4"), (6, 7, "83.8")):
        frame = drops.paper_table(table).frame
        assert frame.shape == (models, 6) and frame.iloc[0, 0] == first


def test_a_line_has_the_same_interval_whatever_other_models_stand_beside(tmp_path):
    def lines(share):
        plainly = numbers(400, right=(1.0, share))
        steps = [{**row, "dataset": "pocket_cvqa_steps"} for row in numbers(400, right=(1.0, 0.8))]
        return plainly + steps

    one, other = (subject_of(tmp_path, lines(share), f"m{k}") for k, share in enumerate((0.3, 0.5)))
    for made in (drops.tenths, drops.steps_lines, drops.family):
        alone, both = (made(some)["m0"].drop(columns="p") for some in ([one], [one, other]))
        pd.testing.assert_frame_equal(alone, both)


def test_baselines_need_no_model():
    frame = drops.baselines(frozen()[0]).frame
    assert frame["right with the original’s answer"].tolist() == ["0.00"] * 3
    assert frame.loc["boolean", "right with it"] == "50.00"


# --- Table 7 ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "said", "at_random", "biased"),
    [
        (80, "DDDD", "inconclusive", "holds"),  # ±9 points
        (800, "DDDD", "holds", "holds"),
        (200, "ABCD", "fails", "fails"),  # always right
        (80, "BCDA", "fails", "fails"),  # worse than chance
    ],
)
def test_letters_against_their_key(tmp_path, count, said, at_random, biased):
    subject = subject_of(tmp_path, puzzles(count, lambda item: said[item % 4]))
    assert finding_on("cvqa-random", subject).verdict == at_random
    finding = finding_on("cvqa-letters", subject)
    assert finding.verdict == biased
    assert f"- mine: *{biased}*. {finding.part[0]} has " in letters.letters_verdict([finding])
    if said == "DDDD":
        assert letters.accuracy_table(subject).frame.iloc[0]["n"] == str(count)
        assert " D has 100.00 % [" in letters.letters_verdict([finding])
        assert letters.shares(subject, 0).loc["D", "answered"] == 100
    without = subject_of(tmp_path, numbers(4), "none")
    assert letters.with_puzzles([subject, without]) == [subject]
    assert letters.letters_verdict([finding_on("cvqa-letters", without)]) == ""


def test_the_papers_own_puzzles_against_chance():
    table = letters.random_level()["against 25 %"]
    assert table.filter(like="FlanT5").eq("below").all()
    assert table.filter(like="Vicuna").eq("not told apart").all()


# --- shrinking ----------------------------------------------------------------------------------


def test_a_method_that_loses_less_shrinks_the_drop(tmp_path):
    each = subject_of(tmp_path, numbers(60, right=(1.0, 0.2), SCI5="3"))
    found = shrinking.family([each])["mine"]
    row = found.loc["SCI5 against base"]
    assert row["reproduced"] == pytest.approx(80) and row["verdict"] == "holds" and row["p"] < 0.01
    assert found.loc["SCI7 against SCI5", "verdict"] == "fails"
    assert found.loc["VCD against base", "verdict"] == "inconclusive"
    table = shrinking.both_sides(each).frame
    assert (
        table.loc["SCI5", "counterfactual"] == "100.00" and table.loc["SCI5", "change"] == "+80.00"
    )
    assert "SCI5 48" in shrinking.moved(each)
    values = shrinking.shrinkage(pairs.understood(each), "SCI5", "base")
    assert values.sum() == 48 and set(values) == {0.0, 1.0}


# --- groups -------------------------------------------------------------------------------------


def test_groups_follow_the_pictures_of_the_file(tmp_path, monkeypatch):
    sizes = {"direct": 12, "indirect": 4, "boolean": 4}
    path = what_if.write(tmp_path / "real", sizes=sizes, say=lambda _: None)
    monkeypatch.setattr(pairs, "file_of", lambda manifest, name: path)
    items = pairs.questions_of("pocket_cvqa_real").items
    lines = [
        line("pocket_cvqa_real", k, side, i.kind, YES_NO if i.kind == "boolean" else NUMBER,
             answer, {"original": answer if not side else "what"})
        for k, i in enumerate(items)
        for side, answer in enumerate((i.original_answer, i.counterfactual_answer))
    ]  # fmt: skip
    each = subject_of(tmp_path, lines)
    label = groups.of_pictures(each, "place")
    with path.with_name(groups.FILE).open() as file:
        indoors = [row["indoors"] == "yes" for row in csv.DictReader(file)]
    assert label.tolist() == ["indoors" if inside else "outdoors" for inside in indoors]
    found = groups.lines(each, "place", "base")
    assert found.index[0] == "indoors" and found["drop"].iloc[0] == 100
    assert found["n"].iloc[-1] == 20 and finding_on("cvqa-groups", each).verdict == "inconclusive"
    other = [{**one, "truth": "99"} for one in lines]
    assert groups.of_pictures(subject_of(tmp_path, other, "elsewhere"), "place") is None


def test_questions_that_were_not_there_are_found_once_they_are(tmp_path, monkeypatch):
    path = tmp_path / "real" / what_if.QUESTIONS
    monkeypatch.setattr(pairs, "file_of", lambda manifest, name: path)
    assert pairs.questions_of("pocket_cvqa_real") is None
    for size in (2, 3):
        path.unlink(missing_ok=True)
        what_if.write(path.parent, sizes={"direct": size}, say=lambda _: None)
        assert len(pairs.questions_of("pocket_cvqa_real").items) == size


# --- bad input ----------------------------------------------------------------------------------


def test_models_without_records_are_named_and_left_out(tmp_path):
    subject_of(tmp_path, numbers(4))
    write_records(tmp_path / "cvqa" / "stolen.parquet", records_of(numbers(4), "other"))
    (tmp_path / "cvqa" / "broken.parquet").write_bytes(b"PAR1 no")
    found = pairs.subjects(["mine", "absent", "stolen", "broken", "mine"], tmp_path)
    assert [each.name for each in found.subjects] == ["mine"] and len(found.absent) == 3
    text = chapters.absences(found)
    assert "absent has no records of C-VQA" in text
    assert "holds the records of other, not of stolen" in text
    assert "broken" in text and "is no file of records" in text and str(tmp_path) not in text
    alone = pairs.subjects(["mine"], tmp_path)
    assert chapters.absences(alone) == ""


def test_records_of_one_type_or_of_another_set_alone(tmp_path):
    """What a chapter calls on them must give a table or a sentence, never a crash."""
    few = [
        subject_of(tmp_path, numbers(6, kind="indirect"), "one"),
        subject_of(tmp_path, puzzles(8, lambda item: "A"), "puzzles"),
        subject_of(tmp_path, numbers(6, dataset="somewhere"), "elsewhere"),
    ]
    found = drops.family(few)
    assert drops.claimed(found["one"]) == ["indirect"] and not len(found["puzzles"])
    stepwise, tenths = drops.steps_lines(few), drops.tenths(few)
    for each in few:
        drops.accuracy_table(each, found[each.name])
        drops.accuracy_table(each, stepwise[each.name], "Stepwise accuracy")
        drops.tenth_table(each, tenths[each.name])
        drops.baselines(each)
        drops.examples(each)
        assert drops.said(each, "steps").frame.empty
    drops.tests(found, few)
    assert groups.resolution([few[1]]).endswith("nothing here tells.")
    assert "one" in groups.resolution(few)
    drops.draw_drops(few, found)
    assert list(shrinking.family(few)) == ["one"]
    assert groups.family(few, "place") == {} and letters.with_puzzles(few) == [few[1]]
    claims = [each for each in load_claims() if each.paper == "cvqa"]
    for each in few:
        of = measures.Evidence(each)
        for claim in claims:
            for part in measures.MEASURES[claim.measure](of, **claim.arguments):
                assert part.interval.n >= 0
