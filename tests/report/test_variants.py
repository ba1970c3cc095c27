"""Variants against conclusions: each changes what it names, and verdicts follow intervals."""

import dataclasses

import made_up
import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import variants, variants_tables
from sci_book.papers.sci.chapters.variants import Evaluated, Variant
from sci_book.papers.shared import chapters, tables
from sci_book.results.drbench import split, subsets
from sci_book.results.records import write_records
from sci_core.methods import M3ID, SCI5, TIE

QWEN, BARE = "pocket-qwen2vl", "bare"
SOURCES = {"first token", "clamp", "normalized"}


@pytest.fixture(scope="module")
def pair(beside):
    return chapters.subjects([QWEN, BARE], beside)


@pytest.fixture(scope="module")
def found(beside, pair):
    return {
        each.name: variants.evaluated(each, beside / "extended", "any", "rows") for each in pair
    }


def by_name(found):
    return {each.variant.name: each for each in found}


def points(sets, one, two, subset):
    rows = sets[subset].to_numpy()
    return 100 * (one[rows].mean() - two[rows].mean())


def test_every_choice_of_the_specification_is_there():
    listed = variants.variants("any", "rows")
    names = [each.name for each in listed]
    assert names[0] == "default" and len(set(names)) == len(names) == 18
    assert {each.source for each in listed} - {""} == SOURCES
    assert variants.variants("all", "groups")[1].quantifier == "any"
    assert variants.variants("all", "groups")[2].split_by == "rows"
    changed = {each.name: [each.change(m) for m in variants.EDITED] for each in listed}
    assert changed["default"] == list(variants.EDITED)
    assert {each.log_probs for each in changed["log-probabilities"]} == {True}
    assert changed["M3ID, own clock"][2] == dataclasses.replace(M3ID, clock="generated")
    assert changed["TIE, β = 0.5"][0] == dataclasses.replace(TIE, beta=0.5)
    assert changed["SCI, β = 0.8"][:3] == list(variants.EDITED[:3])
    assert changed["SCI, margin of SCI5"][4].raw_margin == pytest.approx(
        SCI5.tau1 * np.log(1 / SCI5.beta)
    )


def test_the_default_is_the_recorded_answers_beside_the_papers_numbers(pair, found):
    first = found[QWEN][0]
    records, sets = pair[0].records, pair[0].sets("any", "rows")
    for method, other, subset in variants.CONCLUSIONS:
        line = first.lines.loc[f"{method} − {other}, {subset}"]
        gap = points(sets, records.correct(method), records.correct(other), subset)
        assert line["reproduced"] == pytest.approx(gap)
    assert first.lines.loc["SCI5 − VCD, BS", "paper"] == pytest.approx(29.50 - 23.12)
    assert found[BARE][0].lines["paper"].isna().all()
    assert first.reference is first.lines and first.proven is None


def test_a_reading_changes_the_rows_and_not_the_answers(pair, found):
    records, lines = pair[0].records, by_name(found[QWEN])
    for name, sets in (
        ("“all” (∀)", pair[0].sets("all", "rows")),
        ("split by groups", pair[0].sets("any", "groups")),
        (
            "answers compared raw",
            subsets(records, "any", "raw_prefix") & (split(records) == "test")[:, None],
        ),
    ):
        gap = points(sets, records.correct("SCI5"), records.correct("VCD"), "BS")
        assert lines[name].lines.loc["SCI5 − VCD, BS", "reproduced"] == pytest.approx(gap)
        assert lines[name].known is None


def test_a_method_is_replayed_and_the_others_stay(pair, found):
    lines, base = by_name(found[QWEN]), found[QWEN][0].lines
    changed = lines["TIE, β = 0.5"]
    sets = pair[0].sets("any", "rows")
    tie = pair[0].replay.right(dataclasses.replace(TIE, beta=0.5))
    gap = points(sets, pair[0].records.correct("SCI5"), tie, "BS")
    assert changed.lines.loc["SCI5 − TIE, BS", "reproduced"] == pytest.approx(gap)
    others = [name for name in base.index if "TIE" not in name]
    pd.testing.assert_frame_equal(
        changed.lines.loc[others].drop(columns="paper"), base.loc[others].drop(columns="paper")
    )
    assert changed.proven == changed.known == 100


@pytest.mark.parametrize(
    ("text", "truth", "right"),
    [("10", "1", 1), ("1", "10", 0), ("Yes.", "yes", 1), ("no", "yes", 0), ("B) red", "B", 1)],
)
def test_the_references_score_asks_how_an_answer_begins(text, truth, right):
    records = made_up.records_of(rows=4)
    for name, value in (("text:SCI5", text), ("truth", truth)):
        place = records.table.column_names.index(name)
        column = records.table[name].to_pylist()
        table = records.table.set_column(place, name, [[value, *column[1:]]])
        records = dataclasses.replace(records, table=table)
    outcome = variants.by_prefix(records, "SCI5")
    assert outcome[0] == right and np.isnan(outcome[-1])


def test_variants_with_records_of_their_own_are_compared_on_their_rows(pair, found, beside):
    lines = by_name(found[QWEN])
    inside = np.arange(150) < 90
    sets = pair[0].sets("any", "rows") & inside[:, None]
    records = pair[0].records
    gap = points(sets, records.correct("SCI5"), records.correct("VCD"), "BS")
    for name in ("first token alone", "noise cut", "noise cut, old subsets"):
        assert lines[name].reference.loc["SCI5 − VCD, BS", "reproduced"] == pytest.approx(gap)
    # One token decides these answers, so editing the first alone changes nothing.
    once = lines["first token alone"]
    pd.testing.assert_frame_equal(once.lines, once.reference)
    counts = [lines[f"noise cut{text}"].lines["n"].tolist() for text in ("", ", old subsets")]
    assert counts[0] != counts[1] == lines["noise cut"].reference["n"].tolist()


