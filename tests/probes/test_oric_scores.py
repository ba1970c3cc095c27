"""Reading answers, the metrics and their identities, sizes, encoder's analyses, the other sets."""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from sci_book.data.rows import DatasetError
from sci_book.papers.oric import answers, other_sets, scores
from sci_book.papers.oric.analysis import clip_score_table, minimum_distances
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.questions import Question, load, load_pope
from sci_book.papers.shared.text_model import Completion
from tests.soak import examples

# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "explicit", "pope"),
    [
        ("Yes", "yes", "yes"),
        ("No.", "no", "no"),
        ("no, there is not", "no", "no"),
        ("", "unknown", "yes"),
        ("I cannot tell.", "unknown", "yes"),
        ("Yes or no? I do not know.", "unknown", "no"),
        ("There is no dog", "unknown", "no"),
        ("Nothing. No dog is there", "unknown", "yes"),
        ("NO", "no", "yes"),
        ("<REASONING>No cup is seen</REASONING><SOLUTION>yes</SOLUTION>", "yes", "yes"),
        ("<SOLUTION>no</SOLUTION> yes <SOLUTION> Yes </SOLUTION>", "yes", "yes"),
        ("Yes <SOLUTION>perhaps</SOLUTION>", "unknown", "yes"),
    ],
)
def test_rules(text, explicit, pope):
    assert answers.explicit(text) == explicit
    assert answers.pope(text) == pope


class Echo:
    name = "echo"

    def __init__(self, *answers):
        self.answers, self.asked = answers, []

    def complete(self, prompts):
        self.asked += prompts
        return [Completion(*each) for each in self.answers[: len(prompts)]]


def test_second_step_asks_about_the_unread_alone():
    texts = ["yes", "hm", None, "maybe", "well"]
    assert answers.read(texts) == ["yes", "unknown", "failed", "unknown", "unknown"]
    model = Echo(("no",), ("unknown",), (None, "HTTP 500"))
    said = answers.read(texts, questions=list("abcde"), model=model)
    assert said == ["yes", "no", "failed", "unknown", "unknown"]
    assert len(model.asked) == 3 and "Question: b\n" in model.asked[0]
    with pytest.raises(ValueError, match="0 questions came for 5 texts"):
        answers.read(texts, model=model)


# --- metrics -------------------------------------------------------------------------------------

ANSWERS = ("yes", "no", "unknown", "failed")
ROWS = st.lists(
    st.tuples(st.sampled_from(("yes", "no")), st.sampled_from(ANSWERS)), min_size=1, max_size=60
)


def value(truth, said):
    return {n: float(v) for n, v in scores.metrics(scores.counts(truth, said)).items()}


@given(ROWS)
def test_identities(rows):
    truth, said = zip(*rows, strict=True)
    table, found = scores.counts(truth, said), value(truth, said)
    assert table["positives"] + table["negatives"] + table["failed"] == len(rows)
    assert sum(table[n] for n in ("tp", "fp", "tn", "fn", "unknown", "failed")) == len(rows)
    if not (table["positives"] and table["negatives"]):
        return
    for name in ("precision", "recall", "f1"):
        both = found[f"{name}_yes"], found[f"{name}_no"]
        assert found[name] == pytest.approx(sum(both) / 2)
        assert min(both) >= 0 and max(both) <= 100 + 1e-9
    for label in ("yes", "no"):
        p, r = found[f"precision_{label}"], found[f"recall_{label}"]
        assert found[f"f1_{label}"] == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    n = table["positives"] + table["negatives"]
    false_yes = 100 * table["fp"] / table["negatives"]
    share = table["positives"] / n
    expected = share * found["recall_yes"] + (1 - share) * false_yes
    assert found["yes_proportion"] == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from(ANSWERS[:3]), st.sampled_from(ANSWERS[:3])), min_size=1))
