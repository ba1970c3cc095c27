"""The paper's blur: its kernel, what it keeps, what it mirrors."""

import numpy as np
import pytest
from PIL import Image

from sci_book.papers.shared import blur


def test_the_kernel_is_milder_than_its_name():
    assert round(blur.effective_sigma(), 2) == 1.29
    assert blur.gaussian_kernel() == pytest.approx(
        [0.1525, 0.2218, 0.2514, 0.2218, 0.1525], abs=1e-4
    )


def test_a_point_spreads_as_the_kernel_says():
    pixels = np.zeros((9, 11, 3), dtype=np.uint8)
    pixels[4, 5] = 255
    spread = np.asarray(blur.blur(Image.fromarray(pixels)))
    kernel = blur.gaussian_kernel()
    assert (spread[2:7, 3:8, 0] == np.rint(255 * np.outer(kernel, kernel))).all()
    assert spread[:2].max() == spread[:, :3].max() == 0


def test_size_mode_and_flat_pictures_stay():
    flat = Image.new("RGB", (7, 3), (10, 200, 31))
    assert blur.blur(flat).tobytes() == flat.tobytes()
    assert blur.blur(Image.new("L", (1, 1), 9)).mode == "RGB"
    assert blur.blur(Image.new("RGB", (640, 2))).size == (640, 2)
