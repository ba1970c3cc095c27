"""What the usual package makes of small pictures, an oracle for our own corruptions.

    python benchmarks/corruptions.py tests/papers/shared/corruptions.npz

Run it in an environment of its own that holds `imagecorruptions-imaug==1.1.5`, which brings numba
and a second build of OpenCV and so is not in the lock. The package draws from numpy's global state;
here its draws come from a generator, which the test hands to our functions. The file holds the
pictures; by picture and corruption the pixels at severities 1 to 5 (`PIXELS`), or, where other
draws must differ, the mean change of a pixel over some draws (`CHANGES`), in levels of 255.
"""

import sys

import numpy as np
from imagecorruptions import corruptions as theirs
from PIL import Image

SEED, DRAWS = 7, 8
PIXELS = (
    "gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "gaussian_blur",
    "defocus_blur", "motion_blur", "contrast", "brightness", "saturate", "jpeg_compression",
    "pixelate", "elastic_transform", "spatter",
)  # fmt: skip
CHANGES = ("glass_blur", "zoom_blur", "snow", "frost", "fog", "spatter")


def pictures() -> dict[str, np.ndarray]:
    """Smooth patches with an edge, small and larger, square; and an oblong of coarse blocks."""
    y, x = np.mgrid[:96, :96] / 96
    waves = [np.sin(5 * x + 3 * y), np.cos(4 * y - x), np.sin(6 * x * y)]
    large = 128 + 90 * np.stack(waves, axis=2)
    large[20:48, 54:80] = (200, 60, 30)
    blocks = np.random.default_rng(SEED).integers(0, 256, (6, 9, 3)).repeat(4, 0).repeat(4, 1)
    found = {"smooth": large[::3, ::3], "blocks": blocks, "large": large}
    return {name: pixels.astype(np.uint8) for name, pixels in found.items()}


def corrupted(picture: np.ndarray, name: str, severity: int, seed: int) -> np.ndarray:
    """The pixels of a picture under one of the package's corruptions."""
    generator = np.random.Generator(np.random.PCG64(seed))
    np.random.normal = lambda loc=0.0, scale=1.0, size=None: generator.normal(loc, scale, size)
    np.random.uniform, np.random.poisson = generator.uniform, generator.poisson
    np.random.seed(seed)  # for the choice of a photograph of frost, which is drawn otherwise
    seeded = {"seed": seed} if name in ("impulse_noise", "glass_blur") else {}
    found = getattr(theirs, name)(Image.fromarray(picture), severity, **seeded)
    return np.rint(np.asarray(found, dtype=float)).astype(np.uint8)


def change(picture: np.ndarray, name: str, severity: int) -> float:
    """How far a corruption moves a value, on average over draws."""
    draws = [corrupted(picture, name, severity, seed) for seed in range(DRAWS)]
    return float(np.abs(np.asarray(draws, dtype=float) - picture).mean())


def main() -> None:
    arrays, levels = pictures(), range(1, 6)
    for kind in ("smooth", "blocks"):
        for name in PIXELS:
            ladder = [corrupted(arrays[kind], name, severity, SEED) for severity in levels]
            arrays[f"{kind} {name}"] = np.stack(ladder)
    for name in CHANGES:
        changes = [change(arrays["large"], name, severity) for severity in levels]
        arrays[f"change {name}"] = np.array(changes)
    np.savez_compressed(sys.argv[1], **arrays)


if __name__ == "__main__":
    main()
