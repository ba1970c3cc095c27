"""Table 3: each model on the rows another model built, against counts taken row by row."""

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import cross_model, drbench_tables, measures
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Evidence
from sci_book.pipeline import findings
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.metrics import KINDS
from sci_book.results.records import read_records, write_records
from tests.report.drawn_records import drawn_records

QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SPOILT = 11  # a row that only LLaVA-NeXT failed on


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, (file, model) in enumerate(
        [(QWEN, QWEN), (LLAVA, LLAVA), ("mine", "mine"), ("seed1", QWEN)]
    ):
        spoilt = (SPOILT,) if file == LLAVA else ()
        write_records(folder / f"{file}.parquet", drawn_records(model, seed=seed, spoilt=spoilt))
    return folder


def read(folder, *names):
    subjects = chapters.subjects(list(names), folder)
    sets = {each.name: each.sets("any", "rows") for each in subjects}
    right = {each.name: drbench_tables.outcomes(each) for each in subjects}
    return subjects, sets, right


@pytest.fixture(scope="module")
def two(folder):
    return read(folder, QWEN, LLAVA)


@pytest.fixture(scope="module")
def four(folder):
    return read(folder, QWEN, LLAVA, "mine", "seed1")


def percent(pair, sets, right, method, subset, kind="Overall"):
    """Accuracy counted in a loop; None for no row."""
    built, answers = pair
    found = [
        right[answers.name][method][row]
        for row in range(len(answers.kinds))
        if sets[built.name][subset].iloc[row]
        and answers.records.ok[row]
        and kind in ("Overall", answers.kinds[row])
    ]
    return 100 * sum(found) / len(found) if found else None


def test_the_papers_numbers_are_keyed_by_who_built_and_who_answers():
    printed = cross_model.paper_accuracy()
    assert printed["LLaVA-NeXT", "Qwen2-VL", "base", "Overall"] == 60.31
    assert printed["Qwen2-VL", "LLaVA-NeXT", "SCI5", "Others"] == 41.33
    table02 = chapters.paper_values("table02")
    for model in ("Qwen2-VL", "LLaVA-NeXT"):
        for kind in KINDS:
            assert printed[model, model, "SCI5", kind] == table02[model, "SCI5", "BS", kind]


def test_pairs_leave_out_ones_own_unless_asked(four):
    subjects = four[0]
    assert len(cross_model.pairs(subjects)) == 12
    assert len(cross_model.pairs(subjects, own=True)) == 16
    assert cross_model.pairs(subjects[:1]) == []


def test_rows_need_an_answer_of_the_answering_model_too(two):
    (qwen, llava), sets, _ = two
    assert sets[QWEN]["all"].iloc[SPOILT] and not llava.records.ok[SPOILT]
    assert not cross_model.rows_of((qwen, llava), sets, "all")[SPOILT]
    assert cross_model.rows_of((qwen, qwen), sets, "all")[SPOILT]


def test_table_3_stands_beside_the_papers(two):
    subjects, sets, right = two
    qwen, llava = subjects
    frame = cross_model.bs_table(qwen, subjects, sets, right).frame
    assert frame.index[:5].tolist() == [f"Qwen2-VL: {name}" for name in cross_model.SHOWN]
    assert frame.loc["LLaVA-NeXT: SCI5", ("Overall", "paper")] == "36.56"
    assert frame.loc["LLaVA-NeXT: VCD", ("Overall", "paper")] == "—"
    for kind in KINDS:
        counted = percent((qwen, llava), sets, right, "SCI5", "BS", kind)
        assert float(frame.loc["LLaVA-NeXT: SCI5", (kind, "pocket")]) == pytest.approx(
            counted, abs=0.005
        )


def test_the_base_on_all_test_rows_is_what_counting_gives(two):
    subjects, sets, right = two
    table = cross_model.base_table(subjects, sets, right)
    for each in subjects:
        counted = percent((each, each), sets, right, "base", "all")
        assert table.frame.loc[each.shown, ("Overall", "%")] == f"{counted:.2f}"
    test = int(sets[QWEN]["all"].sum())
    assert f"n = {test:,}: " in table.caption


def test_on_its_own_b_the_base_has_nothing_and_elsewhere_something(four):
    subjects, sets, right = four
    frame = cross_model.matrix(subjects, sets, right, "B")
    own = frame["own"]
    assert own.sum() == 4 and (frame["base"][own] == 0).all() and (frame["base"][~own] > 0).all()
    table = cross_model.matrix_table(frame, "B", cross_model.models_of(subjects)).frame
    assert [name.endswith("*") for name in table.index] == own.tolist()
    assert "Qwen2-VL on mine’s B" in table.index
    assert cross_model.models_of(subjects) == "models run here"
    assert cross_model.models_of(subjects[:2]) == "pocket models"


