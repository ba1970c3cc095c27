"""The rule and the cheaper SCI5: counted row by row, judged as registered, on test groups alone."""

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci import overhead, rules
from sci_book.papers.sci.chapters import own_rules
from sci_book.papers.sci.chapters.own_rules import PageModel
from sci_book.papers.shared import chapters
from sci_book.papers.shared.extended import CHEAPER, extended
from sci_book.pipeline import registration
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.drbench import split
from sci_book.results.records import Records
from sci_book.run.method_sets import CHEAPER as CHEAPER_METHODS
from sci_book.run.method_sets import named
from sci_core.methods import METHODS, SCI5, SCI5_LITE
from tests.papers.shared.pair_records import records_of


@pytest.fixture(scope="module")
def cheaper():
    """A model whose drawn answers are called SCI5's and SCI5-lite's, with their constants."""
    records = records_of("mine", seed=3)
    names = [name.replace(":SCI3", ":SCI5-lite") for name in records.table.column_names]
    decoded = [json.loads(json.dumps(asdict(method))) for method in (SCI5, SCI5_LITE)]
    stamp = {**records.stamp, "methods": decoded}
    again = Records(records.table.rename_columns(names), stamp, records.pieces)
    return chapters.Subject("mine", None, "mine", "mine", FROZEN_RECORDS, again)


@pytest.fixture(scope="module")
def frame(mine, cheaper):
    other = replace(mine, shown="other")
    return own_rules.judged([PageModel(mine, cheaper), PageModel(other, None)])


def test_what_is_judged_is_what_was_registered():
    assert registration.departures(registered=own_rules.REGISTRATION) == []
    assert "commit `da5ac0de081e`" in registration.sentence(registered=own_rules.REGISTRATION)
    known = own_rules.load_predictions()
    assert known["rule"] in rules.RULES and 0 < known["beta"] <= 1
    for each in known["predictions"]:
        assert each["part"] in ("BS", "all") and each["claim"] == "greater"
        for name in {each["of"], each["against"]} - {own_rules.RULE}:
            assert named(name)[0].name == name


def test_a_change_is_counted_on_test_groups(cheaper):
    records, test = cheaper.records, split(cheaper.records, "groups") == "test"
    rows = records.ok & test
    right = {name: records.correct(name)[rows].astype(float) for name in ("SCI5", "SCI5-lite")}
    found = own_rules.change(cheaper, "SCI5-lite", "SCI5", "all")
    assert found.estimate == pytest.approx((right["SCI5-lite"] - right["SCI5"]).mean())
    assert found.n == rows.sum()


def test_the_rule_is_the_registered_one(mine):
    of = rules.rounds_of(mine.records, mine.replay)
    expected = rules.right(of, mine.replay, rules.by_spread, 0.8)
    np.testing.assert_array_equal(own_rules.right(mine, own_rules.RULE), expected)
    np.testing.assert_array_equal(own_rules.right(mine, "SCI5"), mine.right(SCI5))


def test_a_model_without_the_records_is_not_asked(frame, mine):
    assert frame["model"].value_counts().to_dict() == {"mine": 4, "other": 3}
    only = own_rules.judged([PageModel(mine, None)])
    assert only["low"].equals(frame.loc[only.index, "low"])  # whatever other lines there are
    assert set(frame["id"]) == {each["id"] for each in own_rules.load_predictions()["predictions"]}
    bare = own_rules.judged([PageModel(mine, None)])
    assert "lite-loses-nothing" not in set(bare["id"])
    ends = {claim.id: claim.ends for claim in own_rules.claims(bare)}
    assert ends["lite-loses-nothing"] == "no model has the records for it"
    assert PageModel(mine, None).reading("SCI5-lite") is None
    assert PageModel(mine, None).reading(own_rules.SHARED) is mine


def test_a_line_must_lie_above_its_margin(mine, cheaper, monkeypatch):
    monkeypatch.setattr(type(mine), "fit", True)
    known = own_rules.load_predictions()
    lowest = own_rules.judged([PageModel(mine, cheaper)]).loc["mine: SCI5-lite − SCI5, BS", "low"]
    for margin, word in ((lowest - 1, "holds"), (lowest + 0.01, "inconclusive"), (100, "fails")):
        changed = [{**each, "margin": margin / 100} for each in known["predictions"]]
        monkeypatch.setattr(
            own_rules, "load_predictions", lambda changed=changed: known | {"predictions": changed}
        )
        line = own_rules.judged([PageModel(mine, cheaper)]).loc["mine: SCI5-lite − SCI5, BS"]
        assert line["verdict"] == word and line["margin"] == pytest.approx(margin)


def test_what_a_cheap_method_may_cost_is_registered(frame, monkeypatch):
    held = own_rules.claims(frame.assign(verdict="holds"))
    assert {claim.verdict for claim in held} == {"holds"}
    registered = own_rules.load_predictions()
    assert [claim.means for claim in held[:-1]] == [
        prediction["means"] for prediction in registered["predictions"]
    ]
    monkeypatch.setattr(own_rules, "load_predictions", lambda: registered | {"cost_at_most": 1.0})
    assert own_rules.claims(frame)[-1].verdict == "fails"


def test_smaller_noise_has_fewer_tokens_and_a_further_question_about_a_picture_none_of_it():
    small, lite = CHEAPER_METHODS[1:]
    assert overhead.ratio(lite, 1280) <= own_rules.load_predictions()["cost_at_most"]
    for cache in ("cold", "warm"):  # cold, black is read too, and nothing is padded to it
        dear = [overhead.ratio(method, 1280, cache=cache) for method in (lite, small, SCI5)]
        assert dear == sorted(dear) and dear[0] < dear[1] < dear[2]
    # Rounds of 15 + 1280 + 80 tokens and their like; black's prefix is kept, V1 and V2 are packed.
    assert overhead.work(lite, 1280)["token_rows"] == 1375 + 70 + 80 + 175
    assert overhead.again(lite, 1280) == overhead.again(SCI5, 1280)
    assert overhead.again(lite, 1280) == pytest.approx((80 + 70 + 160) / 1375)


@pytest.mark.parametrize("name", ["pocket-qwen2vl", "pocket-llavanext"])
def test_the_frozen_cheaper_records_answer_as_the_ordinary_ones(name):
    (subject,) = chapters.subjects([name], FROZEN_RECORDS)
    beside = extended(subject, FROZEN_RECORDS / "extended", CHEAPER)
    assert beside.records.keys == subject.records.keys
    for policy in ("base", "SCI5", "V1", "V2", "black", "noise500"):
        pd.testing.assert_series_equal(
            pd.Series(beside.records.text(policy)), pd.Series(subject.records.text(policy))
        )
    assert beside.records.policy_of(METHODS["SCI5-lite"]) == "SCI5-lite"
