"""C-VQA on made-up records: pairs, what the claims are tested on, and bad input."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from sci_book.data.datasets import read_manifest
from sci_book.papers.cvqa import measures, pairs
from sci_book.papers.cvqa.measures import Asked, Evidence
from sci_book.papers.cvqa.neuro_symbolic import RuleProgrammer, answer_by_program, load_scenes
from sci_book.papers.cvqa.paper import PUZZLES, STEPS, TWIN
from sci_book.papers.cvqa.questions import SIDES, load
from sci_book.papers.shared import chapters, frame
from sci_book.pipeline import findings
from sci_book.pipeline.claims import load_claims
from sci_book.pocket import what_if
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.statistics import NO_DATA, Interval, verdict
from tests.papers.cvqa.cvqa_records import (
    MODELS,
    NUMBER,
    YES_NO,
    finding_on,
    frozen,
    line,
    numbers,
    puzzles,
    subject_of,
)

SUFFIX = " Answer the question using a single word or phrase."
CLAIMS = [claim for claim in load_claims() if claim.paper == "cvqa"]


def estimates(samples):
    return [sample.interval.estimate for sample in samples]


# --- the data sets ------------------------------------------------------------------------------


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


def test_the_collection_holds_every_part_that_pages_read():
    parts = read_manifest("pocket_cvqa").parts
    assert set(parts) == {names[0] for names in pairs.SETS.values()}
    for part in parts:
        assert read_manifest(part).group_prefix in ("pocket_cvqa", "")


def test_the_frozen_records_are_whole():
    assert [model.name for model in frozen()] == MODELS
    for model in frozen():
        assert model.records.ok.all() and model.path.stat().st_size < 2_000_000
        assert pairs.of(model, "real").sum() == sum(TWIN.values())
        assert pairs.of(model, "steps").sum() == sum(STEPS.values())
        assert pairs.of(model, "yesno").sum() == TWIN["boolean"]
        assert pairs.of(model, "synthetic").sum() == 6 * PUZZLES["per_type"]
        understood, real = model.groups[pairs.understood(model)], pairs.of(model, "real")
        assert set(understood) == set(model.groups[real])
        tenth = measures.in_tenth(understood)
        assert 0.05 < tenth.mean() < 0.15


# --- pairs --------------------------------------------------------------------------------------


def test_sides_stay_together_and_a_failed_row_takes_both_out(tmp_path):
    lines = numbers(10)
    lines[3] = line("pocket_cvqa_real", 1, 1, "direct", NUMBER, "3", {}, error="RowError")
    model = subject_of(tmp_path, lines[:-1])
    items = pairs.of(model, "real")
    assert items.sum() == 9  # the last item has lost its counterfactual question
    assert pairs.ok(model)[items].tolist() == [True, False, *[True] * 7]
    right = np.array([pairs.right(model, "base", side) for side in SIDES])
    assert np.isnan(right[:, ~items]).all() and np.isnan(right[:, 2:4]).all()
    assert np.nansum(right[0]) == 8
    assert np.nansum(pairs.drop(model, "base")) == np.nansum(right[0]) - np.nansum(right[1])
    assert not any(pairs.unread(model, "base", side)[2] for side in SIDES)


def test_answers_are_read_by_the_papers_rules(tmp_path):
    lines = [
        line("pocket_cvqa_real", 0, 0, "direct", NUMBER, "0", {"original": "no"}),
        line("pocket_cvqa_real", 0, 1, "direct", NUMBER, "4", {"original": "white boat"}),
        line("pocket_cvqa_real", 1, 0, "boolean", YES_NO, "yes", {"original": "It is."}),
        line("pocket_cvqa_real", 1, 1, "boolean", YES_NO, "no", {"original": "purple"}),
    ]
    model = subject_of(tmp_path, lines)

    def by_side(of):
        return [of(model, "base", side)[::2].tolist() for side in SIDES]

    assert by_side(pairs.said) == [["0", "yes"], [None, None]]
    assert by_side(pairs.right) == [[1, 1], [0, 0]]
    assert by_side(pairs.unread) == [[False, False], [True, True]]


def test_booleans_in_a_wording_understood_stand_for_the_papers(tmp_path):
    booleans = [
        line("pocket_cvqa_real", item, side, "boolean", YES_NO, "yes", {"original": "cup"})
        for item in range(5, 10)
        for side in (0, 1)
    ]
    again = [{**each, "dataset": "pocket_cvqa_yesno", "text:original": "yes"} for each in booleans]
    alone = subject_of(tmp_path, numbers(5) + booleans)
    both = subject_of(tmp_path, numbers(5) + booleans + again, "both")
    for model, expected in ((alone, 0), (both, 1)):
        asked = pairs.understood(model)
        assert pairs.kinds(model)[asked].tolist() == ["direct"] * 5 + ["boolean"] * 5
        for side in SIDES:
            assert pairs.right(model, "base", side)[asked][5:].tolist() == [expected] * 5
    assert pairs.unread(both, "base", "original")[pairs.of(both, "real")].sum() == 5


# --- measures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "expected"),
    [((1.0, 0.5), "holds"), ((0.5, 1.0), "fails"), ((0.5, 0.5), "inconclusive")],
)
def test_a_drop_is_claimed_by_its_interval(tmp_path, right, expected):
    subject = subject_of(tmp_path, numbers(60, right=right))
    *_, shown = frame.measured(pairs.fall(subject, pairs.understood)).to_dict("records")
    (part,) = measures.drop(Evidence(subject), ["direct"])
    assert verdict(part.interval, claim="greater", margin=0.0) == expected
    assert (shown["estimate"], shown["low"], shown["high"]) == part.interval.times(100)[:3]
    assert shown["estimate"] == 100 * (right[0] - right[1]) and shown["key"] == part.interval.key
    none, _ = measures.drop(Evidence(subject), ["indirect", "boolean"])
    assert none.interval.n == 0


def test_step_by_step_is_paired_with_the_same_items(tmp_path):
    plainly = numbers(30, right=(1.0, 0.5))
    steps = [{**row, "dataset": "pocket_cvqa_steps", "text:original": "3"} for row in plainly[:20]]
    subject = subject_of(tmp_path, plainly + steps)
    plain = pairs.plainly(subject)
    steps, items = pairs.of(subject, "steps"), pairs.of(subject, "real")
    assert steps.sum() == 10 and (plain >= 0).tolist() == steps.tolist()
    assert items[plain[steps]].all()
    assert subject.groups[plain[steps]].tolist() == subject.groups[steps].tolist()
    direct, boolean = measures.step_gain(Evidence(subject), ["direct", "boolean"])
    found = direct.interval
    assert found.n == 10 and found.estimate == 0 and found.low == -found.high < 0  # all alike
    assert boolean.interval.n == 0


def test_what_step_by_step_loses_has_an_interval_around_it(tmp_path):
    plainly = numbers(40, right=(1.0, 0.5))
    steps = [{**row, "dataset": "pocket_cvqa_steps"} for row in numbers(40, right=(1.0, 0.25))]
    (lost,) = measures.step_gain(Evidence(subject_of(tmp_path, plainly + steps)), ["direct"])
    assert lost.interval.low < lost.interval.estimate == -0.25 < lost.interval.high < 0


def test_step_by_step_a_boolean_is_compared_in_one_wording(tmp_path):
    """Behind the sentence stands the paper's wording, so before it, too."""
    asked = numbers(20, kind="boolean", right=(1.0, 0.0))
    steps = [{**row, "dataset": "pocket_cvqa_steps", "text:original": "3"} for row in asked]
    understood = numbers(20, kind="boolean", right=(1.0, 1.0), dataset="pocket_cvqa_yesno")
    subject = subject_of(tmp_path, asked + steps + understood)
    rows = pairs.plainly(subject)
    plainly = subject.records.frame["dataset"].to_numpy()[rows[rows >= 0]]
    assert set(plainly) == {"pocket_cvqa_real"}
    (gain,) = measures.step_gain(Evidence(subject), ["boolean"])
    assert gain.values.mean() == 1


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
    assert finding_on("cvqa-letters", subject).verdict == biased
    parts = measures.letter_share(Evidence(subject), ["original"])
    assert [part.what[0] for part in parts] == list("ABCD")
    assert [part.values.mean() for part in parts] == [said.count(letter) / 4 for letter in "ABCD"]