def test_identities_of_balanced_labels(pairs):
    """As many yes as no: accuracy is macro recall, and the yes-proportion follows from recalls."""
    truth = ["yes"] * len(pairs) + ["no"] * len(pairs)
    said = [a for a, _ in pairs] + [b for _, b in pairs]
    found, table = value(truth, said), scores.counts(truth, said)
    accuracy = 100 * np.mean([a == b for a, b in zip(truth, said, strict=True)])
    assert found["recall"] == pytest.approx(accuracy)
    false_yes = 100 * table["fp"] / table["negatives"]
    assert found["yes_proportion"] == pytest.approx((found["recall_yes"] + false_yes) / 2)
    derived = scores.yes_proportion_from_recalls(found["recall_yes"], found["recall_no"])
    if not table["unknown"]:
        assert found["yes_proportion"] == pytest.approx(derived)
    else:
        assert found["yes_proportion"] <= derived + 1e-9


@examples(40)
@given(st.lists(st.tuples(*[st.sampled_from(("yes", "no"))] * 2), min_size=2, max_size=40))
def test_metrics_are_those_of_a_library(rows):
    truth, said = zip(*rows, strict=True)
    if len(set(truth)) < 2:
        return
    found = value(truth, said)
    labels = ["yes", "no"]
    by_class = precision_recall_fscore_support(truth, said, labels=labels, zero_division=0)
    for name, values in zip(("precision", "recall", "f1"), by_class, strict=False):
        assert [found[f"{name}_yes"], found[f"{name}_no"]] == pytest.approx(100 * values)


def test_constant_answers():
    truth = ["yes", "no"] * 10
    always_no = value(truth, ["no"] * 20)
    # Llama's row of Table 3
    assert [always_no[n] for n in scores.METRICS] == pytest.approx(
        [25, 50, 100 / 3, 0, 0, 0, 0, 50, 100, 200 / 3]
    )
    silent = value(truth, ["unknown"] * 20)
    assert silent["yes_proportion"] == silent["recall"] == silent["f1"] == 0


def test_table_averages_prompts_and_not_answers():
    truth, images = ["yes", "yes", "no", "no"] * 8, [str(i // 2) for i in range(32)]
    prompts = [["yes", "yes", "no", "no"] * 8, ["yes", "yes", "yes", "no"] * 8, ["no"] * 32,
               ["unknown"] * 31 + ["failed"]]  # fmt: skip
    table = scores.score_table(truth, prompts, images).set_index("metric")
    each = [value(truth, said) for said in prompts]
    for name in scores.METRICS:
        assert table.loc[name, "value"] == pytest.approx(np.mean([found[name] for found in each]))
        assert table.loc[name, "low"] <= table.loc[name, "value"] <= table.loc[name, "high"]
    # the mean of harmonic means lies below the harmonic mean of the means
    p, r = table.loc["precision_yes", "value"], table.loc["recall_yes", "value"]
    assert table.loc["f1_yes", "value"] < 2 * p * r / (p + r)
    assert table.attrs == {
        "unknown": pytest.approx(100 * 31 / 128), "failed": pytest.approx(100 / 128), "n": 32
    }  # fmt: skip


def test_answers_and_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="1 answers came for 2 questions"):
        scores.counts(["yes", "no"], ["yes"])
    with pytest.raises(ValueError, match="Labels are yes or no; got maybe, no"):
        scores.counts(["maybe", "no"], ["yes", "no"])


# --- sizes and the ablation ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("area", "printed", "coco"),
    [(575.9, "small", "small"), (576, "medium", "small"), (1023.9, "medium", "small"),
     (1024, "medium", "medium"), (9215.9, "medium", "medium"), (9216, "large", "large"),
     (float("nan"), None, None)],
)  # fmt: skip
def test_limits(area, printed, coco):
    assert scores.size_of(area) == printed
    assert scores.size_of(area, "coco") == coco


def test_recall_by_size():
    truth = ["yes"] * 6 + ["no"] * 2
    areas = [100, 100, 5000, 5000, 10_000, float("nan"), 100, 100]
    said = [["yes", "no", "yes", "yes", "unknown", "yes", "no", "no"], ["yes"] * 8]
    table = scores.recall_by_size(truth, said, areas, list("aabbccdd"))
    assert table["n"].tolist() == [2, 2, 1] and table["share"].tolist() == [40, 40, 20]
    assert table["recall"].tolist() == [75, 100, 50] and table.attrs["unknown"] == 1
    with pytest.raises(ValueError, match="2 areas and 8 pictures"):
        scores.recall_by_size(truth, said, areas[:2], list("aabbccdd"))


