"""What a picture costs, against transformers' own resizing and packing."""

import random

import pytest
import torch
from transformers.models.llava_next import modeling_llava_next as llava_next
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from sci_book.papers.sci.picture_costs import SIZES, PixelLimits, Tiles, load_models, table

MODELS = load_models()

SEEN = [(4000, 3000), (1, 1), (28, 28), (13, 2400), (8000, 41), (999, 1001), (640, 480)]


def sizes(count):
    draw = random.Random(0)
    return [*SEEN, *((draw.randint(30, 6000), draw.randint(30, 6000)) for _ in range(count))]


@pytest.mark.parametrize("limits", [m for m in MODELS.values() if isinstance(m, PixelLimits)])
def test_tokens_of_a_picture_are_those_of_the_published_resizing(limits):
    unit = limits.unit
    for width, height in sizes(300):
        high, wide = smart_resize(
            height, width, unit, min_pixels=limits.least * unit**2, max_pixels=limits.most * unit**2
        )
        assert limits.tokens(width, height) == high * wide // unit**2


def test_a_photograph_of_12_megapixels_takes_15301_tokens_at_the_checkpoints_limit():
    frame = table()
    assert frame.loc["4000 × 3000"].iloc[0] == 15_301
    assert frame.loc["640 × 480"].tolist()[:3] == [391, 1302, 391]
    assert frame.loc["8000 × 6000"].iloc[0] == 16_170 <= 16_384
    assert len(frame) == len(SIZES)


def test_tiles_are_counted_as_the_model_packs_them():
    (tiles,) = [model for model in MODELS.values() if isinstance(model, Tiles)]
    assert tiles.tokens(336, 336) == 576 + 24 * 25
    grids = [[336 * part for part in grid] for grid in tiles.grids]
    for width, height in sizes(50)[2:]:
        rows, columns = llava_next.get_anyres_image_grid_shape([height, width], grids, 336)
        kept = llava_next.unpad_image(torch.empty(1, 24 * rows, 24 * columns), [height, width])
        assert tiles.tokens(width, height) == 576 + kept.shape[1] * (kept.shape[2] + 1)
    assert max(tiles.tokens(*size) for size in sizes(50)[2:]) <= 2928
