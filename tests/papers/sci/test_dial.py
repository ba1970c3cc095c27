"""The dial: its quantities by counting, and its predictions on drawn trainings."""

import json
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from sci_book import resources
from sci_book.data.datasets import read_manifest
from sci_book.papers.sci import dial, dial_predictions
from sci_book.pocket.curriculum import DIAL, SETTINGS
from sci_book.results.drbench import subsets
from sci_book.results.records import Records, RecordsError, read_records
from sci_core.methods import METHODS, SCI5, VCD
from sci_core.scoring import scores
from tests.papers.shared.pair_records import records_of


def twin_records(seed):
    """Drawn answers as if to rows of a pocket twin, under methods with their constants."""
    records = records_of("mine", rows=60, seed=seed)
    names = pa.array(["pocket_mmstar"] * 60)
    table = records.table.set_column(0, records.table.schema.field("dataset"), names)
    known = [
        json.loads(json.dumps(asdict(METHODS[name]))) if name in METHODS else {"name": name}
        for name in (method["name"] for method in records.stamp["methods"])
    ]
    stamp = {**records.stamp, "methods": known, "datasets": {"pocket_mmstar": "sum"}}
    return Records(table, stamp, records.pieces)


@pytest.fixture(scope="module")
def drawn():
    return {training: twin_records(seed) for seed, training in enumerate(dial.trainings())}


@pytest.fixture(scope="module")
def frame(drawn):
    return dial.estimates(dial.samples_of(drawn))


def test_there_are_sixteen_trainings_whose_names_are_those_of_their_files(tmp_path):
    known = dial.trainings()
    assert len(known) == len({each.name for each in known}) == 16
    assert {each.setting for each in known} == set(SETTINGS)
    assert dial.missing(tmp_path) == known
    (tmp_path / f"{known[0].name}.parquet").touch()
    assert dial.missing(tmp_path) == known[1:]
    with pytest.raises(RecordsError):
        dial.read_dial(tmp_path / "nowhere")


def test_quantities_are_what_counting_gives(drawn):
    for records in list(drawn.values())[:3]:
        sets, found = subsets(records), dial.quantities(records)
        right = {name: records.correct(name) for name in ("original", "V1", "V2", "SCI5", "VCD")}
        inside = records.ok
        n, wrong = inside.sum(), (inside & ~right["original"]).sum()
        values = {name: dial.estimate(sample) for name, sample in found.items()}
        assert values["habit"] == pytest.approx(sets["B"].sum() / wrong)
        assert values["B"] == pytest.approx(sets["B"].sum() / n)
        lost = [(right["original"].sum() - right[name].sum()) / n for name in ("V1", "V2")]
        assert values["deficit"] == pytest.approx(np.mean(lost))
        assert values["V2 alone"] == pytest.approx(right["V2"].sum() / n)
        won = inside & ~right["original"] & right["VCD"]
        assert values["VCD corrects habit"] == pytest.approx((won & sets["B"]).sum() / won.sum())
        gap = right["SCI5"].astype(int) - right["VCD"]
        assert values["SCI5 − VCD, BS"] == pytest.approx(gap[sets["BS"]].mean())
        assert len(found["habit"].values) == wrong


def test_the_gain_over_all_rows_is_the_sum_of_its_parts(drawn):
    records = next(iter(drawn.values()))
    sets, found = subsets(records), dial.quantities(records)
    value = {part: dial.estimate(found[f"SCI5 − base, {part}"]) for part in dial.PARTS}
    gap = records.correct("SCI5").astype(float) - records.correct("original")
    outside = gap[sets["outside BS"]].mean()
    shares = {part: sets[part].sum() / sets["all"].sum() for part in (*dial.PARTS, "outside BS")}
    total = sum(shares[part] * value[part] for part in ("B", "S∖B"))
    assert value["all"] == pytest.approx(total + shares["outside BS"] * outside)
    errors = 1 - dial.estimate(found["original alone"])
    assert shares["B"] == pytest.approx(errors * dial.estimate(found["habit"]))


@pytest.mark.parametrize(
    ("name", "kept"),
    [("base", 1), ("VCD", 1 / 2), ("SCI3", 0.2 / 1.7), ("SCI5", 0.2 / 2.2), ("SCI7", 0.2 / 2.7)],
)
def test_a_method_keeps_this_share_of_the_prior(name, kept):
    """Of a model that adds evidence and prior: the derivation of the predictions."""
    method = METHODS[name]
    evidence, prior = torch.tensor([0.3, 1.1, -0.4]), torch.tensor([1.7, 0.0, 0.0])
    blind = [prior if each in method.visual else evidence + prior for each in method.rounds]
    open_to_all = replace(method, beta=1e-9)
    found = scores(
        open_to_all, torch.stack(blind)[:, None], step=0, prompt_tokens=torch.tensor([1])
    )
    apart, expected = found[0].diff(), (evidence + kept * prior).diff()
    torch.testing.assert_close(apart / apart[1], expected / expected[1])


