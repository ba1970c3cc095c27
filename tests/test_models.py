"""Adapters agree with transformers' own processing; templates and pictures are refused by name."""

import json
import pickle
import random
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoProcessor

from sci_book.results.records import read_records
from sci_book.run.provenance import revision
from sci_core import generate, load_model
from sci_core.families.models import adapt
from sci_core.images import MAX_PIXELS, check_image
from tests import tiny

ROOT = Path(__file__).resolve().parents[1]
PROMPT_TO_REWRITE = "Is there a dog? Please answer yes or no."
PROMPT = "Is there a dog? Please answer yes or no. 图中有几只猫?"

families = pytest.mark.parametrize("family", tiny.FAMILIES)


@families
def test_what_a_model_says_of_itself(family):
    model = tiny.load(family)
    assert model.family == family
    assert model.name == str(tiny.checkpoint(family))
    assert model.dtype == torch.float32
    assert model.device == torch.device("cpu")
    assert model.vocab_size == len(model.tokenizer)
    assert model.tokenizer.eos_token_id in model.eos_token_ids
    assert not any(parameter.requires_grad for parameter in model.hf.parameters())


@families
def test_another_process_loads_the_same_checkpoint(family):
    model = tiny.load(family, "float64", "eager")
    copy = pickle.loads(pickle.dumps(model))
    assert revision(copy) == revision(model)
    assert (copy.dtype, copy.device) == (model.dtype, model.device)
    assert copy.hf.config._attn_implementation == "eager"
    assert copy.parameters == model.parameters == sum(p.numel() for p in copy.hf.parameters())


@families
def test_revision_follows_content_not_place(family, damageable):
    copy = damageable(family)
    assert revision(load_model(copy)) == revision(tiny.load(family))
    (copy / "README.md").write_text("a model card")
    assert revision(load_model(copy)) == revision(tiny.load(family))
    weights = load_file(copy / "model.safetensors")
    name = next(iter(weights))
    weights[name] = weights[name] + 1
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert revision(load_model(copy)) != revision(tiny.load(family))


def test_what_autoprocessor_alone_reads_of_a_processor_config_is_not_in_the_revision(damageable):
    """The rest is for `AutoProcessor`, which is not used; frozen records keep their stamps."""
    copy = damageable("llava_next")
    before = revision(load_model(copy))
    (copy / "processor_config.json").write_text('{"patch_size": 8}')
    assert revision(load_model(copy)) == before
    pixels = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "processor_config.json").write_text(json.dumps({"image_processor": pixels}))
    assert revision(load_model(copy)) != before


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("chat_template.json", '{"chat_template": "<image>"}'),
        ("processor_config.json", '{"chat_template": "<image>"}'),
        ("additional_chat_templates/default.jinja", "<image>"),
        ("tokenizer_config.json", None),
        ("generation_config.json", '{"eos_token_id": 2}'),
    ],
)
def test_the_revision_changes_with_every_file_that_may_change_an_answer(file, content, damageable):
    copy = damageable("llava")
    before = revision(load_model(copy))
    path = copy / file
    path.parent.mkdir(exist_ok=True)
    settings = path.read_text() if path.is_file() else ""
    path.write_text(settings.replace("}", ' , "more": 1}') if content is None else content)
    assert revision(load_model(copy)) != before


def test_a_pocket_checkpoint_has_a_processor_of_transformers_and_its_frozen_revision():
    checkpoint = ROOT / "checkpoints" / "pocket-llavanext"
    model = load_model(checkpoint)
    frozen = read_records(ROOT / "data_manifests" / "records" / "pocket-llavanext.parquet")
    assert revision(model) == frozen.stamp["revision"]
    processor = AutoProcessor.from_pretrained(checkpoint)
    image = tiny.random_image(random.Random(1))
    content = [{"type": "image"}, {"type": "text", "text": "What?"}]
    turn = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True
    )
    ids = processor(images=[image], text=[turn], return_tensors="pt")["input_ids"][0].tolist()
    picture = model.processor.prepare(image)
    assert ids == model.processor.token_ids(["What?"], [picture.ids])[0]


def test_loading_a_folder_is_silent(capfd):
    load_model(tiny.checkpoint("qwen2_vl"))
    assert capfd.readouterr() == ("", "")


def test_a_beginning_of_sequence_is_not_doubled(damageable):
    copy = damageable("llava_next")
    template = copy / "chat_template.jinja"
    template.write_text("<s>" + template.read_text())
    model = load_model(copy)
    assert model.processor.token_ids([PROMPT], [(1,)])[0].count(model.tokenizer.bos_token_id) == 1


@pytest.mark.parametrize(
    ("written", "prompt"),
    [("part.text", " What? "), ("part.text | trim", "What?"), ("part.text | upper", " WHAT? ")],
)
def test_a_template_may_change_the_text(damageable, written, prompt):
    copy = damageable()
    template = copy / "chat_template.jinja"
    plain = load_model(copy).processor.token_ids([prompt, "Is it red?"], [(1,), (1,)])
    template.write_text(template.read_text().replace("part.text", written))
    changed = load_model(copy).processor.token_ids([" What? ", "Is it red?"], [(1,), (1,)])
    assert changed[0] == plain[0]
    assert (changed[1] == plain[1]) == ("upper" not in written)


