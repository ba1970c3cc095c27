"""What the rounds cost beside plain decoding: time, and the work that explains it.

    python benchmarks/overhead.py --preset cpu --json benchmarks/results/cpu.json

All strategies (`sci_core.report.overhead`) run in one process, interleaved in every round of
measurement, and each is compared with the base of the same round. Weights are random: time does not
depend on their values, but for the gate, whose skip rate stands beside it. Pictures are ready-made
tensors, since workers prepare them ahead.

A last part runs `generate` with the trained pocket models on whole pictures of the pocket twins,
everything from picture to text included: "pocket" in the column of the data.
"""

import argparse
import ctypes
import gc
import json
import os
import platform
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count
from tqdm import tqdm

from sci_core import (
    BASE,
    SCI3,
    SCI5,
    SCI7,
    Answer,
    Method,
    PrefixCache,
    choose,
    generate,
    load_model,
)
from sci_core.engine import begin_rounds
from sci_core.evaluation.datasets import load_dataset
from sci_core.evaluation.prompts import build_prompt
from sci_core.gate import gated_logits
from sci_core.models import VisionLanguageModel, adapt
from sci_core.processors import Picture
from sci_core.report.overhead import LAYOUT, MadeUpQuestions, counted, strategies
from sci_core.reproduce import make_pocket_data
from sci_core.rounds import Rounds
from sci_core.scoring import scores

METHODS = (SCI3, SCI5, SCI7)
NEW_TOKENS = 5
"""In every run; the time to the first is that of one new token."""

WARM_UPS, ROUNDS = 2, 7
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: (
        lambda query, key, value, *_, out_val=None, **__: sdpa_flop_count(query, key, value)
    )
}
"""torch counts the arithmetic of attention on a GPU only."""

POCKET = ("pocket-qwen2vl", "pocket-llavanext")
POCKET_ROWS, POCKET_BATCH, MOST_NEW_TOKENS = 64, 16, 8

ROOT = Path(__file__).resolve().parents[1]


# -- models with random weights --------------------------------------------------------------------


def pocket_qwen2vl() -> tuple[Any, Any]:
    """The shipped checkpoint's configuration, and an image processor for larger pictures."""
    config = transformers.AutoConfig.from_pretrained(ROOT / "checkpoints" / POCKET[0])
    return config, transformers.Qwen2VLImageProcessorPil(
        patch_size=16, merge_size=2, size={"shortest_edge": 32 * 32, "longest_edge": 2048 * 2048}
    )


def pocket_llavanext() -> tuple[Any, Any]:
    """The shipped checkpoint's configuration, with tiles of 100 patches for larger pictures."""
    config = transformers.AutoConfig.from_pretrained(ROOT / "checkpoints" / POCKET[1])
    config.vision_config.image_size = 160
    config.image_grid_pinpoints = [[320, 160], [320, 960]]
    return config, transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": 160},
        crop_size={"height": 160, "width": 160},
        image_grid_pinpoints=config.image_grid_pinpoints,
    )


def qwen2_vl_7b() -> tuple[Any, Any]:
    """The published configuration of Qwen2-VL-7B, as far as it matters to the time."""
    config = transformers.Qwen2VLConfig(
        text_config={
            "vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944,
            "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]
            },
        },
        vision_config={"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "num_heads": 16},
        tie_word_embeddings=False,
    )  # fmt: skip
    return config, transformers.Qwen2VLImageProcessorPil()


def llava_next_8b() -> tuple[Any, Any]:
    """The published configuration of LLaVA-NeXT on Llama 3 8B, as far as it matters to the time."""
    config = transformers.LlavaNextConfig(
        text_config=transformers.LlamaConfig(
            vocab_size=128320, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
            num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192,
        ),
        vision_config=transformers.CLIPVisionConfig(
            hidden_size=1024, intermediate_size=4096, num_hidden_layers=24,
            num_attention_heads=16, image_size=336, patch_size=14, projection_dim=768,
        ),
        image_token_index=128256,
        tie_word_embeddings=False,
    )  # fmt: skip
    return config, transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336},
        image_grid_pinpoints=config.image_grid_pinpoints,
    )  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """What is measured: builders of models, each with its picture sizes, and batch sizes.

    `cells` are (width and height in pixels, batch size). LLaVA-NeXT has 576 image tokens for any
    picture, and more: its pictures are those nearest to 320 and 1,280.
    """

    models: tuple[
        tuple[Callable[[], tuple[Any, Any]], tuple[tuple[tuple[int, int], int], ...]], ...
    ]
    device: str
    dtype: torch.dtype


