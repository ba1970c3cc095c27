"""Programs for the pocket twin: by rule, by a text model, and what happens when either fails."""

import json

import pytest

from sci_book.data.datasets import DatasetError
from sci_book.papers.cvqa import pairs
from sci_book.papers.cvqa.neuro_symbolic import (
    Programmed,
    RuleProgrammer,
    answer_by_program,
    load_scenes,
)
from sci_book.papers.cvqa.program import run
from sci_book.papers.cvqa.prompts import PROMPTS
from sci_book.papers.cvqa.questions import SIDES, load
from sci_book.papers.shared.text_model import Completion, TextModel
from sci_book.pocket.what_if import SCENES, write
from tests.text_models import ScriptedTextModel


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    sizes = {"direct": 60, "indirect": 80, "boolean": 80}
    path = write(folder, sizes=sizes, say=lambda _: None)
    return load(path).items, load_scenes(folder / SCENES)


def texts(programmed):
    return [p.text for p in programmed]


@pytest.mark.parametrize(("heeds", "counterfactual"), [(True, 1), (False, 0)])
def test_rules_are_right_as_far_as_they_heed_the_presupposition(twin, heeds, counterfactual):
    items, scenes = twin
    programmer = RuleProgrammer(heeds=heeds)
    assert isinstance(programmer, TextModel)
    sides = [answer_by_program(items, side, scenes, programmer) for side in SIDES]
    assert all(p.error is None for side in sides for p in side)
    writer = pairs.writer("rules", items, [*map(texts, sides)])
    original, changed = (pairs.right(writer, "base", side)[::2] for side in SIDES)
    assert original.all() and (changed == counterfactual).all()


def test_failures_of_the_writer_and_of_its_program_are_kept_apart(twin):
    items, scenes = twin
    model = ScriptedTextModel(
        "return 2",
        "I think there are two.",
        "return find.__class__",
        Completion(None, "HTTP 429 (attempt 5 of 5)", 5),
    )
    found = answer_by_program(items[:4], "original", scenes, model)
    assert found[0] == Programmed("return 2", "2", None)
    assert found[1].text == "" and found[1].error == "the text is no program"
    assert found[2].text == "" and found[2].error == "Attribute is not allowed"
    assert found[3] == Programmed(None, None, "HTTP 429 (attempt 5 of 5)")
    for prompt, asked in zip(model.prompts, items[:4], strict=True):
        assert prompt.endswith(f"Question: {asked.original}\nProgram:\n")
    writer = pairs.writer("scripted", items[:4], [texts(found), ["0"] * 4])
    right = pairs.right(writer, "base", "original")[::2]
    assert right[1:3].tolist() == [0, 0] and (right != right).tolist() == [False] * 3 + [True]


def test_the_prompts_own_examples_run(twin):
    """The examples a text model is shown are programs of the language it must use."""
    _, scenes = twin
    scene = next(iter(scenes.values()))
    examples = PROMPTS["program"].split("Program:\n")[1:-1]
    found = [run(example.split("\n\n")[0], scene) for example in examples]
    assert len(found) == 3 and all(outcome.error is None for outcome in found)


@pytest.mark.parametrize(
    "question",
    ["What color is the cow?", "How many cows would there be if it rained?", "", "Why?",
     "How many things would there be if it rained?", "Is the lamp broken or red?",
     "Would there be a cow in the picture if it rained?"],
)  # fmt: skip
def test_a_question_without_a_rule_is_failed(question):
    (found,) = RuleProgrammer().complete([PROMPTS["program"].replace("{question}", question)])
    assert found == Completion(None, "no rule for this question", 0)


def test_a_picture_without_a_scene(twin):
    items, _ = twin
    with pytest.raises(ValueError, match="220 of 220 items have no scene"):
        answer_by_program(items, "original", {}, RuleProgrammer())


@pytest.mark.parametrize(
    "line", ["", "no", "[]", "{}", '{"img_path": "a", "place": "x", "light": "y", "things": [3]}']
)
def test_a_bad_line_of_scenes_is_named(tmp_path, line):
    good = {"img_path": "a", "place": "x", "light": "y", "things": []}
    (tmp_path / "s.jsonl").write_text(json.dumps(good) + "\n" + line + "\n")
    with pytest.raises(DatasetError, match=r"s\.jsonl, line 2: no scene"):
        load_scenes(tmp_path / "s.jsonl")
    (tmp_path / "s.jsonl").unlink()
    with pytest.raises(DatasetError, match="does not exist; expected the scenes"):
        load_scenes(tmp_path / "s.jsonl")
