"""The model manifests, and the names that lead to them."""

import pytest

from sci_book.data.catalogue import (
    MODELS,
    how_to_load,
    model_entry,
    model_name,
    said_of_loading,
    settled,
)
from sci_book.papers.shared.figures import MODEL_COLOURS
from sci_core.families.models import FAMILIES


def test_every_manifest_is_whole():
    for path in MODELS.glob("*.yaml"):
        entry = model_entry(path.stem)
        assert set(entry) - {"colour", "pixel_limits", "trainings"} == {
            "name", "load", "family", "label", "title", "pocket", "dtype", "licence",
        }  # fmt: skip
        assert entry.get("colour", 0) in range(len(MODEL_COLOURS))
        assert entry["family"] in FAMILIES and entry["title"]
        assert entry["label"] in ("Qwen2-VL", "LLaVA-NeXT", None)


@pytest.mark.parametrize(
    "name", ["pocket-qwen2vl", "checkpoints/pocket-qwen2vl", "/elsewhere/pocket-qwen2vl/"]
)
def test_a_model_is_found_by_its_name_and_by_its_path(name):
    assert model_entry(name)["label"] == "Qwen2-VL"


SNAPSHOT = "/home/me/.cache/huggingface/hub/models--{}/snapshots/0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("Qwen2-VL-7B-Instruct", "qwen2-vl-7b-instruct"),
        ("/models/Qwen2-VL-7B-Instruct", "qwen2-vl-7b-instruct"),
        ("/models/Qwen/Qwen2-VL-7B-Instruct/", "qwen2-vl-7b-instruct"),
        ("../weights/QWEN2-VL-7B-INSTRUCT", "qwen2-vl-7b-instruct"),
        ("qwen/qwen2-vl-7b-instruct", "qwen2-vl-7b-instruct"),
        (SNAPSHOT.format("Qwen--Qwen2-VL-7B-Instruct"), "qwen2-vl-7b-instruct"),
        (SNAPSHOT.format("llava-hf--llama3-llava-next-8b-hf") + "/", "llama3-llava-next-8b-hf"),
        ("/data/Llama3-LLaVA-NeXT-8B-hf", "llama3-llava-next-8b-hf"),
        ("/data/Pocket-Qwen2VL", "pocket-qwen2vl"),
    ],
)
def test_a_papers_model_is_known_in_any_case_and_from_a_hubs_cache(name, entry):
    assert model_entry(name)["name"] == entry


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("name", ["Qwen2-VL-7B-Instruct", "qwen2-vl-7b-instruct"])
def test_a_folder_here_is_known_by_its_name_or_by_what_it_links_to(
    name, link, tmp_path, monkeypatch
):
    folder = tmp_path / "models" / name
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    if link:
        (tmp_path / "models" / "mine").symlink_to(folder)
        assert model_entry("models/mine")["label"] == "Qwen2-VL"
    assert model_entry(f"models/{name}")["dtype"] == "bfloat16"
    assert how_to_load(f"models/{name}", "paper") == {"dtype": "bfloat16", **PUBLISHED}
    monkeypatch.chdir(folder)
    assert model_entry(".")["name"] == "qwen2-vl-7b-instruct"
    assert model_name(".") == model_name(f"../{name}/") == name


@pytest.mark.parametrize(
    "name",
    [
        "somebody/Qwen2-VL-7B-Instruct",
        "unsloth/llama3-llava-next-8b-hf",
        SNAPSHOT.format("somebody--Qwen2-VL-7B-Instruct"),
        "Qwen/Qwen2-VL-7B-Instruct-AWQ",
        "/models/Qwen2-VL-7B-Instruct-finetuned",
        "Qwen/Qwen2.5-VL-7B-Instruct",
    ],
)
def test_a_model_that_is_called_alike_is_not_taken_for_the_papers(name):
    with pytest.raises(ValueError, match="There is no manifest for the model"):
        model_entry(name)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Qwen/Qwen2-VL-7B-Instruct", "Qwen2-VL-7B-Instruct"),
        ("/models/mine/", "mine"),
        (SNAPSHOT.format("Qwen--Qwen2-VL-7B-Instruct"), "Qwen2-VL-7B-Instruct"),
        (SNAPSHOT.format("some--model--with--dashes"), "model--with--dashes"),
        ("/models--x/snapshots/abc", "abc"),
    ],
)
def test_records_are_called_by_the_model_and_not_by_a_commit(path, name):
    assert model_name(path) == name


