"""The extended records still come out of this code: a small share is decoded anew."""

from functools import cache

import pandas as pd
import pytest

from sci_book.papers.shared.chapters import PAPER
from sci_book.resources import CHECKPOINTS, FROZEN_RECORDS
from sci_book.results.records import read_records
from sci_book.run.layout import hashed_part, validation_part
from sci_book.run.method_sets import ABLATIONS, CHEAPER, EXTENDED_METHODS, STANDARD_METHODS
from sci_book.run.verify import verify_subset
from sci_core.families.models import load_model
from sci_core.methods import ICD, VDD
from tests.pocket_data import pocket
from tests.soak import rarely

SHARE = 5  # the records hold a fifth of the question groups,
PART = 160  # of which so much is decoded anew
CHEAP = sorted((FROZEN_RECORDS / "extended").glob("*-cheaper.parquet"))  # of every row
FILES = sorted({*(FROZEN_RECORDS / "extended").glob("*.parquet")} - {*CHEAP})
FURTHER = sorted((FROZEN_RECORDS / "further").glob("*.parquet"))  # of every row, too
VALIDATION = sorted((FROZEN_RECORDS / "validation").glob("*.parquet"))


def of_a_family(files):
    """Those of one family; the other's are slow."""
    return [file if "qwen2vl" in file.stem else rarely(file) for file in files]


@cache
def loaded(name):
    return load_model(CHECKPOINTS / name)


@pytest.fixture(scope="module")
def fifth():
    return hashed_part(pocket(), SHARE)


@pytest.mark.parametrize("file", of_a_family(FILES), ids=lambda path: path.stem)
def test_some_rows_decode_to_the_frozen_answers(file, fifth):
    frozen = read_records(file)
    assert len(frozen.table) == len(fifth) and frozen.ok.all()
    noise = frozen.stamp.get("noise", "clamp")
    assert file.stem == frozen.stamp["model"] + ("" if noise == "wrap" else f"-{noise}")
    found = verify_subset(loaded(frozen.stamp["model"]), frozen, fifth, share=PART)
    print(found.summary())
    assert found.rows > 10 and found.passed, found.summary()


@pytest.mark.parametrize("file", of_a_family(CHEAP), ids=lambda path: path.stem)
def test_some_rows_decode_to_the_frozen_cheaper_answers(file):
    frozen = read_records(file)
    assert file.stem == f"{frozen.stamp['model']}-cheaper"
    assert len(frozen.table) == len(pocket()) and frozen.ok.all()
    assert all(frozen.policy_of(method) for method in CHEAPER)
    found = verify_subset(loaded(frozen.stamp["model"]), frozen, pocket(), share=SHARE * PART)
    print(found.summary())
    assert found.rows > 10 and found.passed, found.summary()


@pytest.mark.parametrize("file", of_a_family(FURTHER), ids=lambda path: path.stem)
def test_some_rows_decode_to_what_the_neighbours_answered(file):
    frozen = read_records(file)
    assert len(frozen.table) == len(pocket()) and frozen.ok.all() and not len(frozen.nodes.row)
    assert all(frozen.policy_of(method) for method in (ICD, VDD))
    found = verify_subset(loaded(file.stem), frozen, pocket(), share=SHARE * PART)
    print(found.summary())
    assert found.rows > 10 and found.passed, found.summary()


@pytest.mark.parametrize("file", of_a_family(VALIDATION), ids=lambda path: path.stem)
def test_some_validation_rows_decode_to_the_frozen_answers(file):
    frozen, rows = read_records(file), validation_part(pocket())
    assert len(frozen.table) == len(rows) == 3315 and frozen.ok.all()
    assert all(frozen.policy_of(method) for method in (*STANDARD_METHODS, *ABLATIONS))
    found = verify_subset(loaded(file.stem), frozen, rows, share=PART)
    print(found.summary())
    assert found.rows > 10 and found.passed, found.summary()


def test_the_ablations_are_those_of_the_papers_tables():
    """SCI5 without constraint (Table 6), and every pair of temperatures printed in Table 8."""
    printed = pd.read_csv(PAPER / "table08.csv").dropna(subset=["tau1"])
    pairs = {tuple(pair) for pair in printed[["tau1", "tau2"]].to_numpy()}
    assert {(each.tau1, each.tau2) for each in ABLATIONS if each.beta} == pairs - {(2.0, 0.2)}
    assert [each.beta for each in ABLATIONS].count(0.0) == 1


def test_every_model_with_more_rounds_has_the_other_noises():
    stems = {file.stem for file in FILES}
    for files in (CHEAP, FURTHER):
        assert {file.stem.removesuffix("-cheaper") for file in files} == {
            "pocket-qwen2vl",
            "pocket-llavanext",
        }
    models = {stem for stem in stems if not stem.endswith(("-clamp", "-normalized"))}
    assert stems == {f"{model}{kind}" for model in models for kind in ("", "-clamp", "-normalized")}
    for file in FILES:
        assert file.stat().st_size < 4_000_000
        if file.stem in models:
            rounds = read_records(file).rounds
            assert len(rounds) == 15 and set(EXTENDED_METHODS[9].rounds) == set(rounds)
