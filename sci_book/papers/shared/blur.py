"""The paper's blur (section 3.5): a 5 x 5 Gaussian kernel with sigma 2.

Five taps cut a Gaussian of sigma 2 off at one sigma, so what is applied is milder than its name:
the kernel's own standard deviation is 1.29 pixels (`effective_sigma`).
"""

from numbers import Real

import numpy as np
from PIL import Image
from scipy.ndimage import correlate1d

TAPS, SIGMA = 5, 2.0


def gaussian_kernel(taps: int = TAPS, sigma: Real = SIGMA) -> np.ndarray:
    """The weights of an odd number of taps, ``exp(-i^2 / 2 sigma^2)`` scaled to sum 1."""
    weights = np.exp(-((np.arange(taps) - taps // 2) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


def effective_sigma() -> float:
    """The standard deviation in pixels of the kernel that is applied: 1.29 for the paper's."""
    return float(np.sqrt((gaussian_kernel() * (np.arange(TAPS) - TAPS // 2) ** 2).sum()))


def blur(image: Image.Image) -> Image.Image:
    """The picture blurred along both axes: RGB, same size, edges mirrored.

    The kernel is in pixels, so a larger picture loses less of what it shows.
    """
    kernel = gaussian_kernel()
    pixels = np.asarray(image.convert("RGB"), dtype=float)
    for axis in (0, 1):
        pixels = correlate1d(pixels, kernel, axis=axis, mode="mirror")
    return Image.fromarray(np.rint(pixels).astype(np.uint8))
