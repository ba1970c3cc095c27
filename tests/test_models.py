"""Adapters agree with transformers' own processing, and bad checkpoints get one clear sentence."""

import json
import pickle
import random
import re
import shutil
from copy import copy as copy_of
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoProcessor, LlavaNextProcessor, PreTrainedConfig, Qwen2VLProcessor

from sci_book.results.records import read_records
from sci_book.run.provenance import revision
from sci_core import generate, load_model
from sci_core.families import models
from sci_core.families.models import adapt
from sci_core.families.named import is_path, may_be_path
from sci_core.images import MAX_PIXELS, check_image

ROOT = Path(__file__).resolve().parents[1]
PROMPT_TO_REWRITE = "Is there a dog? Please answer yes or no."
PROMPT = "Is there a dog? Please answer yes or no. 图中有几只猫?"

families = pytest.mark.parametrize("family", tiny.FAMILIES)


@pytest.fixture
def folder(tmp_path):
    """A copy of a checkpoint that a test may damage."""

    def copy(family="qwen2_vl"):
        return shutil.copytree(tiny.checkpoint(family), tmp_path / family)

    return copy


def expected_text(model, image_tokens):
    turn = [{"type": "image"}, {"type": "text", "text": PROMPT}]
    text = model.tokenizer.apply_chat_template(
        [{"role": "user", "content": turn}], add_generation_prompt=True, tokenize=False
    )
    placeholder = model.tokenizer.convert_ids_to_tokens(model.image_token_id)
    return text.replace(placeholder, placeholder * image_tokens)


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
@pytest.mark.parametrize("size", [*tiny.IMAGE_SIZES, (2, 2), (3, 50), (50, 3), (2, 400)])
def test_ids_hold_as_many_placeholders_as_there_are_features(family, size):
    model = tiny.load(family)
    picture = model.processor.prepare(Image.new("RGB", size, (200, 30, 90)))
    ids = model.processor.token_ids([PROMPT], [picture.ids])[0]
    features = model.encode([picture])[0]
    assert ids.count(model.image_token_id) == picture.tokens == len(features)
    assert ids == model.tokenizer(expected_text(model, picture.tokens))["input_ids"]


def test_llava_inputs_equal_those_of_its_processor():
    model = tiny.load("llava_next")
    processor = LlavaNextProcessor(
        model.processor.image_processor,
        model.tokenizer,
        patch_size=model.hf.config.vision_config.patch_size,
        vision_feature_select_strategy=model.hf.config.vision_feature_select_strategy,
        num_additional_image_tokens=1,
    )
    for size in [*tiny.IMAGE_SIZES, (3, 50), (99, 98)]:
        image = Image.new("RGB", size, (9, 99, 199))
        theirs = processor(images=[image], text=[expected_text(model, 1)], return_tensors="pt")
        picture = model.processor.prepare(image)
        assert (
            theirs["input_ids"][0].tolist() == model.processor.token_ids([PROMPT], [picture.ids])[0]
        )
        assert torch.equal(theirs["pixel_values"], picture.inputs["pixel_values"])
        assert torch.equal(theirs["image_sizes"], picture.inputs["image_sizes"])


def test_qwen_counts_image_tokens_as_its_processor_does():
    """The processor itself cannot be built without torchvision; its rule can be called."""
    model = tiny.load("qwen2_vl")
    processor = SimpleNamespace(image_processor=model.processor.image_processor, image_token="x")
    for size in tiny.IMAGE_SIZES:
        picture = model.processor.prepare(Image.new("RGB", size))
        grid = {"image_grid_thw": picture.inputs["image_grid_thw"]}
        assert len(Qwen2VLProcessor.replace_image_token(processor, grid, 0)) == picture.tokens


@families
def test_features_do_not_depend_on_the_other_pictures(family):
    model = tiny.load(family, "float64")
    generator = random.Random(0)
    pictures = [model.processor.prepare(tiny.random_image(generator)) for _ in range(5)]
    for picture, features in zip(pictures, model.encode(pictures), strict=True):
        torch.testing.assert_close(features, model.encode([picture])[0], atol=1e-12, rtol=0)


