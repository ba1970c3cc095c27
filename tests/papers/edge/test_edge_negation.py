"""The four probes: their text, whom they are put to, and what counts as success in each reading."""

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.edge import negation
from sci_book.papers.edge.negation import succeeds
from sci_book.resources import PAPER


def test_templates_are_table_15s():
    printed = pd.read_csv(PAPER / "edge_table15.csv").set_index("template")["prompt"]
    assert printed.str.replace("[‘’]", "'", regex=True).to_dict() == negation.TEMPLATES


def test_probes_are_about_the_models_own_answer():
    question, own = "What is on the {sofa}?", "Assistant: a cat"
    paper = negation.prompts(question, own)
    asked = "Is it true that 'a cat' is NOT shown in this image? Answer yes or no."
    assert paper["false_yn"] == asked
    assert paper["counter"].startswith("The answer to the question 'What is on the {sofa}?' is NOT")
    assert list(paper) == ["is_not", "absent", "false_yn", "counter"]


@pytest.mark.parametrize(
    ("template", "reply", "original", "paper", "code", "words"),
    [
        ("is_not", "A zebra.", "cat", True, True, True),
        ("is_not", "The CAT!", "cat", False, False, False),
        ("absent", "a category", "cat", False, False, True),  # "cat" inside a word
        ("absent", "nothing", "no", False, False, True),
        ("absent", "a man riding a wave on it", "a man riding a wave at sea", True, False, True),
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
def test_a_reply_succeeds_as_paper_or_code_read_it(template, reply, original, paper, code, words):
    passes = [succeeds(template, reply, original, reading=name) for name in negation.READINGS]
    assert passes == [paper, code, words]


@pytest.mark.parametrize("place", [0, *range(2, 26)])
def test_word_no_counts_where_it_begins_in_the_first_20_characters(place):
    reply = "x" * (place - 1) + " no" if place else "no"
    assert succeeds("false_yn", reply, "cat", reading="words") == (place < 20)


def test_rows_are_drawn_once():
    rows = np.flatnonzero(np.random.default_rng(0).random(1000) < 0.5)
    drawn = negation.draw_rows(rows)
    assert len(drawn) == 100 == len(set(drawn)) and sorted(drawn) == drawn.tolist()
    assert set(drawn) <= set(rows) and (negation.draw_rows(rows) == drawn).all()
    assert (negation.draw_rows(rows, seed=1) != drawn).any()
    assert negation.draw_rows([0, 2]).tolist() == [0, 2]


def test_unknown_templates_and_readings_are_refused():
    with pytest.raises(ValueError, match="No template 'double'; there are is_not"):
        succeeds("double", "no", "cat")
    with pytest.raises(ValueError, match="No reading 'loose' of Table 3"):
        succeeds("is_not", "no", "cat", reading="loose")
