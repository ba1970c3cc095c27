"""ORIC's pocket questions: chosen once and frozen; the pictures they are about are drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book import resources
from sci_book.data.datasets import load_dataset
from sci_book.files import write_whole
from sci_book.papers.oric import annotations, construct, pope, questions
from sci_book.papers.oric.encoder import Encoder
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.pocket import oric as pocket_oric
from sci_book.pocket.lock import one_at_a_time

DATA = resources.DATA / "oric"
SET = "pocket_oric"
QUESTIONS = resources.MANIFESTS / "pocket_oric.csv"
SCENES = {"val": 1_500, "train": 3_000}  # that the questions are looked for in
PAIRS = 100  # a fifth of ORIC-Bench
OBJECTS = 2  # k, of each picture


def draw(say: Callable[[str], None] = print) -> None:
    """Draw the pictures that ORIC's pocket questions are about, if missing, and check all."""
    with one_at_a_time(DATA):
        _draw(say)
    load_dataset(SET)


def _draw(say: Callable[[str], None]) -> None:
    stamp, known = DATA / QUESTIONS.name, QUESTIONS.read_bytes()
    if not stamp.is_file() or stamp.read_bytes() != known:
        frame = pd.read_csv(QUESTIONS)
        numbers = sorted({int(name.removesuffix(".png")[-6:]) for name in frame["image"]})
        say(f"drawing {len(numbers):,} scenes")
        pocket_oric.write_pictures(DATA, "val", numbers)
        for name, part in frame.groupby("set", sort=False):
            asked = [
                questions.Question(row.image, row.object, row.label, questions.wordings(row.object))
                for row in part.itertuples()
            ]
            questions.write(asked, DATA / f"{name}.json")
        write_whole(stamp, known)


def choose_questions(encoder: Encoder, folder: Path) -> pd.DataFrame:
    """What `QUESTIONS` holds, made anew: ORIC's construction on pocket scenes.

    It is frozen because the last digits of an encoder's cosines differ between machines, and with
    them perhaps a choice. Three sets, each a pair of pictures at a time: "bench", both labels
    guided; "random", neither; "pope", POPE's objects on the pictures of "bench". The frozen file is
    pocket-clip's; the pictures are drawn into the folder.
    """
    scenes = pocket_oric.write_pictures(folder, "val", range(SCENES["val"]))
    usual = [pocket_oric.scene("train", 0, n).kinds for n in range(SCENES["train"])]
    annotated = annotations.read(pocket_oric.annotations("val", scenes))
    built = construct.build(
        annotated, CooccurrenceJudge(usual), encoder, folder / pocket_oric.PICTURES,
        pairs=PAIRS, k=OBJECTS,
    )  # fmt: skip
    lines: dict[str, list[tuple[object, ...]]] = {"bench": [], "random": [], "pope": []}
    for number, pair in enumerate(built.pairs):
        image, other, similar = (
            annotated.by_name[name] for name in (pair.image, pair.other, pair.similar)
        )
        present = pope.present(image, OBJECTS, np.random.default_rng(number))
        tempting = pope.adversarial(similar, OBJECTS, annotated.categories, usual)
        for name, picture, there, gone in (
            ("bench", image, pair.positives["guided"], pair.negatives["guided"]),
            ("random", other, pair.positives["random"], pair.negatives["random"]),
            ("pope", image, present, tempting),
        ):
            lines[name] += [
                (name, number, picture.name, kind, "yes", int(picture.areas[kind]))
                for kind in there
            ]
            lines[name] += [(name, number, similar.name, kind, "no", None) for kind in gone]
    columns = ["set", "pair", "image", "object", "label", "area"]
    frame = pd.DataFrame([line for part in lines.values() for line in part], columns=columns)
    return frame.astype({"area": "Int64"})
