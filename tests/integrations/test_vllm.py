"""The processor and the calls of vLLM: answers of complete groups alone, and what is refused."""

import json
import os
import random
from types import SimpleNamespace

import pytest
import torch

from sci_book.resources import CHECKPOINTS, RESULTS, ROOT
from sci_core import METHODS, generate
from sci_core.families.settings import Rules
from tests import tiny
from tests.integrations import stand_ins
from tests.integrations.vllm_engine import Engine
from tests.soak import mostly

MODULE = "sci_book.integrations.vllm"


@pytest.fixture(scope="module")
def plugin():
    with stand_ins.in_place(stand_ins.VLLM, MODULE) as module:
        yield module


def served(plugin, family="qwen2_vl", fault=lambda step, request: None, **limits):
    """An engine of the tiny model, in the place of vLLM's own."""
    from vllm.v1.sample.logits_processor import BatchUpdate

    class Served(plugin.LLM):
        def __init__(self):
            name = tiny.checkpoint(family)
            self.llm_engine = Engine(plugin, BatchUpdate, tiny.load(family), name, fault, **limits)

    return Served()


def expected(family, images, prompts, *more, **settings):
    """The answers of the reference engine, whose passes are the stand-in's own."""
    model = tiny.load(family)
    return generate(model, images, prompts, *more, engine="sequential", **settings)


def said(answers):
    return [(answer.tokens, answer.end, answer.text, answer.error) for answer in answers]


def test_the_tool_has_the_interface_that_is_written_down():
    if not stand_ins.installed("vllm"):
        pytest.skip("vLLM is not installed (`make integrations` makes an environment with it)")
    assert stand_ins.differences(stand_ins.VLLM) == []


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
@pytest.mark.parametrize("method", ["base", "VCD", "M3ID", "SCI5", "SCI7", "SCI5-lite", "VDD"])
def test_answers_are_those_of_generate(family, method, plugin):
    images, prompts = tiny.random_questions(random.Random(f"{family} {method}"), 4)
    llm, counts = served(plugin, family), plugin.Counts()
    found = plugin.generate(llm, images, prompts, method, 4, counts=counts)
    assert said(found) == said(expected(family, images, prompts, method, 4))
    rounds = len(METHODS[method].rounds)
    assert (counts.incomplete, counts.asked_again) == (0, 0)
    assert rounds <= llm.llm_engine.busiest <= 13
    assert counts.steps == llm.llm_engine.steps and counts.prompt_tokens > 0


@pytest.mark.parametrize(
    "settings", [{"temperature": 0.7}, {"temperature": 2.0, "top_k": 9, "top_p": 0.8, "seed": 3}]
)
def test_sampled_answers_have_the_kernels_own_numbers(settings, plugin):
    images, prompts = tiny.random_questions(random.Random(4), 5)
    found = plugin.generate(served(plugin), images, prompts, "SCI5", 5, **settings)
    assert said(found) == said(expected("qwen2_vl", images, prompts, "SCI5", 5, **settings))


@pytest.mark.parametrize("noise", ["clamp", "unresized"])
def test_noise_is_drawn_as_generate_draws_it(noise, plugin):
    images, prompts = tiny.random_questions(random.Random(noise), 3)
    found = plugin.generate(served(plugin), images, prompts, "VCD", 3, noise=noise)
    assert said(found) == said(expected("qwen2_vl", images, prompts, "VCD", 3, noise=noise))


def test_the_checkpoints_settings_are_applied(plugin, monkeypatch):
    settings = {"repetition_penalty": 1.3, "suppress_tokens": [5, 9]}
    model = tiny.with_settings("qwen2_vl", "float32", **settings)
    monkeypatch.setattr(plugin, "asker", lambda llm: model)
    images, prompts = tiny.random_questions(random.Random(8), 4)
    found = plugin.generate(served(plugin), images, prompts, "SCI3", 5)
    ours = generate(model, images, prompts, "SCI3", 5, engine="sequential")
    assert said(found) == said(ours)
    assert said(ours) != said(expected("qwen2_vl", images, prompts, "SCI3", 5))


@pytest.mark.parametrize("kind", ["hold", "part"])
@pytest.mark.parametrize("late", [0, 1])
def test_rounds_that_fall_apart_are_counted_and_asked_again(kind, late, plugin):
    """As a lack of seats, preemption or a prompt read in parts would have it, for one question."""
    images, prompts = tiny.random_questions(random.Random(11), 5)
    right = expected("qwen2_vl", images, prompts, "SCI5", 4)
    longer = next(place for place, answer in enumerate(right) if len(answer.tokens) > 1)
    wrong = []

    def fault(step, request):
        if request.name == f"{longer}-1" and len(request.written) == late and not wrong:
            wrong.append(step)
            return kind
        return None

    llm, counts = served(plugin, fault=fault, max_num_seqs=32), plugin.Counts()
    found = plugin.generate(llm, images, prompts, "SCI5", 4, counts=counts)
    assert said(found) == said(right)
    assert wrong and counts.asked_again == 1 and counts.incomplete > 0
    assert not llm.llm_engine.requests


