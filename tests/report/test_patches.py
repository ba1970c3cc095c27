"""Patches that are counted of a picture, in every family."""

import pytest
from PIL import Image

from sci_core.families import FAMILIES
from sci_core.models import load_model
from sci_core.report.overhead import patches
from tests import tiny


@pytest.mark.parametrize("family", FAMILIES)
def test_a_picture_has_the_patches_that_the_vision_tower_embeds(family, monkeypatch):
    model = load_model(tiny.checkpoint(family))
    (picture,) = model.processor.pictures([Image.new("RGB", (56, 56), "red")])
    embedded = []
    tower = next(
        module for name, module in model.hf.named_modules() if name.endswith("patch_embedding")
        or name.endswith("patch_embed.proj")
    )
    tower.register_forward_hook(lambda _, given, made: embedded.append(made))
    model.encode([picture])
    (made,) = embedded
    assert patches(model, picture) == made[:, 0].numel()
