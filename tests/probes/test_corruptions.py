"""Each corruption keeps size and type, is a function of seed and picture, and does what it says."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter

from sci_book.papers.shared import corruptions
from sci_book.papers.shared.corruptions import FAMILIES, NAMES, SEVERITIES, corrupt
from tests.soak import examples

# Published ladders whose steps change something else than the amount: severities that do grow.
LADDERS = {
    "glass_blur": ((1, 3, 5),),
    "snow": ((1, 2, 4, 5), (3, 4, 5)),
    "frost": ((1, 3, 5),),
    "fog": ((1, 2),),
    "spatter": ((1, 2, 3), (4, 5)),  # water, then mud
    "pixelate": ((1, 3, 4, 5), (2, 3, 4, 5)),  # blocks of 0.6 and 0.5 fall unlike on edges
    "saturate": ((1, 2), (3, 4, 5)),  # less colour, then more
}
RANDOM = {
    *FAMILIES["noise"], "glass_blur", "motion_blur", "snow", "frost", "fog", "spatter",
    "elastic_transform",
}  # fmt: skip


def scene(seed=0, size=(96, 80)):
    """Smooth coloured patches with edges: a picture, not noise."""
    noise = np.random.default_rng(seed).normal(size=(size[1], size[0], 3))
    smooth = gaussian_filter(noise, (6, 6, 0))
    smooth = 128 + 45 * smooth / smooth.std()
    smooth[20:50, 30:60] = (200, 60, 30)
    return Image.fromarray(smooth.clip(0, 255).astype(np.uint8))


def change(image, name, severity):
    after = np.asarray(corrupt(image, name, severity), dtype=float)
    return np.abs(after - np.asarray(image, dtype=float)).mean()


def test_nineteen_in_four_families():
    assert len(NAMES) == len(set(NAMES)) == 19 and list(FAMILIES) == [
        "noise", "blur", "weather", "digital",
    ]  # fmt: skip
    assert set(corruptions.LEVELS) == set(corruptions._FUNCTIONS) == set(NAMES)
    assert all(len(levels) == 5 for levels in corruptions.LEVELS.values())


@pytest.mark.parametrize("name", NAMES)
def test_more_severe_is_farther_from_the_picture(name):
    for seed in (0, 1):
        image = scene(seed)
        changes = {severity: change(image, name, severity) for severity in SEVERITIES}
        assert min(changes.values()) > 0.5
        for ladder in LADDERS.get(name, (SEVERITIES,)):
            ordered = [changes[severity] for severity in ladder]
            assert ordered == sorted(ordered) and ordered[-1] > ordered[0]


@pytest.mark.parametrize("name", NAMES)
@examples(5)
@given(data=st.data())
def test_any_size_and_mode_becomes_rgb_of_that_size(name, data):
    size = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
    mode = data.draw(st.sampled_from(["RGB", "L", "RGBA", "P", "CMYK", "1"]))
    severity = data.draw(st.sampled_from(SEVERITIES))
    pixels = data.draw(st.integers(0, 2**32 - 1))
    values = np.random.default_rng(pixels).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    image = Image.fromarray(values).convert(mode)
    found = corrupt(image, name, severity)
    assert (found.mode, found.size) == ("RGB", size)


@pytest.mark.parametrize("name", NAMES)
def test_result_depends_on_seed_and_picture_only(name):
    image, other = scene(0), scene(1)
    first = corrupt(image, name, 3, seed=5).tobytes()
    np.random.default_rng(0).normal()
    corrupt(other, name, 1, seed=9)
    assert corrupt(image.copy(), name, 3, seed=5).tobytes() == first
    assert (corrupt(image, name, 3, seed=6).tobytes() != first) == (name in RANDOM)


@pytest.mark.parametrize("severity", [0, 6, -1])
def test_severity_0_is_not_offered(severity):
    with pytest.raises(ValueError, match="expected 1, 2, 3, 4 or 5"):
        corrupt(scene(), "fog", severity)


def test_unknown_names_and_empty_pictures_are_refused():
    with pytest.raises(ValueError, match="There is no corruption 'rain'; there are gaussian_noise"):
        corrupt(scene(), "rain", 1)
    with pytest.raises(ValueError, match="0 x 5"):
        corrupt(Image.new("RGB", (0, 5)), "fog", 1)


# --- what each one is ----------------------------------------------------------------------------

GREY = Image.new("RGB", (400, 300), (128, 128, 128))


def pixels(image, name, severity):
    return np.asarray(corrupt(image, name, severity), dtype=float) / 255


@pytest.mark.parametrize("severity", SEVERITIES)
def test_noise_has_the_published_strength(severity):
    level = corruptions.LEVELS["gaussian_noise"][severity - 1]
    if level < 0.2:  # hardly cut off at 0 and 1
        assert pixels(GREY, "gaussian_noise", severity).std() == pytest.approx(level, rel=0.02)
    speckle = corruptions.LEVELS["speckle_noise"][severity - 1]
    if speckle < 0.4:
        expected = speckle * 128 / 255
        assert pixels(GREY, "speckle_noise", severity).std() == pytest.approx(expected, rel=0.02)
    hit = (pixels(GREY, "impulse_noise", severity) != 128 / 255).mean()
    assert hit == pytest.approx(corruptions.LEVELS["impulse_noise"][severity - 1], rel=0.03)
    photons = corruptions.LEVELS["shot_noise"][severity - 1]
    counts = pixels(GREY, "shot_noise", severity) * photons
    inside = counts < photons  # the brightest are cut off
    assert np.abs(counts - np.rint(counts))[inside].max() <= photons / 255


def test_impulses_of_a_milder_severity_stay():
    hits = [pixels(GREY, "impulse_noise", severity) != 128 / 255 for severity in SEVERITIES]
    assert all((mild <= severe).all() for mild, severe in pairwise(hits))


@pytest.mark.parametrize("name", FAMILIES["blur"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_blur_leaves_a_flat_picture_and_smooths_any_other(name, severity):
    assert np.abs(pixels(GREY, name, severity) - 128 / 255).max() <= 1 / 255
    rough = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    assert pixels(Image.fromarray(rough), name, severity).std() < (rough / 255).std()


def test_brightness_keeps_hue_and_contrast_keeps_the_mean():
    image = scene()
    before, after = np.asarray(image) / 255, pixels(image, "brightness", 1)
    raised = np.minimum(before.max(axis=2) + 0.1, 1)
    assert np.abs(after.max(axis=2) - raised).max() <= 1 / 255
    ratio = before / before.max(axis=2, keepdims=True)
    assert np.abs(after - ratio * raised[..., None]).max() <= 1 / 255
    drawn = pixels(image, "contrast", 4)
    assert drawn.mean(axis=(0, 1)) == pytest.approx(before.mean(axis=(0, 1)), abs=2 / 255)
    spread = before.std(axis=(0, 1))
    assert drawn.std(axis=(0, 1)) == pytest.approx(0.1 * spread, rel=0.1)


def test_saturate_leaves_grey_grey_and_value_alone():
    assert corrupt(GREY, "saturate", 5).tobytes() == GREY.tobytes()
    image = scene()
    for severity in SEVERITIES:
        after = pixels(image, "saturate", severity).max(axis=2)
        assert after == pytest.approx(np.asarray(image).max(axis=2) / 255, abs=1 / 255)


def test_pixelate_makes_blocks_and_fog_and_snow_brighten_black():
    blocks = corrupt(scene(), "pixelate", 5)
    assert len(set(blocks.crop((0, 0, 4, 4)).get_flattened_data())) == 1
    black = Image.new("RGB", (60, 60))
    assert pixels(black, "snow", 5).mean() > 0.2 and pixels(black, "frost", 3).mean() > 0.05
    white = Image.new("RGB", (60, 60), "white")
    foggy = pixels(white, "fog", 3)
    assert foggy.max() == pytest.approx(1, abs=0.01) and foggy.mean() < 1
    assert pixels(white, "spatter", 4).min() == pytest.approx(20 / 255, abs=0.02)  # mud
