"""Every family obeys the same laws: one answer, whichever way it is decoded.

Tiny random checkpoints of the real classes, in float64, where no tie is near. The reference is
twofold: transformers' own processor and `generate` for the base method, and the sequential engine
(a plain pass a round and step, no gate, no store) for the others.
"""

import random
from copy import deepcopy
from dataclasses import replace
from functools import cache

import pytest
import torch
import transformers
from PIL import Image

from sci_core import BASE, SCI3, SCI5, VCD, PrefixCache, Question, generate, rewrite, start
from sci_core import custom_generate as with_their_generate
from tests import tiny
from tests.soak import TIMES, rarely

METHODS = (SCI5, SCI3, replace(SCI5, beta=0.9), VCD)
STEPS = 3

SIZES = (
    (64, 64),
    (2, 2),  # the smallest
    (7, 5),
    (40, 160),  # 1:4
    (160, 40),  # 4:1
    (3, 100),
    (33, 57),
    (200, 200),  # many tiles
    (250, 90),
    (90, 250),
)

SQUARE = {
    "patch_size": 8,
    "vision_feature_select_strategy": "default",
    "num_additional_image_tokens": 1,
}
PROCESSORS = {
    "qwen2_vl": ("Qwen2VLProcessor", {}),
    "qwen2_5_vl": ("Qwen2_5_VLProcessor", {}),
    "qwen3_vl": ("Qwen3VLProcessor", {}),
    "llava": ("LlavaProcessor", SQUARE),
    "llava_next": ("LlavaNextProcessor", SQUARE),
    "llava_onevision": (
        "LlavaOnevisionProcessor",
        {
            "num_image_tokens": 16,
            "vision_feature_select_strategy": "full",
            "vision_aspect_ratio": "anyres_max_2",
        },
    ),
    "idefics3": ("Idefics3Processor", {"image_seq_len": 4}),
    "smolvlm": ("SmolVLMProcessor", {"image_seq_len": 4}),
    "internvl": ("InternVLProcessor", {"image_seq_length": 4}),
}
kinds = pytest.mark.parametrize("kind", tiny.KINDS)
# One kind of each family; the others, of another language model or tower, are slow.
families = pytest.mark.parametrize(
    "kind", [kind if kind in PROCESSORS else rarely(kind) for kind in tiny.KINDS]
)
WITH_VIDEO = {*PROCESSORS} - {"llava", "llava_next", "idefics3"}


@pytest.fixture
def processor_of(monkeypatch):
    """Transformers' own processor of a model, videos left out.

    Most want a video processor, which wants torchvision, and one a package that spells numbers:
    for pictures neither is used.
    """
    from transformers.models.smolvlm import processing_smolvlm

    monkeypatch.setattr(processing_smolvlm, "num2words", str)
    monkeypatch.setattr(
        transformers.ProcessorMixin, "check_argument_for_proper_class", lambda *_: None
    )

    def make(model):
        name, settings = PROCESSORS[model.family]
        parts = {"image_processor": model.processor.image_processor}
        parts["tokenizer"] = deepcopy(model.tokenizer)  # some processors add tokens to theirs
        if model.family in WITH_VIDEO:
            parts["video_processor"] = object()
        template = model.tokenizer.chat_template
        return getattr(transformers, name)(**parts, chat_template=template, **settings)

    return make


def theirs(processor, image, prompt):
    """What transformers makes of a picture and a prompt."""
    content = [{"type": "image"}, {"type": "text", "text": prompt}]
    turn = processor.tokenizer.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
    )
    return processor(images=[image], text=[turn], return_tensors="pt")


@cache
def questions(kind):
    return tiny.random_questions(random.Random(kind), 5)


@cache
def reference(kind, method):
    """What the sequential engine says, without gate or store."""
    model = tiny.load(kind, "float64")
    return said(generate(model, *questions(kind), method, STEPS, engine="sequential", gate=False))


def said(answers):
    return [(answer.tokens, answer.end, answer.text) for answer in answers]


@kinds
def test_ids_and_pixels_are_those_of_its_own_processor(kind, processor_of):
    """Pictures of every size and shape, with as many placeholders as there are features."""
    model = tiny.load(kind, "float64")
    processor = processor_of(model)
    generator = random.Random(kind)
    lengths = set()
    for size in SIZES:
        image = tiny.random_image(generator).resize(size)
        prompt = tiny.random_prompt(generator)
        made = theirs(processor, image, prompt)
        picture = model.processor.prepare(image)
        (ids,) = model.processor.token_ids([prompt], [picture.ids])
        assert ids == made["input_ids"][0].tolist()
        assert ids.count(model.image_token_id) == picture.tokens == len(model.encode([picture])[0])
        assert picture.inputs
        for name, value in picture.inputs.items():
            assert torch.equal(value, torch.as_tensor(made[name]))
        lengths.add(picture.tokens)
    assert len(lengths) > 2 or model.family == "llava"  # which sees one square of every picture


