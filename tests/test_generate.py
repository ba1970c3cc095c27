"""`generate` against its reference, against transformers, and against itself in other batches."""

import random
import re
from dataclasses import replace

import pytest
import torch
from PIL import Image

from sci_core import (
    BASE,
    M3ID,
    SCI3,
    SCI5,
    SCI5_LITE,
    SCI7,
    TIE,
    VCD,
    choose,
    generate,
    rewrite,
    sci,
    scores,
)
from sci_core.counterfactuals import reword
from tests import tiny
from tests.soak import TIMES, mostly

METHODS = (BASE, SCI7, TIE, SCI3, VCD, SCI5, M3ID, sci(0, 2), SCI5_LITE)

families = pytest.mark.parametrize("family", tiny.FAMILIES)


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_two_phase_equals_sequential(family):
    """Logits, tokens, stops; each method greedy or sampled, in `make soak` both."""
    model = tiny.load(family, "float64")
    generator = random.Random(f"{family} laws")
    cases = 0
    lengths, stops = set(), set()
    for trial in range(len(METHODS) if TIMES == 1 else 2 * len(METHODS)):
        turn, place = divmod(trial, len(METHODS))
        method = METHODS[place]
        images, prompts = tiny.random_questions(generator, 1 + trial % 6)
        settings = {"max_new_tokens": generator.randint(1, 12), "return_logits": True}
        if (turn + place) % 2:
            settings |= {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "seed": trial}
        fast = generate(model, images, prompts, method, **settings)
        plain = generate(model, images, prompts, method, engine="sequential", **settings)
        for one, other in zip(fast, plain, strict=True):
            cases += 1
            lengths.add(len(other.tokens))
            stops.add(other.stopped)
            assert (one.tokens, one.stopped, one.text) == (other.tokens, other.stopped, other.text)
            for ours, theirs in zip(one.logits, other.logits, strict=True):
                torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)
    assert cases >= 26 * (1 + (TIMES > 1)) and stops == {True, False} and len(lengths) >= 6


def test_one_token_is_fed_to_every_round():
    """Step by step with the reference's own rule: choose once, append the choice to all rounds."""
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(11), 1)
    answer = generate(model, images, prompts, SCI5, max_new_tokens=4, return_logits=True)[0]
    texts = [prompts[0], *(rewrite(prompts[0], name) for name in SCI5.textual)]
    picture = model.processor.prepare(images[0])
    for step, logits in enumerate(answer.logits):
        for place, text in enumerate(texts):
            ids = [*model.processor.token_ids([text], [picture.ids])[0], *answer.tokens[:step]]
            torch.testing.assert_close(logits[place], model.forward(ids, picture))
        score = scores(SCI5, logits[:, None], step=step)
        chosen = int(choose(score, samples=[0]))
        assert answer.tokens[step : step + 1] in [(chosen,), ()]


@families
def test_first_token_edit_goes_on_as_the_base(family):
    """After its first token the variant is plain decoding of the original round."""
    model = tiny.load(family, "float64")
    images, prompts = tiny.random_questions(random.Random(f"{family} edit"), 8)
    once = replace(SCI5, edit="first_token")
    answers = generate(model, images, prompts, once, max_new_tokens=5, return_logits=True)
    every = generate(model, images, prompts, SCI5, max_new_tokens=5)
    for answer, edited in zip(answers, every, strict=True):
        assert answer.tokens[:1] == edited.tokens[:1]
        for step, logits in enumerate(answer.logits[1:], start=1):
            best = int(logits[0].argmax())
            assert (answer.tokens[step:] or [best])[0] == best
    assert any(a.tokens != e.tokens for a, e in zip(answers, every, strict=True))


def test_sampling_follows_the_seed():
    model = tiny.load("llava_next", "float64")
    images, prompts = tiny.random_questions(random.Random(13), 4)
    first, again, other = (
        generate(model, images, prompts, SCI3, temperature=1.5, seed=seed) for seed in (0, 0, 1)
    )
    assert first == again != other


def test_equal_questions_draw_their_own_numbers():
    model = tiny.load("llava_next", "float64")
    images, prompts = tiny.random_questions(random.Random(14), 1)
    answers = generate(model, images * 6, prompts * 6, BASE, temperature=2.0)
    assert len({answer.tokens for answer in answers}) > 1


def test_rewrites_of_ones_own():
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(15), 3)
    known = [[rewrite(prompt, name) for name in SCI5.textual] for prompt in prompts]
    default = generate(model, images, prompts, SCI5, return_logits=True)
    given = generate(model, images, prompts, SCI5, rewrites=known, return_logits=True)
    assert [a.tokens for a in default] == [a.tokens for a in given]
    other = generate(
        model, images, prompts, SCI5, rewrites=[["One?", "Two?"]] * 3, return_logits=True
    )
    for one, two in zip(default, other, strict=True):
        changed = [not torch.equal(a, b) for a, b in zip(one.logits[0], two.logits[0], strict=True)]
        assert changed[1:3] == [True, True]


