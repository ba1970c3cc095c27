"""Patches that are counted of a picture, in every family."""

import pytest
from PIL import Image
from torch.nn import Conv2d, Conv3d

from sci_book.papers.sci.overhead import patches
from sci_core.families.adapters import FAMILIES
from sci_core.families.models import load_model
from tests import tiny


@pytest.mark.parametrize("family", FAMILIES)
def test_a_picture_has_the_patches_that_the_vision_tower_embeds(family):
    model = load_model(tiny.checkpoint(family))
    picture = model.processor.prepare(Image.new("RGB", (56, 40), "red"))
    (convolution,) = (each for each in model.hf.modules() if isinstance(each, Conv2d | Conv3d))
    embedded = []
    convolution.register_forward_hook(lambda module, given, made: embedded.append(made))
    model.encode([picture])
    assert patches(model, picture) == sum(made[:, 0].numel() for made in embedded) > 1
