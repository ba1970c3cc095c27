"""Laws of the adaptive plausibility constraint."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_core.logits import tc_logits
from sci_core.methods import VCD
from sci_core.plausibility import all_finite, finite, plausible, require_finite
from sci_core.scoring import survivors
from tests.drawn_logits import MANY, TOY

pytestmark = pytest.mark.quick

BETAS = st.floats(0.01, 1.0)
MARGIN = -math.log(0.3)


def test_the_constraint_gives_the_specifications_example():
    tc = tc_logits(TOY, 1) / 1.5
    assert tc.max().item() + math.log(0.3) == pytest.approx(0.7960, abs=5e-5)
    assert plausible(tc, MARGIN).tolist() == [[True, True, False]]


@given(MANY, st.sampled_from([0.0, 1e-300]))
def test_beta_towards_zero_masks_nothing(Z, beta):
    assert survivors(replace(VCD, beta=beta), Z, step=0).all()


@given(MANY, BETAS)
def test_the_constraint_is_equation_9(Z, beta):
    logits = Z[0]
    dropped = logits < logits.amax(-1, keepdim=True) + math.log(beta)
    assert torch.equal(plausible(logits, -math.log(beta)), ~dropped)


@given(MANY, BETAS, BETAS)
def test_a_larger_beta_keeps_fewer(Z, one, other):
    small, large = sorted((one, other))
    assert (plausible(Z[0], -math.log(small)) | ~plausible(Z[0], -math.log(large))).all()


def test_a_tie_with_the_cutoff_survives():
    logits = torch.tensor([[0.0, math.log(0.3), math.log(0.3) - 1e-9]], dtype=torch.float64)
    assert plausible(logits, MARGIN).tolist() == [[True, True, False]]


@given(MANY, st.floats(0.0, 10.0))
def test_a_raw_margin_counts_from_the_maximum(Z, margin):
    logits = Z[0]
    gap = logits.amax(-1, keepdim=True) - logits
    kept = plausible(logits, margin)
    clear = (gap - margin).abs() > 1e-9
    assert torch.equal(kept[clear], (gap <= margin)[clear])


@given(MANY, st.data())
def test_forbidden_tokens_leave_before_the_maximum(Z, data):
    logits = Z[0]
    allowed = data.draw(st.integers(0, logits.shape[1] - 1))
    forbidden = torch.ones_like(logits, dtype=torch.bool)
    forbidden[:, allowed] = False
    assert torch.equal(plausible(logits, MARGIN, forbidden), ~forbidden)
    assert torch.equal(plausible(logits, math.inf, forbidden), ~forbidden)
    nothing = torch.zeros_like(forbidden)
    assert torch.equal(plausible(logits, MARGIN, nothing), plausible(logits, MARGIN))


def test_everything_forbidden_is_an_error():
    forbidden = torch.tensor([[False, False], [True, True]])
    with pytest.raises(ValueError, match=r"every token is forbidden for question\(s\) 1 "):
        plausible(torch.zeros(2, 2), MARGIN, forbidden)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_logits_that_are_not_finite_are_named(value):
    Z = torch.zeros(3, 4, 5)
    require_finite(Z, ("original", "V1", "black"), 0)
    Z[1, 2, 3] = value
    with pytest.raises(FloatingPointError, match=r"round\(s\) V1 for question\(s\) 2 "):
        require_finite(Z, ("original", "V1", "black"), 0)


@given(st.data())
def test_a_row_is_finite_exactly_where_all_its_numbers_are(data):
    shape = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    number = st.floats(width=32) | st.sampled_from((math.nan, math.inf, -math.inf, 3e38, -3e38))
    count = math.prod(shape)
    values = data.draw(st.lists(number, min_size=count, max_size=count))
    Z = torch.tensor(values, dtype=torch.float32).view(shape)
    for each in (Z, Z.transpose(0, 2), Z.double()):
        assert torch.equal(finite(each), each.isfinite().all(dim=-1))
        assert all_finite(each) == bool(each.isfinite().all())
    assert all_finite(Z[:0]) and all_finite(Z[..., :0])
