"""The store of prefixes: bounded by bytes, least recently used first, black pictures last."""

import itertools
import json
import random
from collections import Counter
from copy import deepcopy

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import tests.soak
from sci_core import SCI5, PrefixCache, Question, generate, load_model, sci, start
from sci_core.families.prefix_cache import Prefix
from tests import tiny

PROMPT = "Is there a dog? Please answer yes or no."
SIDE = st.integers(2, 130)


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
def test_pictures_of_one_content_are_one_to_the_model(kind):
    """Equal contents, equal image tokens, features and positions: so a prefix may be shared."""
    model = tiny.load(kind, "float64")
    made = {}
    sizes = itertools.product((40, 43, 56, 57, 80, 120), repeat=2)
    for size in [*sizes, (7, 5), (3, 100), (250, 90)]:
        black = model.processor.prepare(Image.new("RGB", size))
        ids = (1, *black.ids, 2)
        now = model.encode([black])[0], model.positions(ids, black)
        features, positions = made.setdefault((black.content, ids), now)
        assert torch.equal(features, now[0]) and torch.equal(positions, now[1])
    assert len(made) < 30 or kind == "llava_padded"  # whose padding differs from size to size


@pytest.mark.parametrize("kind", sorted({*tiny.KINDS} - {"llava_padded"}))
def test_sizes_that_become_one_content_share_black(kind, black_reads):
    """In one batch or several, and black is prepared once a size, not once a question."""
    model = tiny.load(kind)
    sizes = [(56, 56 + k) for k in range(4)] + [(640, 480), (320, 240), (160, 120), (321, 240)]
    images = [Image.effect_noise(size, 50).convert("RGB") for size in sizes]
    contents = {model.processor.prepare(Image.new("RGB", size)).content for size in sizes}
    assert len(contents) <= len(sizes) // 2
    store = PrefixCache(constants_only=True)
    counts = black_reads(model)
    for batch_size in (8, 1):
        prompts = [PROMPT] * len(images)
        how = {"gate": False, "batch_size": batch_size, "prefixes": store}
        generate(model, images, prompts, sci(1, 0), 1, **how)
        assert counts["black"] == len(contents) == len(store)


def padded(**more):
    return "llava", {"image_processor_type": "LlavaImageProcessor", "do_pad": True, **more}


TO_32 = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
MEANS = {"image_mean": [0.9, 0.1, 0.4], "image_std": [0.3, 0.2, 0.1]}
PIXELS = {
    "padded to a square with the mean colour": padded(**TO_32),
    "padded with a colour of its own": padded(**TO_32, **MEANS),
    "padded, not cropped": padded(size={"height": 32, "width": 32}, do_center_crop=False),
    "cropped from larger": ("llava", {**TO_32, "size": {"shortest_edge": 50}}),
    "cropped from smaller, so padded with black": (
        "llava",
        {**TO_32, "size": {"shortest_edge": 20}, **MEANS},
    ),
    "not resized": ("llava", {**TO_32, "do_resize": False}),
    "not normalised": ("llava", {**TO_32, "do_normalize": False}),
    "tiles of other colours": ("llava_next", MEANS),
    "tiles, packed": ("llava_onevision", MEANS),
    "tiles without a thumbnail's place": ("internvl", {"max_patches": 2, **MEANS}),
    "one square for all": ("smolvlm", {"do_image_splitting": False}),
    "grids": ("qwen2_5_vl", MEANS),
}


@pytest.fixture
def with_pixels(monkeypatch, tmp_path):
    """A tiny model whose image processor has other settings."""

    def make(kind, settings):
        model = tiny.load(kind, "float64")
        pixels = {**tiny.KINDS[kind].pixels, **settings}
        (tmp_path / "preprocessor_config.json").write_text(json.dumps(pixels))
        processor = transformers.AutoImageProcessor.from_pretrained(tmp_path, backend="pil")
        monkeypatch.setattr(model.processor, "image_processor", processor)
        return model

    return make