PRESETS = {
    "cpu": Preset(
        (
            (pocket_qwen2vl, (((640, 512), 1),)),
            (pocket_llavanext, (((160, 320), 1), ((160, 320), 16), ((580, 200), 1))),
        ),
        "cpu",
        torch.float32,
    ),
    "gpu": Preset(
        (
            (qwen2_vl_7b, tuple((size, n) for size in ((560, 448), (1120, 896)) for n in (1, 16))),
            (
                llava_next_8b,
                tuple((size, n) for size in ((1008, 40), (1008, 140)) for n in (1, 16)),
            ),
        ),
        "cuda",
        torch.bfloat16,
    ),
}


class _NoTokenizer:
    """Stands where a tokenizer is asked for its end of sequence: no text is read or written."""

    eos_token_id = None


def random_model(
    build: Callable[[], tuple[Any, Any]], device: str, dtype: torch.dtype
) -> VisionLanguageModel:
    """A model of this configuration, with random weights built on the device."""
    torch.manual_seed(0)
    config, image_processor = build()
    with torch.device(device):
        hf = transformers.AutoModelForImageTextToText.from_config(
            config, dtype=dtype, attn_implementation="sdpa"
        )
    return adapt(hf.eval().requires_grad_(False), _NoTokenizer(), image_processor)


# -- one run ---------------------------------------------------------------------------------------


@dataclass
class Run:
    """What one strategy did: seconds to the first and to the last token, and what it chose.

    `combining` is the share of the seconds that score and choice took.
    """

    seconds: tuple[float, float]
    tokens: Tensor | None
    logits: Tensor | None
    looked: Tensor
    gated: bool
    combining: float


def run(
    model: VisionLanguageModel,
    method: Method,
    begin: Callable[[], Rounds],
    *,
    gate: bool = False,
    on_token: Callable[[], None] = lambda: None,
) -> Run:
    """Decode greedily, never stopping early; `on_token` is called after each token is chosen."""
    wait = torch.cuda.synchronize if model.device.type == "cuda" else lambda: None
    wait()
    began = time.perf_counter()
    rounds = begin()
    tokens, looks, seconds, first, combining = [], [], [], None, 0.0
    for step in range(NEW_TOKENS):
        if gate:
            Z, looked = gated_logits(method, rounds, step)
            looks.append(looked.float().mean())
        else:
            Z = rounds.logits
        first = Z if first is None else first
        wait()
        combine = time.perf_counter()
        score = scores(method, Z, step=step, prompt_tokens=rounds.prompt_tokens)
        tokens.append(choose(score, samples=range(Z.shape[1]), step=step))
        wait()
        combining += time.perf_counter() - combine
        if step in (0, NEW_TOKENS - 1):
            wait()
            seconds.append(time.perf_counter() - began)
        on_token()
        if step + 1 < NEW_TOKENS:
            rounds.advance(tokens[-1])
    looks = torch.stack(looks) if looks else torch.full((NEW_TOKENS,), float(bool(method.visual)))
    return Run(
        seconds=(seconds[0], seconds[-1]),
        tokens=torch.stack(tokens),
        logits=first,
        looked=looks,
        gated=gate,
        combining=combining / seconds[-1],
    )


class PeakMemory:
    """The most memory that a block of code took beyond what was in use before it, in bytes.

    On a processor the peak of the process's resident memory beyond what is resident when all that
    was freed has gone back to the system; None where the system offers neither.
    """

    def __init__(self, device: torch.device):
        self._cuda, self.bytes = device.type == "cuda", None

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        if self._cuda:
            torch.cuda.reset_peak_memory_stats()
            self._before = torch.cuda.memory_allocated()
        else:
            try:
                ctypes.CDLL("libc.so.6").malloc_trim(0)
                Path("/proc/self/clear_refs").write_text("5")
                self._before = self._status("VmRSS")
            except (OSError, AttributeError):
                self._before = None
        return self

    def __exit__(self, *_: Any) -> None:
        if self._cuda:
            self.bytes = torch.cuda.max_memory_allocated() - self._before
        elif self._before is not None:
            self.bytes = self._status("VmHWM") - self._before

    @staticmethod
    def _status(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


# -- measurement -----------------------------------------------------------------------------------


def made_up(model: VisionLanguageModel, size: tuple[int, int]) -> MadeUpQuestions:
    """Questions about pictures of this width and height, on the model's device."""
    pixels = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), np.uint8)
    picture = model.processor.prepare(Image.fromarray(pixels))
    inputs = {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in picture.inputs.items()
    }
    return MadeUpQuestions(model, Picture(inputs, picture.tokens))


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
        flops = FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION)
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
            row |= {"batch": batch, "seconds_median": median(took), **_ratios(took, plain)}
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