def test_ablation():
    truth = ["yes"] * 2 + ["no"] * 2
    table = scores.ablation_table(
        {
            ("random", "random"): (truth, [["yes", "yes", "no", "no"]]),
            ("guided", "random"): (truth, [["no", "yes", "no", "no"]]),
            ("random", "guided"): (truth, [["yes", "yes", "yes", "yes"]]),
        }
    )
    assert table["change_yes"].tolist() == [0, -50, 0]
    assert table["change_no"].tolist() == [0, 0, -100]
    with pytest.raises(ValueError, match="not among these"):
        scores.ablation_table({("guided", "random"): (truth, [["yes"] * 4])})


# --- what an encoder says ------------------------------------------------------------------------

SHOWN = Stored(
    {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0]), "c": np.array([0.6, 0.8])},
    {
        "an image contains cup": np.array([1.0, 0.0]),
        "an image contains cow": np.array([0.0, 1.0]),
    },
)


def asked(image, target, label):
    return Question(image, target, label, ("?",))


def test_clip_scores_by_hand():
    sets = {
        "near": [asked("a", "cup", "yes"), asked("b", "cow", "yes"), asked("c", "cup", "no")],
        "none": [],
    }
    table = clip_score_table(sets, SHOWN, "pictures").set_index(["set", "label"])
    assert table.loc[("near", "yes"), "score"] == pytest.approx(100)
    assert table.loc[("near", "no"), "score"] == pytest.approx(60, abs=1e-4)
    assert table.loc[("none", "no"), "n"] == 0 and np.isnan(table.loc[("none", "no"), "score"])


def test_minimum_distances_by_hand():
    questions = [
        asked("a", "cup", "yes"), asked("b", "cup", "no"), asked("c", "cup", "no"),
        asked("a", "cow", "yes"), asked("b", "ufo", "no"), asked("b", "pot", "yes"),
        asked("b", "pot", "no"),
    ]  # fmt: skip
    table = minimum_distances(questions, SHOWN, "pictures")
    assert table["object"].tolist() == ["cup"]  # the others have one side, or one picture
    assert table["distance"].tolist() == pytest.approx([0.4])
    assert table[["positive", "negative"]].to_numpy().tolist() == [[1, 2]]


# --- other sets ----------------------------------------------------------------------------------


def test_hallusionbench_counts_figures_and_pairs(tmp_path):
    rows = [
        {"category": "VS", "subcategory": "s", "set_id": "0", "figure_id": figure,
         "question_id": question, "question": "Is it?", "gt_answer": answer,
         "filename": None if figure == "0" else f"./{figure}.png"}
        for figure, question, answer in
        [("0", "0", "1"), ("0", "1", "0"), ("1", "0", "1"), ("1", "1", "0"), ("2", "0", "0")]
    ]  # fmt: skip
    rows += [rows[0] | {"gt_answer": "2"}, rows[0] | {"question": ""},
             rows[2] | {"filename": "../x"}]  # fmt: skip
    path = tmp_path / "h.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = other_sets.load_hallusionbench(path)
    assert found.reasons() == {
        "answer that is neither yes nor no": 1, "no question": 1, "picture outside its folder": 1
    }  # fmt: skip
    right = [item.label for item in found.items]
    table = other_sets.hallusionbench_scores(found.items, right)
    assert table[["aAcc", "fAcc", "qAcc", "macro_f1"]].to_numpy().tolist() == [[100] * 4] * 2
    said = ["no", "no", "yes", "unknown", "no"]  # question 0 without a figure, 1 on figure 1
    (line,) = other_sets.hallusionbench_scores(found.items, said).query("group == 'all'").iloc
    assert line["aAcc"] == 60 and line["figures"] == 2 and line["fAcc"] == 50
    assert line["pairs"] == 2 and line["qAcc"] == 0 and line["unknown"] == 1
    said = ["yes", "no", "yes", "failed", "no"]
    (line,) = other_sets.hallusionbench_scores(found.items, said).query("group == 'all'").iloc
    assert line["n"] == 4 and line["figures"] == line["pairs"] == line["failed"] == 1
    with pytest.raises(ValueError, match="0 answers came for 5 questions"):
        other_sets.hallusionbench_scores(found.items, [])


