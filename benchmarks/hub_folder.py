"""Does the folder for a model hub give the tokens of `generate`? Its card says what comes out.

    python benchmarks/hub_folder.py --json benchmarks/results/hub/custom_generate.json

The pocket models, each method, questions of their six data sets; the folder is called by its path.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import torch
import transformers

from sci_book.data.datasets import load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.files import json_text
from sci_book.integrations import hub
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.resources import CHECKPOINTS
from sci_core import generate, load_model, prepare_image
from sci_core.families.models import VisionLanguageModel

MODELS = ("pocket-qwen2vl", "pocket-llavanext")
METHODS = ("base", "VCD", "M3ID", "SCI3", "SCI5")
NEW_TOKENS = 8


def asked_of(model: VisionLanguageModel, images: list, prompts: list[str]) -> dict:
    """What transformers' `generate` takes for some questions of one picture each."""
    pictures = [model.processor.prepare(prepare_image(image)) for image in images]
    ids = model.processor.token_ids(prompts, [picture.ids for picture in pictures])
    inputs = model.tokenizer.pad({"input_ids": ids}, return_tensors="pt", padding_side="left")
    return {"processor": model.processor, "images": images, "prompts": prompts, **inputs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100, help="questions, spread over all")
    parser.add_argument("--json", type=Path, help="where to keep what is printed")
    given = parser.parse_args()
    draw_pocket("pocket")
    rows = load_dataset("pocket").rows
    rows = rows[:: len(rows) // given.rows][: given.rows]
    images, answers, equal = [row.image() for row in rows], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "custom_generate").mkdir()
        shutil.copy(hub.CALLER, Path(scratch, "custom_generate", "generate.py"))
        for name in MODELS:
            model = load_model(CHECKPOINTS / name)
            prompts = [build_prompt(row, model.family) for row in rows]
            inputs = asked_of(model, images, prompts)
            for method in METHODS:
                ids = model.hf.generate(
                    **inputs,
                    custom_generate=scratch,
                    trust_remote_code=True,
                    method=method,
                    max_new_tokens=NEW_TOKENS,
                    do_sample=False,
                )
                new = ids[:, inputs["input_ids"].shape[1] :].tolist()
                ours = generate(model, images, prompts, method, NEW_TOKENS)
                for tokens, answer in zip(new, ours, strict=True):
                    said = [*answer.tokens, *([answer.end] if answer.stopped else [])]
                    answers, equal = answers + 1, equal + (tokens[: len(said)] == said)
                print(f"{name}, {method}: {equal} of {answers} equal so far", flush=True)
    found = {
        "answers": answers,
        "equal": equal,
        "models": MODELS,
        "methods": METHODS,
        "dtype": "float32",
        "transformers": transformers.__version__,
        "torch": torch.__version__.partition("+")[0],
    }
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json_text(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