def test_rounds_that_fall_apart_twice_are_an_error_and_no_answer(plugin):
    def fault(step, request):
        return "hold" if request.name == "1-2" and step % 2 else None

    images, prompts = tiny.random_questions(random.Random(12), 3)
    llm = served(plugin, fault=fault)
    with pytest.raises(RuntimeError, match="The 5 rounds of question 1 were read in different"):
        plugin.generate(llm, images, prompts, "SCI5", 4)
    assert not llm.llm_engine.requests


def test_every_random_fault_is_mended_or_an_error(plugin):
    """Whatever is held back or read in parts, an answer that is returned is the right one."""
    images, prompts = tiny.random_questions(random.Random(13), 3)
    right = said(expected("qwen2_vl", images, prompts, "SCI3", 4))
    outcomes = set()
    for seed in range(8):
        chance = random.Random(seed)

        def fault(step, request, chance=chance):
            return chance.choice(["hold", "part"]) if chance.random() < 0.03 else None

        counts = plugin.Counts()
        try:
            llm = served(plugin, fault=fault)
            found = plugin.generate(llm, images, prompts, "SCI3", 4, counts=counts)
        except RuntimeError:
            outcomes.add("error")
            continue
        assert said(found) == right
        outcomes.add("again" if counts.asked_again else "at once")
    assert "again" in outcomes


def test_logits_that_are_not_finite_end_their_own_answer_alone(plugin, monkeypatch):
    images, prompts = tiny.random_questions(random.Random(14), 3)
    llm = served(plugin)
    model, plain = llm.llm_engine._model, llm.llm_engine._model.forward
    bad = llm.llm_engine.render_cmpl  # the second question's second round is spoilt

    def spoilt(prompts):
        inputs = bad(prompts)
        if len(seen) == 1:
            inputs[1]["picture"] = SimpleNamespace(spoilt=True, picture=inputs[1]["picture"])
        seen.append(prompts)
        return inputs

    def forward(ids, picture):
        if hasattr(picture, "spoilt"):
            return torch.full_like(plain(ids, picture.picture), torch.nan)
        return plain(ids, picture)

    seen = []
    llm.llm_engine.render_cmpl = spoilt
    llm.llm_engine._model = SimpleNamespace(
        forward=forward, processor=model.processor, image_token_id=model.image_token_id
    )
    with pytest.warns(RuntimeWarning, match="1 of 3 answers end early"):
        found = plugin.generate(llm, images, prompts, "SCI3", 3)
    assert "the logits of V1 are not finite at step 0" in found[1].error
    right = said(expected("qwen2_vl", images, prompts, "SCI3", 3))
    assert [said(found)[place] for place in (0, 2)] == [right[0], right[2]]
    assert not llm.llm_engine.requests


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"max_num_seqs": 4}, "max_num_seqs=5 or more .* the engine has 4"),
        ({"max_num_batched_tokens": 40}, "max_num_batched_tokens=.* the engine has 40"),
        ({"num_gpu_blocks": 5}, "num_gpu_blocks=.* the engine has 4.*kv_cache_memory_bytes"),
        ({"max_model_len": 9}, "max_model_len=.* the engine has 9"),
    ],
)
def test_an_engine_too_small_for_a_group_is_refused(limits, named, plugin):
    images, prompts = tiny.random_questions(random.Random(15), 2)
    llm = served(plugin, **limits)
    with pytest.raises(ValueError, match=named):
        plugin.generate(llm, images, prompts, "SCI5", 3)
    assert not llm.llm_engine.steps


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        (None, "speculative_config", "a draft"),
        (None, "use_v2_model_runner", True),
        ("parallel_config", "world_size", 2),
        ("parallel_config", "data_parallel_size", 2),
        ("scheduler_config", "async_scheduling", True),
        ("scheduler_config", "long_prefill_token_threshold", 8),
        ("model_config", "logits_processors", []),
    ],
)
def test_settings_that_part_rounds_are_refused(part, name, value, plugin):
    images, prompts = tiny.random_questions(random.Random(16), 1)
    llm = served(plugin)
    config = llm.llm_engine.vllm_config
    setattr(getattr(config, part) if part else config, name, value)
    with pytest.raises(ValueError, match=f"{name} of the engine is .*; expected "):
        plugin.generate(llm, images, prompts)


def test_an_engine_in_another_process_is_refused(plugin):
    llm = served(plugin)
    llm.llm_engine.engine_core = object()
    with pytest.raises(ValueError, match="engine_core of the engine is 'object'"):
        plugin.generate(llm, *tiny.random_questions(random.Random(16), 1))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"noise": "normalized"}, "vLLM is handed pictures"),
        ({"method": "SCI99"}, "SCI99"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"temperature": -1}, "temperature"),
    ],
)
def test_what_cannot_be_asked_is_refused(settings, named, plugin):
    images, prompts = tiny.random_questions(random.Random(17), 1)
    with pytest.raises(ValueError, match=named):
        plugin.generate(served(plugin), images, prompts, **settings)


