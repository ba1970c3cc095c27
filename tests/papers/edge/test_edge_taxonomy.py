"""The tree by its rules, the judge by what an endpoint may do, concordance by its definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sci_book.papers.edge import judge, taxonomy
from sci_book.papers.edge.judge import Label
from sci_book.papers.edge.taxonomy import CATEGORIES, Failure
from sci_book.papers.shared.text_model import Completion
from sci_book.results.statistics import LEVEL
from tests.soak import examples

LONG = "the picture shows a lively scene with many people who enjoy a sunny day " * 2


def label(question, truth, prediction, **options):
    return taxonomy.tree(Failure("VQAv2", question, truth, prediction), **options)


@pytest.mark.parametrize(
    ("question", "truth", "prediction", "category"),
    [
        ("How many wheels do you see?", "6", "There are two wheels.", "D"),  # Appendix B, 3
        ("Is the bright lamp on?", "lamp", "sofa", "A"),  # "right" is no word of it
        ("What animal is it?", "zebra", "I cannot see one", "A"),
        ("What animal is it?", "zebra", "I don't see one", "A"),
        ("Is it a zebra?", "yes", "It is not.", "E"),  # a denial of a yes is no blindness
        ("What is on the table?", "piano", "a sofa", "A"),
        ("What is on the table?", "grand piano", "a piano", "B"),
        ("What is on the table?", "piano", "a table", "B"),  # a word of the question
        ("What is on the table?", "lamp", "piano is it", "A"),  # "no " in "piano is" is no denial
        ("Is it?", "yes", LONG, "C"),
        ("Is it?", "yes", "perhaps", "E"),
        ("Who?", "man", "Assistant: assistant", "A"),
        ("What does the assistant hold?", "cup", "Assistant: spoon", "A"),  # marker stripped
    ],
)
def test_an_answer_falls_into_one_kind_of_failure(question, truth, prediction, category):
    assert label(question, truth, prediction) == category


WORDS = (
    "yes", "no", "not", "red", "cat", "the", "2", "left", "how", "many", "is", "people", "table"
)  # fmt: skip
words = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)


@examples(150)
@given(words, words, words)
def test_as_printed_the_tree_never_reaches_c_or_e(question, truth, prediction):
    assert label(question, truth, prediction, as_printed=True) in "DAB"


@examples(150)
@given(words, words, words)
def test_c_needs_a_truth_without_content_words_and_many_words(question, truth, prediction):
    if label(question, truth, prediction) == "C":
        assert set(truth.split()) <= {"yes", "no", "not", "the", "2", "is", "how", "many"}
        assert len(prediction.split()) > 20


# --- concordance ---------------------------------------------------------------------------------


@examples(40)
@given(st.lists(st.tuples(*[st.sampled_from("ABCDE")] * 2), min_size=1, max_size=30))
def test_concordance_is_cohens_formula(pairs):
    one, two = zip(*pairs, strict=True)
    found = taxonomy.concordance(one, two, orders=20)
    if len({*one, *two}) == 1:
        assert found[:3] == (None, None, None)
        return
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    chance = sum(Counter(one)[c] * Counter(two)[c] for c in "ABCDE") / n**2
    assert found.kappa == pytest.approx((agreed - chance) / (1 - chance))
    assert found.kappa == pytest.approx(cohen_kappa_score(one, two))
    profile = sum(abs(Counter(one)[c] - Counter(two)[c]) for c in "ABCDE") / n / 2
    assert found.distance == pytest.approx(profile)


def test_kappa_of_equal_profiles_depends_on_their_order_alone():
    ordered = "A" * 30 + "B" * 30
    assert taxonomy.concordance(ordered, ordered).kappa == 1
    mixed = taxonomy.concordance(ordered, "AB" * 30)
    assert mixed.kappa == pytest.approx(0) and mixed.distance == 0
    assert mixed.low < 0 < mixed.high and mixed.low == pytest.approx(-mixed.high, abs=0.07)


def test_unjudged_labels_and_the_longer_list_are_left_out():
    assert taxonomy.concordance([None, *"AB"], "ABC").n == 2
    with pytest.raises(ValueError, match="judged are 0 and 1"):
        taxonomy.concordance([None], "A")


def test_the_range_of_chance_is_that_of_shuffled_lists():
    one, two = list("A" * 19 + "B" * 50 + "C" * 31), list("A" * 40 + "B" * 60)
    found = taxonomy.concordance(one, two, orders=4000)
    generator = np.random.default_rng(3)
    kappas = [cohen_kappa_score(one, generator.permutation(two)) for _ in range(400)]
    ends = np.quantile(kappas, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    assert ends == pytest.approx((found.low, found.high), abs=0.03)


# --- the judge -----------------------------------------------------------------------------------

FAILURE = Failure("VQAv2", "What {colour} is it?", "red", "Assistant: blue")


def test_prompt_is_appendix_ds():
    text = judge.prompt(FAILURE)
    assert text.startswith("You are an expert evaluator of vision-language model outputs.")
    assert "C - Plausible output consistent with scene priors, wrong for this image." in text
    assert text.endswith(
        "Dataset: VQAv2\nQuestion/Prompt: What {colour} is it?\nGround Truth: red\n"
        "Model Output: blue\nRespond with JSON:\n"
        '{"category":"A|B|C|D|E", "confidence": 0-1, "reasoning": "..."}'
    )
    assert len(judge.prompt(FAILURE._replace(prediction="x" * 10**6))) < 4_000
    assert all(name in text for name in CATEGORIES.values())


@pytest.mark.parametrize(
    ("answer", "category", "reason"),
    [
        ('{"category": "B", "confidence": 0.9, "reasoning": "wrong colour"}', "B", "wrong colour"),
        ('```json\n{"category":"A"}\n```', "A", ""),
        ("I would say B, since the colour is wrong.", None, "no JSON"),
        ('{"category": "B"', None, "no JSON"),
        ('["B"]', None, "no JSON"),
        ('{"category": "A|B"}', None, "none of the categories"),
        ('{"category": "Z"}', None, "none of the categories"),
        ('{"category": ["B"]}', None, "none of the categories"),
        ('{"confidence": 1}', None, "none of the categories"),
        ("", None, "no JSON"),
        ("[" * 100_000, None, "no JSON"),
    ],
)
def test_a_category_is_read_and_never_guessed(answer, category, reason):
    found = judge.read(Completion(answer))
    assert found.category == category and reason in found.reason


def test_a_failed_request_is_unjudged():
    assert judge.read(Completion(None, "HTTP 500", 3)) == Label(None, "HTTP 500")


class Unreliable:
    """A text model that answers by what the failure's question asks it to do."""

    name = "unreliable"

    def __init__(self):
        self.asked = []

    def complete(self, prompts):
        self.asked += prompts
        return [self.one(prompt) for prompt in prompts]

    def one(self, prompt):
        if "busy" in prompt:
            return Completion(None, "HTTP 429 (attempt 5 of 5)", 5)
        if "second" in prompt and self.asked.count(prompt) == 1:
            return Completion("Let me think.")
        said = {
            "prose": "This is Semantic Drift.",
            "broken": '{"category": "B", "reason',
            "unknown": '{"category": "F", "reasoning": "other"}',
        }
        texts = [text for word, text in said.items() if word in prompt]
        return Completion(*texts or ['{"category": "B", "reasoning": "drift"}'])


def test_a_judge_that_cannot_be_read_is_asked_again_and_then_leaves_failures_unjudged():
    model = Unreliable()
    questions = ["fine", "busy", "prose", "broken", "unknown", "second"]
    failures = [FAILURE._replace(question=question) for question in questions]
    asked = judge.TextJudge(model)
    found = asked.judge(failures)
    assert asked.name == "unreliable"
    assert [each.category for each in found] == ["B", None, None, None, None, "B"]
    assert found[1].reason == "HTTP 429 (attempt 5 of 5)"
    assert "JSON" in found[2].reason and "JSON" in found[3].reason
    assert "none of the categories" in found[4].reason
    times = [model.asked.count(judge.prompt(failure)) for failure in failures]
    assert times == [1, 1, 2, 2, 2, 2]  # a text model tries failed requests again by itself
