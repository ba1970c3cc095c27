"""The controls against plain counting on made-up records."""

from dataclasses import replace
from statistics import multimode
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from sci_book.methods import CONTROLS, colour
from sci_book.results import controls
from sci_book.results.records import SCHEMA_VERSION, Records, build_table
from sci_book.results.replay import Replay
from sci_book.run.trajectories import summarise
from sci_core.methods import BASE, sci
from sci_core.scoring import scores
from tests.rows import answers, sample

ROUNDS = ["original", "V1", "V2", "V3"]
PIECES = {0: "yes", 1: "no", 2: " yes", 3: "well", 4: "perhaps", 5: "No", 6: "."}
READ = {0: "yes", 1: "no", 2: "yes", 5: "no"}
ROWS = 80


def of_logits(logits, kinds="yesno", kept=7):
    """One-step records of `logits [rounds, rows, vocab]`; every third truth is "no"."""
    nodes = summarise(logits, ROUNDS, kept, [()] * ROWS, [()] * ROWS)
    rows = []
    for place, node in enumerate(nodes):
        truth = "no" if place % 3 == 0 else "yes"
        row = sample(place, question_type=kinds, truth=truth, dataset="xy"[place % 2])
        row["nodes"] = [vars(node) | {"logits": node.logits.ravel()}]
        said = {name: int(each[place].argmax()) for name, each in zip(ROUNDS, logits, strict=True)}
        for name, token in said.items():
            row |= {f"tokens:{name}": [token], f"text:{name}": PIECES[token]}
            row[f"parsed:{name}"] = READ.get(token)
        rows.append(row)
    stamp = {"schema": SCHEMA_VERSION, "model": "m", "rounds": ROUNDS, "methods": [],
             "datasets": {}, "eos": [6], "max_new_tokens": 1}  # fmt: skip
    return Records(build_table(rows, ROUNDS), stamp, PIECES)


@pytest.fixture(scope="module")
def logits():
    generator = torch.Generator().manual_seed(0)
    return 2 * torch.randn(len(ROUNDS), ROWS, len(PIECES), generator=generator)


@pytest.mark.parametrize("rewordings", [1, 2, 3])
def test_a_vote_is_of_the_most_and_a_tie_is_the_originals(rewordings):
    rng = np.random.default_rng(rewordings)
    said = rng.choice(np.array(["a", "b", "c", None], dtype=object), size=(300, 4))
    rows = [
        sample(k, question_type="short", truth="b") | answers(dict(zip(ROUNDS, line, strict=True)))
        for k, line in enumerate(said)
    ]
    records = Records(build_table(rows, ROUNDS), {"rounds": ROUNDS, "methods": []}, {})
    for line, right in zip(said, controls.vote(records, rewordings), strict=True):
        votes = [answer for answer in line[: rewordings + 1] if answer is not None]
        most = multimode(votes)
        assert right == ((most[0] if len(most) == 1 else line[0]) == "b")


def test_the_best_shift_is_the_smallest_that_no_other_beats_on_validation_rows(logits):
    records = of_logits(logits)
    fitted, right = controls.shift(records, Replay(records))
    yes, no = (logits[0][:, tokens].amax(dim=1) for tokens in ([0, 2], [1, 5]))
    above, truth = (yes - no).numpy(), np.arange(ROWS) % 3 > 0
    assert sorted(fitted) == ["x", "y"]
    for name, value in fitted.items():
        rows = np.arange(ROWS) % 2 == "xy".index(name)
        assert np.array_equal(right[rows], ((above + value > 0) == truth)[rows])
        validation = rows & (np.arange(ROWS) % 5 == 0)
        grid = np.linspace(-15, 15, 3001)
        hits = ((above[validation, None] + grid > 0) == truth[validation, None]).sum(axis=0)
        mine = ((above + value > 0) == truth)[validation].sum()
        assert mine == hits.max()
        assert abs(value) <= np.abs(grid[hits == mine]).min() + 0.6  # half the way to the next row


def test_rows_without_yes_or_no_have_no_shift(logits):
    fewer = logits.clone()
    fewer[0, :, [1, 5]] = -30.0
    records = of_logits(fewer, kept=2)
    assert np.isnan(controls.shift(records, Replay(records))[1]).any()
    choices = of_logits(logits, "mcq")
    assert controls.shift(choices, Replay(choices))[0] == {}


def model_of(records, **draws):
    return SimpleNamespace(records=records, replay=Replay(records), draws=pd.DataFrame(draws))


TWO_WORDINGS = sci(0, 2)
METHODS = [BASE, TWO_WORDINGS, *(replace(controls.PLAUSIBLE, beta=b) for b in (0.1, 0.3, 1.0))]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}, {method.beta}")
def test_a_drawn_token_is_right_as_often_as_the_sampler_would_draw_it(logits, method):
    model = model_of(of_logits(logits))
    chances = torch.softmax(scores(method, logits[: len(method.rounds)], step=0), dim=1)
    truths = model.records.frame["truth"]
    drawn = controls.drawn(model, method)
    sure = controls.confidence(model.records, model.replay, method)
    for place in range(ROWS):
        right = [token for token, word in READ.items() if word == truths[place]]
        assert drawn[place] == pytest.approx(float(chances[place, right].sum()), abs=1e-5)
        chosen = READ.get(int(chances[place].argmax()))
        same = [token for token in range(len(PIECES)) if READ.get(token) == chosen]
        assert sure[place] == pytest.approx(float(chances[place, same].sum()), abs=1e-5)


def test_short_answers_have_no_expectation_but_that_of_draws(logits):
    records = of_logits(logits, "short")
    assert np.isnan(controls.drawn(model_of(records))).all()
    assert np.isnan(controls.confidence(records, Replay(records), BASE)).all()
    shares = np.linspace(0, 1, ROWS)
    assert np.array_equal(controls.drawn(model_of(records, base=shares)), shares)
    assert np.isnan(controls.drawn(model_of(records, base=shares), TWO_WORDINGS)).all()
    one_token = controls.drawn(model_of(of_logits(logits), base=shares))
    assert np.array_equal(one_token, controls.drawn(model_of(of_logits(logits))))


def test_every_control_gives_an_outcome_and_reads_rounds_that_are_known(logits):
    model = model_of(of_logits(logits))
    for name, control in controls.CONTROLS.items():
        outcome = control.right(model)
        assert outcome.shape == (ROWS,) and np.nanmin(outcome) >= 0 and np.nanmax(outcome) <= 1
        assert set(control.reads.rounds) <= set(ROUNDS)
        assert name.startswith("vote") == (control.reads.N > 0)
        assert colour(name) == CONTROLS[name].colour
    assert controls.CONTROLS.keys() == CONTROLS.keys() and set(controls.NULLS) < CONTROLS.keys()
