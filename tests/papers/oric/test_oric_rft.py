"""Visual-RFT: rewards by hand, Table 9 as printed, a run that learns, stops, and goes on."""

import json
import multiprocessing
import os
import re
import signal
import sys
from dataclasses import asdict, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from sci_book.papers.oric.questions import INSTRUCTED, WORDINGS, Question, wordings
from sci_book.papers.oric.rft import experiment, pocket, training
from sci_book.papers.oric.rft.material import Sample
from sci_book.papers.oric.rft.rewards import (
    REWARDS,
    accuracy,
    constant_groups,
    form,
    has_form,
    idle,
)
from sci_book.papers.oric.rft.settings import PRESETS, PRINTED_AS, Settings
from sci_book.pocket import oric, oric_rft
from sci_book.pocket.draw import draw
from sci_book.resources import CHECKPOINTS, PAPER
from tests.conftest import sci

POCKET = CHECKPOINTS / "pocket-llavanext"
RIGHT = "<REASONING> a cat. </REASONING><SOLUTION> yes </SOLUTION>"
QUICK = replace(PRESETS["pocket"], answers=8, per_device=8, group=4, longest=3, epochs=2)

# torch and accelerate warn about names of their own
libraries = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (RIGHT, True),
        (RIGHT.replace("><", ">\n<"), True),
        (f"\n{RIGHT} ", True),
        (f"Sure. {RIGHT}", False),
        (f"{RIGHT} So yes.", False),
        (RIGHT.replace(" yes ", " perhaps "), False),
        (RIGHT.replace(" a cat. ", " "), False),
        (RIGHT + RIGHT, False),
        (RIGHT.replace(" a cat. ", " <SOLUTION> no </SOLUTION> "), False),
        (RIGHT.replace("</SOLUTION>", ""), False),
        ("yes", False),
        ("", False),
    ],
)
def test_the_form_is_figure_11s_and_nothing_beside_it(text, whole):
    assert has_form(text) == whole
    assert form([text], ["yes"]) == form([text], ["no"]) == [float(whole)]


def test_accuracy_asks_what_is_said_and_not_how():
    texts = [RIGHT, "yes", "No.", "", "<SOLUTION>no</SOLUTION> yes", "I cannot tell"]
    assert accuracy(texts, ["yes"] * 6) == [1, 1, 0, 0, 0, 0]
    assert accuracy(texts, ["no"] * 6) == [0, 0, 1, 0, 1, 0]
    assert {"accuracy": accuracy, "form": form} == REWARDS


def test_groups_of_equals_are_counted():
    values = [2.0, 1.0, 1.0, 0.0, *[1.0] * 4, *[0.0] * 4]
    assert constant_groups(values, 4) == pytest.approx(2 / 3)
    for values, group in (([], 4), ([1.0] * 6, 4)):
        with pytest.raises(ValueError, match="whole groups of 4"):
            constant_groups(values, group)


def test_a_reward_that_never_differs_is_named():
    line = {"accuracy": 0.5, "form": 0.0, "constant_accuracy": 0.5, "constant_form": 1.0}
    assert idle([line, line]) == {"form": 0.0}
    assert idle([line, {**line, "constant_form": 0.5}]) == {}
    assert idle([]) == {}


def printed():
    return pd.read_csv(PAPER / "oric_training.csv", dtype=str)