@families
def test_the_engines_agree_on_every_size(kind):
    """Logits of every round for pictures of all sizes in one batch, and one token later."""
    model = tiny.load(kind, "float64")
    generator = random.Random(kind)
    asked = []
    for size in SIZES:
        prompt = tiny.random_prompt(generator)
        image = tiny.random_image(generator).resize(size)
        asked.append(Question(image, prompt, tuple(rewrite(prompt, name) for name in ("V1", "V2"))))
    rounds = ("original", "V1", "V2", "black", "noise500", "tinynoise500", "none", "unk")
    fast, slow = (start(model, asked, rounds, engine) for engine in ("two_phase", "sequential"))
    assert torch.equal(fast.prompt_tokens, slow.prompt_tokens)
    torch.testing.assert_close(fast.logits, slow.logits, atol=1e-9, rtol=0)
    for size, each in zip(SIZES, slow.logits.unbind(dim=1), strict=True):
        # No two rounds of a question say the same; the smallest pictures are not made smaller.
        small = min(size) < 8
        other = [not (small and name == "tinynoise500") for name in rounds]
        assert torch.pdist(each[other]).min() > 1e-4
    tokens = torch.full((len(SIZES),), model.tokenizer("a")["input_ids"][-1])
    for each in (fast, slow):
        each.advance(tokens)
    torch.testing.assert_close(fast.logits, slow.logits, atol=1e-9, rtol=0)


@kinds
def test_features_do_not_depend_on_the_other_pictures(kind):
    model = tiny.load(kind, "float64")
    generator = random.Random(kind)
    pictures = [
        model.processor.prepare(tiny.random_image(generator).resize(size)) for size in SIZES
    ]
    for picture, features in zip(pictures, model.encode(pictures), strict=True):
        torch.testing.assert_close(features, model.encode([picture])[0], atol=1e-11, rtol=0)


@families
def test_two_phase_is_sequential_in_any_batch_with_and_without_gate_and_store(kind):
    model = tiny.load(kind, "float64")
    images, prompts = questions(kind)
    store = PrefixCache()
    ways = (
        {"batch_size": 5},
        {"batch_size": 2, "prefixes": store},
        {"batch_size": 1, "gate": False},
        {"batch_size": 3, "prefixes": store},  # now with what others left in it
        {"batch_size": 4, "prefixes": PrefixCache(20_000), "gate": False},
    )
    for number, method in enumerate(METHODS):
        # Every way once; each with every method in `make soak`.
        for way in ways if TIMES > 1 else ways[number :: len(METHODS)]:
            found = generate(model, images, prompts, method, STEPS, **way)
            assert said(found) == reference(kind, method)
    backward = generate(model, images[::-1], prompts[::-1], METHODS[-1], STEPS, batch_size=4)
    assert said(backward)[::-1] == reference(kind, METHODS[-1])
    assert store.hits


@families
def test_photographs_too(kind, real):
    model = tiny.load(kind, "float64")
    folder = real / "coco_mini" / "images"
    files = sorted(folder.rglob("*.jpg"))
    assert len(files) > 2, f"{folder} holds no photographs"
    images = [Image.open(file).convert("RGB") for file in files[:3]]
    prompts = [tiny.random_prompt(random.Random(file.name)) for file in files[:3]]
    slow = generate(model, images, prompts, SCI3, 2, engine="sequential", gate=False)
    assert said(generate(model, images, prompts, SCI3, 2, batch_size=2)) == said(slow)


@families
def test_sampled_answers_too(kind):
    model = tiny.load(kind, "float64")
    how = {"temperature": 0.8, "top_k": 40, "seed": 3}
    slow = generate(model, *questions(kind), SCI3, STEPS, engine="sequential", gate=False, **how)
    for size in (1, 4):
        fast = generate(model, *questions(kind), SCI3, STEPS, batch_size=size, **how)
        assert said(fast) == said(slow)


@families
def test_without_rounds_it_is_transformers_own_generate(kind, processor_of):
    """Its inputs come from its own processor; also as a `custom_generate`, for SCI3."""
    model = tiny.load(kind, "float64")
    processor = processor_of(model)
    images, prompts = questions(kind)
    images = [image.resize(size) for image, size in zip(images, SIZES, strict=False)]
    how = {"max_new_tokens": 6, "do_sample": False}
    base = generate(model, images, prompts, BASE, 6)
    critical = generate(model, images, prompts, SCI3, 6)
    longest = 0
    for place, (image, prompt) in enumerate(zip(images, prompts, strict=True)):
        inputs = theirs(processor, image, prompt)
        decode = with_their_generate(processor, [image], [prompt], SCI3)
        for answers, settings in ((base, {}), (critical, {"custom_generate": decode})):
            ids = model.hf.generate(**inputs, **how, **settings)
            answer = answers[place]
            expected = [*answer.tokens, *([answer.end] if answer.stopped else [])]
            assert ids[0, inputs["input_ids"].shape[1] :].tolist() == expected
            longest = max(longest, len(expected))
    assert longest > 1


def test_the_prompt_is_counted_without_picture_and_marks():
    """The clock of M3ID: as many tokens whatever the picture, as of the text alone."""
    for kind in tiny.KINDS:
        model = tiny.load(kind, "float64")
        prompt = "What? Please answer yes or no."
        asked = [Question(Image.new("RGB", size), prompt) for size in ((20, 20), (200, 90))]
        alone = len(model.processor.token_ids([prompt], [()])[0])
        assert start(model, asked, ("original",)).prompt_tokens.tolist() == [alone, alone]
