"""Records whose logits are rounded: what a replay of them proves, the true logits bear out."""

import dataclasses

import numpy as np
import pytest
import torch

from sci_book.results import records as stored
from sci_book.results.records import read_records, to_bytes, write_records
from sci_book.results.replay import recompute
from sci_core.methods import METHODS, RULES, SCI5
from sci_core.scoring import scores
from tests import equations
from tests.results.test_records import PROMPT_TOKENS, ROUNDS, VOCABULARY, random_logits, records_of


@pytest.fixture(params=[2.0**-4, 0.25, 2.0])
def step(request, monkeypatch):
    monkeypatch.setattr(stored, "STEP", request.param)
    monkeypatch.setattr(stored, "BOUND_STEP", 2 * request.param)
    for name, row in equations.ROWS.items():
        monkeypatch.setitem(RULES, name, row)
    return request.param


def asked():
    methods = [*METHODS.values(), *equations.methods(), dataclasses.replace(SCI5, beta=0.0)]
    methods += [
        dataclasses.replace(SCI5, rule="mean", beta=0.95, visual=visual)
        for visual in ((), SCI5.visual)
    ]
    methods += [
        dataclasses.replace(SCI5, log_probs=True, raw_margin=margin) for margin in (0.0, 1.5)
    ]
    return [each for each in methods if {*each.rounds} <= {*ROUNDS}]


@pytest.mark.parametrize("top", [3, VOCABULARY])
def test_a_winner_that_rounded_logits_prove_is_that_of_the_true_ones(step, top):
    logits = random_logits(spread=4.0)
    records = records_of(logits, top).rounded()
    clock, proven, unproven = torch.full((logits.shape[1],), PROMPT_TOKENS), 0, 0
    for method in asked():
        found = recompute(records, method)
        own = logits[[ROUNDS.index(name) for name in method.rounds]]
        truth = scores(method, own, step=0, prompt_tokens=clock).argmax(dim=-1).numpy()
        sure = found["proven"].to_numpy()
        assert (found["token"].to_numpy() == truth)[sure].all(), method
        proven, unproven = proven + sure.sum(), unproven + (~sure).sum()
    assert unproven > 0 and (proven > unproven or step > 0.1)


def test_a_logit_moves_by_half_a_step_and_a_bound_never_below_what_it_bounds(step):
    records = records_of(random_logits(), 8)
    before, after = records.nodes, records.rounded().nodes
    for name in ("logits", "log_norm"):
        moved = np.abs(getattr(after, name) - getattr(before, name))
        assert step / 8 < moved.max() <= step / 2
    raised = after.outside - before.outside
    assert (raised >= 0).all() and 0 < raised.max() < 2 * step
    assert (after.tokens == before.tokens).all() and after.prefix == before.prefix


def test_rounded_records_are_read_back_as_they_were_and_keep_every_answer(tmp_path):
    records = records_of(random_logits(), 8)
    rounded = records.rounded()
    write_records(tmp_path / "records.parquet", rounded)
    again = read_records(tmp_path / "records.parquet")
    assert again.stamp == {**records.stamp, "logit_step": stored.STEP}
    assert again.table.drop_columns(["nodes"]).equals(records.table.drop_columns(["nodes"]))
    np.testing.assert_array_equal(again.nodes.logits, rounded.nodes.logits)
    assert len(to_bytes(rounded)) < len(to_bytes(records))
