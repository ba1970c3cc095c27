"""Each transform keeps its invariant: identities, masks, boxes, involution; refusals are named."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.metara import benign, local, overlay, style
from sci_book.papers.metara.overlay import FONT, Box, free_box, missing_glyphs
from sci_book.papers.metara.pictures import Refused
from tests.papers.metara.metara_pictures import (
    FEW,
    box_on_blue,
    mask_of,
    pixels_of,
    refusal,
    rng,
    seeds,
    sizes,
)

# --- what changes nothing ------------------------------------------------------------------------


@FEW
@given(seeds, sizes)
def test_nothing_of_anything_is_the_identity(seed, size):
    pixels, mask = pixels_of(seed, size), mask_of(seed, size)
    for transform, *arguments in (
        (benign.brightness, 1), (benign.rotation, 0), (benign.rotation, -720), (benign.scale, 1),
        (local.shade, mask, 0), (local.texture, mask, 0, rng()), (local.occlusion, mask, 0, rng()),
        (style.stylisation, 0), (style.colour_transfer, pixels_of(1), 0),
    ):  # fmt: skip
        assert np.array_equal(transform(pixels, *arguments), pixels)


@FEW
@given(seeds, sizes)
def test_colours_moved_to_their_own_statistics_stay(seed, size):
    pixels = pixels_of(seed, size)
    moved = style.colour_transfer(pixels, pixels, 1)
    assert np.abs(moved.astype(int) - pixels).max() <= 1


# --- MR1 -----------------------------------------------------------------------------------------


@FEW
@given(seeds, sizes, st.floats(0.1, 3))
def test_brightness_is_the_factor_cut_at_white(seed, size, factor):
    pixels = pixels_of(seed, size)
    found = benign.brightness(pixels, factor)
    assert np.abs(found - np.minimum(pixels * factor, 255)).max() <= 0.5 + 1e-9


@FEW
@given(sizes, st.floats(-180, 180))
def test_rotation_cuts_nothing_off_and_adds_no_colour(size, degrees):
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[2:-2, 2:-2] = 200  # content up to the border's own pixels
    found = benign.rotation(pixels, degrees)
    assert found.shape == pixels.shape and found.max() <= 200
    border = np.concatenate([found[0], found[-1], found[:, 0], found[:, -1]])
    assert border.max() <= 100  # the dark frame still surrounds the light content
    plain = np.full((height, width, 3), 77, np.uint8)
    assert np.array_equal(benign.rotation(plain, degrees), plain)


def test_half_a_turn_is_known():
    pixels = pixels_of(3, (33, 33))
    turned = benign.rotation(pixels, 180)
    assert np.abs(turned.astype(int) - pixels[::-1, ::-1]).max() <= 1
    quarter = benign.rotation(pixels, 90)
    assert np.abs(quarter.astype(int) - np.rot90(pixels)).max() <= 1


@FEW
@given(seeds, sizes, st.floats(0.3, 2.5))
def test_scale_gives_the_size_and_keeps_the_mean(seed, size, factor):
    pixels = pixels_of(seed, size)
    found = benign.scale(pixels, factor)
    assert found.shape == (round(size[1] * factor), round(size[0] * factor), 3)
    assert abs(found.mean() - pixels.mean()) < 12


# --- MR2 -----------------------------------------------------------------------------------------


@FEW
@given(seeds, sizes, st.floats(0, 1), st.sampled_from([local.texture, local.occlusion]))
def test_local_edits_change_masked_pixels_only(seed, size, amount, edit):
    pixels, mask = pixels_of(seed, size), mask_of(seed, size)
    edited = edit(pixels, mask, amount, rng(seed))
    for found in (edited, local.shade(pixels, mask, 2 * amount - 1)):
        assert np.array_equal(found[~mask], pixels[~mask])
    strong = edit(pixels, mask, 1, rng(seed))
    assert not np.array_equal(strong[mask], pixels[mask])


def test_shade_ends_in_white_and_black_and_occlusion_hides_its_share():
    pixels, mask = pixels_of(0), mask_of(0)
    assert (local.shade(pixels, mask, 1)[mask] == 255).all()
    assert (local.shade(pixels, mask, -1)[mask] == 0).all()
    hidden = local.occlusion(pixels, mask, 0.5, rng())
    changed = (hidden != pixels).any(axis=2)
    assert 0.3 * mask.sum() < changed.sum() <= round(0.5 * mask.sum())


def test_segmentation_finds_the_thing_and_repeats():
    pixels = box_on_blue((64, 48), (20, 14, 44, 34))
    mask = local.segment(pixels)
    wanted = np.zeros((48, 64), bool)
    wanted[14:34, 20:44] = True
    assert (mask & wanted).sum() / (mask | wanted).sum() > 0.9
    assert np.array_equal(local.segment(pixels), mask)


# --- MR3 -----------------------------------------------------------------------------------------


def test_colour_transfer_reaches_the_reference():
    pixels, reference = pixels_of(0), pixels_of(5) // 3 + 90
    found = style.colour_transfer(pixels, reference, 1)
    lab = style._lab(found).mean(axis=(0, 1)) - style._lab(reference).mean(axis=(0, 1))
    assert np.abs(lab).max() < 3  # values beyond the gamut are cut
    half = style.colour_transfer(pixels, reference, 0.5).astype(float)
    assert np.abs(half - (found.astype(float) + pixels) / 2).max() <= 1


def test_stylisation_flattens_regions():
    noisy = pixels_of(0) // 2 + rng().integers(0, 20, (32, 40, 3), dtype=np.uint8)
    found = style.stylisation(noisy, 1)
    assert np.abs(np.diff(found.astype(int), axis=1)).mean() < np.abs(
        np.diff(noisy.astype(int), axis=1)
    ).mean()  # fmt: skip


# --- MR4 -----------------------------------------------------------------------------------------

TEXTS = ("cow", "A red boat at sea", "图中有三头牛", "红色 car，蓝色 bus", "Größe: 5")


@FEW
@given(seeds, st.sampled_from(TEXTS), st.data())
def test_an_overlay_changes_only_its_box(seed, text, data):
    pixels = pixels_of(seed, (120, 90))
    left, top = data.draw(st.integers(0, 30)), data.draw(st.integers(0, 30))
    right, bottom = data.draw(st.integers(left + 60, 120)), data.draw(st.integers(top + 30, 90))
    box = Box(left, top, right, bottom)
    found = overlay.overlay(pixels, text, box)
    outside = np.ones(pixels.shape[:2], bool)
    outside[box.top : box.bottom, box.left : box.right] = False
    assert np.array_equal(found[outside], pixels[outside])
    inside = found[box.top : box.bottom, box.left : box.right]
    assert (inside.min(axis=2) < 100).any()  # ink
    assert (inside == overlay.GROUND).all(axis=2).any()


def test_the_default_font_has_chinese_and_its_characters_differ():
    level = [bytes((a, b)).decode("gb2312", errors="ignore")
             for a in range(0xB0, 0xF8) for b in range(0xA1, 0xFF)]  # fmt: skip
    characters = "".join(level)
    assert len(characters) == 6763 and missing_glyphs(characters) == ""
    box, blank = Box(0, 0, 40, 40), np.zeros((40, 40, 3), np.uint8)
    drawn = {c: overlay.overlay(blank, c, box).tobytes() for c in "牛船红蓝一二三国图"}
    assert len(set(drawn.values())) == len(drawn)  # no two are one empty box


def test_what_cannot_be_written_is_refused_by_name():
    pixels = pixels_of(0, (96, 96))

    def reason(text, box):
        return refusal(overlay.overlay, pixels, text, box)

    strip = Box(0, 0, 96, 14)
    assert reason("word " * 30, strip) == "text does not fit"
    assert reason("incomprehensibilities" * 2, Box(0, 0, 40, 90)) == "text does not fit"
    assert reason("x" * 501, strip) == "text does not fit"
    assert reason("مرحبا", strip) == "glyph is missing"
    assert reason("tab\there", strip) == "glyph is missing"
    assert reason("  \n ", strip) == "no text"
    assert reason("cow", Box(0, 0, 97, 14)) == "box does not fit"
    assert reason("cow", Box(5, 5, 5, 14)) == "box does not fit"


def test_a_font_of_latin_letters_refuses_chinese_and_names_them(monkeypatch):
    from matplotlib import get_data_path

    latin = FONT.__class__(get_data_path()) / "fonts" / "ttf" / "cmr10.ttf"
    monkeypatch.setattr(overlay, "FONT", latin)
    assert missing_glyphs("cow 牛") == "牛"
    with pytest.raises(Refused, match=r"cmr10\.ttf has no glyph for '牛'"):
        overlay.overlay(pixels_of(0), "牛", Box(0, 0, 40, 30))


def test_lines_break_at_spaces_and_between_chinese_characters():
    face = overlay._face(FONT, 8)
    text = "红色的汽车 and a bus，两只猫"
    lines = overlay._wrapped(text, 40, face)
    assert len(lines) > 1 and all(face.getlength(line) <= 40 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert overlay._wrapped("two\nlines", 90, face) == ["two", "lines"]


@FEW
@given(seeds)
def test_a_free_box_hides_nothing_asked_about(seed):
    pixels = pixels_of(seed, (96, 96))
    busy = np.zeros((96, 96), bool)
    top = rng(seed).integers(0, 80)
    busy[top : top + 16, 20:70] = True
    box = free_box(pixels, "a cow", busy, rng(seed))
    assert not busy[box.top : box.bottom, box.left : box.right].any()
    overlay.overlay(pixels, "a cow", box)
    everything = np.ones((96, 96), bool)
    assert refusal(free_box, pixels, "a cow", everything, rng(seed)) == "no free place"


# --- the same on every machine -------------------------------------------------------------------

DIGEST = """
import hashlib
from functools import partial
import numpy as np
from PIL import Image
from sci_book.papers.metara.pictures import apply
from sci_book.papers.metara.benign import rotation
from sci_book.papers.metara.style import stylisation
lot = np.random.default_rng(0)
found = hashlib.sha256()
for _ in range(12):
    image = Image.fromarray(lot.integers(0, 256, (48, 48, 3), dtype=np.uint8))
    for transform in (partial(rotation, degrees=7.3), partial(stylisation, amount=0.8)):
        found.update(apply(transform, image).tobytes())
print(found.hexdigest())
"""


def test_a_processors_extensions_do_not_change_a_pixel():
    """With AVX2, OpenCV rounds a pixel in some thousands another way, so it must not be used."""
    seen = {
        subprocess.run(
            [sys.executable, "-c", DIGEST], env={**os.environ, "OPENCV_CPU_DISABLE": without},
            capture_output=True, text=True, check=True,
        ).stdout
        for without in ("", "AVX512-SKX,AVX2,AVX")
    }  # fmt: skip
    assert len(seen) == 1