@pytest.mark.parametrize("engine", ["two_phase", "sequential"])
def test_an_answer_that_never_ends_is_cut(engine):
    model = tiny.with_settings("qwen2_vl", eos_token_id=[])
    image = tiny.random_image(random.Random(0))
    (answer,) = generate(model, [image], [PROMPT_TO_REWRITE], "SCI3", 12, engine=engine)
    assert (len(answer.tokens), answer.end, answer.stopped, answer.error) == (12, None, False, None)


@pytest.mark.parametrize("strategy", ["default", "full"])
@pytest.mark.parametrize("tower", ["clip", "siglip"])
@pytest.mark.parametrize("layer", [-2, -1, [-1, -2]])
def test_every_way_to_take_the_features_of_a_llava_is_counted(tower, strategy, layer):
    """With a class token, without one, or with a patch less, as the model itself takes them."""
    shared = tiny.load({"clip": "llava", "siglip": "llava_siglip"}[tower])
    config = deepcopy(shared.hf.config)
    config.vision_feature_select_strategy, config.vision_feature_layer = strategy, layer
    torch.manual_seed(0)
    hf = transformers.LlavaForConditionalGeneration(config).eval().requires_grad_(False)
    hf.generation_config.eos_token_id = shared.tokenizer.eos_token_id
    model = adapt(hf, shared.tokenizer, shared.processor.image_processor)
    beside = {"clip": 1, "siglip": 0}[tower] - (strategy == "default")
    picture = model.processor.prepare(tiny.random_image(random.Random(tower)))
    assert picture.tokens == len(model.encode([picture])[0]) == 16 + beside
    images, prompts = tiny.random_questions(random.Random(f"{tower} {strategy}"), 2)
    fast = generate(model, images, prompts, "SCI3", 3)
    slow = generate(model, images, prompts, "SCI3", 3, engine="sequential", gate=False)
    assert [answer.tokens for answer in fast] == [answer.tokens for answer in slow]


@pytest.mark.parametrize("more", [1, -1, 7])
@pytest.mark.parametrize("kind", tiny.KINDS)
def test_features_and_tokens_that_disagree_are_said_in_a_sentence(kind, more):
    model = tiny.load(kind)
    picture = model.processor.prepare(tiny.random_image(random.Random(kind)))
    wrong = replace(picture, tokens=picture.tokens + more)
    says = rf"gives {picture.tokens} features where .* have {picture.tokens + more} image tokens"
    with pytest.raises(ValueError, match=says):
        model.encode([wrong])


@pytest.mark.parametrize(
    ("kind", "file", "change"),
    [
        ("llava_siglip", "preprocessor_config.json", {"do_resize": False}),
        ("llava_next", "preprocessor_config.json", {"image_grid_pinpoints": [[200, 200]]}),
        ("qwen2_vl", "preprocessor_config.json", {"temporal_patch_size": 1}),
        ("qwen2_vl", "preprocessor_config.json", {"patch_size": 7}),
        ("qwen2_5_vl", "preprocessor_config.json", {"merge_size": 1}),
        ("qwen3_vl", "preprocessor_config.json", {"merge_size": 4}),
    ],
)
def test_a_tower_and_pixels_that_do_not_fit_are_said_in_a_sentence(kind, file, change, damageable):
    folder = damageable(kind)
    settings = json.loads((folder / file).read_text()) | change
    (folder / file).write_text(json.dumps(settings))
    picture = Image.new("RGB", (120, 70), "red")
    says = r"(?s)(preprocessor_config.json.*config.json|config.json and preprocessor_config.json)"
    with pytest.raises(ValueError, match=says) as refused:
        generate(load_model(folder), [picture], ["What? Please answer yes or no."], "SCI3", 2)
    assert str(folder) in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "tower", "strategy", "says"),
    [
        ("llava", "PixtralVisionConfig", "full", "the vision tower 'pixtral'; .* are supported"),
        ("llava", "Dinov2Config", "default", "the vision tower 'dinov2'; .* are supported"),
        ("llava_next", "Dinov2Config", "full", "the vision tower 'dinov2'"),
        ("llava_next", None, "full", "takes 'full' features of the vision tower 'clip_vision"),
        ("llava_onevision", None, "default", "'default' features of the vision tower 'siglip"),
    ],
)
def test_a_tower_whose_features_are_not_known_is_refused(kind, tower, strategy, says):
    model = tiny.load(kind)
    hf = SimpleNamespace(
        config=deepcopy(model.hf.config), model=model.hf.model,
        get_input_embeddings=model.hf.get_input_embeddings, get_decoder=model.hf.get_decoder,
    )  # fmt: skip
    hf.config.vision_feature_select_strategy = strategy
    if tower:
        hf.config.vision_config = getattr(transformers, tower)()
    with pytest.raises(ValueError, match=says):
        adapt(hf, model.tokenizer, model.processor.image_processor, name="a checkpoint")


def test_a_placeholder_in_the_prompt_is_refused():
    model = tiny.load("qwen2_vl")
    with pytest.raises(ValueError, match="2 image placeholders"):
        model.processor.token_ids(["What is <|image_pad|>?"], [(4,)])


@pytest.mark.parametrize(
    ("size", "says"),
    [
        ((0, 0), "at least 2"),
        ((1, 1), "at least 2"),
        ((20_000, 15_000), f"300,000,000 pixels; at most {MAX_PIXELS:,}"),
        ((2, 401), "200 times"),
    ],
)
def test_pictures_outside_the_limits_are_refused(size, says):
    with pytest.raises(ValueError, match=says):
        check_image(Image.new("1", size))


def test_something_else_than_a_picture_is_refused():
    with pytest.raises(TypeError, match=r"got str.*PIL.Image.open"):
        check_image("picture.png")
