"""The page of Visual-RFT: its numbers by hand on a made-up result, and the committed one whole."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.oric import onlooker
from sci_book.papers.oric.chapters import answers, other_sets, rft
from sci_book.papers.oric.chapters.measures import Evidence
from sci_book.papers.oric.rft.experiment import ASKED
from sci_book.papers.oric.rft.settings import PRESETS
from sci_book.papers.oric.scores import counts, metrics
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.ledger import _finding
from sci_book.pocket import oric
from sci_book.pocket.world import Scene, Thing
from sci_book.resources import FROZEN_RECORDS, ROOT
from sci_book.results.records import RecordsError

MODEL = "made-up"


def made_up(said, label, wordings=4):
    """Questions on a picture each, answered alike in every wording."""
    answers = {name: [[each] * wordings for each in found] for name, found in said.items()}
    return {
        "image": [f"pocket_val_{place:06d}.png" for place in range(len(label))],
        "target": ["cat", "dog"] * (len(label) // 2),
        "label": label,
        "said": answers,
        "form": {name: [[1] * wordings] * len(label) for name in said},
        "texts": {name: [each[0] for each in found[:3]] for name, found in answers.items()},
        "wording": ["Is it?", "Is it not?", "Is that so?"],
    }


@pytest.fixture
def content():
    label = ["yes", "no"] * 30
    wrong = ["no" if each == "yes" else "yes" for each in label]
    said = {
        "plain": [*label[:30], *wrong[30:]],
        "cot": ["unknown"] * 60,
        "taught": [*label[:40], *wrong[40:]],
        "rft": label,
    }
    line = {
        "reward": 1.5, "accuracy": 0.5, "form": 1.0, "constant": 0.25, "constant_accuracy": 0.25,
        "constant_form": 1.0, "tokens": 40.0, "cut": 0.0, "entropy": 0.1, "gradient_norm": 1.0,
        "learning_rate": 1e-4,
    }  # fmt: skip
    return {
        "model": MODEL,
        "revision": "0" * 40,
        "settings": asdict(PRESETS["pocket"]),
        "idle": {"form": 1.0},
        "curve": [{"step": step, **line} for step in range(1, 31)],
        "sets": {"oric": made_up(said, label), "probe": made_up(said, label, wordings=1)},
        "stamp": {"versions": {"torch": "2.13.0"}},
    }


@pytest.fixture
def result(content, tmp_path):
    (tmp_path / f"{MODEL}.json").write_text(json.dumps(content))
    return rft.read(MODEL, tmp_path)


def test_scores_are_the_metrics_of_the_answers(result):
    label = result.rows("oric")["label"]
    for condition in rft.SHOWN:
        said = result.said("oric", condition)
        assert len(said) == 4 and len(said[0]) == 60
        by_hand = metrics(counts(label, said[0].tolist()))
        for metric in rft.TABLE_METRICS:
            found = rft.score(result, "oric", condition, metric)
            assert 100 * found.estimate == pytest.approx(float(by_hand[metric]))
            assert found.n == found.clusters == 60


def test_a_difference_is_paired_and_none_without_answers(result):
    found = rft.difference(result, "oric", "rft", "plain")
    assert found.estimate == pytest.approx(1 - rft.score(result, "oric", "plain", "f1").estimate)
    assert found.low > 0
    same = rft.difference(result, "oric", "taught", "taught")
    assert same.estimate == 0 and np.isnan(same.low)
    assert rft.difference(result, "oric", "rft", "cot").n == 0
    assert rft.answered(result, "oric", "cot") == 0


def test_claims_can_hold_and_fail_and_stand_beside_the_papers(result, content, tmp_path):
    (subject,) = answers.subjects(["pocket-llavanext"], FROZEN_RECORDS).subjects

    def verdicts(run):
        known = Evidence(subject, run)
        claims = [claim for claim in load_claims() if claim.measure == "fine_tuned"]
        return [_finding(claim, MODEL, known).verdict for claim in claims]

    assert verdicts(result) == ["holds", "holds"]
    assert rft.paper_numbers(result) == {
        (MODEL, "Visual-RFT less the model as it is"): pytest.approx(82.79 - 79.55)
    }
    beside = rft.beside(result).frame
    assert beside["n"].tolist() == ["0", "60"] and "verdict" not in beside
    assert beside["paper"].tolist() == ["4.33", "—"]
    for name in ("oric", "probe"):
        said = content["sets"][name]["said"]
        said["rft"], said["plain"] = said["plain"], said["rft"]
    (tmp_path / f"{MODEL}.json").write_text(json.dumps(content))
    assert verdicts(rft.read(MODEL, tmp_path)) == ["fails", "fails"]


def test_the_onlooker_takes_a_yes_back_where_nothing_stands_out(result, monkeypatch):
    monkeypatch.setattr(onlooker, "sees", lambda scene, kind: scene % 4 != 2)
    monkeypatch.setattr(onlooker, "_scene", lambda image: int(image[-10:-4]))
    shown = rft.table05b(result).frame
    assert len(shown) == 2 * len(rft.TABLE_METRICS)
    assert shown.loc["macro F1: Visual-RFT", "paper"] == "83.62"
    # Of 30 things 15 are not made out; Visual-RFT says yes to them, as the annotations do.
    assert "makes out 15 of the 30 things" in rft.onlooker_line(result)
    assert shown.loc["recall, yes: Visual-RFT", MODEL] == "100.00"
    assert shown.loc["recall, no: Visual-RFT", MODEL] == f"{100 * 30 / 45:.2f}"
    gain = rft.gain_by_label(result).frame
    assert gain["paper"].tolist() == ["3.24", "4.99"] and gain.index[0] == "annotations"
    assert result.rows("oric")["label"].count("yes") == 30


def test_the_onlooker_sees_what_stands_out_against_its_place():
    def seen(*things, kind="boat"):
        return onlooker.sees(Scene("kitchen", things, "clear", 0), kind)

    assert seen(Thing("boat", "red", 0)) and not seen(Thing("boat", "white", 0))
    assert seen(Thing("boat", "white", 0), Thing("boat", "red", 5))
    assert not seen(Thing("boat", "red", 0), kind="cat") and not seen()
    image = oric.picture_name("val", 7)
    kind = oric.scene("val", 0, 7).things[0].kind
    assert onlooker.relabel([image, image], [kind, kind], ["yes", "no"]) == [
        "yes" if onlooker.sees(oric.scene("val", 0, 7), kind) else "no",
        "no",
    ]


def test_figure_5_is_of_the_probe(result):
    shown = other_sets.figure05(result).frame
    assert shown["AMBER, paper"].tolist() == ["—", "87.48", "—", "90.49"]
    assert shown["HallusionBench, paper"].tolist() == ["—", "69.37", "—", "69.81"]
    assert shown.loc["Visual-RFT", f"probe, {MODEL}"] == "100.00"
    assert shown.loc["0-shot CoT", "yes or no, %"] == "0.00"


def test_parts_that_cannot_be_tested_are_named_once(result):
    assert other_sets.untested(result) == ""
    said = result.rows("probe")["said"]
    said["taught"] = [["unknown"]] * 60
    assert other_sets.untested(result) == (
        "Not comparable: “Visual-RFT less taught the form”. Fewer than 50 % of the answers to the "
        "claims say yes or no (taught the form: 0.00 %). So only the other part is tested."
    )
    said["rft"], said["taught"] = said["taught"], said["rft"]
    text = other_sets.untested(result)
    assert "as it is” and “Visual-RFT less" in text and text.endswith("So no part is tested.")


def test_a_reward_that_taught_nothing_is_named_with_its_groups(result):
    assert "form was constant in every group (1.00 on average)" in rft.idle_line(result)
    frame = rft.groups_table(result).frame
    assert set(frame["constant form, % of groups"]) == {"100.00"}
    assert set(frame["constant sum, % of groups"]) == {"25.00"}


def test_table_9_stands_beside_the_preset(result):
    frame = rft.settings_table(result).frame
    assert frame.loc["Learning Rate"].tolist()[0] == "2×10⁻⁶"
    assert frame.loc["Group Size G"].tolist() == ["8", "8", "8"]
    assert frame.loc["answers an update", "preset “paper”"] == "16"


def test_every_table_and_figure_is_drawn(result):
    shown = rft.table05(result).frame
    assert len(shown) == len(rft.SHOWN) * len(rft.TABLE_METRICS)
    assert shown.loc["macro F1: Visual-RFT", "paper"] == "82.79"
    assert shown.loc["recall, no: as it is", "paper"] == "84.68"
    assert shown.loc["macro F1: taught the form", "paper"] == "—"
    assert other_sets.by_family(result).frame["claims"].tolist() == ["30", "30"]
    assert len(rft.examples(result).frame) == 3
    assert len(rft.read_table(result).frame) == 8
    for figure in (
        rft.draw_curves(result), rft.draw_scores(result), other_sets.draw_others(result),
    ):  # fmt: skip
        assert all(ax.get_xlabel() for ax in figure.axes)
    assert MODEL in str(rft.stamp_of(result))


def test_a_model_without_a_result_is_named(tmp_path):
    with pytest.raises(RecordsError, match="No result of Visual-RFT for another"):
        rft.read("checkpoints/another", tmp_path)


COMMITTED = sorted((ROOT / rft.RESULTS).glob("*.json"))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_the_committed_result_is_whole(path):
    found = rft.read(path.stem)
    content = found.content
    assert content["model"] == path.stem
    assert content["settings"] == asdict(PRESETS["pocket"])
    assert content["samples"] == 600 and len(found.curve) == 300
    assert found.curve["step"].tolist() == list(range(1, 301))
    for name, wordings in (("oric", 4), ("probe", 1)):
        rows = found.rows(name)
        label = pd.Series(rows["label"])
        assert label.value_counts().to_dict() == {"yes": len(label) / 2, "no": len(label) / 2}
        assert set(rows["said"]) == set(rows["form"]) == set(ASKED)
        for said in rows["said"].values():
            assert np.shape(said) == (len(label), wordings)
            assert set(np.ravel(said)) <= {"yes", "no", "unknown"}
    assert found.curve[["accuracy", "form"]].to_numpy().max() <= 1
