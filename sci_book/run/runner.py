"""Evaluate a model on a data set: deterministic shards, resumable, one record a sample.

A run is laid out (`layout`), its folder taken (`folder`), its shards evaluated (`shards`) by an
executor (`executors`, `ray_executor`) and written here, each whole, so that a run that is cut off
loses at most the shards in hand. Timings and messages lie beside, in `log.jsonl`.
"""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, get_args

from sci_book.data.datasets import Dataset, load_dataset
from sci_book.files import write_whole
from sci_book.results.records import Records, read_records, shards_of
from sci_book.run import folder, log
from sci_book.run.engines import RunEngine, check_can
from sci_book.run.executors import Executor, Inline, Processes, leave_if_reading_the_script
from sci_book.run.layout import SMALL_MODEL, TOP, Kept, Plan, make_plan
from sci_book.run.lock import held
from sci_book.run.parts import WHOLE, RunPart
from sci_book.run.progress import Progress
from sci_book.run.shards import Batch, Done
from sci_book.run.trajectories import TRANSFORMERS
from sci_core.engine.questions import Noise
from sci_core.families.models import VisionLanguageModel
from sci_core.families.named import check_choice
from sci_core.methods import Method

ExecutorName = Literal["inline", "processes", "ray"]
MOST_WORKERS = 8
MOST_TRIES = 3


class Unfinished(RuntimeError):
    """A run ended before all its shards were written; the same call goes on with the rest."""

    exit_status = 3


def evaluate(
    model: VisionLanguageModel,
    dataset: Dataset | str,
    methods: Sequence[Method | str],
    out: str | Path,
    *,
    limit: int | None = None,
    batch_size: int = 64,
    max_new_tokens: int | None = None,
    top: int = TOP,
    noise: Noise = "wrap",
    record: Kept = "logits",
    rounds: Sequence[str] = (),
    shards: int | None = None,
    executor: ExecutorName | Executor | None = None,
    workers: int | None = None,
    progress: bool = True,
    part: RunPart = WHOLE,
    engine: RunEngine = TRANSFORMERS,
) -> Records | None:
    """Answer every row under every round and every method, into Parquet records in `out`.

    A run that was cut off goes on where it stopped; a finished one is only read, and so is one of
    more methods and rounds. A row that cannot be reworded is left out of the methods that need it
    (`Records.left_out`), and kept for the others.

    Args:
        dataset: a loaded data set (or `hashed_part` of one), or a name for `load_dataset` (with
            `limit`).
        methods: presets by name, or any `Method`; "base" is always there, as the original round.
        batch_size: questions at a time; part of the stamp, for it may turn a near-tie.
        max_new_tokens: of every answer; by default 64 of a free one (a caption) and 8 of any other.
        top: how many tokens of each round, and of VC, a record keeps beside those decoded.
        noise: where a dummy picture's noise is added (`engine.start`).
        record: "logits", for sweeps without decoding; or "answers" alone, a tenth of the bytes, for
            which short answers need not read every round at every step. The answers are the same.
        rounds: read besides those of the methods. DRBench is built from those of `SCI5`.
        shards: how many files; by default what the folder has, or one a block of 8 batches (in a
            small run, where some worker would idle, fewer batches a file).
        executor: "inline" (this process), "processes" or "ray"; by default processes where there
            are several workers. A script that uses processes needs the usual `if __name__ ==
            "__main__":`.
        workers: each has the model on one torch thread; by default one a core for a small model on
            the processor, otherwise 1. Ray's default is all that its cluster has room for.
        progress: show a bar with the remaining time on a terminal, plain lines elsewhere.
        part: of several commands that share the run in `out`, on as many machines as one likes:
            this one's shards alone are evaluated, in a folder of their own below `out`.
        engine: what decodes; another than transformers records answers alone, in this process.

    Returns:
        the records; None while shards of other parts are missing.

    Raises:
        RecordsError: if `out` holds records of another run, or another run is at work there.
        Unfinished: if shards failed three times each, or the disk is full; the others are written.
        WorkersError: if no worker can begin, or Ray is not installed.
        ValueError: for an unknown method, data set, noise or executor, two methods of one name, no
            worker, or what the engine cannot do.
    """
    out = Path(out)
    if engine.said:
        check_can(engine.said["name"], record, executor, workers)
    chosen = _executor(executor, workers, model)
    if isinstance(chosen, Processes):
        leave_if_reading_the_script()  # before the folder, which is the first process's
    if isinstance(dataset, str):
        dataset = load_dataset(dataset, limit=limit)
    elif limit is not None:
        raise ValueError("limit goes with a data set's name; use load_dataset(name, limit=…).")
    plan = make_plan(
        model,
        dataset,
        methods,
        batch_size=batch_size,
        max_new_tokens=max_new_tokens,
        top=top,
        noise=noise,
        record=record,
        rounds=rounds,
        shards=shards_of(out) or shards,
        parts=part.count,
        engine=engine,
    )
    for _ in range(2):  # again where a damaged shard was set aside
        if not folder.holds(out, plan.stamp):
            folder.check_owner(out, plan.stamp)
            _fill(plan, chosen, out, part, dataset.name, progress)
            if part != WHOLE and folder.missing_shards(plan, out):
                return None
        records = folder.read_or_set_aside(out, plan.stamp)
        if records is not None:
            return records
    return read_records(out)