def test_variants_without_records_have_no_row(found):
    missing = {each.variant.name for each in found[QWEN] if not each.lines["n"].any()}
    assert missing == {"noise on tensor", "noise on tensor, old subsets"}
    for each in found[BARE]:
        assert each.lines["n"].any() == (each.variant.source not in SOURCES)
        assert "nan" not in repr(each.lines["verdict"].tolist())


def evaluated(name, before, after, n=10):
    frames = [
        pd.DataFrame(
            {"paper": np.nan, "reproduced": 1.0, "n": n, "low": 0.0, "high": 2.0,
             "verdict": verdicts},
            index=[f"c{k}" for k in range(len(verdicts))],
        )
        for verdicts in (after, before)
    ]  # fmt: skip
    return Evaluated(Variant(name), *frames)


@pytest.mark.parametrize(
    ("before", "after", "n", "turns", "verdict"),
    [
        (["holds", "fails"], ["holds", "fails"], 10, [], "holds"),
        (["holds", "fails"], ["fails", "inconclusive"], 10, [True, False], "fails"),
        (["inconclusive", "fails"], ["holds", "fails"], 10, [False], "inconclusive"),
        (["inconclusive", "holds"], ["inconclusive", "holds"], 10, [], "holds"),
        # An absent verdict changes nothing, and without rows there is nothing to compare.
        (["holds", "not comparable"], ["not comparable", "holds"], 10, [], "holds"),
        (["holds"], ["holds"], 0, [], "not comparable"),
    ],
)
def test_a_conclusion_turns_over_only_from_holds_to_fails(before, after, n, turns, verdict):
    lines = [evaluated("default", before, before), evaluated("v", before, after, n)]
    assert variants_tables.changes(lines)["turns"].tolist() == turns
    assert variants_tables.verdict_of({"m": lines}) == verdict


def test_two_variants_may_oppose_each_other_about_an_undecided_default():
    default = ["inconclusive"]
    lines = [evaluated("default", default, default), evaluated("a", default, ["holds"])]
    assert variants_tables.verdict_of({"m": lines}) == "inconclusive"
    lines.append(evaluated("b", default, ["fails"]))
    against = variants_tables.opposed(lines)
    assert against.to_dict("records") == [{"conclusion": "c0", "holds": ["a"], "fails": ["b"]}]
    assert variants_tables.verdict_of({"m": lines}) == "fails"


def test_the_matrix_shows_the_default_anew_where_the_rows_are_others(pair, found):
    names = [name for name, _ in variants_tables.named_lines(found[QWEN])]
    assert names.index(variants_tables.PART) == names.index("first token alone") - 1
    assert names.count(variants_tables.PART) == 1 and len(names) == 19
    assert variants_tables.PART not in [n for n, _ in variants_tables.named_lines(found[BARE])]
    table = variants_tables.matrix_table(pair[0], found[QWEN])
    line = found[QWEN][0].lines.loc["SCI5 − base, B"]
    mark = variants_tables.MARKS[line["verdict"]]
    assert table.frame.loc["default", ("B", "SCI5 − base")] == f"{line['reproduced']:.1f} {mark}"
    assert set(table.frame.loc["noise on tensor"]) == {"—"}
    assert "verdict" not in table._repr_html_()


def test_changes_and_certainty_are_told(pair, found):
    table = variants_tables.changes_table(pair, found)
    assert len(table.frame) == sum(len(variants_tables.changes(each)) for each in found.values())
    nothing = {QWEN: [evaluated("default", ["holds"], ["holds"])]}
    assert len(variants_tables.changes_table(pair[:1], nothing).frame) == 0
    replayed = variants_tables.replay_table(pair, found).frame
    assert "log-probabilities" in replayed.index and "noise cut" not in replayed.index
    text = variants_tables.sentence(pair, found)
    assert "10 conclusions were compared under 15 variants" in text and "12 variants" in text
    assert "not comparable*: noise on tensor" in text
    over = {
        QWEN: [evaluated("default", ["holds"], ["holds"]), evaluated("v", ["holds"], ["fails"])]
    }
    text = variants_tables.sentence(pair[:1], over)
    assert "Of 1 verdicts 1 go from" in text and "1 of them turns on a reading: " in text
    assert "“c0” holds under *default*, and fails under *v*." in text
    frame = variants_tables.opposed_table(pair[:1], over).frame
    assert frame.loc["Qwen2-VL: c0"].tolist() == ["default", "v"]


def test_the_matrix_is_drawn(pair, found):
    for each in pair:
        variants_tables.draw_matrix(each, found[each.name]).canvas.draw()


def test_a_model_without_some_rows_still_has_every_table(tmp_path):
    write_records(tmp_path / "mcq.parquet", made_up.records_of("mcq", rows=9, kinds=("mcq",)))
    only = chapters.subjects(["mcq"], tmp_path)
    found = {"mcq": variants.evaluated(only[0], tmp_path / "none", "all", "groups")}
    for table in (
        variants_tables.matrix_table(only[0], found["mcq"]),
        variants_tables.changes_table(only, found),
        variants_tables.replay_table(only, found),
    ):
        assert "nan" not in repr(table).lower()
    variants_tables.draw_matrix(only[0], found["mcq"])
    assert variants_tables.verdict_of(found) in tables.VERDICTS