def test_an_answer_carries_what_was_asked_for():
    model = tiny.load("qwen2_vl")
    images, prompts = tiny.random_questions(random.Random(16), 4)
    for answer in generate(model, images, prompts, "SCI3", 3, return_logits=True):
        assert answer.rounds == ("original", "V1", "black")
        assert len(answer.logits) == len(answer.tokens) + answer.stopped <= 3
        assert all(logits.shape == (3, model.vocab_size) for logits in answer.logits)
        assert answer.text == model.tokenizer.decode(answer.tokens, skip_special_tokens=True)
        assert not set(answer.tokens) & model.eos_token_ids
    assert generate(model, images, prompts, "SCI3", 3)[0].logits is None


def test_no_question_no_answer():
    assert generate(tiny.load("qwen2_vl"), [], []) == []


IMAGE, PROMPT = Image.new("RGB", (40, 40)), "What? Please answer yes or no."


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"images": [IMAGE, IMAGE]}, "2 images but 1 prompts"),
        ({"method": "SCI4"}, "unknown method 'SCI4'"),
        ({"method": replace(SCI3, visual=("noise5000",))}, "unknown dummy image 'noise5000'"),
        ({"rewrites": []}, "0 lists of rewrites but 1 prompts"),
        ({"rewrites": [["One?"]]}, r"rewrites of question 0 are .* one text for each .*\(V1, V2\)"),
        ({"images": [Image.new("RGB", (1, 1))]}, "Question 0: The picture has 1 x 1"),
    ],
)
def test_wrong_calls_get_one_clear_sentence(change, says):
    call = {"images": [IMAGE], "prompts": [PROMPT], **change}
    with pytest.raises(ValueError, match=says):
        generate(tiny.load("qwen2_vl"), **call)


@pytest.mark.parametrize("prompts", [["What is it?"], [PROMPT, "Describe it."], ["图里有什么？"]])
def test_a_prompt_without_an_instruction_is_reworded_by_prefix_and_said_once(prompts):
    model = tiny.load("qwen2_vl")
    images, unknown = [IMAGE] * len(prompts), [text for text in prompts if text != PROMPT]
    said = f"1 of {len(prompts)} prompts hold no instruction .*{unknown[0][:5]}.*`prefix`"
    with pytest.warns(UserWarning, match=said) as warned:
        answers = generate(model, images, prompts)
    assert len(warned) == 1
    texts = [[reword(prompt, name) for name in SCI5.textual] for prompt in prompts]
    again = generate(model, images, prompts, rewrites=texts)
    assert [answer.tokens for answer in answers] == [answer.tokens for answer in again]
    generate(model, images, prompts, "VCD")  # nothing is reworded, so nothing is said


@pytest.mark.parametrize(
    ("prompt", "rewrites", "count"),
    [
        ("What is it?", "strict", 0),
        ("图里有什么？", "strict", 0),
        (f"{PROMPT} {PROMPT}", None, 2),
        (f"{PROMPT} {PROMPT}", "strict", 2),
        (f"{PROMPT}\n请直接回答选项字母。", None, 2),
        (f"{PROMPT} {PROMPT} {PROMPT}", None, 3),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_prompt_with_no_or_two_instructions_is_named_with_its_number(
    prompt, rewrites, count, place
):
    prompts = [PROMPT] * 3
    prompts[place] = prompt
    says = f"Question {place}: the prompt {re.escape(repr(prompt))} holds {count} known instruct"
    with pytest.raises(ValueError, match=says):
        generate(tiny.load("qwen2_vl"), [IMAGE] * 3, prompts, rewrites=rewrites)


def test_a_prompt_beyond_the_context_is_refused_and_named():
    model = tiny.load("qwen2_vl")
    image = tiny.random_image(random.Random(0))
    prompts = ["Is there a dog? Please answer yes or no.", "word " * 3000]
    settings = {"method": "base", "max_new_tokens": 2}
    with pytest.raises(ValueError, match=r"Question 1 takes [\d,]+ tokens .* context is 2,048"):
        generate(model, [image] * 2, prompts, **settings)
    ids = model.processor.token_ids(prompts[:1], [model.processor.prepare(image).ids])[0]
    fitting = 2048 - len(ids)
    everything = list(range(model.vocab_size))
    model = tiny.with_settings("qwen2_vl", "float32", eos_token_id=everything)  # ends at once
    generate(model, [image], prompts[:1], "base", fitting)
    with pytest.raises(ValueError, match=f"up to {fitting + 1:,} are to come"):
        generate(model, [image], prompts[:1], "base", fitting + 1)
