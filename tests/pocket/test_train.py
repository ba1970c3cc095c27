"""Training reads what evaluation reads, is resumable, and leaves an ordinary checkpoint."""

import hashlib
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from transformers import AutoProcessor, PreTrainedTokenizerFast

from sci_book.pocket import curriculum, optimizers, tokenizer, train
from sci_book.pocket.architectures import build
from sci_book.pocket.draw import draw
from sci_book.pocket.optimizers import rate_share
from sci_book.pocket.tokenizer import build_tokenizer
from sci_book.pocket.train import PocketTrainer
from sci_book.pocket.world import sample_scene
from sci_book.resources import MANIFESTS
from sci_core import load_model
from sci_core.engine.engine import Question, start
from tests.soak import mostly

ARCHITECTURES = ("qwen2_vl", "llava_next")
LATE = curriculum.RECIPES["late"][0].stages


@pytest.fixture(scope="module", autouse=True)
def few_texts():
    """A tokenizer from few texts, drawn once: under type checks each trainer's would take 20 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "SEGMENTS", 2000)
        patch.setattr(train, "build_tokenizer", cache(build_tokenizer))
        yield


@contextmanager
def short():
    """The whole curriculum, a step a stage, of two pictures each."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("late", *curriculum.FAMILIES):
            parts = tuple(
                part._replace(stages=tuple(replace(stage, steps=1) for stage in part.stages))
                for part in curriculum.RECIPES[name]
            )
            patch.setitem(curriculum.RECIPES, name, parts)
        patch.setattr(curriculum, "PICTURES", 2)
        patch.setattr(curriculum, "VISION_PICTURES", 2)
        patch.setattr(train, "VISION_STEPS", 2)
        patch.setattr(train, "SAVE_EVERY", 3)
        patch.setattr(train, "LOG_EVERY", 1)
        yield patch


@pytest.fixture(scope="module", params=mostly(ARCHITECTURES))
def whole(request, tmp_path_factory):
    """One undisturbed training, which several tests read: architecture, checkpoint, tower's moves.

    These tell of every look at pictures but the first whether the tower had changed since the last.
    """
    seen = []

    def features(trainer, batch, before=PocketTrainer.features):
        weights = trainer.model.model.state_dict().items()
        seen.append({k: v.clone() for k, v in weights if not k.startswith("language_model.")})
        return before(trainer, batch)

    out = tmp_path_factory.mktemp(request.param) / "pocket"
    with short() as patch:
        patch.setattr(PocketTrainer, "features", features)
        train.train(request.param, 0, out, say=lambda _: None)
    moved = [any(not torch.equal(a[k], b[k]) for k in a) for a, b in pairwise(seen)]
    return request.param, out, moved


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_packed_turn_reads_what_the_engine_reads(arch, tmp_path, monkeypatch):
    """Block mask, restarting positions and the prefix: the logits of evaluation, to rounding."""
    monkeypatch.setattr(curriculum, "PICTURES", 2)
    trainer = PocketTrainer(arch, seed=3)
    trainer.model.eval()
    step = curriculum.HELD_OUT + 7
    batch = trainer.batches()[step]
    with torch.no_grad():
        packed = trainer.model.lm_head(trainer.hidden(batch))
    trainer.save(tmp_path)
    model = load_model(tmp_path)
    if arch == "llava_next":  # the other one's processor needs torchvision
        assert AutoProcessor.from_pretrained(tmp_path).patch_size == 16

    rng = np.random.default_rng([3, 0, step])
    images = [Image.fromarray(draw(sample_scene(rng, curriculum.EVALUATION.lot))) for _ in range(2)]
    assert len(batch["turns"]) > 6
    for row, made, begins, _ in batch["turns"]:
        alone = start(model, [Question(images[row], made.user)], ["original"]).logits[0, 0]
        torch.testing.assert_close(packed[row, begins - 1], alone, atol=2e-5, rtol=0)


def test_an_interrupted_training_ends_where_an_undisturbed_one_does(whole, tmp_path):
    arch, undisturbed, _ = whole
    cut = tmp_path / "cut"
    calls = []

    def stopped(optimizer, loss, update=train.update):
        calls.append(loss)
        if len(calls) == 2 + 5:  # two steps of the vision tower, then the fifth of the rest
            raise KeyboardInterrupt
        update(optimizer, loss)

    with short() as patch:
        patch.setattr(train, "update", stopped)
        with pytest.raises(KeyboardInterrupt):
            train.train(arch, 0, cut, say=lambda _: None)
        assert not (cut / "model.safetensors").exists()
        train.train(arch, 0, cut, say=lambda _: None)
    assert len(calls) == (2 + 5) + (10 - 3)  # gone on from the state saved after the third
    for name in ("model.safetensors", "training_log.jsonl"):
        assert (undisturbed / name).read_bytes() == (cut / name).read_bytes()