@pytest.mark.parametrize("subset", drbench_tables.PAPER_SUBSETS)
def test_the_matrix_holds_what_counting_gives(four, subset):
    subjects, sets, right = four
    frame = cross_model.matrix(subjects, sets, right, subset)
    for pair, line in zip(
        cross_model.pairs(subjects, own=True), frame.to_dict("records"), strict=True
    ):
        assert (line["built"], line["answers"]) == (pair[0].brief, pair[1].brief)
        for opponent in ("base", "VCD"):
            counted = [percent(pair, sets, right, name, subset) for name in ("SCI5", opponent)]
            head = cross_model.versus(opponent)
            assert line[head] == pytest.approx(counted[0] - counted[1])
            assert line[f"{head} low"] <= line[head] <= line[f"{head} high"]


def test_a_pair_has_the_same_interval_in_a_larger_matrix(two, four):
    small, large = (cross_model.matrix(*each, "BS") for each in (two, four))
    same = large[large["built"].isin(small["built"]) & large["answers"].isin(small["answers"])]
    pd.testing.assert_frame_equal(same.reset_index(drop=True), small)


def test_the_claim_is_paired_and_adjusted_over_all_its_lines(two):
    subjects, sets, right = two
    claims = cross_model.transfer(*two)
    assert [name.rpartition(", ")[2] for name in claims.index] == [*KINDS[:2], *KINDS[:2]]
    line = claims.loc["Qwen2-VL on LLaVA-NeXT’s BS, MCQ"]
    pair = (subjects[1], subjects[0])
    gap = [percent(pair, sets, right, name, "BS", "MCQ") for name in ("SCI5", "base")]
    assert line["reproduced"] == pytest.approx(gap[0] - gap[1])
    assert line["paper"] == pytest.approx(61.15 - 59.29)
    assert (claims["holm"] >= 1 / 10_001).all() and (claims["holm"] <= 1).all()
    assert cross_model.transfer_table(claims, "pocket").frame.columns[-1] == "p"


def test_two_models_of_one_name_are_no_pair_of_the_papers(four):
    claims = cross_model.transfer(*four)
    beside = claims.index[claims["paper"].notna()]
    assert {name.split(",")[0] for name in beside} == {
        "LLaVA-NeXT on Qwen2-VL’s BS", "Qwen2-VL on LLaVA-NeXT’s BS",
        "LLaVA-NeXT on seed1’s BS", "seed1 on LLaVA-NeXT’s BS",
    }  # fmt: skip


def test_ones_own_failures_compare_two_bases_on_the_same_rows(two):
    subjects, sets, right = two
    (sample,) = measures.other_on_own(Evidence(subjects[0], subjects[1:], None), ["base"])
    rows = cross_model.rows_of(tuple(subjects), sets, "BS")
    paper = cross_model.paper_numbers(subjects)
    assert len(sample.values) == rows.sum()
    assert paper[QWEN, sample.what] == pytest.approx(32.86 - 14.52)
    gap = right[LLAVA]["base"][rows].mean() - right[QWEN]["base"][rows].mean()
    assert sample.values.mean() == pytest.approx(gap)
    (gained,) = measures.on_others(Evidence(subjects[0], subjects[1:], None), ["SCI5"], ["base"])
    assert (QWEN, gained.what) in paper


def test_overlap_divides_the_other_models_rows(two):
    _, sets, _ = two
    frame = cross_model.overlap_table(*two).frame
    line = frame.loc["LLaVA-NeXT on Qwen2-VL’s BS"]
    shared = (sets[QWEN]["BS"] & sets[LLAVA]["BS"]).sum()
    assert line["in both models’ BS", "n"] == str(shared)
    parts = ("in both models’ BS", "in that BS alone")
    whole = cross_model.rows_of(tuple(two[0]), sets, "BS").sum()
    assert sum(int(line[part, "n"]) for part in parts) == whole


def test_flips_add_up_to_the_difference(two):
    subjects, sets, right = two
    frame = cross_model.flip_table(*two).frame.astype(int)
    assert frame.loc["Qwen2-VL on its own rows", ("B", "lost")] == 0
    line = frame.loc["LLaVA-NeXT on Qwen2-VL’s rows"]
    rows = cross_model.rows_of(tuple(subjects), sets, "BS")
    gap = (right[LLAVA]["SCI5"] - right[LLAVA]["base"])[rows].sum()
    assert line["BS", "won"] - line["BS", "lost"] == gap


def test_one_model_alone_transfers_nothing_and_breaks_nothing(folder):
    alone = read(folder, QWEN)
    claims = cross_model.transfer(*alone)
    assert chapters.overall(claims["verdict"]) == "not comparable"
    assert (cross_model.transfer_table(claims, "pocket").frame == "—").any(axis=None)
    page = findings.of_page("table03_cross_model", alone[0])
    assert {finding.verdict for finding in page} == {"not comparable"}
    empty = cross_model.overlap_table(*alone).frame
    assert set(empty.xs("n", axis=1, level=1).iloc[0]) == {"0"}
    assert set(empty.xs("points", axis=1, level=1).iloc[0]) == {"—"}
    assert len(cross_model.flip_table(*alone).frame) == 1


