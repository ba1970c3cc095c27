"""What the code measures and judges on a small made-up set of records is what was committed."""

import sys

import numpy as np
import pandas as pd
import pytest

from sci_book.pipeline.pocket_data import draw_companions
from sci_book.resources import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import golden

NUMBERS = ["estimate", "low", "high"]
KEYS = ["claim", "model", "part"]
NETWORK = "pocket CLIP"
"""In parts that a network's own numbers enter: in float32 they differ by processor and threads."""


@pytest.fixture(scope="module")
def today(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    draw_companions(say=print)  # some claims read them
    golden.with_trainings(folder)
    made = folder / "values.csv"
    golden.measured(folder).to_csv(made, index=False)
    return pd.read_csv(made)


def test_every_claim_and_condition_has_its_committed_value(today):
    known = pd.read_csv(golden.VALUES)
    assert list(today) == list(known)
    words = known.drop(columns=NUMBERS)
    pd.testing.assert_frame_equal(today.drop(columns=NUMBERS), words)
    by_network = known["part"].str.contains(NETWORK, na=False)
    for name in NUMBERS:
        for rows, least in ((~by_network, 1e-12), (by_network, 1e-6)):
            here, there = (each.loc[rows, name].to_numpy() for each in (today, known))
            np.testing.assert_allclose(here, there, rtol=1e-8, atol=least, err_msg=name)


def test_the_records_are_those_of_their_checksums():
    """A registration holds the checksums' own, and so the records."""
    assert golden.SUMS.read_text(encoding="utf-8") == golden.checksums()


def test_the_set_can_tell(today):
    """Most claims have parts in it, over all trainings, and no word is that of nearly all."""
    claims = today[~today["claim"].str.startswith("condition")].drop_duplicates(["claim", "model"])
    assert not today.duplicated(KEYS).any()
    assert (claims["trainings"] == golden.TRAININGS).mean() > 0.8  # others: of questions
    shares = claims["word"].value_counts(normalize=True)
    assert {"holds", "fails", "inconclusive"} <= {*shares.index} and shares.max() < 0.8