def test_a_finished_checkpoint_is_an_ordinary_one_with_a_card(whole):
    arch, out, _ = whole
    model = load_model(out)
    assert model.family == arch and len(model.tokenizer) == model.vocab_size
    card = (out / "README.md").read_text(encoding="utf-8")
    name = {"qwen2_vl": "Qwen2VL", "llava_next": "LlavaNext"}[arch]
    assert f"{name}ForConditionalGeneration" in card
    assert (out / "training_loss.png").stat().st_size
    log = [json.loads(line) for line in (out / "training_log.jsonl").read_text().splitlines()]
    assert {"vision", "dialogue", "held out"} == {line["stage"] for line in log}
    weights = load_file(out / "model.safetensors").values()
    assert {weight.dtype for weight in weights} == {torch.bfloat16}  # rounded once, so saved
    assert not [path for path in out.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_small_size_has_about_half_the_weights(arch):
    tokenizer = train.build_tokenizer(arch)
    small, whole = (build(arch, tokenizer, size)[0] for size in ("small", "standard"))
    assert 0.4 < small.num_parameters() / whole.num_parameters() < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_small_size_is_an_ordinary_checkpoint(arch, tmp_path):
    with short():
        out = train.train(arch, 1, tmp_path / "small", say=lambda _: None, size="small")
    assert load_model(out).family == arch
    assert "--size small --seed 1" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arch", "size", "named"),
    [("qwen3", "small", "'qwen3'.*of qwen2_vl, llava_next"), ("qwen2_vl", "huge", "'huge'")],
)
def test_an_unknown_architecture_or_size_is_refused_by_name(arch, size, named):
    with pytest.raises(ValueError, match=named):
        build(arch, train.build_tokenizer("qwen2_vl"), size)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_familys_whole_way_is_late_then_onward(arch):
    """No weights of another training, and the stages that seeds 1 and 2 were piloted with."""
    late, onward = curriculum.RECIPES[arch]
    assert (late,) == curriculum.RECIPES["late"] and (onward,) == curriculum.RECIPES["onward"]
    assert curriculum.part_at(6179, arch) == (6179, late)
    assert curriculum.part_at(6180, arch) == (0, onward)


def test_nobody_chooses_the_seed_of_a_training():
    """By hand: sha256 of the recipe's file, a line's end, and the training's name."""
    for family, training in (("qwen2_vl", "0"), ("llava_next", "3"), ("qwen2_vl", "sister-0")):
        recipe = MANIFESTS / "pocket" / f"recipe-{family}.yaml"
        whole = recipe.read_bytes() + f"\n{training}".encode()
        assert curriculum.seed_of(family, training) == int(
            hashlib.sha256(whole).hexdigest()[:8], 16
        )
    families = [(f, str(i)) for f in ARCHITECTURES for i in range(5)]
    assert len({curriculum.seed_of(*each) for each in families}) == 10
    # The files are never edited: these seeds were in use before any of their trainings was judged.
    assert curriculum.seed_of("qwen2_vl", "0") == 1634449934
    assert curriculum.seed_of("llava_next", "0") == 1010652009


WAY = {"say": lambda _: None, "recipe": "qwen2_vl"}


@pytest.fixture(scope="module")
def whole_way(tmp_path_factory):
    with short() as patch:
        patch.setattr(train, "SAVE_EVERY", 1)
        return train.train("qwen2_vl", 5, tmp_path_factory.mktemp("way") / "whole", **WAY)