@families
def test_positions_count_text_tokens_one_by_one(family):
    model = tiny.load(family)
    picture = model.processor.prepare(tiny.random_image(random.Random(1)))
    ids = model.processor.token_ids([PROMPT], [picture.ids])[0]
    positions = model.positions(ids, picture)
    assert positions.shape == ({"qwen2_vl": 3, "llava_next": 1}[family], len(ids))
    start = ids.index(model.image_token_id)
    end = start + picture.tokens
    assert positions[:, :start].tolist() == [list(range(start))] * len(positions)
    first = int(positions[:, :end].max()) + 1
    text = list(range(first, first + len(ids) - end))
    assert positions[:, end:].tolist() == [text] * len(positions)


@families
def test_another_process_loads_the_same_checkpoint(family):
    model = tiny.load(family, "float64", "eager")
    copy = pickle.loads(pickle.dumps(model))
    assert revision(copy) == revision(model)
    assert (copy.dtype, copy.device) == (model.dtype, model.device)
    assert copy.hf.config._attn_implementation == "eager"
    assert copy.parameters == model.parameters == sum(p.numel() for p in copy.hf.parameters())


@families
def test_revision_follows_content_not_place(family, folder):
    copy = folder(family)
    assert revision(load_model(copy)) == revision(tiny.load(family))
    (copy / "README.md").write_text("a model card")
    assert revision(load_model(copy)) == revision(tiny.load(family))
    weights = load_file(copy / "model.safetensors")
    name = next(iter(weights))
    weights[name] = weights[name] + 1
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert revision(load_model(copy)) != revision(tiny.load(family))


def test_of_the_processor_config_the_image_processor_alone_is_in_the_revision(folder):
    """The rest is for `AutoProcessor`, which is not used; frozen records keep their stamps."""
    copy = folder("llava_next")
    before = revision(load_model(copy))
    (copy / "processor_config.json").write_text('{"patch_size": 8}')
    assert revision(load_model(copy)) == before
    pixels = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "processor_config.json").write_text(json.dumps({"image_processor": pixels}))
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


def test_a_template_in_its_own_json_file_is_found(folder):
    copy = folder()
    template = (copy / "chat_template.jinja").read_text()
    (copy / "chat_template.jinja").unlink()
    (copy / "chat_template.json").write_text(json.dumps({"chat_template": template}))
    assert load_model(copy).tokenizer.chat_template == template


def test_a_beginning_of_sequence_is_not_doubled(folder):
    copy = folder("llava_next")
    template = copy / "chat_template.jinja"
    template.write_text("<s>" + template.read_text())
    model = load_model(copy)
    assert model.processor.token_ids([PROMPT], [(1,)])[0].count(model.tokenizer.bos_token_id) == 1


@pytest.mark.parametrize(
    ("written", "prompt"),
    [("part.text", " What? "), ("part.text | trim", "What?"), ("part.text | upper", " WHAT? ")],
)
def test_a_template_may_change_the_text(folder, written, prompt):
    copy = folder()
    template = copy / "chat_template.jinja"
    plain = load_model(copy).processor.token_ids([prompt, "Is it red?"], [(1,), (1,)])
    template.write_text(template.read_text().replace("part.text", written))
    changed = load_model(copy).processor.token_ids([" What? ", "Is it red?"], [(1,), (1,)])
    assert changed[0] == plain[0]
    assert (changed[1] == plain[1]) == ("upper" not in written)


def written(file, text):
    """Damage: the file holds this."""
    return lambda folder: (folder / file).write_text(text)


def only_template(text):
    def damage(folder):
        (folder / "chat_template.jinja").unlink()
        (folder / "chat_template.json").write_text(text)

    return damage


def indexed(index):
    def damage(folder):
        (folder / "model.safetensors").rename(folder / "a.safetensors")
        text = index if isinstance(index, str) else json.dumps(index)
        (folder / "model.safetensors.index.json").write_text(text)

    return damage


def leading_to(place):
    return indexed({"metadata": {}, "weight_map": {"lm_head.weight": place}})


def weights_in(file):
    def damage(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "transformers_weights": file}))

    return damage


