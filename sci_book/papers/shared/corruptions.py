"""The corruptions of ImageNet-C (Hendrycks and Dietterich, 2019) for pictures of any size.

Nineteen in four families, at severities 1 to 5, with the published constants. The usual packages
keep their random numbers in a global state, and one that runs beside NumPy 2 brings numba and a
second build of OpenCV, so they are written here on SciPy and Pillow. Deviations, each for a reason:

- the random numbers of a picture depend on a seed and its pixels only, and are the same at every
  severity, so severities of one picture differ by severity alone;
- `glass_blur` gives each pixel a random neighbour's colour at once, instead of swapping pixels one
  by one;
- `frost` grows its crystals from noise, where the published one pastes photographs of frost: ours
  moves a value half to two thirds as far;
- `fog` adds octaves of smooth noise, each weaker by the published decay, instead of running the
  diamond-square algorithm on a power of two;
- the water of `spatter` is brightest at the edge of a drop by a distance transform alone, without
  the published histogram equalisation and embossing: it moves a value two to four times as far;
- `defocus_blur` keeps the picture's brightness, where the published disk sums to a little over or
  under one at severities 4 and 5;
- `zoom_blur` and `snow` enlarge the middle exactly, where the published ones crop whole pixels;
- `saturate` leaves grey pixels grey; in the published one the last two severities turn them red.
"""

import hashlib
from collections.abc import Callable
from io import BytesIO
from numbers import Real

import numpy as np
from jaxtyping import Float
from PIL import Image
from scipy.ndimage import (
    correlate1d,
    distance_transform_edt,
    gaussian_filter,
    map_coordinates,
    uniform_filter,
)

from sci_book.files import read_yaml
from sci_book.papers.shared.blur import gaussian_kernel
from sci_book.resources import MANIFESTS

Pixels = Float[np.ndarray, "height width 3"]
"""Red, green and blue in [0, 1]; what a corruption returns is cut to that range."""
Layer = Float[np.ndarray, "height width"]
Random = np.random.Generator

_PUBLISHED = read_yaml(MANIFESTS / "corruptions.yaml")
FAMILIES: dict[str, tuple[str, ...]] = {name: tuple(family) for name, family in _PUBLISHED.items()}
LEVELS: dict[str, list] = {k: v for family in _PUBLISHED.values() for k, v in family.items()}
"""The published constants of each severity, in the order of each function's `level`."""
NAMES = tuple(LEVELS)
SEVERITIES = (1, 2, 3, 4, 5)
WATER, MUD = np.array([175, 238, 238]) / 255, np.array([63, 42, 20]) / 255
ICE = np.array([0.80, 0.90, 1.0])


def corrupt(image: Image.Image, name: str, severity: int, *, seed: int = 0) -> Image.Image:
    """The picture under one corruption: RGB, same size.

    Its random numbers depend on the seed and on the picture only, so the same picture is corrupted
    alike in any order and any batch. Constants are in pixels where the published ones are: a small
    picture suffers more.

    Args:
        name: one of `NAMES`.
        severity: 1 to 5; there is no 0, which would be the picture itself.
        seed: whole number of 0 or more.

    Raises:
        ValueError: for an unknown name or severity, or a picture without pixels.
    """
    if name not in LEVELS:
        raise ValueError(f"There is no corruption {name!r}; there are {', '.join(NAMES)}.")
    if severity not in SEVERITIES:
        raise ValueError(f"Severity {severity!r}; expected 1, 2, 3, 4 or 5.")
    image = image.convert("RGB")
    if not image.width * image.height:
        raise ValueError(f"The picture is {image.width} x {image.height}: it has no pixels.")
    pixels = np.asarray(image, dtype=float) / 255
    return _image(_FUNCTIONS[name](pixels, LEVELS[name][severity - 1], _random(image, seed)))


def gaussian_noise(x: Pixels, level: Real, random: Random) -> Pixels:
    """Normal noise of standard deviation `level`."""
    return x + random.normal(size=x.shape) * level


def shot_noise(x: Pixels, level: Real, random: Random) -> Pixels:
    """Photons counted: Poisson with `level` expected at full brightness."""
    return random.poisson(x * level) / level


def impulse_noise(x: Pixels, level: Real, random: Random) -> Pixels:
    """A share `level` of the values set to 0 or 1."""
    hit = random.random(x.shape) < level
    return np.where(hit, random.integers(0, 2, x.shape), x)


def speckle_noise(x: Pixels, level: Real, random: Random) -> Pixels:
    """Normal noise in proportion to brightness."""
    return x + x * random.normal(size=x.shape) * level


