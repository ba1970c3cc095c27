"""`model.generate(..., custom_generate=...)` of an unmodified model says what `generate` says."""

import inspect
import random
import re
import threading
import warnings
from copy import copy
from dataclasses import replace

import pytest
import torch
from transformers import (
    CompileConfig,
    DynamicCache,
    GenerationConfig,
    GenerationMixin,
    TextIteratorStreamer,
)
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor
from transformers.generation.streamers import BaseStreamer

from sci_core import BASE, SCI3, SCI5, VCD, custom_generate, generate, sci
from sci_core.custom_generate import FOLLOWED
from sci_core.families import settings
from tests import tiny
from tests.soak import mostly
from tests.transformers_inputs import expected, inputs_of, processor_of, written

families = pytest.mark.parametrize("family", tiny.FAMILIES)


BY_MEAN = replace(SCI5, name="by mean", rule="mean")


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES[::-1]))
@pytest.mark.parametrize("method", [BASE, VCD, SCI3, SCI5, BY_MEAN], ids=lambda method: method.name)
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
    for change, says in (
        ({"num_beams": 2}, "num_beams=2 has no place .* This call of generate sets it"),
        ({"do_sample": True, "num_return_sequences": 2}, "num_return_sequences=2"),
        ({"return_dict_in_generate": True}, "returns token ids alone"),
        ({"max_time": 5.0}, "max_time=5.0 has no place .* leave it out"),
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


class Recorder(BaseStreamer):
    """A streamer that keeps what it is given."""

    def __init__(self):
        self.given, self.ended = [], 0

    def put(self, value):
        self.given.append(value)

    def end(self):
        self.ended += 1


@families
@pytest.mark.parametrize("sampling", [{"do_sample": False}, {"do_sample": True, "top_k": 9}])
def test_a_streamer_is_given_each_token_and_is_ended(family, sampling):
    """The prompt, then what transformers' own decoding would give it: a token at a time."""
    model = tiny.load(family, "float64")
    for number in range(4):
        images, prompts = tiny.random_questions(random.Random(f"{family} stream {number}"), 1)
        decode = custom_generate(processor_of(model), images, prompts, SCI3, seed=number)
        inputs, streamer = inputs_of(model, images, prompts), Recorder()
        how = {"max_new_tokens": 5, "custom_generate": decode, **sampling}
        (row,) = written(model, inputs, streamer=streamer, **how)
        prompt, *tokens = streamer.given
        assert torch.equal(prompt, inputs["input_ids"]) and streamer.ended == 1
        assert [token.tolist() for token in tokens] == [[token] for token in row]
        texts = TextIteratorStreamer(model.tokenizer, skip_prompt=True, timeout=20)
        thread = threading.Thread(
            target=model.hf.generate, kwargs=dict(**inputs, **how, streamer=texts)
        )
        thread.start()
        assert "".join(texts) == model.tokenizer.decode(row)
        thread.join()


def test_a_streamer_is_ended_when_a_call_is_refused_too():
    """Whoever reads it in another thread would wait for ever."""
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(4), 2)
    for count, more, says in (
        (2, {}, "A streamer takes the tokens of one question; this call of generate has 2"),
        (1, {"max_time": 3.0}, "max_time=3.0 has no place"),
        (1, {"synced_gpus": True}, "synced_gpus has no place"),
        (1, {"output_scores": True}, "output_scores=True has no place"),
        (1, {"cache_implementation": "offloaded"}, "cache_implementation='offloaded' has no"),
    ):
        inputs, streamer = inputs_of(model, images[:count], prompts[:count]), Recorder()
        decode = custom_generate(processor_of(model), images[:count], prompts[:count], SCI3)
        how = {"custom_generate": decode, "max_new_tokens": 2, "do_sample": False, **more}
        with warnings.catch_warnings(action="ignore"), pytest.raises(ValueError, match=says):
            model.hf.generate(**inputs, **how, streamer=streamer)
        assert streamer.ended == 1


ARGUMENTS = inspect.signature(GenerationMixin.generate).parameters
# What a test of another argument shows to be heeded, or what chooses this decoding.
HEEDED = {"self", "inputs", "generation_config", "streamer", "custom_generate", "kwargs"}


@pytest.fixture(scope="module")
def a_call():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(8), 1)
    decode = custom_generate(model.processor, images, prompts, SCI3)
    return (
        model,
        inputs_of(model, images, prompts),
        {"custom_generate": decode, "max_new_tokens": 3},
    )


