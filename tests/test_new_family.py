"""The guide `book/new_family.md` is followed to the letter: its own code adds a family."""

import random
import re
from pathlib import Path

import pytest
import transformers
from transformers import VipLlavaConfig, VipLlavaForConditionalGeneration

from sci_core import BASE, SCI5, PrefixCache, generate, load_model
from sci_core.families import base as adapter
from sci_core.families.adapters import FAMILIES
from tests import tiny, tiny_kinds

GUIDE = Path(__file__).resolve().parents[1] / "book/new_family.md"


def vipllava(fast):
    config = VipLlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**tiny_kinds.vision_part()),
        text_config=transformers.LlamaConfig(**tiny_kinds.text_config(fast)),
        image_token_index=fast.convert_tokens_to_ids("<image>"),
        vision_feature_layers=[-2, 1],
        initializer_range=0.2,
        **tiny_kinds.role_ids(fast),
    )
    return VipLlavaForConditionalGeneration(config)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tiny checkpoint of the guide's family, which the library does not know."""
    llava = tiny.KINDS["llava"]
    kind = tiny_kinds.Kind(llava.specials, llava.roles, llava.template, vipllava, llava.pixels)
    monkeypatch.setitem(tiny.KINDS, "vipllava", kind)
    return tiny.write_checkpoint(tmp_path, "vipllava", stops=30)


def follow_the_guide():
    guide = GUIDE.read_text(encoding="utf-8").partition("## A new equation")[0]
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    exec(compile(code, GUIDE.name, "exec"), {})


def said(answers):
    return [(answer.tokens, answer.end, answer.text) for answer in answers]


def test_the_guides_code_adds_a_family(folder):
    with pytest.raises(ValueError, match="of the family 'vipllava'; supported are"):
        load_model(folder)
    before = dict(FAMILIES)
    try:
        follow_the_guide()
        model = load_model(folder, dtype="float64", device="cpu")
    finally:
        FAMILIES.clear()
        FAMILIES.update(before)

    assert model.family == "vipllava"
    images, prompts = tiny.random_questions(random.Random(0), 5)
    slow = generate(model, images, prompts, SCI5, 4, engine="sequential", gate=False)
    for how in ({"batch_size": 1}, {"batch_size": 3, "prefixes": PrefixCache()}, {"gate": False}):
        assert said(generate(model, images, prompts, SCI5, 4, **how)) == said(slow)
    assert len({answer.tokens for answer in slow}) > 1

    processor = transformers.LlavaProcessor(
        model.processor.image_processor,
        model.tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    base = generate(model, images, prompts, BASE, 5)
    for image, prompt, answer in zip(images, prompts, base, strict=True):
        content = [{"type": "image"}, {"type": "text", "text": prompt}]
        turn = model.tokenizer.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
        )
        inputs = processor(images=[image], text=[turn], return_tensors="pt")
        ids = model.hf.generate(**inputs, max_new_tokens=5, do_sample=False)
        expected = [*answer.tokens, *([answer.end] if answer.stopped else [])]
        assert ids[0, inputs["input_ids"].shape[1] :].tolist() == expected


def test_the_guide_names_everything_that_a_family_may_say():
    """And nothing that the base class does not offer."""
    source = Path(adapter.__file__).read_text(encoding="utf-8")
    part = source[
        source.index("    # What a family may say") : source.index("    # What follows is")
    ]
    offered = re.findall(r"    def (\w+)\(", part)
    named = re.findall(r"\*\*`(\w+)\(", GUIDE.read_text(encoding="utf-8"))
    assert set(named) | {"language_inputs"} == set(offered)
    text = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{name}" in text for name in ("family", "image_settings", "language_inputs"))