def defocus_blur(x: Pixels, level: list, random: Random) -> Pixels:
    """A disk of a radius, its rim softened by a Gaussian of a sigma."""
    from scipy.signal import fftconvolve  # most of a second, in every chapter that corrupts nothing

    radius, softness = level
    reach = max(8, int(radius))
    grid = np.arange(-reach, reach + 1)
    disk = (grid[:, None] ** 2 + grid**2 <= radius**2).astype(float)
    rim = gaussian_kernel(3 if radius <= 8 else 5, softness)
    for axis in (0, 1):
        disk = correlate1d(disk, rim, axis=axis, mode="constant")
    padded = np.pad(x, ((reach, reach), (reach, reach), (0, 0)), mode="reflect")
    return fftconvolve(padded, (disk / disk.sum())[..., None], mode="valid", axes=(0, 1))


def glass_blur(x: Pixels, level: list, random: Random) -> Pixels:
    """Blurred, pixels displaced by up to a distance a number of times, blurred again."""
    sigma, distance, times = level
    x = _smooth(x, sigma)
    height, width = x.shape[:2]
    for _ in range(times):
        dy, dx = (random.integers(-distance, distance, (height, width)) for _ in range(2))
        rows = np.clip(np.arange(height)[:, None] + dy, 0, height - 1)
        columns = np.clip(np.arange(width) + dx, 0, width - 1)
        x = x[rows, columns]
    return _smooth(x, sigma)


def motion_blur(x: Pixels, level: list, random: Random) -> Pixels:
    """Smeared within 45 degrees of the horizontal."""
    return _smear(x, *level, angle=random.uniform(-45, 45))


def zoom_blur(x: Pixels, level: list, random: Random) -> Pixels:
    """The mean of the picture and of its enlargements up to a factor."""
    end, step = level
    factors = np.arange(1, end, step)
    return (x + sum(_zoom(x, factor) for factor in factors)) / (len(factors) + 1)


def gaussian_blur(x: Pixels, level: Real, random: Random) -> Pixels:
    """A Gaussian of sigma `level` pixels, cut off at four sigma."""
    return _smooth(x, level)


def snow(x: Pixels, level: list, random: Random) -> Pixels:
    """Flakes smeared downwards, from both sides, over a whitened picture."""
    mean, spread, size, threshold, smear, kept = level
    flakes = random.normal(size=x.shape[:2]) * spread + mean
    flakes = _zoom(flakes[..., None], size)
    flakes = np.where(flakes < threshold, 0, flakes).clip(0, 1)
    flakes = _smear(flakes, *smear, angle=random.uniform(-135, -45))
    grey = (x @ [0.299, 0.587, 0.114])[..., None]
    whitened = kept * x + (1 - kept) * np.maximum(x, grey * 1.5 + 0.5)
    return whitened + flakes + flakes[::-1, ::-1]


def frost(x: Pixels, level: list, random: Random) -> Pixels:
    """Needles of ice, denser towards the border, over a darkened picture."""
    kept, amount = level
    needles = 1 - np.abs(2 * _octaves(x.shape[:2], 1.3, random) - 1)  # ridges of the noise
    border = np.abs(np.meshgrid(*(np.linspace(-1, 1, n) for n in x.shape[:2]), indexing="ij"))
    ice = (needles**3 * (0.4 + 0.6 * border.max(axis=0)))[..., None] * ICE
    return kept * x + amount * ice


def fog(x: Pixels, level: list, random: Random) -> Pixels:
    """Banks of white; the brightest value stays what it was."""
    amount, decay = level
    brightest = x.max()
    fogged = x + amount * _octaves(x.shape[:2], decay, random)[..., None]
    return fogged * brightest / (brightest + amount)


def brightness(x: Pixels, level: Real, random: Random) -> Pixels:
    """`level` added to the value of hue, saturation, value."""
    value = x.max(axis=2, keepdims=True)
    raised = np.minimum(value + level, 1)
    return np.where(value > 0, x * raised / np.where(value > 0, value, 1), raised)


def spatter(x: Pixels, level: list, random: Random) -> Pixels:
    """Drops of water, or of mud at the two highest severities."""
    mean, spread, sigma, threshold, strength, liquid = level
    depth = _smooth(random.normal(size=x.shape[:2])[..., None] * spread + mean, sigma)
    wet = depth >= threshold
    if liquid == "mud":
        cover = _smooth(wet.astype(float), strength)
        cover = np.where(cover < 0.8, 0, cover)
        return x * (1 - cover) + cover * MUD
    inside = distance_transform_edt(np.pad(wet[..., 0], 1))[1:-1, 1:-1]
    film = uniform_filter(np.where(wet[..., 0], 1 / np.maximum(inside, 1), 0), 3)[..., None]
    return x + strength * film / max(film.max(), 1e-12) * WATER


def contrast(x: Pixels, level: Real, random: Random) -> Pixels:
    """Drawn together to the mean colour, a share `level` of the distance left."""
    mean = x.mean(axis=(0, 1), keepdims=True)
    return (x - mean) * level + mean


