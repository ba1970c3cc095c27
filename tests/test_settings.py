"""A checkpoint's own generation settings: the base decodes as transformers does, the rest alike."""

import pickle
import random
import warnings
from copy import copy
from dataclasses import replace
from inspect import signature
from itertools import pairwise

import pytest
import torch

from sci_book.run.provenance import revision
from sci_core import BASE, SCI3, SCI5, custom_generate, generate, load_model, scores
from tests import tiny
from tests.soak import mostly, rarely
from tests.transformers_inputs import expected, inputs_of, processor_of, written

MANY = "qwen2_vl", "llava_next", "idefics3", "internvl"


def own_greedy(model, image, prompt, new_tokens):
    """What transformers' `generate` writes, with the checkpoint's settings and no others."""
    picture = model.processor.prepare(image)
    ids = torch.tensor([model.processor.token_ids([prompt], [picture.ids])[0]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **picture.inputs}
    if "mm_token_type_ids" in signature(model.hf.forward).parameters:
        inputs["mm_token_type_ids"] = (ids == model.image_token_id).int()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a least length beyond the greatest
        found = model.hf.generate(**inputs, do_sample=False, max_new_tokens=new_tokens)
    return found[0, ids.shape[1] :].tolist()


def settings_of(family):
    """Settings that change what the model says, each on its own, and all together."""
    model = tiny.load(family, "float64")
    eos = sorted(model.eos_token_ids)
    asked = list(zip(*tiny.random_questions(random.Random(f"{family} own"), 16), strict=True))
    answers = generate(model, *zip(*asked, strict=True), BASE, 8)
    soonest = sorted(range(16), key=lambda place: len(answers[place].tokens))[:6]
    free = [answers[place] for place in soonest]
    images, prompts = zip(*(asked[place] for place in soonest), strict=True)
    said = [token for answer in free for token in answer.tokens]
    pairs = [list(pair) for answer in free for pair in pairwise(answer.tokens)]
    each = {
        "repetition_penalty": {"repetition_penalty": 1.3},
        "reward": {"repetition_penalty": 0.6},
        "encoder_repetition_penalty": {"encoder_repetition_penalty": 1.7},
        "no_repeat_ngram_size": {"no_repeat_ngram_size": 1},
        "encoder_no_repeat_ngram_size": {"encoder_no_repeat_ngram_size": 1},
        "suppress_tokens": {"suppress_tokens": said[:2]},
        "begin_suppress_tokens": {"begin_suppress_tokens": [a.tokens[0] for a in free if a.tokens]},
        "bad_words_ids": {"bad_words_ids": [[said[0]], *pairs[:3]]},
        "sequence_bias": {"sequence_bias": [[[said[0]], -3.0], [[said[1]], 2.0]]},
        "min_new_tokens": {"min_new_tokens": 6},
        "min_length": {"min_length": 200},
        "forced_eos_token_id": {"forced_eos_token_id": eos[0], "min_new_tokens": 8},
        "exponential_decay_length_penalty": {"exponential_decay_length_penalty": (1, 1.9)},
    }
    together = {"repetition_penalty": 1.05, "no_repeat_ngram_size": 2, "min_new_tokens": 3}
    return images, prompts, free, each | {"together": together | each["suppress_tokens"]}


@pytest.mark.parametrize("family", [*MANY[:2], *map(rarely, MANY[2:])])
def test_the_base_is_transformers_greedy_decoding_with_the_checkpoints_settings(family):
    images, prompts, free, settings = settings_of(family)
    changed = set()
    for name, each in settings.items():
        model = tiny.with_settings(family, **each)
        ours = generate(model, images, prompts, BASE, 8)
        for image, prompt, answer in zip(images, prompts, expected(ours), strict=True):
            assert answer == own_greedy(model, image, prompt, 8), (name, prompt)
        if [a.tokens for a in ours] != [a.tokens for a in free]:
            changed.add(name)
    assert changed >= settings.keys() - {"encoder_no_repeat_ngram_size"}, "a setting did nothing"


SOME = {
    "both": {
        "repetition_penalty": 1.2, "exponential_decay_length_penalty": (2, 1.2),
        "min_new_tokens": 3, "no_repeat_ngram_size": 2,
    },
    "penalties": {"repetition_penalty": 1.4, "exponential_decay_length_penalty": (1, 1.3)},
    "forbidding": {"no_repeat_ngram_size": 1, "min_new_tokens": 4},
}  # fmt: skip


@pytest.mark.parametrize("settings", mostly([*SOME.values()]), ids=SOME)
@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_batches_gate_engines_and_custom_generate_agree(family, settings):
    model = tiny.with_settings(family, **settings)
    images, prompts = tiny.random_questions(random.Random(f"{family} agree"), 4)
    for how in ({}, {"temperature": 0.9, "top_k": 30, "top_p": 0.9, "seed": 3}):
        whole = generate(model, images, prompts, SCI5, 5, **how)
        for change in (
            {"batch_size": 1},
            {"gate": False},
            {"engine": "sequential"},
        ):
            found = generate(model, images, prompts, SCI5, 5, **(how | change))
            assert expected(found) == expected(whole), change
        decode = custom_generate(processor_of(model), images, prompts, SCI5, seed=3)
        asked = {"do_sample": bool(how), **{k: v for k, v in how.items() if k != "seed"}}
        inputs = inputs_of(model, images, prompts)
        rows = written(model, inputs, custom_generate=decode, max_new_tokens=5, **asked)
        assert rows == expected(whole)
    plain = generate(tiny.load(family, "float64"), images, prompts, SCI5, 5)
    assert expected(plain) != expected(generate(model, images, prompts, SCI5, 5))


def test_a_penalty_acts_on_the_combined_score_and_not_on_the_constraint():
    model = tiny.with_settings("qwen2_vl", repetition_penalty=1.5)
    images, prompts = tiny.random_questions(random.Random("combined"), 6)
    answers = generate(model, images, prompts, SCI3, 4, return_logits=True)
    for image, prompt, answer in zip(images, prompts, answers, strict=True):
        picture = model.processor.prepare(image)
        ids = model.processor.token_ids([prompt], [picture.ids])[0]
        for step, (Z, token) in enumerate(
            zip(answer.logits, [*answer.tokens, answer.end], strict=False)
        ):
            score = scores(SCI3, Z[:, None], step=step)[0]
            seen = torch.tensor(sorted({*ids, *answer.tokens[:step]}))
            score[seen] = torch.where(score[seen] < 0, score[seen] * 1.5, score[seen] / 1.5)
            assert int(score.argmax()) == token


def test_a_sole_survivor_of_the_constraint_wins_unless_it_is_forbidden():
    """The gate reads no visual round for it; a forbidden one leaves before the constraint."""
    narrow = replace(SCI5, beta=1.0)  # one token survives each step
    images, prompts = tiny.random_questions(random.Random("sole"), 6)
    free = generate(tiny.load("qwen2_vl", "float64"), images, prompts, narrow, 1)
    firsts = {answer.tokens[0] if answer.tokens else answer.end for answer in free}
    penalised = tiny.with_settings("qwen2_vl", repetition_penalty=9.0)
    found = generate(penalised, images, prompts, narrow, 1)
    assert expected(found) == expected(free) and not any(a.looked[0] for a in found)
    barred = tiny.with_settings("qwen2_vl", suppress_tokens=sorted(firsts))
    for gate in (True, False):
        found = generate(barred, images, prompts, narrow, 1, gate=gate)
        assert not firsts & {token for row in expected(found) for token in row}


def test_what_is_not_applied_is_named_once():
    model = tiny.with_settings("llava_next", num_beams=4, stop_strings=["."], top_k=5, top_p=0.2)
    images, prompts = tiny.random_questions(random.Random("aside"), 1)
    plain = generate(tiny.load("llava_next", "float64"), images, prompts, SCI3, 3)
    says = r"generation_config.json of .* sets num_beams=4, stop_strings=\['.'\], which is not"
    with pytest.warns(UserWarning, match=says) as said:
        warnings.simplefilter("default")  # as Python has it: once a place
        for _ in range(2):
            assert generate(model, images, prompts, SCI3, 3) == plain
    assert len(said) == 1
    with pytest.warns(UserWarning, match="top_p=0.2, which is not applied"):
        generate(model, images, prompts, SCI3, 3, temperature=1.0, top_k=5)


def test_sampling_settings_leave_greedy_decoding_alone_without_a_word():
    model = tiny.with_settings("llava_next", do_sample=True, temperature=0.1, top_k=3, min_p=0.2)
    images, prompts = tiny.random_questions(random.Random("greedy"), 3)
    plain = generate(tiny.load("llava_next", "float64"), images, prompts, SCI3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert generate(model, images, prompts, SCI3, 3) == plain
    assert model.generation.applied == {}


def test_a_setting_is_overridden_where_it_is_kept():
    images, prompts = tiny.random_questions(random.Random("over"), 4)
    model = tiny.with_settings("qwen2_vl", repetition_penalty=1.5)
    assert model.generation.applied == {"repetition_penalty": 1.5}
    model.generation.config.repetition_penalty = 1.0
    assert model.generation.applied == {}
    plain = generate(tiny.load("qwen2_vl", "float64"), images, prompts, SCI3, 4)
    assert generate(model, images, prompts, SCI3, 4) == plain
    model.generation.config.repetition_penalty = 1.2
    assert pickle.loads(pickle.dumps(model)).generation.applied == {"repetition_penalty": 1.2}
    inputs = inputs_of(model, images, prompts)
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    how = {"custom_generate": decode, "max_new_tokens": 4, "do_sample": False}
    again = tiny.with_settings("qwen2_vl", repetition_penalty=1.5)
    assert written(again, inputs, repetition_penalty=1.0, **how) == expected(plain)


@pytest.mark.parametrize("family", MANY)
def test_an_end_of_sequence_set_after_loading_is_honoured(family):
    """By the next call, by transformers' own `generate` alike, and in another process."""
    images, prompts = tiny.random_questions(random.Random(f"{family} ends"), 4)
    model = tiny.with_settings(family, eos_token_id=[])
    endless = generate(model, images, prompts, BASE, 6)
    assert {len(answer.tokens) for answer in endless} == {6}
    said = sorted({answer.tokens[2] for answer in endless})
    for ends in (said[:1], said[0], said, [*said, 0], tuple(said)):
        model.generation.config.eos_token_id = ends
        assert model.eos_token_ids == frozenset(ends if isinstance(ends, list | tuple) else [ends])
        answers = generate(model, images, prompts, BASE, 6)
        assert any(answer.end in said for answer in answers)
        for image, prompt, answer in zip(images, prompts, expected(answers), strict=True):
            if not isinstance(ends, tuple):  # which theirs does not take
                assert answer == own_greedy(model, image, prompt, 6)
    assert pickle.loads(pickle.dumps(model)).eos_token_ids == frozenset(said)
    model.generation.config.eos_token_id = None
    assert model.eos_token_ids == {model.tokenizer.eos_token_id}


@pytest.mark.parametrize("ends", [2.0, [2.0], True, "2", [[2]], {"a": 2}, [None], -1])
def test_an_end_of_sequence_that_is_no_token_is_refused(ends):
    model = tiny.with_settings("qwen2_vl", eos_token_id=[2])
    model.generation.config.eos_token_id = ends
    images, prompts = tiny.random_questions(random.Random(0), 1)
    with pytest.raises(ValueError, match="expected a token's id, a whole number from 0, or a list"):
        generate(model, images, prompts, BASE, 2)


def test_custom_generate_says_whose_setting_it_is():
    images, prompts = tiny.random_questions(random.Random("whose"), 2)
    model = tiny.with_settings("qwen2_vl", penalty_alpha=0.6, top_k=4)
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    how = {"custom_generate": decode, "max_new_tokens": 2, "do_sample": False}
    inputs = inputs_of(model, images, prompts)
    says = r"penalty_alpha=0.6 .* generation_config.json sets it: pass penalty_alpha=0 to"
    with pytest.raises(ValueError, match=says):
        model.hf.generate(**inputs, **how)
    assert written(model, inputs, penalty_alpha=0, **how)
    with pytest.raises(ValueError, match=r"max_time=5.0 .* This call of generate sets it"):
        model.hf.generate(**inputs, penalty_alpha=0, max_time=5.0, **how)


def test_a_checkpoint_on_disk_brings_its_settings(tmp_path):
    folder = tiny.write_checkpoint(tmp_path, "llava_next", stops=30)
    plain = load_model(folder, device="cpu")
    before = revision(plain)
    config = copy(plain.hf.generation_config)
    config.repetition_penalty = 1.3
    config.save_pretrained(folder)
    model = load_model(folder, device="cpu")
    assert model.generation.applied == {"repetition_penalty": 1.3}
    assert revision(model) != before
