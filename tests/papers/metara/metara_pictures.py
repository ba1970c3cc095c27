"""Pictures and masks that the tests of MetaRA's transforms are put to."""

import numpy as np
import pytest
from hypothesis import strategies as st

from sci_book.papers.metara.pictures import Refused
from tests.soak import examples

FEW = examples(15)
sizes = st.tuples(st.integers(12, 40), st.integers(12, 40))
seeds = st.integers(0, 2**32 - 1)


def pixels_of(seed, size=(40, 32)):
    """Smooth patches with a box of another colour: a picture, not noise."""
    lot = np.random.default_rng(seed)
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    waves = [np.sin(x / lot.uniform(3, 9) + y / lot.uniform(3, 9)) for _ in range(3)]
    picture = (128 + 80 * np.stack(waves, axis=2)).astype(np.uint8)
    picture[4:10, 4:10] = lot.integers(0, 256, 3)
    return picture


def mask_of(seed, size=(40, 32)):
    mask = np.random.default_rng(seed).random((size[1], size[0])) < 0.3
    mask[0, 0], mask[-1, -1] = True, False
    return mask


def box_on_blue(size, box):
    """A red box on a blue ground, both but for noise of one colour."""
    pixels = np.full((size[1], size[0], 3), (40, 90, 200), np.uint8)
    pixels += rng().integers(0, 6, pixels.shape, dtype=np.uint8)
    left, top, right, bottom = box
    pixels[top:bottom, left:right] = (220, 60, 30)
    return pixels


def rng(seed=0):
    return np.random.default_rng(seed)


def refusal(make, *arguments):
    """The name of the reason for which a transform is refused."""
    with pytest.raises(Refused) as refused:
        make(*arguments)
    return refused.value.reason