def test_a_method_that_loses_less_shrinks_the_drop(tmp_path):
    of = Evidence(subject_of(tmp_path, numbers(60, right=(1.0, 0.2), SCI5="3")))
    better, same = measures.shrinkage(of, ["SCI5", "VCD"])
    assert better.interval.estimate == pytest.approx(0.8) and better.interval.low > 0
    assert better.values.sum() == 48 and set(better.values) == {0.0, 1.0}
    assert verdict(same.interval) == "inconclusive"
    assert estimates(measures.drop_change(of, "SCI5")) == [pytest.approx(-0.8)]


def test_measures_count_what_they_say(tmp_path):
    lines = numbers(40, right=(1.0, 0.5)) + [
        {**row, "index": row["index"] + 80, "position": row["position"] + 80,
         "group": row["group"] + "i"}
        for row in numbers(40, kind="indirect", right=(1.0, 0.25), SCI5="3")
    ]  # fmt: skip
    of = Evidence(subject_of(tmp_path, lines))
    assert estimates(measures.drop(of, ["direct", "indirect"])) == [0.5, 0.75]
    assert estimates(measures.between(of, "drop", ["indirect"], ["direct"])) == [0.25]
    assert estimates(measures.between(of, "counterfactual", ["direct"], ["indirect"])) == [0.25]
    assert estimates(measures.accuracy(of, ["direct"], "counterfactual")) == [0.5]
    assert measures.group_gap(of, ["place"]) == [] and measures.letter_share(of, ["original"]) == []


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.1, 0.3), (0.2, 0.1, 0.3)),
        ((-0.3, -0.1), (0.2, 0.1, 0.3)),
        ((-0.1, 0.3), (0.1, 0.0, 0.3)),
    ],
)
def test_a_distance_has_no_sign(ends, expected):
    found = measures.away(Interval(sum(ends) / 2, *ends, 9, 9))
    assert found[:3] == pytest.approx(expected) and found.n == 9
    moved = measures.away(Interval(sum(ends) / 2 + 0.25, *(end + 0.25 for end in ends), 9, 9), 0.25)
    assert moved[:3] == pytest.approx(expected)
    assert measures.away(NO_DATA, 0.25).n == 0


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
    subject = subject_of(tmp_path, lines)
    label = measures.of_pictures(subject, "place")[pairs.of(subject, "real")]
    with path.with_name(what_if.GROUPS).open() as file:
        indoors = [row["indoors"] == "yes" for row in csv.DictReader(file)]
    assert label.tolist() == ["indoors" if inside else "outdoors" for inside in indoors]
    (gap,) = measures.group_gap(Evidence(subject), ["place"])
    assert gap.interval.estimate == 0 and gap.interval.n == sum(indoors)
    (either,) = measures.group_distance(Evidence(subject), ["place"])
    assert either.what == f"{gap.what}, either way" and either.interval.estimate == 0
    other = [{**one, "truth": "99"} for one in lines]
    assert measures.of_pictures(subject_of(tmp_path, other, "elsewhere"), "place") is None


