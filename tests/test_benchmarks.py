"""The benchmark of overhead: it measures what it says, and its committed results are whole."""

import inspect
import json
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
from PIL import Image
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from sci_book.commands import data as cli_data
from sci_book.commands import evaluate as cli_evaluate
from sci_book.commands import papers
from sci_book.papers.sci.chapters import time_measures
from sci_book.papers.sci.dial import trainings
from sci_book.papers.shared import timing
from sci_book.papers.shared.chapters import training_folders, training_in
from sci_book.papers.shared.evidence import Evidence
from sci_book.pipeline import registration
from sci_book.pipeline.claims import load_claims
from sci_book.results.statistics import verdict
from tests import tiny
from tests.papers.shared.drawn_records import drawn_subjects
from tests.soak import mostly

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))  # where the benchmark's files find one another

import freeze_records  # noqa: E402
import overhead  # noqa: E402
import overhead_models  # noqa: E402
import soak  # noqa: E402
import trainings as registered_trainings  # noqa: E402
from overhead_runs import ATTENTION_FLOPS  # noqa: E402

FIELDS = {
    "method", "strategy", "image_tokens", "new_tokens", "batch",
    "ratio_median", "ratio_q1", "ratio_q3", "token_rows_ratio",
    "token_rows", "patches", "head_rows", "peak_bytes", "cache",
}  # fmt: skip


@pytest.mark.parametrize(
    ("builder", "tokens"), [("pocket_qwen2vl", (320,)), ("pocket_llavanext", (320, 1280))]
)
def test_cells_are_models_and_pictures_of_the_size_they_say(builder, tokens):
    build, cells = next(each for each in overhead.CELLS if each[0].__name__ == builder)
    model = overhead_models.random_model(build, "meta", torch.float32)
    assert round(model.parameters / 1e6) == 2
    pictures = {model.processor.prepare(Image.new("RGB", size)).tokens for size, _ in cells}
    assert pictures == set(tokens)
    assert {batch for _, batch in cells} <= {1, 16}


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_a_cell_counts_compares_and_times_every_strategy(family, monkeypatch):
    """On a tiny model: ratios are pairwise, counts exact, tokens those of the rounds alone."""
    monkeypatch.setattr(overhead, "WARM_UPS", 0)
    monkeypatch.setattr(overhead, "ROUNDS", 2)
    model = tiny.load(family)
    with tqdm(disable=True) as bar, torch.no_grad():
        rows = overhead.measure(model, (64, 64), 1, bar)
    assert all(set(row) >= FIELDS for row in rows)
    keys = {(row["method"], row["strategy"], row["cache"], row["prompts"]) for row in rows}
    assert len(rows) == 2 * len(keys) == 2 * (1 + 3 * 6)
    for row in rows:
        assert row["ratio_q1"] <= row["ratio_median"] <= row["ratio_q3"]
        if row["strategy"] == "base":
            assert row["ratio_median"] == 1 and row["token_rows_ratio"] == 1
        elif row["prompts"] == "own":
            assert row["token_agreement"] == 1
            assert row.get("largest_logit_difference", 0) < 1e-4
            assert row["gflop"] > 0
        assert (row["peak_bytes"] is None) == (row["new_tokens"] == 1)
    first = {
        (row["method"], row["strategy"], row["cache"]): row["token_rows"]
        for row in rows
        if row["new_tokens"] == 1 and row["prompts"] == "own"
    }
    text = overhead.LAYOUT["question"] + overhead.LAYOUT["instruction"]
    extra = overhead.LAYOUT["rewrite"] + text
    assert first["SCI3", "two_phase", "warm"] == first["base", "base", "none"] + extra


