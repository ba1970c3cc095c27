"""What the rounds cost beside plain decoding: time, and the work that explains it.

    python benchmarks/overhead.py --preset cpu --json benchmarks/results/cpu.json
    python benchmarks/overhead.py --preset gpu

On a processor all strategies (`sci_book.papers.sci.overhead`) run in one process, interleaved in
every round of measurement, and each is compared with the base of the same round. Weights are
random: time does not depend on their values, but for the gate, whose skip rate stands beside it.
Pictures are ready-made tensors, since workers prepare them ahead.

A last part runs `generate` with the trained pocket models on whole pictures of the pocket twins,
everything from picture to text included: "pocket" in the column of the data.

On a GPU (`overhead_gpu`) the models have the sizes of Qwen2-VL-7B and LLaVA-NeXT-8B. What a run
measures is written line by line; the same command again measures what is not in the file yet.
"""

import argparse
import gc
import platform
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import overhead_gpu
import torch
import transformers
from overhead_models import POCKET, made_up, pocket_llavanext, pocket_qwen2vl, random_model
from overhead_runs import (
    ATTENTION_FLOPS,
    NEW_TOKENS,
    PeakMemory,
    Run,
    call_seconds,
    device_name,
    matmul_rate,
    ratios,
    run,
)
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from sci_book.files import json_text
from sci_book.papers.sci.overhead import LAYOUT, MadeUpQuestions, counted, strategies
from sci_core import BASE, SCI3, SCI5, SCI7, Answer, Method, PrefixCache, generate, load_model
from sci_core.engine.engine import begin_rounds
from sci_core.families.models import VisionLanguageModel

METHODS = (SCI3, SCI5, SCI7)
WARM_UPS, ROUNDS = 2, 7
POCKET_ROWS, POCKET_BATCH, MOST_NEW_TOKENS = 64, 16, 8

ROOT = Path(__file__).resolve().parents[1]
GPU_RESULTS = "benchmarks/results/gpu.json"

CELLS = (
    (pocket_qwen2vl, (((640, 512), 1),)),
    (pocket_llavanext, (((160, 320), 1), ((160, 320), 16), ((580, 200), 1))),
)
"""Builders of models, each with what is measured: width and height in pixels, and batch size."""


def measure(
    model: VisionLanguageModel, size: tuple[int, int], batch: int, bar: tqdm
) -> list[dict[str, Any]]:
    """Rows of the table for all methods and strategies, after 1 and after 5 new tokens."""
    questions = made_up(model, size)
    warm = PrefixCache(constants_only=True)
    runs: dict[tuple, list[Run]] = {}
    for measured in range(-WARM_UPS, ROUNDS):
        for key, go in _runs(model, questions, batch, warm):
            found = go()
            if measured >= 0:
                runs.setdefault(key, []).append(replace(found, logits=None, tokens=None))
        bar.update()

    call = call_seconds(model, questions)
    rows: dict[int, list[dict[str, Any]]] = {1: [], NEW_TOKENS: []}
    base: list[dict[str, int]] = []
    reference = None
    for key, go in _runs(model, questions, batch, warm):
        marks: list[tuple[dict[str, int], float]] = []
        flops = FlopCounterMode(display=False, custom_mapping=ATTENTION_FLOPS)
        with counted(model) as counts, PeakMemory(model.device) as memory, flops:
            found = go(
                on_token=lambda c=counts, f=flops, m=marks: m.append(
                    (dict(c), f.get_total_flops() / 1e9)
                )
            )
        if key[1] == "base":
            base = [work for work, _ in marks]
        elif key[1] == "sequential" and key[3] == "own":
            reference = found
        for place, new_tokens in ((0, 1), (-1, NEW_TOKENS)):
            work, gflop = marks[place]
            took = [each.seconds[place] for each in runs[key]]
            plain = [each.seconds[place] for each in runs["base", "base", "none", "own"]]
            row = dict(zip(("method", "strategy", "cache", "prompts"), key, strict=True))
            row |= {"image_tokens": questions.picture.tokens, "new_tokens": new_tokens}
            row |= {"batch": batch, "seconds_median": median(took), **ratios(took, plain)}
            row["combining_share"] = median(each.combining for each in runs[key])
            row |= {"token_rows_ratio": work["token_rows"] / base[place]["token_rows"], **work}
            row |= {"gflop": gflop, "call_seconds": call}
            row |= {"peak_bytes": memory.bytes if place else None}
            if key[1] != "base" and key[3] == "own":
                row |= _compared(found, reference, new_tokens)
            rows[new_tokens].append(row)
    return [row for part in rows.values() for row in part]


