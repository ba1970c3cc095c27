"""What people type: an empty name, a file for a folder, an address, a device that is not here."""

import errno
import os
from pathlib import Path

import pytest
import torch

from sci_book.commands.options import _located, as_folder
from sci_book.data.catalogue import how_to_load
from sci_book.data.datasets import manifest_path, read_manifest
from sci_book.resources import CHECKPOINTS, located
from sci_book.run.method_sets import (
    ALL_METHODS,
    CHEAPER,
    STANDARD_METHODS,
    named,
    rounds_named,
)
from sci_core import load_model
from tests.conftest import sci


@pytest.fixture
def said(capsys, tmp_path, monkeypatch):
    """What a command line of one mistake says, in one sentence, writing nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("mine")

    def run(*arguments):
        assert sci(*arguments) == 2
        sentence = capsys.readouterr().err
        assert sentence.startswith("sci: ") and sentence.count("\n") == 1
        assert [file.name for file in tmp_path.iterdir()] == ["q.csv"]
        return sentence

    return run


@pytest.mark.parametrize("out", ["", " ", "\t"])
def test_a_folder_without_a_name_is_refused(out, said):
    for command in (["evaluate"], ["export", "drbench", "--records", "x"], ["rft"]):
        assert "the folder has no name; expected one" in said(*command, "--out", out)


@pytest.mark.parametrize("out", ["q.csv", "q.csv/run", "./q.csv", "q.csv/a/b"])
def test_a_file_is_no_folder_to_write_to(out, said):
    for command in (["evaluate"], ["export", "drbench", "--records", "x"], ["probe", "edge"]):
        assert "q.csv is a file; expected the name of a folder" in said(*command, "--out", out)


@pytest.mark.parametrize("name", ["pocket-qwen2vl-small", "checkpoints/pocket-qwen2vl-small"])
def test_a_shipped_model_is_known_by_its_name_from_anywhere(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _located(name) == str(CHECKPOINTS / "pocket-qwen2vl-small")
    (tmp_path / name).mkdir(parents=True)  # and one's own comes first
    assert _located(name) == name and _located("nobody/knows") == "nobody/knows"


@pytest.mark.parametrize("model", ["", "  ", "\n"])
def test_a_model_without_a_name_is_refused(model, said):
    for command in (["evaluate", "--out", "r"], ["ask", "a.png", "Is it?"]):
        assert "--model is empty; expected a checkpoint's folder" in said(
            *command, "--model", model
        )


def test_names_of_rounds_and_methods_are_read_in_any_case_and_with_a_comma_too_many(said):
    assert rounds_named("v1, V2,noise500,NOISE400,Black,,original,v1,") == [
        "V1", "V2", "noise500", "noise400", "black", "original",
    ]  # fmt: skip
    for text in ("SCI3,", ",sci3", "sci3,,SCI3", " Sci3 , "):
        assert [method.name for method in named(text)] == ["SCI3"]
    for text in ("", ",", " , ,"):
        with pytest.raises(ValueError, match="no method is named; name one or several of base"):
            named(text)
    checkpoint = ["--model", "m"]
    assert "Unknown round 'V9'" in said("evaluate", "--out", "r", "--rounds", "v9", *checkpoint)


@pytest.mark.parametrize(
    "address",
    ["https://x.org/a.jpg", "http://x.org/a.png", "HTTPS://X.ORG/A", "s3://b/a.png", "file:///a.png",
     "data:image/png;base64,iVBORw0KGgo"],
)  # fmt: skip
def test_an_address_is_no_picture_and_is_named_as_it_was_typed(address, said):
    sentence = said("ask", address, "Is it red?")
    assert f"{address} is an address; save the picture and give its file" in sentence


@pytest.mark.parametrize("device", ["gpu", "", "cuda:x", "GPU0"])
def test_an_unknown_device_is_named(device, said):
    sentence = said("evaluate", "--out", "r", "--device", device)
    assert f"device {device!r} is no device; here are cpu" in sentence


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:99", "mps", "xpu", "meta"])
def test_a_device_that_is_not_here_is_said_before_anything_is_loaded(device, said, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    sentence = said("evaluate", "--out", "r", "--device", device)
    assert f"device {device} is not here (none); expected cpu, or leave it out" in sentence


@pytest.mark.parametrize(
    "place",
    [{"device": "cuda"}, {"device": torch.device("cuda", 3)}, {"device_map": "cuda:0"},
     {"device_map": {"": 0}}, {"device_map": {"model.visual": "cpu", "": "mps"}}],
)  # fmt: skip
def test_python_says_that_a_device_is_not_here_before_anything_is_loaded(place, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    (what,) = place
    with pytest.raises(ValueError, match=rf"^{what} .* is not here \(none\); expected cpu"):
        load_model("no-such-model", **place)


@pytest.mark.parametrize("device_map", ["cuda:0", "cuda", "mps", "gpu"])
def test_a_device_map_that_is_not_here_is_said_too(device_map, said, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    sentence = said("evaluate", "--out", "r", "--device-map", device_map)
    assert f"device_map {device_map}" in sentence.replace("'", "") and "cpu" in sentence


@pytest.mark.parametrize("out", ["a" * 300, "runs/" + "é" * 200, "a\0b"])
def test_what_no_file_system_takes_is_no_folder(out, said):
    for command in (["evaluate"], ["export", "drbench", "--records", "x"], ["probe", "edge"]):
        assert "is no name of a folder; take a shorter one" in said(*command, "--out", out)


@pytest.mark.parametrize("out", ["locked", "locked/new", "./locked/a/b"])
def test_a_folder_that_may_not_be_written_is_said_before_the_work(out, tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "locked")  # root may all
    with pytest.raises(PermissionError, match=r"nothing may be written in .*locked; name another"):
        as_folder(out)


@pytest.mark.parametrize("name", ["~/runs/mine", "~/q.yaml", "~/models/mine"])
def test_the_home_folder_is_known_where_a_shell_leaves_it_as_it_is(name, tmp_path, monkeypatch):
    """As in --out=~/runs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    meant = tmp_path / name.removeprefix("~/")
    assert as_folder(name) == meant and located(name) == meant
    if name.endswith(".yaml"):
        assert manifest_path(name) == meant


