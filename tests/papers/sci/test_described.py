"""Descriptions against the picture: shares counted by hand, over trainings, and their claims."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from sci_book.data.datasets import load_dataset
from sci_book.files import read_yaml
from sci_book.papers.sci import described
from sci_book.papers.shared import chapters, frame, gate
from sci_book.resources import CHECKPOINTS, FROZEN_RECORDS, PAPER
from sci_book.results.records import Records, build_table, read_records, write_records
from sci_book.run.provenance import as_recorded
from sci_book.run.verify import verify_subset
from sci_core.families.models import load_model
from sci_core.methods import ICD, M3ID, SCI3, SCI5, VCD, VDD
from tests.papers.shared.made_up import records_of
from tests.rows import answers, sample
from tests.soak import mostly

ONCE = replace(SCI5, name="once", edit="first_token")
METHODS = (VCD, M3ID, SCI3, SCI5, ICD, VDD, ONCE)
ROUNDS = ["original", "V1", "V2", "black", "noise500", "confused", "none", "unk"]
CLAIMS = read_yaml(PAPER / "second" / "descriptions.yaml")
PARTS = ("test", "validation")
OBJECTS = {name: [] for name in ("bus", "sheep", "cat", "sign")}
TRUE = "3 red buses, 1 white sheep and a sign with K in a street."
WRONG = "3 red buses, 1 black sheep, 1 white cat and a bus in a kitchen."
SHORT = "A sign with K in a street."
# What is said of three pictures of `TRUE`: by the base, and by SCI5.
SAID = [(TRUE, TRUE), (WRONG, SHORT), (WRONG, WRONG)]


def described_by(said, repeats=1):
    """Records of pictures of `TRUE`: what the base says, and what every other policy does.

    The first row is one of validation; the last has an error.
    """
    rows = []
    for place, (base, other) in enumerate([*said * repeats, ("", "")]):
        row = sample(place, truth=TRUE, question_type="description")
        if place == len(said) * repeats:
            row["error"] = "RowError"
        else:
            names = [*ROUNDS, *(each.name for each in METHODS)]
            row |= answers(dict.fromkeys(names, other) | {"original": base})
        rows.append(row)
    stamp = {
        "schema": 1, "model": "mine", "revision": "r", "rounds": ROUNDS, "objects": OBJECTS,
        "methods": [asdict(each) for each in METHODS], "datasets": {"x": "sum"}, "prompts": "p",
        "rows": "3", "max_new_tokens": 48, "eos": [9], "noise": "wrap",
    }  # fmt: skip
    names = [*ROUNDS, *(each.name for each in METHODS)]
    return Records(build_table(rows, names), stamp, {})


def model_with(folder, *trainings):
    """A model of ordinary records, and beside them descriptions, one file a training."""
    write_records(folder / "mine.parquet", records_of(rows=20))
    for seed, records in enumerate(trainings):
        below = folder / (f"training{seed}" if seed else "") / "descriptions"
        below.mkdir(parents=True, exist_ok=True)
        write_records(below / "mine.parquet", records)
    return chapters.subjects(["mine"], folder)[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return model_with(tmp_path_factory.mktemp("described"), described_by(SAID))


def figure(model, quantity, **arguments):
    lines = list(described.MEASURES[quantity]([model], **arguments))
    (found,) = frame.measured(lines).to_dict("records")
    return found


# Rows 1 and 2 are test rows: the base says WRONG twice, SCI5 says SHORT and WRONG.
BY_HAND = {
    "chair_i": (2 / 8, 1 / 5),
    "chair_s": (2 / 2, 1 / 2),
    "recall": (4 / 6, 3 / 6),
    "repetition": (2 / 8, 1 / 5),
    "length": (2 * 15 / 2, (7 + 15) / 2),
    "phrases": (2 / 8, 3 / 6),
    "kind": (4 / 6, 3 / 4),
    "number": (4 / 4, 2 / 2),
    "colour": (2 / 4, 1 / 2),
    "symbol": (np.nan, 1 / 1),
    "place": (0 / 2, 1 / 2),
}


@pytest.mark.parametrize("quantity", described.MEASURES)
def test_shares_counted_by_hand(quantity, model):
    scale = 1 if quantity == "length" else 100
    base, ours = (figure(model, quantity, methods=[name]) for name in ("base", "SCI5"))
    expected = scale * np.array(BY_HAND[quantity])
    np.testing.assert_allclose([base["estimate"], ours["estimate"]], expected)
    less = figure(model, quantity, methods=["SCI5"], against=["base"])
    np.testing.assert_allclose(less["estimate"], expected[1] - expected[0])
    assert (less["method"], less["contrast"]) == ("SCI5", "SCI5 − base")
    assert base["n"] == (0 if quantity == "symbol" else 2)


def test_invented_things_are_counted_by_their_place_in_a_description(model):

    def at(position, name="base", **more):
        found = figure(model, "chair_i", methods=[name], position=position, **more)
        return found["estimate"], found["n"], found["at"]

    # buses, sheep, cat, a bus; SHORT has a sign alone.
    assert [at(place) for place in described.POSITIONS] == [
        (0, 2, "1"), (0, 2, "2"), (100, 2, "3"),
    ]  # fmt: skip
    assert [at(place, "SCI5")[:2] for place in described.POSITIONS] == [(0, 2), (0, 1), (100, 1)]
    assert at(3, than=1) == (100, 2, "3 − 1")
    assert at(3, "SCI5", against=["base"], than=1) == (0, 2, "3 − 1")
    right = [
        figure(model, "phrases", methods=["base"], position=place)["estimate"]
        for place in described.POSITIONS
    ]
    assert right == [100, 0, 0]


def test_trainings_lie_beside_and_four_make_an_interval_over_them(tmp_path):
    several = [described_by([(TRUE, said)] * 3, 10) for said in (TRUE, WRONG, TRUE, WRONG)]
    model = model_with(tmp_path, *several)
    found = figure(model, "chair_i", methods=["SCI5"], against=["base"])
    assert found["estimate"] == pytest.approx((0 + 25 + 0 + 25) / 4)
    assert found["low"] < 0 < found["high"]  # between trainings, not between questions
    few = figure(model_with(tmp_path / "few", *several[:2]), "chair_i", methods=["SCI5"])
    assert (few["estimate"], few["others"]) == (0, (25,))


def test_validation_rows_are_others(tmp_path):
    rows = [(TRUE, TRUE), *[(WRONG, WRONG)] * 4] * 20  # every fifth is one of validation
    model = model_with(tmp_path, described_by(rows))
    found = [figure(model, "phrases", methods=["base"], part=part) for part in PARTS]
    assert [(each["estimate"], each["n"]) for each in found] == [(25, 80), (100, 20)]


def test_a_model_may_have_no_descriptions_or_only_these(tmp_path):
    bare = model_with(tmp_path)
    assert list(described.MEASURES["recall"]([bare], methods=["base"])) == []
    write_records(tmp_path / "own" / "mine.parquet", described_by(SAID))
    (own,) = chapters.subjects(["mine"], tmp_path / "own")
    assert figure(own, "recall", methods=["base"])["n"] == 2


def test_a_further_training_by_itself_finds_its_own(tmp_path):
    model = model_with(tmp_path, described_by(SAID), described_by([(TRUE, TRUE)] * 3))
    write_records(tmp_path / "training1" / "mine.parquet", records_of(rows=20))
    alone = chapters.by_training([model])
    found = [figure(alone[seed][0], "chair_s", methods=["base"]) for seed in (0, 1)]
    assert [(each["estimate"], each["others"]) for each in found] == [(100, ()), (0, ())]


def test_what_is_not_there_is_named(model):
    assert figure(model, "recall", methods=["TIE"])["absent"]
    with pytest.raises(ValueError, match="no 'recall' by position; expected one of chair_i, phr"):
        figure(model, "recall", methods=["base"], position=2)
    with pytest.raises(ValueError, match="There is no 'cider'; expected one of chair_i, chair_s"):
        next(described.shares([model], "cider", methods=["base"]))
    with pytest.raises(ValueError, match=r"Positions are 1, 2, 3; got \[4, 1\]"):
        figure(model, "chair_i", methods=["base"], position=4, than=1)


FROZEN = sorted((FROZEN_RECORDS / "descriptions").glob("*.parquet"))


@pytest.fixture(scope="module")
def shipped():
    return chapters.subjects([file.stem for file in FROZEN], FROZEN_RECORDS / "descriptions")


@pytest.mark.filterwarnings("ignore:.*the rule `prefix`")
@pytest.mark.parametrize("file", mostly(FROZEN), ids=lambda file: file.stem)
def test_some_frozen_descriptions_are_said_again(file):
    frozen, dataset = read_records(file), load_dataset("pocket_descriptions")
    assert len(frozen.table) == len(dataset) and frozen.ok.all()
    again = load_model(CHECKPOINTS / file.stem, **as_recorded(frozen.stamp))
    found = verify_subset(again, frozen, dataset, share=40)
    assert found.rows > 10 and found.passed, found.summary()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_every_claim_has_its_lines(claim, model, shipped):
    arguments = {
        key: claim[key]
        for key in ("methods", "against", "position", "than", "part")
        if key in claim
    }
    assert set(claim) <= {
        "id", "section", "means", "measure", "claim", "margin", "rests_on", *arguments,
    }  # fmt: skip
    assert set(claim.get("rests_on", ())) <= {*gate.OF_SCI, "describes"}
    models = [model, *shipped]
    lines = frame.measured(described.MEASURES[claim["measure"]](models, **arguments))
    assert len(lines) == len(models) * len(claim["methods"]) * len(claim.get("against", [1]))
    assert np.isfinite(lines["estimate"]).all() and (lines["n"] > 0).all()