def _runs(
    model: VisionLanguageModel, questions: MadeUpQuestions, batch: int, warm: PrefixCache
) -> list[tuple[tuple[str, str, str, str], Callable[..., Run]]]:
    """Everything that is measured, on new pictures: by method, strategy, prefix cache and prompts.

    Identical prompts in all rounds, so that no row is padded, are how the paper measured.
    """
    asked = questions.batch(BASE, batch)
    base = partial(run, model, BASE, partial(begin_rounds, model, asked))
    runs = [(("base", "base", "none", "own"), base)]
    for method in METHODS:
        asked = questions.batch(method, batch)
        for (strategy, cache), begin in strategies(model, asked, warm).items():
            if cache == "cold" and batch > 1:
                continue  # black then serves the batch, and little is to be seen
            gate = strategy == "two_phase_gate"
            go = partial(run, model, method, begin, gate=gate)
            runs.append(((method.name, strategy, cache, "own"), go))
        if batch == 1:
            same = strategies(model, questions.batch(method, 1, repeated=True), warm)
            go = partial(run, model, method, same["naive_batch", "none"])
            runs.append(((method.name, "naive_batch", "none", "identical"), go))
    return runs


def _compared(found: Run, reference: Run, new_tokens: int) -> dict[str, float]:
    """What a strategy skipped, and how it agrees with the rounds one after another."""
    same = found.tokens[:new_tokens] == reference.tokens[:new_tokens]
    row = {
        "skip_rate": 1 - float(found.looked[:new_tokens].mean()),
        "token_agreement": float(same.float().mean()),
    }
    if not found.gated:  # the gate leaves out logits that cannot matter
        row["largest_logit_difference"] = float((found.logits - reference.logits).abs().max())
    return row


