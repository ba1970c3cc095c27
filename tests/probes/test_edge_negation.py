"""The four probes: their text, whom they are put to, and what counts as success in each reading."""

import csv
from pathlib import Path

import numpy as np
import pytest

from sci_book.papers.edge import negation
from sci_book.papers.edge.negation import succeeds

PAPER = Path(__file__).parents[2] / "data_manifests" / "paper"


def test_templates_are_table_15s():
    with (PAPER / "edge_table15.csv").open(encoding="utf-8") as file:
        printed = {line["template"]: line["prompt"] for line in csv.DictReader(file)}
    straight = {key: text.replace("‘", "'").replace("’", "'") for key, text in printed.items()}
    assert straight == negation.TEMPLATES


def test_probes_are_about_the_models_own_answer():
    question, own = "What is on the {sofa}?", "Assistant: a cat"
    paper = negation.prompts(question, own)
    assert paper["false_yn"] == (
        "Is it true that 'a cat' is NOT shown in this image? Answer yes or no."
    )
    assert paper["counter"].startswith("The answer to the question 'What is on the {sofa}?' is NOT")
    assert list(paper) == ["is_not", "absent", "false_yn", "counter"]


@pytest.mark.parametrize(
    ("template", "reply", "original", "paper", "code", "words"),
    [
        ("is_not", "A zebra.", "cat", True, True, True),
        ("is_not", "The CAT!", "cat", False, False, False),
        ("absent", "a category", "cat", False, False, True),  # "cat" inside a word
        ("absent", "nothing", "no", False, False, True),
        (
            "absent",
            "a man riding a wave on a board",
            "a man riding a wave at sunset",
            True,
            False,
            True,
        ),
        ("absent", "", "cat", False, False, False),
        ("absent", "!?", "cat", False, False, False),
        ("false_yn", "No, it is shown.", "cat", True, True, True),
        ("false_yn", "Yes", "cat", False, False, False),
        ("false_yn", "I know it is true", "cat", True, True, False),
        ("false_yn", "Yes, it is true that no", "cat", False, False, False),
        ("false_yn", "Assistant: no", "cat", True, True, True),
        ("counter", "yes", "no", True, False, True),
        ("counter", "red", "blue", True, False, True),
        ("counter", "blue", "blue", False, False, False),
        ("counter", "purple", "purple", False, True, False),  # an echo, but a long one
        ("counter", "a 2", "3", False, False, True),
        ("counter", "the", "cat", True, False, False),
    ],
)
def test_success(template, reply, original, paper, code, words):
    found = {
        reading: succeeds(template, reply, original, reading=reading)
        for reading in ("paper", "code", "words")
    }
    assert found == {"paper": paper, "code": code, "words": words}


@pytest.mark.parametrize("place", [0, *range(2, 26)])
def test_word_no_counts_where_it_begins_in_the_first_20_characters(place):
    reply = "x" * (place - 1) + " no" if place else "no"
    assert succeeds("false_yn", reply, "cat", reading="words") == (place < 20)


def test_rows_are_both_correct_and_drawn_once():
    generator = np.random.default_rng(0)
    first, second = generator.random((2, 1000)) < 0.7
    places = negation.both_correct(first, second)
    assert len(places) == 100 == len(set(places)) and sorted(places) == places.tolist()
    assert (first & second)[places].all()
    assert (negation.both_correct(first, second) == places).all()
    assert (negation.both_correct(first, second, seed=1) != places).any()
    few = negation.both_correct([True, False, True], [True, True, True])
    assert few.tolist() == [0, 2]
    with pytest.raises(ValueError, match="one length"):
        negation.both_correct([True], [True, False])


def test_unknown_templates_and_readings_are_refused():
    with pytest.raises(ValueError, match="No template 'double'; there are is_not"):
        succeeds("double", "no", "cat")
    with pytest.raises(ValueError, match="No reading 'loose' of Table 3"):
        succeeds("is_not", "no", "cat", reading="loose")
