"""The page that a reader reads first chooses the tokens that `generate` chooses."""

import ast
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image

from sci_core import METHODS, SCI5, generate, load_model, reference
from sci_core.scoring import scores
from tests import tiny
from tests.soak import mostly

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ("textual", "visual", "tau1", "tau2", "beta", "alpha")


def on_one_page(model, image, prompt, method, new_tokens):
    fields = {name: getattr(method, name) for name in FIELDS}
    return reference.decode(
        model.hf, model.processor, image, prompt, method.rule, **fields, max_new_tokens=new_tokens
    )


def questions(generator, count):
    """Pictures of a few things on a ground, and prompts in two languages, some free."""
    images, prompts = tiny.random_questions(generator, count)
    sizes = [(112, 112), (168, 112), (112, 140)]
    images = [
        image.resize(sizes[k % 3], Image.Resampling.NEAREST) for k, image in enumerate(images)
    ]
    prompts[-1] = "Describe the picture."
    return images, prompts


@pytest.mark.filterwarnings("ignore:1 of .* prompts hold no instruction:UserWarning")
@pytest.mark.parametrize("name", mostly(["pocket-qwen2vl", "pocket-llavanext"]))
def test_every_preset_on_the_page_gives_the_tokens_of_generate(name):
    model = load_model(ROOT / "checkpoints" / name, dtype="float64", device="cpu")
    images, prompts = questions(random.Random(name), 3)
    said = set()
    for method in (*METHODS.values(), replace(SCI5, rule="mean")):
        found = generate(model, images, prompts, method, 5)
        for image, prompt, answer in zip(images, prompts, found, strict=True):
            tokens = on_one_page(model, image, prompt, method, 5)
            assert tuple(tokens) == answer.tokens, (method.name, prompt)
            said.add((prompt, answer.tokens))
    assert len(said) > len(prompts)  # methods differ, so that each is tried


@pytest.mark.parametrize("family", tiny.KINDS)
def test_it_reads_every_family(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} page"), 2)
    for name in ("base", "M3ID", "SCI3"):
        for image, prompt, answer in zip(
            images, prompts, generate(model, images, prompts, METHODS[name], 3), strict=True
        ):
            assert tuple(on_one_page(model, image, prompt, METHODS[name], 3)) == answer.tokens


def test_it_takes_no_more_than_inputs_from_the_library_and_one_page():
    path = Path(reference.__file__)
    source = path.read_text(encoding="utf-8")
    imported = [
        node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)
    ]
    ours = {module for module in imported if module.startswith("sci_core")}
    assert ours == {"sci_core.counterfactuals", "sci_core.images"}
    assert len(source.splitlines()) <= 130


@pytest.mark.parametrize("rule", ["sci", "vcd", "tie", "m3id"])
def test_ties_and_the_constraint_are_those_of_the_equations(rule, monkeypatch):
    """Of made-up logits, ties among them, the page chooses what `scores` puts first."""
    method = {m.rule: m for m in METHODS.values() if m.name in ("SCI3", "VCD", "TIE", "M3ID")}[rule]
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(rule), 1)
    generator = torch.Generator().manual_seed(5)
    ids = model.processor.token_ids(prompts, [()])[0]
    for _ in range(25):
        shape = (len(method.rounds), 1, model.vocab_size)
        Z = torch.randint(-2, 3, shape, generator=generator).double()
        Z[..., list(model.eos_token_ids)] = -9.0
        rounds = iter(Z[:, 0])
        monkeypatch.setattr(reference, "next_logits", lambda *_, rounds=rounds: next(rounds))
        expected = scores(method, Z, step=0, prompt_tokens=torch.tensor([len(ids) - 1]))
        assert math.isfinite(expected.max())
        assert on_one_page(model, images[0], prompts[0], method, 1) == [int(expected.argmax())]
