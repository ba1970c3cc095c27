"""Bad checkpoints get one clear sentence, and none of them runs its own code."""

import http.client
import json
import pickle
import random
import re
import shutil
import socket
import ssl
import time
from copy import deepcopy
from urllib.error import HTTPError, URLError

import pytest
import torch
from huggingface_hub import constants
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoProcessor

from sci_core import load_model
from sci_core.families import files, models
from sci_core.families.models import adapt
from sci_core.families.named import is_path, may_be_path
from tests import tiny


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
def test_a_damaged_checkpoint_is_named(damage, error, says, damageable):
    copy = damageable()
    damage(copy)
    with pytest.raises(error, match=says) as caught:
        load_model(copy)
    assert str(copy) in str(caught.value)


def at_hand(folder, monkeypatch):
    """Any hub id has the files of this folder."""

    def find(name, file, revision):
        return folder / file if (folder / file).is_file() else None

    for module in (files, models):
        monkeypatch.setattr(module, "find_file", find)


def test_an_adapter_alone_is_named_by_folder_and_by_hub_id(tmp_path, monkeypatch):
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{tmp_path} holds an adapter"):
        load_model(tmp_path)
    at_hand(tmp_path, monkeypatch)
    with pytest.raises(ValueError, match="some/lora holds an adapter"):
        load_model("some/lora")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_a_checkpoint_is_refused_and_never_run(file, damageable, tmp_path):
    copy, trace = damageable(), tmp_path / "it ran"
    settings = json.loads((copy / file).read_text())
    settings["auto_map"] = {"AutoConfig": "own.Config", "AutoTokenizer": ["own.Words", None]}
    (copy / file).write_text(json.dumps(settings))
    (copy / "own.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    with pytest.raises(ValueError, match=rf"{file} names AutoConfig.*trust_remote_code=True"):
        load_model(copy)
    assert not trace.exists()


def test_an_image_processor_for_torchvision_alone_is_named(damageable):
    copy = damageable()
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
    (tmp_path / "config.json").write_text('{"model_type": "t5"}', encoding="utf-8")
    at_hand(tmp_path, monkeypatch)
    with pytest.raises(ValueError, match="family 't5'"):
        load_model("Qwen/Qwen2-VL-7B-Instruct")


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="'float8'"):
        load_model(tiny.checkpoint("qwen2_vl"), dtype="float8")


def test_weights_that_do_not_fit_are_refused(damageable):
    copy = damageable()
    weights = load_file(copy / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"1 tensors are missing.*lm_head\.weight"):
        load_model(copy)


def test_a_pickle_is_never_reached_through_an_index(damageable, tmp_path):
    copy, trace = damageable(), tmp_path / "it ran"

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


def test_shards_that_an_index_names_are_loaded(damageable):
    copy = damageable()
    load_model(copy).hf.save_pretrained(copy, max_shard_size="100KB")
    (copy / "model.safetensors").unlink(missing_ok=True)
    (copy / "pytorch_model.bin.index.json").write_text("{}")  # left there; nobody reads it
    assert len(list(copy.glob("*.safetensors"))) > 1
    assert load_model(copy).parameters == tiny.load("qwen2_vl").parameters


A, B, C = (
    f"{letter}: "
    + "{% for part in messages[0]['content'] %}{% if part['type'] == 'image' %}<image>"
    "{% else %}{{ part['text'] }}{% endif %}{% endfor %}"
    for letter in "ABC"
)
"""Three templates that take pictures and can be told apart."""
TEXT = "{{ messages[0]['role'] + ': ' + messages[0]['content'] }}"  # a language model's own
MORE = "additional_chat_templates"


def templates(folder, files):
    """Leave a checkpoint with no chat template but these: texts, or entries of JSON files."""
    for file in ("chat_template.jinja", "processor_config.json"):
        (folder / file).unlink(missing_ok=True)
    for file, content in files.items():
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        if file.endswith(".jinja"):
            path.write_text(content)
        else:
            entries = json.loads(path.read_text()) if path.is_file() else {}
            path.write_text(json.dumps(entries | {"chat_template": content}))


