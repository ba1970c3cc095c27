"""Pictures as a model reads them: pixel limits, and dummies made of the resized picture."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from transformers import AutoImageProcessor

from sci_book.data.datasets import load_dataset
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import read_stamp
from sci_book.run.layout import make_plan, noise_of
from sci_core import counterfactual_image, load_model
from sci_core.counterfactuals import reduced
from sci_core.engine.questions import prepare_picture
from sci_core.families.adapters import FAMILIES
from tests import tiny
from tests.data import formats
from tests.soak import examples

KINDS = [kind for kind in tiny.KINDS if kind in FAMILIES]
FOLLOW = [kind for kind in KINDS if FAMILIES[kind].resizes_once]
TILES = [kind for kind in KINDS if not FAMILIES[kind].resizes_once]
POCKET = Path(__file__).parents[1] / "checkpoints"


def photograph(seed, size):
    """Blocks of colour with edges: what shrinking leaves and what it averages away."""
    blocks = np.random.default_rng(seed).integers(0, 256, (9, 9, 3), np.uint8)
    return Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST)


def processor_of(kind, asked):
    """As `load_model` makes it, without weights."""
    own = tiny.load(kind).processor
    limited = AutoImageProcessor.from_pretrained(tiny.checkpoint(kind), backend="pil", **asked)
    return replace(own, image_processor=limited)


@st.composite
def limits(draw):
    least, most = sorted(draw(st.tuples(st.integers(1, 40_000), st.integers(2_000, 40_000))))
    both = {"min_pixels": least, "max_pixels": most}
    return draw(st.sampled_from([{}, {"max_pixels": most}, both]))


@examples(40)
@given(st.sampled_from(FOLLOW), limits(), st.integers(2, 400), st.integers(2, 400))
def test_a_picture_resized_first_is_read_as_the_image_processor_reads_it(kind, asked, wide, high):
    processor = processor_of(kind, asked)
    image = photograph(0, (wide, high))
    resized = processor.as_read(image)
    whole, parts = processor.prepare(image), processor.prepare(resized, read_before=True)
    assert whole.tokens == parts.tokens
    assert all(torch.equal(whole.inputs[name], parts.inputs[name]) for name in whole.inputs)
    if resized.size == image.size:
        assert resized is image


@pytest.mark.parametrize("kind", FOLLOW)
@pytest.mark.parametrize(
    "asked", [{"min_pixels": 30_000, "max_pixels": 60_000}, {"max_pixels": 2_000}, {}]
)
@pytest.mark.parametrize("name", ["black", "noise500", "noise400", "tinynoise500"])
def test_dummies_are_made_of_the_resized_picture(kind, asked, name):
    """By hand: at the size that is read, then smaller if the dummy is, then noise, then read."""
    processor = processor_of(kind, asked)
    image = photograph(1, (150, 90))
    shown, tiny_one = processor.as_read(image), name.startswith("tiny")
    noisy = counterfactual_image(
        reduced(shown, 4) if tiny_one else shown, name.removeprefix("tiny")
    )
    expected = processor.prepare(noisy, read_before=not tiny_one)
    found = prepare_picture(processor, image, name, "wrap")
    assert all(torch.equal(expected.inputs[key], found.inputs[key]) for key in expected.inputs)
    if asked and "noise" in name and not tiny_one:  # the order is seen where a picture is resized
        first = processor.prepare(counterfactual_image(image, name))
        assert not torch.equal(first.inputs["pixel_values"], found.inputs["pixel_values"])


@pytest.mark.parametrize("kind", TILES)
def test_where_pictures_are_cut_noise_is_added_as_published(kind):
    processor = tiny.load(kind).processor
    image = photograph(2, (130, 70))
    assert processor.as_read(image) is image
    expected = processor.prepare(counterfactual_image(image, "noise500"))
    found = prepare_picture(processor, image, "noise500", "wrap")
    assert all(torch.equal(expected.inputs[key], found.inputs[key]) for key in expected.inputs)


@pytest.mark.parametrize("kind", FOLLOW)
def test_limits_settle_how_many_tokens_a_picture_has(kind):
    image = photograph(3, (120, 80))
    own = load_model(tiny.checkpoint(kind))
    more = load_model(tiny.checkpoint(kind), min_pixels=60_000, max_pixels=90_000)
    less = load_model(tiny.checkpoint(kind), max_pixels=4_000)
    counts = [model.processor.prepare(image).tokens for model in (less, own, more)]
    assert counts == sorted(set(counts))
    assert own.pixel_limits == {} and less.pixel_limits == {"max_pixels": 4_000}


@pytest.mark.parametrize(
    ("kind", "asked", "said"),
    [
        *((kind, {"max_pixels": 1000}, f"family {kind}.*qwen2_vl") for kind in TILES),
        ("qwen2_vl", {"min_pixels": 0}, "min_pixels=0 .*from 1 up"),
        ("qwen2_vl", {"max_pixels": -5}, "max_pixels=-5 .*from 1 up"),
        ("qwen2_vl", {"min_pixels": True}, "min_pixels=True .*whole numbers"),
        ("qwen2_vl", {"min_pixels": 9, "max_pixels": 8}, "the smaller first"),
        ("qwen2_vl", {"min_pixels": 10**9}, "at least 1000000000 and at most .*give both"),
        ("qwen2_5_vl", {"max_pixels": 1}, "at most 1 pixels; give both"),
    ],
)
def test_limits_that_cannot_be_are_refused(kind, asked, said):
    with pytest.raises(ValueError, match=said):
        load_model(tiny.checkpoint(kind), **asked)


@pytest.mark.slow
def test_pocket_pictures_are_not_resized():
    """But for MetaRA's crops and sheets; records of the others need not say of what dummies are."""
    names = ("pocket-qwen2vl", "pocket-qwen2vl-small", "pocket-llavanext")
    processors = [load_model(POCKET / name).processor for name in names]
    for data, folder in (("pocket", ""), ("pocket_cvqa", "cvqa"), ("pocket_oric", "oric")):
        images = [row.image() for row in load_dataset(data, limit=60).rows]
        assert all(each.as_read(image) is image for each in processors for image in images)
        stamp = read_stamp(FROZEN_RECORDS / folder / f"{names[0]}.parquet")
        assert noise_of(stamp) == "unresized"
    sheets = [row.image() for row in load_dataset("pocket_metara_sheets", limit=60).rows]
    assert any(processors[0].as_read(image) is not image for image in sheets)


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen3_vl", "llava"])
@pytest.mark.parametrize("side", [64, 57])
def test_a_run_says_of_what_its_dummies_were_made(kind, side, tmp_path):
    """A stamp that says nothing is of pictures that nothing resized, or of an older run."""
    model = tiny.load(kind)
    formats.write_tsv(tmp_path / "q.tsv", ["q", "a", "i"], [
        ["Is it? Please answer yes or no.", "yes", formats.encoded(formats.png(side))]
    ])  # fmt: skip
    columns = {"question": "q", "answer": "a", "image": "i"}
    path = formats.write_own(tmp_path / "m.yaml", "q.tsv", columns=columns, question_type="yesno")
    data = load_dataset(path)
    (row,) = data.rows
    resized = model.size_as_read(model.processor.image_processor, row.image().size)
    changes = model.resizes_once and resized != row.image().size
    plans = {noise: make_plan(model, data, ["VCD"], noise=noise) for noise in ("wrap", "unresized")}
    assert ("dummies" in plans["wrap"].stamp) == changes
    assert "dummies" not in plans["unresized"].stamp
    assert plans["unresized"].noise == "unresized"
    assert plans["wrap"].noise == ("wrap" if changes else "unresized")
    shown = [prepare_picture(model.processor, row.image(), "noise500", n) for n in plans]
    same = torch.equal(*(picture.inputs["pixel_values"] for picture in shown))
    assert same != changes