def test_table_9_is_the_papers(paper_text):
    text = paper_text("oric")
    table = text[text.index("| Hyper-parameter") : text.index("Table 9.")]
    cells = [
        [re.sub(r"\s+", " ", cell.strip()) for cell in line.split("|")[1:-1]]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    assert printed().to_numpy().tolist() == cells[2:]


def test_the_papers_preset_is_table_9():
    said = dict(printed().to_numpy().tolist())
    paper = PRESETS["paper"]
    words = ("Learning Rate", "Precision", "LR Scheduler", "answers an update")
    numbers = {name: getattr(paper, field) for name, field in PRINTED_AS.items()
               if name not in words}  # fmt: skip
    assert {name: float(said[name]) for name in numbers} == numbers and len(numbers) == 11
    assert said["Learning Rate"] == "2×10^{-6}" and paper.learning_rate == 2e-6
    assert said["Precision"] == "BF16" and paper.dtype == "bfloat16"
    assert said["LR Scheduler"].lower() == paper.schedule
    devices = int(said["GPUs"].split("×")[0])
    assert paper.answers == devices * paper.per_device * int(said["Gradient Accumulation"])


def test_an_update_has_as_many_answers_on_any_number_of_devices(monkeypatch, tmp_path):
    for devices, accumulated in (("4", 4), ("1", 16)):
        monkeypatch.setenv("WORLD_SIZE", devices)
        told = training._arguments(PRESETS["paper"], tmp_path, None)
        assert told["gradient_accumulation_steps"] == accumulated
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="do not spread over 3 devices"):
        training._arguments(PRESETS["paper"], tmp_path, None)


