"""The book's own rules: each does what it says, and none reads an answer or a test row."""

import numpy as np
import pytest

from sci_book.papers.sci import rules
from sci_core.methods import SCI5


@pytest.fixture(scope="module")
def of(mine):
    return rules.rounds_of(mine.records, mine.replay)


def made_up(original, visual, *, textual=None, options=4, tuned=True):
    """Rounds of one node with these logits."""
    original = np.array([original], dtype=float)
    textual = np.array([original[0]] * 2 if textual is None else textual, dtype=float)[:, None]
    visual = np.array(visual, dtype=float)[:, None]
    return rules.Rounds(
        original, textual, visual, np.zeros(original.shape, dtype=bool),
        np.arange(original.size)[None], np.array([options]), np.array([tuned]),
    )  # fmt: skip


def test_sci5_by_these_rules_is_sci5_as_it_was_decoded(mine, of):
    found = rules.right(of, mine.replay, rules.as_sci5)
    np.testing.assert_array_equal(found, mine.right(SCI5))


def test_where_the_base_does_not_say_what_a_dummy_says_it_stays():
    seeing = made_up([3, 2, 0], [[0, 5, 0], [0, 0, 5]])
    assert rules.where_blind(seeing).tolist() == seeing.original.tolist()
    blind = made_up([3, 2, 0], [[5, 0, 0], [0, 0, 5]])
    assert rules.where_blind(blind).tolist() == rules.as_sci5(blind).tolist()


def test_a_wording_that_never_agrees_has_no_say():
    mad = made_up([3, 2, 0], [[0, 0, 0]] * 2, textual=[[3, 2, 0], [0, 0, 50]])
    assert rules.as_sci5(mad).argmax() == 2
    assert rules.by_agreement(mad).argmax() == 0


def test_dummies_that_disagree_count_less_and_alike_ones_in_full():
    alike = made_up([3, 2, 0], [[1, 4, 1]] * 2)
    first, second = rules.by_spread(alike)[0], rules.as_sci5(alike)[0]
    np.testing.assert_allclose(first - first.mean(), second - second.mean())
    torn = made_up([3, 2, 0], [[-9, 4, 1], [11, 4, 1]])
    assert abs(np.ptp(rules.by_spread(torn)[0])) < abs(np.ptp(rules.as_sci5(torn)[0]))


def test_the_usual_prior_is_of_validation_rows_and_costs_no_dummy_of_a_question(of):
    scores = rules.by_usual_prior(of)
    changed = of._replace(visual=np.where(of.tuned[None, :, None], of.visual, 99.0 * of.visual))
    np.testing.assert_allclose(rules.by_usual_prior(changed), scores)
    agreement = of._replace(textual=np.where(of.tuned[None, :, None], of.textual, -of.textual))
    rows = of.tuned
    np.testing.assert_allclose(rules.by_agreement(agreement)[rows], rules.by_agreement(of)[rows])


@pytest.mark.parametrize(("lead", "options", "left"), [(5.0, 4, np.log(3)), (5.0, 2, 0.0),
                                                       (0.5, 4, 0.5)])  # fmt: skip
def test_the_usual_answer_keeps_the_lead_that_chance_gives_it(lead, options, left):
    """No evidence: what is left is the prior, down to log(K − 1) where it was larger."""
    others = -lead / (options - 1)
    prior = [lead, *[others] * (options - 1)]
    found = rules.to_the_right_prior(made_up(prior, [prior] * 2, options=options))[0]
    assert found[0] == pytest.approx(left)


@pytest.mark.parametrize("name", rules.RULES)
def test_no_rule_reads_an_answer_and_every_row_is_right_or_wrong(mine, of, name):
    assert rules.RULES[name](of).shape == of.original.shape
    found = rules.right(of, mine.replay, rules.RULES[name], beta=0.8)
    assert set(np.unique(found[mine.records.ok])) <= {0.0, 1.0}
    assert "truth" not in rules.Rounds._fields and "answer" not in rules.Rounds._fields
