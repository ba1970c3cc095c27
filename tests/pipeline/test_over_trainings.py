"""The second claims: words over trainings, of few trainings, and of claims that rest on others."""

import re
import warnings
from dataclasses import replace
from itertools import chain, product

import numpy as np
import pytest
import yaml

from sci_book.commands import papers
from sci_book.data.datasets import load_dataset
from sci_book.papers.sci.overhead import cost
from sci_book.papers.shared import chapters, frame, gate, tables
from sci_book.papers.shared.chapters import by_training
from sci_book.pipeline import ledger, over_trainings, registration
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.resources import FROZEN_RECORDS
from sci_book.results import controls
from sci_book.results.controls import READS
from sci_book.results.records import write_records
from sci_book.results.stamps import NotRecorded
from sci_book.run import method_sets, runner
from sci_book.run.conditions import READABLE
from sci_book.run.layout import hashed_part
from sci_core.families.models import load_model
from sci_core.methods import BASE, ICD, METHODS, SCI5, VDD
from tests import tiny
from tests.conftest import sci
from tests.papers.shared.drawn_records import drawn_records

NAME = "pocket-qwen2vl"
DESCRIBERS = "base,VCD,M3ID,SCI3,SCI5,ICD,VDD,SCI3 first token,SCI5 first token"
CLAIM = {"id": "first", "section": "(a)", "means": "more", "measure": "made"}