@pytest.mark.parametrize(
    ("files", "used"),
    [
        ({"tokenizer_config.json": TEXT, "chat_template.json": A}, A),
        ({"processor_config.json": A}, A),
        ({"tokenizer_config.json": TEXT, "processor_config.json": A}, A),
        ({"tokenizer_config.json": B, "chat_template.jinja": A}, A),
        ({"chat_template.jinja": B, "chat_template.json": A}, A),
        ({"chat_template.jinja": B, "chat_template.json": C, "processor_config.json": A}, A),
        ({"processor_config.json": None, "chat_template.json": A, "tokenizer_config.json": B}, A),
        ({"chat_template.jinja": A, f"{MORE}/tool_use.jinja": B}, A),
        ({f"{MORE}/default.jinja": A, f"{MORE}/rag.jinja": B, "tokenizer_config.json": TEXT}, A),
        ({f"{MORE}/default.jinja": B, "chat_template.jinja": A}, A),
        ({"processor_config.json": {"rag": B, "default": A}, "chat_template.jinja": C}, A),
        ({"chat_template.json": {"default": A, "tool_use": B}, "tokenizer_config.json": TEXT}, A),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed file")  # transformers leaves templates open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_template_is_the_one_that_autoprocessor_would_use(files, used, damageable):
    folder = damageable("llava")
    templates(folder, files)
    content = [{"type": "image"}, {"type": "text", "text": "What is it?"}]
    turn = [{"role": "user", "content": content}]
    theirs = AutoProcessor.from_pretrained(folder).apply_chat_template(turn)
    tokenizer = load_model(folder).tokenizer
    assert tokenizer.apply_chat_template(turn, tokenize=False) == theirs
    assert tokenizer.chat_template == used


@pytest.mark.parametrize(
    "own",
    [
        A,
        [{"name": "tool_use", "template": B}, {"name": "default", "template": A}],
        [{"name": "default", "template": A}],
    ],
)
def test_where_its_processor_has_none_the_tokenizers_template_is_used(own, damageable):
    folder = damageable("llava")
    templates(folder, {"tokenizer_config.json": own})
    assert load_model(folder).tokenizer.chat_template == A


@pytest.mark.parametrize("own", [None, {"default": A, "rag": B}, {"default": A}, A])
def test_a_processor_in_memory_may_have_several_templates_by_name(own):
    """As those of `AutoProcessor` do; without one, the tokenizer's may be several."""
    model = tiny.load("llava")
    words = deepcopy(model.tokenizer)
    words.chat_template = {"default": A, "tool_use": B} if own is None else C
    processor = adapt(model.hf, words, model.processor.image_processor, chat_template=own).processor
    words = deepcopy(words)
    words.chat_template = A
    expected = adapt(model.hf, words, model.processor.image_processor).processor
    asked = ["Is it red?"], [(7, 7)]
    assert processor.token_ids(*asked) == expected.token_ids(*asked)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"{MORE}/rag.jinja": A, f"{MORE}/tool_use.jinja": B}, "templates 'rag', 'tool_use', no"),
        ({"tokenizer_config.json": [{"name": "rag", "template": A}]}, "templates 'rag', none of"),
        ({"processor_config.json": {"image": A}}, r"processor_config.json of .* templates 'image'"),
        (
            {"chat_template.json": [{"name": "a", "template": A}]},
            r"chat_template.json of .* 'a', n",
        ),
        ({"chat_template.json": A, f"{MORE}/rag.jinja": B}, "rag.jinja, which exclude each other"),
        ({"chat_template.json": 7}, "has int as its chat_template; expected a text, or texts by"),
        ({"processor_config.json": ["a"]}, "has list as its chat_template; expected a text"),
        ({"processor_config.json": {"default": None}}, "has NoneType as its chat_template"),
    ],
)
def test_templates_that_leave_open_which_is_meant_are_refused(files, says, damageable):
    folder = damageable("llava")
    templates(folder, files)
    with pytest.raises((ValueError, FileNotFoundError), match=says) as refused:
        load_model(folder)
    assert str(folder) in str(refused.value)


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}{% endfor %}",
        "{% for message in messages %}{{ message['content'] | trim }}{% endfor %}",
        "{{ messages[0].content.strip() }}",
        "{% if messages[0].content is not string %}{{ raise_exception('Text only.') }}{% endif %}",
        "{{ messages[0].content | length + 'x' }}",
        "{% for m in messages %}{{ m.content }}",
        "{% for part in messages[0].content %}{{ part.text }}{% endfor %}",
    ],
)
@pytest.mark.parametrize("file", ["chat_template.jinja", "tokenizer_config.json"])
def test_a_template_for_text_alone_is_said_in_a_sentence(template, file, damageable):
    folder = damageable("llava")
    templates(folder, {file: template})
    with pytest.raises(ValueError, match="may be the language model's own, which takes text alone"):
        load_model(folder).processor.token_ids(["Is it red?"], [(4,)])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "generation_config.json of .* is no JSON"),
        ("{", "generation_config.json of .* is no JSON"),
        ('{"eos_token_id": [2, 3', "is no JSON"),
        ("\x00\x01", "is no JSON"),
        ("[]", "holds list; expected a JSON object"),
        ("null", "holds NoneType; expected"),
        ("151645", "holds int; expected"),
        ('{"eos_token_id": [2.0]}', r"has eos_token_id \[2.0\]; expected .* whole number"),
        ('{"eos_token_id": true}', "has eos_token_id True; expected"),
        ('{"eos_token_id": "</s>"}', "has eos_token_id '</s>'; expected"),
        ('{"eos_token_id": [[2], [3]]}', r"has eos_token_id \[\[2\], \[3\]\]; expected"),
        ('{"pad_token_id": 1.5}', "has pad_token_id 1.5; expected"),
        ('{"eos_token_id": [2, -1]}', r"has eos_token_id \[2, -1\]; expected .* from 0"),
        ('{"forced_eos_token_id": {"a": 1}}', "has forced_eos_token_id {'a': 1}; expected"),
        ('{"suppress_tokens": [1, "2"]}', r"has suppress_tokens \[1, '2'\]; expected"),
        ('{"repetition_penalty": "high"}', "sets what cannot be applied: `penalty` has to be"),
        ('{"no_repeat_ngram_size": 2.5}', "sets what cannot be applied: `ngram_size`"),
        ('{"bad_words_ids": [1]}', "sets what cannot be applied: `bad_words_ids`"),
        ('{"min_length": "a"}', "sets what cannot be applied"),
        ('{"eos_token_id": []}', r"No token of .* ends an answer, .* eos_token_id is \[\] in"),
        ('{"eos_token_id": 1000000}', "ends an answer, .* eos_token_id is 1000000 .* tokens"),
        ('{"eos_token_id": [5000, 6000]}', "ends an answer"),
    ],
)
def test_damaged_generation_settings_are_said_in_a_sentence(text, says, damageable):
    folder = damageable()
    (folder / "generation_config.json").write_text(text)
    with pytest.raises((ValueError, FileNotFoundError), match=says) as refused:
        load_model(folder)
    assert str(folder) in str(refused.value)


