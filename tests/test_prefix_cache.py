"""The store of prefixes: bounded by bytes, least recently used first, black pictures last."""

import itertools
import random
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_core import SCI5, PrefixCache, generate, sci
from sci_core.families.prefix_cache import Prefix
from tests import tiny

PROMPT = "Is there a dog? Please answer yes or no."


def prefix(slots):
    """A prefix of 16 bytes a slot."""
    return Prefix(((torch.zeros(1, slots, 2), torch.zeros(1, slots, 2)),))


def test_bytes_are_those_of_all_keys_and_values():
    assert prefix(3).bytes == 48


def test_what_was_used_longest_ago_leaves():
    store = PrefixCache(limit=48)
    for name in "abc":
        store.put(name, prefix(1), False)
    assert store.get("a") is not None
    store.put("d", prefix(1), False)
    assert [name in store for name in "abcd"] == [True, False, True, True]
    assert (store.bytes, store.hits, store.misses) == (48, 1, 0)
    assert store.get("b") is None and store.misses == 1


def test_black_pictures_outlast_the_others():
    """A batch's noisy pictures may fill the store; black is needed again by every batch."""
    store = PrefixCache(limit=48)
    store.put("black", prefix(1), True)
    for name in range(10):
        store.put(name, prefix(1), False)
    assert "black" in store and len(store) == 3
    store.put("other size", prefix(3), True)
    assert "black" not in store and store.bytes == 48


@pytest.mark.parametrize("limit", [0, 15])
def test_a_prefix_larger_than_the_limit_is_not_kept(limit):
    store = PrefixCache(limit)
    store.put("a", prefix(1), False)
    assert (len(store), store.bytes) == (0, 0)


def test_a_store_of_constants_keeps_nothing_else():
    store = PrefixCache(constants_only=True)
    store.put("noise", prefix(1), False)
    store.put("black", prefix(1), True)
    assert "noise" not in store and "black" in store


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.booleans())), st.integers(0, 99))
def test_it_never_holds_more_than_its_limit(puts, limit):
    store = PrefixCache(limit)
    sizes = {}
    for key, slots, constant in puts:
        if store.get(key) is None:
            store.put(key, prefix(slots), constant)
            sizes[key] = slots if key in store else 0
        held = sum(16 * sizes[key] for key in sizes if key in store)
        assert held == store.bytes <= limit
    assert store.hits + store.misses == len(puts)


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="0 or more; got -1"):
        PrefixCache(-1)


def test_it_says_what_it_holds():
    store = PrefixCache(100)
    store.put("a", prefix(1), False)
    store.get("a")
    assert repr(store) == "PrefixCache: 1 prefixes, 16 of 100 bytes, 1 hits, 0 misses"


def test_models_do_not_share_prefixes():
    """One store may serve several models, the same checkpoint in another precision among them."""
    store = PrefixCache()
    images, prompts = tiny.random_questions(random.Random(1), 3)
    for model in (tiny.load("qwen2_vl"), tiny.load("qwen2_vl", "float64"), tiny.load("llava_next")):
        alone = generate(model, images, prompts, SCI5, 4, prefixes=PrefixCache(0))
        held = len(store)
        assert generate(model, images, prompts, SCI5, 4, prefixes=store) == alone
        assert len(store) > held


def test_pictures_of_one_size_share_black_and_questions_share_noise():
    model = tiny.load("qwen2_vl", "float64")
    generator = random.Random(2)
    image = tiny.random_image(generator)
    store = PrefixCache()
    # Without a gate, so that every visual round is read.
    for number in range(3):
        generate(
            model, [image], [tiny.random_prompt(generator)], SCI5, 1, prefixes=store, gate=False
        )
        assert (store.misses, store.hits) == (3, 3 * number)  # original, black, noise
    other = image.transpose(1)  # upside down: another picture, the same size
    generate(model, [other], [tiny.random_prompt(generator)], SCI5, 1, prefixes=store, gate=False)
    assert (store.misses, store.hits) == (5, 7)


# --- how often black is read, by counts -----------------------------------------------------------


@pytest.fixture
def black_reads(monkeypatch):
    """Counts the black pictures that a model encodes."""

    def count(model):
        counts, encode = Counter(), model.encode

        def counting(pictures):
            # What is black in every pixel has one value a channel.
            for picture in pictures:
                pixels = picture.inputs["pixel_values"]
                counts["black"] += pixels.unique().numel() <= 3
            return encode(pictures)

        monkeypatch.setattr(model, "encode", counting)
        return counts

    return count


def one_black_at_a_time(model, image):
    """A store with room for the prefix of one black picture."""
    store = PrefixCache(constants_only=True)
    generate(model, [image], [PROMPT], sci(1, 0), 1, gate=False, prefixes=store)
    assert len(store) == 1
    return PrefixCache(store.bytes * 3 // 2, constants_only=True)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_black_is_known_by_the_shape_of_the_picture_it_stands_for(kind):
    """Equal shapes, equal black pictures: it takes the size of neither."""
    model = tiny.load(kind)
    made = {}
    for width, height in itertools.product((40, 43, 56, 57, 80, 120), repeat=2):
        shown = Image.effect_noise((width, height), 50).convert("RGB")
        shape = model.processor.prepare(shown).shape
        black = model.processor.prepare(Image.new("RGB", shown.size))
        assert black.shape == shape
        for name, values in made.setdefault(shape, black).inputs.items():
            assert torch.equal(values, black.inputs[name])
    # What LLaVA-NeXT's kind makes of a picture depends on its size in pixels.
    assert len(made) < 36 or "image_sizes" in black.inputs


@pytest.mark.parametrize("kind", ["llava", "qwen2_vl"])
def test_sizes_that_become_one_shape_share_black(kind, black_reads):
    model = tiny.load(kind)
    images = [Image.effect_noise((56, 56 + k), 50).convert("RGB") for k in range(4)]
    shapes = {model.processor.prepare(image).shape for image in images}
    assert len(shapes) < len(images)
    counts = black_reads(model)
    generate(model, images, [PROMPT] * 4, sci(1, 0), 1, gate=False, batch_size=1)
    assert counts["black"] == len(shapes)


def test_black_of_every_size_is_read_once_where_the_store_holds_one(black_reads):
    """Pictures on their side have as many pixels, and come after those that stand."""
    model = tiny.load("qwen2_vl")
    sizes = [(56, 112), (112, 56), (56, 84), (84, 56)]
    images = [Image.effect_noise(sizes[k % 4], 50).convert("RGB") for k in range(16)]
    store = one_black_at_a_time(model, images[0])
    counts = black_reads(model)
    prompts = [PROMPT + " " * (k // 4) for k in range(16)]  # of several lengths
    generate(model, images, prompts, sci(1, 0), 1, gate=False, batch_size=2, prefixes=store)
    assert counts["black"] == len(sizes)
