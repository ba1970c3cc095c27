"""Reading answers, the metrics and their identities, sizes, encoder's analyses, the other sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from sci_book.papers.oric import other_sets, scores
from sci_book.papers.oric.analysis import minimum_distances
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.questions import Question, explicit

# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes", "yes"),
        ("No.", "no"),
        ("no, there is not", "no"),
        ("", "unknown"),
        ("I cannot tell.", "unknown"),
        ("Yes or no? I do not know.", "unknown"),
        ("There is no dog", "unknown"),
        ("Nothing. No dog is there", "unknown"),
        ("NO", "no"),
        ("<REASONING>No cup is seen</REASONING><SOLUTION>yes</SOLUTION>", "yes"),
        ("<SOLUTION>no</SOLUTION> yes <SOLUTION> Yes </SOLUTION>", "yes"),
        ("Yes <SOLUTION>perhaps</SOLUTION>", "unknown"),
    ],
)
def test_yes_and_no_are_read_by_the_papers_rules(text, said):
    assert explicit(text) == said


# --- metrics -------------------------------------------------------------------------------------

ANSWERS = ("yes", "no", "unknown", "failed")
ROWS = st.lists(
    st.tuples(st.sampled_from(("yes", "no")), st.sampled_from(ANSWERS)), min_size=1, max_size=60
)


def value(truth, said):
    return {n: float(v) for n, v in scores.metrics(scores.counts(truth, said)).items()}


@given(ROWS)
def test_metrics_are_those_of_a_library(rows):
    truth, said = zip(*rows, strict=True)
    table, found = scores.counts(truth, said), value(truth, said)
    assert table["positives"] + table["negatives"] + table["failed"] == len(rows)
    assert sum(table[n] for n in ("tp", "fp", "tn", "fn", "unknown", "failed")) == len(rows)
    if not (table["positives"] and table["negatives"]):
        return
    rows = [row for row in rows if row[1] != "failed"]
    by_class = precision_recall_fscore_support(
        *zip(*rows, strict=True), labels=["yes", "no"], zero_division=0
    )
    for name, both in zip(("precision", "recall", "f1"), by_class, strict=False):
        assert [found[f"{name}_yes"], found[f"{name}_no"]] == pytest.approx(100 * both)
        assert found[name] == pytest.approx(100 * both.mean())
    said_yes = [answer == "yes" for _, answer in rows]
    assert found["yes_proportion"] == pytest.approx(100 * np.mean(said_yes))


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
    derived = (found["recall_yes"] + 100 - found["recall_no"]) / 2
    if not table["unknown"]:
        assert found["yes_proportion"] == pytest.approx(derived)
    else:
        assert found["yes_proportion"] <= derived + 1e-9


def test_constant_answers_score_as_known():
    truth = ["yes", "no"] * 10
    always_no = value(truth, ["no"] * 20)
    # Llama's row of Table 3
    assert [always_no[n] for n in scores.METRICS] == pytest.approx(
        [25, 50, 100 / 3, 0, 0, 0, 0, 50, 100, 200 / 3]
    )
    silent = value(truth, ["unknown"] * 20)
    assert silent["yes_proportion"] == silent["recall"] == silent["f1"] == 0


def test_a_metric_averages_prompts_and_not_answers():
    truth = ["yes", "yes", "no", "no"] * 8
    prompts = [["yes", "yes", "no", "no"] * 8, ["yes", "yes", "yes", "no"] * 8, ["no"] * 32,
               ["unknown"] * 31 + ["failed"]]  # fmt: skip
    sums = scores.columns(truth, prompts).sum(axis=1)
    mean = {name: 100 * scores.metric(name)(sums) for name in scores.METRICS}
    each = [value(truth, said) for said in prompts]
    assert mean == pytest.approx({n: np.mean([found[n] for found in each]) for n in mean})
    # the mean of harmonic means lies below the harmonic mean of the means
    p, r = mean["precision_yes"], mean["recall_yes"]
    assert mean["f1_yes"] < 2 * p * r / (p + r)


def test_answers_and_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="1 answers came for 2 questions"):
        scores.counts(["yes", "no"], ["yes"])
    with pytest.raises(ValueError, match="Labels are yes or no; got maybe, no"):
        scores.counts(["maybe", "no"], ["yes", "no"])


# --- sizes and the ablation ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("area", "size"),
    [(833.9, "small"), (834, "medium"), (1507.9, "medium"), (1508, "large"), (float("nan"), None)],
)
def test_an_area_at_a_limit_is_the_larger(area, size):
    assert scores.size_of(area) == size


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


def test_figures_take_no_as_positive_and_count_what_is_right_throughout():
    truth = ["yes", "no", "yes", "no", "no"]
    pictures, groups = [None, None, "1", "1", "2"], ["a", "b", "a", "b", "a"]
    found = other_sets.figures(truth, truth, pictures, groups)
    assert found == {"n": 5} | dict.fromkeys(
        ("accuracy", "f1_no", "macro_f1", "pictures", "groups"), 100
    )
    said = ["no", "no", "yes", "unknown", "no"]
    found = other_sets.figures(truth, said, pictures, groups)
    assert found["accuracy"] == 60 and found["pictures"] == 50 and found["groups"] == 0
    assert found["f1_no"] == pytest.approx(200 / 3)
    found = other_sets.figures(truth, ["yes", "no", "yes", "failed", "no"], pictures, groups)
    assert found["n"] == 4 and found["pictures"] == found["groups"] == 100
    assert np.isnan(other_sets.figures(["no"], ["no"], ["1"], ["a"])["macro_f1"])
    assert np.isnan(list(other_sets.figures([], [], [], []).values())[1:]).sum() == 4
    with pytest.raises(ValueError, match="0 answers came for 5 questions"):
        other_sets.figures(truth, [], pictures, groups)
