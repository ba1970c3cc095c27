"""The benchmark of overhead at full size: what is not in the file yet is measured and written.

    python benchmarks/overhead.py --preset gpu
    python benchmarks/overhead.py --preset gpu --dry-run

One command stays below nine minutes: it begins no line (`overhead_lines`) that would not end in
time. The file is whole after every line, and the same command goes on from it, on the same device
with the same versions and settings. Nothing is fetched. What it needs beside torch is listed in
`gpu-packages.txt`.
"""

import hashlib
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
import transformers
from overhead_lines import DRY_RUN, GPU, SPEED, Line, Preset, line_of, lines
from overhead_measure import Subject, measure
from overhead_runs import copy_rate, device_name, matmul_rate
from overhead_work import WARM_UPS, expected, print_plan

import sci_core
from sci_book.files import json_text, write_whole
from sci_book.papers.sci.overhead import LAYOUT

SECONDS = 500.0
"""Of one command, with time to begin and to end, below nine minutes."""

MARGIN = 1.3
"""A line is begun if so many times its expected seconds are left."""

MEASURED = ("matmul_gflops", "copy_gbytes", "seconds")
"""Settings that were measured, and so do not tell one file from another."""


class OtherResults(ValueError):
    """A file of results that were not measured here, or not like this."""


def measure_all(path: Path, seconds: float, *, dry_run: bool) -> dict[str, Any]:
    """Measure the lines that the file lacks, as many as `seconds` allow; the file's content.

    Raises:
        OtherResults: the file's device, versions or settings are others.
    """
    began = time.perf_counter()
    preset = DRY_RUN if dry_run else GPU
    results = _begun(path, preset)
    before = results["settings"]["seconds"]
    there = {line_of(row) for row in results["rows"]}
    pending = [line for line in lines(preset) if line not in there]
    print(f"{results['device']}: {len(there)} lines are in {path}, {len(pending)} are not.")
    print_plan(preset, pending)

    subjects: dict[str, Subject] = {}
    work, spent = 0.0, 0.0
    results["failed"] = []
    while line := _next(preset, pending, seconds - (time.perf_counter() - began), work, spent):
        pending.remove(line)
        try:
            if line.model not in subjects:
                subjects[line.model] = Subject(preset, line.model, results["settings"])
            base = [row for row in results["rows"] if line_of(row) == line.base]
            subjects[line.model].questions(line.pixels)  # what comes first takes longer
            first = time.perf_counter()
            found = measure(subjects[line.model], line, expected(preset, line).rounds, base)
        except Exception as error:  # what does not run on this device must not cost the rest
            results["failed"].append({**asdict(line), "error": f"{type(error).__name__}: {error}"})
            print(f"{line}: {type(error).__name__}: {error}", flush=True)
            found = []
        else:
            work += expected(preset, line).seconds
            spent += time.perf_counter() - first
        results["rows"] += found
        results["settings"]["seconds"] = before + time.perf_counter() - began
        write_whole(path, (json_text(results, indent=1) + "\n").encode())
        _print(found)
    print(f"{len(pending)} lines are left; the same command measures them." if pending else "Done.")
    return results


def _next(
    preset: Preset, pending: Sequence[Line], left: float, work: float, spent: float
) -> Line | None:
    """The most valuable line that should end in the seconds left.

    `work` seconds were expected of the lines so far, which took `spent`.
    """
    pace = spent / work if work else 1.0
    return next(
        (line for line in pending if MARGIN * pace * expected(preset, line).seconds <= left), None
    )


def _begun(path: Path, preset: Preset) -> dict[str, Any]:
    """What the file holds, or the beginning of a new one."""
    here = {
        "preset": preset.name,
        "device": device_name(preset.device),
        "dtype": str(preset.dtype).removeprefix("torch."),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "cuda": torch.version.cuda,
            "flash-attn": _version("flash-attn"),
            "sources": _sources(),
        },
        "settings": {
            "layout": LAYOUT,
            "attention": "sdpa",
            "warm_ups": WARM_UPS,
            "rounds": list(preset.rounds),
            "threads": torch.get_num_threads(),
        },
    }
    if path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))
        settings = results.get("settings", {})
        there = {name: results.get(name) for name in here}
        there["settings"] = {
            name: value for name, value in settings.items() if name not in MEASURED
        }
        others = [name for name in here if there[name] != here[name]]
        if others:
            raise OtherResults(
                f"{path} was measured with other values of {', '.join(others)}: "
                + "; ".join(f"{name} {there[name]}, here {here[name]}" for name in others)
                + ". Give another --json, or move the file away."
            )
        return results
    here["settings"] |= {
        "matmul_gflops": matmul_rate(preset.device, preset.dtype),
        "copy_gbytes": copy_rate(preset.device),
        "seconds": 0.0,
    }
    return {**here, "rows": []}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _sources() -> str:
    """Tells the code that is measured and that measures from any other: 16 digits of its hash."""
    root = Path(sci_core.__file__).parents[1]
    files = [
        *(root / "sci_core").rglob("*.py"),
        root / "sci_book" / "papers" / "sci" / "overhead.py",
        *Path(__file__).parent.glob("overhead*.py"),
    ]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _print(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        text = f"{line_of(row)}, {row['new_tokens']} new:"
        if row["data"] == SPEED:
            text += f" {1000 * row['seconds_median']:.1f} ms, ratio {row['ratio_median']:.3f}"
            text += f", {100 * row['bound_share']:.0f} % of {row['bound']}"
        else:
            names = ("seconds_median", "ratio_median", "steps", "same", "near_ties", "else")
            text += "".join(f" {name} {row[name]:.4g}" for name in names if name in row)
        print(text, flush=True)
