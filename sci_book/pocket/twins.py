"""The pocket twins of the six data sets: the public files' names, columns, sizes and groups.

Where training draws what is usual, a twin asks as often where the prior is wrong as where it is
right: every family in turn, half of the questions with the usual answer. MMBench and CCBench come
in four rotations of the options, MME in pairs (yes, then no) about one picture, ViLP in triplets
(the first picture usual, the other two not). Pictures here are held out: training never draws
from these seeds.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sci_book.files import write_whole
from sci_book.pocket.dialogue import YES_NO
from sci_book.pocket.draw import png
from sci_book.pocket.questions import FAMILIES, LETTERS, Query, to_choice
from sci_book.pocket.world import WORLD, Lot, Scene, sample_scene

_MMBENCH_SIZE = 1219  # questions, in either language
ROTATION = 1_000_000  # index of rotation k = k * ROTATION + the question's own
LOT = Lot(skew=0.5, kinds=3, dim=0.2, sign=0.35)
REASONING = ("negation", "what_if", "switched", "caption")

_FOUR_OPTIONS = ("colour", "count", "position", "place", "existence", "negation", "sign",
                 "content", "what_if", "caption")  # fmt: skip
_CLAIMED = tuple(name for name in FAMILIES if name != "caption")
_SHORT = ("colour", "count", "position", "content", "sign")

# Added to the world's, seeds of their own, far from training's (seed, visual, step).
_MMBENCH, _CCBENCH, _MMSTAR, _MME, _VILP = range(1, 6)


def ask(
    rng: np.random.Generator, family: str, accept: Callable[[Query], bool], lot: Lot = LOT
) -> tuple[Scene, Query]:
    """A scene and a question of one family about it that `accept` lets pass, by rejection."""
    while True:
        scene = sample_scene(rng, lot)
        query = FAMILIES[family](scene, rng)
        if query is not None and accept(query):
            return scene, query


@lru_cache(_MMBENCH_SIZE)  # its two languages share their pictures
def _base64(scene: Scene) -> str:
    return base64.b64encode(png(scene)).decode("ascii")


def is_usual(twin: str, index: int) -> bool:
    """Whether the answer to a twin's row is the usual one, by construction (see `_questions`).

    `twin` is the data set's name, `pocket_mme` and so on; only twins have a usual answer.
    """
    if not twin.startswith("pocket_"):
        raise ValueError(f"{twin!r} is no pocket twin; only those know what is usual.")
    if twin == "pocket_vilp":
        return index % 3 == 0
    number = index // 2 if twin == "pocket_mme" else index % ROTATION
    families = {"pocket_mme": _CLAIMED, "pocket_mmstar": tuple(FAMILIES)}.get(twin, _FOUR_OPTIONS)
    return _asks_usual(number, families)


def _asks_usual(number: int, families: tuple[str, ...]) -> bool:
    return bool(number // len(families) % 2)


def _questions(seed: int, families: tuple[str, ...], count: int) -> Iterator:
    """Number, generator, scene and query: families in turn, usual ones every other time."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        family = families[number % len(families)]
        usual = _asks_usual(number, families)
        yield number, rng, *ask(rng, family, lambda query, usual=usual: query.usual == usual)


def _choice_rows(number: int, scene: Scene, query: Query, rng, language: str, rotations: int):
    """One row a rotation of the options; the picture is in the first, its index in the others."""
    choice = to_choice(query, rng)
    size = len(choice.options)
    for k in range(rotations):
        options = [choice.options[(i - k) % size][language] for i in range(size)]
        yield {
            "index": k * ROTATION + number,
            "image": _base64(scene) if k == 0 else str(number),
            "question": query.question[language],
            "hint": "",
            **dict.fromkeys(LETTERS, ""),
            **dict(zip(LETTERS, options, strict=False)),
            "answer": LETTERS[(choice.right + k) % size],
            "category": query.family,
            "l2-category": "reasoning" if query.family in REASONING else "perception",
            "l2_category": "reasoning" if query.family in REASONING else "perception",
            "split": "dev",
        }