def made(models, shares, subsets=("all",), lacking=()):
    """Lines of a mean by training and part, with a spread of 0.1 from row to row."""

    def values(training, part):
        if training.number in lacking:
            raise NotRecorded("answers alone")
        spread = np.where(np.arange(len(training.groups)) % 2, 0.1, -0.1)
        return shares[training.number][part] + spread

    def rows(training):
        return np.isfinite(training.groups != "")

    for model in models:
        for part, subset in enumerate(subsets):
            yield frame.line(model, lambda one, part=part: values(one, part), rows, subset=subset)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model by its number of trainings."""

    def of(count):
        folder = tmp_path_factory.mktemp("records")
        for seed in range(count):
            at = folder / f"training{seed}" if seed else folder
            write_records(at / f"{NAME}.parquet", drawn_records(NAME, seed=seed, rows=12))
        return chapters.subjects([NAME], folder)[0]

    models = {count: of(count) for count in (1, 2, 4)}
    return models.__getitem__


@pytest.fixture
def judged(tmp_path, monkeypatch, trained):
    monkeypatch.setattr(over_trainings, "REGISTERED", ({"made": made}, {"other": made}))

    def judge(count, *entries):
        (tmp_path / "page.yaml").write_text(yaml.safe_dump([CLAIM | each for each in entries]))
        claims = over_trainings.load_claims(tmp_path)
        return over_trainings.judge(claims, [trained(count)])

    return judge


@pytest.mark.parametrize(
    ("means", "entry", "word", "count"),
    [
        ([[0.2], [0.3]], {}, "holds", 2),
        ([[-0.2], [-0.3]], {}, "fails", 2),
        ([[0.2], [-0.3]], {}, "inconclusive", 2),
        ([[0.2], [0.3]], {"margin": 0.25}, "inconclusive", 2),
        ([[0.2], [0.3]], {"claim": "less", "margin": 0.4}, "holds", 2),
        ([[0.2], [-0.3]], {"lacking": [1]}, "holds", 1),
        ([[0.2], [-0.3]], {"lacking": [0]}, "fails", 1),
        ([[0.2], [0.2]], {"lacking": [0, 1]}, "not comparable", 0),
        ([[0.2, 0.2], [0.2, -0.1]], {"subsets": ["B", "S"]}, "inconclusive", 2),
        ([[0.2, -0.2], [-0.2, 0.2]], {"subsets": ["B", "S"]}, "fails", 2),
        ([[0.2, -0.2], [-0.2, 0.2]], {"subsets": ["B", "S"], "needed": 1}, "holds", 2),
        ([[0.2], [0.3], [0.2], [0.3]], {}, "holds", 4),
        ([[-0.2], [-0.3], [-0.2], [-0.3]], {}, "fails", 4),
        ([[0.2], [-0.3], [0.2], [-0.2]], {}, "inconclusive", 4),
        ([[0.4], [0.5], [0.4], [-0.05]], {"margin": -0.1}, "holds", 4),  # not each by itself
        ([[0.2], [0.3], [0.2], [-0.9]], {"lacking": [3]}, "holds", 3),
        ([[0.2, -0.2]] * 4, {"subsets": ["B", "S"]}, "fails", 4),
    ],
)
def test_a_word_is_that_of_the_interval_over_trainings_or_that_all_have(
    means, entry, word, count, judged
):
    (found,) = judged(len(means), {"shares": means, **entry})
    assert (found.word, found.verdict, found.trainings) == (word, word, count)
    assert len(found.each) == (count if 1 < count < 4 else 0)
    for finding in found.each or [found] if count else []:
        assert finding.claim.place == "(a)" and finding.claim.page == "page"
        assert finding.interval.n == 48 and finding.title == "pocket Qwen2-VL"


def test_over_four_trainings_the_number_is_their_mean(judged):
    (found,) = judged(4, {"shares": [[0.1], [0.2], [0.3], [0.8]], "margin": 0.2})
    assert found.interval.estimate == pytest.approx(0.35) and found.word == "inconclusive"
    assert found.interval.low < 0.2 < found.interval.high < 1
    assert (found.part, found.interval.clusters) == ("all", 3 + 12 + 6 + 4)


def test_what_a_claim_rests_on_is_a_condition_or_another_claim(judged, monkeypatch):
    met = {"rewording": "", "dummy": "not met", "readable": ""}
    monkeypatch.setattr(chapters.Subject, "unmet_by_trainings", property(lambda model: met))
    high, low = [[0.2]] * 4, [[-0.2]] * 4
    found = judged(
        4,
        {"id": "sound", "shares": high, "rests_on": ["rewording"]},
        {"id": "doubted", "shares": high, "rests_on": ["rewording", "dummy"]},
        {"id": "on-a-sound-one", "shares": low, "rests_on": ["sound"]},
        {"id": "on-a-false-one", "shares": high, "rests_on": ["on-a-sound-one"]},
    )
    assert [each.verdict for each in found] == [
        "holds",
        "not comparable",
        "fails",
        "not comparable",
    ]
    assert [each.word for each in found] == ["holds", "holds", "fails", "holds"]
    assert [each.unmet for each in found] == ["", "dummy not met", "", "on-a-sound-one fails"]
    text = papers._listing(found)
    assert "pocket Qwen2-VL, trainings: 4: not comparable (dummy not met; holds)" in text


def test_a_condition_is_that_of_all_trainings(trained, monkeypatch):
    one, two, four = (trained(count).trainings for count in (1, 2, 4))
    assert gate.over_trainings(one) == one[0].unmet
    assert set(gate.over_trainings(four).values()) <= {"", "undecided", *gate._LACKING.values()}
    never = {"dummy": "not met", "rewording": "not met", "readable": "not met", "sister": "no"}
    met = {"dummy": "", "readable": "", "sister": ""}  # a sister stands beside the first alone
    for training, states in zip(two, ({**never, **met}, never), strict=True):
        monkeypatch.setitem(vars(training), "unmet", states)
    found = gate.over_trainings(two)
    expected = {"dummy": "undecided", "rewording": "not met", "readable": "not met", "sister": ""}
    assert found == expected


def test_a_papers_claim_is_of_all_trainings_and_of_a_pair_seed_by_seed(tmp_path):
    names, seeds = [NAME, "pocket-llavanext"], range(4)
    for seed, (place, name) in product(seeds, enumerate(names)):
        at = tmp_path / f"training{seed}" if seed else tmp_path
        write_records(at / f"{name}.parquet", drawn_records(name, seed=2 * seed + place, rows=12))
    claims = [claim for claim in load_claims() if claim.paper == "sci"]
    models = chapters.subjects(names, tmp_path)
    found = ledger.evaluate(claims, models, None)
    alone = by_training(models)
    singles = [ledger.evaluate(claims, alone[seed], None) for seed in seeds]
    of_each = {
        (each.claim.id, each.title): [{what: made.estimate for what, made, _ in each.parts}]
        for each in singles[0]
    }
    for each in chain.from_iterable(singles[1:]):
        of_each[each.claim.id, each.title].append({what: x.estimate for what, x, _ in each.parts})
    compared = 0
    for each in found:
        theirs = of_each[each.claim.id, each.title]
        theirs = [parts for parts in theirs if not np.isnan([*parts.values()]).all()]
        assert each.trainings == len(theirs)
        for what, made, _ in each.parts if len(theirs) == len(seeds) else ():
            expected = np.mean([parts[what] for parts in theirs if not np.isnan(parts[what])])
            assert made.estimate == pytest.approx(expected, abs=1e-12), (each.claim.id, what)
            compared += 1
    assert compared > 200
    pair = next(each for each in found if each.claim.beside and each.trainings)
    assert pair.unmet == "" or " for " in pair.unmet  # both models must meet what it rests on


def test_a_page_says_of_each_claim_its_word_by_model_and_of_how_many_trainings(judged):
    both = ({"shares": [[0.2], [0.3]]}, {"id": "second", "shares": [[0.2], [-0.3]]})
    text = over_trainings.conclusion(judged(2, *both))
    assert text.startswith("**Verdict: inconclusive.**\n\n- *Claimed:* more ")
    assert "- *Claimed:* more pocket Qwen2-VL: *holds* (2 trainings)." in text
    assert "- *Claimed:* more pocket Qwen2-VL: *inconclusive* (2 trainings)." in text
    one = over_trainings.conclusion(judged(1, {"shares": [[-0.2]]}))
    assert one == "**Verdict: fails.** *Claimed:* more pocket Qwen2-VL: *fails* (one training)."
    (none,) = judged(1, {"shares": [[0.2]], "lacking": [0]})
    assert "*not comparable* (not recorded)." in over_trainings.conclusion([none])
    doubted = replace(none, word="holds", trainings=4, unmet="dummy not met")
    text = over_trainings.conclusion([doubted])
    assert re.search(
        r"\*not comparable \(holds\)\* \(4 trainings; \[cond.*\]\(.+\): dummy not met\)", text
    )


def test_a_table_of_claims_has_what_decides_in_the_first_training_and_every_word(judged):
    found = judged(
        2, {"shares": [[0.2], [-0.3]]}, {"id": "none", "shares": [[0.2]] * 2, "lacking": [0, 1]}
    )
    lines = over_trainings.table(found, "claims").frame
    first = lines.loc["first: pocket Qwen2-VL"]
    assert (first["verdict"], first["trainings"]) == ("inconclusive", "2: holds, fails")
    assert (first["decided by"], first["claimed"], first["n"]) == ("all", "> 0", "48")
    ends = first[f"found, {tables.INTERVAL}"]
    assert ends.startswith("0.2000 [") and ends.key == found[0].interval.key
    none = lines.loc["none: pocket Qwen2-VL"]
    assert none["trainings"] == "0" and set(none[2:]) - {"> 0"} == {tables.MISSING}


def test_the_claims_are_said_to_be_registered_once_a_file_registers_them(tmp_path):
    assert over_trainings.standing(tmp_path) == over_trainings.UNREGISTERED
    registered = {"registered": "a day", "commit": "0" * 40, "files": {}}
    (tmp_path / registration.SECOND).write_text(yaml.safe_dump(registered))
    (tmp_path / "amendments.yaml").write_text("[]")
    assert over_trainings.standing(tmp_path).startswith("Registered on a day, commit `0000")


def test_a_claim_that_is_there_twice_or_measures_nothing_known_is_refused(judged):
    with pytest.raises(
        ValueError, match=r"names twice: \['first'\]; and .* exist: \['no'\]. Known"
    ):
        judged(1, {}, {"measure": "no"})


def test_two_measures_of_one_name_are_refused(judged, monkeypatch):
    monkeypatch.setattr(over_trainings, "REGISTERED", ({"made": made}, {"made": made}))
    with pytest.raises(ValueError, match=r"names twice: \['measure made'\]"):
        judged(1, {"shares": [[0.0]]})


def test_claims_beside_a_vote_say_what_it_costs_and_what_sci5_does():
    claims = [each for each in over_trainings.load_claims() if "fewer tokens" in each.means]
    assert len(claims) == 4
    for claim in claims:
        others = [name for name in claim.arguments["against"] if name != "base"]
        asked = [*((METHODS | READS)[name] for name in others), SCI5]
        said = [f"{cost(method, 320).read / cost(BASE, 320).read:.2f}" for method in asked]
        assert re.findall(r"\d\.\d\d", claim.means) == said, claim.id


@pytest.mark.slow
def test_the_committed_claims_are_judged_on_todays_trainings():
    claims = over_trainings.load_claims()
    assert {claim.page for claim in claims} >= {"objections", "rewordings", "descriptions"}
    claims = [claim for claim in claims if claim.page == "objections"]
    places = [claim.place for claim in claims]
    known = [place[1] for place in dict.fromkeys(places) if place.startswith("(")]
    assert known == list("abcdefghi") and "use it or not" in places
    models = chapters.subjects([NAME, "pocket-llavanext"], FROZEN_RECORDS)
    found = over_trainings.judge(claims, models)
    lacking = {model.name: model.unmet_by_trainings for model in models}
    assert not any(each.claim.beside for each in found)  # else the other model must meet it, too
    for each in found:
        assert each.trainings and re.fullmatch("holds|fails|inconclusive", each.word)
        needed, states = {*each.claim.rests_on}, lacking[each.model]
        assert needed <= states.keys()  # conditions, and no other claim
        stopped = needed and any(states[name] for name in (*needed, READABLE))
        assert bool(each.unmet) == bool(stopped)
        assert each.verdict == ("not comparable" if stopped else each.word)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A checkpoint of a family without a pocket model: a few answers, and a few descriptions."""
    folder = tmp_path_factory.mktemp("stranger")
    model = load_model(tiny.checkpoint("smolvlm"))
    asked = {
        "": ("pocket", 1600, "SCI5,ICD,VDD", {"rounds": ["V3", "noise400"]}),
        "descriptions": ("pocket_descriptions", 150, DESCRIBERS, {"max_new_tokens": 8}),
    }
    for below, (data, share, methods, how) in asked.items():
        draw_pocket(data)
        rows, run = hashed_part(load_dataset(data), share), folder / "runs" / data
        how = {"executor": "inline", "progress": False, **how}
        with warnings.catch_warnings(action="ignore"):  # descriptions are reworded by a prefix
            records = runner.evaluate(model, rows, method_sets.named(methods), run, **how)
        write_records(folder / below / "smolvlm.parquet", records)
    return folder


