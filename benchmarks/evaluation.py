"""What an evaluation costs: processor time, tokens by phase, memory and bytes a row.

    python benchmarks/evaluation.py checkpoints/pocket-qwen2vl --blocks 1

Whole blocks of the pocket twins, all seven rounds and all standard methods, in this process on one
torch thread. Processor time, not the clock, so that a busy machine changes little; the clock of a
whole run is about `rows x time / workers`.
"""

import argparse
import resource
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import torch

from sci_core import engine
from sci_core.evaluation.datasets import load_dataset
from sci_core.evaluation.runner import STANDARD_METHODS, make_plan, run_shard
from sci_core.models import load_model


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
    counts = _count(plan.model)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        run_shard(plan, 0, Path(folder))
        spent = time.process_time() - began
        size = plan.path(Path(folder), 0).stat().st_size

    print(f"{rows} rows, {1000 * spent / rows:.1f} ms of processor time a row")
    for phase in ("prompts", "steps"):
        real, padded = counts[phase], counts[f"{phase} padded"]
        print(
            f"{phase}: {real / rows:.0f} tokens a row, {padded / rows:.0f} with padding "
            f"({1 - real / padded:.0%} of it padding), {counts[f'{phase} calls']} calls"
        )
    print(f"vision: {counts['pictures'] / rows:.2f} pictures a row")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most")
    print(f"records: {size / rows:.0f} bytes a row")


def _count(model) -> Counter:
    """Count the tokens that go through the language model and the pictures through the tower."""
    counts = Counter()
    phase = "prompts"
    make_rounds, advance = engine.plan, engine._TwoPhase.advance
    hidden, encode = model.hidden, model.encode

    def counted_plan(rounds, image_token_id):
        made = make_rounds(rounds, image_token_id)
        counts["prompts"] += len(made.prefix) + len(made.owners)
        return made

    def counted_advance(rounds, *arguments):
        nonlocal phase
        phase = "steps"
        advance(rounds, *arguments)
        counts["steps"] += int(rounds._needed.sum())
        phase = "prompts"

    def counted_hidden(embeddings, *rest):
        counts[f"{phase} padded"] += embeddings.shape[0] * embeddings.shape[1]
        counts[f"{phase} calls"] += 1
        return hidden(embeddings, *rest)

    def counted_encode(pictures):
        counts["pictures"] += len(pictures)
        return encode(pictures)

    engine.plan, engine._TwoPhase.advance = counted_plan, counted_advance
    model.hidden, model.encode = counted_hidden, counted_encode
    return counts


if __name__ == "__main__":
    main()
