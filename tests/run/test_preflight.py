"""Preflight: the memory of weights that were not read, and a pace that was measured."""

from dataclasses import replace

import pytest

from sci_book.data.rows import Problem
from sci_book.run.layout import make_plan
from sci_book.run.preflight import (
    Memory,
    Pace,
    PreflightError,
    cache_bytes,
    check_fits,
    free_memory,
    gib,
    measure,
    samples,
    warm_up,
    weight_bytes,
)
from sci_book.run.progress import duration
from sci_book.run.shards import evaluate_rows
from sci_core.families.cache import RoomyLayer
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


@pytest.mark.parametrize(("rows", "count"), [(1, 1), (39, 2), (80, 4), (400, 20), (4000, 20)])
def test_samples_are_spread_over_the_rows(world, rows, count):
    numbered = (replace(world.rows[k % len(world)], index=k) for k in range(rows))
    places = [row.index for row in samples(replace(world, rows=tuple(numbered)))]
    step = rows / count
    assert len(places) == count
    assert all(0 <= k * step - place < 1 for k, place in enumerate(places))


def test_the_pace_is_that_of_the_samples_and_nothing_is_written(world, tmp_path):
    plan = make_plan(tiny.load("qwen2_vl"), world, ["SCI3"], max_new_tokens=1)
    warm_up(plan, world.rows[:1])
    before = plan.readings.done
    pace = measure(plan, world.rows[:5])
    assert plan.readings.done - before == 5 * len(plan.stamp["rounds"])
    assert pace.samples == 5 and pace.seconds > 0
    assert 1 <= pace.workers <= len(plan.shards)
    assert not list(tmp_path.rglob("shard-*"))


def test_the_expected_time_is_in_proportion():
    assert Pace(samples=20, seconds=2.0).expected(1000) == 100.0
    assert Pace(samples=20, seconds=2.0, workers=4).expected(1000) == 25.0


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_bytes_of_the_caches_bound_those_that_decoding_makes(family, world, monkeypatch):
    """Counted where a cache is filled: the keys and values of one question, all rounds."""
    model = tiny.load(family)
    plan = make_plan(model, world, ["SCI7"], max_new_tokens=2)
    row = world.rows[0]
    slots = []
    written = RoomyLayer.update

    def update(layer, keys, values, *given, **more):
        slots.append(2 * keys.numel() * keys.element_size())
        return written(layer, keys, values, *given, **more)

    monkeypatch.setattr(RoomyLayer, "update", update)
    evaluate_rows(plan, [row])
    told = cache_bytes(plan, [row])
    logits = 4 * model.vocab_size * len(plan.stamp["rounds"])
    assert sum(slots) <= told <= 2 * (sum(slots) + logits)


def test_a_row_that_cannot_be_read_takes_no_cache(world):
    plan = make_plan(tiny.load("qwen2_vl"), world, ["SCI3"], max_new_tokens=1)
    spoilt = replace(world.rows[0], problem=Problem("picture", "row 0: no picture"))
    assert cache_bytes(plan, [spoilt]) == cache_bytes(plan, []) < cache_bytes(plan, world.rows[:1])


def test_words_for_bytes_and_seconds():
    assert [gib(2**29), gib(3 * 2**30)] == ["512 MiB", "3.0 GiB"]
    assert [duration(each) for each in (0.4, 119.0, 120.0, 7199.0, 7200.0)] == [
        "0 s", "119 s", "2.0 min", "120.0 min", "2.0 h",
    ]  # fmt: skip
