"""A paraphrase keeps what the question says; what cannot be one is refused by name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.metara.paraphrase import (
    FRAMES,
    FRAMES_ZH,
    by_rules,
    by_text_model,
    changed,
    content_words,
    keep_questions,
    reorder,
    rewordings,
)
from sci_book.papers.metara.pictures import Refused
from sci_book.papers.shared.text_model import Completion
from tests.soak import examples
from tests.text_models import ScriptedTextModel


@pytest.mark.parametrize(
    ("question", "reordered"),
    [
        ("What color is the cow?", "The cow is what color?"),
        ("Which animals are in the left corner?", "In the left corner are which animals?"),
        ("Where is the boat?", "The boat is where?"),
        ("What is written on the sign?", None),  # no subject follows the verb
        ("What is at the top left?", "At the top left is what?"),
        ("How many cows are there?", "There are how many cows?"),
        ("How many cows were there if 2 were removed?",
         "There were how many cows if 2 were removed?"),
        ("How many red cars are there in the picture?",
         "There are how many red cars in the picture?"),
        ("Is there a cow?", None),
        ("Who was the 44th president, and when?", None),
    ],
)  # fmt: skip
def test_words_are_put_in_another_order(question, reordered):
    assert reorder(question) == reordered


QUESTIONS = st.one_of(
    st.sampled_from(
        ["What color is the cow?", "Is there a cow in the picture?", "图中有几头牛？",
         "How many fish are there?", "What does “STOP 5” mean, and why not 6?"]
    ),
    st.text(min_size=1, max_size=60).filter(lambda text: text.strip()),
)  # fmt: skip


@examples(150)
@given(QUESTIONS, st.integers(0, 100))
def test_rules_keep_every_content_word_and_add_none(question, number):
    (found,) = by_rules([question], [number])
    assert content_words(found) == content_words(question)
    assert re.findall(r"\d", found) == re.findall(r"\d", question)
    assert found in rewordings(question)


@examples(50)
@given(QUESTIONS)
def test_every_rewording_is_another_text_and_comes_in_turn(question):
    forms = rewordings(question)
    assert len(set(forms)) == len(forms) >= 4 and question.strip() not in forms
    found = by_rules([question] * 2 * len(forms), list(range(2 * len(forms))))
    assert tuple(found) == forms + forms


def test_chinese_questions_get_chinese_frames():
    (found,) = by_rules(["图中有几头牛？"], [1])
    assert found == FRAMES_ZH[1] + "图中有几头牛？"
    assert not any(frame in found for frame in FRAMES)


def test_what_is_no_question_is_refused():
    empty, long = by_rules(["  ", "x" * 1001], [0, 0])
    assert empty.reason == long.reason == "no question"
    assert keep_questions(["  "], [0]) == ["  "]


# --- a text model --------------------------------------------------------------------------------


def test_a_text_models_paraphrase_is_taken_and_its_failures_named():
    model = ScriptedTextModel(
        " What is the color of the cow? ", Completion(None, "HTTP 500"), "The cow."
    )
    asked = ["What color is the cow?", "Where is it?", "Who?", "", "Where is it?"]
    found = by_text_model(model)(asked, [0] * 5)
    assert found[0] == "What is the color of the cow?"
    assert [f.reason for f in found[1:]] == [
        "no paraphrase", "paraphrase: no question", "no question", "no paraphrase",
    ]  # fmt: skip
    assert "HTTP 500" in str(found[1]) and len(model.prompts) == 3  # each question once
    assert all(isinstance(f, Refused) for f in found[1:])


@pytest.mark.parametrize(
    ("question", "paraphrase", "problem"),
    [
        ("How many cows are there?", "What is the number of cows?", None),
        ("Are there 3 cows?", "Are there 4 cows?", "numbers changed"),
        ("Are there 3 cows?", "Are there three cows?", "numbers changed"),
        ("Is the cow red?", "Isn't the cow red?", "negation changed"),
        ("Isn't the cow red?", "Is the cow not red?", None),
        ("Which is not there?", "Which is there?", "negation changed"),
        ("What does “STOP” mean?", "What does the word on the sign mean?", "quotation changed"),
        ("Is the cow red?", "这头牛是红色的吗？", "another language"),
        ("图中没有牛，对吗？", "图中有牛，对吗？", "negation changed"),
        ("Is the cow red?", "Is it?\nYes.", "no single line"),
        ("Is the cow red?", "", "no single line"),
        ("Is the cow red?", "Is the cow red?", "unchanged"),
        ("Is the cow red?", "is the  cow, red ?", "unchanged"),
        ("图中有牛吗？", "图中有牛吗？", "unchanged"),
        ("Is the cow red?", "Is red the cow?", None),
        ("Is the cow red?", "Is " + "really " * 40 + "red?", "too long"),
    ],
)
def test_what_a_rule_can_tell_of_a_paraphrase(question, paraphrase, problem):
    assert changed(question, paraphrase) == problem
