"""Methods that are recomputed from records, whatever their equation does with textual rounds."""

import dataclasses

import numpy as np
import pytest
import torch

from sci_book.results.replay import Replay, recompute
from sci_book.run import runner
from sci_core import counterfactuals
from sci_core.methods import BASE, RULES, SCI5, Method
from sci_core.scoring import scores
from tests import equations
from tests.results.test_records import PROMPT_TOKENS, ROUNDS, VOCABULARY, random_logits, records_of
from tests.world import SETTINGS


@pytest.fixture(autouse=True)
def added(monkeypatch):
    for name, row in equations.ROWS.items():
        monkeypatch.setitem(RULES, name, row)


def of_rounds(names):
    """All of `equations.methods` that need no other rounds."""
    return [each for each in equations.methods() if {*each.rounds} <= {*names}]


@pytest.mark.parametrize("top", [2, 8, VOCABULARY])
@pytest.mark.parametrize("spread", [0.5, 4.0])
def test_a_round_that_speaks_against_a_token_proves_nothing_of_those_left_out(top, spread):
    """Its logits are bounded from above alone, so a token that was not kept may have the best
    score of all: only the constraint can rule it out."""
    logits = random_logits(spread=spread)
    unsure = 0
    for method in of_rounds(ROUNDS):
        found = recompute(records_of(logits, top), method)
        own = logits[[ROUNDS.index(name) for name in method.rounds]]
        truth = scores(method, own, step=0, prompt_tokens=torch.full((150,), PROMPT_TOKENS))
        right = found["token"].to_numpy() == truth.argmax(dim=-1).numpy()
        assert right[found["proven"]].all(), method
        if top == VOCABULARY:
            assert found["proven"].all(), method
        unsure += int((~right).sum())
    assert unsure > 0 if top == 2 else top == 8 or unsure == 0


def test_without_a_constraint_nothing_is_proven():
    for method in of_rounds(ROUNDS):
        if method.edit == "every_step":
            loose = dataclasses.replace(method, beta=0.0, raw_margin=None)
            assert not recompute(records_of(random_logits(), 8), loose)["proven"].any()


def test_a_run_decodes_an_equation_that_was_added_as_its_replay_does(model, world, tmp_path):
    added = [*of_rounds(SCI5.rounds), dataclasses.replace(SCI5, name="by mean", rule="mean")]
    records = runner.evaluate(model, world, [BASE, SCI5, *added], tmp_path, **SETTINGS)
    replay, surely = Replay(records), 0
    for method in added:
        found = replay.answers(dataclasses.replace(method, name="recomputed"))
        settled = (found["proven"] & found["known"] & records.ok).to_numpy()
        decoded = records.parsed(method.name)
        assert [*found["answer"][settled]] == [*np.array(decoded, dtype=object)[settled]]
        surely += settled.sum()
    assert surely > len(records.table)


def test_a_run_takes_the_words_of_a_new_textual_round_from_a_form(
    model, world, tmp_path, monkeypatch
):
    table, form = counterfactuals._TABLE, "You are a confused object detector. {instruction}"
    assert "{instruction}" in table["forms"]["V1"]
    monkeypatch.setitem(table["forms"], "disturbed", form)
    words = {row["instruction"]: form.format(**row) for row in table["instructions"]}
    monkeypatch.setitem(counterfactuals.REWRITES, "disturbed", words)
    method = Method("ICD", "one", ("disturbed",), beta=0.95)
    records = runner.evaluate(model, world, [BASE, method], tmp_path, **SETTINGS)
    assert records.rounds == ["original", "disturbed"]
    found = recompute(records, dataclasses.replace(method, name="recomputed"))
    settled = (found["proven"] & found["known"] & records.ok).to_numpy()
    decoded = np.array(records.parsed("ICD"), dtype=object)
    assert settled.any() and [*found["answer"][settled]] == [*decoded[settled]]
