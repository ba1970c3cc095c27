"""The model class of VLMEvalKit: its prompts, its answers, and what it refuses."""

import os
import random
import runpy
import sys
import types
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import ExifTags, Image

from sci_book.data.datasets import Row
from sci_book.data.prompts import build_prompt
from sci_book.resources import ROOT
from sci_core import generate, prepare_image
from sci_core.counterfactuals import prefix_rewrite
from sci_core.families import prefix_cache
from tests import tiny
from tests.integrations import stand_ins

MODULE = "sci_book.integrations.vlmevalkit"
NAN = float("nan")
ANSWERED = [SimpleNamespace(error=None, text="")]
YES_NO = "Please answer yes or no."
LINES = {
    "MMBench_DEV_EN_V11": [
        {"index": 1, "question": "What is it?", "hint": "Look.", "A": "red", "B": "a bus",
         "C": NAN, "D": NAN, "answer": "B"},
        {"index": 2, "question": "图中有什么?", "hint": NAN, "A": "猫", "B": 3, "C": NAN},
    ],
    "MME": [{"index": 3, "question": f"Is there a cat? {YES_NO}"}],
    "OCRVQA_TEST": [{"index": 4, "question": "What is it called?"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def plugin():
    with stand_ins.in_place(stand_ins.VLMEVALKIT, MODULE) as module:
        yield module


@pytest.fixture(scope="module")
def model(plugin):
    return made(plugin)


def made(plugin, method="SCI5", **settings):
    folder = str(tiny.checkpoint("qwen2_vl"))
    return plugin.SelfCritical(model_path=folder, method=method, max_new_tokens=4, **settings)


@pytest.fixture
def pictures(tmp_path):
    """Pictures as the toolkit hands them over: paths, and the pictures themselves."""
    images, _ = tiny.random_questions(random.Random(3), 3)
    for number, image in enumerate(images):
        image.save(tmp_path / f"{number}.png")
    return [str(tmp_path / f"{number}.png") for number in range(3)], images


def test_a_lying_picture_is_shown_upright(plugin, model, tmp_path, monkeypatch):
    image = tiny.random_image(random.Random(4)).resize((40, 90))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    image.save(tmp_path / "lying.png", exif=exif)
    seen = []
    monkeypatch.setattr(plugin, "generate", lambda *call, **how: seen.append(call) or ANSWERED)
    model.generate_inner(message(str(tmp_path / "lying.png"), f"Is it? {YES_NO}"), "MME")
    assert np.array_equal(prepare_image(seen[0][1][0]), np.rot90(np.asarray(image), -1))


def message(path, prompt):
    return [{"type": "image", "value": path}, {"type": "text", "value": prompt}]


def test_the_tool_has_the_interface_that_is_written_down():
    if not stand_ins.installed("vlmeval"):
        pytest.skip("the toolkit is not installed (`pip install ms-vlmeval`)")
    assert stand_ins.differences(stand_ins.VLMEVALKIT) == []


def test_it_can_be_called_as_the_toolkit_calls_it(plugin, model):
    assert issubclass(plugin.SelfCritical, plugin.BaseModel)
    own = stand_ins.BaseModel
    for name in ("use_custom_prompt", "build_prompt", "generate_inner"):
        ours, theirs = getattr(plugin.SelfCritical, name), getattr(own, name)
        assert stand_ins._parameters(name, theirs, ours) == []


@pytest.mark.parametrize("method", ["SCI5", "base"])
def test_it_answers_as_generate_does(plugin, pictures, method):
    paths, images = pictures
    prompts = [f"Is it {colour}? {YES_NO}" for colour in ("red", "green", "blue")]
    model = made(plugin, method)
    found = [
        model.generate(message(path, prompt), dataset="MME")
        for path, prompt in zip(paths, prompts, strict=True)
    ]
    alone = generate(tiny.load("qwen2_vl"), images, prompts, method, max_new_tokens=4)
    assert found == [each.text for each in alone]


def test_a_picture_that_was_seen_is_not_read_again(plugin, pictures):
    paths, _ = pictures
    model = made(plugin)
    model.generate(message(paths[0], f"Is it red? {YES_NO}"))
    misses = model.prefixes.misses
    model.generate(message(paths[0], f"Is it green? {YES_NO}"))
    assert isinstance(model.prefixes, prefix_cache.PrefixCache)
    assert model.prefixes.misses == misses and model.prefixes.hits > 0


@pytest.mark.parametrize(
    ("dataset", "used"),
    [("MMBench_DEV_EN_V11", True), ("MME", True), ("OCRVQA_TEST", True), ("COCO_VAL", False)],
)
def test_the_papers_prompts_serve_three_types_of_questions(model, dataset, used):
    assert model.use_custom_prompt(dataset) is used


@pytest.mark.parametrize("dataset", LINES)
def test_prompts_are_the_papers(model, dataset):
    model.set_dump_image(lambda line: [f"{line['index']}.png"])
    for line in LINES[dataset]:
        picture, text = model.build_prompt(pd.Series(line), dataset)
        assert picture == {"type": "image", "value": f"{line['index']}.png"}
        there = {name: value for name, value in line.items() if value == value}
        row = Row(
            dataset=dataset, index=0, position=0, group="", answer="", image_hash="",
            question_type={"MME": "yesno", "OCRVQA_TEST": "short"}.get(dataset, "mcq"),
            question=line["question"],
            hint=there.get("hint", ""),
            options={letter: str(there[letter]) for letter in "ABCD" if letter in there},
        )  # fmt: skip
        assert text == {"type": "text", "value": build_prompt(row, "qwen2_vl")}
        assert model.reworded.knows(text["value"])


def test_a_yes_or_no_question_without_an_instruction_gets_one(model):
    model.set_dump_image(lambda line: "a.png")
    line = pd.Series({"index": 1, "question": "Is it red?"})
    _, text = model.build_prompt(line, "MME")
    assert text["value"] == f"Is it red? {YES_NO}"


def test_anything_but_one_picture_is_refused(model, pictures):
    paths, _ = pictures
    text = {"type": "text", "value": f"Is it red? {YES_NO}"}
    with pytest.raises(ValueError, match=r"^0 pictures came with 'Is it red.*one picture"):
        model.generate([text])
    with pytest.raises(ValueError, match=r"^2 pictures came"):
        model.generate([*message(paths[0], "Red?")[:1], *message(paths[1], "Red?")[:1], text])


def test_logits_that_are_not_finite_are_a_failure_and_no_answer(
    plugin, model, pictures, monkeypatch
):
    (path, *_), images = pictures
    answer = generate(tiny.load("qwen2_vl"), images[:1], [YES_NO], "SCI5", max_new_tokens=1)[0]
    broken = type(answer)(**{**vars(answer), "error": "V1 is not finite at step 0"})
    monkeypatch.setattr(plugin, "generate", lambda *given, **settings: [broken])
    with pytest.raises(RuntimeError, match="V1 is not finite at step 0"):
        model.generate(message(path, YES_NO))


def test_prompts_without_a_known_instruction(plugin, model, pictures):
    (path, *_), images = pictures
    with pytest.raises(ValueError, match=r"holds 0 known instructions.*table of rewrites"):
        made(plugin, unknown="refuse").generate(message(path, "Describe it."))
    with pytest.warns(RuntimeWarning, match="^1 of .* prompts .*the rule `prefix`"):
        found = model.generate(message(path, "Describe it."))
    rewrites = [[prefix_rewrite("Describe it.", name) for name in ("V1", "V2")]]
    settings = {"max_new_tokens": 4, "rewrites": rewrites}
    (expected,) = generate(tiny.load("qwen2_vl"), images[:1], ["Describe it."], "SCI5", **settings)
    assert found == expected.text
    unchanged = made(plugin, unknown="unchanged")
    with pytest.warns(RuntimeWarning, match="^1 of 1 prompts"):
        found = unchanged.generate(message(path, "Describe it."))
    settings = {"max_new_tokens": 4, "rewrites": [["Describe it."] * 2]}
    (expected,) = generate(tiny.load("qwen2_vl"), images[:1], ["Describe it."], "SCI5", **settings)
    assert found == expected.text


def test_the_toolkits_other_engine_is_refused(plugin):
    made_by_toolkit = partial(plugin.SelfCritical, model_path=str(tiny.checkpoint("qwen2_vl")))
    assert made_by_toolkit(use_vllm=False).method.name == "SCI5"
    with pytest.raises(ValueError, match="leave use_vllm out"):
        made_by_toolkit(use_vllm=True)


def test_the_shipped_program_runs_without_a_package_for_xlsx(plugin, monkeypatch, capsys, tmp_path):
    """The toolkit's own parts of it are stand-ins that write and read names alone."""
    models, written = {}, []

    class Dataset:
        def __init__(self, name):
            self.name = name

        def evaluate(self, file, model):
            assert model == "exact_matching"
            return f"scored {Path(file).name}" if file in written else f"no {file} in {written}"

    def infer_data_job(model, work_dir, model_name, dataset):
        kind = os.environ.get("PRED_FORMAT", "xlsx")  # as `vlmeval.smp.get_pred_file_path`
        if kind == "xlsx":
            raise ModuleNotFoundError("No module named 'xlsxwriter'")
        assert isinstance(models[model](), plugin.SelfCritical) and Path(work_dir).is_dir()
        written.append(f"{work_dir}/{model_name}_{dataset.name}.{kind}")

    parts = {
        "vlmeval.config": {"supported_VLM": models},
        "vlmeval.dataset": {"build_dataset": Dataset},
        "vlmeval.inference": {"infer_data_job": infer_data_job},
    }
    for name, content in parts.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, MODULE, plugin)
    monkeypatch.setitem(os.environ, "PRED_FORMAT", "xlsx")
    monkeypatch.chdir(tmp_path)
    name = "DRBench_pocket-qwen2vl_pocket_ccbench"
    monkeypatch.setattr(sys, "argv", ["", str(tiny.checkpoint("qwen2_vl")), f"{name}.tsv"])
    program = ROOT / "sci_book" / "integrations" / "vlmevalkit_runs" / "drbench.py"
    runpy.run_path(str(program), run_name="__main__")
    assert capsys.readouterr().out == f"scored SCI5_{name}.tsv\n"
