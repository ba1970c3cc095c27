"""Attention, quantisation and placement: what was asked for is what is there, or is refused."""

import json
import pickle
import random
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from sci_book.run.provenance import precision
from sci_core import Question, generate, load_model, rewrite, start
from sci_core.families import precision as precision_module
from sci_core.families.models import adapt
from tests import tiny

# bitsandbytes is compiled by an older way of torch
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method.*:DeprecationWarning")

POCKET = Path(__file__).resolve().parents[1] / "checkpoints"
POCKETS = ("pocket-qwen2vl", "pocket-llavanext")
ROUNDS = ("original", "V1", "black")

bitsandbytes = pytest.mark.skipif(
    find_spec("bitsandbytes") is None or find_spec("accelerate") is None,
    reason="bitsandbytes or accelerate is not installed (the extra gpu)",
)
accelerate = pytest.mark.skipif(
    find_spec("accelerate") is None, reason="accelerate is not installed"
)


def logits(model, engine="two_phase"):
    images, prompts = tiny.random_questions(random.Random(1), 5)
    questions = [
        Question(image, prompt, (rewrite(prompt, "V1"),))
        for image, prompt in zip(images, prompts, strict=True)
    ]
    return start(model, questions, ROUNDS, engine).logits


def gap(one, other):
    return float((one - other).abs().max())


def by_question(one, other):
    """How far a question's logits are apart, in the middle of all questions and rounds."""
    return float((one - other).abs().amax(dim=-1).median())


def layers(model):
    return {type(part).__name__ for part in model.hf.get_decoder().modules()}


@bitsandbytes
@pytest.mark.parametrize("name", POCKETS)
def test_nf4_on_the_cpu_agrees_between_engines_as_bfloat16_does(name):
    """Where the processor has bfloat16, bitsandbytes rounds to it, whatever the dtype."""
    whole = load_model(POCKET / name, device="cpu")
    model = load_model(POCKET / name, device="cpu", quantization="nf4")
    assert (precision(whole), precision(model)) == ({}, {"quantization": "nf4"})
    assert "Linear4bit" in layers(model) and "Linear4bit" not in layers(whole)
    found = logits(model)
    assert gap(found, logits(model, "sequential")) < 0.25
    assert 0.25 < gap(found, logits(whole)) < found.std()  # quantised, and still the same model


@bitsandbytes
@pytest.mark.parametrize("name", POCKETS)
def test_int8_depends_on_the_batch_by_its_outliers_alone(name, monkeypatch):
    """But for the question whose number lies where two levels meet, and is rounded to either."""
    whole = logits(load_model(POCKET / name, device="cpu"))
    model = load_model(POCKET / name, device="cpu", quantization="int8")
    assert precision(model) == {"quantization": "int8"}
    assert "Linear8bitLt" in layers(model)
    found, alone = logits(model), logits(model, "sequential")
    assert by_question(found, alone) > 0.01 and gap(found, alone) < 1
    assert 0.1 < gap(found, whole) < found.std()
    for part in model.hf.modules():  # without the outliers, which are chosen over all rows
        if type(part).__name__ == "Linear8bitLt":
            monkeypatch.setattr(part.state, "threshold", 0.0)
    found, alone = logits(model), logits(model, "sequential")
    assert by_question(found, alone) < 1e-4 and gap(found, alone) < 1
    assert gap(found, whole) > 0.1


@bitsandbytes
def test_a_quantised_model_travels_to_another_process():
    model = load_model(POCKET / POCKETS[0], device="cpu", quantization="int8")
    assert precision(pickle.loads(pickle.dumps(model))) == precision(model)


@bitsandbytes
def test_layers_too_narrow_for_nf4_on_the_cpu_are_refused():
    with pytest.raises(ValueError, match=r"wide, and bitsandbytes needs a multiple of 64"):
        load_model(tiny.checkpoint("qwen2_vl"), device="cpu", quantization="nf4")


@bitsandbytes
def test_quantised_float64_is_refused():
    with pytest.raises(ValueError, match="nf4 is computed in float32, bfloat16 or float16"):
        load_model(tiny.checkpoint("qwen2_vl"), dtype="float64", quantization="nf4")


def test_an_unknown_quantisation_is_refused():
    with pytest.raises(ValueError, match=r"Unknown quantization 'int3'; use one of nf4, int8"):
        load_model(tiny.checkpoint("qwen2_vl"), quantization="int3")


@pytest.mark.parametrize(
    "settings", [{"quantization": "nf4"}, {"quantization": "int8"}, {"device_map": "auto"}]
)
def test_a_missing_package_is_named(settings, monkeypatch):
    monkeypatch.setattr(precision_module, "find_spec", lambda _: None)
    said = r"needs the package (\w+), .*: pip install \1, or pip install -e '\.\[gpu\]'"
    with pytest.raises(ImportError, match=said):
        load_model(tiny.checkpoint("qwen2_vl"), **settings)


@pytest.mark.parametrize(
    ("installed", "dtype", "on_gpu", "says"),
    [
        (False, "bfloat16", True, "flash-attn is not installed"),
        (True, "bfloat16", False, "needs a GPU"),
        (True, "float32", True, "the model is in float32"),
    ],
)
def test_sdpa_takes_the_place_of_flash_attention_and_says_why(
    installed, dtype, on_gpu, says, monkeypatch
):
    monkeypatch.setattr(precision_module, "find_spec", lambda _: installed or None)
    with pytest.warns(UserWarning, match=f"sdpa takes the place of flash_attention_2: .*{says}"):
        settings = precision_module.attention_settings("flash_attention_2", dtype, on_gpu)
    assert settings == "sdpa"


