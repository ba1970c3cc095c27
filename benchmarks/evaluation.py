"""What an evaluation costs: processor time, tokens, pictures, memory and bytes a row.

    python benchmarks/evaluation.py checkpoints/pocket-qwen2vl --blocks 1

Whole blocks of the pocket twins, all seven rounds and all standard methods, in this process on one
torch thread. Processor time, not the clock, so that a busy machine changes little; the clock of a
whole run is about `rows x time / workers`.
"""

import argparse
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

from sci_book.data.datasets import load_dataset
from sci_book.papers.sci.overhead import counted
from sci_book.run.layout import make_plan
from sci_book.run.method_sets import STANDARD_METHODS
from sci_book.run.shards import run_shard
from sci_core.families.models import load_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--data", default="pocket")
    parser.add_argument("--blocks", type=int, default=1, help="of about 512 rows each")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    plan = make_plan(
        load_model(arguments.model, device="cpu"), load_dataset(arguments.data), STANDARD_METHODS
    )
    # From the middle: blocks are in the order of picture hashes, so any is like any other.
    first = len(plan.shards) // 2
    chosen = plan.shards[first : first + arguments.blocks]
    plan = replace(plan, shards=(sum(chosen, ()),))
    rows = sum(map(len, plan.shards[0]))
    with tempfile.TemporaryDirectory() as folder, counted(plan.model) as counts:
        began = time.process_time()
        run_shard(plan, 0, Path(folder))
        spent = time.process_time() - began
        size = plan.path(Path(folder), 0).stat().st_size

    print(f"{rows} rows, {1000 * spent / rows:.1f} ms of processor time a row")
    print(
        f"language model: {counts['token_rows'] / rows:.0f} tokens a row, padding included, in "
        f"{counts['calls']} calls"
    )
    print(f"vision: {counts['pictures'] / rows:.2f} pictures a row; {plan.prefixes}")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most")
    print(f"records: {size / rows:.0f} bytes a row")


if __name__ == "__main__":
    main()
