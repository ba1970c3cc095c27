"""Tables 4 and 10 on drawn records, against counts, the metrics' own definitions and the paper."""

from dataclasses import replace

import numpy as np
import pytest

from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters import standard_scores, standard_sets
from sci_book.papers.shared import chapters
from sci_book.results.drbench import split
from sci_book.results.metrics import KINDS
from sci_book.results.records import write_records
from sci_core.methods import SCI5, TIE
from tests.papers.shared.drawn_records import drawn_records

QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
SPOILT = (5, 48 + 3, 2 * 48 + 7)  # in three data sets


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, name in enumerate([QWEN, LLAVA, "mine"]):
        spoilt = SPOILT if name == QWEN else ()
        write_records(folder / f"{name}.parquet", drawn_records(name, seed=seed, spoilt=spoilt))
    return folder


@pytest.fixture(scope="module")
def subjects(folder):
    return chapters.subjects([QWEN, LLAVA, "mine"], folder)


@pytest.fixture(scope="module")
def found(subjects):
    return {each.name: each.right(replace(SCI5, beta=0.8)) for each in subjects}


@pytest.mark.parametrize(
    ("dataset", "head"),
    [
        ("mmbench_en", "MMB-E"),
        ("pocket_mmbench_cn", "MMB-C"),
        ("other_world_mme", "MME"),
        ("mymme", "mymme"),
        ("mme_extra", "mme_extra"),
        ("textvqa", "textvqa"),
    ],
)
def test_a_data_set_is_known_by_its_ending(dataset, head):
    assert standard_sets.column_of(dataset) == head


def test_columns_follow_the_papers_order_and_add_up(subjects):
    masks = standard_sets.columns(subjects[0])
    assert list(masks) == ["MMB-E", "MME", "MMS", "ViLP", *KINDS]
    records = subjects[0].records
    assert (sum(masks[head] for head in ("MMB-E", "MMS")) == masks["MCQ"]).all()
    assert (masks["MCQ"] ^ masks["Others"] == masks["Overall"]).all()
    assert masks["Overall"].sum() == ((split(records, "rows") == "test") & records.ok).sum()


def test_beta_changes_the_name_only_where_it_changes(subjects):
    assert standard_sets.with_beta(SCI5, 0.3) is SCI5
    raised = standard_sets.with_beta(SCI5, 0.8)
    assert raised.name == "SCI5 beta=0.8" in subjects[0].records.policies
    assert standard_sets.with_beta(TIE, 0.5).name not in subjects[0].records.policies


def test_one_counterfactual_round_follows_the_papers_tau1(subjects):
    rules = {each.name: each for each in standard_sets.ONE_ROUND}
    assert len(rules) == 6
    for name, each in rules.items():
        assert each.rounds == ("original", name.removeprefix("base + "))
        assert each.tau1 == (1.5 if each.textual else 1.0)


def test_what_the_paper_prints_stands_by_column():
    assert standard_sets.paper_accuracy()["LLaVA-NeXT", "SCI5", "CCB"] == 46.20
    assert standard_sets.paper_difference("Qwen2-VL", "SCI5", "base", "ViLP") == pytest.approx(1.53)
    assert np.isnan(standard_sets.paper_difference(None, "SCI5", "base", "MCQ"))


def test_the_margin_of_the_chapter_is_above_every_printed_gain():
    gains = [
        standard_sets.paper_difference(label, "SCI5", "base", kind)
        for label in ("Qwen2-VL", "LLaVA-NeXT")
        for kind in KINDS
    ]
    assert 0 < max(gains) < 1.0


def test_printed_rows_that_fit_no_count_are_found():
    assert unfit("table10", "Qwen2-VL", "method") == ["V1", "V2"]
    assert unfit("table10", "LLaVA-NeXT", "method") == []
    assert unfit("table10", None, "method") == []
    note = standard_sets.unfitting_note(["Qwen2-VL", None, "LLaVA-NeXT", "Qwen2-VL"])
    assert "Qwen2-VL, V1 and V2" in note and "LLaVA" not in note
    assert standard_sets.unfitting_note([None]) == ""


@pytest.mark.parametrize("place", [0, 1])
def test_scores_are_the_metrics_on_whole_groups(subjects, found, place):
    subject = subjects[place]
    right = found[subject.name]
    scores = standard_scores.scores(subject, right)
    test = split(subject.records, "groups") == "test"
    frame, outcome = subject.records.frame[test], right[test]
    whole = frame["error"].isna().groupby(frame["group"]).transform("all")
    frame = frame.assign(right=outcome)[whole]
    sets = dict(list(frame.groupby("dataset")))
    circular = sets["tiny_mmbench_en"].groupby("group")["right"].all()
    assert scores["MMB-E circular"].estimate == pytest.approx(circular.mean())
    assert scores["MMB-E circular"].n == len(circular)
    assert "MMS circular" not in scores  # without rotations there is nothing circular
    mme, vilp = sets["tiny_mme"], sets["tiny_vilp"]
    pictures = mme.groupby(["category", "group"])["right"].all()
    assert scores["MME acc"].estimate == pytest.approx(mme["right"].mean())
    assert scores["MME acc+"].estimate == pytest.approx(pictures.mean())
    parts = mme.groupby("category")["right"].mean() + pictures.groupby("category").mean()
    assert scores["MME score"].estimate == pytest.approx(parts.sum())
    prior = vilp.groupby("group").cumcount() == 0  # the first of three pictures
    for name, mine in (("Prior", vilp[prior]), ("Score", vilp[~prior])):
        assert scores[f"ViLP {name}"].estimate == pytest.approx(mine["right"].mean())
        assert scores[f"ViLP {name}"].n == len(mine)
    assert all(each.low <= each.estimate <= each.high for each in scores.values())


def test_a_difference_of_scores_is_paired(subjects, found):
    one, two = found[QWEN], subjects[0].right("base")
    gaps = standard_scores.scores(subjects[0], one, two)
    first, second = (standard_scores.scores(subjects[0], each) for each in (one, two))
    for name, gap in gaps.items():
        assert gap.estimate == pytest.approx(first[name].estimate - second[name].estimate)
    same = standard_scores.scores(subjects[0], one, one)
    for each in same.values():  # all alike: as much either way, or no bounds
        assert each.estimate == 0
        assert each.low == -each.high or np.isnan([each.low, each.high]).all()
