"""Bad checkpoints get one clear sentence, and none of them runs its own code."""

import json
import pickle
import re
import shutil
from copy import deepcopy

import pytest
from safetensors.torch import load_file, save_file
from transformers import PreTrainedConfig

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


def test_an_adapter_alone_is_named_by_folder_and_by_hub_id(tmp_path, monkeypatch):
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"{tmp_path} holds an adapter"):
        load_model(tmp_path)
    monkeypatch.setattr(files, "find_file", lambda name, file, revision: tmp_path / file)
    monkeypatch.setattr(models, "find_file", files.find_file)
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
    monkeypatch.setattr(
        PreTrainedConfig, "get_config_dict", lambda *_, **__: ({"model_type": "t5"}, {})
    )
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


@pytest.mark.parametrize("kind", ["qwen2_vl", "llava_next_mistral"])
def test_sliding_windows_are_refused(kind, damageable):
    copy = damageable(kind)
    config = json.loads((copy / "config.json").read_text())
    config["text_config"] |= {"use_sliding_window": True, "sliding_window": 8}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="sliding window"):
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
