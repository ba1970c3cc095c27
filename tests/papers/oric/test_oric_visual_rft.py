"""Scores of Visual-RFT by hand on a made-up result, its claims, and the committed one whole."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.oric.chapters.measures import MEASURES, Known
from sci_book.papers.oric.rft import result as rft
from sci_book.papers.oric.rft.experiment import ASKED
from sci_book.papers.oric.rft.settings import PRESETS
from sci_book.papers.oric.scores import METRICS, counts, metrics
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.ledger import _finding
from sci_book.pocket import oric
from sci_book.pocket.world import KINDS, Scene, Thing
from sci_book.resources import ROOT
from sci_book.results.records import RecordsError
from tests.papers.shared.committed import code, run

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
    return {
        "model": MODEL,
        "revision": "0" * 40,
        "settings": asdict(PRESETS["pocket"]),
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
        for metric in METRICS:
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
    assert result.answered("oric", "cot") == 0


def test_claims_can_hold_and_fail(result, content, tmp_path):
    def verdicts(run):
        claims = [claim for claim in load_claims() if claim.measure == "fine_tuned"]
        return [_finding(claim, MODEL, [Known(None, run)]).verdict for claim in claims]

    assert verdicts(result) == ["holds", "holds"]
    parts = MEASURES["fine_tuned"](Known(None, result), asked="oric")
    others = ("the model as it is", "taught the form")
    assert [part.what for part in parts] == [f"Visual-RFT less {other}" for other in others]
    assert MEASURES["fine_tuned"](Known(None, None), asked="oric") == []
    for name in ("oric", "probe"):
        said = content["sets"][name]["said"]
        said["rft"], said["plain"] = said["plain"], said["rft"]
    (tmp_path / f"{MODEL}.json").write_text(json.dumps(content))
    assert verdicts(rft.read(MODEL, tmp_path)) == ["fails", "fails"]


def test_the_onlooker_sees_what_stands_out_against_its_place():
    """The page's own rule of labels."""
    page, _ = run(code("oric_rft", "import draw, masks", "def sees("))

    def seen(*things, kind="boat"):
        return page["sees"](Scene("kitchen", things, "clear", 0), kind)

    assert seen(Thing("boat", "red", 0)) and not seen(Thing("boat", "white", 0))
    assert seen(Thing("boat", "white", 0), Thing("boat", "red", 5))
    assert not seen(Thing("boat", "red", 0), kind="cat") and not seen()
    said = set()
    for number in range(7):
        scene, image = oric.scene("val", 0, number), oric.picture_name("val", number)
        there, absent = scene.kinds[0], next(kind for kind in KINDS if kind not in scene.kinds)
        label = "yes" if page["sees"](scene, there) else "no"
        asked = [image] * 3, [there, there, absent], ["yes", "no", "yes"]
        assert page["relabel"](*asked) == [label, "no", "no"]
        said.add(label)
    assert "yes" in said


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
