"""A preset or a prompt that changes after the records were frozen is named, with the remedy."""

import json
from dataclasses import asdict, replace

import pytest

from sci_book import resources
from sci_book.data import prompts
from sci_book.papers.oric.rft.settings import PRESETS
from sci_book.pipeline import reproduce
from sci_book.results.records import RecordsError, read_records
from sci_book.run import presets
from sci_book.run.layout import hashed_part
from sci_core import methods
from sci_core.counterfactuals import REWRITES
from tests.pocket_data import pocket


def change(monkeypatch, name):
    """A preset whose β is another, as if it had been edited."""
    edited = (replace(m, beta=0.5) if m.name == name else m for m in presets.ALL_METHODS)
    monkeypatch.setattr(presets, "ALL_METHODS", tuple(edited))


def test_the_frozen_records_were_made_with_todays_presets():
    assert reproduce.preset_failures() == []


@pytest.mark.parametrize("name", ["TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7"])
def test_a_changed_preset_is_named(monkeypatch, name):
    change(monkeypatch, name)
    (failure,) = reproduce.preset_failures()
    assert f"were made with another {name} (beta was 0.3, is 0.5)" in failure
    assert "Making the frozen parts anew" in failure


def test_the_reproduction_fails_with_the_sentence(monkeypatch, capsys):
    change(monkeypatch, "TIE")
    for steps in ("data_steps", "chapter_sources"):
        monkeypatch.setattr(reproduce, steps, lambda: [])
    monkeypatch.setattr(reproduce, "record_steps", lambda full: [])
    monkeypatch.setattr(reproduce, "build_book", lambda folder: folder / "index.html")
    with pytest.raises(reproduce.Incomplete, match="were made with another TIE"):
        reproduce.reproduce_book().check()
    assert "make the records anew" in capsys.readouterr().out


def test_changed_prompt_templates_and_training_settings_are_named(monkeypatch, tmp_path):
    other = tmp_path / "prompts.yaml"
    other.write_bytes(prompts.TEMPLATES.read_bytes() + b"# changed\n")
    monkeypatch.setattr(prompts, "TEMPLATES", other)
    monkeypatch.setitem(PRESETS, "pocket", replace(PRESETS["pocket"], seed=1))
    templates, *trained = reproduce.preset_failures()
    assert "made with other prompt templates (data_manifests/prompts.yaml)" in templates
    assert len(trained) == len([*(resources.RESULTS / "rft").glob("*.json")])
    assert all("made with another Visual-RFT preset" in each for each in trained)


def test_a_changed_rewrite_is_named(monkeypatch):
    records = read_records(resources.FROZEN_RECORDS / "pocket-qwen2vl-small.parquet")
    dataset = hashed_part(pocket(), 160)
    presets.check_prompts(records, dataset)
    instruction = next(iter(REWRITES["V3"]))
    monkeypatch.setitem(REWRITES["V3"], instruction, "Please answer. " + instruction)
    with pytest.raises(RecordsError, match=r"made with other prompts: .*make the records anew"):
        presets.check_prompts(records, dataset)


def test_a_method_that_is_no_preset_has_no_counterpart():
    mine = json.loads(json.dumps(asdict(replace(methods.TIE, name="mine", beta=0.7))))
    stamp = {"methods": [mine], "prompts": prompts.templates_digest()}
    assert presets.changed_presets(stamp) == []
    (change,) = presets.changed_presets({**stamp, "methods": [{**mine, "name": "TIE"}]})
    assert change == "another TIE (beta was 0.7, is 0.3)"
