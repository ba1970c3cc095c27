"""What the engine computes, counted: the gate of continuous integration, never milliseconds."""

import itertools

import pytest
import torch

from sci_book.papers.sci.overhead import (
    LAYOUT,
    CountingModel,
    MadeUpQuestions,
    cost,
    counted,
    ratio,
    strategies,
    work,
)
from sci_book.resources import ROOT
from sci_book.results.controls import CONTROLS, READS
from sci_core import BASE, SCI3, SCI5, SCI5_LITE, SCI7, PrefixCache, sci
from sci_core.families.processors import Picture
from sci_core.methods import ICD, MEANS, VDD

TEXT = LAYOUT["question"] + LAYOUT["instruction"]
BASE_ROWS = LAYOUT["before"] + 1280 + TEXT

sizes = pytest.mark.parametrize("batch", [1, 16])


def counts(method, strategy, cache, batch=1, image_tokens=1280, steps=0):
    """Work of the second batch of a data set: the first has filled the store."""
    model = CountingModel()
    picture = Picture({"image_grid_thw": torch.tensor([[1, 4, image_tokens]])}, image_tokens)
    questions = MadeUpQuestions(model, picture)
    store = PrefixCache(constants_only=True)
    for _ in range(2):
        asked = questions.batch(method, batch)
        with counted(model) as counts:
            rounds = strategies(model, asked, store)[strategy, cache]()
            if strategy == "two_phase_gate":
                rounds.read_visual_rounds(torch.arange(batch), torch.tensor([1, 2]))
            for _ in range(steps):
                rounds.advance(torch.full((batch,), 5))
    return counts


@sizes
@pytest.mark.parametrize(("method", "ratio"), [(SCI3, 1.08), (SCI5, 2.11), (SCI7, 3.13)])
def test_token_rows_of_two_phases(method, ratio, batch):
    """A round more costs its own instruction, or a dummy picture and the text behind it."""
    found = counts(method, "two_phase", "warm", batch)
    extra = len(method.textual) * LAYOUT["rewrite"]
    noisy = len(method.visual) - 1
    expected = BASE_ROWS + extra + TEXT + noisy * BASE_ROWS
    assert found["token_rows"] == batch * expected
    assert found["token_rows"] / (batch * BASE_ROWS) == pytest.approx(ratio, abs=0.005)
    assert found["pictures"] == batch * (1 + noisy)
    assert found["head_rows"] == batch * len(method.rounds)


@sizes
@pytest.mark.parametrize("method", [SCI3, SCI5, SCI7])
def test_the_textual_rounds_of_a_decided_question_cost_their_instructions(method, batch):
    """With the gate, a question that is decided reads no dummy picture at all."""
    model = CountingModel()
    questions = MadeUpQuestions(model, Picture({"image_grid_thw": torch.ones(1, 3)}, 1280))
    asked = questions.batch(method, batch)
    with counted(model) as found:
        strategies(model, asked, PrefixCache())["two_phase_gate", "warm"]()
    extra = len(method.textual) * LAYOUT["rewrite"]
    assert found["token_rows"] == batch * (BASE_ROWS + extra)
    assert found["pictures"] == batch


@sizes
def test_looking_at_all_costs_what_no_gate_costs(batch):
    with_gate = counts(SCI7, "two_phase_gate", "warm", batch)
    assert with_gate == counts(SCI7, "two_phase", "warm", batch)


@pytest.mark.parametrize("method", [SCI3, SCI5, SCI7])
def test_without_sharing_every_round_costs_the_whole_prompt(method):
    rounds = len(method.rounds)
    textual = len(method.textual)
    longer = LAYOUT["rewrite"] - LAYOUT["instruction"]
    apart = counts(method, "sequential", "none")
    assert apart["token_rows"] == rounds * BASE_ROWS + textual * longer
    batched = counts(method, "naive_batch", "none")
    assert batched["token_rows"] == rounds * (BASE_ROWS + longer)  # padded to the longest
    assert batched["pictures"] == rounds


def test_black_costs_its_picture_only_once():
    cold, warm = (counts(SCI3, "two_phase", cache) for cache in ("cold", "warm"))
    assert cold["token_rows"] - warm["token_rows"] == LAYOUT["before"] + 1280
    assert cold["pictures"] - warm["pictures"] == 1


@pytest.mark.parametrize("batch", [1, 16])
def test_a_small_step_is_one_call_and_a_large_one_is_not_padded(batch):
    start = counts(SCI7, "two_phase", "warm", batch)
    stepped = counts(SCI7, "two_phase", "warm", batch, steps=3)
    rows, calls = (stepped[each] - start[each] for each in ("token_rows", "calls"))
    if batch == 1:
        assert (rows, calls) == (3 * 4 * 4, 3)  # four pictures, of up to four rounds each
    else:
        assert (rows, calls) == (3 * 7 * 16, 3 * 4)


def test_base_and_a_method_without_rounds_cost_the_same():
    assert counts(BASE, "two_phase", "warm") == counts(sci(0, 0), "two_phase", "warm")
    assert counts(BASE, "two_phase", "warm")["token_rows"] == BASE_ROWS


def test_more_rounds_never_cost_less():
    for visual in range(4):
        rows = [counts(sci(visual, n), "two_phase", "warm")["token_rows"] for n in range(4)]
        assert [b - a for a, b in itertools.pairwise(rows)] == [LAYOUT["rewrite"]] * 3


def test_a_ratio_is_the_rounds_own_tokens_added_up():
    """415 of the original and of each noise, 35 a rewording, 80 behind a black that is kept."""
    assert work(SCI7, 320)["token_rows"] == 415 + 3 * 35 + 80 + 2 * 415
    assert ratio(SCI7, 320) == pytest.approx(1430 / 415)
    assert ratio(SCI3, 320) == pytest.approx(530 / 415)


def test_a_control_costs_what_it_reads_and_no_more_than_sci5():
    """One picture, and 35 tokens a rewording: a vote and a mean read the same rounds."""
    for name, control in CONTROLS.items():
        read = 415 + 35 * control.reads.N
        paid = cost(READS[name], 320)
        assert paid == (read, 1 + control.reads.N) and read < cost(SCI5, 320).read
    assert [cost(mean, 320) for mean in MEANS] == [cost(READS[f"vote({n})"], 320) for n in (2, 3)]
    assert cost(SCI5, 320) == (work(SCI5, 320)["token_rows"], 5)


def test_words_in_a_pictures_place_cost_no_picture():
    assert cost(VDD, 320) == (415 + (15 + 60 + 20) + (15 + 60 + 20) + 2, 3)
    assert cost(ICD, 320) == (415 + 35, 2)


def test_the_readme_says_what_the_first_question_and_what_later_ones_cost():
    first = [ratio(method, 1280, cache="cold") for method in (SCI3, SCI5, SCI7)]
    assert first == pytest.approx([1 + (35 + 1375) * pairs / 1375 for pairs in (1, 2, 3)])
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    says = {
        "warm": "the base's tokens once the black picture is kept",
        "cold": "for the first question of each picture shape",
    }
    for cache, words in says.items():
        one, two, three = (f"{ratio(m, 1280, cache=cache):.2f}" for m in (SCI3, SCI5, SCI7))
        assert f"{one}, {two} and {three} times {words}" in readme
    later, first = (f"{ratio(SCI5_LITE, 1280, cache=cache):.2f}" for cache in says)
    assert f"{later} times the base's tokens, and {first} times for the first question" in readme
