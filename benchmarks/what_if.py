"""A what-if pass: SCI5 on the counterfactual questions of 3,000 puzzles, against the level asked.

    python benchmarks/what_if.py checkpoints/pocket-qwen2vl \\
        --json benchmarks/results/cvqa/what_if-pocket-qwen2vl.json

Puzzles are drawn at the size of a pocket picture; each is asked its counterfactual question as the
records ask it, the original, V1, V2, black and noise at 500 being read for every one. Processor
time on one torch thread, so that a busy machine changes little; two cores halve the clock.
"""

import argparse
import platform
import tempfile
import time
from pathlib import Path

import torch

from sci_book.data.catalogue import model_name
from sci_book.data.datasets import load_dataset, read_manifest
from sci_book.data.prompts import build_prompt
from sci_book.files import json_text
from sci_book.papers.cvqa import synthetic
from sci_book.papers.shared.stamp import device_name
from sci_core import generate, load_model, rewrite
from sci_core import method as named_method

LEVEL = 240.0  # seconds of processor time: two minutes on two cores
BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--each", type=int, default=synthetic.COUNT, help="puzzles of a template")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, sci5 = load_model(arguments.model, device="cpu"), named_method("SCI5")

    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        synthetic.write(folder, per_type=arguments.each, size=96)
        drawing = time.process_time() - began
        manifest = Path(folder, "puzzles.yaml")
        manifest.write_text(_manifest(), encoding="utf-8")
        rows = [row for row in load_dataset(str(manifest)) if row.index % 2]
        began = time.process_time()
        for first in range(0, len(rows), BATCH):
            part = rows[first : first + BATCH]
            prompts = [build_prompt(row, model.family) for row in part]
            rewrites = [[rewrite(prompt, name) for name in sci5.textual] for prompt in prompts]
            pictures = [row.image() for row in part]
            generate(model, pictures, prompts, sci5, rewrites=rewrites, max_new_tokens=8)
        spent = time.process_time() - began
    found = {
        "device": f"{device_name()}, one thread",
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "model": model_name(arguments.model),
        "puzzles": len(rows),
        "drawing_seconds": drawing,
        "pass_seconds": spent,
        "level_seconds": LEVEL,
    }
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json_text(found, indent=1) + "\n", encoding="utf-8")
    print(
        f"{len(rows):,} puzzles drawn in {drawing:.0f} s and asked in {spent:.0f} s of processor "
        f"time ({1000 * spent / len(rows):.1f} ms each); the level is {LEVEL:.0f} s"
    )


def _manifest() -> str:
    """A description of the puzzles beside it, in the format of the public set."""
    public = read_manifest("cvqa_synthetic")
    columns = public.columns
    return json_text(
        {
            "file": synthetic.FILE,
            "format": public.format,
            "columns": {
                "image": list(columns.image),
                "question": list(columns.question),
                "answer": list(columns.answer),
                "category": columns.category,
            },
            "pictures": public.pictures,
            "question_type": public.question_type,
            "options_inside": public.options_inside,
        }
    )


if __name__ == "__main__":
    main()
