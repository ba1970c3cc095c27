"""The model manifests, and the names that lead to them."""

import pytest

from sci_book.data.catalogue import MODELS, model_entry
from sci_book.papers.shared.figures import MODEL_COLOURS
from sci_core.families.models import FAMILIES


def test_every_manifest_is_whole():
    for path in MODELS.glob("*.yaml"):
        entry = model_entry(path.stem)
        assert set(entry) - {"colour"} == {
            "name", "load", "family", "label", "title", "pocket", "dtype", "licence",
        }  # fmt: skip
        assert entry.get("colour", 0) in range(len(MODEL_COLOURS))
        assert entry["family"] in FAMILIES and entry["title"]
        assert entry["label"] in ("Qwen2-VL", "LLaVA-NeXT", None)


@pytest.mark.parametrize(
    "name", ["pocket-qwen2vl", "checkpoints/pocket-qwen2vl", "/elsewhere/pocket-qwen2vl/"]
)
def test_names_and_paths(name):
    assert model_entry(name)["label"] == "Qwen2-VL"


def test_unknown_models_are_named():
    with pytest.raises(ValueError, match="model 'gpt'; expected one of llama3-llava"):
        model_entry("gpt")
