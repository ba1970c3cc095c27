"""Advice: what is expected of a model, by what planted and drawn trainings gained."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sci_book import resources
from sci_book.papers.sci import advice
from sci_book.results.records import RecordsError, write_records
from tests.conftest import sci
from tests.papers.sci.test_dial import twin_records

PAIR = ("pocket-qwen2vl", "pocket-llavanext")


@pytest.fixture(scope="module")
def trainings():
    """Four trainings of each of two models."""
    return [(name, twin_records(4 * number + seed))
            for number, name in enumerate(PAIR) for seed in range(4)]  # fmt: skip


@pytest.fixture(scope="module")
def learned(trainings):
    return advice.learned(trainings)


def planted(gain, noise):
    """Trainings of two models whose SCI5 at β 0.8 gains this much; every other method loses."""
    rng = np.random.default_rng(0)
    gains = {name: -0.1 + 0.01 * rng.normal(size=8) for name in advice.ADVISED}
    gains["SCI5, β 0.8"] = gain + noise * rng.normal(size=8)
    known = {"model": ["one"] * 4 + ["other"] * 4, "habit": np.linspace(0.4, 0.6, 8)}
    return pd.DataFrame({**known, "deficit": rng.random(8) / 5, **gains})


def test_a_training_is_told_by_counting(trainings, learned):
    line, records = learned.iloc[0], trainings[0][1]
    frame = records.frame[records.ok]
    base, sci5 = (frame[f"parsed:{policy}"] == frame["truth"] for policy in ("original", "SCI5"))
    assert line["model"] == PAIR[0]
    assert line["SCI5, β 0.3"] == pytest.approx(sci5.mean() - base.mean())
    assert np.isnan(line["SCI5, β 0.8"])  # which these records do not hold


def test_the_mean_over_trainings_is_expected_best_first():
    frame = planted(0.05, 0.001)
    gains = advice.expected(frame)
    assert next(iter(gains)) == "SCI5, β 0.8" == advice.chosen(gains)
    for name, gain in gains.items():
        assert gain.estimate == pytest.approx(frame[name].mean())
        assert gain.low < frame[name].min() and gain.high > frame[name].max()
    assert advice.chosen(advice.expected(planted(0.05, 1.0))) == "base" == advice.chosen({})
    frame["VCD, β 0.8"] = 0.2 + np.linspace(-1, 1, 8)  # more on average, and not sure
    gains = advice.expected(frame)
    assert next(iter(gains)) == "VCD, β 0.8" and advice.chosen(gains) == "SCI5, β 0.8"


def test_a_method_that_fewer_than_two_trainings_hold_is_not_expected(learned):
    assert {name for name in advice.expected(learned) if "0.8" in name} == set()
    assert len(advice.expected(learned)) == 4 and advice.expected(learned[:1]) == {}


def test_a_model_left_out_is_foretold_by_the_others_alone():
    frame = planted(0.0, 0.0)
    frame["SCI5, β 0.8"] = [0.01] * 4 + [0.03] * 4
    assert advice.left_out(frame, "SCI5, β 0.8") == pytest.approx(0.02)
    frame["SCI5, β 0.8"] = 0.5 * frame["habit"]
    assert advice.left_out(frame, "SCI5, β 0.8", ["habit"]) == pytest.approx(0)
    assert np.isnan(advice.left_out(frame[:5], "SCI5, β 0.8"))


def test_advice_of_a_model_with_and_without_others(trainings, learned):
    records = trainings[0][1]
    lines = advice.advise(records, learned)
    assert lines[0].startswith("conditions, on all rows: rewording")
    assert re.match(r"habit: \d+\.\d\d \[.*\] % of the base's \d+ errors", lines[1])
    assert lines[2].startswith("rewordings: V1 and V2 cost ")
    assert "by 8 trainings of 2 models" in lines[3] and lines[-1].startswith("use: ")
    assert {line.split(",")[0].strip() for line in lines[4:8]} == {"VCD", "SCI3", "SCI5", "SCI7"}
    without = advice.advise(records, advice.learned([]))
    assert without[:3] == lines[:3] and without[3].startswith("expected gain: not known")
    assert not any("two spellings" in line for line in lines)
    texts = records.text("V1")
    place = records.table.schema.get_field_index("text:V1")
    spelt = records.table.set_column(
        place, records.table.schema.field("text:V1"), pa.array([f" {text}" for text in texts])
    )
    said = advice.advise(replace(records, table=spelt), learned)
    assert said[3].startswith("one word in two spellings: in ") and said[:3] == lines[:3]
    beyond = advice.advise(records, learned.assign(habit=learned["habit"] + 5))
    assert any("but its habit of" in line for line in beyond)


def test_advice_needs_rows_and_rounds(trainings, learned):
    records = trainings[0][1]
    with pytest.raises(ValueError, match="no row without an error"):
        advice.advise(records.take(~records.ok), learned)
    perfect = records.take(records.correct("original"))
    assert advice.advise(perfect, learned)[-1] == "use: base"
    bare = replace(records, stamp={**records.stamp, "rounds": ["original", "V1", "black"]})
    with pytest.raises(RecordsError, match=r"no answers of 'noise500'.*--rounds"):
        advice.advise(bare, learned)


def test_the_command_says_what_it_reads_and_what_is_missing(trainings, sandbox, capsys):
    assert sci("advise", sandbox / "absent") == 2
    assert "holds no records: there is no" in capsys.readouterr().err
    write_records(sandbox / "mine.parquet", trainings[0][1])
    assert sci("advise", sandbox / "mine.parquet") == 0
    said = capsys.readouterr().out
    assert "mine.parquet: mine, 59 rows without an error" in said
    assert "the book's records are not here" in said and "use:" not in said
    for number, (name, each) in enumerate(trainings):
        folder = resources.FROZEN_RECORDS / (f"training{number % 4}" if number % 4 else "")
        folder.mkdir(parents=True, exist_ok=True)
        write_records(folder / f"{name}.parquet", each)
    assert sci("advise", sandbox / "mine.parquet") == 0
    assert "by 8 trainings of 2 models" in capsys.readouterr().out


def test_advice_loads_nothing_slow():
    slow = "{'torch', 'transformers', 'matplotlib', 'scipy.stats'}"
    code = "import sys; from sci_book.papers.sci import advice; "
    code += f"sys.exit(bool(sys.modules.keys() & {slow}))"
    subprocess.run([sys.executable, "-c", code], check=True)