def measure_pocket(name: str, bar: tqdm) -> list[dict[str, Any]]:
    """`generate` on whole pictures of the pocket twins, from picture to text, with the gate."""
    # Imported here, for they need packages that the preset gpu does not.
    from sci_book.data.datasets import load_dataset
    from sci_book.data.prompts import build_prompt

    model = load_model(ROOT / "checkpoints" / name, device="cpu")
    by_picture: dict[str, list] = {}
    for row in load_dataset("pocket"):
        by_picture.setdefault(row.image_hash, []).append(row)
    pictures = sorted(by_picture)
    random.Random(0).shuffle(pictures)
    chosen = [row for picture in pictures for row in by_picture[picture]][:POCKET_ROWS]
    images = [row.image() for row in chosen]
    prompts = [build_prompt(row, model.family) for row in chosen]

    def answer(method: Method, gate: bool = True) -> list[Answer]:
        return generate(
            model, images, prompts, method, MOST_NEW_TOKENS, batch_size=POCKET_BATCH, gate=gate
        )

    seconds: dict[str, list[float]] = {}
    for measured in range(-WARM_UPS, ROUNDS):
        for method in (BASE, *METHODS):
            began = time.perf_counter()
            answer(method)
            if measured >= 0:
                seconds.setdefault(method.name, []).append(time.perf_counter() - began)
        bar.update()

    rows, base = [], None
    for method in (BASE, *METHODS):
        with counted(model) as counts:
            found = answer(method)
        base = base or dict(counts)
        looks = [look for each in found for look in each.looked]
        same = [a.tokens == b.tokens for a, b in zip(found, answer(method, False), strict=True)]
        took = seconds[method.name]
        row = {"method": method.name, "strategy": "base" if method is BASE else "two_phase_gate"}
        row |= {"cache": "new", "prompts": "own", "data": "pocket", "model": name}
        row |= {"batch": POCKET_BATCH, "new_tokens": MOST_NEW_TOKENS}
        row |= {"image_tokens": model.processor.prepare(images[0]).tokens, "rows": len(found)}
        row |= {"seconds_median": median(took), **ratios(took, seconds["base"])}
        row |= {"token_rows_ratio": counts["token_rows"] / base["token_rows"], **counts}
        if method is not BASE:
            row |= {"skip_rate": 1 - sum(looks) / len(looks)}
            row |= {"token_agreement": sum(same) / len(same)}
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--json", type=Path, help=f"write the results here (gpu: {GPU_RESULTS})")
    gpu = parser.add_argument_group("of the preset gpu")
    gpu.add_argument(
        "--seconds",
        type=float,
        default=overhead_gpu.SECONDS,
        help="begin no line that would end later than so long after the start (%(default)s)",
    )
    gpu.add_argument(
        "--dry-run",
        action="store_true",
        help="the same lines on this processor, with models of a hundredth of the size, to runs/",
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    if arguments.preset == "cpu":
        if arguments.dry_run:
            parser.error("--dry-run is of the preset gpu; the preset cpu runs here as it is")
        _main_cpu(arguments.json)
        return
    if not arguments.dry_run and not torch.cuda.is_available():
        parser.error(
            "the preset gpu needs a GPU that torch can use; there is none here (--dry-run runs "
            "the same lines on this processor, with small models)"
        )
    path = ROOT / ("runs/overhead-dry-run.json" if arguments.dry_run else GPU_RESULTS)
    try:
        overhead_gpu.measure_all(
            arguments.json or path, arguments.seconds, dry_run=arguments.dry_run
        )
    except overhead_gpu.OtherResults as error:
        parser.error(str(error))


def _main_cpu(path: Path | None) -> None:
    from sci_book.papers.sci import paper

    paper.draw()  # a fresh checkout has none

    cells = sum(len(sizes) for _, sizes in CELLS)
    rows = []
    began = time.perf_counter()
    with (
        torch.no_grad(),
        tqdm(total=(cells + len(POCKET)) * (WARM_UPS + ROUNDS), unit="round") as bar,
    ):
        for build, sizes in CELLS:
            model = random_model(build, "cpu", torch.float32)
            for size, batch in sizes:
                bar.set_description(f"{build.__name__} {size[0]}x{size[1]} x {batch}")
                found = measure(model, size, batch, bar)
                rows += [{"model": build.__name__, "data": "made up", **row} for row in found]
            del model
            gc.collect()
        for name in POCKET:
            bar.set_description(name)
            rows += measure_pocket(name, bar)
    results = {
        "preset": "cpu",
        "device": device_name("cpu"),
        "dtype": "float32",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
        "settings": {
            "layout": LAYOUT,
            "attention": "sdpa",
            "warm_ups": WARM_UPS,
            "rounds": ROUNDS,
            "threads": 1,
            "matmul_gflops": matmul_rate("cpu", torch.float32),
            "seconds": time.perf_counter() - began,
        },
        "rows": rows,
    }
    _print(results)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(results, indent=1) + "\n", encoding="utf-8")


def _print(results: dict[str, Any]) -> None:
    settings = results["settings"]
    print(f"{results['device']}, {results['dtype']}, {settings['seconds'] / 60:.1f} minutes")
    columns = (
        "{:17} {:>6} {:>3} {:>5}  {:5} {:15} {:5} {:9} {:>7}  "
        "{:>5} [{:>5}, {:>5}]  {:>6} {:>5} {:>5}"
    )
    print(
        columns.format(
            "model", "tokens", "new", "batch", "method", "strategy", "cache", "prompts", "ms",
            "ratio", "q1", "q3", "counts", "GF/s", "skip",
        )
    )  # fmt: skip
    for row in results["rows"]:
        rate = f"{row['gflop'] / row['seconds_median']:.0f}" if "gflop" in row else ""
        counts = f"{row['token_rows_ratio']:.3f}" if "token_rows_ratio" in row else ""
        skip = f"{row['skip_rate']:.2f}" if row.get("skip_rate") is not None else ""
        print(
            columns.format(
                row["model"], row["image_tokens"], row["new_tokens"], row["batch"],
                row["method"], row["strategy"], row["cache"], row["prompts"],
                f"{1000 * row['seconds_median']:.1f}", f"{row['ratio_median']:.2f}",
                f"{row['ratio_q1']:.2f}", f"{row['ratio_q3']:.2f}", counts, rate, skip,
            )
        )  # fmt: skip


if __name__ == "__main__":
    main()