def test_errors_of_the_system_name_the_file_first(capsys, monkeypatch):
    for number, text in ((errno.EACCES, "Permission denied"), (errno.EROFS, "Read-only file sys")):

        def refuse(*_, number=number, **__):
            raise OSError(number, os.strerror(number), "/runs/mine")

        monkeypatch.setattr(Path, "read_bytes", refuse)
        monkeypatch.setattr("sci_book.run.lock.check_free", refuse)
        assert sci("evaluate", "--out", "r", "--device", "cpu") == 2
        assert f"sci: /runs/mine: {text}" in capsys.readouterr().err


def test_sets_of_methods_may_stand_among_names():
    assert named("standard,") == named("Standard") == STANDARD_METHODS
    assert named("all, SCI3") == ALL_METHODS
    assert [m.name for m in named("sci3, cheaper")] == ["SCI3", *(m.name for m in CHEAPER)]


@pytest.mark.parametrize("data", ["q.csv", "./q.csv"])
def test_a_table_is_no_data_set_until_a_yaml_file_describes_it(data, said):
    for command in (["evaluate", "--out", "r"], ["data", "check"]):
        given = ["--data", data] if command[0] == "evaluate" else [data]
        assert f"{data} is no YAML file; describe the data in one" in said(*command, *given)


@pytest.mark.parametrize("data", ["MME", " mmbench-en", "Paper", "MMBench_CN"])
def test_a_data_set_is_known_in_any_case_and_its_models_are_asked_as_published(data):
    model = "Qwen/Qwen2-VL-7B-Instruct"
    assert read_manifest(data).name == data.strip().lower().replace("-", "_")
    assert how_to_load(model, data)["min_pixels"] == 1280 * 28 * 28


@pytest.mark.parametrize(
    "address",
    ["https://huggingface.co/Qwen/Qwen2-VL-7B-Instruct", "https://hf-mirror.com/me/mine/tree/main",
     "hf://me/mine"],
)  # fmt: skip
def test_the_address_of_a_model_is_called_one(address):
    with pytest.raises(FileNotFoundError, match=f"No model '{address}': it is an address; expect"):
        load_model(address)


def test_a_revision_of_a_folder_is_refused_and_not_ignored(tmp_path):
    with pytest.raises(ValueError, match=r"revision='main' of .*, which is a folder"):
        load_model(tmp_path, revision="main")
