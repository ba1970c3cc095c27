"""Kill an evaluation at random instants until it is finished, again and again; compare the bytes.

    python benchmarks/kill_loop.py --kills 100 --rows 400
    python benchmarks/kill_loop.py --kills 100 --rows 200 --longest 2 --command \
        --json benchmarks/results/runner/kills-command.json
    python benchmarks/kill_loop.py --kills 100 --rows 200 --longest 4 --ray \
        --json benchmarks/results/runner/kills-ray.json

Every run is a process group of its own that evaluates pocket rows into a folder. It is killed
(SIGKILL) at a random instant, sometimes the whole group, sometimes one worker only, and begun
again until it ends by itself. Then every shard must be, to the byte, what an undisturbed run in
one process wrote. Executors and numbers of workers take turns. With `--command` a run is the whole
command `sci evaluate`, killed while it starts, too; without, a fork that has the model already.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import torch

from sci_book.files import json_text

FINISHED, UNFINISHED = 0, 3


def killed_until_finished(
    run: Callable[[], object],
    chance: random.Random,
    longest: float,
    *,
    workers: bool = False,
    most: int | None = None,
) -> int:
    """Start `run` in a process group of its own and kill it, until it ends; how many were killed.

    Args:
        run: raises `runner.Unfinished` where it is to be called again.
        longest: seconds; an attempt is killed after a random part of it, if it still runs then. It
            grows with every attempt, so that slow machines come to an end too.
        workers: at every third kill spare the run and kill one of its workers.
        most: so many kills, then the run is left alone.

    Raises RuntimeError if `run` fails in any other way.
    """
    kills = 0
    while True:
        child = _forked(run)
        end = time.monotonic() + chance.uniform(0, longest)
        while (status := _ended(child)) is None and (kills == most or time.monotonic() < end):
            time.sleep(0.005)
        if status is None and workers and chance.random() < 1 / 3 and (crew := _children(child)):
            _kill(os.kill, chance.choice(crew))
            kills += 1
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status is None:
            _kill(os.killpg, child)
            kills += 1
            os.waitpid(child, 0)
        elif status == FINISHED:
            return kills
        elif status != UNFINISHED:
            raise RuntimeError(f"The run ended with status {status}; its traceback stands above.")
        longest *= 1.05


def _forked(run: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        run()
        status = FINISHED
    except BaseException as error:
        status = getattr(error, "exit_status", 1)
        if status != UNFINISHED:
            traceback.print_exc()
    finally:
        os._exit(status)  # nothing of the process that it was forked from may run here


def _ended(child: int) -> int | None:
    found, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _children(process: int) -> list[int]:
    # The kernel's list; where it is not kept (another system), whole groups are killed alone.
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in listed.read_text().split()] if listed.is_file() else []


def _kill(how: Callable[[int, int], None], process: int) -> None:
    with suppress(ProcessLookupError):  # it ended by itself in this very moment
        how(process, signal.SIGKILL)


def digests(folder: Path) -> dict[str, str]:
    """By file name, the checksum of every shard in a folder."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.glob("shard-*.parquet"))
    }


def main(arguments: Sequence[str] | None = None) -> None:
    from sci_book.data.datasets import load_dataset
    from sci_book.papers.sci import paper
    from sci_book.papers.shared.stamp import device_name
    from sci_book.pipeline.reproduce import pocket_checkpoints
    from sci_book.run import runner
    from sci_core.families.models import load_model

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="at least so many")
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=6.0, help="seconds before a kill, at most")
    parser.add_argument("--command", action="store_true", help="the whole command `sci evaluate`")
    parser.add_argument("--ray", action="store_true", help="Ray too; its start takes seconds")
    parser.add_argument("--json", type=Path, help="where to put the counts")
    chosen = parser.parse_args(arguments)

    torch.set_num_threads(1)
    paper.draw()
    checkpoint = pocket_checkpoints()[0]
    model = load_model(checkpoint, device="cpu")
    rows = load_dataset("pocket", limit=chosen.rows)
    executors = [("inline", 1), ("processes", 1), ("processes", 2), ("processes", 3)]
    executors += [("ray", 2)] * chosen.ray
    chance, total, runs = random.Random(chosen.seed), 0, []

    def evaluate(folder: Path, executor: str, workers: int) -> None:
        settings = {"batch_size": 8, "executor": executor, "workers": workers}
        runner.evaluate(model, rows, ["SCI3"], folder, progress=False, **settings)

    def become_the_command(folder: Path, executor: str, workers: int) -> None:
        words = ["--model", checkpoint, "--data", "pocket", "--limit", chosen.rows]
        words += ["--methods", "SCI3", "--batch-size", 8, "--out", folder]
        words += ["--executor", executor, "--workers", workers]
        output = os.open(os.devnull, os.O_WRONLY)
        os.dup2(output, sys.stdout.fileno())
        os.execv(sys.executable, [sys.executable, "-m", "sci_book", "evaluate", *map(str, words)])

    run = become_the_command if chosen.command else evaluate
    with tempfile.TemporaryDirectory() as scratch:
        evaluate(Path(scratch) / "undisturbed", "inline", 1)
        expected = digests(Path(scratch) / "undisturbed")
        while total < chosen.kills or len(runs) < len(executors):
            executor, workers = executors[len(runs) % len(executors)]
            folder = Path(scratch) / "disturbed"
            # A worker needs some seconds before it has its first shard, and so does a command.
            longest = chosen.longest * (1 + 2 * (executor != "inline") + 2 * chosen.command)
            kills = killed_until_finished(
                lambda folder=folder, executor=executor, workers=workers: run(
                    folder, executor, workers
                ),
                chance,
                longest,
                workers=executor == "processes",
            )
            if digests(folder) != expected:
                raise SystemExit(f"{executor}, {workers}: other bytes after {kills} kills.")
            shutil.rmtree(folder)
            total += kills
            runs.append({"executor": executor, "workers": workers, "kills": kills})
            print(f"{executor}, {workers}: {kills} kills, the same bytes ({total} in all)",
                  flush=True)  # fmt: skip
    print(
        f"{total} kills in {len(runs)} runs of {len(rows)} rows, {len(expected)} shards: all the "
        "same"
    )
    # Other bytes would have ended the loop above: what is written here is of runs that were alike.
    if chosen.json:
        asked = {key: value for key, value in vars(chosen).items() if key != "json"}
        found = {"device": device_name(), "cores": os.cpu_count(), "asked": asked}
        found |= {"kills": total, "shards": len(expected), "runs": runs}
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json_text(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