def _fill(plan: Plan, executor: Executor, out: Path, part: RunPart, name: str, show: bool) -> None:
    """Evaluate what the folder of a run lacks of a part."""
    if folder.missing_shards(plan, out, part):
        own = part.folder(out)
        what = f"{plan.stamp['model']} on {name}"
        what += f", part {part.number} of {part.count}" if part != WHOLE else ""
        with space(out), held(own):
            folder.claim(own, plan.stamp)
            missing = folder.missing_shards(plan, out, part)
            _run(plan, executor, own, part.of(len(plan.shards)), missing, what, show)


def _run(
    plan: Plan,
    executor: Executor,
    out: Path,
    shards: Sequence[int],
    missing: Sequence[int],
    what: str,
    show: bool,
) -> None:
    """Evaluate and write those of some shards that are missing, in a folder that is held."""
    sizes = {shard: sum(map(len, plan.shards[shard])) for shard in shards}
    waiting, tries, set_aside = deque(missing), Counter[int](), dict[int, str]()
    decoded = Counter[int]()  # rows by shard that the bar already counts
    total = sum(sizes.values())
    done = total - sum(sizes[shard] for shard in missing)
    with (
        Progress(total, done, what, show, plan.stamp["batch_size"]) as bar,
        closing(executor.run(plan, waiting)) as events,
    ):
        for event in events:
            if isinstance(event, Batch):
                decoded[event.shard] += event.rows
                bar.advance(event.rows, event.seconds, event.worker)
            elif isinstance(event, Done):
                write_whole(plan.path(out, event.shard), event.content)
                log.append(out, event.shard, event.report)
                bar.read(event.report["readings"], event.report["spared"])
                # All of its rows, where nothing was heard of the batches (Ray).
                rest = sizes[event.shard] - decoded.pop(event.shard, 0)
                bar.advance(rest, event.report["seconds"], event.report["worker"])
            else:
                tries[event.shard] += 1
                bar.advance(-decoded.pop(event.shard, 0))
                failure = {"failed": event.error, "try": tries[event.shard]}
                log.append(out, event.shard, {**failure, "details": event.details})
                if tries[event.shard] < MOST_TRIES:
                    waiting.append(event.shard)
                else:
                    set_aside[event.shard] = event.error
    if set_aside:
        first = min(set_aside)
        raise Unfinished(
            f"{len(set_aside)} of {len(shards)} shards failed {MOST_TRIES} times and are set "
            f"aside, the first shard {first} ({set_aside[first]}); {out / log.LOG} has all. The "
            "other shards are written."
        )


def _executor(
    executor: ExecutorName | Executor | None, workers: int | None, model: VisionLanguageModel
) -> Executor:
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers}; expected 1 or more, or None for the default.")
    if executor is not None and not isinstance(executor, str):
        return executor
    if executor == "ray":
        from sci_book.run.ray_executor import Ray

        return Ray(workers)
    count = default_workers(model) if workers is None else workers
    executor = executor or ("processes" if count > 1 else "inline")
    check_choice("executor", executor, get_args(ExecutorName))
    if executor == "processes":
        return Processes(count)
    if workers is not None and workers > 1:
        raise ValueError(
            f"workers={workers} with the executor inline, which is one; leave one out."
        )
    return Inline()


def default_workers(model: VisionLanguageModel) -> int:
    """Processes that `evaluate` uses where nobody says how many."""
    if model.device.type != "cpu" or model.parameters > SMALL_MODEL:
        return 1
    # A container or a batch system may give this process fewer cores than the machine has.
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST_WORKERS, len(affinity(0)) if affinity else os.cpu_count() or 1)


@contextmanager
def space(out: Path) -> Iterator[None]:
    """Say in a sentence that the disk is full; whatever has its final name is whole."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Unfinished(
            f"There is no space left for {out} ({error.strerror}). What is written there is whole; "
            "make room and go on."
        ) from error