def test_generation_settings_cut_at_any_place_are_never_taken_for_none(damageable):
    folder = damageable()
    file = folder / "generation_config.json"
    whole = file.read_text()
    ends = load_model(folder).eos_token_ids
    assert len(ends) > 30
    for part in (0.1, 0.3, 0.5, 0.9, 0.99):
        file.write_text(whole[: int(len(whole) * part)])
        with pytest.raises(FileNotFoundError, match=r"generation_config.json of .* is no JSON"):
            load_model(folder)
    file.unlink()  # none at all is no damage: config.json says where an answer ends
    assert load_model(folder).eos_token_ids < ends


def test_no_padding_is_no_damage(damageable):
    folder = damageable()
    (folder / "generation_config.json").write_text('{"eos_token_id": 3, "pad_token_id": -1}')
    assert load_model(folder).eos_token_ids == {3}


@pytest.mark.parametrize("missing", [["start"], ["end"], ["start", "end"]])
def test_marks_around_a_picture_that_a_tokenizer_does_not_name_are_said(missing, damageable):
    folder = damageable("internvl")
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text())
    for mark in missing:
        for place in (settings, *(each for each in settings.values() if isinstance(each, dict))):
            place.pop(f"{mark}_image_token", None)
    file.write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="does not name the marks around a picture; expected"):
        load_model(folder).processor.prepare(Image.new("RGB", (64, 64)))