# --- programs and questions ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    sizes = {"direct": 20, "indirect": 20, "boolean": 20}
    path = what_if.write(folder, sizes=sizes, say=lambda _: None)
    return load(path).items, load_scenes(folder / what_if.SCENES)


def test_programs_run_and_the_verdict_is_theirs(world):
    items, scenes = world
    heeding, ignoring = (
        [[made.text for made in answer_by_program(items, side, scenes, writer)] for side in SIDES]
        for writer in (RuleProgrammer(), RuleProgrammer(heeds=False))
    )
    gained = [heeding[1], heeding[1]]  # the counterfactual answer to either question
    for texts, expected in ((ignoring, "holds"), (heeding, "inconclusive"), (gained, "fails")):
        rules = pairs.writer("rules", items, texts)
        (finding,) = findings.of_page("cvqa_table06_programs", [rules])
        assert {finding.verdict, *(word for _, _, word in finding.parts)} == {expected}
        assert [found.n for _, found, _ in finding.parts] == [20] * 3


def test_answers_of_both_groups_are_compared(world):
    items, _ = world
    asked = Evidence(Asked("twin", items))
    *small, large = estimates(measures.answer_gap(asked))
    assert large == pytest.approx(sum(small))
    only = [item for item in items if item.kind == "direct"]
    assert {part.interval.n for part in measures.answer_gap(Evidence(Asked("x", only)))} == {0}
    (finding,) = findings.of_page("cvqa_figs03_08_questions", [asked.subject])
    assert [found.estimate for _, found, _ in finding.parts] == [*small, large]


def test_questions_that_were_not_there_are_found_once_they_are(tmp_path, monkeypatch):
    path = tmp_path / "real" / what_if.QUESTIONS
    monkeypatch.setattr(pairs, "file_of", lambda manifest, name: path)
    for name in ("pocket_cvqa_real", "pocket_cvqa", "nothing"):  # a collection, and no set at all
        assert pairs.questions_of(name) is None
    for size in (2, 3):
        path.unlink(missing_ok=True)
        what_if.write(path.parent, sizes={"direct": size}, say=lambda _: None)
        assert len(pairs.questions_of("pocket_cvqa_real").items) == size


# --- claims, index, and bad input ---------------------------------------------------------------


def test_claims_are_tested_on_the_companions_records(tmp_path):
    books = chapters.subjects(MODELS, FROZEN_RECORDS)
    found = measures.evidence(books, None)
    assert [each.subject.path for each in found] == [model.path for model in frozen()]
    nowhere = [replace(model, path=tmp_path / model.path.name) for model in books]
    assert measures.evidence(nowhere, None) == [None, None]


@pytest.mark.parametrize(
    "lines",
    [
        numbers(6, kind="indirect"),
        puzzles(8, lambda item: "A"),
        numbers(6, dataset="somewhere"),
    ],
)
def test_records_of_one_type_or_of_another_set_alone(tmp_path, lines):
    of = Evidence(subject_of(tmp_path, lines))
    for claim in CLAIMS:
        for part in measures.MEASURES[claim.measure](of, **claim.arguments):
            assert part.interval.n >= 0


def test_the_committed_benchmark_is_within_its_level():
    files = sorted((ROOT / "benchmarks" / "results" / "cvqa").glob("what_if-*.json"))
    assert files
    for path in files:
        found = json.loads(path.read_text(encoding="utf-8"))
        assert found["puzzles"] == 3000 and 0 < found["pass_seconds"] <= found["level_seconds"]
