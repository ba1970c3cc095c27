"""Every answer is checked by an independent reading of the scene."""

import re
from functools import cache

import numpy as np
import pytest

from sci_book.pocket.questions import FAMILIES, to_choice
from sci_book.pocket.world import CELLS, COLOURS, KINDS, USUAL_SYMBOL, Lot, sample_scene

SINGULAR = {"buses": "bus"} | {f"{k}s": k for k in KINDS} | {k: k for k in KINDS}


def noun(text):
    """The kind that a question names."""
    return next(SINGULAR[word] for word in re.findall(r"[a-z]+", text) if word in SINGULAR)


def asked(family, count=400):
    return drawn(family)[:count]


@cache
def drawn(family):
    """Questions of a family and their scenes, which every test here reads."""
    rng = np.random.default_rng(1)
    made = []
    while len(made) < 400:
        scene = sample_scene(rng, Lot(0.5))
        query = FAMILIES[family](scene, rng)
        if query is not None:
            made.append((scene, query))
    return made


def truth(family, scene, question):
    """The answer read off the list of things alone."""
    things = [t for t in scene.things if t.kind != "sign"]
    if family == "colour":
        return next(t.colour for t in things if t.kind == noun(question))
    if family == "count":
        return str(sum(t.kind == noun(question) for t in things))
    if family == "position":
        return CELLS[next(t.cell for t in things if t.kind == noun(question))]
    if family == "place":
        return scene.place
    if family == "sign":
        return next(t.text for t in scene.things if t.kind == "sign")
    if family == "state":
        return "on" if next(t.on for t in things if t.kind == "lamp") else "off"
    if family == "switched":
        return "off" if next(t.on for t in things if t.kind == "lamp") else "on"
    if family == "content":
        where = re.search(r"at the (.*)\?", question)[1]
        thing = next(t for t in things if CELLS[t.cell] == where)
        return f"{thing.colour} {thing.kind}"
    assert family == "what_if"
    step = int(re.search(r"if (\d)", question)[1]) * (-1 if "removed" in question else 1)
    return str(sum(t.kind == noun(question) for t in things) + step)


@pytest.mark.parametrize(
    "family", [f for f in FAMILIES if f not in ("existence", "negation", "caption")]
)
def test_the_answer_is_what_the_scene_holds(family):
    for scene, query in asked(family):
        assert query.answer.en == truth(family, scene, query.question.en)


def test_existence_and_its_negation():
    for scene, query in asked("existence"):
        there = {thing.kind for thing in scene.things}
        assert query.answer.en in there and not there & {text.en for text in query.wrong}
    for scene, query in asked("negation"):
        there = {thing.kind for thing in scene.things}
        assert query.answer.en not in there and {text.en for text in query.wrong} <= there


def test_captions_describe_one_kind_of_the_scene():
    for scene, query in asked("caption"):
        for text, right in [(query.answer, True), *((w, False) for w in query.wrong)]:
            number, colour, name, where = re.match(r"(\d) (\w+) (\w+) .* (\w+)", text.en).groups()
            things = [t for t in scene.things if t.kind == SINGULAR[name]]
            facts = (len(things) == int(number), things[0].colour == colour, where == scene.place)
            assert all(facts) == right


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "caption"])
def test_claims_are_true_first_and_false_after(family):
    for _, query in asked(family, 100):
        assert len(query.claims) == 1 + len(query.wrong)
        assert len({claim.en for claim in query.claims}) == len(query.claims)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_wrong_answers_are_distinct_and_wrong_in_both_languages(family):
    for _, query in asked(family, 200):
        for language in ("en", "zh"):
            texts = [query.answer[language], *(text[language] for text in query.wrong)]
            assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_usual_and_unusual_both_occur(family):
    usual = [query.usual for _, query in asked(family)]
    assert 0.05 < np.mean(usual) < 0.95


def test_the_tempting_answer_is_the_usual_one():
    for _, query in asked("colour"):
        kind = noun(query.question.en)
        assert query.usual == (query.answer.en == KINDS[kind].colour)
        if not query.usual:
            assert query.wrong[0].en == KINDS[kind].colour
        assert {query.answer.en, *(text.en for text in query.wrong)} == set(COLOURS)
    for scene, query in asked("sign"):
        assert query.usual == (query.answer.en == USUAL_SYMBOL[scene.place])


def test_options_hold_the_answer_once_at_every_letter():
    rng = np.random.default_rng(2)
    letters = []
    for _, query in asked("colour"):
        choice = to_choice(query, rng)
        assert choice.options[choice.right] == query.answer and len(set(choice.options)) == 4
        letters.append(choice.letter)
    assert all(abs(letters.count(letter) / len(letters) - 0.25) < 0.08 for letter in "ABCD")
