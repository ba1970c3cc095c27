"""The pocket questions and captions of the Edge Reliability Gap."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from sci_book.pocket import edge
from sci_book.pocket.dialogue import YES_NO
from sci_book.pocket.questions import FAMILIES


@pytest.fixture(scope="module")
def questions():
    return [edge.question(number) for number in range(54)]


def test_an_item_depends_on_its_number_alone(questions):
    assert edge.question(7) == questions[7]
    assert edge.caption(3) == edge.caption(3) != edge.caption(4)
    assert len({item.picture for item in questions}) == len(questions)


def test_every_third_question_is_a_claim_and_says_how_it_is_answered(questions):
    claims = [item for item in questions if item.kind == "yesno"]
    assert claims == questions[2::3]
    assert all(item.question.endswith(f" {YES_NO}") for item in claims)
    assert {item.answer for item in claims} == {"yes", "no"}
    assert all(YES_NO not in item.question for item in questions if item.kind == "short")


def test_all_families_but_captions_are_asked_about(questions):
    count = Counter(item.family for item in questions)
    assert set(count) == set(FAMILIES) - {"caption"}
    assert {item.family for item in questions if item.kind == "short"} == set(edge.SHORT)
    assert max(count.values()) <= 6


def test_a_caption_tells_the_whole_scene():
    item = edge.caption(0)
    assert item.kind == "free" and item.family == "caption"
    assert item.answer[0].isupper() or item.answer[0].isdigit()
    assert item.answer.endswith(".")


def test_about_half_of_the_answers_are_the_usual_ones(monkeypatch):
    """Of as many questions as leave no room for chance; what is asked for is not drawn."""
    usual, known = [], {}

    def ask(rng, family, accept):
        if family not in known:
            known[family] = edge_ask(rng, family, lambda query: True)
        usual.append(accept(SimpleNamespace(usual=True)))
        return known[family]

    edge_ask = edge.ask
    monkeypatch.setattr(edge, "ask", ask)
    monkeypatch.setattr(edge, "png", lambda scene: b"")
    for number in range(2000):
        edge.question(number)
    assert len(usual) == 2000 and 0.45 < np.mean(usual) < 0.55