@pytest.mark.parametrize("wrong", [{"answers": 12}, {"per_device": 3}])
def test_an_update_is_whole_groups(wrong):
    with pytest.raises(ValueError, match="expected a multiple of the group"):
        Settings(**{**asdict(PRESETS["paper"]), **wrong})


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Pictures with one object that is there and one that is not, asked without the tags."""
    folder = tmp_path_factory.mktemp("pictures")
    found = []
    for index in range(16):
        lesson = oric_rft.lesson(index)
        file = folder / f"{index}.png"
        Image.fromarray(draw(lesson.scene)).save(file)
        label = "yes" if lesson.target in lesson.scene.kinds else "no"
        asked = INSTRUCTED.format(question=wordings(lesson.target)[0])
        found.append(Sample(file, asked, label))
    return found


def killed(samples, out, threads):
    """A run whose process is killed in the midst of an update."""

    def kill(line):
        if line.startswith("update 13/"):
            os.kill(os.getpid(), signal.SIGKILL)

    torch.set_num_threads(threads)  # sums in the same order
    training.SAVE_EVERY = 8
    training.train(POCKET, samples, out, QUICK, steps=20, say=kill)


@libraries
def test_an_answers_weight_is_equation_5(samples, tmp_path, monkeypatch):
    import trl

    rewards, weights = [], []
    score = trl.GRPOTrainer._generate_and_score_completions

    def spy_reward(texts, labels):
        rewards.append(accuracy(texts, labels))
        return rewards[-1]

    def spy_weights(self, inputs):
        found = score(self, inputs)
        weights.append(found["advantages"].numpy())
        return found

    monkeypatch.setitem(training.REWARDS, "accuracy", spy_reward)
    monkeypatch.setattr(trl.GRPOTrainer, "_generate_and_score_completions", spy_weights)
    with pytest.warns(RuntimeWarning, match="'form' was constant"):
        training.train(POCKET, samples, tmp_path, QUICK, steps=6)
    found = np.array(rewards).reshape(-1, QUICK.group)  # the form's is 0 throughout
    spread = found.std(axis=1, ddof=1, keepdims=True)
    expected = (found - found.mean(axis=1, keepdims=True)) / (spread + 1e-4)
    assert (spread > 0).any() and (spread == 0).any()
    assert np.concatenate(weights) == pytest.approx(expected.ravel(), abs=1e-5)


@pytest.mark.slow
@libraries
def test_twenty_steps_learn_and_a_killed_run_goes_on_to_the_same_end(
    samples, tmp_path, monkeypatch
):
    monkeypatch.setattr(training, "SAVE_EVERY", 8)
    said = []
    with pytest.warns(RuntimeWarning, match=r"'form' was constant in 100 % .* 20 updates, 0\.00"):
        whole = training.train(POCKET, samples, tmp_path / "a", QUICK, steps=20, say=said.append)
    assert len(said) == len(whole.curve) == 20 and said[-1].startswith("update 20/20 ")
    assert [line["step"] for line in whole.curve] == list(range(1, 21))
    assert whole.idle == {"form": 0.0}
    assert {line["constant_form"] for line in whole.curve} == {1.0}
    assert any(line["constant_accuracy"] < 1 for line in whole.curve)
    before, after = (load_file(each / "model.safetensors") for each in (POCKET, whole.folder))
    assert any(not torch.equal(before[name], after[name]) for name in after)

    process = multiprocessing.get_context("spawn").Process(
        target=killed, args=(samples, tmp_path / "b", torch.get_num_threads())
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    # A state that was being written when the process ended is no state.
    (tmp_path / "b" / "checkpoint-12").mkdir()
    (tmp_path / "b" / "checkpoint-12" / "trainer_state.json").write_text('{"log_his')
    said.clear()
    with pytest.warns(RuntimeWarning, match="'form' was constant"):
        gone_on = training.train(POCKET, samples, tmp_path / "b", QUICK, steps=20, say=said.append)
    assert len(said) == 12  # from update 9 on
    assert gone_on.curve == whole.curve
    again = load_file(gone_on.folder / "model.safetensors")
    assert all(torch.equal(again[name], after[name]) for name in after)

    with pytest.raises(ValueError, match="a run with other learning_rate;"):
        other = replace(QUICK, learning_rate=1e-3)
        training.train(POCKET, samples, tmp_path / "b", other, steps=20)


def test_every_epoch_has_every_sample_in_an_order_of_its_own(samples):
    order = training._in_order(samples, QUICK)
    first, second = order[:16], order[16:]
    assert len(order) == 32 and first != second and first != samples
    assert set(first) == set(second) == set(samples)


def test_yes_and_no_weigh_as_much_as_the_rest_of_a_lesson():
    labels = torch.tensor([[-100, 3, 4, 5, 1], [-100, -100, 3, 4, 0]])
    logits = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    told = -logits.log_softmax(-1)
    said = [told[0, 3, 1], told[1, 3, 0]]
    rest = [told[0, 0, 3], told[0, 1, 4], told[0, 2, 5], told[1, 1, 3], told[1, 2, 4]]
    expected = torch.stack(said).mean() + torch.stack(rest).mean()
    assert torch.isclose(training.stressed(logits, labels, [0, 1]), expected)


def test_without_samples_the_error_says_so(tmp_path):
    with pytest.raises(ValueError, match="No sample came"):
        training.train(POCKET, [], tmp_path, QUICK)


@pytest.mark.parametrize("package", ["trl", "datasets", "accelerate"])
def test_what_training_lacks_is_said_before_any_work(
    package, monkeypatch, samples, material, tmp_path
):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(experiment, "load_model", lambda _: pytest.fail("a model was loaded"))
    for run, learnt in ((training.train, samples), (experiment.run, material)):
        with pytest.raises(ImportError, match=rf"needs TRL \(.*{package}.*\.\[rft\]"):
            run(POCKET, learnt, tmp_path, QUICK)


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oric, "SPLITS", {"val": 200, "train": 400})
        for name, size in {"SAMPLES": 16, "LESSONS": 6, "PAIRS": 3, "PROBES": 4}.items():
            patch.setattr(pocket, name, size)
        return pocket.pocket_material(tmp_path_factory.mktemp("rft") / "pictures")


def test_pocket_material_is_balanced_disjoint_and_drawn(material):
    assert [len(x) for x in (material.lessons, material.samples)] == [6, 16]
    assert [len(x) for x in (material.oric, material.probe)] == [12, 4]
    for labels in ([s.answer for s in material.samples], [q.label for q in material.oric]):
        assert labels.count("yes") == labels.count("no") == len(labels) / 2
    taught = {each.image for each in material.lessons}
    trained = {each.picture.name for each in material.samples}
    asked = {each.image for each in (*material.oric, *material.probe)}
    assert not taught & trained and not asked & (taught | trained)
    assert all("train" in name for name in taught | trained)
    assert all("val" in name for name in asked)
    drawn = {file.name for file in material.pictures.iterdir()}
    assert drawn == taught | trained | asked
    wanted = " Describe the picture. Please answer yes or no."
    assert all(each.prompt.endswith(wanted) for each in material.samples)


def test_no_wording_tells_the_answer_of_a_lesson():
    told = {}
    for index in range(80):
        lesson = oric_rft.lesson(index)
        asked = Question("", lesson.target, "no", WORDINGS)
        wording = experiment._asked("{question}", asked, index)
        told.setdefault(wording, []).append(lesson.target in lesson.scene.kinds)
    assert list(told) == list(WORDINGS)
    assert all(sum(there) == len(there) / 2 == 10 for there in told.values())


def test_probes_are_claims_of_every_family_half_of_them_true():
    found = [oric_rft.probe(index) for index in range(40)]
    assert {each.family for each in found} == set(oric_rft.PROBED)
    assert [each.label for each in found] == ["yes", "no"] * 20
    for each in found:
        assert each.scene == oric.scene("val", 0, each.number)
        assert each.number >= oric.SPLITS["val"]
    assert found == [oric_rft.probe(index) for index in range(40)]


@libraries
def test_the_experiment_keeps_every_answer_and_goes_on(material, tmp_path):
    said = []
    settings = replace(QUICK, longest=8)
    run = partial(experiment.run, POCKET, material, tmp_path, settings, teaching_steps=2)
    with pytest.warns(RuntimeWarning, match="constant"):
        path = run(steps=2, say=said.append)
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["settings"] == asdict(settings) and len(result["curve"]) == 2
    assert result["samples"] == 16 and result["teaching"]["steps"] == 2
    for name, questions, each in (("oric", 12, 4), ("probe", 4, 1)):
        rows = result["sets"][name]
        assert len(rows["label"]) == len(rows["image"]) == questions
        for condition in experiment.ASKED:
            for kind in ("said", "form"):
                assert [len(answers) for answers in rows[kind][condition]] == [each] * questions
    texts = json.loads((tmp_path / "lessons.json").read_text(encoding="utf-8"))
    assert all(has_form(text) for text in texts)
    said.clear()
    path.unlink()
    with pytest.warns(RuntimeWarning, match="constant"):
        again = run(steps=2, say=said.append)
    assert not any(line.startswith("update") for line in said)
    found = json.loads(again.read_text(encoding="utf-8"))
    assert found["sets"] == result["sets"] and found["curve"] == result["curve"]

    with pytest.raises(ValueError, match="a run with other steps"):
        run(steps=3)


def test_the_command_wants_questions_and_pictures_together(tmp_path, capsys):
    for mine in (["--questions", "q.json"], ["--images", "pictures"]):
        assert sci("rft", "--out", tmp_path, *mine)
        assert "--questions and --images go together" in capsys.readouterr().err


def test_the_command_leaves_out_what_has_no_picture(tmp_path, capsys, monkeypatch):
    rows = [
        {"id": i, "image": f"{i}.png", "target_object": "cup", "problem": "Is there a cup?",
         "solution": "<SOLUTION>yes</SOLUTION>"}
        for i in range(3)
    ]  # fmt: skip
    asked = tmp_path / "asked.json"
    asked.write_text(json.dumps(rows), encoding="utf-8")
    Image.new("RGB", (8, 8)).save(tmp_path / "1.png")
    trained = []

    def train(model, samples, out, *_, **__):
        trained.extend(samples)
        return SimpleNamespace(folder=out)

    monkeypatch.setattr("sci_book.papers.oric.rft.training.train", train)
    command = ["rft", "--out", tmp_path / "run", "--questions", asked, "--images"]
    assert sci(*command, tmp_path) == 0
    assert [each.picture.name for each in trained] == ["1.png"]
    assert "left out: 2 x missing image, such as" in capsys.readouterr().out
    assert sci(*command, tmp_path / "nowhere")
    assert "None of 3 questions has its picture" in capsys.readouterr().err
