"""Pictures of scenes: the same everywhere, and each thing apart from the others."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sci_book.pocket.draw import CELL, SIZE, boxes, draw, empty_picture, masks
from sci_book.pocket.pen import PAINT
from sci_book.pocket.shapes import SHAPES
from sci_book.pocket.sprites import HALO, MARGIN
from sci_book.pocket.world import COLOURS, KINDS, LIGHTS, PLACES, SYMBOLS, Scene, Thing

# of the pixels of the twenty scenes below; a change of the drawing changes the data sets
DIGEST = "1046264146ebf4ce08e731283b8aed8a"


def _scene(number: int) -> Scene:
    """A scene that walks through places, lights, kinds and colours as `number` grows."""
    names = tuple(KINDS)
    things = [
        Thing(names[(3 * number + i) % 19], COLOURS[(number + 2 * i) % 9], (number + 2 * i) % 9,
              on=bool(number % 2) if names[(3 * number + i) % 19] == "lamp" else None)
        for i in range(number % 6)
    ]  # fmt: skip
    sign = Thing("sign", "white", (number + 7) % 9, text=SYMBOLS[number % 10])
    light = LIGHTS[number % 4] if number % 3 == 0 else "clear"
    return Scene(PLACES[number % 6], (*things, sign), light, 1_000_003 * number)


SCENES = tuple(_scene(number) for number in range(20))


def _around(scene: Scene, index: int) -> np.ndarray:
    """The box of one thing widened by its shadow or halo, bool [SIZE, SIZE]."""
    thing, (left, top, right, bottom) = scene.things[index], boxes(scene)[index]
    reach = 2 * HALO if thing.on else 2 * MARGIN
    near = np.zeros((SIZE, SIZE), bool)
    near[max(top - reach, 0) : bottom + reach, max(left - reach, 0) : right + reach] = True
    return near


def test_the_pixels_are_the_same_on_every_machine() -> None:
    digest = hashlib.md5(b"".join(draw(scene).tobytes() for scene in SCENES)).hexdigest()
    assert digest == DIGEST


@pytest.mark.parametrize("scene", SCENES)
def test_a_picture_does_not_depend_on_what_was_drawn_before(scene: Scene) -> None:
    first = draw(scene)
    draw(_scene(7))
    assert first.shape == (SIZE, SIZE, 3) and first.dtype == np.uint8
    assert np.array_equal(first, draw(scene))
    assert np.array_equal(first, draw(replace(scene, things=scene.things[::-1])))


def test_every_kind_and_colour_is_drawn_and_colours_differ() -> None:
    assert tuple(PAINT) == COLOURS and set(SHAPES) == {*KINDS, "sign", "lit lamp"}
    for kind, cell in zip(KINDS, 3 * tuple(range(9)), strict=False):
        pictures = [
            draw(Scene("kitchen", (Thing(kind, colour, cell),), "clear", 5)) for colour in COLOURS
        ]
        inside = masks(Scene("kitchen", (Thing(kind, "red", cell),), "clear", 5))[0]
        means = np.array([picture[inside].mean(0) for picture in pictures])
        gaps = np.abs(means[:, None] - means[None]).sum(-1) + 1000 * np.eye(len(COLOURS))
        assert gaps.min() > 20, f"two colours of {kind} look alike"


@pytest.mark.parametrize("scene", SCENES)
def test_boxes_and_masks_agree_and_stay_in_the_cell(scene: Scene) -> None:
    covered = masks(scene)
    assert covered.shape == (len(scene.things), SIZE, SIZE) and covered.dtype == bool
    for thing, mask, (left, top, right, bottom) in zip(
        scene.things, covered, boxes(scene), strict=True
    ):
        assert mask[top:bottom, left:right].sum() == mask.sum() > 80
        assert mask[top].any() and mask[bottom - 1].any()
        assert mask[:, left].any() and mask[:, right - 1].any()
        row, column = divmod(thing.cell, 3)
        assert row * CELL <= top < bottom <= (row + 1) * CELL
        assert column * CELL <= left < right <= (column + 1) * CELL


@pytest.mark.parametrize("scene", SCENES[1:])
def test_a_new_colour_changes_the_thing_alone(scene: Scene) -> None:
    thing = scene.things[0]
    other = replace(thing, colour="red" if thing.colour != "red" else "blue")
    changed = replace(scene, things=(other, *scene.things[1:]))
    assert boxes(changed) == boxes(scene)
    differs = (draw(scene) != draw(changed)).any(-1)
    assert differs[masks(scene)[0]].mean() > 0.3
    # the outline fades over one pixel outside the mask
    mask = masks(scene)[0]
    wide = np.pad(mask, 1)
    rim = np.any([wide[y : y + SIZE, x : x + SIZE] for y, x in product(range(3), repeat=2)], axis=0)
    assert not differs[~rim].any()


@pytest.mark.parametrize("scene", SCENES)
def test_a_thing_that_goes_leaves_the_rest_as_it_was(scene: Scene) -> None:
    index = len(scene.things) // 2
    kept = scene.things[:index] + scene.things[index + 1 :]
    fewer = replace(scene, things=kept)
    differs = (draw(scene) != draw(fewer)).any(-1)
    assert differs.any()
    assert not differs[~_around(scene, index)].any()
    assert boxes(fewer) == boxes(scene)[:index] + boxes(scene)[index + 1 :]


def test_a_lamp_that_is_on_shines() -> None:
    off = Scene("bedroom", (Thing("lamp", "blue", 4, on=False),), "dusk", 3)
    on = Scene("bedroom", (Thing("lamp", "blue", 4, on=True),), "dusk", 3)
    middle = np.s_[CELL : 2 * CELL, CELL : 2 * CELL]
    assert draw(on)[middle].mean() > draw(off)[middle].mean() + 4


def test_the_ten_symbols_differ() -> None:
    signs = [
        draw(Scene("street", (Thing("sign", "white", 4, text=text),), "clear", 8))
        for text in SYMBOLS
    ]
    for i, j in product(range(10), repeat=2):
        assert i == j or (np.abs(signs[i].astype(int) - signs[j]).max(-1) > 60).sum() >= 12


def test_light_changes_the_picture_not_the_place_of_things() -> None:
    clear = _scene(5)
    level = {light: draw(replace(clear, light=light)).mean() for light in LIGHTS}
    assert level["dusk"] < level["clear"] - 40 < level["clear"] + 15 < level["fog"]
    assert len({boxes(replace(clear, light=light)) for light in LIGHTS}) == 1


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (Scene("moon", (), "clear", 0), "no place 'moon'"),
        (Scene("sea", (), "night", 0), "no light 'night'"),
        (Scene("sea", (Thing("ufo", "red", 0),), "clear", 0), "no kind 'ufo'"),
        (Scene("sea", (Thing("boat", "pink", 0),), "clear", 0), "no colour 'pink'"),
        (Scene("sea", (Thing("sign", "white", 0, text="Q"),), "clear", 0), "cannot say 'Q'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(scene: Scene, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(scene)


def test_a_picture_of_nothing_is_no_dummy_of_the_papers():
    kinds, other = set(), Scene("sea", (), "clear", 0)
    for seed in range(30):
        picture = empty_picture(np.random.default_rng(seed), other)
        assert picture.shape == (SIZE, SIZE, 3) and picture.dtype == np.uint8
        assert picture.any()  # black is a dummy of the paper's
        rows = len(np.unique(picture.reshape(SIZE, -1), axis=0))
        flat = (picture == picture[:, :1]).all()
        kinds.add("flat" if rows == 1 else "slope" if flat else "static")
        assert (picture == draw(other)).mean() < 0.35  # by chance too
    assert kinds == {"flat", "slope", "static"}
