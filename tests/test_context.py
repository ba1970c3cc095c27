"""How many tokens a language model takes: windows that cut, frequencies that follow the length."""

import json
import random
import re
import shutil
from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

import tests.soak
from sci_core import SCI5, Question, generate, load_model, rewrite, start
from sci_core.families.models import adapt
from sci_core.families.precision import check_attention, context
from tests import tiny, tiny_kinds
from tests.soak import rarely

CONTEXT = 1000
ROUNDS = ("original", "V1", "V2", "black", "noise500")


@pytest.fixture
def with_text(tmp_path):
    """A tiny model in float64 whose language model has other settings."""

    def make(kind, **fields):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        shutil.copytree(tiny.checkpoint(kind), folder)
        config = json.loads((folder / "config.json").read_text())
        config["text_config"] |= {"max_position_embeddings": CONTEXT, **fields}
        (folder / "config.json").write_text(json.dumps(config))
        return load_model(folder, dtype="float64")

    return make


def asked(generator, words):
    """A question with so many more words in it."""
    prompt = "a " * words + tiny.random_prompt(generator)
    return Question(
        tiny.random_image(generator), prompt, tuple(rewrite(prompt, name) for name in ("V1", "V2"))
    )


def tokens_of(model, question):
    ids = model.processor.prepare(question.prepared).ids
    texts = [question.prompt, *question.rewrites]
    return max(map(len, model.processor.token_ids(texts, [ids] * len(texts))))


SLIDING = {"use_sliding_window": True, "layer_types": ["full_attention", "sliding_attention"]}
WINDOWS = {
    "qwen2_vl": SLIDING,
    "qwen2_5_vl": {**SLIDING, "layer_types": ["sliding_attention"] * 2},
    "llava_next_mistral": {},
    "llava_next_qwen2": SLIDING,
    "internvl": SLIDING,
}


@pytest.mark.parametrize("width", [8, 64, 512, CONTEXT - 1])
@pytest.mark.parametrize("kind", WINDOWS)
def test_a_window_that_cuts_is_refused(kind, width, with_text):
    with pytest.raises(ValueError, match=f"a sliding window of {width:,} tokens, shorter"):
        with_text(kind, **WINDOWS[kind], sliding_window=width)


def test_a_window_is_refused_where_no_context_is_known():
    text = SimpleNamespace(max_position_embeddings=None, layer_types=None, sliding_window=4096)
    decoder = tiny.load("llava").hf.get_decoder()
    with pytest.raises(ValueError, match=r"my model attends .* window of 4,096 tokens, shorter"):
        check_attention("my model", text, decoder)
    text.max_position_embeddings = 4096
    check_attention("my model", text, decoder)


def test_a_configuration_that_states_no_context_has_none():
    assert context(SimpleNamespace(max_position_embeddings=None)) is None


@pytest.mark.parametrize("kind", [*[*WINDOWS][:2], *map(rarely, [*WINDOWS][2:])])
def test_a_window_that_cuts_nothing_is_taken_and_exact(kind, with_text):
    """As wide as the whole context or wider, or of layers that the model has none of."""
    widths = [{**WINDOWS[kind], "sliding_window": width} for width in (CONTEXT, CONTEXT + 1, 4096)]
    if "layer_types" in WINDOWS[kind]:
        widths.append(WINDOWS[kind] | {"layer_types": ["full_attention"] * 2, "sliding_window": 8})
    generator = random.Random(kind)
    questions = [asked(generator, words) for words in (0, 3, 30, 300)]
    plain = tiny.load(kind, "float64")
    slow = start(plain, questions, ROUNDS, "sequential").logits
    for fields in widths:
        model = with_text(kind, **fields)
        for engine in ("two_phase", "sequential"):
            logits = start(model, questions, ROUNDS, engine).logits
            torch.testing.assert_close(logits, slow, atol=1e-9, rtol=0)
    with pytest.raises(ValueError, match=f"context is {CONTEXT:,}"):
        start(model, [asked(generator, CONTEXT)], ROUNDS)


