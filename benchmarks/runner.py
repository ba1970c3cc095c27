"""What running costs beside the model, against the levels that are asked for.

    python benchmarks/runner.py --json benchmarks/results/runner/cpu.json

- *Overhead*: pocket rows through the whole runner in this process; what is left of the time when
  decoding (pictures and prompts into answers, by the engine) is taken away, for each sample.
- *Records*: made-up records, as a pocket run has them, through layout, shards on disk, the scan of
  a resumed run, and the merge into one file; time and peak memory of a process of its own.
- *Processes*: rows a second of two worker processes, with the model loaded, over this process.
- *Finished*: the whole command `sci evaluate` on a finished run of all pocket rows.

Time on the clock of a machine that others may use too: the best of some repetitions, that take
turns where two are compared, with the load beside them.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sci_book.data.datasets import Dataset, Row, load_dataset
from sci_book.files import json_text, write_whole
from sci_book.papers.sci import paper
from sci_book.papers.shared.stamp import device_name
from sci_book.pipeline.reproduce import pocket_checkpoints
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.records import Records, read_records, write_records
from sci_book.run import runner, shards
from sci_book.run.method_sets import STANDARD_METHODS
from sci_book.run.shards import Batch
from sci_core.families.models import load_model
from sci_core.methods import Method

ROOT = Path(__file__).resolve().parents[1]


def overhead(rows: int = 512) -> dict[str, Any]:
    """Milliseconds a sample that do not go into decoding, from the rows to the files."""
    model, dataset = load_model(pocket_checkpoints()[0]), load_dataset("pocket", limit=rows)
    spent = 0.0
    decode = shards.decode

    def timed(*arguments: Any, **settings: Any) -> Any:
        nonlocal spent
        began = time.perf_counter()
        try:
            return decode(*arguments, **settings)
        finally:
            spent += time.perf_counter() - began

    shards.decode = timed
    found = []
    try:
        for _ in range(3):
            with tempfile.TemporaryDirectory() as out:
                spent, began = 0.0, time.perf_counter()
                runner.evaluate(
                    model,
                    dataset,
                    STANDARD_METHODS,
                    out,
                    executor="inline",
                    progress=False,
                )
                whole = time.perf_counter() - began
            found.append(1000 * (whole - spent) / len(dataset))
    finally:
        shards.decode = decode
    return {"rows": len(dataset), "milliseconds_a_sample": min(found), "all": found}


def made_up(rows: int) -> tuple[Dataset, Callable[[Sequence[Row]], list[dict]]]:
    """So many rows, and what gives their records: frozen ones under the rows' own names."""
    few = read_records(FROZEN_RECORDS / "pocket-qwen2vl.parquet").take(np.arange(0, 16_000, 32))
    frozen = few.table.to_pylist()
    drawn = tuple(
        Row(
            dataset="made up",
            index=number,
            position=number,
            group=str(number),
            question_type="yesno",
            question=f"Is it {number}? Please answer yes or no.",
            answer="yes",
            image_hash=f"{number * 2654435761 % 2**32:016x}",
        )
        for number in range(rows)
    )

    def records_of(batch: Sequence[Row]) -> list[dict]:
        names = ("dataset", "index", "position", "group", "image_hash")
        return [
            {**frozen[row.index % len(frozen)], **{name: getattr(row, name) for name in names}}
            for row in batch
        ]

    return Dataset("made up", drawn, {"made up": "none"}, {"made up": rows}), records_of


def records(rows: int = 100_000) -> dict[str, Any]:
    """Seconds by part, and the peak memory of this process, for so many made-up records."""
    model = load_model(pocket_checkpoints()[0], device="cpu")
    dataset, records_of = made_up(rows)
    evaluate_rows = shards.evaluate_rows
    shards.evaluate_rows = lambda plan, batch: shards.Evaluated(records_of(batch), [], [])
    settings = {"executor": "inline", "progress": False}
    seconds, before = {}, _processor_seconds(resource.RUSAGE_SELF)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            out, merged = Path(scratch) / "run", Path(scratch) / "merged.parquet"
            began = time.perf_counter()
            runner.evaluate(model, dataset, STANDARD_METHODS, out, **settings)
            seconds["layout, shards, write, read"] = time.perf_counter() - began
            files = sorted(out.glob("shard-*"))
            for file in files[::10]:
                file.unlink()
            began = time.perf_counter()
            runner.evaluate(model, dataset, STANDARD_METHODS, out, **settings)
            seconds["scan, a tenth again, read"] = time.perf_counter() - began
            began = time.perf_counter()
            write_records(merged, read_records(out))
            seconds["read and merge"] = time.perf_counter() - began
            size = sum(file.stat().st_size for file in files)
            kept = {"shards": len(files), "bytes_a_row": size / rows}
            kept["merged_bytes_a_row"] = merged.stat().st_size / rows
    finally:
        shards.evaluate_rows = evaluate_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30
    total = {"seconds": sum(seconds.values()), "gib": peak}
    total["processor_seconds"] = _processor_seconds(resource.RUSAGE_SELF) - before
    return {"rows": rows, **total, "parts": seconds, **kept}