def test_flash_attention_serves_the_vision_tower_alone(monkeypatch):
    """Its settings, with eager in its place: the package needs a GPU that is not here."""
    monkeypatch.setattr(precision_module, "find_spec", lambda _: True)
    settings = precision_module.attention_settings("flash_attention_2", "bfloat16", True)
    assert settings == {"": "sdpa", "vision_config": "flash_attention_2"}
    hf = type(tiny.load("qwen2_vl").hf).from_pretrained(
        tiny.checkpoint("qwen2_vl"),
        attn_implementation=settings | {"vision_config": "eager"},
    )
    plain = tiny.load("qwen2_vl")
    model = adapt(hf.eval(), plain.tokenizer, plain.processor.image_processor)
    assert hf.model.visual.config._attn_implementation == "eager"
    assert hf.get_decoder().config._attn_implementation == "sdpa"
    assert precision(model) == {"attention": "eager and sdpa"}
    assert gap(logits(model), logits(plain)) < 1e-5


def test_eager_attention_is_told_and_flash_attention_falls_back_when_loaded():
    assert precision(tiny.load("qwen2_vl", attention="eager")) == {"attention": "eager"}
    with pytest.warns(UserWarning, match="sdpa takes the place"):
        model = load_model(
            tiny.checkpoint("qwen2_vl"), device="cpu", attn_implementation="flash_attention_2"
        )
    assert precision(model) == {}
    with pytest.raises(ValueError, match=r"'flex_attention' cannot take .* sdpa, eager"):
        load_model(tiny.checkpoint("qwen2_vl"), attn_implementation="flex_attention")


@accelerate
@pytest.mark.parametrize("kind", ["qwen3_vl", "llava_next", "smolvlm"])
@pytest.mark.parametrize("device_map", [{"": "cpu"}, "auto"])
def test_a_device_map_changes_nothing(kind, device_map):
    model = load_model(tiny.checkpoint(kind), dtype="float64", device_map=device_map)
    assert gap(logits(model).cpu(), logits(tiny.load(kind, "float64"))) < 1e-10


@accelerate
@pytest.mark.parametrize("kind", ["qwen3_vl", "llava", "smolvlm", "internvl"])
def test_weights_that_are_brought_for_every_call_change_nothing(kind):
    """As a device map does with what does not fit: the weights have no device of their own."""
    from accelerate import cpu_offload

    plain = tiny.load(kind, "float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tied weights, which stay tied
        hf = load_model(tiny.checkpoint(kind), dtype="float64", device="cpu").hf
        hf = cpu_offload(hf, torch.device("cpu"))
    model = adapt(hf, plain.tokenizer, plain.processor.image_processor)
    assert hf.lm_head.weight.device.type == "meta" and model.device == torch.device("cpu")
    assert gap(logits(model), logits(plain)) < 1e-10
    images, prompts = tiny.random_questions(random.Random(2), 3)
    one, other = (generate(each, images, prompts, "SCI3", 3) for each in (model, plain))
    assert [answer.tokens for answer in one] == [answer.tokens for answer in other]


@accelerate
def test_a_newline_without_a_device_is_refused():
    from accelerate import cpu_offload

    plain = tiny.load("llava_next")
    hf = cpu_offload(load_model(tiny.checkpoint("llava_next"), device="cpu").hf)
    with pytest.raises(ValueError, match=r"leaves model\.image_newline without a device"):
        adapt(hf, plain.tokenizer, plain.processor.image_processor)


def test_a_device_and_a_map_are_one_too_many():
    with pytest.raises(ValueError, match="give one of the two"):
        load_model(tiny.checkpoint("qwen2_vl"), device="cpu", device_map="auto")


@pytest.mark.parametrize(
    ("config", "own"),
    [
        ({}, "float32"),
        ({"dtype": "bfloat16", "torch_dtype": "float16"}, "bfloat16"),
        ({"torch_dtype": "float16", "text_config": {"dtype": "float32"}}, "float16"),
        ({"dtype": None, "text_config": {"torch_dtype": "bfloat16"}}, "bfloat16"),
        ({"dtype": torch.bfloat16}, "bfloat16"),
    ],
)
def test_the_checkpoint_says_its_own_dtype(config, own):
    assert precision_module.own_dtype(config) == own


def test_the_checkpoints_own_dtype_is_loaded(tmp_path):
    folder = tiny.write_checkpoint(tmp_path / "model", "qwen2_vl")
    assert load_model(folder, dtype="auto").dtype == torch.float32
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"dtype": "bfloat16"}))
    assert load_model(folder, dtype="auto").dtype == torch.bfloat16
    assert load_model(folder).dtype == torch.float32
    (folder / "config.json").write_text(json.dumps(config | {"dtype": "float8_e4m3fn"}))
    with pytest.raises(ValueError, match="dtype of the checkpoint 'float8_e4m3fn'"):
        load_model(folder, dtype="auto")


@pytest.mark.parametrize("feature", [None, "avx512_bf16", "amx_bf16", "bf16"])
def test_slow_bfloat16_is_said_once(feature, monkeypatch):
    has = {"avx2": True, "avx512_bf16": False, **({feature: True} if feature else {})}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")  # as Python has it: once a place
        for dtype in ("float32", "bfloat16", "bfloat16"):
            load_model(tiny.checkpoint("qwen2_vl"), dtype=dtype, device="cpu")
    ours = [each for each in said if "bfloat16" in str(each.message)]
    assert len(ours) == (feature is None)
    assert all("four times" in str(each.message) for each in ours)


def test_a_worker_does_not_repeat_it(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    monkeypatch.setattr(precision_module.multiprocessing, "parent_process", object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(tiny.checkpoint("qwen2_vl"), dtype="bfloat16", device="cpu")
