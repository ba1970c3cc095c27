"""Preflight: the memory of weights that were not read, and a pace that was measured."""

import formats
import pytest

from sci_core.evaluation import datasets, preflight
from sci_core.evaluation.datasets import load_dataset
from sci_core.evaluation.preflight import (
    SAMPLES,
    Memory,
    Pace,
    PreflightError,
    check_fits,
    duration,
    free_memory,
    gib,
    measure,
)
from sci_core.evaluation.runner import evaluate_rows, make_plan
from sci_core.models import weight_bytes
from tests import tiny


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("bfloat16", 2), ("float64", 8)])
def test_the_configuration_tells_the_bytes_of_the_weights(family, dtype, size):
    """Counted on the loaded model, where a tied head counts once."""
    loaded = tiny.load(family)
    own = {id(p): p.numel() for p in loaded.hf.parameters()}
    assert weight_bytes(str(tiny.checkpoint(family)), dtype) == size * sum(own.values())


def test_weights_that_do_not_fit_are_refused_before_they_are_read():
    name = str(tiny.checkpoint("qwen2_vl"))
    needed = weight_bytes(name, "float32")
    assert check_fits(name, "float32", Memory(needed, "memory")) == needed
    with pytest.raises(PreflightError, match=r"float32, and .* of GPU memory .*bfloat16"):
        check_fits(name, "float32", Memory(needed - 1, "GPU memory"))
    with pytest.raises(PreflightError, match="Take a smaller model") as refused:
        check_fits(name, "bfloat16", Memory(0, "memory"))
    assert "two bytes" not in str(refused.value)


def test_what_cannot_be_loaded_is_refused_as_loading_would(tmp_path):
    with pytest.raises(FileNotFoundError, match="neither a local folder nor a hub id"):
        check_fits("nosuch/model", "float32", Memory(1, "memory"))
    with pytest.raises(FileNotFoundError, match="is no checkpoint"):
        check_fits(str(tmp_path), "float32", Memory(1, "memory"))
    with pytest.raises(ValueError, match="dtype"):
        check_fits(str(tiny.checkpoint("qwen2_vl")), "float7", Memory(1, "memory"))


def test_free_memory_is_some():
    assert free_memory().free > 0


@pytest.mark.parametrize("limit", [8, None])
def test_the_pace_is_that_of_samples_spread_over_the_rows(limit, tmp_path, monkeypatch):
    formats.write_world(tmp_path / "manifests", tmp_path / "data")
    monkeypatch.setattr(datasets, "MANIFESTS", tmp_path / "manifests")
    dataset = load_dataset("world", tmp_path / "data", limit=limit)
    asked = []

    def asking(plan, rows):
        asked.append([dataset.rows.index(row) for row in rows])
        return evaluate_rows(plan, rows)

    monkeypatch.setattr(preflight, "evaluate_rows", asking)
    pace = measure(make_plan(tiny.load("qwen2_vl"), dataset, ["SCI3"], max_new_tokens=1), dataset)
    places, step = asked[1], len(dataset) / pace.samples
    assert all(0 <= number * step - place < 1 for number, place in enumerate(places))
    assert pace.samples == min(len(dataset), SAMPLES)
    assert pace.rows == len(dataset) and pace.seconds > 0


def test_the_expected_time_is_in_proportion():
    assert Pace(samples=20, seconds=2.0, rows=1000).expected == 100.0


def test_words_for_bytes_and_seconds():
    assert [gib(2**29), gib(3 * 2**30)] == ["512 MiB", "3.0 GiB"]
    assert [duration(each) for each in (0.4, 119.0, 120.0, 7199.0, 7200.0)] == [
        "0 s", "119 s", "2.0 min", "120.0 min", "2.0 h",
    ]  # fmt: skip
