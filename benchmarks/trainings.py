"""Make the registered trainings that are missing, one after another, and judge each.

    python benchmarks/trainings.py --plan
    SCI_COMMIT=… nice -n 19 python benchmarks/trainings.py

Run it from a copy of one commit, so that all are made by the same code, and call it again whenever
it was stopped: a training goes on from its last saved state. Qwen2-VL and LLaVA-NeXT alternate. A
finished one is read under every input alone on the rows of the conditions (no method is decoded),
and what is to be kept lies in `runs/finished`: the checkpoint, and what was found of it as JSON.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import torch
from pilots import judge  # beside this file

from sci_book import resources
from sci_book.files import json_text
from sci_book.pocket.curriculum import seed_of

ROOT = Path(__file__).resolve().parents[1]
FINISHED = resources.RUNS / "finished"
ORDER = (
    *((family, str(number)) for number in range(4) for family in ("qwen2_vl", "llava_next")),
    ("qwen2_vl", "sister-0"),
    *((family, "4") for family in ("qwen2_vl", "llava_next")),
)


def command(family: str, training: str) -> list[str]:
    """What makes a training, or goes on with it."""
    return ["train-pocket", "--arch", family, "--training", training]


def make(family: str, training: str) -> None:
    """Train, judge and lay out one training."""
    name = f"{family}-{training}"
    subprocess.run(
        [sys.executable, "-m", "sci_book", *command(family, training)],
        cwd=ROOT,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    )
    torch.set_num_threads(1)
    checkpoint = resources.RUNS / "checkpoints" / name
    found = judge(checkpoint, recipe=family, sister=training.startswith("sister"))
    time = json.loads((resources.RUNS / "training" / name / "time.json").read_text("utf-8"))
    commit = os.environ.get("SCI_COMMIT")  # of the copy, which has no history
    found = {**found, "seed": seed_of(family, training), "commit": commit, **time}
    shutil.copytree(checkpoint, FINISHED / name, dirs_exist_ok=True)
    text = json_text(found, indent=1, ensure_ascii=False) + "\n"
    (FINISHED / f"{name}.json").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", action="store_true", help="say what is missing, and stop")
    plan = parser.parse_args().plan
    for family, training in ORDER:
        if not (FINISHED / f"{family}-{training}.json").is_file():
            print(f"missing: sci {shlex.join(command(family, training))}", flush=True)
            if not plan:
                make(family, training)


if __name__ == "__main__":
    main()