def test_no_argument_of_transformers_generate_is_accepted_and_ignored(a_call):
    """All that the installed version has, by name, and what its models take beside them."""
    model, inputs, how = a_call
    ids = inputs["input_ids"]
    values = {
        "logits_processor": [RepetitionPenaltyLogitsProcessor(1.3)],
        "stopping_criteria": [lambda *_: False],
        "prefix_allowed_tokens_fn": lambda *_: [1],
        "synced_gpus": True,
        "assistant_model": model.hf,
        "negative_prompt_ids": ids,
        "negative_prompt_attention_mask": torch.ones_like(ids),
    }
    assert {*values} | HEEDED == {*ARGUMENTS}  # another one needs a decision
    values |= {
        "past_key_values": DynamicCache(config=model.hf.config.get_text_config()),
        "inputs_embeds": torch.zeros(*ids.shape, 32),
        "position_ids": torch.zeros_like(ids),
        "logits_to_keep": 1,
        "video_grid_thw": torch.ones(1, 3, dtype=torch.long),
    }
    for name, value in values.items():
        objects = {"logits_processor": "Repetition", "stopping_criteria": "function"}
        says = f"{objects[name]}.* was passed to" if name in objects else f"^{name} has no place"
        with pytest.raises(ValueError, match=says):
            model.hf.generate(**inputs, **how, do_sample=False, **{name: value})
    for name in values:
        model.hf.generate(**inputs, **how, do_sample=False, **{name: None})


def test_no_setting_of_transformers_is_accepted_and_ignored(a_call):
    """It is applied (`tests.test_settings`), refused by name, or without effect there, too."""
    model, inputs, how = a_call
    odd = {
        "cache_implementation": "static", "cache_config": {"nbits": 4}, "max_cache_len": 99,
        "compile_config": CompileConfig(), "speculation_type": "x", "use_cache": False,
        "early_stopping": True, "length_penalty": 2.0, "num_beam_groups": 2, "low_memory": True,
        "diversity_penalty": 0.5, "forced_bos_token_id": 3, "output_scores": True,
        "output_logits": True, "output_attentions": True, "output_hidden_states": True,
        "return_dict_in_generate": True, "prompt_lookup_num_tokens": 2, "num_assistant_tokens": 3,
        "num_assistant_tokens_schedule": "heuristic", "assistant_confidence_threshold": 0.5,
        "assistant_early_exit": 1, "assistant_lookbehind": 3, "target_lookbehind": 3,
        "assistant_ensemble_weight": 0.5, "is_assistant": True, "max_matching_ngram_size": 2,
        "prefill_chunk_size": 4, "use_mtp": True, "decoder_start_token_id": 4,
        "continuous_batching_config": {"a": 1},
    }  # fmt: skip
    known = {*FOLLOWED, *settings.APPLIED, *settings.SET_ASIDE, *settings.SAMPLERS, *odd}
    ours = {name for name in vars(GenerationConfig()) if not name.startswith("_")}
    assert ours <= known  # another one needs a decision
    for name in ours & {*odd}:
        with warnings.catch_warnings(action="ignore"), pytest.raises(ValueError, match=name):
            model.hf.generate(**inputs, **how, do_sample=False, **{name: odd[name]})


def test_settings_at_their_usual_values_are_no_request(a_call):
    model, inputs, how = a_call
    plain = model.hf.generate(**inputs, **how, do_sample=False)
    usual = {
        "num_beams": 1, "use_cache": True, "output_scores": False, "return_dict_in_generate": False,
        "early_stopping": False, "length_penalty": 1.0, "renormalize_logits": True,
        "disable_compile": True, "pad_token_id": model.tokenizer.pad_token_id,
    }  # fmt: skip
    for name, value in usual.items():
        found = model.hf.generate(**inputs, **how, do_sample=False, **{name: value})
        assert torch.equal(found, plain)
    own = GenerationConfig(**usual, max_new_tokens=3, eos_token_id=sorted(model.eos_token_ids))
    given = {"custom_generate": how["custom_generate"], "generation_config": own}
    assert torch.equal(model.hf.generate(**inputs, **given), plain)


@pytest.mark.parametrize("kind", ["qwen2_vl", "llava_next", "llava", "internvl", "smolvlm"])
def test_pixels_of_other_pictures_are_refused(kind):
    """Also of pictures of one size, whose token ids are the same."""
    model = tiny.load(kind)
    generator = random.Random(kind)
    images = [tiny.random_image(generator).resize((70, 50)) for _ in range(3)]
    prompts = ["Is it red? Please answer yes or no."] * 3
    decode = custom_generate(processor_of(model), images, prompts, SCI3)
    pictures = [model.processor.prepare(image) for image in images]
    ids = model.processor.token_ids(prompts, [picture.ids for picture in pictures])
    config = copy(model.hf.generation_config)
    config.max_length = len(ids[0]) + 2
    config._eos_token_tensor = config._pad_token_tensor = None

    def answers(*order):
        shown = [pictures[k].inputs["pixel_values"] for k in order]
        pixels = torch.cat(shown).half()
        return decode(model.hf, torch.tensor(ids), generation_config=config, pixel_values=pixels)

    answers(0, 1, 2)
    for order, wrong in (((0, 2, 1), 1), ((1, 0, 2), 0), ((0, 1, 0), 2), ((0, 1), 2)):
        with pytest.raises(ValueError, match=f"row {wrong} are not those of picture {wrong}"):
            answers(*order)


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
