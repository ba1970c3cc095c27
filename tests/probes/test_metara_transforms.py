"""Each transform keeps its invariant: identities, masks, boxes, involution; refusals are named."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_book.papers.metara import benign, local, overlay, relations, style
from sci_book.papers.metara.overlay import FONT, Box, free_box, missing_glyphs
from sci_book.papers.metara.paraphrase import KeepQuestion
from sci_book.papers.metara.pictures import Refused, apply, identity, random_of
from sci_book.papers.metara.relations import (
    IDENTITY,
    OPERATIONS,
    RELATIONS,
    Operation,
    Original,
    make_cases,
)
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


def rng(seed=0):
    return np.random.default_rng(seed)


# --- what changes nothing ------------------------------------------------------------------------


@FEW
@given(seeds, sizes)
def test_nothing_of_anything_is_the_identity(seed, size):
    pixels, mask = pixels_of(seed, size), mask_of(seed, size)
    for transform in (
        identity, benign.brightness(1), benign.rotation(0), benign.rotation(-720),
        benign.scale(1), local.shade(mask, 0), local.texture(mask, 0), local.occlusion(mask, 0),
        style.stylisation(0), style.colour_transfer(pixels_of(1), 0),
        style.new_background(mask, pixels),
    ):  # fmt: skip
        assert np.array_equal(transform(pixels, rng()), pixels)


@FEW
@given(seeds, sizes)
def test_mirrored_twice_is_the_picture(seed, size):
    pixels = pixels_of(seed, size)
    once = local.mirror(pixels, rng())
    assert np.array_equal(once, np.asarray(Image.fromarray(pixels).transpose(0)))
    assert np.array_equal(local.mirror(once, rng()), pixels)


@FEW
@given(seeds, sizes)
def test_colours_moved_to_their_own_statistics_stay(seed, size):
    pixels = pixels_of(seed, size)
    moved = style.colour_transfer(pixels, 1)(pixels, rng())
    assert np.abs(moved.astype(int) - pixels).max() <= 1


# --- MR1 -----------------------------------------------------------------------------------------


@FEW
@given(seeds, sizes, st.floats(0.1, 3))
def test_brightness_is_the_factor_cut_at_white(seed, size, factor):
    pixels = pixels_of(seed, size)
    found = benign.brightness(factor)(pixels, rng())
    assert np.abs(found - np.minimum(pixels * factor, 255)).max() <= 0.5 + 1e-9


@FEW
@given(sizes, st.floats(-180, 180))
def test_rotation_cuts_nothing_off_and_adds_no_colour(size, degrees):
    width, height = size
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[2:-2, 2:-2] = 200  # content up to the border's own pixels
    found = benign.rotation(degrees)(pixels, rng())
    assert found.shape == pixels.shape and found.max() <= 200
    border = np.concatenate([found[0], found[-1], found[:, 0], found[:, -1]])
    assert border.max() <= 100  # the dark frame still surrounds the light content
    plain = np.full((height, width, 3), 77, np.uint8)
    assert np.array_equal(benign.rotation(degrees)(plain, rng()), plain)


def test_half_a_turn_is_known():
    pixels = pixels_of(3, (33, 33))
    turned = benign.rotation(180)(pixels, rng())
    assert np.abs(turned.astype(int) - pixels[::-1, ::-1]).max() <= 1
    quarter = benign.rotation(90)(pixels, rng())
    assert np.abs(quarter.astype(int) - np.rot90(pixels)).max() <= 1


@FEW
@given(seeds, sizes, st.floats(0.3, 2.5))
def test_scale_gives_the_size_and_keeps_the_mean(seed, size, factor):
    pixels = pixels_of(seed, size)
    found = benign.scale(factor)(pixels, rng())
    assert found.shape == (round(size[1] * factor), round(size[0] * factor), 3)
    assert abs(found.mean() - pixels.mean()) < 12


# --- MR2 -----------------------------------------------------------------------------------------


@FEW
@given(seeds, sizes, st.floats(0, 1), st.sampled_from([local.texture, local.occlusion]))
def test_local_edits_change_masked_pixels_only(seed, size, amount, edit):
    pixels, mask = pixels_of(seed, size), mask_of(seed, size)
    for transform in (edit(mask, amount), local.shade(mask, 2 * amount - 1)):
        found = transform(pixels, rng(seed))
        assert np.array_equal(found[~mask], pixels[~mask])
    strong = edit(mask, 1)(pixels, rng(seed))
    assert not np.array_equal(strong[mask], pixels[mask])


def test_shade_ends_in_white_and_black_and_occlusion_hides_its_share():
    pixels, mask = pixels_of(0), mask_of(0)
    assert (local.shade(mask, 1)(pixels, rng())[mask] == 255).all()
    assert (local.shade(mask, -1)(pixels, rng())[mask] == 0).all()
    hidden = local.occlusion(mask, 0.5)(pixels, rng())
    changed = (hidden != pixels).any(axis=2)
    assert 0.3 * mask.sum() < changed.sum() <= round(0.5 * mask.sum())


def test_segmentation_finds_the_thing_and_repeats():
    pixels = np.full((48, 64, 3), (40, 90, 200), np.uint8)
    pixels += rng().integers(0, 6, pixels.shape, dtype=np.uint8)
    pixels[14:34, 20:44] = (220, 60, 30)
    mask = local.segment(pixels)
    wanted = np.zeros((48, 64), bool)
    wanted[14:34, 20:44] = True
    assert (mask & wanted).sum() / (mask | wanted).sum() > 0.9
    assert np.array_equal(local.segment(pixels), mask)


# --- MR3 -----------------------------------------------------------------------------------------


@FEW
@given(seeds, sizes)
def test_a_new_background_keeps_the_things(seed, size):
    pixels, mask = pixels_of(seed, size), mask_of(seed, size)
    found = style.new_background(mask)(pixels, rng(seed))
    assert np.array_equal(found[mask], pixels[mask])
    assert (found[~mask] != pixels[~mask]).any()
    other = pixels_of(seed + 1, (17, 9))  # of another size
    shown = style.new_background(mask, other)(pixels, rng(seed))
    assert np.array_equal(shown[mask], pixels[mask]) and shown.shape == pixels.shape


def test_colour_transfer_reaches_the_reference():
    pixels, reference = pixels_of(0), pixels_of(5) // 3 + 90
    found = style.colour_transfer(reference, 1)(pixels, rng())
    lab = style._lab(found).mean(axis=(0, 1)) - style._lab(reference).mean(axis=(0, 1))
    assert np.abs(lab).max() < 3  # values beyond the gamut are cut
    half = style.colour_transfer(reference, 0.5)(pixels, rng()).astype(float)
    assert np.abs(half - (found.astype(float) + pixels) / 2).max() <= 1


def test_stylisation_flattens_regions():
    noisy = pixels_of(0) // 2 + rng().integers(0, 20, (32, 40, 3), dtype=np.uint8)
    found = style.stylisation(1)(noisy, rng())
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
    box = Box(
        left, top, data.draw(st.integers(left + 60, 120)), data.draw(st.integers(top + 30, 90))
    )
    found = overlay.overlay(text, box)(pixels, rng())
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
    drawn = {c: overlay.overlay(c, box)(blank, rng()).tobytes() for c in "牛船红蓝一二三国图"}
    assert len(set(drawn.values())) == len(drawn)  # no two are one empty box


def test_what_cannot_be_written_is_refused_by_name():
    pixels = pixels_of(0, (96, 96))

    def reason(text, box):
        with pytest.raises(Refused) as refused:
            overlay.overlay(text, box)(pixels, rng())
        return refused.value.reason

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
    assert missing_glyphs("cow 牛", latin) == "牛"
    monkeypatch.setattr(overlay, "FONT", latin)
    with pytest.raises(Refused, match=r"cmr10\.ttf has no glyph for '牛'"):
        overlay.overlay("牛", Box(0, 0, 40, 30))(pixels_of(0), rng())


def test_lines_break_at_spaces_and_between_chinese_characters():
    face = overlay._face(FONT, 8)
    text = "红色的汽车 and a bus，两只猫"
    assert "".join(overlay._pieces(text)) == text
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
    overlay.overlay("a cow", box)(pixels, rng())
    with pytest.raises(Refused) as refused:
        free_box(pixels, "a cow", ~np.zeros((96, 96), bool), rng(seed))
    assert refused.value.reason == "no free place"


# --- refusals of pictures and masks --------------------------------------------------------------


def test_a_transform_that_leaves_an_empty_picture_is_refused():
    image = Image.fromarray(pixels_of(0))
    for transform in (benign.brightness(0), benign.brightness(1e6), benign.scale(0.01)):
        with pytest.raises(Refused) as refused:
            apply(transform, image, rng())
        assert refused.value.reason == "empty picture"
    with pytest.raises(Refused, match="0 x 5"):
        apply(identity, Image.new("RGB", (0, 5)), rng())
    plain = Image.new("RGB", (8, 8), "navy")  # of one colour before: nothing is lost
    assert apply(identity, plain, rng()).tobytes() == plain.tobytes()
    with pytest.raises(Refused) as refused:
        apply(benign.scale(1e4), image, rng())
    assert refused.value.reason == "picture's size"


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        (np.zeros((32, 40), bool), "empty mask"),
        (np.ones((32, 40), bool), "full mask"),
        (np.ones((40, 32), bool), "mask does not fit"),
        (np.ones((32, 40), np.uint8), "mask does not fit"),
    ],
    ids=["none", "all", "turned", "numbers"],
)
def test_masks_that_mark_nothing_or_all_are_refused(mask, reason):
    for transform in (local.shade(mask, 0.1), local.texture(mask, 0.1),
                      local.occlusion(mask, 0.1), style.new_background(mask)):  # fmt: skip
        with pytest.raises(Refused) as refused:
            transform(pixels_of(0), rng())
        assert refused.value.reason == reason
    for plain in (np.full((32, 40, 3), 9, np.uint8), pixels_of(0)[:3, :3]):
        with pytest.raises(Refused) as refused:
            local.segment(plain)
        assert refused.value.reason == "no region found"


@pytest.mark.parametrize(
    "make",
    [
        lambda: benign.brightness(-1), lambda: benign.rotation(float("nan")),
        lambda: benign.scale(float("inf")), lambda: local.shade(mask_of(0), -2),
        lambda: style.stylisation(1.5), lambda: style.colour_transfer(np.zeros((0, 2, 3)), 1.0),
    ],
)  # fmt: skip
def test_amounts_that_mean_nothing_are_errors(make):
    with pytest.raises(ValueError, match="expected"):
        make()


MODES = ("RGB", "L", "RGBA", "P", "CMYK", "1", "LA", "I;16")


@examples(60)
@given(
    st.tuples(st.integers(1, 60), st.integers(1, 60)), st.sampled_from(MODES),
    st.sampled_from(OPERATIONS), st.booleans(), seeds,
)  # fmt: skip
def test_any_picture_gives_a_picture_or_a_named_refusal(size, mode, operation, masked, seed):
    values = rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    image = Image.fromarray(values).convert("L" if mode == "I;16" else mode)
    image = image.convert("I;16") if mode == "I;16" else image
    things = rng(seed).random((size[1], size[0])) < 0.4 if masked else None
    asked = Original("a", image, "What is it?", "noise", things=things)
    try:
        found = apply(operation.make(asked, rng(seed)), image, rng(seed))
    except Refused as refused:
        assert refused.reason and str(refused)
    else:
        assert found.mode == "RGB" and min(found.size) >= 1
        again = apply(operation.make(asked, rng(seed)), image, rng(seed))
        assert again.tobytes() == found.tobytes()


def test_pixels_do_not_depend_on_opencvs_threads():
    import cv2

    image = Image.fromarray(pixels_of(0, (150, 130)))
    things = mask_of(0, (150, 130))
    asked = Original("a", image, "What is it?", "noise", things=things)
    threads, found = cv2.getNumThreads(), []
    try:
        for count in (1, 2, 3):
            cv2.setNumThreads(count)
            found.append(
                [
                    apply(operation.make(asked, rng()), image, rng()).tobytes()
                    for operation in OPERATIONS
                    if operation.name != "text"
                ]
            )
    finally:
        cv2.setNumThreads(threads)
    assert found[0] == found[1] == found[2]


# --- relations -----------------------------------------------------------------------------------


def original(key="a", seed=0, **fields):
    values = {
        "question": "How many cows are there?",
        "answer": "2",
        "things": mask_of(seed, (96, 80)),
    }
    picture = Image.fromarray(pixels_of(seed, (96, 80)))
    return Original(key, picture, **(values | fields))


def test_every_relation_has_operations_and_every_case_its_relation():
    assert {operation.relation for operation in OPERATIONS} == set(RELATIONS)
    asked = np.zeros((80, 96), bool)
    asked[30:50, 30:60] = True
    found = make_cases([original(asked=asked)], 4)
    assert not found.refusals
    assert Counter(case.relation for case in found.cases) == dict.fromkeys(RELATIONS, 4)
    names = {operation.name: operation.relation for operation in OPERATIONS}
    assert all(names[case.operation] == case.relation for case in found.cases)
    used = {case.operation for case in found.cases}
    assert used == set(names) - {"mirror"}  # all come in turn
    texts = {case.question for case in found.cases}
    assert "There are how many cows?" in texts and len(texts) == 5


def test_an_originals_cases_do_not_depend_on_the_others():
    alone = make_cases([original("b", 1)], 2, seed=5).cases
    among = make_cases([original("a"), original("b", 1)], 2, seed=5).cases
    mine = [case for case in among if case.original.key == "b"]
    assert [(c.operation, c.question, c.image.tobytes()) for c in alone] == [
        (c.operation, c.question, c.image.tobytes()) for c in mine
    ]
    other = make_cases([original("b", 1)], 2, seed=6).cases
    assert [c.image.tobytes() for c in other] != [c.image.tobytes() for c in alone]


def test_text_rich_pictures_are_mirrored_and_unsafe_operations_left_out():
    found = make_cases([original(text_rich=True, unsafe=("background", "colour transfer"))], 3)
    by = Counter((case.relation, case.operation) for case in found.cases)
    assert by["MR2", "mirror"] == 3 and by["MR3", "stylisation"] == 3
    nothing = make_cases([original(unsafe=("stylisation", "background", "colour transfer"))])
    assert nothing.counts()[("MR3", "no operation")] == 1


def test_identities_give_the_original_back():
    found = make_cases([original()], 2, operations=IDENTITY, paraphraser=KeepQuestion())
    assert len(found.cases) == 8
    for case in found.cases:
        assert case.question == case.original.question
        assert case.image.tobytes() == case.original.image.tobytes()


def test_refusals_are_counted_and_nothing_takes_their_place():
    crowded = original(asked=np.ones((80, 96), bool))
    mute = original("b", question=" ")
    empty = original("c", things=np.zeros((80, 96), bool))
    foreign = original("d", texts=("مرحبا",))
    vanishing = Operation("scale", "MR1", lambda o, r: benign.scale(0.001))
    found = make_cases([crowded, mute, empty, foreign], operations=(vanishing, *OPERATIONS[3:]))
    assert len(found.cases) + len(found.refusals) == 16
    assert found.counts()[("MR1", "empty picture")] == 3
    assert found.counts()[("MR4", "no free place")] == 1
    assert found.counts()[("MR4", "glyph is missing")] == 1
    assert found.counts()[("MR2", "empty mask")] == 1
    assert sum(n for (_, reason), n in found.counts().items() if reason == "no question") == 4
    with pytest.raises(ValueError, match="Two originals have the key 'b'"):
        make_cases([mute, original("b")])
    with pytest.raises(ValueError, match="0 cases a relation"):
        make_cases([mute], 0)


def test_without_a_mask_the_region_is_segmented():
    pixels = np.full((80, 96, 3), (40, 90, 200), np.uint8)
    pixels += rng().integers(0, 6, pixels.shape, dtype=np.uint8)
    pixels[24:58, 30:66] = (220, 60, 30)
    bare = Original("a", Image.fromarray(pixels), "What is it?", "a box")
    local_edits = [op for op in OPERATIONS if op.relation == "MR2"]
    (case,) = make_cases([bare], operations=local_edits).cases
    changed = (np.asarray(case.image) != pixels).any(axis=2)
    assert changed.any() and not changed[:10].any() and not changed[:, :15].any()


def test_random_numbers_depend_on_their_names_alone():
    assert random_of(1, "a").random() == random_of(1, "a").random()
    assert (
        len({random_of(*names).random() for names in ((1, "a"), (1, "b"), ("1a",), (2, "a"))}) == 4
    )


def test_relations_are_told_as_in_table_i():
    assert list(relations.TARGETS) == list(RELATIONS)


# --- the same on every machine -------------------------------------------------------------------

DIGEST = """
import hashlib
import numpy as np
from PIL import Image
from sci_book.papers.metara.pictures import apply, random_of
from sci_book.papers.metara.benign import rotation
from sci_book.papers.metara.style import stylisation
lot = np.random.default_rng(0)
found = hashlib.sha256()
for number in range(12):
    image = Image.fromarray(lot.integers(0, 256, (48, 48, 3), dtype=np.uint8))
    for transform in (rotation(7.3), stylisation(0.8)):
        found.update(apply(transform, image, random_of(number)).tobytes())
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
