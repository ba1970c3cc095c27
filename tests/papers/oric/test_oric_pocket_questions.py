"""The frozen pocket questions: what the construction makes, balanced, on shared pictures."""

import numpy as np
import pandas as pd
import pytest

from sci_book.data.datasets import load_dataset
from sci_book.papers.oric import annotations, pocket_questions, pope
from sci_book.papers.oric.annotations import Picture
from sci_book.papers.oric.areas import split
from sci_book.papers.oric.encoder import ClipEncoder
from sci_book.papers.oric.scores import SIZES, size_of
from sci_book.pocket import oric
from sci_book.pocket.world import KINDS
from sci_book.resources import CHECKPOINTS

CLIP = CHECKPOINTS / "pocket-clip"


@pytest.fixture(scope="module")
def frozen():
    return pd.read_csv(pocket_questions.QUESTIONS).astype({"area": "Int64"})


@pytest.fixture(scope="module")
def scenes():
    """The scenes that the questions were looked for in, annotated; nothing is drawn."""
    drawn = [oric.scene("val", 0, n) for n in range(pocket_questions.SCENES["val"])]
    return annotations.read(oric.annotations("val", drawn))


def test_three_sets_of_one_size_and_balanced(frozen):
    counts = frozen.groupby(["set", "pair", "label"]).size()
    assert (counts == pocket_questions.OBJECTS).all() and len(counts) == 3 * 2 * 100
    assert not frozen.duplicated(["set", "image", "object"]).any()
    sets = {name: part for name, part in frozen.groupby("set")}
    for label in ("yes", "no"):
        images = {k: v.loc[v["label"] == label, "image"].tolist() for k, v in sets.items()}
        assert images["bench"] == images["pope"]
        assert (images["random"] == images["bench"]) == (label == "no")


def test_every_label_and_area_is_the_scenes(frozen, scenes):
    for one in frozen.itertuples():
        picture = scenes.by_name[one.image]
        assert (one.object in picture.present) == (one.label == "yes")
        if one.label == "yes":
            assert one.area == picture.areas[one.object]
            roi, _ = split(picture.areas)
            assert one.set != "bench" or one.object in roi


@pytest.mark.slow
def test_the_construction_makes_them_again(frozen, tmp_path):
    """Cosines may differ in the last digit on another machine; a pair or two may then."""
    made = pocket_questions.choose_questions(ClipEncoder(CLIP), tmp_path)
    assert made.columns.tolist() == frozen.columns.tolist() and len(made) == len(frozen)
    keys = ["set", "pair", "image", "object", "label"]
    same = pd.merge(made[keys], frozen[keys]).shape[0]
    assert same >= 0.98 * len(frozen)


def test_the_encoder_is_small_safe_and_of_clips_class():
    weights = [path for path in CLIP.iterdir() if path.stat().st_size > 1_000_000]
    assert [path.name for path in weights] == ["model.safetensors"]
    assert weights[0].stat().st_size <= 10_000_000
    assert '"CLIPModel"' in (CLIP / "config.json").read_text(encoding="utf-8")


def test_the_pocket_sets_load_and_are_drawn_once():
    pocket_questions.draw(say=lambda _: None)
    said = []
    pocket_questions.draw(say=said.append)
    data = load_dataset(pocket_questions.SET)
    assert not said and len(data) == 4_800 and not any(row.problem for row in data)
    assert {row.question.rpartition("? ")[2] for row in data} == {"Please answer yes or no."}
    assert len({row.group for row in data}) == len({row.image_hash for row in data})


def test_limits_give_objects_the_shares_of_coco(scenes):
    areas = [area for picture in scenes.pictures for area in picture.areas.values()]
    sizes = np.bincount([SIZES.index(size_of(area)) for area in areas], minlength=3)
    # Of as many objects one share varies from world to world by less than a point.
    assert len(areas) > 3_000
    assert sizes / len(areas) == pytest.approx(np.array([41.3, 34.2, 24.4]) / 99.9, abs=0.03)


# --- POPE's sampling ----------------------------------------------------------------------------

BOX = ((0.0, 0.0, 1.0, 1.0),)
PICTURE = Picture("a.png", {"cow": BOX, "tree": BOX}, frozenset({"cow", "tree", "car"}))


def test_present_objects_are_any_with_a_box():
    drawn = {pope.present(PICTURE, 1, np.random.default_rng(seed)) for seed in range(20)}
    assert drawn == {("cow",), ("tree",)}
    with pytest.raises(ValueError, match=r"a\.png has 2 objects; expected 3 or more"):
        pope.present(PICTURE, 3, np.random.default_rng(0))


def test_adversarial_objects_stand_beside_the_pictures_own():
    known = [
        ("cow", "sheep", "tree"),
        ("cow", "sheep"),
        ("boat", "fish"),
        ("car", "bus"),
        ("fish",),
    ]
    assert pope.adversarial(PICTURE, 2, KINDS, known) == ("sheep", "bus")
    assert pope.adversarial(PICTURE, 3, KINDS, known)[2] == "boat"  # of equals the first
    with pytest.raises(ValueError, match="16 absent objects; expected 17"):
        pope.adversarial(PICTURE, 17, KINDS, known)