def _choices(
    families: tuple[str, ...], count: int, language: str, seed: int, rotations: int = 4
) -> Iterator[dict]:
    for number, rng, scene, query in _questions(seed, families, count):
        yield from _choice_rows(number, scene, query, rng, language, rotations)


def _mme(seed: int) -> Iterator[dict]:
    for number, rng, scene, query in _questions(seed, _CLAIMED, 1187):
        false = 1 if rng.random() < 0.5 else int(rng.integers(1, len(query.claims)))
        for half, (claim, answer) in enumerate(((0, "Yes"), (false, "No"))):
            yield {
                "index": 2 * number + half,
                "image": _base64(scene) if half == 0 else str(2 * number),
                "image_path": f"{query.family}/{number:04d}.png",
                "question": f"{query.claims[claim].en} {YES_NO}",
                "answer": answer,
                "category": query.family,
            }


def _vilp(seed: int) -> Iterator[dict]:
    for number in range(300):
        rng = np.random.default_rng([seed, number])
        family = _SHORT[number % len(_SHORT)]
        first = ask(rng, family, lambda query: query.usual)
        triplet = [first]
        while len(triplet) < 3:
            taken = {query.answer.en for _, query in triplet}
            triplet.append(
                ask(
                    rng,
                    family,
                    lambda query, question=first[1].question, taken=taken: (
                        query.question == question
                        and not query.usual
                        and query.answer.en not in taken
                    ),
                )
            )
        yield {
            "question": first[1].question.en,
            **{f"image{i}": png(scene) for i, (scene, _) in enumerate(triplet, 1)},
            **{f"answer{i}": query.answer.en for i, (_, query) in enumerate(triplet, 1)},
        }


# File name -> its rows, by a seed, that seed and the columns (those of the public files).
_CHOICE = ["index", "image", "question", *LETTERS, "answer", "category"]
_MMBENCH_COLUMNS = [
    "index", "image", "question", "hint", *LETTERS, "answer", "category", "l2-category", "split",
]  # fmt: skip
_FILES: dict[str, tuple[Callable[[int], Iterator[dict]], int, list[str]]] = {
    "MMBench_DEV_EN_V11.tsv": (
        partial(_choices, _FOUR_OPTIONS, _MMBENCH_SIZE, "en"), _MMBENCH, _MMBENCH_COLUMNS,
    ),
    "MMBench_DEV_CN_V11.tsv": (
        partial(_choices, _FOUR_OPTIONS, _MMBENCH_SIZE, "zh"), _MMBENCH, _MMBENCH_COLUMNS,
    ),
    "CCBench.tsv": (partial(_choices, _FOUR_OPTIONS, 510, "zh"), _CCBENCH, _CHOICE),
    "MMStar.tsv": (
        partial(_choices, tuple(FAMILIES), 1500, "en", rotations=1),
        _MMSTAR,
        [*_CHOICE, "l2_category"],
    ),
    "MME.tsv": (
        _mme, _MME, ["index", "image", "image_path", "question", "answer", "category"],
    ),
    "ViLP.parquet": (
        _vilp,
        _VILP,
        ["question", *(f"image{i}" for i in (1, 2, 3)), *(f"answer{i}" for i in (1, 2, 3))],
    ),
}  # fmt: skip


def make(folder: str | Path, say: Callable[[str], None] = print, world: int = WORLD) -> list[Path]:
    """Draw and write the six twins' files that are not there, each whole; the paths of all.

    Args:
        world: the seed of all rows.
    """
    folder = Path(folder)
    paths = []
    for name, (drawn, seed, columns) in _FILES.items():
        path = folder / name
        paths.append(path)
        if path.exists():
            continue
        say(f"drawing {name}")
        rows = drawn(seed=world + seed)
        if name.endswith(".parquet"):
            packed = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(list(rows)), packed)
            write_whole(path, packed.getvalue())
        else:
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, columns, delimiter="\t", extrasaction="ignore")
            writer.writeheader()
            # MMBench lists each rotation of all questions in turn; so do the others.
            writer.writerows(sorted(rows, key=lambda row: row["index"]))
            write_whole(path, text.getvalue().encode())
    return paths