@pytest.mark.parametrize(
    ("damage", "error", "says"),
    [
        (lambda f: (f / "config.json").unlink(), FileNotFoundError, "no checkpoint"),
        (
            lambda f: (f / "config.json").write_text('{"model_type": "gpt2"}'),
            ValueError,
            "'gpt2'; supported are idefics3, internvl, llava",
        ),
        (
            lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
            FileNotFoundError,
            "safetensors only",
        ),
        (
            lambda f: (f / "model.safetensors").write_bytes(b"\x08"),
            FileNotFoundError,
            "cannot be read",
        ),
        (lambda f: (f / "tokenizer.json").unlink(), FileNotFoundError, "no tokenizer.json"),
        (
            lambda f: (f / "preprocessor_config.json").unlink(),
            FileNotFoundError,
            "no preprocessor_config.json",
        ),
        (lambda f: (f / "chat_template.jinja").unlink(), FileNotFoundError, "no chat template"),
        (written("config.json", "[]"), FileNotFoundError, "holds list; expected a JSON object"),
        (written("config.json", "{"), FileNotFoundError, "config.json of .* is no JSON"),
        (
            written("config.json", '{"model_type": ["llava"]}'),
            ValueError,
            r"\['llava'\]; supported",
        ),
        (written("tokenizer.json", '{"a": 1}'), FileNotFoundError, "no tokenizer.json that"),
        (written("preprocessor_config.json", "[]"), FileNotFoundError, "holds list; expected"),
        (only_template("{}"), FileNotFoundError, "has NoneType as its chat_template; expected"),
        (only_template("{"), FileNotFoundError, "chat_template.json of .* is no JSON"),
        (indexed("[]"), FileNotFoundError, "holds list; expected a JSON object"),
        (indexed({"weight_map": {}}), FileNotFoundError, "is no index of weights; expected"),
        (leading_to("w.bin"), ValueError, "has lm_head.weight in 'w.bin'; expected"),
        (leading_to("../w.safetensors"), ValueError, "in '../w.safetensors'; .*from elsewhere"),
        (leading_to(7), ValueError, "has lm_head.weight in 7; expected"),
        (written("adapter_config.json", "{}"), ValueError, "holds an adapter .*Merge it into its"),
        (weights_in("adapter_model.bin"), ValueError, "has its weights in 'adapter_model.bin'"),
    ],
)
def test_a_damaged_checkpoint_is_named(damage, error, says, folder):
    copy = folder()
    damage(copy)
    with pytest.raises(error, match=says) as caught:
        load_model(copy)
    assert str(copy) in str(caught.value)