def elastic_transform(x: Pixels, level: Real, random: Random) -> Pixels:
    """Pixels fetched from places displaced by noise that is smooth over 1 % of the picture."""
    shape = x.shape[:2]
    sigma = [0.01 * n for n in shape]
    places = np.meshgrid(*(np.arange(n, dtype=float) for n in shape), indexing="ij")
    for place, n in zip(places, shape, strict=True):
        shift = random.uniform(-1, 1, shape) * 0.005 * n
        place += gaussian_filter(shift, sigma, mode="reflect", truncate=3) * level
    fetched = [map_coordinates(x[..., c], places, order=1, mode="reflect") for c in range(3)]
    return np.stack(fetched, axis=2)


def pixelate(x: Pixels, level: Real, random: Random) -> Pixels:
    """Shrunk to a share of its size and enlarged again, without smoothing."""
    height, width = x.shape[:2]
    small = (max(int(width * level), 1), max(int(height * level), 1))
    shrunk = _image(x).resize(small, Image.Resampling.BOX)
    return np.asarray(shrunk.resize((width, height), Image.Resampling.NEAREST)) / 255


def jpeg_compression(x: Pixels, level: int, random: Random) -> Pixels:
    """Stored as JPEG at quality `level`."""
    file = BytesIO()
    _image(x).save(file, "JPEG", quality=level)
    return np.asarray(Image.open(file).convert("RGB")) / 255


def saturate(x: Pixels, level: list, random: Random) -> Pixels:
    """Saturation times one number plus another: less at severities 1 and 2, more at 3 to 5."""
    factor, added = level
    value, least = x.max(axis=2, keepdims=True), x.min(axis=2, keepdims=True)
    coloured = value > least
    saturation = (value - least) / np.where(value > 0, value, 1)
    wanted = np.clip(saturation * factor + added, 0, 1)
    return np.where(coloured, value - (value - x) * wanted / np.where(coloured, saturation, 1), x)


_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    function.__name__: function
    for function in (
        gaussian_noise, shot_noise, impulse_noise, speckle_noise,
        defocus_blur, glass_blur, motion_blur, zoom_blur, gaussian_blur,
        snow, frost, fog, brightness, spatter,
        contrast, elastic_transform, pixelate, jpeg_compression, saturate,
    )
}  # fmt: skip


def _random(image: Image.Image, seed: int) -> Random:
    content = f"{seed} {image.width}x{image.height} ".encode() + image.tobytes()
    key = hashlib.blake2b(content, digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


def _image(x: np.ndarray) -> Image.Image:
    return Image.fromarray(np.rint(x.clip(0, 1) * 255).astype(np.uint8))


def _smooth(x: np.ndarray, sigma: Real) -> np.ndarray:
    return gaussian_filter(x, (sigma, sigma, 0), mode="nearest")


def _smear(x: np.ndarray, radius: int, sigma: Real, *, angle: Real) -> np.ndarray:
    """The mean of the picture shifted ever further along an angle (degrees), half a Gaussian."""
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    height, width = x.shape[:2]
    smeared = np.zeros_like(x)
    for step, weight in zip(steps, weights / weights.sum(), strict=True):
        dy = -int(np.ceil(step * np.sin(np.deg2rad(angle)) - 0.5))
        dx = -int(np.ceil(step * np.cos(np.deg2rad(angle)) - 0.5))
        rows = np.clip(np.arange(height) - dy, 0, height - 1)
        columns = np.clip(np.arange(width) - dx, 0, width - 1)
        smeared += weight * x[rows[:, None], columns]
    return smeared


def _zoom(x: np.ndarray, factor: Real) -> np.ndarray:
    """The middle enlarged to the whole, bilinearly."""
    height, width = x.shape[:2]
    top, left = (height - height / factor) / 2, (width - width / factor) / 2
    box = (left, top, width - left, height - top)
    channels = [
        Image.fromarray(x[..., c].astype(np.float32)).resize(
            (width, height), Image.Resampling.BILINEAR, box=box
        )
        for c in range(x.shape[2])
    ]
    return np.stack([np.asarray(channel, dtype=float) for channel in channels], axis=2)


def _octaves(shape: tuple[int, int], decay: Real, random: Random) -> Layer:
    """Smooth noise in [0, 1]: octaves from half the picture to a pixel, by `decay ** 2` weaker."""
    height, width = shape
    total, weight, cells = np.zeros(shape), 1.0, 2
    while True:
        grid = random.uniform(-1, 1, (cells + 1, cells + 1)).astype(np.float32)
        octave = Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC)
        total += weight * np.asarray(octave, dtype=float)
        if cells >= max(shape):
            break
        weight, cells = weight / decay**2, 2 * cells
    total -= total.min()
    return total / max(total.max(), 1e-12)