HALF = CONTEXT // 2
FACTORS = {"short_factor": [1.0] * 4, "long_factor": [1.5, 2.0, 3.0, 4.0]}
OF_HALF = {"factor": 2.0, "original_max_position_embeddings": HALF}
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
ROPES = {
    "linear": ({"factor": 2.0}, 2 * CONTEXT),
    "dynamic": ({"factor": 2.0}, CONTEXT),
    "dynamic, as older files spell it": ({"type": "dynamic", "factor": 2.0}, CONTEXT),
    "yarn": (OF_HALF, CONTEXT),
    "yarn beside the length before it": (
        {"factor": 1.5, "original_max_position_embeddings": CONTEXT},
        CONTEXT * 3 // 2,
    ),
    "yarn that states no length": ({"factor": 1.5}, CONTEXT * 3 // 2),
    "longrope": ({**FACTORS, **OF_HALF}, HALF),
    "llama3": ({**OF_HALF, **LLAMA3}, CONTEXT),
}


KINDS = ("llava_next", "llava_next_qwen2", "smolvlm", "qwen2_vl")
# Each stretch with a kind of model in turn; in `make soak` with every kind.
STRETCHED = [
    (kind, rope)
    for place, rope in enumerate(ROPES)
    for kind in (KINDS if tests.soak.TIMES > 1 else (KINDS[place % len(KINDS)],))
]


@pytest.mark.parametrize(("kind", "rope"), STRETCHED)
def test_a_question_is_refused_or_read_as_it_would_be_alone(kind, rope, with_text):
    """However positions are stretched: in any batch, and one token later."""
    fields, longest = ROPES[rope]
    name = re.match(r"\w+", rope)[0]
    parameters = {"rope_theta": 1e4, **fields} | ({} if "type" in fields else {"rope_type": name})
    parameters |= {"mrope_section": [2, 1, 1]} if kind == "qwen2_vl" else {}
    model = with_text(kind, rope_parameters=parameters)
    text = model.hf.config.get_text_config()
    assert text.rope_parameters["rope_type"] == name and context(text) == longest

    @tests.soak.examples(4)
    @given(st.lists(st.integers(0, 400), min_size=1, max_size=3), st.randoms())
    def holds(words, generator):
        questions = [asked(generator, count) for count in words]
        fits = max(tokens_of(model, question) for question in questions) + 1 <= longest
        if not fits:
            with pytest.raises(ValueError, match=rf"context.* is {longest:,}\."):
                start(model, questions, ROUNDS, new_tokens=1)
            return
        fast, slow = (
            start(model, questions, ROUNDS, engine, new_tokens=1)
            for engine in ("two_phase", "sequential")
        )
        torch.testing.assert_close(fast.logits, slow.logits, atol=1e-9, rtol=0)
        for rounds in (fast, slow):
            rounds.advance(torch.full((len(questions),), 65))
        torch.testing.assert_close(fast.logits, slow.logits, atol=1e-9, rtol=0)

    holds()
    with pytest.raises(ValueError, match=rf"context.* is {longest:,}\."):
        start(model, [asked(random.Random(0), longest)], ROUNDS)


@pytest.mark.parametrize("rope", ["dynamic", "longrope"])
def test_what_changes_with_the_length_is_said_where_it_is_refused(rope, with_text):
    fields, longest = ROPES[rope]
    parameters = {"rope_type": rope, "rope_theta": 1e4, **fields}
    model = with_text("llava_next", rope_parameters=parameters)
    question = asked(random.Random(1), longest)
    says = f"Question 0 takes .* with one set of {rope} frequencies is {longest:,}"
    with pytest.raises(ValueError, match=says):
        generate(model, [question.image], [question.prompt], SCI5, 1)


# --- other language models -----------------------------------------------------------------------

EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
LATENT = {
    "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8,
    "v_head_dim": 8, "qk_nope_head_dim": 8, "n_routed_experts": 4, "n_group": 2,
    "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
}  # fmt: skip
LONGROPE = {"rope_type": "longrope", "rope_theta": 1e4, **FACTORS}
BY_KIND = {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
PLAIN = {
    "Gemma": {"head_dim": 8},
    "Gemma3Text": {
        "head_dim": 8,
        "sliding_window": 4096,
        "rope_parameters": {**BY_KIND, "full_attention": {**LONGROPE, **OF_HALF}},
    },
    "GPTNeoX": {},
    "Persimmon": {"num_key_value_heads": 4},
    "DeepseekV3": LATENT,
    "SmolLM3": {"no_rope_layers": [1, 0]},
    "Phi3": {"sliding_window": None},
}
NOT_PLAIN = {
    "Gemma3Text": ({"head_dim": 8, "use_bidirectional_attention": True}, "Gemma3Attention"),
    "Llama4Text": ({"head_dim": 8, "attention_chunk_size": 64}, "chunked_attention"),
    "Qwen3Next": (
        {"layer_types": ["linear_attention", "full_attention"], **EXPERTS},
        "linear_attention",
    ),
    "Lfm2": ({"layer_types": ["conv", "full_attention"]}, "conv"),
    "RecurrentGemma": ({"sliding_window": None}, "linear_attention"),
    "xLSTM": ({"hidden_size": 64, "num_heads": 2}, "no keys and values"),
}


def with_language_model(name, fields):
    """A LLaVA around another language model, in float64."""
    plain = tiny.load("llava", "float64")
    config = deepcopy(plain.hf.config)
    text = tiny_kinds.text_config(plain.tokenizer) | {"max_position_embeddings": CONTEXT, **fields}
    config.text_config = getattr(transformers, f"{name}Config")(**text)
    torch.manual_seed(0)
    hf = transformers.LlavaForConditionalGeneration(config).double().eval()
    return adapt(hf, plain.tokenizer, plain.processor.image_processor, name="my model")


@pytest.mark.parametrize("name", PLAIN)
def test_another_language_model_is_read_as_it_would_be_alone(name):
    model = with_language_model(name, PLAIN[name])
    generator = random.Random(name)
    questions = [asked(generator, words) for words in (0, 3, 60)]
    logits = [start(model, questions, ROUNDS, e).logits for e in ("two_phase", "sequential")]
    torch.testing.assert_close(*logits, atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_a_language_model_that_is_not_plain_causal_attention_is_refused(name):
    fields, part = NOT_PLAIN[name]
    with pytest.raises(ValueError, match=rf"of my model, .*not plain causal attention \({part}"):
        with_language_model(name, fields)


def test_of_frequencies_for_each_kind_of_layer_the_shortest_length_counts():
    text = SimpleNamespace(max_position_embeddings=CONTEXT, rope_parameters=BY_KIND)
    assert context(text) == CONTEXT
    text.rope_parameters = PLAIN["Gemma3Text"]["rope_parameters"]
    assert context(text) == HALF