@pytest.mark.parametrize("pixels", PIXELS)
def test_no_answer_depends_on_the_other_pictures_however_they_are_preprocessed(pixels, with_pixels):
    """Black of one size is not taken for that of another that it differs from."""
    model = with_pixels(*PIXELS[pixels])

    @tests.soak.examples(5)
    @given(st.lists(st.tuples(SIDE, SIDE), min_size=2, max_size=4), st.randoms())
    def holds(sizes, generator):
        store = PrefixCache()
        asked = [
            Question(tiny.random_image(generator).resize(size), tiny.random_prompt(generator))
            for size in sizes
        ]
        rounds = ("original", "black", "noise500")
        slow = start(model, asked, rounds, "sequential").logits
        together = start(model, asked, rounds, prefixes=store).logits
        torch.testing.assert_close(together, slow, atol=1e-9, rtol=0)
        for number, question in enumerate(asked):
            (alone,) = start(model, [question], rounds, prefixes=store).logits.unbind(dim=1)
            torch.testing.assert_close(alone, slow[:, number], atol=1e-9, rtol=0)

    holds()


CHANGES = {
    "do_normalize": ("llava", False),
    "image_mean": ("qwen2_vl", (0.2, 0.3, 0.9)),
    "do_rescale": ("internvl", False),
    "resample": ("llava_next", 0),
    "size": ("qwen3_vl", {"shortest_edge": 1024, "longest_edge": 2048}),
    "image_std": ("smolvlm", [0.1, 0.2, 0.3]),
}


@pytest.mark.parametrize("setting", CHANGES)
def test_a_kept_store_is_not_stale_when_the_image_processor_is_changed_in_place(
    setting, with_pixels
):
    kind, value = CHANGES[setting]
    model = with_pixels(kind, {})
    images, prompts = tiny.random_questions(random.Random(setting), 3)
    asked = [Question(*pair) for pair in zip(images, prompts, strict=True)]
    rounds = ("original", "black", "noise500")
    store = PrefixCache()
    before = start(model, asked, rounds, prefixes=store).logits
    old = getattr(model.processor.image_processor, setting)
    made = type(model.processor.image_processor)(**{setting: value})
    setattr(model.processor.image_processor, setting, getattr(made, setting))
    after = start(model, asked, rounds, prefixes=store).logits
    slow = start(model, asked, rounds, "sequential").logits
    torch.testing.assert_close(after, slow, atol=1e-9, rtol=0)
    assert (after - before).abs().max() > 1e-6
    setattr(model.processor.image_processor, setting, old)
    misses = store.misses
    again = start(model, asked, rounds, prefixes=store).logits
    assert store.misses == misses  # what was kept of the settings as they were
    torch.testing.assert_close(again, before, atol=1e-9, rtol=0)


def without_a_shift(model):
    processor = model.processor.image_processor
    processor.image_mean = [*processor.image_mean[:1], 9.0, *processor.image_mean[2:]]


def fewer_pixels(model):
    model.processor.image_processor.size["longest_edge"] = 16 * 16 * 4


def twice_as_bright(model):
    own = model.processor.image_processor.normalize
    model.processor.image_processor.normalize = lambda *of, **how: own(*of, **how) * 2


def another_processor(model):
    processor = deepcopy(model.processor.image_processor)
    processor.do_rescale = False
    model.processor.image_processor = processor


def another_template(model):
    model.processor.chat_template = "Look! " + model.tokenizer.chat_template


@pytest.mark.parametrize(
    "change",
    [without_a_shift, fewer_pixels, twice_as_bright, another_processor, another_template],
    ids=lambda change: change.__name__,
)
def test_a_kept_store_is_not_stale_whatever_of_a_processor_is_changed(change):
    """A list or a mapping inside it, what it does, itself, or how a turn is written."""
    model = load_model(tiny.checkpoint("qwen2_vl"), dtype="float64", device="cpu")
    asked = [
        Question(*one) for one in zip(*tiny.random_questions(random.Random(4), 3), strict=True)
    ]
    rounds = ("original", "black", "noise500")
    store = PrefixCache()
    before = start(model, asked, rounds, prefixes=store).logits
    change(model)
    after = start(model, asked, rounds, prefixes=store).logits
    slow = start(model, asked, rounds, "sequential").logits
    torch.testing.assert_close(after, slow, atol=1e-9, rtol=0)
    assert (after - before).abs().max() > 1e-6


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
