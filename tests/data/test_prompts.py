"""Prompts, letter by letter as the evaluation toolkits of the paper write them."""

import pytest

from sci_book.data.datasets import Row
from sci_book.data.prompts import build_prompt, templates_digest
from sci_core.counterfactuals import rewrite
from sci_core.families.adapters import FAMILIES


def row(question_type, question, **more):
    return Row("x", 0, 0, "x:0", question_type, question, "", "", **more)


CHOICE = row("mcq", "What {is} it?", hint="A hint.", options={"A": "a cup", "B": "a boat"})
CHINESE = row("mcq", "是什么?", options={"A": "杯子", "B": "船"})
MIXED = row("mcq", "What is it?", options={"A": "杯子", "B": "船"})
YES_NO = row("yesno", "Is it red? Please answer yes or no.")
SHORT = row("short", "What is it?")


@pytest.mark.parametrize(
    ("family", "question", "expected"),
    [
        ("qwen2_vl", CHOICE, "Hint: A hint.\nQuestion: What {is} it?\nOptions:\nA. a cup\n"
         "B. a boat\nPlease select the correct answer from the options above."),
        ("llava_next", CHOICE, "A hint.\nWhat {is} it?\nA. a cup\nB. a boat\n"
         "Answer with the option's letter from the given choices directly."),
        ("qwen2_vl", CHINESE,
         "Question: 是什么?\nOptions:\nA. 杯子\nB. 船\n请直接回答选项字母。"),
        ("llava_next", MIXED, "What is it?\nA. 杯子\nB. 船\n请直接回答选项字母。"),
        ("qwen2_vl", YES_NO, "Is it red? Please answer yes or no."),
        ("llava_next", YES_NO, "Is it red? Please answer yes or no."),
        ("qwen2_vl", SHORT, "What is it?\nPlease try to answer the question with short words or "
         "phrases if possible."),
        ("llava_next", SHORT,
         "What is it?\nAnswer the question using a single word or phrase."),
    ],
)  # fmt: skip
def test_a_question_becomes_the_prompt_of_its_family(family, question, expected):
    assert build_prompt(question, family) == expected


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", [CHOICE, CHINESE, MIXED, YES_NO, SHORT])
def test_every_prompt_has_its_three_rewrites(family, question):
    prompt = build_prompt(question, family)
    assert len({prompt, *(rewrite(prompt, name) for name in ("V1", "V2", "V3"))}) == 4


def test_a_numbers_question_stands_as_it_is():
    question = "How many? In digits."
    assert build_prompt(row("number", question), "llava_next") == question


def test_families_of_one_maker_are_asked_alike():
    assert build_prompt(CHOICE, "qwen3_vl") == build_prompt(CHOICE, "qwen2_vl")
    assert build_prompt(CHOICE, "internvl") == build_prompt(CHOICE, "llava_next")


def test_unknown_family_is_named():
    with pytest.raises(ValueError, match=r"'gpt'; expected one of .*, smolvlm\. Give"):
        build_prompt(SHORT, "gpt")
    assert len(templates_digest()) == 16
