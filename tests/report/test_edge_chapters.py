"""The chapters of the Edge Reliability Gap on made-up answers: numbers, pairs, and bad input."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sci_book.papers.edge.chapters import (
    ablations,
    accuracy,
    blur,
    calibration,
    effects,
    models,
    negation,
    taxonomy,
)
from sci_book.papers.edge.judge import TextJudge
from sci_book.papers.edge.statistics import wald_difference
from sci_book.papers.shared import intervals
from sci_book.papers.shared.tables import VERDICTS
from sci_book.pipeline import findings
from sci_book.results.records import write_records
from sci_book.results.statistics import wilson
from tests.report.edge_answers import (
    POLICIES,
    YES,
    failed,
    ledger_of,
    records_of,
    two_models,
    whole,
    written,
)
from tests.text_models import ScriptedTextModel


@pytest.fixture
def folder(tmp_path):
    return two_models(tmp_path)


@pytest.fixture
def found(folder):
    return models.read(["one", "checkpoints/two"], folder)


# --- who is there -------------------------------------------------------------------------------


def test_every_precision_and_size_is_looked_for(found, folder):
    assert [each.name for each in found.models] == ["one", "one-nf4", "two"]
    assert [each.name for each in found.full] == ["one", "two"]
    assert found.missing == ("one-small",)  # the smaller sister of the first model alone
    assert "not comparable*: one-small. " in models.missing_line(found)
    pair = found.pair
    assert (pair.compact.name, pair.large.name, pair.differ) == ("two", "one", "architecture")
    assert found.models[1].colour == found.models[0].colour != found.models[2].colour
    written(folder, one_small=whole())
    again = models.read(["one", "two"], folder)
    assert (again.pair.compact.name, again.pair.differ) == ("one-small", "scale")
    assert "scale alone" in models.pair_line(again.pair)
    assert ablations.contrast_frame(again).filter(like="scale:", axis=0)["n"].tolist() == [6]
    written(folder, one_small_nf4=whole())
    reduced = models.read(["one", "two"], folder)
    small, coarse = reduced.named("one-small"), reduced.named("one-small-nf4")
    assert (coarse.shown, coarse.precision) == ("one, small, nf4", "nf4")
    assert small.colour == coarse.colour and reduced.pair.compact is small
    line = ablations.contrast_frame(reduced).loc["precision: nf4 − full, one, small"]
    assert line["n"] == 6 and line["reproduced"] == 0


def test_no_name_is_refused():
    with pytest.raises(ValueError, match="No model is named"):
        models.read([], "nowhere")


# --- numbers by hand ----------------------------------------------------------------------------


def test_accuracy_and_what_the_coarse_rule_hides(found):
    table = accuracy.table04(found.pair).frame
    assert table.loc["questions, one", "run here"] == "75.0"
    assert table.loc["questions, one − two", "run here"] == "−25.0"
    line = accuracy.rule_shares(found).loc["one"].filter(regex="captions|passes")
    assert line.tolist() == [100, 50, 50]


def test_confidence_is_the_recorded_probability(found):
    rows = calibration.sample(found.full[0], "questions")
    assert rows["confidence"].round(6).tolist() == [0.95, 0.95, 0.95, 0.55]
    assert calibration.ece_of(found.full[0], "questions").estimate == pytest.approx(
        (3 * 0.05 + 0.55) / 4
    )
    assert calibration.gate(found).frame.loc["questions, one", "≥ 0.9"] == "75 (100)"


def test_blur_is_paired_by_row_and_selected_by_both(found):
    pair = found.pair
    rows = blur.both_right(pair)
    assert len(rows) == 5  # three questions and both captions
    assert rows["drop large"].tolist() == [0, 0, 1, 0, 0]
    table = blur.tests(pair).frame["run here"]
    assert table["discordant pairs (compact alone, large alone right)"] == "1, 0"
    assert table["ρ, compact over large"].startswith("0.00")
    assert blur.strata(pair).frame.loc["compact alone right: two", "rows"] == "1"


def test_severity_zero_is_the_same_questions_clean(found):
    curve = blur.corruption_curve(found.full[0], ["fog"]).set_index("severity")
    assert curve["accuracy"].tolist() == [0.75, 0.75, 0.75, 0.75, 0.0, 0.0]
    assert (curve["n"] == 4).all()


def test_ablations_compare_the_same_rows(found):
    frame = ablations.contrast_frame(found)
    assert frame.loc["precision: nf4 − full, one", "reproduced"] == pytest.approx(200 / 6)
    assert frame.loc["precision: int8 − full, one", "n"] == 0
    ratios = ablations.ratios(found).frame["run here"]
    assert ratios["ρ architecture: two over one"].startswith("0.00")
    paper = ablations.ratios(found).frame["paper"]
    assert paper["ρ precision: nf4 over full, one"] == paper["ρ architecture: two over one"] == "—"
    printed = paper["the paper’s ρ precision: SmolVLM2-500M / Qwen2.5-VL-7B FP16"]
    assert printed == paper["ρ scale: small over standard, one"] == "degenerate (printed as ∞)"
    assert ratios["ρ scale: small over standard, one"] == "no records"


def test_probes_are_judged_by_the_models_own_answer(found):
    one, two = found.full
    rows = one.probes()
    by = rows.groupby("template")["success"].mean()
    assert by["false_yn"] == pytest.approx(1 / 3) and by["is_not"] == 1
    assert negation.own_gap(one, "questions")["gap"].tolist() == [0, 1, 1]
    table = negation.table09(found.pair).frame
    gap = table.loc["gap, questions, large − compact (paired)"]
    assert gap["run here"] == "−16.7" and gap["n"] == "12"
    assert two.probes()["success"].mean() == 1


def test_failures_are_sorted_by_words_and_by_scene(found):
    rows = taxonomy.failures(found.full[0], "questions")
    assert rows["label"].tolist() == ["A"] and rows["scene"].tolist() == ["B"]
    captions = taxonomy.failures(found.full[0], "captions", "scene")
    assert captions["label"].tolist() == ["B"] and captions["scene"].tolist() == ["D"]
    assert not len(taxonomy.failures(found.full[0], "captions"))


def test_effects_are_turned_to_the_better_side(tmp_path):
    written(tmp_path, one=whole(no=(1, 1, 1), sci_yes=True))
    frame = effects.effect_tables(models.read(["one"], tmp_path))["one"]
    assert frame.loc["probes passed, questions", "reproduced"] == -25  # false_yn alone is lost
    assert frame.loc["whole scene, captions", "reproduced"] == -50
    assert frame.loc["accuracy, questions", "reproduced"] == 0
    assert frame["p"].between(0, 1)[frame["n"] > 0].all()


def test_two_kinds_count_alike_together():
    found = intervals.together([([1, 1, 0, 0, 0, 0], list("abcdef")), ([1, 1], list("gh"))])
    assert found.estimate == pytest.approx((1 / 3 + 1) / 2) and found.n == 8
    assert 0 < found.low < found.estimate < found.high <= 1
    assert intervals.together([([1], ["a"]), ([], [])]).n == 0


def test_the_papers_missing_rows_stand_in_the_tables(found):
    table = accuracy.table04(found.pair).frame
    assert table.loc["combined, one", "run here"] == "87.5"
    assert table.loc["combined, one", "paper"] == "73.3"
    assert table.loc["combined, one − two", ["paper", "run here"]].tolist() == ["3.3", "−12.5"]
    six = calibration.table06(found, found.pair).frame
    assert six.loc["average, two", "paper"] == "0.329"
    parts = [calibration.ece_of(found.full[0], kind).estimate for kind in ("questions", "captions")]
    assert calibration.mean_ece(found.full[0]).estimate == pytest.approx(np.mean(parts))
    seven = blur.table07(found.pair).frame["paper’s interval"]
    assert seven.tolist() == ["—", "[0.0, 7.0]"] * 2
    pairs = blur.tests(found.pair).frame.loc["discordant pairs (compact alone, large alone right)"]
    assert pairs["paper"] == "3, 3"
    nine = negation.table09(found.pair).frame.loc["change, two (by picture)"]
    assert nine[["paper", "run here"]].tolist() == ["−33.2", "0.0"]
    tests = negation.tests(found.pair).frame
    assert tests["paper: z"].tolist() == ["—", "—", "5.69"]
    assert tests["paper: p"].tolist() == ["0.19", "< 1e-16", "< 1e-08"]
    gap = wald_difference(12, 12, 10, 12)
    assert tests.loc["gap, both", "run here: z"] == f"{gap.z:.2f}".replace("-", "−")
    ten = negation.table10(found.pair).frame.loc["average"]
    assert ten["questions, one"].startswith("83 [") and ten["questions, one"].endswith("63)")


def test_bins_stand_beside_the_papers(found):
    table = calibration.bin_table(found.full[0], "questions", found.pair)
    top = table.frame.loc["[0.9, 1.0]"]
    known = wilson(3, 3)
    assert top.tolist() == [
        "2000", "0.999", "55.6", "3", "0.950", "100.0", f"[{100 * known.low:.1f}, 100.0]"
    ]  # fmt: skip
    assert table.frame.index.tolist() == ["[0.5, 0.6)", "[0.9, 1.0]"]
    assert table.frame.loc["[0.5, 0.6)", "paper: count"] == "—"
    assert "Qwen2.5-VL-7B: ECE 0.443" in table.caption
    other = calibration.bin_table(found.full[1], "questions", found.pair).frame
    assert other.loc["[0.2, 0.3)"].tolist() == ["1", "0.268", "0.0", "0", "—", "—", "—"]
    assert "paper’s" not in calibration.bin_table(found.full[0], "questions", None).caption


def test_counts_have_no_difference_and_none_where_nothing_fails(found):
    table = taxonomy.table05(found.pair).frame
    line = table.loc["questions, one: Other (E)"]
    assert line[["paper", "run here", "ours − paper", "n"]].tolist() == ["22", "0", "—", "1"]
    assert table.loc["captions, one: Other (E)", ["run here", "n"]].tolist() == ["—", "0"]


def test_failures_shown_are_of_one_category_in_both(tmp_path):
    one, two = whole(right=(0, 0, 1, 1)), whole(right=(0, 0, 1, 1))
    for row in two:
        if row["dataset"] == "questions" and row["index"] == 0:
            row |= {f"text:{policy}": "a b c d" for policy in POLICIES}
    pair = models.read(["one", "two"], written(tmp_path, one=one, two=two)).pair
    labels = [taxonomy.failures(model, "questions")["scene"].tolist() for model in pair[:2]]
    assert labels[0][0] != labels[1][0] and labels[0][1] == labels[1][1]
    grid = taxonomy.grid_rows(pair)
    assert grid.loc[grid["kind"] == "questions", "row"].tolist() == [1]


def test_a_text_model_judges_where_one_is_named(found):
    assert taxonomy.judge_of("") is None
    assert taxonomy.judge_of("some-model", "http://127.0.0.1:9/v1").name == "some-model"
    with pytest.raises(ValueError, match="begins with https"):
        taxonomy.judge_of("some-model", "http://elsewhere/v1")
    model = ScriptedTextModel('{"category": "B"}')
    rows = taxonomy.judged(found.pair, TextJudge(model))
    assert [len(rows[key]) for key in rows] == [0, 1, 1, 1] == [*map(len, rows.values())]
    assert len(model.prompts) == 3 and "What color?" in model.prompts[0]
    table = taxonomy.judged_table(found.pair, rows, "says")
    assert "Table 5 by says" in table.caption and "0 of 3 failures unjudged" in table.caption
    assert table.frame.loc["questions, one: Semantic Drift (B)", "run here"] == "100.0"
    agreement = taxonomy.judge_agreement(found.pair, rows).frame
    assert agreement.loc["questions, one", "same label, %"] == "100"
    silent = taxonomy.judged(found.pair, TextJudge(ScriptedTextModel("no JSON")))
    assert "3 of 3 failures unjudged" in taxonomy.judged_table(found.pair, silent, "x").caption
    assert taxonomy.judge_agreement(found.pair, silent).frame["failures"].tolist() == ["0"] * 4


def test_the_stamp_names_the_model_of_rows_that_differ(tmp_path):
    (tmp_path / "edge").mkdir()
    for name in ("one", "two"):
        made = records_of(whole(), name)
        made.stamp["datasets"] = {**made.stamp["datasets"], "negated questions": f"of {name}"}
        write_records(tmp_path / "edge" / f"{name}.parquet", made)
    shown = repr(models.stamp_of(models.read(["one", "two"], tmp_path)))
    for text in ("negated questions, one", "of one", "negated questions, two", "of two"):
        assert text in shown
    assert "blurred questions, one" not in shown


# --- bad input ----------------------------------------------------------------------------------


DRAWN = ("no records at all", "everything wrong")


def tables(found):
    """Every table that a chapter shows, with or without a pair."""
    yield models.rows_table(found)
    yield models.stamp_of(found)
    for show in (accuracy.rules, calibration.gate, blur.severity_table, ablations.contrast_table,
                 ablations.ratios, ablations.answers_changed, negation.examples,
                 taxonomy.agreement, effects.ece_table):  # fmt: skip
        yield show(found)
    yield calibration.table06(found, found.pair)
    yield taxonomy.grid_table(taxonomy.grid_rows(found.pair))
    if found.full:
        yield ablations.table08(found)
    for model in found.full:
        yield calibration.bin_table(model, "captions", found.pair)
        yield effects.shown(found, model)
    if found.pair:
        for show in (accuracy.table04, blur.table07, blur.tests, blur.strata,
                     negation.table09, negation.tests, negation.table10,
                     negation.readings, negation.by_template,
                     taxonomy.table05, taxonomy.concordances):  # fmt: skip
            yield show(found.pair)


def drawings(found):
    """Every figure that a chapter shows, with or without a pair."""
    for draw in (accuracy.draw, blur.draw_curves, ablations.draw, effects.draw):
        yield draw(found)
    yield calibration.draw(found, found.pair)
    for draw in (blur.draw, negation.draw, taxonomy.draw) if found.pair else ():
        yield draw(found.pair)


def both(rows):
    return {"one": rows, "two": rows}


CASES = {
    "no records at all": {},
    "one model": {"one": whole()},
    "pictures alone": both(
        [each for each in whole() if not {"negated", "corrupted"} & {*each["dataset"].split()}]
    ),
    "no captions": both([row for row in whole() if "captions" not in row["dataset"]]),
    "everything right, nothing discordant": both(
        whole(right=(1, 1, 1, 1), blurred=(1, 1, 1, 1), no=(1, 1, 1))
    ),
    "everything wrong": both(whole(right=(0, 0, 0, 0), blurred=(0, 0, 0, 0), no=())),
    "other rows": {
        "one": whole(),
        "two": [row | {"group": f"other {row['group']}"} for row in whole()],
    },
}


@pytest.mark.parametrize("case", CASES)
def test_a_chapter_without_what_it_needs_says_so(tmp_path, case):
    written(tmp_path, **CASES[case])
    found = models.read(["one", "two"], tmp_path)
    for table in tables(found):
        assert "nan" not in repr(table), table
    for figure in drawings(found) if case in DRAWN else ():
        figure.canvas.draw()
        plt.close(figure)
    made = ledger_of(tmp_path, "one", "two")
    assert {finding.verdict for finding in made} <= set(VERDICTS)
    assert CASES[case] or {finding.verdict for finding in made} == {"not comparable"}
    assert "nan" not in findings.conclusion(made)


def test_rows_with_an_error_are_left_out_and_counted(tmp_path):
    rows = whole()
    rows[0] = failed(rows[0])
    found = models.read(["one"], written(tmp_path, one=rows))
    assert len(found.full[0].answers("questions")) == 3
    assert models.rows_table(found).frame.loc["one", "with an error"] == "1"
    assert len(blur.change(found.full[0], "questions")) == 3
    assert len(found.full[0].probes()) == 8  # a probe of a row without an answer has no original


def test_an_answer_without_confidence_counts_in_accuracy_alone(tmp_path):
    rows = whole()
    rows[3]["text:SCI5"] = rows[3]["parsed:SCI5"] = "red"  # now right, by a token not kept
    rows[3]["tokens:SCI5"] = [YES]
    frame = effects.effect_tables(models.read(["one"], written(tmp_path, one=rows)))["one"]
    assert tuple(frame.loc["accuracy, questions", ["n", "reproduced"]]) == (4, 25)
    assert frame.loc["Brier score, questions", "n"] == 3