def test_an_adapter_alone_is_named_by_folder_and_by_hub_id(tmp_path, monkeypatch):
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{tmp_path} holds an adapter"):
        load_model(tmp_path)
    monkeypatch.setattr(models, "_file", lambda name, file, revision: tmp_path / file)
    with pytest.raises(ValueError, match="some/lora holds an adapter"):
        load_model("some/lora")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_a_checkpoint_is_refused_and_never_run(file, folder, tmp_path):
    copy, trace = folder(), tmp_path / "it ran"
    settings = json.loads((copy / file).read_text())
    settings["auto_map"] = {"AutoConfig": "own.Config", "AutoTokenizer": ["own.Words", None]}
    (copy / file).write_text(json.dumps(settings))
    (copy / "own.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(ValueError, match=rf"{file} names AutoConfig.*trust_remote_code=True"):
        load_model(copy)
    assert not trace.exists()


def test_an_image_processor_for_torchvision_alone_is_named(folder):
    copy = folder()
    (copy / "preprocessor_config.json").write_text('{"image_processor_type": "Sam2ImageProcessor"}')
    with pytest.raises(FileNotFoundError, match="torchvision"):
        load_model(copy)


def test_a_processor_without_a_chat_template_is_refused():
    model = tiny.load("qwen2_vl")
    words = deepcopy(model.tokenizer)
    words.chat_template = None
    bare = adapt(model.hf, words, model.processor.image_processor)
    with pytest.raises(ValueError, match="no chat template"):
        bare.processor.token_ids(["What?"], [(4,)])


@pytest.mark.parametrize("engine", ["two_phase", "sequential"])
def test_an_answer_that_never_ends_is_cut(engine):
    model = copy_of(tiny.load("qwen2_vl", "float64"))
    model.eos_token_ids = frozenset()
    image = tiny.random_image(random.Random(0))
    (answer,) = generate(model, [image], [PROMPT_TO_REWRITE], "SCI3", 12, engine=engine)
    assert (len(answer.tokens), answer.end, answer.stopped, answer.error) == (12, None, False, None)


def test_an_unknown_name_is_refused():
    with pytest.raises(FileNotFoundError, match=r"nor a hub id that can be.*HF_HUB_OFFLINE=0"):
        load_model("no-such-model")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("{}/pocket-qwen2v", r"no such folder from .*did you mean '{}/pocket-qwen2vl'\.$"),
        ("{}/qwen/pocket-qwen2vl", r"no such folder from .*; check the path\.$"),
        ("./chekpoints/pocket-qwen2vl", r"did you mean 'checkpoints/pocket-qwen2vl'\.$"),
        ("../no-such-place/model", r"no such folder from .*; check the path\.$"),
        ("here/there/model", r"no such folder from .*; check the path\.$"),
        ("checkpoints/pocket-qwen2v", r"did you mean 'checkpoints/pocket-qwen2vl'\? If .*hub id"),
        ("{}/pocket-qwen2vl/config.json", r"a file; expected the folder .*'{}/pocket-qwen2vl'\.$"),
        ("~/pocket-qwen2vl", r"~ is not expanded here; write '{}/pocket-qwen2vl'\.$"),
    ],
)
def test_a_mistyped_path_is_called_a_path(name, says, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    (folder / "pocket-qwen2vl").mkdir(parents=True)
    (folder / "pocket-qwen2vl" / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(folder))
    with pytest.raises(FileNotFoundError, match=says.format(re.escape(str(folder)))) as refused:
        load_model(name.format(folder))
    assert "epo id" not in str(refused.value)


def test_a_hub_id_stays_one_beside_a_folder_of_its_first_word(tmp_path, monkeypatch):
    """A path that it might be is not refused before the hub was asked."""
    (tmp_path / "Qwen").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not is_path("Qwen/Qwen2-VL-7B-Instruct") and may_be_path("Qwen/Qwen2-VL-7B-Instruct")
    monkeypatch.setattr(
        PreTrainedConfig, "get_config_dict", lambda *_, **__: ({"model_type": "t5"}, {})
    )
    with pytest.raises(ValueError, match="family 't5'"):
        load_model("Qwen/Qwen2-VL-7B-Instruct")


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="'float8'"):
        load_model(tiny.checkpoint("qwen2_vl"), dtype="float8")


def test_weights_that_do_not_fit_are_refused(folder):
    copy = folder()
    weights = load_file(copy / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"1 tensors are missing.*lm_head\.weight"):
        load_model(copy)


@pytest.mark.parametrize("kind", ["qwen2_vl", "llava_next_mistral"])
def test_sliding_windows_are_refused(kind, folder):
    copy = folder(kind)
    config = json.loads((copy / "config.json").read_text())
    config["text_config"] |= {"use_sliding_window": True, "sliding_window": 8}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="sliding window"):
        load_model(copy)


def test_a_pickle_is_never_reached_through_an_index(folder, tmp_path):
    copy, trace = folder(), tmp_path / "it ran"

    class Running:
        def __reduce__(self):
            return (open, (str(trace), "w"))

    (tmp_path / "w.bin").write_bytes(pickle.dumps(Running()))
    for place in ("w.bin", "../w.bin"):
        leading_to(place)(copy)
        shutil.copy(tmp_path / "w.bin", copy / "w.bin")
        with pytest.raises(ValueError, match="safetensors only"):
            load_model(copy)
        (copy / "a.safetensors").rename(copy / "model.safetensors")
    assert not trace.exists()


def test_shards_that_an_index_names_are_loaded(folder):
    copy = folder()
    load_model(copy).hf.save_pretrained(copy, max_shard_size="100KB")
    (copy / "model.safetensors").unlink(missing_ok=True)
    (copy / "pytorch_model.bin.index.json").write_text("{}")  # left there; nobody reads it
    assert len(list(copy.glob("*.safetensors"))) > 1
    assert load_model(copy).parameters == tiny.load("qwen2_vl").parameters


def test_a_template_without_a_placeholder_is_named(folder):
    copy = folder()
    (copy / "chat_template.jinja").write_text("{{ messages[0]['content'][1]['text'] }}")
    with pytest.raises(ValueError, match=r"template of the checkpoint writes 0 image .*takes pict"):
        load_model(copy).processor.token_ids(["What?"], [(4,)])


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
