"""`model.generate(..., custom_generate=...)` of an unmodified model says what `generate` says."""

import random
import re
from copy import copy
from types import SimpleNamespace

import pytest
import torch
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor

from sci_core import BASE, SCI3, SCI5, VCD, custom_generate, generate, sci
from tests import tiny

families = pytest.mark.parametrize("family", tiny.FAMILIES)


def processor_of(model):
    return SimpleNamespace(
        tokenizer=model.tokenizer, image_processor=model.processor.image_processor
    )


def inputs_of(model, images, prompts, side="left"):
    """What a processor of transformers makes of a batch: padded ids and pixels."""
    pictures = [model.processor.prepare(image.convert("RGB")) for image in images]
    ids = model.processor.token_ids(prompts, [picture.ids for picture in pictures])
    padded = model.tokenizer.pad({"input_ids": ids}, return_tensors="pt", padding_side=side)
    inputs = {name: padded[name] for name in ("input_ids", "attention_mask")}
    if model.family == "qwen2_vl":
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.image_token_id).int()
        for name in ("pixel_values", "image_grid_thw"):
            inputs[name] = torch.cat([picture.inputs[name] for picture in pictures])
    else:
        tiles = max(picture.inputs["pixel_values"].shape[1] for picture in pictures)
        inputs["pixel_values"] = torch.cat(
            [
                torch.nn.functional.pad(values, (0, 0) * 3 + (0, tiles - values.shape[1]))
                for values in (picture.inputs["pixel_values"] for picture in pictures)
            ]
        )
        inputs["image_sizes"] = torch.cat([picture.inputs["image_sizes"] for picture in pictures])
    return inputs


def written(model, inputs, **how):
    """The new tokens of each row, up to the end of sequence."""
    ids = model.hf.generate(**inputs, **how)
    start = inputs["input_ids"].shape[1]
    assert torch.equal(ids[:, :start], inputs["input_ids"])
    rows = []
    for row in ids[:, start:].tolist():
        ends = [place for place, token in enumerate(row) if token in model.eos_token_ids]
        rows.append(row[: ends[0] + 1] if ends else row)
        assert set(row[len(rows[-1]) :]) <= {model.tokenizer.pad_token_id}
    return rows


def expected(answers):
    return [[*answer.tokens, *([answer.end] if answer.stopped else [])] for answer in answers]


@families
@pytest.mark.parametrize("method", [BASE, VCD, SCI3, SCI5], ids=lambda method: method.name)
def test_the_same_tokens_greedy_and_sampled(family, method):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} {method.name}"), 7)
    inputs = inputs_of(model, images, prompts)
    decode = custom_generate(processor_of(model), images, prompts, method, seed=5)
    ours = generate(model, images, prompts, method, 6)
    assert written(
        model, inputs, custom_generate=decode, max_new_tokens=6, do_sample=False
    ) == expected(ours)
    ours = generate(model, images, prompts, method, 6, temperature=0.7, top_k=20, top_p=0.9, seed=5)
    sampling = {"do_sample": True, "temperature": 0.7, "top_k": 20, "top_p": 0.9}
    found = written(model, inputs, custom_generate=decode, max_new_tokens=6, **sampling)
    assert found == expected(ours)


@families
def test_padding_on_either_side_and_none(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} sides"), 4)
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    how = {"custom_generate": decode, "max_new_tokens": 4, "do_sample": False}
    ours = expected(generate(model, images, prompts, SCI3, 4))
    for side in ("left", "right"):
        assert written(model, inputs_of(model, images, prompts, side), **how) == ours
    longer = inputs_of(model, images[:1], prompts[:1])
    one = custom_generate(processor_of(model), images[:1], prompts[:1], SCI3)
    longer["input_ids"] = torch.nn.functional.pad(longer["input_ids"], (0, 1), value=5)
    longer["attention_mask"] = torch.ones_like(longer["input_ids"])
    if family == "qwen2_vl":
        longer["mm_token_type_ids"] = torch.zeros_like(longer["input_ids"])
    with pytest.raises(ValueError, match="Row 0 of the inputs"):
        model.hf.generate(**longer, **(how | {"custom_generate": one}))


@families
def test_the_processors_own_chat_template_goes_first(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} template"), 2)
    inputs = inputs_of(model, images, prompts)
    processor = processor_of(model)
    processor.chat_template, processor.tokenizer = (
        model.tokenizer.chat_template,
        copy(model.tokenizer),
    )
    processor.tokenizer.chat_template = "{{ 'of text only' }}"
    decode = custom_generate(processor, images, prompts, SCI3)
    found = written(model, inputs, custom_generate=decode, max_new_tokens=3, do_sample=False)
    assert found == expected(generate(model, images, prompts, SCI3, 3))


@families
def test_without_rounds_it_is_the_models_own_decoding(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} own"), 4)
    for image, prompt in zip(images, prompts, strict=True):
        inputs = inputs_of(model, [image], [prompt])
        decode = custom_generate(processor_of(model), [image], [prompt], sci(0, 0))
        how = {"max_new_tokens": 8, "do_sample": False}
        own = model.hf.generate(**inputs, **how)
        assert torch.equal(model.hf.generate(**inputs, custom_generate=decode, **how), own)


