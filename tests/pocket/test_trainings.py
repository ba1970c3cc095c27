"""The registered trainings that have ended: by their own seed, whole, and light enough to ship."""

import json

import pytest
import torch
from safetensors.torch import load_file

from sci_book.pocket.curriculum import seed_of
from sci_book.resources import CHECKPOINTS, RESULTS
from sci_book.run.provenance import content_hash

FOUND = sorted((RESULTS / "trainings").glob("*.json"))
SHIPPED = {
    "qwen2_vl-0": "pocket-qwen2vl",
    "llava_next-0": "pocket-llavanext",
    "qwen2_vl-sister-0": "pocket-qwen2vl-small",
}


def weights(name):
    """The folder of a training's checkpoint: that of the shipped model, if it is the one."""
    folder = CHECKPOINTS / "trainings" / name
    return folder if folder.is_dir() else CHECKPOINTS / SHIPPED[name]


def test_each_training_that_ended_has_its_weights_and_what_was_found_of_it():
    for path in FOUND:
        found = json.loads(path.read_text("utf-8"))
        assert content_hash(weights(path.stem)) == found["revision"], path.stem
    kept = {path.name for path in (CHECKPOINTS / "trainings").glob("*")}
    assert kept and kept <= {path.stem for path in FOUND}


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_a_training_is_by_the_seed_that_its_recipe_gives(path):
    found = json.loads(path.read_text("utf-8"))
    family, _, number = path.stem.partition("-")
    assert found["seed"] == seed_of(family, number)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_the_weights_of_a_training_are_bfloat16_and_at_most_four_megabytes(path):
    file = weights(path.stem) / "model.safetensors"
    assert file.stat().st_size <= 4.2e6
    assert {weight.dtype for weight in load_file(file).values()} == {torch.bfloat16}
