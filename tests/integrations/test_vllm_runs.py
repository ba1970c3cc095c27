"""Runs that vLLM decodes: the records of `trajectories.decode`, answers alone; what is refused."""

import dataclasses
import sys
from functools import partial

import pytest

from sci_book.resources import CHECKPOINTS
from sci_book.results.records import RecordsError, read_records
from sci_book.run import runner
from sci_book.run.engines import RunEngine, vllm_settings
from sci_book.run.trajectories import decode
from sci_core import load_model
from sci_core.methods import M3ID, SCI5, VCD, VDD
from tests import tiny
from tests.conftest import own_data, sci  # noqa: F401
from tests.integrations import stand_ins
from tests.integrations.test_vllm import MODULE, served
from tests.soak import TIMES, mostly
from tests.world import log_of, world  # noqa: F401

METHODS = (VCD, M3ID, SCI5, VDD)
SETTINGS = {"record": "answers", "batch_size": 8, "max_new_tokens": 3, "progress": False}
ANSWERS = ("tokens", "text", "parsed")


@pytest.fixture(scope="module")
def plugin():
    with stand_ins.in_place(stand_ins.VLLM, MODULE) as module:
        yield module


@pytest.fixture(scope="module")
def runs(plugin):
    with stand_ins.in_place(stand_ins.VLLM, f"{MODULE}_runs") as module:
        yield module


def answered(records):
    """Every row's answer under every policy, and what else a record says of the row."""
    frame = records.frame.drop(columns="error").astype(str)
    return frame[[name for name in frame if name in ("index", "prompt_hash", "prompt_tokens")
                  or name.startswith(ANSWERS)]]  # fmt: skip


@pytest.mark.parametrize("family", mostly(tiny.FAMILIES))
def test_records_have_the_answers_of_every_round_and_method(
    family, plugin, runs, world, tmp_path  # noqa: F811
):  # fmt: skip
    llm = served(plugin, family)
    some = dataclasses.replace(world, rows=world.rows if TIMES > 1 else world.rows[::3])
    evaluated = partial(runner.evaluate, dataset=some, methods=METHODS, **SETTINGS)
    found = evaluated(plugin.asker(llm), out=tmp_path / "a", engine=runs.engine_of(llm, {}))
    plain = RunEngine({"name": "plain"}, partial(decode, engine="sequential"))
    ours = evaluated(tiny.load(family), out=tmp_path / "b", engine=plain)
    assert found.policies == ours.policies and found.ok.sum() == ours.ok.sum() > 10
    assert answered(found).equals(answered(ours))
    assert found.stamp == {**ours.stamp, "engine": {"name": "vllm"}}
    assert found.stamp["record"] == "answers" and not len(found.nodes.row)
    readings = [line["readings"] for line in log_of(tmp_path / "a")]
    assert all(readings) and not any(line["spared"] for line in log_of(tmp_path / "a"))


def test_a_folder_of_another_engine_or_of_other_settings_is_refused(
    plugin, runs, world, tmp_path  # noqa: F811
):  # fmt: skip
    llm, model = served(plugin), tiny.load("qwen2_vl")
    part = dataclasses.replace(world, rows=world.rows[:4])
    few, more = (runs.engine_of(llm, {"max_num_seqs": seats}) for seats in (13, 26))
    asked = partial(runner.evaluate, dataset=part, methods=[VCD], **SETTINGS)
    asked(plugin.asker(llm), out=tmp_path / "vllm", engine=few)
    assert asked(plugin.asker(llm), out=tmp_path / "vllm", engine=few) is not None
    asked(model, out=tmp_path / "own", executor="inline")
    with pytest.raises(RecordsError, match=r'engine is \{"name": "vllm", "max_num_seqs": 13\}, ex'):
        asked(plugin.asker(llm), out=tmp_path / "vllm", engine=more)
    with pytest.raises(RecordsError, match=r'engine is .*, expected \{"name": "transformers"\}'):
        asked(model, out=tmp_path / "vllm", executor="inline")
    with pytest.raises(RecordsError, match=r'engine is \{"name": "transformers"\}, expected'):
        asked(plugin.asker(llm), out=tmp_path / "own", engine=few)


