"""Seeds: found by their folders, compared claim by claim, contradicted or merely open."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import headline
from sci_book.papers.shared.pages import named
from sci_book.papers.shared.tables import VERDICTS
from sci_book.results.records import read_records, write_records
from sci_book.results.statistics import difference

FROZEN = Path(__file__).resolve().parents[2] / "data_manifests" / "records"
MODELS = ["pocket-qwen2vl", "pocket-llavanext"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every fortieth row as seed 0; as seed 1 without nodes; as seed 2 one model alone."""
    folder = tmp_path_factory.mktemp("records")
    for name in MODELS:
        whole = read_records(FROZEN / f"{name}.parquet")
        few = whole.take(np.arange(0, len(whole.frame), 40))
        write_records(folder / f"{name}.parquet", few)
        write_records(folder / "seed1" / f"{name}.parquet", few.answers_alone())
        if name == MODELS[0]:
            write_records(folder / "seed2" / f"{name}.parquet", few)
    return folder


@pytest.fixture(scope="module")
def by_seed(folder):
    return headline.seeds(MODELS, folder)


@pytest.fixture(scope="module")
def frame(by_seed):
    return headline.results(by_seed)


def test_seeds_are_the_folders_beside_the_books_records(by_seed):
    assert {seed: [each.name for each in found] for seed, found in by_seed.items()} == {
        0: MODELS, 1: MODELS, 2: MODELS[:1],
    }  # fmt: skip
    assert headline.rows_table(by_seed).frame.shape == (5, 4)
    assert "seed 2" in repr(headline.stamp_of(by_seed))


def test_answers_alone_give_what_nodes_give(frame):
    for name in MODELS:
        every = frame.drop(columns="sample").loc[name]
        first, second = (every.xs(seed, level="seed") for seed in (0, 1))
        pd.testing.assert_frame_equal(first, second)


def test_a_line_is_a_paired_difference(by_seed, frame):
    first = by_seed[0][0]
    rows = first.sets("any", "rows")["BS"].to_numpy()
    values = first.records.correct("SCI5").astype(float) - first.records.correct("VCD")
    expected = difference(values[rows], first.groups[rows])
    line = frame.loc[MODELS[0], "SCI5 − VCD, BS", 0]
    assert line["reproduced"] == pytest.approx(100 * expected.estimate) and line["n"] == rows.sum()
    # One model alone has no other to carry its gain to.
    assert frame.loc[MODELS[0]].groupby("seed").size().tolist() == [9, 9, 8]


def counted(*words):
    index = pd.MultiIndex.from_product(
        [["m"], ["a claim"], range(len(words))], names=["model", "claim", "seed"]
    )
    return headline.agreement(pd.DataFrame({"verdict": words}, index=index))


@pytest.mark.parametrize(
    ("words", "together", "verdict"),
    [
        (["holds", "holds", "holds"], "the same on all", "holds"),
        (["fails", "fails"], "the same on all", "holds"),
        (["holds", "inconclusive", "holds"], "differs", "inconclusive"),
        (["holds", "inconclusive", "fails"], "contradicted", "fails"),
        (["holds"], headline.ONE, "not comparable"),
        (["holds", "not comparable"], headline.ONE, "not comparable"),
        (["not comparable"] * 3, headline.ONE, "not comparable"),
        (["holds", "not comparable", "holds"], "the same on all", "holds"),
    ],
)
def test_a_verdict_depends_on_the_seed_only_where_seeds_contradict(words, together, verdict):
    found = counted(*words)
    assert found["together"].tolist() == [together]
    assert found[list(VERDICTS)].sum(axis=1).tolist() == [len(words)]
    said, head = headline.conclusion(found), f"**Verdict, {named('headline_seeds')}"
    assert said.startswith(f"{head}: {verdict}.** Of 1 headline claims (each model's its own), ")
    phrases = {
        "the same on all": "on 1 every seed has the same verdict",
        "differs": "on 1 some seeds are inconclusive",
        headline.ONE: "on 1 at most one seed can be judged",
        "contradicted": "1 held on one seed",
    }
    assert [word for word, phrase in phrases.items() if phrase in said] == [together]
    assert said.count("on 1 ") == (together != "contradicted") and "on 0 " not in said


def test_tables_and_figure_hold_every_claim_and_seed(frame):
    table = headline.seed_table(frame, MODELS[0]).frame
    assert table.shape == (9, 12)  # three seeds and their mean
    assert table.loc[:, "seed 2"].iloc[-1].tolist() == ["—", "—", "—"]
    titles = frame.groupby("model")["shown"].first()
    lines = headline.agreement_table(headline.agreement(frame), titles).frame.index
    assert len(lines) == 18 and all(name.startswith("pocket ") for name in lines)
    assert len(headline.draw(frame).axes) == 2