def processes(rows: int = 2000, repetitions: int = 2) -> dict[str, Any]:
    """Rows a second of two workers over this process, both from their first batch on."""
    model, dataset = load_model(pocket_checkpoints()[0]), load_dataset("pocket", limit=rows)
    plan = runner.make_plan(model, dataset, STANDARD_METHODS, batch_size=16)
    found: dict[str, list[float]] = {"inline": [], "processes": []}
    for _ in range(repetitions):
        for name, executor in (("inline", runner.Inline()), ("processes", runner.Processes(2))):
            times, rows_done = [], []
            for event in executor.run(plan, deque(range(len(plan.shards)))):
                if isinstance(event, Batch):
                    times.append(time.perf_counter())
                    rows_done.append(event.rows)
            found[name].append(sum(rows_done[1:]) / (times[-1] - times[0]))
    best = {name: max(rates) for name, rates in found.items()}
    ratio = best["processes"] / best["inline"]
    return {"rows": len(dataset), "shards": len(plan.shards), "ratio": ratio, "rates": found}


def finished_command(repetitions: int = 5) -> dict[str, Any]:
    """Seconds of the whole command on a finished run of all pocket rows."""
    checkpoint = pocket_checkpoints()[0]
    frozen = read_records(FROZEN_RECORDS / f"{checkpoint.name}.parquet")
    places = {key: place for place, key in enumerate(frozen.keys)}
    plan = runner.make_plan(load_model(checkpoint), load_dataset("pocket"), _methods(frozen))
    # As a run of today would have written them: frozen records name the rules of their day.
    frozen = replace(frozen, stamp=plan.stamp)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        for number, shard in enumerate(plan.shards):
            rows = sorted(places[row.dataset, row.index] for batch in shard for row in batch)
            write_records(plan.path(out, number), frozen.take(np.array(rows)))
        write_whole(out / "stamp.json", json_text(dict(plan.stamp)).encode())
        command = [sys.executable, "-m", "sci_book", "evaluate", "--out", str(out)]
        command += ["--model", str(checkpoint)]
        seconds, processor = [], []
        for _ in range(repetitions + 1):
            began, before = time.perf_counter(), _processor_seconds(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
            seconds.append(time.perf_counter() - began)
            processor.append(_processor_seconds(resource.RUSAGE_CHILDREN) - before)
    return {"rows": len(frozen.table), "seconds": min(seconds[1:]), "all": seconds[1:],
            "checked_anew": seconds[0], "processor_seconds": min(processor[1:])}  # fmt: skip


def _processor_seconds(whose: int) -> float:
    """User and system time: what the clock would show on a machine with nothing else to do."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def _methods(frozen: Records) -> list[Method]:
    lists = ("textual", "visual")
    return [
        Method(**{**fields, **{name: tuple(fields[name]) for name in lists}})
        for fields in frozen.stamp["methods"]
    ]


PARTS = {
    "overhead": overhead,
    "records": records,
    "processes": processes,
    "finished": finished_command,
}
LEVELS = (
    ("overhead", "milliseconds_a_sample", "at most", 2.0),
    ("records", "seconds", "at most", 60.0),
    ("records", "gib", "at most", 1.0),
    ("processes", "ratio", "at least", 1.6),
    ("finished", "seconds", "at most", 3.0),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append", help="one part, or several")
    parser.add_argument("--json", type=Path, help="where to put the results; parts are kept apart")
    arguments = parser.parse_args()
    chosen = arguments.part or list(PARTS)
    torch.set_num_threads(1)
    if len(chosen) > 1:  # each in a process of its own, for the memory of one is not another's
        for part in chosen:
            file = ["--json", str(arguments.json)] if arguments.json else []
            subprocess.run([sys.executable, __file__, "--part", part, *file], check=True)
        return
    if (
        chosen[0] != "records"
    ):  # made-up rows: drawing and reading pictures is no part of its memory
        paper.draw()
    before = os.getloadavg()[0]
    result = PARTS[chosen[0]]() | {"load_before": before, "load_after": os.getloadavg()[0]}
    for part, measure, way, level in LEVELS:
        if part == chosen[0]:
            holds = result[measure] <= level if way == "at most" else result[measure] >= level
            print(f"{part}: {measure} {result[measure]:.2f}, {way} {level:g}: "
                  f"{'holds' if holds else 'FAILS'}", flush=True)  # fmt: skip
    if arguments.json:
        whole = json.loads(arguments.json.read_text()) if arguments.json.is_file() else {}
        whole |= {
            "device": f"{device_name()}, one thread a worker",
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
        }
        whole[chosen[0]] = result
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json_text(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