def _ratios(took: Sequence[float], base: Sequence[float]) -> dict[str, float]:
    """Median and quartiles of the ratios, round of measurement by round of measurement."""
    ratios = [mine / its for mine, its in zip(took, base, strict=True)]
    q1, middle, q3 = quantiles(ratios, n=4, method="inclusive")
    return {"ratio_median": middle, "ratio_q1": q1, "ratio_q3": q3}


def measure_pocket(name: str, bar: tqdm) -> list[dict[str, Any]]:
    """`generate` on whole pictures of the pocket twins, from picture to text, with the gate."""
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
        row |= {"seconds_median": median(took), **_ratios(took, seconds["base"])}
        row |= {"token_rows_ratio": counts["token_rows"] / base["token_rows"], **counts}
        if method is not BASE:
            row |= {"skip_rate": 1 - sum(looks) / len(looks)}
            row |= {"token_agreement": sum(same) / len(same)}
        rows.append(row)
    return rows


def call_seconds(model: VisionLanguageModel, questions: MadeUpQuestions) -> float:
    """Seconds of a call of the language model with one token: what any call takes at least."""
    ids = questions.batch(BASE, 1)[0].texts[0]
    positions = model.positions(ids, questions.picture)[:, None, :1].to(model.device)
    one = model.embed(torch.tensor([ids[:1]], device=model.device))
    wait = torch.cuda.synchronize if model.device.type == "cuda" else lambda: None
    took = []
    for _ in range(20):
        wait()
        began = time.perf_counter()
        model.hidden(one, positions, None, model.new_cache())
        wait()
        took.append(time.perf_counter() - began)
    return median(took)


def matmul_rate(device: str, dtype: torch.dtype) -> float:
    """GFLOP/s of a large matrix product: the most this device does here in this type."""
    side = 8192 if device == "cuda" else 1024
    one, other = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    took = []
    for _ in range(10):
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        one @ other
        if device == "cuda":
            torch.cuda.synchronize()
        took.append(time.perf_counter() - began)
    return 2 * side**3 / median(took) / 1e9


def device_name(device: str) -> str:
    """What a reader should know it by."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    lines = (
        Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    )
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, one thread"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=sorted(PRESETS), default="cpu")
    parser.add_argument("--json", type=Path, help="write the results here")
    arguments = parser.parse_args()
    preset = PRESETS[arguments.preset]
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    if preset.device == "cuda" and not torch.cuda.is_available():
        parser.error("the preset gpu needs a GPU that torch can use; there is none here")

    if preset.device == "cpu":
        make_pocket_data()  # a fresh checkout has none

    cells = sum(len(sizes) for _, sizes in preset.models)
    pocket = POCKET if preset.device == "cpu" else ()
    rows = []
    began = time.perf_counter()
    with (
        torch.no_grad(),
        tqdm(total=(cells + len(pocket)) * (WARM_UPS + ROUNDS), unit="round") as bar,
    ):
        for build, sizes in preset.models:
            model = random_model(build, preset.device, preset.dtype)
            for size, batch in sizes:
                bar.set_description(f"{build.__name__} {size[0]}x{size[1]} x {batch}")
                found = measure(model, size, batch, bar)
                rows += [{"model": build.__name__, "data": "made up", **row} for row in found]
            del model
            gc.collect()
        for name in pocket:
            bar.set_description(name)
            rows += measure_pocket(name, bar)
    results = {
        "preset": arguments.preset,
        "device": device_name(preset.device),
        "dtype": str(preset.dtype).removeprefix("torch."),
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
            "matmul_gflops": matmul_rate(preset.device, preset.dtype),
            "seconds": time.perf_counter() - began,
        },
        "rows": rows,
    }
    _print(results)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


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
