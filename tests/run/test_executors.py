"""Executors: the same bytes from each, workers that die or fail, a disk that is full, two runs."""

import copy
import dataclasses
import errno
import multiprocessing
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from sci_book import files
from sci_book.data import datasets
from sci_book.data.datasets import Row
from sci_book.results.records import RecordsError
from sci_book.run import lock, runner
from sci_book.run.executors import Inline, Processes, WorkersError, off_gpu
from sci_book.run.ray_executor import Ray, gpus_of, room
from sci_book.run.shards import Batch, Done
from sci_core.families.models import load_model
from sci_core.methods import SCI3
from tests import tiny
from tests.world import Faulty, log_of, shard_bytes, with_row

# Where a process of its own finds this project and the modules of its tests.
SEARCHED = {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
SETTINGS = {"batch_size": 8, "max_new_tokens": 2, "progress": False}


@pytest.fixture(scope="module")
def plan(model, world):
    return runner.make_plan(model, world, [SCI3], batch_size=8, max_new_tokens=2)


@pytest.fixture(scope="module")
def undisturbed(plan):
    """The bytes of every shard's file."""
    return contents(Inline().run(plan, deque(range(len(plan.shards)))))


@pytest.fixture
def ray():
    return pytest.importorskip("ray", reason='the optional extra "ray" is not installed')


class Deadly(Row):
    """A row that kills whoever reads it first."""

    def image(self):
        marker = Path(self.where)
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().image()


class Lonely(Row):
    """A row that kills the parent of whoever reads it: of a Ray actor, the agent of its machine."""

    def image(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)  # the actor is ended meanwhile
        return super().image()


def contents(events):
    return {event.shard: event.content for event in events if isinstance(event, Done)}


def failures_of(out):
    return [entry for entry in log_of(out) if "failed" in entry]


# --- the same bytes --------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [Inline(), Processes(2)], ids=repr)
def test_every_executor_gives_the_same_bytes(executor, plan, undisturbed):
    waiting = deque(reversed(range(len(plan.shards))))
    events = list(executor.run(plan, waiting))
    assert contents(events) == undisturbed and not waiting
    rows = sum(event.rows for event in events if isinstance(event, Batch))
    assert rows == sum(len(batch) for shard in plan.shards for batch in shard) == 39


@pytest.mark.slow
def test_ray_gives_the_same_bytes_and_replaces_an_actor_that_dies(
    ray, model, world, undisturbed, tmp_path
):
    # Actors find no module of tests by its name.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    deadly = with_row(world, 20, Deadly, where=str(tmp_path / "killed"))
    runner.evaluate(model, deadly, [SCI3], tmp_path, executor="ray", workers=1, **SETTINGS)
    assert shard_bytes(tmp_path) == list(undisturbed.values())
    (failure,) = failures_of(tmp_path)
    assert failure["failed"] == "Its worker died." and failure["try"] == 1
    assert not ray.is_initialized()


@pytest.mark.slow
def test_ray_joins_a_cluster_of_two_machines(ray, plan, undisturbed, monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    try:
        cluster.add_node(**small)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        with pytest.raises(
            WorkersError, match=r"2 CPUs and 0 GPUs.* room for 1 workers, and 2 are"
        ):
            next(Ray(2).run(plan, deque([0])))
        assert contents(Ray().run(plan, deque([2, 0]))) == {k: undisturbed[k] for k in (0, 2)}
    finally:
        cluster.shutdown()


COMMAND_ON_OTHER_ROWS = """
import pickle, sys
from pathlib import Path
from sci_book import cli
from sci_book.data import datasets
from sci_book.run import layout

manifests, rows, *arguments = sys.argv[1:]
datasets.MANIFESTS, datasets.HOME = Path(manifests), Path(manifests).parent
layout.BATCHES_A_BLOCK = 1
world = pickle.loads(Path(rows).read_bytes())
datasets.load_dataset = lambda *_, **__: world
cli.main(arguments)
"""


@pytest.mark.slow
def test_a_run_that_loses_rays_agent_says_so_and_can_go_on(
    ray, checkpoint, model, world, undisturbed, tmp_path
):
    """In a process of its own, which Ray would end without a word."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    rows = tmp_path / "rows"
    rows.write_bytes(ray.cloudpickle.dumps(with_row(world, 20, Lonely)))
    arguments = ["evaluate", "--model", str(checkpoint), "--data", "world", "--methods", "SCI3"]
    arguments += ["--out", str(tmp_path / "run"), "--batch-size", "8"]
    arguments += ["--executor", "ray", "--workers", "1"]
    program = [sys.executable, "-c", COMMAND_ON_OTHER_ROWS, str(datasets.MANIFESTS), str(rows)]
    done = subprocess.run(
        [*program, *arguments], env=os.environ | SEARCHED, capture_output=True, text=True
    )
    assert done.returncode == 3, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("sci: Ray's agent on this machine has ended")
    assert last.endswith(f"Go on with: sci {shlex.join(arguments)}")
    assert 0 < len(shard_bytes(tmp_path / "run")) < len(undisturbed)


@pytest.mark.parametrize(
    ("device", "placed", "gpus"),
    [
        ("cpu", None, 0),
        ("cuda:0", None, 1),
        ("cuda:0", {"": 0}, 1),
        ("cuda:0", {"model.visual": 0, "model.layers": 1, "lm_head": 1}, 2),
        ("cuda:0", {"model.visual": 0, "model.layers": "cpu", "lm_head": "disk"}, 1),
    ],
)
def test_an_actor_takes_as_many_gpus_as_the_model_is_on(device, placed, gpus):
    hf = SimpleNamespace(hf_device_map=placed) if placed else SimpleNamespace()
    assert gpus_of(SimpleNamespace(hf=hf, device=torch.device(device))) == gpus


@pytest.mark.parametrize(
    ("resources", "workers", "gpus", "count"),
    [
        ({"CPU": 9.0, "GPU": 8.0}, None, 3, 2),
        ({"CPU": 3.0}, None, 0, 2),
        ({"CPU": 3.0}, 1, 0, 1),
        ({"CPU": 65.0, "GPU": 8.0}, None, 1, 8),
        ({"CPU": 8.0, "GPU": 8.0}, None, 1, 7),
    ],
)
def test_ray_leaves_a_cpu_free(resources, workers, gpus, count):
    assert room(resources, workers, gpus) == count


@pytest.mark.parametrize(
    ("resources", "workers", "gpus", "says"),
    [
        ({"CPU": 2.0}, 2, 0, "takes a CPU, and .* for 1 workers, and 2 are asked for. Ask for few"),
        ({"CPU": 1.0}, None, 0, "1 CPUs and 0 GPUs.* for 0 workers, and one is needed. Add mach"),
        ({}, None, 0, "0 CPUs and 0 GPUs.* for 0 workers, and one is needed"),
        ({"CPU": 9.0}, None, 1, "takes a CPU and 1 GPU, and .* for 0 workers, and one is needed"),
        ({"CPU": 9.0, "GPU": 4.0}, 3, 2, "a CPU and 2 GPUs, .* for 2 workers, and 3 are asked"),
    ],
)
def test_ray_says_what_a_worker_takes_and_how_many_there_is_room_for(
    resources, workers, gpus, says
):
    with pytest.raises(WorkersError, match=says):
        room(resources, workers, gpus)


def test_a_missing_ray_is_named_with_the_remedy(plan, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(WorkersError, match=r"not installed: pip install -e '\.\[ray\]'"):
        next(Ray().run(plan, deque([0])))


# --- what goes wrong ------------------------------------------------------------------------


def test_a_worker_that_dies_is_replaced_and_its_shard_done_again(
    model, world, undisturbed, tmp_path
):
    deadly = with_row(world, 20, Deadly, where=str(tmp_path / "killed"))
    runner.evaluate(model, deadly, [SCI3], tmp_path, executor="processes", workers=1, **SETTINGS)
    assert shard_bytes(tmp_path) == list(undisturbed.values())
    (failure,) = failures_of(tmp_path)
    assert "killed (SIGKILL, which the system does when memory runs out)" in failure["failed"]


def test_a_shard_that_fails_three_times_is_set_aside_and_the_rest_goes_on(
    model, world, undisturbed, tmp_path
):
    faulty = with_row(world, 20, Faulty)
    with pytest.raises(runner.Unfinished) as stop:
        runner.evaluate(model, faulty, [SCI3], tmp_path, executor="inline", **SETTINGS)
    shards = len(undisturbed)
    assert f"1 of {shards} shards failed 3 times and are set aside, the first" in str(stop.value)
    assert "(RuntimeError: what no row should do); " in str(stop.value)
    assert str(tmp_path / "log.jsonl") in str(stop.value)
    failures = failures_of(tmp_path)
    assert [each["try"] for each in failures] == [1, 2, 3]
    assert "Traceback" in failures[0]["details"] and "and more of it" in failures[0]["details"]
    assert len(shard_bytes(tmp_path)) == shards - 1
    runner.evaluate(model, world, [SCI3], tmp_path, executor="inline", **SETTINGS)
    assert shard_bytes(tmp_path) == list(undisturbed.values())


def test_a_model_that_workers_cannot_load_is_said_once(world, tmp_path):
    folder = tiny.write_checkpoint(tmp_path / "m", "qwen2_vl")
    plan = runner.make_plan(load_model(folder), world, [SCI3], batch_size=8)
    shutil.rmtree(folder)
    with pytest.raises(WorkersError, match="cannot load the model: FileNotFoundError: No model"):
        list(Processes(1).run(plan, deque([0])))


def test_workers_that_die_before_they_begin_are_not_replaced_for_ever(plan):
    dying = copy.copy(plan.model)
    dying._reload = partial(os._exit, 7)
    with pytest.raises(WorkersError, match=r"3 worker processes ended.*status 7\)\. Use fewer"):
        list(Processes(1).run(dataclasses.replace(plan, model=dying), deque([0, 1])))


def test_a_script_without_the_guard_is_told_so_once(checkpoint, world, tmp_path):
    rows = tmp_path / "rows"
    rows.write_bytes(pickle.dumps(world))
    script = tmp_path / "script.py"
    script.write_text(
        "import pickle\n"
        "from sci_core import load_model\n"
        "from sci_book import evaluate\n"
        f"model, out = load_model({str(checkpoint)!r}), {str(tmp_path / 'out')!r}\n"
        f"world = pickle.load(open({str(rows)!r}, 'rb'))\n"
        "evaluate(model, world, ['SCI3'], out, executor='processes', workers=1, progress=False)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)], env=os.environ | SEARCHED, capture_output=True, text=True
    )
    assert done.returncode == 1
    says = r"WorkersError: A script that asks for workers must .*__name__.*; this one does not\.$"
    assert re.search(says, done.stderr.splitlines()[-1])
    assert "bootstrapping" not in done.stderr  # nor did each worker say something of its own
    assert "is at work in" not in done.stderr


def test_a_full_disk_stops_with_a_sentence_and_leaves_nothing_half_written(
    model, world, undisturbed, tmp_path, monkeypatch
):
    def fill(path, content):
        if path.name.startswith("shard-00002"):
            path.with_name(f"{path.name}.{os.getpid()}.tmp").symlink_to("/dev/full")
        files.write_whole(path, content)

    with monkeypatch.context() as patch, pytest.raises(runner.Unfinished) as stop:
        patch.setattr(runner, "write_whole", fill)
        runner.evaluate(model, world, [SCI3], tmp_path, executor="inline", **SETTINGS)
    assert stop.value.__cause__.errno == errno.ENOSPC
    assert "There is no space left for" in str(stop.value) and "make room" in str(stop.value)
    assert shard_bytes(tmp_path) == [undisturbed[0], undisturbed[1]]
    assert not list(tmp_path.glob("*.tmp"))
    runner.evaluate(model, world, [SCI3], tmp_path, executor="inline", **SETTINGS)
    assert shard_bytes(tmp_path) == list(undisturbed.values())


def test_ctrl_c_ends_the_workers_and_keeps_what_is_written(
    model, world, tmp_path, monkeypatch, interruptible
):
    def interrupted(path, content):
        files.write_whole(path, content)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(runner, "write_whole", interrupted)
    others = {*multiprocessing.active_children()}  # which other tests left waiting for work
    with pytest.raises(KeyboardInterrupt):
        settings = SETTINGS | {"executor": "processes", "workers": 1}
        runner.evaluate(model, world, [SCI3], tmp_path, **settings)
    assert len(shard_bytes(tmp_path)) == 1
    assert {*multiprocessing.active_children()} <= others


def test_a_second_run_in_a_folder_is_refused_while_the_first_is_at_work(model, world, tmp_path):
    with (
        lock.held(tmp_path),
        pytest.raises(RecordsError, match=rf"is at work in .*\(process {os.getpid()} on "),
    ):
        runner.evaluate(model, world, [SCI3], tmp_path, executor="inline", **SETTINGS)
    with lock.held(tmp_path):
        pass


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"executor": "inline", "workers": 2}, "workers=2 with the executor inline"),
        ({"executor": "ray", "workers": 0}, "workers=0; expected 1 or more"),
        ({"workers": 0}, "workers=0; expected 1 or more"),
    ],
)
def test_settings_that_fit_no_executor_are_refused(settings, sentence, model, world, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        runner.evaluate(model, world, [SCI3], tmp_path, **SETTINGS | settings)


@pytest.mark.parametrize(
    ("device", "mapped", "moves"),
    [("cuda:0", None, ["cpu", "cuda:0"]), ("cuda:0", {"": "cuda:0"}, []), ("cpu", None, [])],
)
def test_the_run_leaves_the_gpu_to_its_workers_and_takes_it_back(device, mapped, moves):
    moved = []
    hf = SimpleNamespace(to=lambda place: moved.append(str(place)))
    if mapped:
        hf.hf_device_map = mapped
    model = SimpleNamespace(hf=hf, device=torch.device(device))
    with pytest.raises(KeyError), off_gpu(model):
        assert moved == moves[:1]
        raise KeyError
    assert moved == moves
