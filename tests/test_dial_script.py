"""The script that makes the dial: its commands and fixed rows, what it notes and refuses."""

import inspect
import json
import sys
from pathlib import Path

import pytest

from sci_book import resources
from sci_book.commands import evaluate as cli_evaluate
from sci_book.commands import papers
from sci_book.papers.sci.dial import trainings
from sci_book.pocket.curriculum import GOES_ON
from sci_book.results.drbench import split
from sci_book.results.records import read_records, write_records
from tests.papers.shared.pair_records import records_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import dial  # noqa: E402

FIRST = trainings()[0]


@pytest.fixture
def place(sandbox, monkeypatch):
    """Nothing is trained: folders apart, and commands that leave what the real ones would."""
    monkeypatch.setattr(dial, "RECORDS", sandbox / "records" / "dial")
    monkeypatch.setattr(dial, "RESULTS", sandbox / "results" / "dial")
    ran = []

    def run(words, cwd, check):
        ran.append(words[3])
        at = dial.folders(FIRST)
        if words[3] == "train-pocket":
            for key in ("checkpoint", "work"):
                at[key].mkdir(parents=True)
            (at["checkpoint"] / "README.md").write_text("a card", encoding="utf-8")
            line = json.dumps({"stage": "onward", "step": 0, "loss": 1.5})
            (at["work"] / "log.jsonl").write_text(line + "\n", encoding="utf-8")
        else:
            write_records(at["run"] / "shard-00000-of-00001.parquet", records_of("mine"))

    monkeypatch.setattr(dial.subprocess, "run", run)
    return ran


def test_its_commands_exist_and_train_a_recipe_that_goes_on(sandbox):
    options = {"train-pocket": papers.train_pocket, "evaluate": cli_evaluate.evaluate}
    for training in trainings():
        assert dial.recipe(training) in GOES_ON
        made = dial.commands(training)
        assert [words[0] for words in made] == list(options)
        for name, *words in made:
            known = {each.replace("_", "-") for each in inspect.signature(options[name]).parameters}
            assert {word[2:] for word in words if word.startswith("--")} <= known
        assert resources.RUNS in dial.folders(training)["checkpoint"].parents


def test_a_training_is_made_noted_frozen_and_its_folders_go(place):
    dial.make(FIRST)
    assert place == ["train-pocket", "evaluate"]
    assert not any(folder.exists() for folder in dial.folders(FIRST).values())
    frozen, whole = read_records(dial.RECORDS / f"{FIRST.name}.parquet"), records_of("mine")
    test = whole.take(split(whole, "groups") == "test")
    assert frozen.keys == test.keys and 0 < len(test.keys) < len(whole.keys)
    assert not len(frozen.nodes.row)
    (noted,) = dial.notes()
    assert noted["setting"] == FIRST.setting and noted["log"][0]["loss"] == 1.5
    assert noted["stage"]["lot"]["skew"] == 0.3 and noted["revision"] == "r"


def test_a_training_that_was_cut_off_is_not_trained_again(place, monkeypatch):
    monkeypatch.setattr(dial, "note", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dial.make(FIRST)
    assert [words[0] for words in dial.commands(FIRST)] == ["evaluate"]


def test_it_refuses_other_weights_and_changed_predictions(place, monkeypatch, capsys):
    dial.make(FIRST)
    dial.check()
    monkeypatch.setattr(dial, "start_digest", lambda: "0" * 16)
    monkeypatch.setattr(dial.registration, "departures", lambda registered: ["It was changed."])
    with pytest.raises(SystemExit) as stop:
        dial.check()
    assert "It was changed." in str(stop.value) and "different weights" in str(stop.value)


def test_the_plan_says_what_is_missing_and_makes_nothing(place, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dial.py", "--plan"])
    monkeypatch.setattr(dial, "check", lambda: None)
    dial.main()
    said = capsys.readouterr().out
    assert said.startswith("16 of 16 are missing: about ") and "hours" in said
    assert said.count("  sci train-pocket ") == said.count("  sci evaluate ") == 16
    assert place == []