@pytest.mark.slow
def test_a_checkpoint_that_is_not_ours_is_judged_by_all_claims(stranger, capsys):
    """It can read no answer, so no claim is comparable on it; each is measured where it can be."""
    assert sci("claims", "--second", "--records", stranger) == 0
    said = r"^book: ([\w-]+) \(.*\n  smolvlm, trainings: (\d): not comparable"
    counted = dict(re.findall(said, capsys.readouterr().out, re.MULTILINE))
    assert counted.keys() == {claim.id for claim in over_trainings.load_claims()}
    measured = ("more-than-its-neighbours", "more-than-a-vote", "descriptions-no-shorter")
    assert [counted[name] for name in measured] == ["1", "1", "1"]
    assert counted["nothing-costs-little"] == "0"  # such wordings were not asked


@pytest.mark.slow
def test_every_control_and_neighbour_has_outcomes_of_a_checkpoint_that_is_not_ours(stranger):
    (model,) = chapters.subjects(["smolvlm"], stranger)
    assert len(model.records.frame["question_type"].unique()) == 3
    for name in (*controls.CONTROLS, ICD, VDD):
        right = model.right(name)
        known = right[np.isfinite(right)]
        assert ((known >= 0) & (known <= 1)).all()
        assert len(known) or name == "shift"  # where "yes" and "no" are not among likely tokens
