"""What people type: an empty name, a file for a folder, an address, a device that is not here."""

import pytest
import torch

from sci_book.run.method_sets import named, rounds_named
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
    ["https://x.org/a.jpg", "http://x.org/a.png", "HTTPS://X.ORG/A", "s3://b/a.png", "file:///a.png"],
)  # fmt: skip
def test_an_address_is_no_picture_and_is_named_as_it_was_typed(address, said):
    sentence = said("ask", address, "Is it red?")
    assert f"{address} is an address; save the picture and give its file" in sentence


@pytest.mark.parametrize("device", ["gpu", "", "cuda:x", "GPU0"])
def test_an_unknown_device_is_named(device, said):
    sentence = said("evaluate", "--out", "r", "--device", device)
    assert f"--device {device!r} is no device; here are cpu" in sentence


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:99", "mps", "xpu", "meta"])
def test_a_device_that_is_not_here_is_said_before_anything_is_loaded(device, said, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    sentence = said("evaluate", "--out", "r", "--device", device)
    assert f"--device {device} is not here (none); expected cpu, or leave it out" in sentence
