"""The extended records still come out of this code: a small share is decoded anew."""

import pytest

from sci_core.evaluation import load_dataset, read_records, verify_subset
from sci_core.evaluation.runner import EXTENDED_METHODS, hashed_part
from sci_core.models import load_model
from sci_core.reproduce import CHECKPOINTS, FROZEN_RECORDS, make_pocket_data

SHARE = 5  # the records hold a fifth of the question groups,
PART = 160  # of which so much is decoded anew
FILES = sorted((FROZEN_RECORDS / "extended").glob("*.parquet"))


@pytest.fixture(scope="module")
def fifth():
    make_pocket_data()
    return hashed_part(load_dataset("pocket"), SHARE)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_some_rows_decode_to_the_frozen_answers(file, fifth):
    frozen = read_records(file)
    assert len(frozen.table) == len(fifth) and frozen.ok.all()
    noise = frozen.stamp.get("noise", "clamp")
    assert file.stem == frozen.stamp["model"] + ("" if noise == "clamp" else f"-{noise}")
    found = verify_subset(
        load_model(CHECKPOINTS / frozen.stamp["model"]), frozen, fifth, share=PART
    )
    print(found.summary())
    assert found.rows > 10 and found.passed, found.summary()


def test_every_model_with_more_rounds_has_the_other_noises():
    stems = {file.stem for file in FILES}
    models = {stem for stem in stems if not stem.endswith(("-wrap", "-normalized"))}
    assert stems == {f"{model}{kind}" for model in models for kind in ("", "-wrap", "-normalized")}
    for file in FILES:
        assert file.stat().st_size < 4_000_000
        if file.stem in models:
            rounds = read_records(file).rounds
            assert len(rounds) == 15 and set(EXTENDED_METHODS[9].rounds) == set(rounds)