@families
def test_minimum_length_and_bad_words_are_heeded(family):
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} words"), 6)
    inputs = inputs_of(model, images, prompts)
    decode = custom_generate(processor_of(model), images, prompts, SCI5)
    how = {"custom_generate": decode, "max_new_tokens": 6, "do_sample": False}
    free = written(model, inputs, **how)
    assert min(map(len, free)) < 5
    assert min(map(len, written(model, inputs, min_new_tokens=5, **how))) >= 5
    bad = [[row[0]] for row in free if row[0] not in model.eos_token_ids]
    clean = written(model, inputs, bad_words_ids=bad, **how)
    assert not {token for row in clean for token in row} & {word[0] for word in bad}


def test_wrong_calls_get_one_clear_sentence():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(8), 3)
    inputs = inputs_of(model, images, prompts)
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    how = {"custom_generate": decode, "max_new_tokens": 2, "do_sample": False}
    penalty = RepetitionPenaltyLogitsProcessor(1.3)
    for change, says in (
        ({"num_beams": 2}, "num_beams=2 has no place .* This call of generate sets it"),
        ({"do_sample": True, "num_return_sequences": 2}, "num_return_sequences=2"),
        ({"do_sample": True, "min_p": 0.1}, "min_p=0.1 has no place"),
        ({"return_dict_in_generate": True}, "returns token ids alone"),
        ({"max_time": 5.0}, "max_time=5.0 has no place .* leave it out"),
        ({"logits_processor": [penalty]}, "RepetitionPenaltyLogitsProcessor was passed to this"),
        ({"prefix_allowed_tokens_fn": lambda *_: [1]}, "PrefixConstrained.* was passed to this"),
        ({"stopping_criteria": [lambda *_: False]}, "function was passed to this"),
    ):
        with pytest.raises(ValueError, match=says):
            model.hf.generate(**inputs, **(how | change))
    with pytest.raises(ValueError, match=r"Row 0 .* is not the chat turn of prompt 0"):
        model.hf.generate(**inputs_of(model, images[::-1], prompts[::-1]), **how)
    with pytest.raises(ValueError, match="2 rows, but custom_generate was given 3"):
        model.hf.generate(**inputs_of(model, images[:2], prompts[:2]), **how)
    with pytest.raises(ValueError, match="holds 0 known instructions"):
        custom_generate(processor_of(model), images, ["What?"] * 3, SCI3, "strict")
    with pytest.warns(UserWarning, match="3 of 3 prompts hold no instruction"):
        custom_generate(processor_of(model), images, ["What?"] * 3, SCI3)


def test_a_refusal_names_the_argument_and_no_class_of_transformers():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(8), 1)
    decode = custom_generate(model.processor, images, prompts, SCI3)
    how = {"custom_generate": decode, "max_new_tokens": 2, "do_sample": True}
    inputs = inputs_of(model, images, prompts)
    for argument, value in {
        "epsilon_cutoff": 0.1,
        "eta_cutoff": 0.1,
        "guidance_scale": 1.5,
        "max_time": 5.0,
        "min_p": 0.1,
        "remove_invalid_values": True,
        "top_h": 0.5,
        "typical_p": 0.5,
        "watermarking_config": {"greenlist_ratio": 0.25},
    }.items():
        with pytest.raises(ValueError, match=f"^{argument}=.* has no place") as refusal:
            model.hf.generate(**inputs, **how, **{argument: value})
        assert not re.search("Processor|Warper|Criteria", str(refusal.value))


def test_without_a_seed_it_follows_torchs_generator():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(8), 2)
    inputs = inputs_of(model, images, prompts)
    how = {"max_new_tokens": 6, "do_sample": True, "temperature": 2.0}

    def sampled(torch_seed, **given):
        torch.manual_seed(torch_seed)
        decode = custom_generate(model.processor, images, prompts, SCI3, **given)
        return [written(model, inputs, custom_generate=decode, **how) for _ in range(2)]

    first, second = sampled(0)
    assert first != second  # a seed sets where the generator begins, not each call
    assert sampled(0) == [first, second] != sampled(1)
    (given, again), other = sampled(0, seed=3), sampled(1, seed=3)
    assert given == again == other[0]


def test_greedy_decoding_leaves_torchs_generator_alone():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(8), 1)
    decode = custom_generate(model.processor, images, prompts, SCI3)
    before = torch.random.get_rng_state()
    how = {"custom_generate": decode, "max_new_tokens": 2, "do_sample": False}
    model.hf.generate(**inputs_of(model, images, prompts), **how)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_attention_without_4d_masks_is_refused_by_name():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(9), 1)
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    text = model.hf.config.get_text_config()
    before = text._attn_implementation
    try:
        text._attn_implementation = "flex_attention"
        with pytest.raises(ValueError, match=r"'flex_attention' cannot take .* sdpa, eager"):
            decode(model.hf, torch.zeros(1, 1, dtype=torch.long))
    finally:
        text._attn_implementation = before