@pytest.mark.parametrize("token", ["<extra>", "größer", " <|row_9|>"])
@pytest.mark.parametrize("special", [True, False])
def test_a_token_without_an_embedding_is_said_at_the_prompt_that_holds_it(
    token, special, damageable
):
    folder = damageable()
    words = tiny.load("qwen2_vl").tokenizer
    words = type(words).from_pretrained(folder)
    words.add_tokens([token], special_tokens=special)
    words.save_pretrained(folder)
    model = load_model(folder)
    picture = model.processor.prepare(Image.new("RGB", (64, 64)))
    model.processor.token_ids(["Is it red?"], [picture.ids])
    says = rf"writes '.*' as token {len(words) - 1}, but the model has embeddings for"
    with pytest.raises(ValueError, match=says):
        model.processor.token_ids(["Is it red?", f"Is it {token}?"], [picture.ids] * 2)


def test_an_image_token_without_an_embedding_is_said(damageable):
    folder = damageable("llava")
    config = json.loads((folder / "config.json").read_text())
    words = type(tiny.load("llava").tokenizer).from_pretrained(folder)
    words.add_tokens(["<picture>"], special_tokens=True)
    words.save_pretrained(folder)
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").write_text(template.replace("<image>", "<picture>"))
    config["image_token_index"] = words.convert_tokens_to_ids("<picture>")
    (folder / "config.json").write_text(json.dumps(config))
    model = load_model(folder)
    picture = model.processor.prepare(Image.new("RGB", (64, 64)))
    with pytest.raises(ValueError, match=r"writes '<picture>' as token .* embeddings for"):
        model.processor.token_ids(["Is it red?"], [picture.ids])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("qwen2_5_vl", "Qwen2_5_VLImageProcessor"),
        ("qwen2_5_vl", "Qwen2_5_VLImageProcessorFast"),
        ("qwen2_vl", "Qwen2VLImageProcessorFast"),
        ("qwen3_vl", "Qwen3VLImageProcessor"),
        ("qwen3_vl", "Qwen2_5_VLImageProcessor"),
        ("llava", "CLIPImageProcessorFast"),
        ("llava", "CLIPFeatureExtractor"),
        ("llava_siglip", "SiglipImageProcessorFast"),
        ("llava_next", "LlavaNextImageProcessorFast"),
        ("llava_onevision", "LlavaOnevisionImageProcessorFast"),
        ("idefics3", "Idefics3ImageProcessorFast"),
        ("smolvlm", "SmolVLMImageProcessorFast"),
        ("smolvlm", "Idefics3ImageProcessor"),
        ("internvl", "GotOcr2ImageProcessorFast"),
        ("internvl", "InternVLImageProcessor"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_published_names_of_image_processors_are_known(kind, name, nested, damageable, capfd):
    folder = damageable(kind)
    image = tiny.random_image(random.Random(kind))
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    settings["image_processor_type"] = name
    if nested:
        (folder / "preprocessor_config.json").unlink()
        content = json.dumps({"image_processor": settings})
        (folder / "processor_config.json").write_text(content)
    else:
        (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    expected = tiny.load(kind).processor.prepare(image)
    capfd.readouterr()
    found = load_model(folder).processor.prepare(image)
    assert found.ids == expected.ids and found.inputs.keys() == expected.inputs.keys()
    for key, value in expected.inputs.items():
        assert torch.equal(found.inputs[key], value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "name",
    [
        "FooImageProcessor",
        "QwenVLProcessor",
        "Qwen2VLProcessor",
        "LlavaNextProcessor",
        "",
        ["a"],
        "Image Processor",
        "AutoImageProcessor",
        "PreTrainedModel",
    ],
)
def test_an_unknown_image_processor_is_named_and_not_its_file_missed(name, damageable):
    folder = damageable()
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    content = json.dumps(settings | {"image_processor_type": name})
    (folder / "preprocessor_config.json").write_text(content)
    says = rf"preprocessor_config.json of .* the image processor {re.escape(repr(name))}, which "
    with pytest.raises(FileNotFoundError, match=f"{says}(transf|can)") as refused:
        load_model(folder)
    assert "has no preprocessor" not in str(refused.value) and ".." not in str(refused.value)


@pytest.mark.parametrize("asked", [None, "1", "yes", ""])
@pytest.mark.parametrize(
    "name", ["no-such-model", "Qwen/Qwen2-VL-7B-Instruct", "some/lora", "llava-hf/llava-1.5-7b-hf"]
)
def test_python_asks_no_hub_unless_it_is_allowed(name, asked, monkeypatch):
    """Nor does it wait: without the variable, and with any value that does not switch it off."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # as where the variable was never set
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a hub was asked"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    if asked is not None:
        monkeypatch.setenv("HF_HUB_OFFLINE", asked)
    says = "Only the hub's cache was read, since nothing is downloaded unless you allow it"
    with pytest.raises(FileNotFoundError, match=says):
        load_model(name, revision="main")


@pytest.mark.parametrize("allowed", ["0", "false", "NO", " off "])
def test_python_asks_the_hub_where_that_is_allowed(allowed, monkeypatch):
    asked = []

    def unreachable(host, *_, **__):
        asked.append(host)
        raise OSError("no network here")

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", allowed)
    files._hub_answers.cache_clear()
    says = "nor a hub id that can be reached.* since the hub does not answer"
    with (
        pytest.warns(UserWarning, match="https://huggingface.co does not answer .*no network here"),
        pytest.raises(FileNotFoundError, match=says),
    ):
        load_model("some/model")
    assert asked == ["huggingface.co"]  # once, and not again and again for each file


@pytest.mark.parametrize(
    "error",
    [
        OSError("network is unreachable"),
        TimeoutError("timed out"),
        ConnectionRefusedError("refused"),
        http.client.RemoteDisconnected("closed without a response"),
        URLError(socket.gaierror("Name or service not known")),
    ],
)
def test_a_hub_that_does_not_answer_is_said_once_and_the_cache_is_read(
    error, tmp_path, monkeypatch
):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(files, "urlopen", refuse)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a hub was asked"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    in_the_cache(tmp_path)
    files._hub_answers.cache_clear()
    with pytest.warns(UserWarning, match="https://mirror.example does not answer") as said:
        assert load_model("some/model").parameters == tiny.load("llava").parameters
    assert len(said) == 1


@pytest.mark.parametrize(
    "error",
    [
        HTTPError("", 404, "", None, None),
        HTTPError("", 503, "", None, None),
        URLError(ssl.SSLCertVerificationError("self-signed certificate")),
        ValueError("unknown url type"),
    ],
)
def test_a_hub_that_answers_anything_is_left_to_transformers(error, monkeypatch):
    def answer(*_, **__):
        raise error

    monkeypatch.setattr(files, "urlopen", answer)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    files._hub_answers.cache_clear()
    assert files.hub_settings("some/model") == {"local_files_only": False}
    files._hub_answers.cache_clear()


def in_the_cache(folder):
    """A checkpoint in a hub's cache, as "some/model"."""
    cached, commit = folder / "models--some--model", "0123456789" * 4
    shutil.copytree(tiny.checkpoint("llava"), cached / "snapshots" / commit)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    return cached / "snapshots" / commit


def test_a_cached_hub_id_is_loaded_without_a_hub(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a hub was asked"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    cached = in_the_cache(tmp_path)
    assert load_model("some/model").parameters == tiny.load("llava").parameters
    (cached / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no tokenizer.json .* Only the hub's cache was"):
        load_model("some/model")
