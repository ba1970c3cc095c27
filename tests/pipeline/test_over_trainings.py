"""The second claims: words over trainings, of few trainings, and of claims that rest on others."""

import re

import numpy as np
import pytest
import yaml

from sci_book.commands import papers
from sci_book.papers.shared import chapters, frame, gate, tables
from sci_book.pipeline import over_trainings
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import write_records
from sci_book.results.stamps import NotRecorded
from tests.papers.shared.drawn_records import drawn_records

NAME = "pocket-qwen2vl"
CLAIM = {"id": "first", "section": "(a)", "means": "more", "measure": "made"}


def made(models, shares, subsets=("all",), lacking=()):
    """Lines of a mean by training and part, with a spread of 0.1 from row to row."""

    def values(training, part):
        if training.seed in lacking:
            raise NotRecorded("answers alone")
        spread = np.where(np.arange(len(training.groups)) % 2, 0.1, -0.1)
        return shares[training.seed][part] + spread

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
            at = folder / f"seed{seed}" if seed else folder
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
    assert (found.word, found.verdict, found.count) == (word, word, count)
    assert len(found.findings) == (1 if count >= 4 else count)
    for finding in found.findings:
        assert finding.claim.place == "(a)" and finding.claim.page == "page"
        assert finding.interval.n == 48 and finding.title == "pocket Qwen2-VL"


def test_over_four_trainings_the_number_is_their_mean(judged):
    (found,) = judged(4, {"shares": [[0.1], [0.2], [0.3], [0.8]], "margin": 0.2})
    (finding,) = found.findings
    assert finding.interval.estimate == pytest.approx(0.35) and found.word == "inconclusive"
    assert finding.interval.low < 0.2 < finding.interval.high < 1
    assert (finding.part, finding.interval.clusters) == ("all", 3 + 12 + 6 + 4)


def test_what_a_claim_rests_on_is_a_condition_or_another_claim(judged, monkeypatch):
    met = {"rewording": "", "dummy": "not met", "readable": ""}
    monkeypatch.setattr(gate, "over_trainings", lambda trainings: dict(met))
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
    never = {"dummy": "not met", "rewording": "not met", "readable": "not met"}
    for training, states in zip(two, ({**never, "dummy": "", "readable": ""}, never), strict=True):
        monkeypatch.setitem(vars(training), "unmet", states)
    found = gate.over_trainings(two)
    assert found == {"dummy": "undecided", "rewording": "not met", "readable": "not met"}


def test_a_page_says_of_each_claim_its_word_by_model_and_of_how_many_trainings(judged):
    both = ({"shares": [[0.2], [0.3]]}, {"id": "second", "shares": [[0.2], [-0.3]]})
    text = over_trainings.conclusion(judged(2, *both))
    assert text.startswith("**Verdict: inconclusive.**\n\n- more ")
    assert "- more pocket Qwen2-VL: *holds* (2 trainings)." in text
    assert "- more pocket Qwen2-VL: *inconclusive* (2 trainings)." in text
    one = over_trainings.conclusion(judged(1, {"shares": [[-0.2]]}))
    assert one == "**Verdict: fails.** more pocket Qwen2-VL: *fails* (one training)."
    (none,) = judged(1, {"shares": [[0.2]], "lacking": [0]})
    assert "*not comparable* (not recorded)." in over_trainings.conclusion([none])
    doubted = none._replace(count=4, unmet="dummy not met")
    text = over_trainings.conclusion([doubted])
    assert re.search(r"\*not comparable\* \(4 trainings; \[cond.*\]\(.+\): dummy not met\)", text)


def test_a_table_of_claims_has_what_decides_in_the_first_training_and_every_word(judged):
    found = judged(
        2, {"shares": [[0.2], [-0.3]]}, {"id": "none", "shares": [[0.2]] * 2, "lacking": [0, 1]}
    )
    lines = over_trainings.table(found, "claims").frame
    first = lines.loc["first: pocket Qwen2-VL"]
    assert (first["verdict"], first["trainings"]) == ("inconclusive", "2: holds, fails")
    assert (first["decided by"], first["claimed"], first["n"]) == ("all", "> 0", "48")
    ends = first[f"found, {tables.INTERVAL}"]
    assert ends.startswith("0.2000 [") and ends.key == found[0].findings[0].interval.key
    none = lines.loc["none: pocket Qwen2-VL"]
    assert none["trainings"] == "0" and set(none[2:]) - {"> 0"} == {tables.MISSING}


def test_the_claims_are_said_to_be_registered_once_a_file_registers_them(tmp_path):
    assert over_trainings.standing(tmp_path) == over_trainings.UNREGISTERED
    registered = {"registered": "a day", "commit": "0" * 40, "files": {}}
    (tmp_path / over_trainings.REGISTRATION).write_text(yaml.safe_dump(registered))
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


def test_the_committed_claims_are_judged_on_todays_trainings():
    claims = over_trainings.load_claims()
    assert {claim.page for claim in claims} >= {"objections", "rewordings", "descriptions"}
    claims = [claim for claim in claims if claim.page == "objections"]
    places = [claim.place for claim in claims]
    known = [place[1] for place in dict.fromkeys(places) if place.startswith("(")]
    assert known == list("abcdefghi") and "use it or not" in places
    models = chapters.subjects([NAME, "pocket-llavanext"], FROZEN_RECORDS)
    found = over_trainings.judge(claims, models)
    unrecorded = {each.claim.id for each in found if not each.count}
    held = models[0].records.rounds
    assert unrecorded == {
        claim.id for claim in claims if {"ICD", "VDD"} & {*claim.arguments.get("against", ())}
    } and not {"confused", "none", "unk"} & {*held}  # fmt: skip
    assert not any(each.unmet for each in found)
    assert all(re.fullmatch("holds|fails|inconclusive", each.word) for each in found if each.count)
