"""Shards on many GPUs or machines: a pool of Ray actors, each with the model loaded once.

Ray is optional: `pip install -e ".[ray]"`. The run joins the cluster of RAY_ADDRESS, or starts one
on this machine. A shard travels with its pictures and comes back as the bytes of its file, so the
machines need the checkpoint each, but no folder in common.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from sci_book.data.datasets import Row
from sci_book.resources import installing
from sci_book.run.executors import MOST_FALSE_STARTS, WorkersError, WorkersLost, off_gpu
from sci_book.run.layout import Plan
from sci_book.run.shards import Done, Event, Failed, attempt

# Bytes, in a cluster on this machine: the shards in hand, a few dozen megabytes each.
OBJECT_STORE = 256 * 2**20
# Seconds between two looks at Ray's agent on this machine, while all workers are busy.
LOOK_EVERY = 2.0


@dataclass(frozen=True)
class Ray:
    """In actors of a Ray cluster, with a CPU each, and as many GPUs each as the model is on.

    One CPU of the cluster stays free, for Ray itself. By default as many actors as there is room
    for. An actor that dies is replaced where there is room; the shard it had in hand has failed.
    """

    workers: int | None = None

    def run(self, plan: Plan, waiting: deque[int]) -> Iterator[Event]:
        ray = _ray()
        gpus = gpus_of(plan.model)
        with off_gpu(plan.model), _cluster(ray, self.workers) as resources:
            count = min(room(resources, self.workers, gpus), len(waiting))
            actor = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(_Worker)
            sent = ray.put(pickle.dumps(replace(plan, shards=())))
            crew = [actor.remote() for _ in range(count)]
            # What each worker is doing: beginning (None), or a shard.
            doing = {worker.begin.remote(sent): (worker, None) for worker in crew}
            idle: list[Any] = []
            false_starts = 0
            agent = _agent(ray)
            try:
                while waiting or any(shard is not None for _, shard in doing.values()):
                    _check_agent(agent)
                    while waiting and idle:
                        worker, shard = idle.pop(), waiting.popleft()
                        doing[worker.work.remote(shard, plan.shards[shard])] = worker, shard
                    # Not fetched: for that, Ray asks its agent, without which it ends the process.
                    ready, _ = ray.wait(
                        list(doing), num_returns=1, timeout=LOOK_EVERY, fetch_local=False
                    )
                    if not ready:
                        continue
                    _check_agent(agent)
                    (reference,) = ready
                    worker, shard = doing.pop(reference)
                    try:
                        event = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        if shard is None:
                            raise WorkersError(
                                f"A Ray actor cannot load the model: {_last_line(error)}"
                            ) from None
                        event = Failed(shard, _last_line(error), str(error))
                    except ray.exceptions.RayError as error:
                        _check_agent(agent)
                        false_starts += shard is None
                        if false_starts == MOST_FALSE_STARTS:
                            raise WorkersError(
                                f"{MOST_FALSE_STARTS} Ray actors died before they had loaded the "
                                f"model ({_last_line(error)}). Use fewer workers."
                            ) from None
                        ray.kill(worker)
                        crew[crew.index(worker)] = another = actor.remote()
                        doing[another.begin.remote(sent)] = another, None
                        if shard is not None:
                            yield Failed(shard, "Its worker died.", str(error))
                        continue
                    idle.append(worker)
                    false_starts = 0
                    if shard is not None:
                        yield event
            except WorkersLost:
                crew.clear()  # actors end with their agent
                raise
            finally:
                for worker in crew:
                    ray.kill(worker)


def gpus_of(model: Any) -> int:
    """How many GPUs this process has the model on: as many does each actor need."""
    placed = getattr(model.hf, "hf_device_map", None) or {"": model.device.type}
    return len({str(place) for place in placed.values()} - {"cpu", "disk"})


def room(resources: dict[str, float], workers: int | None, gpus: int) -> int:
    """How many workers a cluster has room for, or the number asked for.

    Raises:
        WorkersError: if there is room for none, or for fewer than were asked for.
    """
    cpus = int(resources.get("CPU", 0))
    most = cpus - 1  # Ray's own tasks would wait for ever for the last one
    if gpus:
        most = min(most, int(resources.get("GPU", 0)) // gpus)
    asked = most if workers is None else workers
    if most < max(asked, 1):
        each = f"a CPU and {gpus} GPU{'s' if gpus > 1 else ''}" if gpus else "a CPU"
        wanted = (
            "one is needed. Add" if asked < 1 else f"{asked} are asked for. Ask for fewer, or add"
        )
        raise WorkersError(
            f"The Ray cluster has {cpus} CPUs and {int(resources.get('GPU', 0))} GPUs. A worker "
            f"takes {each}, and one CPU stays free for Ray: that is room for {max(most, 0)} "
            f"workers, and {wanted} machines."
        )
    return asked


class _Worker:
    """An actor."""

    def begin(self, sent: bytes) -> None:
        torch.set_num_threads(1)
        self._plan = pickle.loads(sent)

    def work(self, shard: int, batches: Sequence[Sequence[Row]]) -> Done | Failed:
        *_, last = attempt(self._plan, shard, batches)
        return last


def _ray() -> Any:
    # Ray warns that it will stop hiding the GPUs from an actor that asks for none.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray lets workers wait for everything else on the machine; these are what it is there for.
    os.environ.setdefault("RAY_worker_niceness", "0")
    try:
        import ray
    except ImportError as error:
        raise WorkersError(
            f"The executor ray needs Ray, which is not installed: {installing('ray')}."
        ) from error
    return ray


@contextmanager
def _cluster(ray: Any, workers: int | None) -> Iterator[dict[str, float]]:
    """The resources of the cluster that this process is in, or joins, or starts and ends."""
    if ray.is_initialized():
        yield ray.cluster_resources()
        return
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if os.environ.get("RAY_ADDRESS"):
        ray.init(**quiet)
    else:
        ray.init(
            address="local",
            # Ray counts, it does not measure: the CPU that stays free need not be a core.
            num_cpus=None if workers is None else workers + 1,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            **quiet,
        )
    try:
        yield ray.cluster_resources()
    finally:
        ray.shutdown()


def _agent(ray: Any) -> tuple[str, int]:
    """Where Ray's agent on this machine, the raylet, listens."""
    own = ray.get_runtime_context().get_node_id()
    (node,) = [node for node in ray.nodes() if node["NodeID"] == own]
    return node["NodeManagerAddress"], node["NodeManagerPort"]


def _check_agent(agent: tuple[str, int]) -> None:
    """Raise WorkersLost if the agent is gone: asked for more, Ray would end this process."""
    try:
        socket.create_connection(agent, timeout=60).close()
    except ConnectionRefusedError:
        raise WorkersLost(
            "Ray's agent on this machine has ended (the system does that when memory runs out, and "
            "so does `ray stop`). Every finished shard is kept; begin Ray again, with fewer "
            "workers if memory was short."
        ) from None


def _last_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[-1]
