"""Laws of the decoding equations."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_core.logits import (
    m3id_logits,
    mean_logits,
    sci_logits,
    tc_logits,
    tie_logits,
    vc_logits,
)
from tests.drawn_logits import MANY, QUARTERS, TEMPERATURES, TOY, TWO, logits

pytestmark = pytest.mark.quick


def test_the_equations_give_the_specifications_example():
    torch.testing.assert_close(tc_logits(TOY, 1) / 1.5, torch.tensor([[1.3333333, 2.0, 0.0]]))
    torch.testing.assert_close(vc_logits(TOY, 1) / 0.2, torch.tensor([[0.0, 5.0, -5.0]]))
    torch.testing.assert_close(sci_logits(TOY, 1, 1.5, 0.2), torch.tensor([[1.3333333, 7.0, -5.0]]))


@given(TWO)
def test_tie_is_vc_with_one_dummy(Z):
    assert torch.equal(vc_logits(Z, 0), tie_logits(Z))


@given(MANY, st.data())
def test_sci_is_the_product_of_equation_5(Z, data):
    textual = data.draw(st.integers(0, len(Z) - 1))
    tau1, tau2 = data.draw(TEMPERATURES), data.draw(TEMPERATURES)
    product = torch.exp(tc_logits(Z, textual) / tau1) * torch.exp(vc_logits(Z, textual) / tau2)
    if torch.isfinite(product).all() and (product.sum(-1) > 0).all():
        torch.testing.assert_close(
            sci_logits(Z, textual, tau1, tau2).softmax(-1), product / product.sum(-1, keepdim=True)
        )


@given(MANY)
def test_tc_never_falls_with_more_prompts(Z):
    for textual in range(1, len(Z)):
        assert (tc_logits(Z, textual) >= tc_logits(Z, textual - 1)).all()


@given(MANY, st.data())
def test_repeating_a_prompt_changes_nothing(Z, data):
    textual = data.draw(st.integers(0, len(Z) - 1))
    again = data.draw(st.integers(0, textual))
    repeated = torch.cat([Z[: 1 + textual], Z[again : again + 1], Z[1 + textual :]])
    assert torch.equal(
        sci_logits(repeated, textual + 1, 1.5, 0.2), sci_logits(Z, textual, 1.5, 0.2)
    )


@given(MANY, st.data())
def test_a_mean_over_prompts_is_no_higher_than_their_maximum_and_equal_where_they_agree(Z, data):
    textual = data.draw(st.integers(0, len(Z) - 1))
    by_mean, by_maximum = (make(Z, textual, 1.5, 0.2) for make in (mean_logits, sci_logits))
    assert (by_mean <= by_maximum + 1e-9).all()
    alike = Z.clone()
    alike[: 1 + textual] = Z[0]
    torch.testing.assert_close(
        mean_logits(alike, textual, 1.5, 0.2), sci_logits(alike, textual, 1.5, 0.2)
    )


def test_a_prompt_asked_twice_counts_twice_in_a_mean():
    Z = torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]]])
    assert mean_logits(Z, 1, 1.0, 0.2).argmax() == 0
    assert mean_logits(Z[[0, 1, 1, 1]], 3, 1.0, 0.2).argmax() == 1


@given(MANY, st.data(), st.integers(2, 4))
def test_repeating_every_dummy_equally_changes_nothing(Z, data, times):
    textual = data.draw(st.integers(0, len(Z) - 1))
    repeated = torch.cat([Z[: 1 + textual], *([Z[1 + textual :]] * times)])
    torch.testing.assert_close(vc_logits(repeated, textual), vc_logits(Z, textual))


@given(MANY)
def test_tc_reads_no_visual_round_and_no_visual_round_means_no_vc(Z):
    assert torch.equal(tc_logits(Z, 0), Z[0])
    textual = len(Z) - 1
    assert torch.equal(vc_logits(Z, textual), torch.zeros_like(Z[0]))
    assert torch.equal(sci_logits(Z, textual, 2.0, 0.2), Z.amax(0) / 2.0)


@given(logits(st.just(1)), st.sampled_from([1, 2, 4]))
def test_a_dummy_equal_to_the_image_has_no_effect(Z, dummies):
    assert torch.equal(vc_logits(Z.repeat(1 + dummies, 1, 1), 0), torch.zeros_like(Z[0]))


@given(logits(st.integers(2, 7)), st.data(), QUARTERS)
def test_a_constant_on_one_round_moves_vc_by_a_constant(Z, data, shift):
    round_ = data.draw(st.integers(0, len(Z) - 1))
    moved = Z.clone()
    moved[round_] += shift
    difference = vc_logits(moved, 0) - vc_logits(Z, 0)
    torch.testing.assert_close(difference, difference[..., :1].expand_as(difference))


def test_a_constant_on_one_round_changes_the_order_of_tc():
    Z = torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]]])
    moved = Z + torch.tensor([0.0, 3.0])[:, None, None]
    assert tc_logits(Z, 1).argmax() == 0
    assert tc_logits(moved, 1).argmax() == 1


@given(TWO, st.integers(0, 200))
def test_m3id_is_the_weighted_sum_of_its_paper(Z, position):
    g = np.exp(-0.02 * position)
    positions = torch.full((Z.shape[1],), position)
    expected = Z[0] + (1 - g) / g * (Z[0] - Z[1])
    torch.testing.assert_close(m3id_logits(Z, positions, 0.02), expected)


@pytest.mark.parametrize(("position", "weight"), [(0, 0.0), (60, 2.3), (100, 6.4)])
def test_m3id_weights(position, weight):
    Z = torch.tensor([[[1.0]], [[0.0]]])
    found = m3id_logits(Z, torch.tensor([position]), 0.02) - Z[0]
    assert round(found.item(), 1) == weight


@given(MANY)
def test_rows_of_a_batch_do_not_meet(Z):
    textual = len(Z) // 2
    whole = sci_logits(Z, textual, 2.0, 0.2)
    for row in range(Z.shape[1]):
        assert torch.equal(sci_logits(Z[:, row : row + 1], textual, 2.0, 0.2)[0], whole[row])
