"""What the construction of ORIC questions costs: processor time for many annotated pictures.

    python benchmarks/oric.py

A file of annotations with as many pictures, categories and boxes as COCO has on average is written
and read, vectors of a picture and a text encoder are random, the judge is the co-occurrence one.
Processor time of one process on one thread, not the clock.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from sci_book.files import json_text
from sci_book.papers.oric import annotations, questions
from sci_book.papers.oric.construct import DESCRIPTION, build
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.shared.stamp import device_name

CATEGORIES, BOXES = 80, 7.3  # COCO's


def synthetic(pictures: int, rng: np.random.Generator) -> dict:
    """Annotations in COCO's format: categories of falling frequency, several boxes of each."""
    names = [f"thing {number}" for number in range(CATEGORIES)]
    share = 1 / np.arange(1, CATEGORIES + 1)
    kinds = rng.choice(CATEGORIES, (pictures, 40), p=share / share.sum())
    made = []
    for picture, drawn in enumerate(kinds):
        for kind in drawn[: 1 + rng.poisson(BOXES - 1)]:
            box = [*rng.uniform(0, 400, 2), *rng.uniform(5, 200, 2)]
            made.append(
                {"id": len(made) + 1, "image_id": picture, "category_id": int(kind),
                 "bbox": [round(float(side), 2) for side in box], "iscrowd": 0}
            )  # fmt: skip
    return {
        "images": [{"id": n, "file_name": f"{n:012d}.jpg"} for n in range(pictures)],
        "annotations": made,
        "categories": [{"id": n, "name": name} for n, name in enumerate(names)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=512, help="of the encoder's vectors")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instances.json"
        path.write_text(json_text(synthetic(arguments.pictures, rng)), encoding="utf-8")
        began = time.process_time()
        found = annotations.load(path)
        read = time.process_time() - began
        stored = Stored(
            {p.name: rng.normal(size=arguments.width) for p in found.pictures},
            {
                DESCRIPTION.format(object=name): rng.normal(size=arguments.width)
                for name in found.categories
            },
        )
        began = time.process_time()
        judge = CooccurrenceJudge((picture.present for picture in found.pictures), own=True)
        built = build(found, judge, stored, folder)
        asked = built.questions()
        questions.write(asked, Path(folder) / "oric.json")
        spent = time.process_time() - began
    measured = {
        "device": device_name(),
        "pictures": len(found.pictures),
        "boxes": sum(len(each) for picture in found.pictures for each in picture.boxes.values()),
        "questions": len(asked),
        "left_out": dict(built.reasons()),
        "processor_seconds": {"reading": round(read, 1), "construction": round(spent, 1)},
    }
    print(json_text(measured, indent=1))


if __name__ == "__main__":
    main()