def test_a_model_that_is_not_fit_leaves_the_others_their_verdict(folder, monkeypatch):
    subjects, *_ = read(folder, QWEN, LLAVA, "mine")
    assert cross_model.asked(subjects) == subjects and not cross_model.not_asked(subjects, [])
    assert cross_model.left_out(subjects) == []
    monkeypatch.setattr(chapters.Subject, "fit", property(lambda each: each.name != "mine"))
    assert [each.name for each in cross_model.asked(subjects)] == [QWEN, LLAVA]
    (mine,) = cross_model.left_out(subjects)
    told = cross_model.not_asked(subjects, ["not comparable", "not comparable"])
    assert "not put to mine, which" in told and "would be *not comparable* on each" in told
    table = cross_model.alone_table(mine).frame
    assert table.index.tolist() == [
        f"{name}, {kind}" for name in ("V1", "V2", "V3") for kind in ("Overall", "MCQ", "Others")
    ]


def test_the_sisters_failed_rewordings_are_shown():
    names = [QWEN, LLAVA, "pocket-qwen2vl-small"]
    subjects = chapters.subjects(names, FROZEN_RECORDS)
    (sister,) = cross_model.left_out(subjects)
    assert sister.name == "pocket-qwen2vl-small"
    table = cross_model.alone_table(sister).frame
    judged = read_records(FROZEN_RECORDS / "conditions" / f"{sister.name}.parquet")
    for name in ("V1", "V2", "V3"):
        for kind in ("Overall", "MCQ", "Others"):
            rows = judged.ok & (judged.frame["kind"].eq(kind).to_numpy() | (kind == "Overall"))
            original, reworded = (100 * judged.correct(x)[rows].mean() for x in ("original", name))
            line = table.loc[f"{name}, {kind}"]
            assert line["original right, %"] == f"{original:.1f}"
            assert line["reworded right, %"] == f"{reworded:.1f}"
            assert line["condition"] == ("met" if kind == "Others" else "not met")
    assert table.loc["V1, Overall", ["original right, %", "reworded right, %"]].tolist() == [
        "72.1", "67.5",
    ]  # fmt: skip
    assert "(rewording not met)" in cross_model.not_asked(subjects, ["not comparable"])


def test_subsets_without_a_row_are_empty_cells(two):
    subjects, sets, right = two
    none = {name: frame & False for name, frame in sets.items()}
    frame = cross_model.matrix(subjects, none, right, "S")
    table = cross_model.matrix_table(frame, "S", cross_model.models_of(subjects)).frame
    assert set(table["", "n"]) == {"0"} and set(table["accuracy, %", "base"]) == {"—"}
    assert set(table["SCI5 − base", "verdict"]) == {"not comparable"}
    claims = cross_model.transfer(subjects, none, right)
    assert chapters.overall(claims["verdict"]) == "not comparable"
    shown = cross_model.bs_table(subjects[0], subjects, none, right).frame
    assert set(shown["Overall", "pocket"]) == {"—"}
    assert "has no row" in cross_model.left_over(subjects, none, right)
    figure = cross_model.draw_matrices({"S": frame})
    assert {text.get_text() for ax in figure.axes for text in ax.texts} == {"—"}


def test_what_is_left_over_is_told_by_part(two):
    text = cross_model.left_over(*two)
    alone, shared = text.split("On rows that are in both")
    lines = cross_model.overlap(*two)
    for part, name in ((shared, cross_model.OVERLAP[0]), (alone, cross_model.OVERLAP[1])):
        assert all(f"{abs(line['reproduced']):.2f} points" in part for line in lines[name])
    assert text.count("Qwen2-VL on LLaVA-NeXT’s BS") == 2


@pytest.mark.parametrize(
    ("shared", "alone", "said"),
    [((1, 2), (-2, -1), True), ((-1, 2), (-2, -1), False), ((1, 2), (-1, 1), False)],
)
def test_all_gain_is_of_shared_rows_where_there_is_one_and_a_loss_elsewhere(
    two, monkeypatch, shared, alone, said
):
    lines = [[{"reproduced": 1.0, "low": low, "high": high}] * 2 for low, high in (shared, alone)]
    parts = dict(zip(cross_model.OVERLAP, lines, strict=False))
    monkeypatch.setattr(cross_model, "overlap", lambda *_: parts)
    assert ("So all of its gain" in cross_model.left_over(*two)) == said


@pytest.mark.parametrize("names", [(QWEN,), (QWEN, LLAVA), (QWEN, LLAVA, "mine", "seed1")])
def test_the_figure_has_a_cell_for_every_pair(folder, names):
    found = read(folder, *names)
    matrices = {subset: cross_model.matrix(*found, subset) for subset in ("B", "BS")}
    figure = cross_model.draw_matrices(matrices)
    assert len(figure.axes) == 8
    for ax in figure.axes:
        assert len(ax.texts) == len(names) ** 2 and len(ax.patches) == len(names)
    frame = matrices["B"]
    bold = [text.get_fontweight() == "bold" for text in figure.axes[4].texts]
    apart = (frame["SCI5 − base low"] > 0) | (frame["SCI5 − base high"] < 0)
    assert bold == apart.tolist() and np.array(bold).any()
