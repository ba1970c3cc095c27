"""What C-VQA's claims are tested on: programs, questions, and made-up records of models."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.cvqa.chapters import dataset, measures, pairs, programs
from sci_book.papers.cvqa.neuro_symbolic import load_scenes
from sci_book.papers.cvqa.questions import COLUMNS, load
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Sample
from sci_book.papers.shared.text_model import text_model
from sci_book.pipeline import findings, ledger
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.matrix import load_probes
from sci_book.pipeline.verdicts import completeness, load_index
from sci_book.pocket import what_if
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.statistics import NO_DATA, Interval
from tests.report.cvqa_records import MODELS, frozen, numbers, puzzles, subject_of

# --- programs and questions ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    sizes = {"direct": 20, "indirect": 20, "boolean": 20}
    path = what_if.write(folder, sizes=sizes, say=lambda _: None)
    return programs.World(load(path).items, load_scenes(folder / what_if.SCENES))


def test_programs_run_and_the_verdict_is_theirs(world):
    rules, deaf = programs.writers()
    assert text_model("", "") is None
    assert text_model("coder", "http://localhost:1").name == "coder"
    heeding, ignoring = programs.run(world, rules), programs.run(world, deaf)
    assert (programs.lines(world, heeding)["drop"] == 0).all()
    assert (programs.lines(world, ignoring)["drop"] == 100).all()
    zero = programs.lines(world, heeding)
    legend = programs.draw({"rules": zero, "none": zero[:0]}).axes[0].get_legend()
    labels = {text.get_text() for text in legend.get_texts()}
    assert {"rules: 0 everywhere", "none"} <= labels
    gained = [heeding[1], heeding[1]]  # the counterfactual answer to either question
    for ran, expected in ((ignoring, "holds"), (heeding, "inconclusive"), (gained, "fails")):
        written = programs.Written("rules", world, ran)
        (finding,) = findings.of_page("cvqa_table06_programs", [written])
        assert finding.verdict == expected
        assert [found.n for _, found, _ in finding.parts] == [20] * 3
        assert {word for _, _, word in finding.parts} == {expected}
    shown = programs.examples(world, rules.name, heeding).frame
    assert len(shown) == 3 and (shown["it answers"] == shown["right"]).all()


def test_answers_of_both_groups_are_compared(world):
    parts = {part.what: part.interval.estimate for part in dataset.gaps(world.items)}
    assert parts[dataset.OTHERS] == pytest.approx(
        sum(parts[dataset.of_small(n)] for n in dataset.SMALL)
    )
    only = [item for item in world.items if item.kind == "direct"]
    assert {part.interval.n for part in dataset.gaps(only)} == {0}
    asked = [dataset.Asked("twin", Path("twin.csv"), world.items)]
    (finding,) = findings.of_page("cvqa_figs03_08_questions", asked)
    assert {what: found.estimate for what, found, _ in finding.parts} == parts


def test_statistics_stand_beside_the_papers(world):
    frame = dataset.statistics_table(world.items, [], "twin").frame
    assert frame.loc["words per original puzzle"].tolist() == ["16.00", "—"]
    assert frame.loc["questions"].tolist() == ["3144", "60"]
    assert int(dataset.annotation_table(world.items).frame.loc["direct", "accepted"]) > 0


def test_rows_that_cannot_be_read_are_counted_beside_the_result(world, monkeypatch, tmp_path):
    item = world.items[0]
    path = tmp_path / "questions.csv"
    row = ["a.png", item.original, item.original_answer, item.counterfactual]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [COLUMNS, [*row, item.counterfactual_answer, item.kind], [*row, "perhaps", item.kind]]
        )
    monkeypatch.setattr(pairs, "file_of", lambda manifest, name: path)
    text = dataset.rows_read("pocket_cvqa_real")
    assert text.startswith("Rows read of “pocket twin of C-VQA-Real” (`pocket_cvqa_real`): 1; left")
    assert " 1 × " in text
    path.unlink()
    assert str(tmp_path) not in dataset.rows_read("pocket_cvqa_real")


def test_no_file_is_no_questions(monkeypatch, tmp_path):
    monkeypatch.setattr(pairs, "file_of", lambda manifest, name: tmp_path / "absent.csv")
    assert dataset.questions("pocket_cvqa_real") is None and programs.world() is None
    assert "data checksum" not in programs.stamp_of("pocket_cvqa_real").frame.index
    for name in ("pocket_cvqa", "nothing"):  # a collection, and no set at all
        assert dataset.questions(name) is None and programs.world(name) is None


# --- claims and index ---------------------------------------------------------------------------


def test_twelve_claims_and_every_place():
    claims = [each for each in load_claims() if each.paper == "cvqa"]
    # Two can come out only one way or stay undecided, one is of other models; they say so.
    assert sum("cannot" not in each.means for each in claims) >= 12
    places = pd.DataFrame(load_index("cvqa"))
    assert completeness("cvqa", places) == "holds"
    for page in {*places["page"], *(each.page for each in claims)}:
        assert (ROOT / "notebooks" / f"{page}.py").is_file()
    of_book = [each for each in load_claims(own=True) if each.paper == "cvqa"]
    used = {each.measure for each in (*of_book, *load_probes()) if each.paper == "cvqa"}
    assert used == set(PAPERS["cvqa"].measures)


def test_claims_are_tested_on_the_companions_records(tmp_path):
    books = chapters.subjects(MODELS, FROZEN_RECORDS)
    found = measures.evidence(books, None)
    assert [each.subject.path for each in found] == [each.path for each in frozen()]
    nowhere = [replace(each, path=tmp_path / each.path.name) for each in books]
    assert measures.evidence(nowhere, None) == [None, None]
    claims = [each for each in load_claims() if each.paper == "cvqa"]
    told = ledger.evaluate(claims, nowhere, None)
    assert {each.verdict for each in told} == {"not comparable"}


def test_measures_count_what_they_say(tmp_path):
    lines = numbers(40, right=(1.0, 0.5)) + [
        {**each, "index": each["index"] + 80, "position": each["position"] + 80,
         "group": each["group"] + "i"}
        for each in numbers(40, kind="indirect", right=(1.0, 0.25), SCI5="3")
    ]  # fmt: skip
    of = measures.Evidence(subject_of(tmp_path, lines))
    estimate = lambda samples: [each.interval.estimate for each in samples]  # noqa: E731
    assert estimate(measures.drop(of, ["direct", "indirect"])) == [0.5, 0.75]
    assert estimate(measures.between(of, "drop", ["indirect"], ["direct"])) == [0.25]
    assert estimate(measures.between(of, "counterfactual", ["direct"], ["indirect"])) == [0.25]
    assert estimate(measures.accuracy(of, ["direct"], "counterfactual")) == [0.5]
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


def test_a_group_that_loses_less_is_evidence_of_a_difference(tmp_path, monkeypatch):
    """The paper's bias has no sign: what fails as "more is lost" may yet differ."""
    of = measures.Evidence(subject_of(tmp_path, numbers(4)))
    names = np.array([f"p{k}" for k in range(200)], dtype=object)
    gap = Sample("gap", np.arange(200) % 9 / 90, names, (np.ones(200), names))
    monkeypatch.setattr(measures, "group_gap", lambda of, attributes: [gap])
    (part,) = measures.group_distance(of, ["light"])
    assert gap.interval.high < 0 < part.interval.low
    assert part.what == "gap, either way"


def test_letters_are_parts_of_which_one_suffices(tmp_path):
    of = measures.Evidence(subject_of(tmp_path, puzzles(80, lambda item: "D")))
    parts = measures.letter_share(of, ["original"])
    assert [each.what[0] for each in parts] == list("ABCD")
    assert [each.values.mean() for each in parts] == [0, 0, 0, 1]
    (claim,) = [each for each in load_claims() if each.measure == "letter_share"]
    assert claim.needed == 1
    near = measures.puzzle_distance(of, ["original", "counterfactual"])
    assert [each.interval.estimate for each in near] == [0, 0]


def test_the_committed_benchmark_is_within_its_level():
    files = sorted((ROOT / "benchmarks" / "results" / "cvqa").glob("what_if-*.json"))
    assert files
    for path in files:
        found = json.loads(path.read_text(encoding="utf-8"))
        assert found["puzzles"] == 3000 and 0 < found["pass_seconds"] <= found["level_seconds"]
