"""Where shards are evaluated: in this process, in spawned ones, or by Ray (`ray_executor`).

An executor turns shards into the bytes of their files; the one process that holds the folder writes
them, so a worker that dies leaves nothing behind. The bytes are the same where each computes on one
torch thread: workers always, `Inline` for a small model (`shards.one_thread`).
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import connection
from typing import Any, Protocol, runtime_checkable

import torch

from sci_book.data.datasets import Row
from sci_book.run.layout import Plan
from sci_book.run.shards import Done, Event, Failed, attempt, one_thread

NO_GUARD = 77  # exit status of a worker whose script, read again inside it, asks for workers
NEEDS_GUARD = 'A script that asks for workers must do its work under `if __name__ == "__main__":`'
# Workers that end one after another before they begin: there is no room, or no model, for them.
MOST_FALSE_STARTS = 3


class WorkersError(RuntimeError):
    """No worker can begin: the model cannot be loaded there, or there is no room for it."""


class WorkersLost(WorkersError):
    """What the workers ran on is gone in the middle of a run; the same call goes on elsewhere."""

    exit_status = 3


def leave_if_reading_the_script() -> None:
    """End this process if it is a worker that is only being started."""
    # What multiprocessing itself asks before it starts a process.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(NO_GUARD)


@runtime_checkable
class Executor(Protocol):
    """Evaluates shards of a plan."""

    def run(self, plan: Plan, waiting: deque[int]) -> Iterator[Event]:
        """Take shards from `waiting` until it is empty; every shard ends in `Done` or `Failed`.

        Whoever iterates may put a shard that failed back into `waiting`. Closing the iterator
        stops all work at once.

        Raises:
            WorkersError: if no worker can begin.
            WorkersLost: if what they run on is gone; the shards in hand are lost, and no other.
        """


@dataclass(frozen=True)
class Inline:
    """In this process, one shard after another."""

    def run(self, plan: Plan, waiting: deque[int]) -> Iterator[Event]:
        with one_thread(plan.model):
            while waiting:
                shard = waiting.popleft()
                yield from attempt(plan, shard, plan.shards[shard])


@dataclass(frozen=True)
class Processes:
    """In new processes of this machine, each with the model on one torch thread.

    On a machine with several GPUs the workers take turns with them. A worker that dies is
    replaced; the shard it had in hand has failed.
    """

    workers: int

    def run(self, plan: Plan, waiting: deque[int]) -> Iterator[Event]:
        sent = pickle.dumps(replace(plan, shards=()))
        with off_gpu(plan.model):
            yield from self._run(plan, waiting, sent)

    def _run(self, plan: Plan, waiting: deque[int], sent: bytes) -> Iterator[Event]:
        crew = [_Worker(sent, place) for place in range(min(self.workers, len(waiting)))]
        false_starts = 0
        try:
            while waiting or any(worker.shard is not None for worker in crew):
                for worker in crew:
                    if waiting and worker.free:
                        shard = waiting.popleft()
                        worker.give(shard, plan.shards[shard])
                ready = connection.wait([worker.connection for worker in crew])
                for worker in [worker for worker in crew if worker.connection in ready]:
                    try:
                        message = worker.connection.recv()
                    except (EOFError, OSError):  # in the middle of a message, or before one
                        if worker.status() == NO_GUARD:
                            raise WorkersError(f"{NEEDS_GUARD}; this one does not.") from None
                        false_starts += not worker.begun
                        if false_starts == MOST_FALSE_STARTS:
                            raise WorkersError(
                                f"{MOST_FALSE_STARTS} worker processes ended before they had "
                                f"loaded the model ({worker.ending()}). Use fewer workers."
                            ) from None
                        worker.connection.close()
                        crew[crew.index(worker)] = _Worker(sent, worker.place)
                        if worker.shard is not None:
                            yield Failed(worker.shard, f"Its worker died: {worker.ending()}.")
                        continue
                    if message == _BEGUN:
                        worker.begun, false_starts = True, 0
                    elif isinstance(message, _CannotBegin):
                        raise WorkersError(
                            f"A worker process cannot load the model: {message.error}."
                        )
                    else:
                        if isinstance(message, Done | Failed):
                            worker.shard = None
                        yield message
        finally:
            for worker in crew:
                worker.end()


@contextmanager
def off_gpu(model: Any) -> Iterator[None]:
    """Leave the GPU to workers: this process's own copy of the model waits in memory meanwhile.

    One that is quantised, or spread over devices, cannot be moved and stays where it is.
    """
    device = model.device
    moves = device.type == "cuda" and getattr(model.hf, "hf_device_map", None) is None
    if moves:
        model.hf.to("cpu")
        torch.cuda.empty_cache()
    try:
        yield
    finally:
        if moves:
            model.hf.to(device)


_BEGUN = "begun"


@dataclass(frozen=True)
class _CannotBegin:
    error: str


class _Worker:
    """A worker process, seen from the run that it works for."""

    def __init__(self, sent: bytes, place: int):
        self.place, self.begun = place, False
        self.shard: int | None = None
        context = multiprocessing.get_context("spawn")
        self.connection, its_own = context.Pipe()
        self._process = context.Process(target=_serve, args=(its_own, sent, place), daemon=True)
        self._process.start()
        its_own.close()  # so that the connection ends when the process does

    @property
    def free(self) -> bool:
        return self.begun and self.shard is None

    def give(self, shard: int, batches: Sequence[Sequence[Row]]) -> None:
        self.shard = shard
        # A worker that has died meanwhile is noticed where its answer is waited for.
        with suppress(BrokenPipeError):
            self.connection.send((shard, batches))

    def status(self) -> int:
        """The exit status of a worker that has ended, or is about to."""
        self._process.join()
        return self._process.exitcode

    def ending(self) -> str:
        status = self.status()
        if status >= 0:
            return f"it ended with status {status}"
        name = signal.Signals(-status).name
        hint = ", which the system does when memory runs out" if name == "SIGKILL" else ""
        return f"it was killed ({name}{hint})"

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serve(run: Any, sent: bytes, place: int) -> None:
    """In a worker process: load the model, then evaluate what comes until nothing comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    from transformers.utils import logging  # of a second's import, which the run can do without

    # The run shows one bar; a worker's own would also leave a lock behind when it is ended.
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    try:
        if torch.cuda.is_available():
            torch.cuda.set_device(place % torch.cuda.device_count())
        plan = pickle.loads(sent)
    except Exception as error:
        traceback.print_exc()
        run.send(_CannotBegin(f"{type(error).__name__}: {error}"))
        return
    run.send(_BEGUN)
    while True:
        shard, batches = run.recv()
        for event in attempt(plan, shard, batches):
            run.send(event)


def _end_with_the_run() -> None:
    """A run that was killed takes its workers with it."""
    multiprocessing.parent_process().join()
    os._exit(1)