# A cut in the first part is `test_an_interrupted_training_ends_where_an_undisturbed_one_does`, too.
@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 2 + 9, 2 + 10])
def test_a_whole_way_that_is_cut_anywhere_ends_alike(stop, whole_way, tmp_path):
    """In the tower's lessons, between the parts, in the first part; and time is added up."""

    def stopped(optimizer, loss, update=train.update, calls=[]):  # noqa: B006 - it counts
        calls.append(loss)
        if len(calls) == stop + 1:
            raise KeyboardInterrupt
        update(optimizer, loss)

    with short() as patch:
        patch.setattr(train, "SAVE_EVERY", 1)
        with pytest.MonkeyPatch.context() as cut:
            cut.setattr(train, "update", stopped)
            with pytest.raises(KeyboardInterrupt):
                train.train("qwen2_vl", 5, tmp_path / "cut", **WAY)
        train.train("qwen2_vl", 5, tmp_path / "cut", **WAY)
    for name in ("model.safetensors", "training_log.jsonl"):
        assert (whole_way / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()
    time = json.loads((tmp_path / "cut.training" / "time.json").read_text(encoding="utf-8"))
    assert time["sittings"] == 2 and time["wall_s"] > 0


def test_the_rate_warms_up_falls_and_rises_once_more():
    steps, points = curriculum.steps_of("late"), curriculum.LATE_SHARES
    shares = np.array([rate_share(step, points) for step in range(steps)])
    last_stage = steps - LATE[-1].steps
    assert [step for step, _ in points[2::2]] == [last_stage - 1, steps - 1]
    for step, share in points[1:]:
        assert shares[step] == pytest.approx(share)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(shares)))) + 1
    assert turns.tolist() == [optimizers.WARMUP - 1, 5699, 5760]
    assert shares[0] < 1 / 50 and shares.max() > 0.9


@pytest.mark.parametrize("shape", [(24, 72), (72, 24)])
def test_muon_moves_as_torchs_does_to_the_rounding_of_its_bfloat16(shape):
    rng = np.random.default_rng(0)
    start, *gradients = torch.from_numpy(rng.standard_normal((4, *shape))).float()
    weights = [torch.nn.Parameter(start.clone()) for _ in range(2)]
    settings = {"weight_decay": 0.01}
    own = optimizers.Muon([weights[0]], 0.02, **settings)
    torchs = torch.optim.Muon([weights[1]], lr=0.02, **settings)
    for gradient in gradients:
        for weight, optimizer in zip(weights, (own, torchs), strict=True):
            weight.grad = gradient.clone()
            optimizer.step()
    own_move, torchs_move = (weight.detach() - start for weight in weights)
    assert 0 < (own_move - torchs_move).norm() < 0.03 * own_move.norm()
    singular = torch.linalg.svdvals(optimizers.orthogonal(gradients[0]))
    assert singular.min() > 0.5 and singular.max() < 1.5


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_loss_is_on_the_answers_alone(arch, monkeypatch):
    monkeypatch.setattr(curriculum, "PICTURES", 2)
    trainer = PocketTrainer(arch, 0)
    batch = trainer.batches()[curriculum.HELD_OUT]
    answers = torch.zeros_like(batch["target"])
    for row, _, begins, length in batch["turns"]:
        answers[row, begins : begins + length] = True
    assert answers.any() and torch.equal(batch["target"], answers)


def test_the_vision_tower_learns_only_where_its_stage_says(whole):
    _, _, moved = whole
    # The frame's look at a blank picture, the tower's two steps, then one step a stage with
    # pictures; between those, looks at held-out rows change nothing.
    assert moved[:3] == [False, True, True]
    assert sum(moved[3:]) == sum(stage.tower for stage in LATE) > 0


def test_every_weight_is_trained_at_the_rate_of_its_kind():
    model = PocketTrainer("llava_next", 0).model
    groups = [
        group for optimizer in optimizers.optimizers_of(model) for group in optimizer.param_groups
    ]
    language = list(model.model.language_model.parameters())
    rates = [optimizers.ADAMW_RATE, optimizers.TOWER_RATE, optimizers.MUON_RATE]
    assert [group["rate"] for group in groups] == rates
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    assert all(any(p is q for q in language) for g in (0, 2) for p in groups[g]["params"])
    assert not any(any(p is q for q in language) for p in groups[1]["params"])


@pytest.mark.parametrize("arch", mostly([*ARCHITECTURES]))
def test_names_weigh_every_form_alike(arch, tmp_path):
    """With the tokenizer from all its texts, made in a process that draws without type checks."""
    code = (
        "import sys; from sci_book.pocket.tokenizer import build_tokenizer\n"
        "build_tokenizer(sys.argv[1]).save_pretrained(sys.argv[2])"
    )
    subprocess.run([sys.executable, "-c", code, arch, tmp_path], check=True)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    weights = train.Names(tokenizer).weights
    sizes = [len(names) for names in curriculum.CLASSES.values()]
    nameless = [not name for names in curriculum.CLASSES.values() for name in names]
    assert len(weights) == sum(sizes)
    assert torch.allclose(weights.sum(1), 1 - torch.tensor(nameless).float())


