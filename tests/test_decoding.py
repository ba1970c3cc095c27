"""What goes wrong in one question touches no other; what is forbidden is not said."""

import random
import warnings
from dataclasses import replace

import pytest
import torch
from transformers.generation.logits_process import SuppressTokensLogitsProcessor

from sci_core import SCI5, PrefixCache, generate, load_model, scores
from sci_core.engine.decoding import Decoding, decode
from sci_core.engine.questions import Question, ask, round_images
from sci_core.families.settings import GenerationSettings, Rules
from tests import tiny

families = pytest.mark.parametrize("family", tiny.FAMILIES)
REWRITES = ("Look. What is it?", "Say what it is.")


def own_model(family):
    """A model of this test's own, to be broken."""
    return load_model(tiny.checkpoint(family), dtype="float64", device="cpu")


def questions(count):
    generator = random.Random(count)
    images = [tiny.random_image(generator) for _ in range(count)]
    return images, ["What is it?"] * count, [list(REWRITES) for _ in range(count)]


@families
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("gate", [True, False])
def test_a_broken_round_is_named_and_ends_its_question_alone(family, value, gate):
    """A token that only one rewrite has is broken. All rounds packed beside it break with it, but
    the one at fault is named."""
    model = own_model(family)
    images, prompts, rewrites = questions(5)
    whole = generate(model, images, prompts, SCI5, 5, rewrites, gate=gate)
    rewrites[3][1] = "Say ω."
    broken = set(model.tokenizer("ω", add_special_tokens=False)["input_ids"])
    assert not broken & set(model.tokenizer(" ".join(REWRITES) + prompts[0])["input_ids"])
    model.hf.get_input_embeddings().weight[list(broken)] = value
    with pytest.warns(RuntimeWarning, match="1 of 5 answers end early, with an error: Question 3"):
        found = generate(model, images, prompts, SCI5, 5, rewrites, gate=gate)
    assert found[3].error.startswith("Question 3: the logits of V2 are not finite at step 0;")
    assert (found[3].tokens, found[3].end, found[3].looked) == ((), None, ())
    for place in (0, 1, 2, 4):
        assert found[place] == whole[place] and found[place].error is None


@families
def test_a_broken_visual_round_ends_those_that_looked(family):
    model = own_model(family)
    images, prompts, rewrites = questions(16)
    method = replace(SCI5, beta=0.9)  # which leaves one token more often
    whole = generate(model, images, prompts, method, 2, rewrites)
    encode = model.encode

    def encode_black_wrong(pictures):
        black = [len(each.inputs["pixel_values"].unique()) <= 3 for each in pictures]
        features = encode(pictures)
        return [
            each * torch.nan if bad else each for bad, each in zip(black, features, strict=True)
        ]

    model.encode = encode_black_wrong
    model.forward = lambda ids, picture: torch.zeros(model.vocab_size)  # finite: tell by the batch
    with pytest.warns(RuntimeWarning, match="answers end early"):
        found = generate(model, images, prompts, method, 2, rewrites)
    assert {any(answer.looked) for answer in whole} == {True, False}
    for number, (answer, before) in enumerate(zip(found, whole, strict=True)):
        if any(before.looked):
            step = before.looked.index(True)
            expected = f"Question {number}: the logits of black are not finite at step {step};"
            assert answer.error.startswith(expected)
            assert answer.tokens == before.tokens[:step]
        else:
            assert answer == before


@families
def test_a_token_that_breaks_the_next_step_is_found_there(family):
    model = own_model(family)
    images, prompts, rewrites = questions(4)
    whole = generate(model, images, prompts, SCI5, 4, rewrites)
    first = next(answer.tokens[0] for answer in whole if len(answer.tokens) > 1)
    model.hf.get_input_embeddings().weight[first] = torch.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = generate(model, images, prompts, SCI5, 4, rewrites)
    for answer, before in zip(found, whole, strict=True):
        if first not in before.tokens[:-1]:
            assert answer == before
            continue
        place = before.tokens.index(first)
        assert answer.tokens == before.tokens[: place + 1]
        assert f"at step {place + 1};" in answer.error
        assert "the logits of original, V1, V2 are not finite" in answer.error  # none was looked at


@families
def test_out_of_memory_halves_the_batch_and_goes_on(family):
    model = own_model(family)
    images, prompts, rewrites = questions(9)
    whole = generate(model, images, prompts, SCI5, 3, rewrites)
    hidden = model.hidden

    def hidden_of_few(embeddings, *rest):
        if len(embeddings) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return hidden(embeddings, *rest)

    model.hidden = hidden_of_few
    with pytest.warns(RuntimeWarning, match="Out of memory with 8 questions at a time") as said:
        found = generate(model, images, prompts, SCI5, 3, rewrites, batch_size=8)
    assert len(said) == 1 and found == whole


@families
@pytest.mark.parametrize("engine", ["two_phase", "sequential"])
def test_forbidden_tokens_leave_before_the_constraint(family, engine):
    """Each question may not say its first choice; what survives is measured from the next one."""
    model = tiny.load(family, "float64")
    images, prompts, rewrites = questions(6)
    free = generate(model, images, prompts, SCI5, 4, rewrites, return_logits=True)
    firsts = [answer.tokens[0] if answer.tokens else answer.end for answer in free]

    class Forbidding(GenerationSettings):
        """The settings of a checkpoint that may not say each question's first choice."""

        def rules(self, prompt, new_tokens, eos, device):
            place = [prompt is each.texts[0] for each in prepared].index(True)
            return Rules(prompt, [SuppressTokensLogitsProcessor([firsts[place]], device=device)])

    asked = [
        Question(image, prompt, tuple(texts))
        for image, prompt, texts in zip(images, prompts, rewrites, strict=True)
    ]
    shown = round_images(model.processor, asked, SCI5.visual, "wrap")
    prepared = ask(model.processor, asked, shown)
    answers = {}
    for gate in (True, False):
        how = Decoding(
            SCI5, 4, model.eos_token_ids, {}, PrefixCache(), Forbidding(model.hf), engine, gate=gate
        )
        answers[gate] = decode(model, how, range(6), prepared)
        for answer, first, before in zip(answers[gate], firsts, free, strict=True):
            assert first not in (*answer.tokens, answer.end)
            barred = torch.arange(model.vocab_size)[None] == first
            best = scores(SCI5, before.logits[0][:, None], step=0, forbidden=barred).argmax()
            assert int(best) == (answer.tokens[0] if answer.tokens else answer.end)
    assert [a.tokens for a in answers[True]] == [a.tokens for a in answers[False]]
