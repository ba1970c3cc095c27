"""Scenes obey their own rules, and training is skewed where evaluation is not."""

from dataclasses import replace

import numpy as np
import pytest

from sci_book.pocket.world import CELLS, COLOURS, KINDS, PLACES, Lot, sample_scene


def scenes(lot, count=600):
    rng = np.random.default_rng(0)
    return [sample_scene(rng, lot) for _ in range(count)]


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0])
def test_a_scene_is_well_formed(skew):
    for scene in scenes(Lot(skew)):
        cells = [thing.cell for thing in scene.things]
        assert len(set(cells)) == len(cells) and cells == sorted(cells)
        assert all(0 <= cell < len(CELLS) for cell in cells)
        assert scene.kinds and scene.place in PLACES
        for kind in scene.kinds:
            assert len({(t.colour, t.on) for t in scene.of(kind)}) == 1
        assert (scene.sign is None) or scene.sign.text is not None


def test_skew_is_the_share_of_usual_colours():
    for skew in (0.0, 0.8, 1.0):
        usual = [
            scene.of(kind)[0].colour == KINDS[kind].colour
            for scene in scenes(Lot(skew), 1500)
            for kind in scene.kinds
        ]
        assert abs(np.mean(usual) - skew) < 0.02


def test_the_same_generator_gives_the_same_scene():
    lot = Lot(0.5)
    first = sample_scene(np.random.default_rng([3, 4]), lot)
    assert sample_scene(np.random.default_rng([3, 4]), lot) == first
    assert replace(first, light="fog") != first


def test_every_usual_value_exists():
    for kind in KINDS.values():
        assert kind.colour in COLOURS and kind.places and set(kind.places) <= set(PLACES)
        assert 1 <= kind.count <= 5 and 0 <= kind.cell < len(CELLS)