def test_what_is_no_engine_is_refused(plugin):
    with pytest.raises(TypeError, match="llm"):
        plugin.generate(object(), [], [])


def test_the_engine_is_made_in_this_process_and_checked(plugin, monkeypatch):
    made = []

    class Made(plugin.LLM):
        def __init__(self, **settings):
            made.append((settings, os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"]))
            self.llm_engine = served(plugin).llm_engine

    monkeypatch.setattr(plugin, "LLM", Made)
    monkeypatch.delenv("VLLM_ENABLE_V1_MULTIPROCESSING", raising=False)
    plugin.load_llm("folder", dtype="float32", min_pixels=4)
    ((settings, processes),) = made
    assert processes == "0" and "VLLM_ENABLE_V1_MULTIPROCESSING" not in os.environ
    assert settings["model"] == "folder" and settings["dtype"] == "float32"
    assert settings["mm_processor_kwargs"] == {"min_pixels": 4}
    assert settings["logits_processors"] == [plugin.RoundsProcessor]
    with pytest.raises(ValueError, match="speculative_config"):
        plugin.load_llm("folder", speculative_config={"model": "draft"})
    assert len(made) == 1


def test_other_requests_of_the_batch_are_left_alone(plugin):
    """A row of nobody's keeps its logits; one that a stranger takes over is no round any more."""
    from vllm.v1.sample.logits_processor import BatchUpdate

    processor = plugin.RoundsProcessor(None, "cpu", False)
    assert not processor.is_argmax_invariant()
    group = plugin.Group(METHODS["VCD"], {"temperature": 0.0}, 0, 5, Rules([1, 2]))
    ours = [plugin.SamplingParams(extra_args={"sci": (group, number)}) for number in range(2)]
    other = plugin.SamplingParams(extra_args=None)
    added = [(0, ours[1], None, []), (1, other, None, []), (2, ours[0], None, [])]
    processor.update_state(BatchUpdate(3, [], added, []))
    logits = torch.randn(3, 9, generator=torch.Generator().manual_seed(0))
    found = processor.apply(logits.clone())
    assert torch.equal(found[1], logits[1]) and group.incomplete == 0
    assert found[0].argmax() == found[2].argmax() == group.chosen[0]
    assert torch.isposinf(found[[0, 2]]).sum() == 2
    processor.update_state(None)
    processor.update_state(BatchUpdate(3, [], [(0, other, None, [])], []))
    again = processor.apply(logits.clone())
    assert torch.equal(again, logits) and group.incomplete == 1


def test_what_was_measured_is_whole_and_the_page_says_it():
    found = json.loads((RESULTS / "vllm" / "parity.json").read_text(encoding="utf-8"))
    page = " ".join((ROOT / "book" / "serving_with_vllm.md").read_text(encoding="utf-8").split())
    assert found["answers"] == found["equal"] + found["near_ties"] >= 1000
    assert found["incomplete"] == found["asked_again"] == 0 and len(found["models"]) == 2
    assert f"{found['equal']:,} of {found['answers']:,} answers" in page
    assert f"{found['cached_tokens']:,} of {found['prompt_tokens']:,} tokens" in page
    for model in found["models"].values():
        assert [each.startswith("Question 0 with") for each in model["refused"]] == [True, True]
        for share in model["processor_shares"]:
            assert f"{100 * share['median']:.1f} %" in page


@pytest.mark.skipif(not stand_ins.installed("vllm"), reason="vLLM is not installed")
def test_vllm_itself_answers_as_generate_does(plugin):
    from sci_core import load_model

    checkpoint = CHECKPOINTS / "pocket-qwen2vl"
    llm = plugin.load_llm(
        str(checkpoint), dtype="float32", enforce_eager=True, max_model_len=512, block_size=32,
        max_num_seqs=13, max_num_batched_tokens=1024, kv_cache_memory_bytes=1 << 28,
    )  # fmt: skip
    model = load_model(checkpoint, device="cpu")
    images, prompts = tiny.random_questions(random.Random(20), 8)
    for settings in ({"method": "SCI5"}, {"method": "M3ID"}, {"temperature": 1.0, "seed": 5}):
        counts = plugin.Counts()
        found = plugin.generate(llm, images, prompts, max_new_tokens=6, counts=counts, **settings)
        ours = generate(model, images, prompts, max_new_tokens=6, **settings)
        assert said(found) == said(ours)
        assert counts.incomplete == 0
    images, prompts = tiny.random_questions(random.Random(21), 2)
    with pytest.raises(ValueError, match="max_num_seqs=16 or more"):
        plugin.generate(llm, images, prompts, "SCI(M=8, N=7)")
    # a refused question leaves nothing behind in the engine
    found = plugin.generate(llm, images, prompts, "SCI5")
    assert said(found) == said(generate(model, images, prompts, "SCI5"))
