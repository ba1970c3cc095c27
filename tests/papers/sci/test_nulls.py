"""Nulls for the rewordings: what each counts, on made-up records and on the shipped trainings."""

import shutil
from collections import defaultdict
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest

from sci_book.files import read_yaml
from sci_book.papers.sci import nulls
from sci_book.papers.sci.chapters import components
from sci_book.papers.shared import chapters, frame
from sci_book.papers.shared.sweeps import outcome
from sci_book.resources import FROZEN_RECORDS, PAPER
from sci_book.results.records import write_records
from sci_book.results.replay import Replay
from sci_book.results.statistics import FEWEST
from sci_core.counterfactuals import REWRITES
from sci_core.methods import SCI3, SCI5, SCI7, Method, sci
from tests.papers.shared import made_up

CLAIMS = read_yaml(PAPER / "second" / "rewordings.yaml")
SHIPPED = ["pocket-qwen2vl", "pocket-llavanext"]
ALL_ROUNDS = Method("all", "sci", (*SCI7.textual, *nulls.ASKING_NOTHING), SCI7.visual)


@pytest.fixture(scope="module")
def shipped():
    return chapters.subjects(SHIPPED, FROZEN_RECORDS)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A model with records of all rounds; of its second training there are answers alone."""
    folder = tmp_path_factory.mktemp("records")
    for seed, place in enumerate((folder, folder / "training1")):
        records = made_up.records_of(methods=(SCI5, ALL_ROUNDS), rows=300, seed=seed)
        write_records(place / "mine.parquet", records.answers_alone() if seed else records)
    return chapters.subjects(["mine"], folder)[0]


def found(models, name, **arguments):
    lines = frame.measured(nulls.MEASURES[name](models, **arguments))
    return {(at["model"], at["contrast"], at["subset"]): at for at in lines.to_dict("records")}


def counted(name, whole):
    """What a measure counts, the same methods taken together, by what tells them apart."""
    parts = defaultdict(float)
    for part, one in nulls.CONTRASTS[name](whole):
        parts[replace(one, name="", raw_margin=round(one.margin, 9), beta=0.0)] += part
    return {one: part for one, part in parts.items() if abs(part) > 1e-9}


def less(one, other):
    both = {*one, *other}
    gaps = {key: one.get(key, 0) - other.get(key, 0) for key in both}
    return {key: gap for key, gap in gaps.items() if abs(gap) > 1e-9}


@pytest.mark.parametrize("name", nulls.CONTRASTS)
@pytest.mark.parametrize("whole", [SCI3, SCI5, SCI7, replace(SCI5, beta=0.8)])
def test_both_sides_of_a_measure_weigh_the_same(name, whole):
    assert sum(part for part, _ in nulls.CONTRASTS[name](whole)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("whole", [SCI3, SCI5, SCI7, replace(SCI5, beta=0.8)])
def test_rewordings_are_compared_at_one_tau1_and_one_margin(whole):
    for name in ("beyond_dummies", "asking_nothing", "nothing_beyond", "repeated",
                 "other_wordings", "by_maximum", "mean_beyond_dummies"):  # fmt: skip
        methods = [one for _, one in nulls.CONTRASTS[name](whole)]
        assert {(one.tau1, one.margin) for one in methods} == {(whole.tau1, whole.margin)}, name
        assert {one.visual for one in methods} == {whole.visual}


def test_what_tau1_does_alone_is_what_its_margin_and_its_weight_do():
    parts = [counted(name, SCI5) for name in ("tau1_alone", "margin_alone", "weight_alone")]
    assert less(less(parts[0], parts[1]), parts[2]) == {}
    assert {one.textual for part in parts for one in part} == {()}
    assert less(less(counted("beyond_dummies", SCI5), parts[0]), counted("beyond_tau1", SCI5)) == {}


def test_a_wording_of_the_five_stands_in_each_place_once():
    turned = [one.textual for part, one in nulls.CONTRASTS["asking_nothing"](SCI7) if part < 0]
    assert len(turned) == len(nulls.ASKING_NOTHING) == 5
    assert tuple(name for name in REWRITES if name.startswith("N")) == nulls.ASKING_NOTHING
    assert all(sorted(place) == sorted(nulls.ASKING_NOTHING) for place in zip(*turned, strict=True))
    assert all(len({*names}) == SCI7.N for names in turned)


def test_wordings_that_ask_for_nothing_stand_in_the_place_of_the_rewordings(asked):
    line = found([asked], "asking_nothing", subsets=["all"])["mine", "SCI5, asking nothing", "all"]
    replay, rows = Replay(asked.records), asked.sets("any", "rows")["all"].to_numpy()
    pairs = [("N1", "N2"), ("N2", "N3"), ("N3", "N4"), ("N4", "N5"), ("N5", "N1")]
    others = [replay.right(replace(SCI5, textual=pair))[rows].mean() for pair in pairs]
    expected = 100 * (replay.right(SCI5)[rows].mean() - np.mean(others))
    assert line["estimate"] == pytest.approx(expected) and len({*others}) > 1
    assert line["others"] == ()  # of the second training there are no logits


def test_each_wording_is_judged_by_what_it_scores_alone_in_every_training(asked):
    lines = found([asked], "inputs", reading=["any", "rows", "validation"])
    for name in (*SCI7.textual, *nulls.ASKING_NOTHING):
        line = lines["mine", f"{name} − original", "all"]
        gaps = []
        for training in asked.trainings:
            rows = training.sets("any", "rows", "validation")["all"].to_numpy()
            correct = training.records.correct
            gaps.append(100 * (correct(name)[rows].mean() - correct("original")[rows].mean()))
        assert [line["estimate"], *line["others"]] == pytest.approx(gaps)


def test_records_without_the_wordings_have_lines_that_say_so(mine):
    asked = {
        "asking_nothing": ("all", {}),
        "inputs": ("any", {}),
        "shapley": ("any", {"rounds": ["V1", "N1"]}),
    }
    for name, (lacking, more) in asked.items():
        absent = frame.measured(nulls.MEASURES[name]([mine], **more))["absent"]
        assert getattr(absent, lacking)() and (lacking == "all" or not absent.all())


def test_the_value_of_a_round_is_what_it_adds_to_all_combinations_at_one_tau1(asked):
    (by_paper, at_one) = (found([asked], "shapley", tau1=tau1) for tau1 in (None, SCI7.tau1))
    assert len(by_paper) == len(at_one) == 9 * len(nulls.SUBSETS)
    values = components.contributions(components.outcomes(asked, tau1=SCI7.tau1))
    rows = asked.sets("any", "rows")["BS"].to_numpy()
    for name, added in values.items():
        line = at_one["mine", f"{name}, τ1 2.5", "BS"]
        assert line["estimate"] == pytest.approx(100 * added[rows].mean())
    sums = [
        sum(lines["mine", f"{side}, τ1 {said}", "BS"]["estimate"] for side in components.SIDES)
        for lines, said in ((by_paper, "1 + N/2"), (at_one, "2.5"))
    ]
    assert sums[0] == pytest.approx(sums[1])
    paper, one = (lines["mine", f"V1, τ1 {said}", "BS"]["estimate"]
                  for lines, said in ((by_paper, "1 + N/2"), (at_one, "2.5")))  # fmt: skip
    assert abs(paper - one) > 0.01


DUMMIES = Method("dummies", "sci", (), SCI5.visual, tau1=2.0, tau2=SCI5.tau2, beta=SCI5.beta)
BY_HAND = {
    "beyond_dummies": (SCI5, DUMMIES),
    "tau1_alone": (DUMMIES, replace(DUMMIES, tau1=1.0)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_measure_is_what_one_method_gets_right_less_another(name, asked):
    replay, sets, seen = Replay(asked.records), asked.sets("any", "rows"), set()
    for subset, line in zip(nulls.SUBSETS, found([asked], name).values(), strict=True):
        rows = sets[subset].to_numpy()
        one, other = (replay.right(each)[rows] for each in BY_HAND[name])
        assert line["subset"] == subset and line["n"] == rows.sum()
        assert line["estimate"] == pytest.approx(100 * (one - other).mean())
        seen.add(line["estimate"] != 0)
    assert True in seen


def test_replay_leaves_at_most_two_rows_in_a_hundred_of_bs_open(shipped):
    """These are read off the first token; of the models before, at most one in a hundred was."""
    names = [name for name in nulls.CONTRASTS if "nothing" not in name]
    methods = {one for name in names for _, one in nulls.CONTRASTS[name](SCI5)}
    for model in shipped:
        rows = model.sets("any", "rows")["BS"].to_numpy()
        assert max(outcome(model, one).unsettled(rows) for one in methods) <= 0.02


def test_a_wording_asked_twice_changes_no_row_at_one_tau1(shipped, asked):
    for model in (*shipped, asked):
        again = [model.right(one) for _, one in nulls.CONTRASTS["repeated"](SCI5)]
        assert np.array_equal(*again, equal_nan=True)
        by_rule = [model.right(one) for _, one in nulls.CONTRASTS["repeated_by_rule"](SCI5)]
        assert not np.array_equal(*by_rule, equal_nan=True)


def test_no_printed_row_with_a_dummy_tells_what_a_rewording_does_by_itself():
    pairs = nulls.printed_pairs()
    said = pairs[["dummies", "rewordings", "tau1 with", "tau1 without", "alike"]]
    assert sorted(said.itertuples(index=False, name=None)) == [
        ("", "V1", 1.5, 1.0, True),
        ("", "V1 V2", 2.0, 1.0, True),
        ("black", "V1", 1.5, 1.0, False),
        ("black", "V1 V2", 2.0, 1.0, False),
        ("black noise500", "V1", 1.5, 1.0, False),
        ("black noise500", "V1 V2", 2.0, 1.0, False),
    ]
    without = pairs[pairs["alike"]].set_index("rewordings")
    gains = (without["value with"] - without["value without"]).round(2)
    assert gains.to_dict() == {"V1": -0.23, "V1 V2": 0.46}


def test_a_printed_row_that_could_tell_would_be_found(tmp_path, monkeypatch):
    """SCI5 at tau1 = 1 is in Table 8; its dummies alone on the same rows would be its pair."""
    for path in PAPER.glob("table??.csv"):
        shutil.copy(path, tmp_path)
    head = "table,model,method,subset,split,rounds,question_type,metric,value"
    line = "table11,Qwen2-VL,SCI,BS,validation,original black noise500,Overall,accuracy,30.00"
    (tmp_path / "table11.csv").write_text(f"{head}\n{line}\n")
    monkeypatch.setattr(nulls, "PAPER", tmp_path)
    pairs = nulls.printed_pairs()
    (told,) = pairs[pairs["alike"] & (pairs["dummies"] != "")].to_dict("records")
    assert (told["split"], told["tau1 with"], told["rewordings"]) == ("validation", 1.0, "V1 V2")


CONDITIONS = {each["id"] for each in read_yaml(PAPER / "conditions.yaml")["conditions"]}
FIELDS = {"id", "section", "means", "measure", "claim", "margin", "rests_on"}


def test_claims_name_measures_conditions_and_each_other():
    ids = [claim["id"] for claim in CLAIMS]
    assert len(ids) == len({*ids}) > 10
    for claim in CLAIMS:
        measure = nulls.MEASURES[claim["measure"]]
        assert claim["section"] == "rewordings" and claim["means"].strip().endswith(".")
        assert {*claim} - FIELDS <= {*signature(measure).parameters} - {"models"}
        assert {*claim["rests_on"]} <= CONDITIONS | {*ids} - {claim["id"]}
        assert claim.get("claim", "greater") in ("greater", "less")
        assert abs(claim.get("margin", 0)) < 0.05  # shares of 1, not points


@pytest.mark.slow
def test_every_claim_is_measured_on_records_that_hold_its_rounds(shipped, asked):
    for claim in CLAIMS:
        arguments = {key: claim[key] for key in {*claim} - FIELDS}
        lines = list(found([asked], claim["measure"], **arguments).values())
        asks = len(claim.get("methods", claim.get("rounds"))) * len(claim["subsets"])
        assert len(lines) == asks and all(line["n"] for line in lines), claim["id"]
        lines = found(shipped, claim["measure"], **arguments)
        assert len(lines) == asks * len(shipped)
        assert all(line["n"] and line["low"] < line["high"] for line in lines.values())


def test_without_dummies_rewordings_are_set_beside_the_base(shipped):
    """And over the trainings that recorded logits, as every number of a model."""
    asked = {"methods": ["SCI(M=0, N=2)"], "subsets": ["BS"]}
    (line,) = found(shipped[:1], "beyond_dummies", **asked).values()
    gaps = []
    for each in (one for one in shipped[0].trainings if len(one.records.nodes.row)):
        rows = each.sets("any", "rows")["BS"].to_numpy()
        gaps.append(100 * (each.right(sci(0, 2)) - each.right("base"))[rows].mean())
    estimate, others = (gaps[0], gaps[1:]) if len(gaps) < FEWEST else (np.mean(gaps), gaps)
    assert line["estimate"] == pytest.approx(estimate, abs=0.05)
    assert line["others"] == pytest.approx(others, abs=0.05)
