"""Laws of choosing a token: one uniform number per (seed, sample, step), and nothing else."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sci_core.sampling import choose, uniform
from tests.drawn_logits import MANY

pytestmark = pytest.mark.quick

SEEDS = st.integers(0, 2**64 - 1)
SAMPLES = st.integers(-(2**40), 2**40) | st.text(max_size=20)
WARPERS = st.fixed_dictionaries(
    {
        "temperature": st.floats(0.01, 10.0),
        "top_k": st.none() | st.integers(1, 8),
        "top_p": st.none() | st.floats(0.05, 1.0),
    }
)


@given(SEEDS, SAMPLES, st.integers(0, 10_000))
def test_uniform_is_repeatable_and_in_range(seed, sample, step):
    number = uniform(seed, sample, step)
    assert 0 <= number < 1
    assert number == uniform(seed, sample, step)


def test_uniform_is_the_same_on_every_machine():
    drawn = [uniform(0, "a", 0), uniform(0, "a", 1), uniform(1, "a", 0), uniform(0, 7, 0)]
    assert drawn == [
        0.24586485221579601,
        0.949963710320133,
        0.29921204589067407,
        0.0648216199268905,
    ]
    assert uniform(0, np.int64(7), 0) == uniform(0, 7, 0) != uniform(0, "7", 0)


def test_uniform_is_uniform_across_seeds_samples_and_steps():
    for numbers in (
        [uniform(seed, "a", 0) for seed in range(2000)],
        [uniform(0, sample, 0) for sample in range(2000)],
        [uniform(0, "a", step) for step in range(2000)],
    ):
        assert stats.kstest(numbers, "uniform").pvalue > 1e-3
        assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.08


@given(MANY, SEEDS, st.integers(0, 50), WARPERS)
def test_a_choice_does_not_depend_on_batch_or_order(Z, seed, step, warpers):
    scores = Z.flatten(0, 1)
    samples = [f"question {i}" for i in range(len(scores))]
    settings = {"seed": seed, "step": step, **warpers}
    together = choose(scores, samples=samples, **settings)
    backwards = choose(scores.flip(0), samples=samples[::-1], **settings)
    assert torch.equal(backwards.flip(0), together)
    for row, sample in enumerate(samples):
        assert choose(scores[[row]], samples=[sample], **settings) == together[row]


@given(MANY)
def test_greedy_takes_the_lowest_id_among_ties(Z):
    scores = Z[0]
    chosen = choose(scores, samples=list(range(len(scores))))
    expected = [row.index(max(row)) for row in scores.tolist()]
    assert chosen.tolist() == expected


@given(MANY, SEEDS)
def test_the_constraint_and_temperature_zero_limit(Z, seed):
    scores = Z[0]
    samples = list(range(len(scores)))
    cold = choose(scores, temperature=1e-300, seed=seed, samples=samples)
    assert torch.equal(scores.gather(1, cold[:, None])[:, 0], scores.amax(-1))


@given(MANY, SEEDS, WARPERS, st.data())
def test_masked_tokens_are_never_chosen(Z, seed, warpers, data):
    scores = Z[0].clone()
    kept = data.draw(st.integers(0, scores.shape[1] - 1))
    scores[:, :kept] = -math.inf
    samples = list(range(len(scores)))
    assert (choose(scores, seed=seed, samples=samples, **warpers) >= kept).all()


@given(MANY, SEEDS, st.floats(0.05, 10.0))
def test_the_choice_inverts_the_cumulative_distribution_in_id_order(Z, seed, temperature):
    row = Z[0, 0]
    chosen = choose(row[None], temperature=temperature, seed=seed, samples=["a"]).item()
    cumulative = (row / temperature).softmax(-1).cumsum(-1)
    number = uniform(seed, "a", 0)
    below = cumulative[chosen - 1].item() if chosen else 0.0
    assert below - 1e-9 <= number <= cumulative[chosen].item() + 1e-9


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_frequencies_follow_the_softmax(temperature):
    draws = 20_000
    row = torch.tensor([1.0, -math.inf, 0.0, 2.0, -1.0])
    chosen = choose(
        row.expand(draws, -1), temperature=temperature, seed=3, samples=list(range(draws))
    )
    found = torch.bincount(chosen, minlength=5).numpy()
    expected = (row / temperature).softmax(-1).double().numpy() * draws
    assert found[1] == 0
    allowed = [0, 2, 3, 4]
    expected = expected[allowed] * (draws / expected[allowed].sum())
    assert stats.chisquare(found[allowed], expected).pvalue > 1e-3


def reachable(row, **settings):
    """Every token that 400 seeds choose."""
    return {
        choose(torch.tensor([row]), temperature=1.0, seed=seed, samples=["a"], **settings).item()
        for seed in range(400)
    }


def test_top_k_and_top_p_keep_what_they_should():
    row = [math.log(p) for p in (0.1, 0.4, 0.2, 0.3)]
    assert reachable(row) == {0, 1, 2, 3}
    assert reachable(row, top_k=1) == {1}
    assert reachable(row, top_k=2) == {1, 3}
    assert reachable(row, top_k=9) == {0, 1, 2, 3}
    assert reachable(row, top_p=0.39) == {1}
    assert reachable(row, top_p=0.41) == {1, 3}
    assert reachable(row, top_p=1.0) == {0, 1, 2, 3}
    assert reachable(row, top_k=2, top_p=0.5) == {1}  # 0.4 is 0.57 of what top-k left
    assert reachable([0.0, 0.0, 0.0, -9.0], top_k=2) == {0, 1, 2}  # ties with the last one stay
    assert reachable([0.0, 0.0, 0.0, 0.0], top_p=0.5) == {0, 1}  # ties: lowest ids first
    assert max(reachable([0.0] * 200, top_p=0.5)) == 99


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"top_p": 1.5}, r"top_p must be a number in \(0, 1\]"),
        ({"samples": ["a", "b"]}, "1 rows of scores but 2 sample identities"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        choose(torch.zeros(1, 3), **{"samples": ["a"], **settings})


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("row", [[0.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_scores_that_leave_no_choice_are_refused(row, temperature):
    scores = torch.tensor([[0.0, 1.0], row])
    with pytest.raises(ValueError, match=r"the best score of 'b' is (nan|inf|-inf)"):
        choose(scores, temperature=temperature, samples=["a", "b"])
