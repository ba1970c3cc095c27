"""The annotation chain: what enters has been checked, what does not is named and counted."""

from collections import Counter

import pytest

from sci_book.papers.cvqa.annotation import (
    Annotated,
    RuleAnnotator,
    Source,
    annotate,
    annotation_prompt,
    changed,
    polish_prompt,
    problem,
)
from sci_book.papers.cvqa.prompts import PROMPTS
from sci_book.papers.cvqa.questions import load
from sci_book.papers.shared.text_model import Completion, TextModel
from tests.text_models import ScriptedTextModel

BIRDS = Source("How many birds are there?", "3")
WET = Source("Is the ground wet?", "no")
TWO_MORE = "How many birds would there be if 2 more birds came?"


def draft(question, answer):
    return f"Step1:Add 2\nStep2:so\nNew question:{question}\nNew answer:{answer}"


def test_the_papers_own_examples_pass():
    """All sixteen, the zebras with the right sum."""
    for kind in ("direct", "boolean"):
        examples = PROMPTS[kind].split("-----\n")[1:-1]
        assert len(examples) == 8
        for example in examples:
            lines = example.splitlines()
            source = Source(*(line.partition(":")[2] for line in lines[:2]))
            ((_, *made),), _ = annotate(ScriptedTextModel("\n".join(lines[2:]), ""), [source], kind)
            assert made == [line.partition(":")[2] for line in lines[4:]]


def test_the_papers_wrong_zebras_are_caught():
    source = Source("How many zebras are here?", "2")
    question = "How many zebras would there be if 1 zebra left and 2 zebras came?"
    assert problem("direct", source, question, "1") == "wrong sum"
    assert problem("direct", source, question, "3") is None


def test_the_prompt_shows_the_papers_steps_and_ends_in_the_source():
    prompt = annotation_prompt("boolean", *WET)
    assert "2 - Flip the original answer" in prompt and prompt.count("Original question:") == 10
    assert prompt.endswith("Original question:Is the ground wet?\nOriginal answer:no\n")
    assert "Increase or decrease" in annotation_prompt("direct", *BIRDS)
    assert polish_prompt("Is it?").endswith("Question:Is it?\n")


@pytest.mark.parametrize(
    ("clause", "after"),
    [
        ("2 more birds came", 6), ("3 birds were added", 7), ("another bird came", 5),
        ("a bird was removed", 3), ("one bird flew away", 3), ("all birds were eaten", 0),
        ("the number of birds doubled", 8), ("there were twice as many birds", 8),
        ("the birds tripled", 12), ("the number halved", 2), ("four birds left", 0),
        ("1 bird left and 2 birds came", 5), ("5 birds left", None), ("it rained", None),
        ("2 more birds flew away", None), ("some birds left", None), ("2 or 3 more came", None),
        ("all 4 birds left", None), ("the bird was removed", None), ("all birds were added", None),
        ("2 birds doubled", None), ("99999999 more came", None), ("the number halved twice", None),
        ("the number of birds halved", 2), ("there were three times as many", 12),
        ("there were 2 times three times as many", None),
    ],
)  # fmt: skip
def test_sums_are_worked_out_from_the_words(clause, after):
    assert changed(f"How many birds would there be if {clause}?", 4) == after