@pytest.mark.parametrize("shared", [1, 2])
def test_arithmetic_of_attention_is_counted(shared):
    """2 products of 8 x 8 x 16 for each of 2 heads, a multiplication and an addition each."""
    query, key = torch.randn(1, 2, 8, 16), torch.randn(1, 2 // shared, 8, 16)
    for mask in (None, torch.zeros(1, 1, 8, 8)):
        with FlopCounterMode(display=False, custom_mapping=ATTENTION_FLOPS) as flops:
            torch.nn.functional.scaled_dot_product_attention(
                query, key, key, attn_mask=mask, enable_gqa=shared > 1
            )
        assert flops.get_total_flops() == 2 * 2 * 2 * 8 * 8 * 16


def test_arithmetic_is_counted_of_every_kernel_that_a_gpu_may_choose():
    """Heads that share keys and values count as heads, which older versions of torch refuse."""
    assert {op.__name__ for op in ATTENTION_FLOPS} == {
        f"_scaled_dot_product_{kind}"
        for kind in (
            "flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention"
        )
    }  # fmt: skip
    for count in ATTENTION_FLOPS.values():
        query, key = torch.Size((1, 28, 8, 16)), torch.Size((1, 4, 8, 16))
        assert count(query, key, key, None, 0.0, out_val=None) == 28 * 2 * 2 * 8 * 8 * 16


def test_committed_results_are_whole():
    results = timing.load_results(ROOT / "benchmarks" / "results")
    result = results["CPU"]
    rows = [row for row in result["rows"] if row["data"] == "made up"]
    assert all(set(row) >= FIELDS for row in rows)
    settings = {(row["image_tokens"], row["batch"], row["new_tokens"]) for row in rows}
    assert {(320, 1, 1), (320, 1, 5), (320, 16, 1), (320, 16, 5)} <= settings
    assert {"device", "dtype", "versions", "settings"} <= set(result)
    assert result["settings"]["rounds"] >= 7 and result["settings"]["warm_ups"] >= 2


def test_results_that_are_none_are_refused(tmp_path):
    with pytest.raises(timing.ResultsError, match="holds no results; write some with"):
        timing.load_results(tmp_path)
    (tmp_path / "cpu.json").write_text(json.dumps({"device": "x", "rows": []}))
    with pytest.raises(
        timing.ResultsError, match=r"cpu.json has no preset, dtype, versions, settings; "
    ):
        timing.load_results(tmp_path)
    whole = {"preset": "cpu", "device": "x", "settings": {}, "rows": []}
    whole |= {"dtype": "float32", "versions": {}}
    for name in ("cpu.json", "other.json"):
        (tmp_path / name).write_text(json.dumps(whole))
    with pytest.raises(timing.ResultsError, match=r"Two results for a CPU, other.json the second"):
        timing.load_results(tmp_path)


def test_a_level_holds_only_if_the_upper_quartile_is_below_it(tmp_path):
    rows = pd.DataFrame(
        {
            "method": ["SCI3"] * 4,
            "model": ["mine"] * 3 + ["other"],
            "data": ["pocket"] * 4,
            "strategy": ["two_phase"] * 4,
            "batch": [1, 2, 4, 8],
            "new_tokens": [5] * 4,
            "ratio_median": [1.1, 1.2, 1.4, 1.0],
            "ratio_q1": [1.0, 1.1, 1.3, 1.0],
            "ratio_q3": [1.14, 1.3, 1.5, 1.0],
        }
    )
    (subject,) = drawn_subjects(tmp_path, ["mine"])
    of = Evidence(subject, [], None)
    assert time_measures.time_on_pocket(of, "SCI3") == []
    of.measured = {"frame": rows, "settings": {"rounds": 9}}
    found = [part.interval for part in time_measures.time_on_pocket(of, "SCI3")]
    (claim,) = (each for each in load_claims(own=True) if each.id == "sci3-on-pocket-data")
    words = [verdict(each, claim=claim.claim, margin=claim.margin) for each in found]
    assert words == ["holds", "inconclusive", "fails"] and {each.n for each in found} == {9}


def planned(training, *names):
    """Every file of some models' training that the script makes, with its commands."""
    for name in names:
        yield from freeze_records.of_training(name, training)
        yield from freeze_records.of_conditions(name, training)


def test_every_frozen_file_of_the_book_is_one_that_the_script_makes():
    """Or that of the dial; and of each model there is the file that all else goes with."""
    pair, sister = freeze_records.PAIR, freeze_records.SISTER
    folder, made = freeze_records.RECORDS, {file for file, _ in planned(0, *freeze_records.PAIR)}
    made |= {file for file, _ in planned(0, sister)}
    further = [training_in(each) for each in training_folders(folder)]
    made |= {file for training in further for file, _ in planned(training, *pair)}
    made |= {folder / "dial" / f"{each.name}.parquet" for each in trainings()}
    frozen = {path for path in folder.rglob("*") if path.is_file()}
    assert not frozen - made
    assert {folder / f"{name}.parquet" for name in (*pair, sister)} <= frozen


def test_the_script_names_commands_that_exist():
    options = {"evaluate": cli_evaluate.evaluate, "freeze": cli_data.freeze, "data": cli_data.data,
               "probe": papers.probe}  # fmt: skip
    for file, commands in (*planned(0, "pocket-llavanext"), *planned(3, "pocket-qwen2vl")):
        program, name, *words = commands[-1]
        assert str(file) in words and (program == "sci" or (ROOT / name).is_file())
        for name, *words in (each[1:] for each in commands if each[0] == "sci"):
            known = {each.replace("_", "-") for each in inspect.signature(options[name]).parameters}
            assert {word[2:] for word in words if word.startswith("--")} <= known


def test_every_training_has_its_own_weights_and_folder_and_the_shipped_one_more_files():
    """Of further ones logits of DRBench alone are kept, laid out as those of the shipped one."""
    shipped, further = (dict(planned(each, "pocket-qwen2vl")) for each in (0, 3))
    folder = freeze_records.RECORDS / "training3"
    assert {freeze_records.RECORDS / file.relative_to(folder) for file in further} < {*shipped}
    asked = {words[words.index("--model") + 1] for commands in further.values()
             for words in commands if "--model" in words}  # fmt: skip
    assert asked == {"checkpoints/trainings/qwen2_vl-3"}
    logits = [file for file, (*_, last) in further.items() if freeze_records.ROUNDED in last]
    assert logits == [folder / "pocket-qwen2vl.parquet"]


def test_records_are_made_of_the_trainings_that_the_second_registration_names(monkeypatch, capsys):
    known = {"trainings": {"qwen2_vl-0": {}, "qwen2_vl-2": {}, "qwen2_vl-sister-0": {},
                           "llava_next-1": {}}}  # fmt: skip
    monkeypatch.setattr(registration, "of_claims", lambda: [registration.SECOND])
    monkeypatch.setattr(registration, "load_registration", lambda registered: known)
    assert freeze_records.registered("pocket-qwen2vl") == [0, 2]
    monkeypatch.setattr(sys, "argv", ["freeze_records.py", "--plan", "--conditions"])
    freeze_records.main()
    said = capsys.readouterr().out
    names = [line.partition("records/")[2].split(":")[0] for line in said.splitlines()
             if not line.startswith(" ")]  # fmt: skip
    assert names == [
        "conditions/pocket-qwen2vl.parquet", "training2/conditions/pocket-qwen2vl.parquet",
        "training1/conditions/pocket-llavanext.parquet", "conditions/pocket-qwen2vl-small.parquet",
    ]  # fmt: skip


def test_registered_trainings_are_made_in_turn_and_what_is_finished_is_not_made_again(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(registered_trainings, "FINISHED", tmp_path)
    made = []
    monkeypatch.setattr(registered_trainings, "make", lambda *which: made.append(which))
    (tmp_path / "llava_next-0.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["trainings.py", "--plan"])
    registered_trainings.main()
    planned = capsys.readouterr().out.splitlines()
    assert not made and len(planned) == len(registered_trainings.ORDER) - 1 == 10
    assert planned[0] == "missing: sci train-pocket --arch qwen2_vl --training 0"
    monkeypatch.setattr(sys, "argv", ["trainings.py"])
    registered_trainings.main()
    families = [family for family, training in made if training in "0123"]
    assert families == ["qwen2_vl", *["qwen2_vl", "llava_next"] * 3]
    assert made[7] == ("qwen2_vl", "sister-0") and [each[1] for each in made[8:]] == ["4", "4"]


def test_the_table_of_faults_is_made_of_the_committed_counts():
    found = json.loads(soak.FOUND.read_text(encoding="utf-8"))
    assert soak.table(found) in soak.PAGE.read_text(encoding="utf-8")
    assert found["faults"].keys() == soak.FAULTS.keys() and min(found["faults"].values()) > 0


@pytest.mark.parametrize("test", [test for _, tests in soak.FAULTS.values() for test in tests])
def test_every_fault_is_made_by_a_test_that_is_there(test):
    file, _, name = test.partition("::")
    assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")
