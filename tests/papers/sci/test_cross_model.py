"""Table 3: each model on the rows another model built, against counts taken row by row."""

import matplotlib.pyplot as plt
import pytest

from sci_book.papers.sci.chapters import cross_model, measures
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Evidence
from sci_book.results.records import write_records
from sci_core.methods import SCI5, VCD
from tests.papers.shared.committed import ran
from tests.papers.shared.drawn_records import drawn_records

PAGE = "table03_cross_model"
QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SPOILT = 11  # a row that only LLaVA-NeXT failed on
METHODS = {"SCI5": SCI5, "VCD": VCD}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, (file, model) in enumerate(
        [(QWEN, QWEN), (LLAVA, LLAVA), ("mine", "mine"), ("seed1", QWEN)]
    ):
        spoilt = (SPOILT,) if file == LLAVA else ()
        write_records(folder / f"{file}.parquet", drawn_records(model, seed=seed, spoilt=spoilt))
    return folder


@pytest.fixture(scope="module")
def page(folder):
    """What the page computes of two models of the paper's, and of one that shares a name."""
    with plt.rc_context():
        return ran(PAGE, models=[QWEN, LLAVA, "seed1"], records=str(folder))


def percent(built, answers, what, part, kind):
    """A quantity counted in a loop."""
    member = built.sets("any", "rows")[part]
    rows = [
        row
        for row, own in enumerate(answers.kinds)
        if member.iloc[row] and answers.records.ok[row] and kind in ("Overall", own)
    ]
    right = [answers.right(METHODS.get(name, name)) for name in what.split(" − ")]
    sums = [sum(100 * hits[row] for row in rows) / len(rows) for hits in right]
    return sums[0] - sum(sums[1:]), len(rows)


@pytest.mark.parametrize("name", ["carried", "levels", "matrix"])
def test_what_the_page_shows_is_what_counting_gives(page, name):
    models = {model.brief: model for model in page["subjects"]}
    lines = page[name]
    assert len(lines) == {"carried": 27, "levels": 135, "matrix": 180}[name]
    for line in lines.iloc[:: len(lines) // 27].itertuples():
        pair = models[line.built], models[line.answers]
        if line.what != "uniform other":  # which has no outcome where there are no options
            value, n = percent(*pair, line.what, line.part, line.kind)
            assert (line.estimate, line.n) == (pytest.approx(value), n)
        assert line.low <= line.estimate <= line.high


def test_on_its_own_b_the_base_has_nothing_and_elsewhere_something(page):
    lines = page["matrix"]
    lines = lines[(lines["what"] == "base") & (lines["part"] == "B")]
    own = lines["built"] == lines["answers"]
    assert own.sum() == 3 and (lines["estimate"] == 0).tolist() == own.tolist()


def test_a_row_that_the_answering_model_failed_on_is_left_out(page):
    qwen, llava, *_ = page["subjects"]
    assert page["sets"][qwen]["all"].iloc[SPOILT] and not llava.records.ok[SPOILT]
    every = page["overlap"].set_index(["built", "answers", "part"])["n"]
    rows = int(page["sets"][qwen]["all"].sum())
    assert every["Qwen2-VL", "seed1", "all test rows"] == rows
    assert every["Qwen2-VL", "LLaVA-NeXT", "all test rows"] == rows - 1


def test_two_models_of_one_name_are_no_pair_of_the_papers(page):
    lines = page["carried"]
    beside = lines[lines["paper"].notna() & (lines["built"] != lines["answers"])]
    assert set(zip(beside["answers"], beside["built"], strict=True)) == {
        ("LLaVA-NeXT", "Qwen2-VL"), ("Qwen2-VL", "LLaVA-NeXT"),
        ("LLaVA-NeXT", "seed1"), ("seed1", "LLaVA-NeXT"),
    }  # fmt: skip
    known = lines.set_index(["built", "answers", "kind"])["paper"]
    assert known["LLaVA-NeXT", "Qwen2-VL", "MCQ"] == pytest.approx(61.15 - 59.29)


def test_the_other_models_rows_are_divided_in_two(page):
    qwen, llava, *_ = page["subjects"]
    every = page["overlap"].set_index(["built", "answers", "part"])["n"].sort_index()
    n = every["Qwen2-VL", "LLaVA-NeXT"]
    theirs, mine = (page["sets"][model]["BS"] for model in (qwen, llava))
    assert n["in both models’ BS"] == (theirs & mine).sum()
    assert n["in both models’ BS"] + n["in that BS alone"] == (theirs & llava.records.ok).sum()


def test_ones_own_failures_compare_two_bases_on_the_same_rows(page):
    qwen, llava, *_ = page["subjects"]
    evidence = Evidence(qwen, [llava], None)
    (sample,) = measures.other_on_own(evidence, ["base"])
    rows = page["sets"][qwen]["BS"].to_numpy() & llava.records.ok
    assert len(sample.values) == rows.sum()
    assert page["known"][QWEN, sample.what] == pytest.approx(32.86 - 14.52)
    gap = llava.right("base")[rows].mean() - qwen.right("base")[rows].mean()
    assert sample.values.mean() == pytest.approx(gap)
    (gained,) = measures.on_others(evidence, ["SCI5"], ["base"])
    assert (QWEN, gained.what) in page["known"]


def test_one_model_alone_transfers_nothing_and_breaks_nothing(folder):
    with plt.rc_context():
        alone = ran(PAGE, models=[QWEN], records=str(folder))
    assert {finding.verdict for finding in alone["findings"]} == {"not comparable"}
    assert not len(alone["overlap"]) and len(alone["carried"]) == 3


def test_a_model_that_is_not_fit_leaves_the_others_their_verdict(folder, monkeypatch):
    subjects = chapters.subjects([QWEN, LLAVA, "mine"], folder)
    assert cross_model.asked(subjects) == subjects
    monkeypatch.setattr(chapters.Subject, "fit", property(lambda each: each.name != "mine"))
    assert [each.name for each in cross_model.asked(subjects)] == [QWEN, LLAVA]