def test_a_link_has_the_name_of_a_known_model_that_it_leads_to(tmp_path):
    """Two links to folders that training tools both call checkpoint-500 stay two models."""
    snapshot = tmp_path / "models--Qwen--Qwen2-VL-7B-Instruct" / "snapshots" / "0123abcd"
    unlisted = tmp_path / "models--me--my-vlm" / "snapshots" / "main"
    known = tmp_path / "weights" / "llama3-llava-next-8b-hf"
    tuned = [tmp_path / run / "checkpoint-500" for run in ("first", "second")]
    leads_to = {"a": snapshot, "b": unlisted, "c": known, "d": tuned[0], "e": tuned[1]}
    for name, folder in leads_to.items():
        folder.mkdir(parents=True)
        (tmp_path / name).symlink_to(folder)
    assert [model_name(str(tmp_path / name)) for name in leads_to] == [
        "Qwen2-VL-7B-Instruct", "my-vlm", "llama3-llava-next-8b-hf", "d", "e",
    ]  # fmt: skip


def test_unknown_models_are_named():
    with pytest.raises(ValueError, match="model 'gpt'; expected one of llama3-llava"):
        model_entry("gpt")


QWEN, LLAVA = "Qwen/Qwen2-VL-7B-Instruct", "llava-hf/llama3-llava-next-8b-hf"
PUBLISHED = {"min_pixels": 1280 * 28 * 28, "max_pixels": 16384 * 28 * 28}


@pytest.mark.parametrize("data", ["paper", "mme", "mmbench_cn", "vilp"])
def test_on_the_papers_data_its_models_are_asked_as_published(data):
    assert how_to_load(QWEN, data) == {"dtype": "bfloat16", **PUBLISHED}
    assert how_to_load(LLAVA, data) == {"dtype": "float16"}
    assert how_to_load("checkpoints/pocket-qwen2vl", data) == {"dtype": "float32"}


def test_what_somebody_asks_for_goes_before_what_was_published():
    asked = how_to_load(QWEN, "paper", dtype="float32", min_pixels=None, max_pixels=10**6)
    assert asked == {"dtype": "float32", **PUBLISHED, "max_pixels": 10**6}
    assert how_to_load(QWEN, "pocket", dtype=None) == {"dtype": "bfloat16"}
    assert how_to_load("mine", "paper", max_pixels=9) == {"dtype": None, "max_pixels": 9}


@pytest.mark.parametrize(("gpu", "dtype"), [(True, "auto"), (False, "float32")])
def test_a_model_without_a_manifest_has_its_own_dtype_on_a_gpu(gpu, dtype, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpu)
    assert settled(how_to_load("mine", "pocket")) == {"dtype": dtype}
    assert settled({"dtype": "bfloat16"}) == {"dtype": "bfloat16"}


def test_the_first_line_of_a_run_says_how_the_model_is_asked():
    said = said_of_loading(QWEN, how_to_load(QWEN, "paper"))
    assert said == f"{QWEN}: bfloat16, pictures of 1,003,520 to 12,845,056 pixels, greedy"
    one = said_of_loading("mine", {"dtype": "float32", "max_pixels": 5000})
    assert one == "mine: float32, pictures of at most 5,000 pixels, greedy"
    assert said_of_loading("m", {"dtype": "float16"}) == "m: float16, greedy"