@pytest.mark.parametrize(("kept", "said"), [(1, 0.71), (1 / 2, 0.93)])
def test_from_this_skew_on_the_prior_that_sci5_keeps_is_nearer(kept, said):
    """Of four options, than the base's and than VCD's: as the predictions and their page say."""
    sci5, right = 0.2 / 2.2, np.log(3)
    prior = 2 * right / (kept + sci5)  # half way between, the two are as far from the right one
    assert 1 / (1 + np.exp(right - prior)) == pytest.approx(said, abs=0.005)
    page = (resources.NOTEBOOKS / "when_it_helps.py").read_text(encoding="utf-8")
    assert f"{said} on" in page or f"{said}$ on" in page


def test_outside_s_the_base_answer_leads_the_maximum_and_the_constraint_is_what_is_said():
    assert SCI5.tau1 * np.log(1 / SCI5.beta) == pytest.approx(2.41, abs=0.005)
    Z = torch.tensor([[2.0, 1.0, 0.0], [3.0, 2.9, 0.0], [1.0, 0.5, 0.9]])
    assert set(Z.argmax(1).tolist()) == {0} and int(Z.max(0).values.argmax()) == 0


def test_every_prediction_is_about_something_measured(drawn, frame):
    known = dial_predictions.load_predictions()
    names = set(dial_predictions.turned(frame).columns)
    ids = [each["id"] for each in known["predictions"]]
    assert len(set(ids)) == len(ids) and set(known["settings"]["all"]) == set(SETTINGS)
    for each in known["predictions"]:
        about = {each["of"], *each.get("beside", ())}
        assert about | {each.get("against", each["of"])} <= names, each["id"]
        assert set(each["settings"]) <= set(SETTINGS) and each["claim"] in ("greater", "less")
        assert each["measure"] in ("mean", "slope") and each["because"]


def test_the_predictions_have_outcomes(drawn, frame):
    table = dial_predictions.outcomes(dial.samples_of(drawn))
    assert set(table["verdict"]) <= {"holds", "fails", "inconclusive"}
    line = table.loc["gain-with-excess"]
    own = frame[frame["setting"] == "skew-0.95"]["SCI5 − base, all"]
    assert line["estimate"] == pytest.approx(own.mean()) and line["n"] == 2 * 59
    skewed = dial_predictions.turned(frame)[frame["setting"].str.startswith("skew")]
    steep = np.polyfit(skewed["log odds"], skewed["habit"], 1)[0]
    assert table.loc["skew-makes-habit", "estimate"] == pytest.approx(steep)
    assert table.loc["skew-makes-habit", "n"] == 10
    one, other = (table.loc[f"deficit-costs{end}"] for end in ("", "-less-than-two-thirds"))
    assert one["estimate"] == other["estimate"] and other["claimed"] == "> -0.6667"


def test_methods_are_those_of_the_dial_by_their_constants(drawn):
    records = next(iter(drawn.values()))
    assert dial.methods() == DIAL["methods"]
    other = [
        {**each, "alpha": 3.0} if each["name"] == "VCD" else each
        for each in records.stamp["methods"]
    ]
    changed = replace(records, stamp={**records.stamp, "methods": other})
    assert changed.policy_of(VCD) is None
    found = dial.quantities(changed)
    assert {len(found[name].values) for name in found if "VCD" in name} == {0}
    assert min(len(found[name].values) for name in found if "VCD" not in name) > 0


def test_a_method_that_the_dial_did_not_decode_is_not_judged(drawn, monkeypatch):
    samples = dial.samples_of(drawn)
    before, frame = dial_predictions.outcomes(samples), dial.estimates(samples)
    monkeypatch.setitem(METHODS, "VCD", replace(VCD, beta=0.1))
    other = dial.samples_of(drawn)
    outcomes, others = dial_predictions.outcomes(other), dial.estimates(other)
    known = {each["id"]: each["of"] for each in dial_predictions.load_predictions()["predictions"]}
    for name, of in known.items():
        if "VCD" in of:
            assert outcomes.loc[name, ["n", "verdict"]].tolist() == [0, "not comparable"]
        else:
            assert outcomes.loc[name].equals(before.loc[name])
    gain = "VCD − base, all"
    assert frame[gain].notna().all() and others[gain].isna().all()


RECORDS = resources.FROZEN_RECORDS / "dial"


@pytest.mark.skipif(
    dial.missing(RECORDS) == dial.trainings(), reason="the dial's records are not made yet"
)
def test_the_dials_records_are_of_the_registered_rows():
    """All or none: of every training, on today's rows in the registered number, from one start."""
    assert dial.missing(RECORDS) == []
    starts = set()
    for training in dial.trainings():
        records = read_records(RECORDS / f"{training.name}.parquet")
        assert len(records.frame) == 2122 and records.frame["group"].nunique() == 554
        for name, checksum in records.stamp["datasets"].items():
            assert checksum == f"content:{read_manifest(name).checksum['content']}"
        noted = json.loads((resources.RESULTS / "dial" / f"{training.name}.json").read_text())
        assert noted["revision"] == records.stamp["revision"]
        assert noted["stage"] == json.loads(json.dumps(asdict(SETTINGS[training.setting])))
        starts.add(noted["start"])
    assert len(starts) == 1
