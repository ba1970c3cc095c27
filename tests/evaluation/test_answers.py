"""The answer rules: what they read, and what they refuse to guess."""

import pytest

from sci_core.evaluation import answers

OPTIONS = {"A": "blue", "B": "red", "C": "vitamin C", "D": "None of the above"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B", "B"), ("B.", "B"), (" B\n", "B"), ("B. red", "B"), ("(B)", "B"), ("(B) red", "B"),
        ("B: red", "B"), ("B red", "B"), ("b", "B"), ("(b).", "B"), ("red", "B"), ("Red.", "B"),
        ("The answer is B", "B"), ("The answer is B.", "B"), ("Answer: (B) red", "B"),
        ("答案是B", "B"), ("答案：B。", "B"), ("选B", "B"), ("B。红色", "B"), ("B、红色", "B"),
        ("C. vitamin C", "C"), ("The correct option is A", "A"), ("A blue", "A"),
        ("The answer is C. vitamin C", "C"), ("none of the above", "D"), ("B. blue", "B"),
        ("The answer is B because a bus is red", "B"),
    ],
)
def test_letters_are_read(text, expected):
    assert answers.letter(text, OPTIONS) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "A or B", "A, B", "A. or B.", "A and B", "E", "A red car", "Blue-ish", "I see red",
     "The answer is not B", "Between A and C", "The answer is A or B", "maybe B", "BC", "??",
     "red or blue", "The answer is B, not A"],
)
def test_letters_are_not_guessed(text):
    assert answers.letter(text, OPTIONS) is None


def test_two_options_with_one_text_are_unknown():
    assert answers.letter("red", {"A": "red", "B": "Red"}) is None


def test_a_letter_outside_the_options_is_unknown():
    assert answers.letter("D", {"A": "x", "B": "y"}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("yes", "yes"), ("Yes.", "yes"), ("No, there is a cat", "no"), ("no", "no"), ("是", "yes"),
     ("不是。", "no"), ("The answer is yes.", "yes"), ("Yes it is", "yes"), ("No.", "no"),
     ("yes or no", None), ("There is no dog", None), ("No dog is seen", None), ("maybe", None),
     ("", None), ("yesterday", None), ("nothing", None), ("I know", None)],
)
def test_yes_no(text, expected):
    assert answers.yes_no(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A dog.", "dog"), ("the  Red bus", "red bus"), ("dogs", "dogs"), ("3", "3"), ("...", None),
     ("", None), ("an", "an"), ("“猫”", "猫")],
)
def test_short(text, expected):
    assert answers.short(text) == expected


def test_an_unknown_equals_nothing():
    assert not answers.same(None, None)
    assert not answers.same(None, "A")
    assert answers.same("A", "A")


def test_raw_prefix_is_the_references_comparison():
    assert answers.raw_prefix("no", "yes") != answers.raw_prefix("no.", "yes")
    assert answers.raw_prefix("dog", "cat") == answers.raw_prefix("dogs", "cat")
    assert answers.raw_prefix("10", "1") == "1"
    assert answers.letter_is_delimited("B") and answers.letter_is_delimited("B. red")
    assert not answers.letter_is_delimited("Because") and not answers.letter_is_delimited("")


def test_an_unknown_question_type_is_named():
    with pytest.raises(ValueError, match=r"'essay'.*mcq, yesno or short"):
        answers.parse("essay", "x")