def test_every_step_has_its_stage():
    stages = [curriculum.stage_at(step) for step in range(curriculum.steps_of("late"))]
    assert [stages.count(stage) for stage in LATE] == [stage.steps for stage in LATE]
    assert curriculum.stage_at(curriculum.HELD_OUT) is curriculum.EVALUATION
    with pytest.raises(ValueError, match="beyond the schedule"):
        curriculum.stage_at(curriculum.steps_of("late"))


def test_a_finished_checkpoint_is_taught_further(whole, tmp_path):
    arch, checkpoint, _ = whole
    (onward,) = curriculum.RECIPES["onward"]
    onward = onward._replace(stages=tuple(replace(stage, steps=2) for stage in onward.stages))
    with short() as patch:
        patch.setitem(curriculum.RECIPES, "onward", (onward,))
        made = train.train(arch, 7, tmp_path / "b", say=lambda _: None, recipe="onward",
                           start=checkpoint)  # fmt: skip
        weights = hashlib.sha256((checkpoint / "model.safetensors").read_bytes()).hexdigest()
        card = (made / "README.md").read_text(encoding="utf-8")
        assert f"after those that made the weights `{weights[:16]}`" in card
        log = [json.loads(line) for line in (made / "training_log.jsonl").read_text().splitlines()]
        assert {"onward", "held out"} <= {line["stage"] for line in log}
        before, after = (load_file(each / "model.safetensors") for each in (checkpoint, made))
        assert before.keys() == after.keys()
        moved = [key for key in before if not torch.equal(before[key], after[key])]
        assert moved and all(torch.isfinite(value).all() for value in after.values())
        for wrong in ({"recipe": "onward"}, {"recipe": "dial-skew-0.3"}, {"start": checkpoint}):
            with pytest.raises(ValueError, match="`onward` needs one"):
                train.train(arch, 7, tmp_path / "c", **wrong)
    shares = [rate_share(step, curriculum.onward_shares(2000)) for step in (0, 99, 1000, 1999)]
    assert shares[0] < shares[2] < shares[1] < 0.25 and shares[-1] == pytest.approx(0.02)


def test_every_recipe_takes_the_same_steps_on_the_same_scenes():
    for name, (part, *further) in curriculum.RECIPES.items():
        if name in curriculum.GOES_ON or further:  # not from nothing, or a family's whole way
            continue
        assert curriculum.steps_of(name) == curriculum.steps_of("late")
        for stage, first in zip(part.stages, LATE, strict=True):
            assert replace(stage, mix=first.mix, empty=first.empty) == first


def test_a_setting_of_the_dial_turns_its_stage_along_one_axis():
    plain = replace(curriculum.RECIPES["onward"][-1].stages[-1], steps=curriculum.DIAL["steps"])
    assert curriculum.SETTINGS["skew-0.8"] == plain
    for name, stage in curriculum.SETTINGS.items():
        assert [part.stages for part in curriculum.RECIPES[f"dial-{name}"]] == [(stage,)]
        axis, _, value = name.partition("-")
        if axis == "skew":
            turned = replace(plain, lot=replace(plain.lot, skew=float(value)))
        else:
            keys = ("reword", "varied", "sentences")
            wordings = {key: getattr(stage.mix, key) for key in keys}
            turned = replace(plain, mix=replace(plain.mix, **wordings))
            assert stage.mix.reword < plain.mix.reword
        assert stage == turned
    assert curriculum.SETTINGS["wordings-none"].mix.reword == 0


def test_pictures_of_nothing_come_in_their_share_and_are_the_same_again(monkeypatch):
    trainer = PocketTrainer("qwen2_vl", seed=3)
    step, drawn = curriculum.steps_of("late") - 1, []
    empty = curriculum.empty_picture
    monkeypatch.setattr(curriculum, "empty_picture", lambda *of: drawn.append(0) or empty(*of))
    (part,) = curriculum.RECIPES["varied-empty"]
    half = part._replace(stages=tuple(replace(stage, empty=0.5) for stage in part.stages))
    monkeypatch.setitem(curriculum.RECIPES, "half empty", (half,))
    assert trainer.batches(recipe="varied")[step] and not drawn
    pictures = trainer.batches(recipe="half empty")[step]["pixel_values"]
    assert 6 <= len(drawn) <= 18 < curriculum.PICTURES
    assert torch.equal(pictures, trainer.batches(recipe="half empty")[step]["pixel_values"])