@pytest.mark.parametrize("scores", [other_sets.hallusionbench_scores, other_sets.amber_scores])
def test_no_question_is_one_line_without_figures(scores):
    (line,) = scores([], []).iloc
    assert line["group"] == "all" and line["n"] == line["unknown"] == line["failed"] == 0
    assert np.isnan(line["macro_f1"])


def test_amber_takes_no_as_the_positive_class(tmp_path):
    types = ["generative", "relation", "discriminative-relation", "discriminative-hallucination",
             "odd", "relation"]  # fmt: skip
    truths = [[], "no", "yes", "no", "no", "perhaps"]
    queries = [{"id": i, "image": f"{i}.jpg", "query": "Is it?"} for i in range(7)]
    told = [{"id": i, "type": t, "truth": truths[i]} for i, t in enumerate(types)]
    for name, content in (("q", queries), ("a", told)):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    found = other_sets.load_amber(tmp_path / "q", tmp_path / "a")
    assert [item.group for item in found.items] == ["relation", "relation", "existence"]
    assert found.reasons() == {
        "unknown type": 1, "answer that is neither yes nor no": 1, "no annotation": 1
    }  # fmt: skip
    table = other_sets.amber_scores(found.items, ["no", "no", "yes"]).set_index("group")
    assert table.loc["all", ["precision", "recall", "f1"]].tolist() == [50, 50, 50]
    assert table.loc["relation", "accuracy"] == 50 and table.loc["existence", "f1"] == 0
    assert np.isnan(table.loc["existence", "macro_f1"])
    with pytest.raises(DatasetError, match="does not exist"):
        other_sets.load_amber(tmp_path / "none", tmp_path / "a")


# --- the real data -------------------------------------------------------------------------------

real = pytest.mark.skipif(
    "SCI_REAL_DATA" not in os.environ, reason="SCI_REAL_DATA names no folder of real annotations"
)


@real
def test_constant_models_on_the_real_sets():
    folder = Path(os.environ["SCI_REAL_DATA"])
    oric = load(folder / "oric" / "oric_bench.json").items
    pope = load_pope(folder / "pope" / "coco_pope_random.jsonl").items
    for items in (oric, pope):
        truth = [q.label for q in items]
        found = value(truth, ["yes"] * len(items))
        assert found["recall"] == 50 and found["f1"] == pytest.approx(100 / 3)
        assert found["yes_proportion"] == found["recall_yes"] == 100

    amber = other_sets.load_amber(
        folder / "amber" / "query_all.json", folder / "amber" / "annotations.json"
    )
    assert len(amber.items) == 14_216 and not amber.problems
    groups = Counter(item.group for item in amber.items)
    assert groups == {"existence": 4924, "attribute": 7628, "relation": 1664}
    (line,) = other_sets.amber_scores(amber.items, ["no"] * 14_216).query("group == 'all'").iloc
    assert line["precision"] == line["accuracy"] == pytest.approx(100 * 9427 / 14_216)
    assert line["recall"] == 100 and line["macro_f1"] < 50 < line["f1"]

    bench = other_sets.load_hallusionbench(folder / "hallusionbench" / "HallusionBench.json")
    assert len(bench.items) == 1129 and not bench.problems
    no = other_sets.hallusionbench_scores(bench.items, ["no"] * 1129).set_index("group")
    assert no.loc["all", ["figures", "pairs"]].tolist() == [346, 455]
    assert no.loc["all", "aAcc"] == pytest.approx(100 * 645 / 1129)
    assert no.loc["all", "macro_f1"] == pytest.approx(100 * 645 / (1129 + 645))