@pytest.mark.parametrize(
    ("source", "completion", "reason"),
    [
        (BIRDS, Completion(None, "HTTP 429 (attempt 5 of 5)", 5), "no completion"),
        (BIRDS, "Sure! Here is a question.", "not in the form asked for"),
        (BIRDS, "", "not in the form asked for"),
        (BIRDS, '{"New question": "x"}', "not in the form asked for"),
        (BIRDS, "Step1:" + " \n" * 50_000 + "Step2:", "not in the form asked for"),
        (BIRDS, "Step1: " + " " * 100_000, "not in the form asked for"),
        (BIRDS, draft(TWO_MORE, "5") + "\nHope this helps!", "not in the form asked for"),
        (BIRDS, draft(TWO_MORE, "6"), "wrong sum"),
        (BIRDS, draft(TWO_MORE, "five"), "answer is no number"),
        (BIRDS, draft(TWO_MORE, "-5"), "answer is no number"),
        (BIRDS, draft("How many birds would there be if it rained?", "0"),
         "sum cannot be checked"),
        (BIRDS, draft("How many birds would there be if 1 bird left and 1 bird came?", "3"),
         "answer unchanged"),
        (BIRDS, draft("How many cats would there be if 2 more cats came?", "5"),
         "another question"),
        (BIRDS, draft("How many birds are there now?", "5"), "no presupposition"),
        (BIRDS, draft("If 2 more birds came there would be 5 birds.", "5"), "no question"),
        (BIRDS, draft("How many birds if " + "2 more birds came and " * 40 + "?", "5"),
         "no question"),
        (Source("How many birds?", "several"), draft("How many birds if 2 more came?", "5"),
         "original answer of no known kind"),
        (WET, draft("Would the ground be wet if it was raining?", "no"), "answer not flipped"),
        (WET, draft("Would the ground be wet if it was raining?", "maybe"), "answer not flipped"),
        (WET, draft("Would the ground be wet?", "yes"), "no presupposition"),
        (WET, draft("Would the sky rain if it was cloudy?", "yes"), "another question"),
    ],
)  # fmt: skip
def test_what_does_not_enter_is_named(source, completion, reason):
    kind = "direct" if source.question.startswith("How") else "boolean"
    assert annotate(ScriptedTextModel(completion), [source], kind) == ([], {reason: 1})


def test_polish_enters_only_where_it_passes_the_same_checks():
    question = "How many bird would there be if 2 more bird came?"
    for polish, used in (
        (TWO_MORE, TWO_MORE),
        ("How many birds would there be if 3 more birds came?", question),
        ("Here is the corrected question: birds.", question),
        (Completion(None, "no answer within 60 s"), question),
        (TWO_MORE + " " * 500_000 + "x", question),
    ):
        model = ScriptedTextModel(draft(question, "5"), polish)
        items, _ = annotate(model, [BIRDS], "direct")
        assert items == [Annotated(BIRDS, used, "5")]
        assert model.prompts[1:] == [polish_prompt(question)]


def test_indirect_questions_have_no_chain():
    with pytest.raises(ValueError, match="wrote the indirect ones by hand"):
        annotate(RuleAnnotator(), [BIRDS], "indirect")


def test_rules_annotate_what_they_can():
    assert isinstance(RuleAnnotator(), TextModel)
    sources = [
        BIRDS, Source("How many cats do you see?", "0"), Source("How many cups are on it?", "12"),
        Source("Why?", "1"), Source("How many" + " x" * 10_000 + " are there?", "1"),
    ]  # fmt: skip
    items, rejected = annotate(RuleAnnotator(), sources, "direct")
    assert len(items) == 3 and rejected == {"no completion": 2}
    sources = [("Is there a cat?", "yes"), ("Are these boys happy?", "yes"), ("What is it?", "yes")]
    items, _ = annotate(RuleAnnotator(), [WET, *(Source(*each) for each in sources)], "boolean")
    assert [(i.question, i.answer) for i in items] == [
        ("Would the ground be wet if it became wet?", "yes"),
        ("Would there be a cat if all such things were taken away?", "no"),
        ("Would these boys be happy if they stopped being happy?", "no"),
    ]


def test_on_the_public_set(real):
    """The checks pass most of what people annotated, and their sums contradict two rows of it.

    One of the two is a mistake of the file: five clouds are added to none, and its answer is 0.
    """
    items = load(real / "cvqa" / "C-VQA-Real_questions.csv").items
    reasons = {kind: Counter() for kind in ("direct", "boolean")}
    wrong = []
    for i in items:
        if i.kind in reasons:
            source = Source(i.original, i.original_answer)
            reason = problem(i.kind, source, i.counterfactual, i.counterfactual_answer)
            reasons[i.kind][reason] += 1
            wrong += [i] if reason == "wrong sum" else []
    assert reasons["direct"][None] > 0.85 * 1150 and reasons["boolean"][None] > 0.97 * 1130
    assert len(wrong) == 2
    assert any("clouds" in i.original and i.counterfactual_answer == "0" for i in wrong)
    sources = [Source(i.original, i.original_answer) for i in items if i.kind == "direct"]
    items, rejected = annotate(RuleAnnotator(), sources, "direct")
    assert len(items) > 0.75 * 1150 and set(rejected) == {"no completion"}
