"""Each corruption keeps size and type, is a function of seed and picture, and does what it says."""

from itertools import pairwise
from pathlib import Path

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


# --- beside the usual package (benchmarks/corruptions.py made the file) ---------------------------

OURS = corruptions._FUNCTIONS
with np.load(Path(__file__).with_name("corruptions.npz")) as file:
    THEIRS = dict(file)


class SecondFirst(np.random.Generator):
    """Draws whole layers in the other order: the package displaces columns before rows."""

    def uniform(self, *given):
        if not hasattr(self, "layers"):
            self.layers = [np.random.Generator.uniform(self, *given) for _ in range(2)]
        return self.layers.pop()


def ours(kind, name, severity, generator=np.random.Generator):
    x = THEIRS[kind].astype(float) / 255
    level = corruptions.LEVELS[name][severity - 1]
    found = OURS[name](x, level, generator(np.random.PCG64(7)))
    return np.rint(found.clip(0, 1) * 255)


def difference(kind, name, severity, **given):
    theirs = THEIRS[f"{kind} {name}"][severity - 1].astype(float)
    return np.abs(ours(kind, name, severity, **given) - theirs)


@pytest.mark.parametrize("kind", ["smooth", "blocks"])
@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("gaussian_noise", 0), ("shot_noise", 0), ("speckle_noise", 0), ("gaussian_blur", 0),
        ("contrast", 0), ("pixelate", 0), ("jpeg_compression", 0),
        ("brightness", 1), ("saturate", 1),  # through hue and back
    ],
)  # fmt: skip
def test_a_corruption_equals_the_usual_packages_given_its_draws(name, severity, kind, levels):
    assert difference(kind, name, severity).max() <= levels


@pytest.mark.parametrize("severity", SEVERITIES)
def test_displacements_equal_the_usual_packages_on_a_square(severity):
    """On an oblong it takes the height for both directions, and we each side for its own."""
    found = difference("smooth", "elastic_transform", severity, generator=SecondFirst)
    assert found.max() <= 1


@pytest.mark.parametrize("severity", SEVERITIES)
def test_motion_equals_the_usual_packages_while_it_stays_inside(severity):
    """Forty steps leave these pictures, at severity 5: it stops there, and we go on."""
    for kind in ("smooth", "blocks"):
        assert difference(kind, "motion_blur", severity).max() <= (0 if severity < 5 else 5)


@pytest.mark.parametrize("kind", ["smooth", "blocks"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_disk_equals_the_usual_packages_but_for_what_its_sum_misses(severity, kind):
    found = difference(kind, "defocus_blur", severity)
    assert found.max() <= (0 if severity < 4 else 3)
    assert ours(kind, "defocus_blur", severity).mean() == pytest.approx(
        THEIRS[kind].mean(), rel=0.03
    )


@pytest.mark.parametrize("kind", ["smooth", "blocks"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_impulses_hit_as_many_values_as_the_usual_packages(severity, kind):
    x = THEIRS[kind]
    hits = [pixels != x for pixels in (ours(kind, "impulse_noise", severity),
                                       THEIRS[f"{kind} impulse_noise"][severity - 1])]  # fmt: skip
    assert (hits[0] == hits[1]).mean() > 0.99  # the same draws hit; black or white is drawn anew


@pytest.mark.parametrize("severity", [4, 5])
def test_mud_equals_the_usual_packages(severity):
    for kind in ("smooth", "blocks"):
        assert difference(kind, "spatter", severity).max() == 0


@pytest.mark.parametrize(
    ("name", "severities", "ratio"),
    [
        ("glass_blur", SEVERITIES, (0.65, 1.15)),
        ("zoom_blur", SEVERITIES, (0.8, 1.1)),
        ("snow", SEVERITIES, (0.9, 1.1)),
        ("fog", SEVERITIES, (0.85, 1.2)),
        ("frost", SEVERITIES, (0.4, 0.75)),
        ("spatter", (1, 2, 3), (2, 4)),
    ],
)
def test_where_draws_differ_by_design_the_change_is_as_large_as_we_say(name, severities, ratio):
    image = Image.fromarray(THEIRS["large"])
    for severity in severities:
        draws = [np.asarray(corrupt(image, name, severity, seed=seed)) for seed in range(8)]
        change = np.abs(np.asarray(draws, dtype=float) - THEIRS["large"]).mean()
        least, most = ratio
        assert least < change / THEIRS[f"change {name}"][severity - 1] < most
