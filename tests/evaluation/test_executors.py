"""Executors: the same bytes from each, workers that die or fail, a disk that is full, two runs."""

import json
import os
import signal
from collections import deque

import formats
import pytest

from sci_core.evaluation import datasets, layout, runner
from sci_core.evaluation.datasets import load_dataset
from sci_core.evaluation.executors import Inline, Processes
from sci_core.evaluation.shards import Batch, Done
from sci_core.methods import SCI3
from sci_core.models import load_model
from tests import tiny

SETTINGS = {"batch_size": 8, "max_new_tokens": 2, "progress": False}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny.write_checkpoint(tmp_path_factory.mktemp("m"), "qwen2_vl", stops=30)


@pytest.fixture(scope="module")
def model(checkpoint):
    return load_model(checkpoint)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    formats.write_world(folder / "manifests", folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "MANIFESTS", folder / "manifests")
        patch.setattr(layout, "BATCHES_A_BLOCK", 1)
        yield load_dataset("world", folder / "data")


@pytest.fixture(scope="module")
def plan(model, world):
    return runner.make_plan(model, world, [SCI3], batch_size=8, max_new_tokens=2)


@pytest.fixture(scope="module")
def undisturbed(plan):
    """The bytes of every shard's file."""
    return contents(Inline().run(plan, deque(range(len(plan.shards)))))


def contents(events):
    return {event.shard: event.content for event in events if isinstance(event, Done)}


def shard_bytes(out):
    return [file.read_bytes() for file in sorted(out.glob("shard-*.parquet"))]


def log_of(out):
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def only_killed_once(events, kill):
    """Pass the events on; kill a worker as soon as one has done something."""
    for number, event in enumerate(events):
        if number == 0:
            kill()
        yield event


# --- the same bytes --------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [Inline(), Processes(1), Processes(3)], ids=repr)
def test_every_executor_gives_the_same_bytes(executor, plan, undisturbed):
    waiting = deque(reversed(range(len(plan.shards))))
    events = list(executor.run(plan, waiting))
    assert contents(events) == undisturbed and not waiting
    rows = sum(event.rows for event in events if isinstance(event, Batch))
    assert rows == sum(len(batch) for shard in plan.shards for batch in shard) == 39


def test_ray_gives_the_same_bytes_and_replaces_an_actor_that_dies(
    model, world, undisturbed, tmp_path
):
    ray = pytest.importorskip("ray", reason='the optional extra "ray" is not installed')
    killed = []

    def kill_one():
        from ray.util.state import list_actors

        while not killed:
            found = [each for each in list_actors(filters=[("state", "=", "ALIVE")]) if each.pid]
            if found:
                os.kill(found[0].pid, signal.SIGKILL)
                killed.append(found[0].pid)

    records = runner.evaluate(model, world, [SCI3], tmp_path, executor="ray", workers=2, **SETTINGS)
    assert shard_bytes(tmp_path) == list(undisturbed.values()) and len(records.table) == 39
    assert not ray.is_initialized()
