"""Training reads what evaluation reads, is resumable, and leaves an ordinary checkpoint."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from PIL import Image

from sci_core import load_model
from sci_core.engine import Question, start
from sci_core.pocket import curriculum, train
from sci_core.pocket.architectures import build
from sci_core.pocket.draw import draw
from sci_core.pocket.train import PocketTrainer, rate_share
from sci_core.pocket.world import sample_scene

ARCHITECTURES = ("qwen2_vl", "llava_next")


@pytest.fixture
def short(monkeypatch):
    """The whole curriculum, a step a stage, of two pictures each."""
    stages = tuple(replace(stage, steps=1) for stage in curriculum.SCHEDULE)
    monkeypatch.setattr(curriculum, "SCHEDULE", stages)
    monkeypatch.setattr(train, "STEPS", len(stages))
    monkeypatch.setattr(curriculum, "PICTURES", 2)
    monkeypatch.setattr(curriculum, "VISION_PICTURES", 2)
    monkeypatch.setattr(train, "VISION_STEPS", 2)
    monkeypatch.setattr(train, "SAVE_EVERY", 3)
    monkeypatch.setattr(train, "LOG_EVERY", 1)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_packed_turn_reads_what_the_engine_reads(arch, tmp_path, monkeypatch):
    """Block mask, restarting positions and the prefix: the logits of evaluation, to rounding."""
    monkeypatch.setattr(curriculum, "PICTURES", 2)
    trainer = PocketTrainer(arch, seed=3)
    trainer.model.eval()
    step = curriculum.HELD_OUT + 7
    data = curriculum.Batches(
        arch, 3, trainer.tokenizer, trainer.processor, trainer.frame, visual=False
    )
    batch = data[step]
    with torch.no_grad():
        packed = trainer.model.lm_head(trainer.hidden(batch))
    trainer.save(tmp_path)
    model = load_model(tmp_path)

    rng = np.random.default_rng([3, 0, step])
    images = [Image.fromarray(draw(sample_scene(rng, curriculum.EVALUATION.lot))) for _ in range(2)]
    assert len(batch["turns"]) > 6
    for row, made, begins, _ in batch["turns"]:
        alone = start(model, [Question(images[row], made.user)], ["original"]).logits[0, 0]
        torch.testing.assert_close(packed[row, begins - 1], alone, atol=2e-5, rtol=0)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_an_interrupted_training_ends_where_an_undisturbed_one_does(
    arch, tmp_path, short, monkeypatch
):
    train.train(arch, 0, tmp_path / "whole", say=lambda _: None)

    calls = []

    def stopped(optimizer, loss, update=train._update):
        calls.append(loss)
        if len(calls) == 2 + 5:  # two steps of the vision tower, then the fifth of the rest
            raise KeyboardInterrupt
        update(optimizer, loss)

    with monkeypatch.context() as patch:
        patch.setattr(train, "_update", stopped)
        with pytest.raises(KeyboardInterrupt):
            train.train(arch, 0, tmp_path / "cut", say=lambda _: None)
    assert not (tmp_path / "cut" / "model.safetensors").exists()
    train.train(arch, 0, tmp_path / "cut", say=lambda _: None)
    whole, cut = ((tmp_path / n / "model.safetensors").read_bytes() for n in ("whole", "cut"))
    assert whole == cut
    logs = [(tmp_path / n / "training_log.jsonl").read_text() for n in ("whole", "cut")]
    assert logs[0] == logs[1]


def test_a_finished_checkpoint_is_an_ordinary_one_with_a_card(tmp_path, short):
    out = train.train("qwen2_vl", 0, tmp_path / "pocket", say=lambda _: None)
    model = load_model(out)
    assert model.family == "qwen2_vl" and len(model.tokenizer) == model.vocab_size
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "Qwen2VLForConditionalGeneration" in card and (out / "training_loss.png").stat().st_size
    log = [json.loads(line) for line in (out / "training_log.jsonl").read_text().splitlines()]
    assert {"vision", "dialogue", "held out"} == {line["stage"] for line in log}
    assert not [path for path in out.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]


def test_the_rate_warms_up_falls_and_rises_once_more():
    shares = np.array([rate_share(step) for step in range(train.STEPS)])
    last_stage = train.STEPS - curriculum.SCHEDULE[-1].steps
    assert [step for step, _ in train.RATE_SHARES[2::2]] == [last_stage - 1, train.STEPS - 1]
    for step, share in train.RATE_SHARES[1:]:
        assert shares[step] == pytest.approx(share)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(shares)))) + 1
    assert turns.tolist() == [train.WARMUP - 1, 5699, 5760]
    assert shares[0] < 1 / 50 and shares.max() > 0.9


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_loss_is_on_the_answers_alone(arch, short):
    trainer = PocketTrainer(arch, 0)
    data = curriculum.Batches(arch, 0, trainer.tokenizer, trainer.processor, trainer.frame, False)
    batch = data[curriculum.HELD_OUT]
    answers = torch.zeros_like(batch["target"])
    for row, _, begins, length in batch["turns"]:
        answers[row, begins : begins + length] = True
    assert answers.any() and torch.equal(batch["target"], answers)


def test_the_vision_tower_learns_only_where_its_stage_says(tmp_path, short, monkeypatch):
    seen = []

    def features(trainer, batch, before=PocketTrainer.features):
        seen.append({k: v.clone() for k, v in trainer.model.model.visual.state_dict().items()})
        return before(trainer, batch)

    monkeypatch.setattr(PocketTrainer, "features", features)
    train.train("qwen2_vl", 0, tmp_path / "pocket", say=lambda _: None)
    moved = [any(not torch.equal(a[k], b[k]) for k in a) for a, b in pairwise(seen)]
    # The frame's look at a blank picture, the tower's two steps, then one step a stage with
    # pictures; between those, looks at held-out rows change nothing.
    assert moved[:3] == [False, True, True]
    assert sum(moved[3:]) == sum(stage.tower for stage in curriculum.SCHEDULE) > 0


def test_every_weight_is_trained_at_the_rate_of_its_kind():
    model = PocketTrainer("llava_next", 0).model
    groups = [group for optimizer in train._optimizers(model) for group in optimizer.param_groups]
    language = list(model.model.language_model.parameters())
    rates = [train.ADAMW_RATE, train.TOWER_RATE, train.MUON_RATE]
    assert [group["rate"] for group in groups] == rates
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    assert all(any(p is q for q in language) for g in (0, 2) for p in groups[g]["params"])
    assert not any(any(p is q for q in language) for p in groups[1]["params"])


def test_names_weigh_every_form_alike():
    tokenizer = PocketTrainer("qwen2_vl", 0).tokenizer
    weights = train.Names(tokenizer).weights
    sizes = [len(names) for names in curriculum.CLASSES.values()]
    nameless = [not name for names in curriculum.CLASSES.values() for name in names]
    assert len(weights) == sum(sizes)
    assert torch.allclose(weights.sum(1), 1 - torch.tensor(nameless).float())


def test_every_step_has_its_stage():
    stages = [curriculum.stage_at(step) for step in range(curriculum.STEPS)]
    assert [stages.count(stage) for stage in curriculum.SCHEDULE] == [
        stage.steps for stage in curriculum.SCHEDULE
    ]
    assert curriculum.stage_at(curriculum.HELD_OUT) is curriculum.EVALUATION
    with pytest.raises(ValueError, match="beyond the schedule"):
        curriculum.stage_at(curriculum.STEPS)


def test_an_unknown_architecture_is_named():
    with pytest.raises(ValueError, match=r"'gpt'.*expected one of qwen2_vl, llava_next"):
        build("gpt", PocketTrainer("qwen2_vl", 0).tokenizer)