@pytest.mark.parametrize(
    "asked", [{"min_pixels": 1280 * 784, "max_pixels": 16384 * 784}, {"max_pixels": 60 * 784}]
)
def test_a_photographs_dummy_hides_it_at_the_size_that_is_read(asked, real):
    """Spread and correlation with the picture, against an oracle written from the description.

    Qwen2-VL's patches of 14 pixels in twos, at the published limits (photographs are enlarged) and
    at small ones (they are shrunk, as those of a telephone are at the published ones).
    """
    files = sorted((real / "coco_mini" / "images").glob("*.jpg"))
    processor = processor_of("qwen2_vl", asked)
    processor.image_processor.patch_size, processor.image_processor.merge_size = 14, 2
    step = np.linspace(-6, 6, 1000)
    abar = np.prod((1 - (1 / (1 + np.exp(-step)) * (0.005 - 1e-5) + 1e-5))[:501])
    found, expected, noised_first = [], [], []
    for seed, file in enumerate(random.Random(0).sample(files, 6)):
        image = Image.open(file).convert("RGB")
        width, height = image.size
        least, most = asked.get("min_pixels", 0), asked["max_pixels"]
        scale = max(1, (least / width / height) ** 0.5) * min(1, (most / width / height) ** 0.5)
        sides = [28 * round(side * scale / 28) for side in image.size]
        plain = np.asarray(image.resize(sides, Image.Resampling.BICUBIC)) / 255
        normal = np.random.default_rng(seed).standard_normal
        noisy = abar**0.5 * plain + (1 - abar) ** 0.5 * normal(plain.shape)
        expected.append(spread(np.trunc(noisy * 255) % 256, plain))

        shown = counterfactual_image(image, "noise500", as_read=processor.as_read)
        found.append(spread(np.asarray(shown, float), np.asarray(processor.as_read(image)) / 255))
        before = counterfactual_image(image, "noise500").resize(
            shown.size, Image.Resampling.BICUBIC
        )
        noised_first.append(spread(np.asarray(before, float), np.asarray(processor.as_read(image))))
    found, expected, noised_first = map(np.array, (found, expected, noised_first))
    assert np.abs(found[:, 0] - expected[:, 0]).max() < 0.5  # levels of 255
    assert np.abs(found[:, 1] - expected[:, 1]).max() < 0.02
    assert found[:, 0].min() > 70 and found[:, 1].mean() < 0.2
    assert (noised_first[:, 0] < found[:, 0] - 2).all()
    if "min_pixels" not in asked:
        assert noised_first[:, 0].max() < 50 and (noised_first[:, 1] > found[:, 1]).all()


def spread(values, picture):
    """Standard deviation of a dummy's values, and their correlation with the picture's."""
    return values.std(), np.corrcoef(values.ravel(), picture.ravel())[0, 1]
