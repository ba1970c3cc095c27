"""The tree by its rules, the judge by what an endpoint may do, concordance by its definition."""

import json
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sci_book.papers.edge import judge, taxonomy
from sci_book.papers.edge.taxonomy import CATEGORIES, Failure, Label, Tree
from sci_book.papers.shared import text_model
from sci_book.papers.shared.text_model import Completion, Endpoint, TextModel
from tests.soak import examples

LONG = "the picture shows a lively scene with many people who enjoy a sunny day " * 2


def label(question, truth, prediction, **options):
    return Tree(**options).judge([Failure("VQAv2", question, truth, prediction)])[0].category


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
def test_tree(question, truth, prediction, category):
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


def labels(text):
    return [Label(c, "") for c in text]


@examples(40)
@given(st.lists(st.tuples(*[st.sampled_from("ABCDE")] * 2), min_size=1, max_size=30))
def test_concordance_is_cohens_formula(pairs):
    one, two = zip(*pairs, strict=True)
    found = taxonomy.concordance(labels(one), labels(two), orders=20)
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
    assert taxonomy.concordance(labels(ordered), labels(ordered)).kappa == 1
    mixed = taxonomy.concordance(labels(ordered), labels("AB" * 30))
    assert mixed.kappa == pytest.approx(0) and mixed.distance == 0
    assert mixed.low < 0 < mixed.high and mixed.low == pytest.approx(-mixed.high, abs=0.07)


def test_unjudged_labels_and_the_longer_list_are_left_out():
    first = [Label(None, "prose"), *labels("AB")]
    assert taxonomy.concordance(first, labels("ABC")).n == 2
    with pytest.raises(ValueError, match="judged are 0 and 1"):
        taxonomy.concordance([Label(None, "")], labels("A"))


def test_the_range_of_chance_is_that_of_shuffled_lists():
    one, two = labels("A" * 19 + "B" * 50 + "C" * 31), labels("A" * 40 + "B" * 60)
    found = taxonomy.concordance(one, two, orders=4000)
    generator = np.random.default_rng(3)
    second = [each.category for each in two]
    kappas = [
        cohen_kappa_score([each.category for each in one], generator.permutation(second))
        for _ in range(400)
    ]
    assert np.quantile(kappas, [0.025, 0.975]) == pytest.approx((found.low, found.high), abs=0.03)


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
    assert all(name in judge.SYSTEM for name in CATEGORIES.values())


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


class Scripted:
    """A text model that answers from a list."""

    name = "scripted"

    def __init__(self, completions):
        self.completions = completions

    def complete(self, prompts):
        assert len(prompts) == len(self.completions)
        return self.completions


def test_tree_and_judge_are_one_interface():
    model = Scripted([Completion('{"category": "D"}'), Completion(None, "HTTP 500", 3)])
    assert isinstance(model, TextModel)
    judges = [Tree(), Tree(as_printed=True), judge.TextJudge(model)]
    assert all(isinstance(each, taxonomy.Judge) for each in judges)
    assert [each.name for each in judges] == ["tree", "tree as printed", "scripted"]
    found = judges[2].judge([FAILURE, FAILURE])
    assert found == [Label("D", ""), Label(None, "HTTP 500")]


class Handler(BaseHTTPRequestHandler):
    """A loopback endpoint that answers by what the failure's question asks it to do."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][0]["content"]
        self.server.asked.append(asked)
        status, text = 200, '{"category": "B", "reasoning": "drift"}'
        if "busy" in asked:
            status = 429
        elif "prose" in asked:
            text = "This is Semantic Drift."
        elif "broken" in asked:
            text = '{"category": "B", "reason'
        elif "unknown" in asked:
            text = '{"category": "F", "reasoning": "other"}'
        elif "second" in asked and self.server.asked.count(asked) == 1:
            text = "Let me think."
        elif "hang" in asked:
            self.server.released.wait(10)
        content = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.released, server.asked = Event(), []
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


def test_a_judge_that_cannot_be_read_is_asked_again_and_then_leaves_failures_unjudged(
    server, monkeypatch
):
    monkeypatch.setenv("JUDGE_KEY", "secret-key")
    constants = {"KEY_VARIABLE": "JUDGE_KEY", "TIMEOUT": 1.5, "ATTEMPTS": 2, "sleep": bool}
    for name, value in constants.items():
        monkeypatch.setattr(text_model, name, value)
    model = Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "judge")
    questions = ["fine", "busy", "prose", "hang", "broken", "unknown", "second"]
    failures = [FAILURE._replace(question=question) for question in questions]
    found = judge.TextJudge(model).judge(failures)
    assert [each.category for each in found] == ["B", None, None, None, None, None, "B"]
    assert "429" in found[1].reason and "1.5 s" in found[3].reason
    assert "JSON" in found[2].reason and "JSON" in found[4].reason
    assert "none of the categories" in found[5].reason
    assert "secret-key" not in repr(found)
    times = [server.asked.count(judge.prompt(failure)) for failure in failures]
    assert times == [1, 2, 2, 2, 2, 2, 2]  # within bounds, whatever the reason
