"""The pages of the Edge Reliability Gap on made-up answers: numbers, pairs, and bad input."""

import pytest

from sci_book.papers.edge.chapters import measures, models
from sci_book.papers.edge.statistics import wald_difference
from sci_book.papers.shared import frame, intervals, text_model
from sci_book.papers.shared.tables import VERDICTS
from sci_book.pipeline import findings
from sci_book.results.records import write_records
from sci_book.results.statistics import of_mean, wilson
from tests.papers.edge.edge_answers import (
    POLICIES,
    YES,
    failed,
    ledger_of,
    records_of,
    two_models,
    whole,
    written,
)
from tests.papers.edge.edge_pages import shown, tables
from tests.soak import mostly
from tests.text_models import ScriptedTextModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return two_models(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def found(folder):
    return models.read(["one", "checkpoints/two"], folder)


@pytest.fixture(scope="module")
def pages(folder):
    """The tables of both pages of a pair, by page and name."""
    return {page: tables(page, folder) for page in ("edge_errors", "edge_stress")}


# --- who is there -------------------------------------------------------------------------------


def test_every_precision_and_size_is_looked_for(tmp_path):
    found = models.read(["one", "checkpoints/two"], two_models(tmp_path))
    assert [each.name for each in found.models] == ["one", "one-nf4", "two"]
    assert [each.name for each in found.full] == ["one", "two"]
    assert found.missing == ("one-small",)  # the smaller sister of the first model alone
    assert "not comparable*: one-small." in models.about(found)
    assert [each.name for each in found.pair] == ["two", "one"]
    assert "differ in architecture" in models.about(found)
    one, one_nf4, two = (found.colours[each.name] for each in found.models)
    assert one_nf4 == one != two
    written(tmp_path, one_small=whole(), one_small_nf4=whole())
    found = models.read(["one", "two"], tmp_path)
    assert "scale alone" in models.about(found)
    small, coarse = found.named("one-small"), found.named("one-small-nf4")
    assert (coarse.shown, found.precision(coarse)) == ("one, small, nf4", "nf4")
    assert found.colours["one-small"] == found.colours["one-small-nf4"]
    assert found.pair[0] is small and found.precision(small) == "float32"
    contrasts = tables("edge_stress", tmp_path)["contrasts"]["here"].str.partition(" ")[0]
    assert contrasts["scale: small − standard, one"] == "0.0"
    assert contrasts["precision: nf4 − full, one, small"] == "0.0"
    assert "precision: int8 − full, one" not in contrasts  # which has no records


def test_a_further_training_drops_in_where_both_models_have_it(tmp_path):
    written(tmp_path, one=whole(), two=whole())
    again = records_of(whole((0, 0, 0, 0)), "one")
    write_records(tmp_path / "training1" / "edge" / "one.parquet", again)
    one, two = models.read(["one", "two"], tmp_path).full

    def right(training):
        return models.answers(training, "questions")

    def against(training):
        return models.paired(right(training), right(models.of_training(two, training)))

    lines = [models.line(one, rows, "right") for rows in (right, against)]
    assert frame.measured(lines)["others"].tolist() == [(0,), ()]
    assert models.of_training(two, one) is two


def test_no_name_is_refused():
    with pytest.raises(ValueError, match="No model is named"):
        models.read([], "nowhere")


# --- numbers by hand ----------------------------------------------------------------------------


TOP = wilson(3, 3).times(100).low
Z = f"{wald_difference(12, 12, 10, 12).z:.2f}".replace("-", "−")
HAND = {
    "edge_errors": [
        ("table04", "questions: one", "here", "75.0"),
        ("table04", "questions: large − compact", "here", "−25.0"),
        ("table04", "combined: one", "paper", "73.3"),
        ("table04", "combined: one", "here", "87.5"),
        ("table04", "combined: large − compact", "here", "−12.5"),
        ("rules", "one", "captions, whole scene", "50.0"),
        ("rules", "one", "passes, but wrong", "50.0"),
        ("table05", "questions, large: E", "paper", "22"),
        ("table05", "questions, large: A", "by the tree", "100.0 [20.7, 100.0]"),
        ("table05", "questions, large: B", "by the scene", "100.0 [20.7, 100.0]"),
        ("table05", "questions, large: E", "by the tree", "0"),
        ("table05", "captions, large: E", "by the tree", "—"),
        ("table05", "captions, large: D", "by the scene", "1"),
        ("table06", "questions: one", "here", f"{(3 * 0.05 + 0.55) / 4:.3f}"),
        ("table06", "average: one", "here", f"{((3 * 0.05 + 0.55) / 4 + 0.2) / 2:.3f}"),
        ("table06", "average: two", "paper", "0.329"),
        ("gate", "questions, one", "≥ 0.9", "75 (100)"),
        ("bins", "questions: one: from 0.9", "paper: count", "2000"),
        ("bins", "questions: one: from 0.9", "here: confidence", "0.950"),
        ("bins", "questions: one: from 0.9", "here", f"100.0 [{TOP:.1f}, 100.0]"),
        ("bins", "questions: two: from 0.2", "paper: confidence", "0.268"),
        ("bins", "questions: two: from 0.2", "here: count", "—"),
    ],
    "edge_stress": [
        ("table07", "drop: one", "n", "5"),  # three questions and both captions
        ("table07", "drop: one", "here", "20.0"),
        ("table07", "drop: one", "paper’s interval", "0.0 to 7.0"),
        ("tests", "right alone: compact, large", "paper", "3, 3"),
        ("tests", "right alone: compact, large", "here", "1, 0"),
        ("strata", "compact alone right: two", "n", "1"),
        ("contrasts", "precision: nf4 − full, one", "here", f"{200 / 6:.1f}"),
        ("table09", "change: two", "here", "0.0"),
        ("table09", "change: two", "paper", "−33.2"),
        ("negation-gap", "both", "z", Z),
        ("negation-gap", "questions", "paper: p", "0.19"),
        ("negation-gap", "both", "paper: p", "< 1e-08"),
        ("readings", "paper: one", "false_yn", "33"),
    ],
}


@pytest.mark.parametrize("page", HAND)
def test_a_pages_numbers_are_those_counted_by_hand(pages, page):
    for table, line, column, expected in HAND[page]:
        shown_there = pages[page][table].loc[line, column]
        whole_cell = "[" in expected or " [" not in shown_there
        assert (shown_there if whole_cell else shown_there.split(" [")[0]) == expected


def test_severity_zero_is_the_same_questions_clean(found):
    rows = measures.corrupted(found.full[0])
    right = rows.groupby("severity")[["clean", "right"]].mean()
    assert right["clean"].tolist() == [0.75] * 5
    assert right["right"].tolist() == [0.75, 0.75, 0.75, 0.0, 0.0]


def test_probes_are_judged_by_the_models_own_answer(found):
    one, two = found.full
    by = models.probes(one).groupby("template")["success"].mean()
    assert by["false_yn"] == pytest.approx(1 / 3) and by["is_not"] == 1
    assert models.probes(two)["success"].mean() == 1


def test_effects_are_of_the_same_rows(tmp_path):
    rows = whole(no=(1, 1, 1), sci_yes=True)
    rows[3]["text:SCI5"] = rows[3]["parsed:SCI5"] = "red"  # now right, by a token not kept
    rows[3]["tokens:SCI5"] = [YES]
    table = tables("edge_sci", written(tmp_path, one=rows), models=["one"])["effects-SCI5"]["one"]
    change = table["here"].str.partition(" ")[0]
    assert change["probes passed, questions"] == "−25.00"  # false_yn alone is lost
    assert change["whole scene, captions"] == "−50.00"
    assert (change["accuracy, questions"], table.loc["accuracy, questions", "n"]) == ("25.00", "4")
    assert table.loc["Brier score, questions", "n"] == "3"  # of an answer without confidence not


def test_two_kinds_count_alike_together():
    parts = [([1, 1, 0, 0, 0, 0], list("abcdef")), ([1, 1], list("gh"))]
    found = intervals.mean_of_means([[of_mean(*part) for part in parts]])
    assert found.estimate == pytest.approx((1 / 3 + 1) / 2) and found.n == 8
    assert 0 < found.low < found.estimate < found.high <= 1
    assert not intervals.mean_of_means([[of_mean([1], ["a"]), of_mean([], [])]]).n


def test_failures_shown_are_of_one_category_in_both(tmp_path):
    one, two = whole(right=(0, 0, 1, 1)), whole(right=(0, 0, 1, 1))
    for row in two:
        if row["dataset"] == "questions" and row["index"] == 0:
            row |= {f"text:{policy}": "a b c d" for policy in POLICIES}
    grid = tables("edge_errors", written(tmp_path, one=one, two=two))["prose-grid"]
    assert grid.index.tolist() == ["question 1", "caption 1"]


@pytest.mark.parametrize(("reply", "label"), [('{"category": "B"}', "100.0"), ("no JSON", "—")])
def test_a_text_model_judges_where_one_is_named(folder, monkeypatch, reply, label):
    judge = ScriptedTextModel(reply)
    monkeypatch.setattr(text_model, "text_model", lambda name, url: judge if name else None)
    found = tables("edge_errors", folder, judge="says")
    assert "What color?" in judge.prompts[0]
    line = found["table05"].loc["questions, large: B"]
    assert line["by scripted"].split(" [")[0] == label
    assert found["agreement"].loc["questions, one: scripted", "failures"] == str(int(label != "—"))


def test_the_stamp_names_the_model_of_rows_that_differ(tmp_path):
    (tmp_path / "edge").mkdir()
    for name in ("one", "two"):
        made = records_of(whole(), name)
        made.stamp["datasets"] = {**made.stamp["datasets"], "negated questions": f"of {name}"}
        write_records(tmp_path / "edge" / f"{name}.parquet", made)
    said = repr(models.stamp_of(models.read(["one", "two"], tmp_path)))
    for text in ("negated questions, one", "of one", "negated questions, two", "of two"):
        assert text in said
    assert "blurred questions, one" not in said


# --- bad input ----------------------------------------------------------------------------------


def both(rows):
    return {"one": rows, "two": rows}


PICTURES = [row for row in whole() if not {"negated", "corrupted"} & {*row["dataset"].split()}]
CASES = {
    "no captions": both([row for row in whole() if "captions" not in row["dataset"]]),
    "pictures alone": both(PICTURES),
    "everything right": both(whole(right=(1, 1, 1, 1), blurred=(1, 1, 1, 1), no=(1, 1, 1))),
    "everything wrong": both(whole(right=(0, 0, 0, 0), blurred=(0, 0, 0, 0), no=())),
    "other rows": {
        "one": whole(),
        "two": [row | {"group": f"other {row['group']}"} for row in whole()],
    },
}


@pytest.mark.parametrize("case", mostly([*CASES]))
def test_a_page_without_what_it_needs_says_so(tmp_path, case):
    written(tmp_path, **CASES[case])
    for page in ("edge_sci", "edge_errors", "edge_stress"):
        for each in shown(page, tmp_path):
            assert "nan" not in repr(each), each
    made = ledger_of(tmp_path, "one", "two")
    assert {finding.verdict for finding in made} <= set(VERDICTS)
    assert "nan" not in findings.conclusion(made)


def test_rows_with_an_error_are_left_out_and_counted(tmp_path):
    rows = whole()
    rows[0] = failed(rows[0])
    found = models.read(["one"], written(tmp_path, one=rows))
    assert len(models.answers(found.full[0], "questions")) == 3
    assert models.rows_table(found).frame.loc["one", "with an error"] == "1"
    assert len(measures.changes(found.full[0]).loc["questions"]) == 3
    assert len(models.probes(found.full[0])) == 8  # of a row without an answer there is none
