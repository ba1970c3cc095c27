"""One right answer: gate, store, batches, order and workers change no token.

The reference is the sequential engine without gate or store: a plain pass a round and step.
"""

import math
import random
from dataclasses import replace

import pytest
import torch

from sci_core import BASE, M3ID, SCI3, SCI5, SCI7, TIE, VCD, PrefixCache, generate, sci
from tests import tiny
from tests.soak import TIMES, mostly, rarely

METHODS = (
    SCI3,
    SCI5,
    SCI7,
    replace(SCI5, beta=0.8),
    replace(SCI5, log_probs=True),
    replace(SCI3, raw_margin=1.0),
    replace(SCI5, edit="first_token"),
    VCD,
    TIE,
    M3ID,
    sci(0, 2),
    sci(2, 0),
    BASE,
    replace(SCI5, rule="mean"),
)
DECISIVE = replace(SCI5, beta=0.9)
"""Leaves one token more often than the presets: random models are never sure."""

families = pytest.mark.parametrize("family", tiny.FAMILIES)


def said(answers):
    return [(answer.tokens, answer.end, answer.text) for answer in answers]


def shuffled(generator, *lists):
    order = generator.sample(range(len(lists[0])), len(lists[0]))
    return order, *([each[place] for place in order] for each in lists)


@pytest.mark.parametrize(
    ("family", "temperature"),
    [
        ("qwen2_vl", 0.0),
        rarely("llava_next", 0.9),
        rarely("qwen2_vl", 0.9),
        rarely("llava_next", 0.0),
    ],
)
def test_every_way_of_decoding_gives_the_same_answers(family, temperature):
    """Random questions, some about one picture; gate on and off, stores of all sizes, batches of
    many sizes, other orders; greedy and sampled. In float64, where no tie is near.

    A method has every second store, one of them without a gate; all four in `make soak`."""
    model = tiny.load(family, "float64")
    generator = random.Random(f"{family} {temperature}")
    stores = [PrefixCache(0), PrefixCache(20_000), PrefixCache(), PrefixCache(constants_only=True)]
    skipped = looked = 0
    for trial, method in enumerate(METHODS):
        images, prompts = tiny.random_questions(generator, 1 + 3 * trial % 8)
        how = {"max_new_tokens": generator.randint(1, 5), "temperature": temperature}
        how |= {"seed": trial, "top_k": 50 if temperature else None}
        reference = generate(model, images, prompts, method, engine="sequential", gate=False, **how)
        for store in stores if TIMES > 1 else stores[trial % 2 :: 2]:
            gate = store is not stores[trial % 4]
            size = generator.choice((1, 2, 3, 5, 8))
            found = generate(
                model, images, prompts, method, gate=gate, prefixes=store, batch_size=size, **how
            )
            assert said(found) == said(reference)
            if gate:
                steps = [look for answer in found for look in answer.looked]
                skipped, looked = skipped + steps.count(False), looked + steps.count(True)
        gated = generate(model, images, prompts, method, engine="sequential", **how)
        assert said(gated) == said(reference)
        if not temperature:  # a sampled answer depends on the question's place
            order, *mixed = shuffled(generator, images, prompts)
            again = generate(model, *mixed, method, batch_size=4, **how)
            assert said(again) == [said(reference)[place] for place in order]
    least = 50 if TIMES > 1 else 10
    assert skipped > least and looked > least
    assert stores[0].hits == 0 and all(store.hits > 0 for store in stores[2:])


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES[::-1]))
def test_batches_of_1_to_32_questions_that_share_pictures(family):
    model = tiny.load(family, "float64")
    generator = random.Random(f"{family} batches")
    images, prompts = tiny.random_questions(generator, 33)
    images = [generator.choice(images[:11]) for _ in images]
    reference = generate(model, images, prompts, DECISIVE, 4, gate=False, batch_size=1)
    for size in (1, 2, 3, 7, 16, 32):
        order, *mixed = shuffled(generator, images, prompts)
        found = generate(model, *mixed, DECISIVE, 4, batch_size=size)
        assert said(found) == [said(reference)[place] for place in order]


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_in_float32_only_near_ties_differ(family):
    """The same over more steps; a differing answer must have turned on less than 1e-4."""
    model = tiny.load(family, "float32")
    generator = random.Random(f"{family} float32")
    cases = ties = 0
    count = 12 if TIMES > 1 else 6
    for trial in range(8):
        method = METHODS[trial]
        images, prompts = tiny.random_questions(generator, count)
        plain = generate(
            model, images, prompts, method, 6, gate=False, batch_size=1, return_logits=True
        )
        for size in (1, 7, 32):
            found = generate(model, images, prompts, method, 6, batch_size=size)
            for prompt, one, other in zip(prompts, found, plain, strict=True):
                cases += 1
                if (one.tokens, one.end) != (other.tokens, other.end):
                    assert tiny.deciding_gap(model, method, prompt, other) < tiny.NEAR_TIE
                    ties += 1
    assert cases == 8 * 3 * count and ties <= 2


@families
def test_the_gate_looks_where_two_tokens_survive_and_only_there(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} looks"), 16)
    whole = generate(model, images, prompts, DECISIVE, 6, return_logits=True)
    gated = generate(model, images, prompts, DECISIVE, 6)
    assert all(answer.looked == (True,) * len(answer.looked) for answer in whole)
    for answer, all_rounds in zip(gated, whole, strict=True):
        TC = [Z[:3].amax(dim=0) / DECISIVE.tau1 for Z in all_rounds.logits]
        left = [int((tc >= tc.max() + math.log(DECISIVE.beta)).sum()) for tc in TC]
        assert answer.looked == tuple(count > 1 for count in left)
    assert {look for answer in gated for look in answer.looked} == {True, False}


def test_recorded_logits_are_whole():
    """Asking for logits switches the gate off: no visual round is made up."""
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(3), 5)
    one, other = (
        generate(model, images, prompts, SCI5, 4, return_logits=True, gate=gate)
        for gate in (True, False)
    )
    for a, b in zip(one, other, strict=True):
        assert a.looked == b.looked
        assert all(torch.equal(x, y) for x, y in zip(a.logits, b.logits, strict=True))


def test_methods_without_visual_rounds_look_at_nothing():
    model = tiny.load("llava_next")
    images, prompts = tiny.random_questions(random.Random(4), 3)
    for method in (BASE, sci(0, 1)):
        for gate in (True, False):
            answers = generate(model, images, prompts, method, 3, gate=gate)
            assert not any(look for answer in answers for look in answer.looked)


@pytest.mark.parametrize("family", tiny.FAMILIES if TIMES > 1 else tiny.FAMILIES[:1])
def test_pictures_prepared_in_other_threads_are_the_same(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} ahead"), 7)
    here, ahead = (
        generate(model, images, prompts, SCI5, 3, batch_size=2, workers=workers)
        for workers in (0, 2)
    )
    assert said(ahead) == said(here)