def test_a_question_that_the_engine_has_no_room_for_is_recorded_with_its_error(
    plugin, runs, world, tmp_path  # noqa: F811
):  # fmt: skip
    llm = served(plugin, max_num_seqs=3)
    part = dataclasses.replace(world, rows=world.rows[:4])
    asked = partial(runner.evaluate, plugin.asker(llm), part, engine=runs.engine_of(llm, {}))
    records = asked([VCD, SCI5], tmp_path / "run", **SETTINGS)
    assert not records.ok.any() and set(records.frame["error"]) == {"ValueError"}
    (line,) = log_of(tmp_path / "run")
    assert all("needs max_num_seqs=5 or more" in said for said in line["errors"])


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"record": "logits"}, "record='logits' with the engine vllm, which gives back tokens"),
        ({"executor": "processes"}, "executor='processes' and workers=None with the engine vllm"),
        ({"workers": 2}, "workers=2 with the engine vllm, which works in one process"),
    ],
)
def test_what_another_engine_cannot_do_is_refused(
    settings, named, plugin, runs, world, tmp_path  # noqa: F811
):  # fmt: skip
    llm = served(plugin)
    with pytest.raises(ValueError, match=named):
        runner.evaluate(plugin.asker(llm), world, [VCD], tmp_path / "run",
                        engine=runs.engine_of(llm, {}), **SETTINGS | settings)  # fmt: skip
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"noise": "normalized"}, "vLLM is handed pictures"),
        ({"dtype": "float64"}, "float64"),
        ({"quantization": "nf4"}, "quantization='nf4' is for the engine transformers"),
        ({"attn_implementation": "eager"}, "attn_implementation='eager' is for the engine"),
        ({"device_map": "auto"}, "device_map='auto' is for the engine transformers"),
        ({"device": "cpu"}, "device='cpu' is for the engine transformers"),
    ],
)
def test_what_transformers_does_otherwise_is_refused_before_anything_is_loaded(
    settings, named, runs, monkeypatch
):
    monkeypatch.setattr(runs, "load_llm", lambda *_, **__: 1 / 0)
    usual = {"noise": "wrap", "dtype": "float32", **runs.USUAL}
    with pytest.raises(ValueError, match=named):
        runs.serve("folder", {}, **usual | settings)


def test_settings_of_vllm_are_an_object_in_json():
    assert vllm_settings("vllm", "") == vllm_settings("transformers", "") == {}
    assert vllm_settings("vllm", '{"max_model_len": 512}') == {"max_model_len": 512}
    for wrong in ("max_model_len=512", "[1]", "3"):
        with pytest.raises(ValueError, match="expected an object in JSON"):
            vllm_settings("vllm", wrong)
    with pytest.raises(ValueError, match="--vllm goes with --engine vllm"):
        vllm_settings("transformers", '{"max_model_len": 512}')


def test_the_command_evaluates_by_vllm(
    plugin, runs, own_data, tmp_path, monkeypatch, capsys  # noqa: F811
):  # fmt: skip
    loaded = []

    def load_llm(checkpoint, **settings):
        loaded.append(settings)
        return served(plugin)

    monkeypatch.setattr(runs, "load_llm", load_llm)
    asked = ["--model", tiny.checkpoint("qwen2_vl"), "--data", own_data, "--methods", "SCI3",
             "--dtype", "float32"]  # fmt: skip
    by_vllm = [*asked, "--engine", "vllm", "--vllm", '{"max_num_seqs": 13}']
    assert sci("evaluate", *by_vllm, "--out", tmp_path / "run") == 0
    (settings,) = loaded
    assert settings["max_num_seqs"] == 13 and settings["dtype"] == "float32"
    assert f"3 rows in {tmp_path / 'run'}, 0 with an error" in capsys.readouterr().out
    records = read_records(tmp_path / "run")
    assert records.stamp["engine"] == {"name": "vllm", "max_num_seqs": 13}
    assert records.stamp["record"] == "answers" and records.ok.all()
    assert sci("evaluate", *asked, "--out", tmp_path / "run", "--executor", "inline") == 2
    assert "use another folder" in capsys.readouterr().err.lower()


def test_the_command_refuses_before_it_loads(own_data, tmp_path, capsys):  # noqa: F811
    asked = ["evaluate", "--data", own_data, "--out", tmp_path / "run", "--engine", "vllm"]
    for more, named in (
        (["--record", "logits"], "no logits"),
        (["--executor", "ray"], "--shard I/N"),
        (["--vllm", "x"], "an object in JSON"),
    ):
        assert sci(*asked, *more) == 2
        assert named in capsys.readouterr().err


def test_without_vllm_the_command_says_how_to_get_it(own_data, tmp_path, capsys, monkeypatch):  # noqa: F811
    for name in (MODULE, f"{MODULE}_runs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "vllm", None)
    model = ["--model", tiny.checkpoint("qwen2_vl"), "--data", own_data]
    assert sci("evaluate", *model, "--out", tmp_path / "run", "--engine", "vllm") == 2
    said = capsys.readouterr().err
    assert "vLLM cannot be imported" in said and "make integrations" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not stand_ins.installed("vllm"), reason="vLLM is not installed")
def test_vllm_itself_makes_the_records_of_a_run(runs, world, tmp_path):  # noqa: F811
    dataset = dataclasses.replace(world, rows=world.rows[:16])
    how = {"max_model_len": 512, "max_num_seqs": 64, "enforce_eager": True, "block_size": 32,
           "kv_cache_memory_bytes": 1 << 28}  # fmt: skip
    checkpoint = str(CHECKPOINTS / "pocket-qwen2vl")
    model, engine = runs.serve(checkpoint, how, noise="wrap", dtype="float32")
    settings = {"record": "answers", "workers": 1, "progress": False}
    found = runner.evaluate(model, dataset, METHODS, tmp_path / "a", engine=engine, **settings)
    ours = load_model(checkpoint, device="cpu")
    ours = runner.evaluate(ours, dataset, METHODS, tmp_path / "b", **settings)
    assert found.ok.sum() > 10 and answered(found).equals(answered(ours))
    assert found.stamp == {**ours.stamp, "engine": {"name": "vllm", **how}}
