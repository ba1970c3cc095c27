"""A checkpoint laid out as a published one is asked as its own processor asks it, word for word.

The oracle is `AutoProcessor` on the same folder: its choice of chat template, its words, its tokens
and its pixels. Only its video processor is left out, which wants torchvision and reads no picture.
"""

import random
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from sci_book.data.prompts import build_prompt
from sci_book.data.rows import Row
from sci_book.resources import ROOT
from sci_core import SCI3, generate, load_model, prefix_rewrite, rewrite
from sci_core.counterfactuals import REWRITES
from sci_core.families.settings import APPLIED, which_are_set
from tests import layouts, tiny
from tests.soak import rarely

every = pytest.mark.parametrize("name", layouts.NAMES)
ALIKE = {"smolvlm2-2.2b-instruct"}  # is decoded as the smaller one of its family, in seconds
NUMBERS = {8: "eight"}
SIZES = ((640, 480), (90, 300), (700, 33), (20, 20), (333, 333))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes a layout once: its folder, and the tensors that it must have when it is loaded."""
    found = {}

    def write(name):
        if name not in found:
            found[name] = layouts.write(name, tmp_path_factory.mktemp(name))
        return found[name]

    return write


@pytest.fixture
def their_processor(monkeypatch, tmp_path):
    """`AutoProcessor.from_pretrained`, without what it needs for videos alone."""
    from transformers.models.smolvlm import processing_smolvlm

    class NoVideo(dict):  # the processor prints it as JSON
        num_frames = fps = 1

    monkeypatch.setattr(processing_smolvlm, "num2words", str)
    monkeypatch.setattr(
        "transformers.models.auto.video_processing_auto.AutoVideoProcessor",
        SimpleNamespace(from_pretrained=lambda *_, **__: NoVideo()),
    )
    monkeypatch.setattr(
        transformers.ProcessorMixin, "check_argument_for_proper_class", lambda *_: None
    )

    def load(name, folder):
        folder = layouts.renamed(name, folder, tmp_path / "renamed")
        return transformers.AutoProcessor.from_pretrained(folder)

    return load


def picture(size):
    noise = np.random.default_rng(sum(size)).integers(0, 256, (9, 9, 3), np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)


def prompts_of(family):
    """Every kind of prompt of this family with all its rewordings, and prompts of one's own."""
    common = {
        "dataset": "made up", "index": 0, "position": 0, "group": "0", "answer": "A",
        "image_hash": "0" * 16,
    }  # fmt: skip
    options = {"A": "a red car", "B": "two boats", "C": "<b> & {{ 'c' }}"}
    rows = [
        Row(question_type="mcq", question="What is it?", options=options, **common),
        Row(question_type="mcq", question="What is it?", options=options, hint="Look.", **common),
        Row(
            question_type="mcq",
            question="图中有什么?",
            options={"A": "红色", "B": "绿色"},
            **common,
        ),
        Row(question_type="yesno", question="Is it red? Please answer yes or no.", **common),
        Row(question_type="short", question="How many cups are there?", **common),
    ]
    kinds = [build_prompt(row, family) for row in rows]
    found = [*kinds, *(rewrite(prompt, name) for prompt in kinds for name in REWRITES)]
    own = '  Describe the picture.\n\nIn <one> sentence, e.g. "a cat\'s" 🐈.\n'
    return [*found, own, *(prefix_rewrite(own, name) for name in ("V1", "V3"))]


def asked(processor, image, prompt):
    """Inputs for one picture and prompt, as transformers' documentation makes them."""
    content = [{"type": "image", "image": image}, {"type": "text", "text": prompt}]
    return processor.apply_chat_template(
        [{"role": "user", "content": content}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    )


def preparing_once(monkeypatch, image_processor):
    """Let an image processor give what it made of the first picture again: all are the same."""
    made, call = [], type(image_processor).__call__

    def once(self, *images, **settings):
        if not made:
            made.append(call(self, *images, **settings))
        return type(made[0])(dict(made[0].data))

    monkeypatch.setattr(type(image_processor), "__call__", once)


@every
def test_a_published_layout_loads_with_every_weight_in_its_place(name, written):
    folder, tensors = written(name)
    model = load_model(folder, dtype="auto", device="cpu")
    assert model.dtype == layouts.dtype_of(layouts.layout(name))
    loaded = model.hf.state_dict()
    assert loaded.keys() == tensors.keys()
    for key, value in tensors.items():
        assert torch.equal(loaded[key], value), key
    stated = layouts.layout(name)["files"]["generation_config.json"]
    ends = stated["eos_token_id"]
    assert len(model.eos_token_ids) == (len(ends) if isinstance(ends, list) else 1)
    assert model.generation.applied == which_are_set(SimpleNamespace(**stated), APPLIED)


@every
def test_every_prompt_and_rewording_is_asked_word_for_word(
    name, written, their_processor, monkeypatch
):
    folder, _ = written(name)
    model, processor = load_model(folder, device="cpu"), their_processor(name, folder)
    image = picture((90, 60))
    ours = model.processor.prepare(image)
    preparing_once(monkeypatch, processor.image_processor)
    prompts = prompts_of(model.family)
    assert len(prompts) == len(set(prompts)) == 68
    for prompt, ids in zip(
        prompts, model.processor.token_ids(prompts, [ours.ids] * len(prompts)), strict=True
    ):
        assert ids == asked(processor, image, prompt)["input_ids"][0].tolist(), prompt


@every
@pytest.mark.parametrize("size", [*SIZES[:2], *map(rarely, SIZES[2:])])
def test_pictures_have_its_pixels_and_as_many_tokens_as_features(
    name, size, written, their_processor
):
    folder, _ = written(name)
    model, processor = load_model(folder, device="cpu"), their_processor(name, folder)
    inputs = asked(processor, picture(size), "What is it?")
    ours = model.processor.prepare(picture(size))
    assert inputs["input_ids"][0].tolist().count(model.image_token_id) == ours.tokens
    for key, value in ours.inputs.items():
        assert torch.equal(value, torch.as_tensor(inputs[key])), key
    assert len(model.encode([ours])[0]) == ours.tokens


@pytest.mark.parametrize(
    "name", [rarely(name) if name in ALIKE else name for name in layouts.NAMES]
)
def test_a_published_layout_decodes_exactly(name, written):
    folder, _ = written(name)
    model = load_model(folder, device="cpu")
    asked = [picture((20, 20))], [tiny.random_prompt(random.Random(name))]
    (fast,) = generate(model, *asked, SCI3, 2)
    (slow,) = generate(model, *asked, SCI3, 2, engine="sequential", gate=False)
    assert (fast.tokens, fast.end, fast.error) == (slow.tokens, slow.end, None)


def test_the_page_says_of_every_layout_what_its_file_says():
    """Which checkpoints, and which of their files were taken from where."""
    page = (ROOT / "book" / "real_checkpoints.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| (.+?) \|", page, re.MULTILINE)
    stated = {layouts.layout(name)["id"]: layouts.layout(name)["source"] for name in layouts.NAMES}
    assert {row[0] for row in rows} == stated.keys() and len(rows) == len(stated) == 12
    for published, template, files in rows:
        source = stated[published]
        assert (template == "from memory") == (source["chat template"] == "from memory")
        assert ("taken over" in files) == ("taken over" in source)
        assert "from memory" in files
    real = [name for name in layouts.NAMES if "words" in layouts.layout(name)]
    assert f"{NUMBERS[len(real)]} of the twelve have the real vocabulary" in page
