"""The original and its cases as one sequence, in several orders (section IV-C).

The engine of this library reads one picture a question. So the pictures are laid on one sheet, row
by row in the given order, with a number above each, and every question says which number it is
about. That is what a one-picture model can honestly be asked: all pictures are seen at once, at
their own size, and their order is the only thing that differs between two sheets.

Without a sequence, every case is asked alone, and its order variance is zero by construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, factorial, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from sci_book.papers.metara.overlay import Box, is_chinese, overlay
from sci_book.papers.metara.pictures import Random, Refused, random_of
from sci_book.results.statistics import Interval, mean, share
from sci_core.images import MAX_PIXELS, check_image

ORDERS = 4
HEADER = 16  # pixels above each picture, for its number
GAP = 4  # pixels between pictures
SHEET = (128, 128, 128)


class Turn(NamedTuple):
    """One question about one picture of a sequence.

    order     number of the order; 0 is the natural one, the original first
    case      which picture it is about: 0 for the original, then the cases
    position  where that picture stands, from 0
    images    all pictures in this order
    question  the case's own, told which picture it is about
    """

    order: int
    case: int
    position: int
    images: tuple[Image.Image, ...]
    question: str


def orders(size: int, count: int, random: Random) -> list[tuple[int, ...]]:
    """Different orders of so many pictures, the natural one first; all of them if there are fewer.

    `orders(...)[k][position]` is the picture that stands there.
    """
    if size < 1 or count < 1:
        raise ValueError(f"{count} orders of {size} pictures; expected at least one of each.")
    permutations = dict.fromkeys([tuple(range(size))])
    while len(permutations) < min(count, factorial(size)):
        permutations[tuple(map(int, random.permutation(size)))] = None
    return list(permutations)


def turns(
    images: Sequence[Image.Image], questions: Sequence[str], *, key: str, count: int
) -> list[Turn]:
    """Every question in every order: `len(images)` turns an order.

    Args:
        images, questions: of the original, then of its cases.
        key: of the original; the orders depend on it alone.
    """
    if len(images) != len(questions) or not images:
        raise ValueError(
            f"{len(images)} pictures and {len(questions)} questions; expected one each, and the "
            "original's at least."
        )
    size, all_turns = len(images), []
    for number, order in enumerate(orders(size, count, random_of(0, key, "order"))):
        ordered = tuple(images[case] for case in order)
        for case, question in enumerate(questions):
            position = order.index(case)
            asked = about(question, position, size)
            all_turns.append(Turn(number, case, position, ordered, asked))
    return all_turns


def about(question: str, position: int, size: int) -> str:
    """The question told which of the pictures it is about; as it is where there is one."""
    if size == 1:
        return question
    if is_chinese(question):
        return f"关于第{position + 1}张图：{question}"
    return f"About picture {position + 1} of {size}: {question}"


def sheet(images: Sequence[Image.Image]) -> Image.Image:
    """The pictures on one sheet, row by row, at their own size, each under its number.

    Raises:
        Refused: if the sheet is larger than a model's processor takes (*picture's size*).
    """
    if not images:
        raise ValueError("No picture came; a sheet shows at least one.")
    columns = ceil(sqrt(len(images)))
    rows = ceil(len(images) / columns)
    width = max(image.width for image in images) + GAP
    height = max(image.height for image in images) + HEADER + GAP
    size = GAP + columns * width, GAP + rows * height
    if size[0] * size[1] > MAX_PIXELS:  # before it takes their memory
        raise Refused("picture's size", f"A sheet of {size[0]} x {size[1]} pixels is too large.")
    canvas = Image.new("RGB", size, SHEET)
    try:
        check_image(canvas)
    except ValueError as error:
        raise Refused("picture's size", str(error)) from error
    for number, image in enumerate(images):
        left, top = GAP + number % columns * width, GAP + number // columns * height
        canvas.paste(image.convert("RGB"), (left, top + HEADER))
        canvas.paste(_number(number + 1), (left, top))
    return canvas


class OrderRates(NamedTuple):
    """What the order does, each with an interval over originals.

    failed    the failure rate of the cases, averaged over orders, then over originals
    variance  of an original's failure rate between orders, averaged over originals
    changed   share of cases whose answer is not the same in all orders
    """

    failed: Interval
    variance: Interval
    changed: Interval


def order_rates(frame: pd.DataFrame) -> OrderRates:
    """Mean failure rate over orders, the variance between them, and how many answers change.

    Args:
        frame: a row an answer: original, its group (the cluster), order, case, answer (None if
            unknown) and whether it failed; case 0 is the original and enters `changed` alone.

    Raises:
        ValueError: if an original has other cases in one order than in another.
    """
    answers = frame.assign(answer=frame["answer"].where(frame["answer"].notna(), "\0unknown"))
    counted = frame.groupby(["original", "order"])["case"].agg(["nunique", "size"])
    uneven = counted.groupby("original").nunique()
    if (counted["nunique"] != counted["size"]).any() or (uneven > 1).any(axis=None):
        raise ValueError("Every order holds every case of an original once; some are missing.")
    by_case = answers.groupby(["original", "case"]).agg(
        kinds=("answer", "nunique"), group=("group", "first")
    )
    cases = frame[frame["case"] > 0]
    by_order = cases.groupby(["original", "order"])["failed"].mean().groupby("original")
    clusters = cases.groupby("original")["group"].first()
    return OrderRates(
        share(by_order.mean(), clusters),
        mean(by_order.var(ddof=0), clusters),
        share(by_case["kinds"] > 1, by_case["group"]),
    )


def _number(number: int) -> Image.Image:
    label = np.zeros((HEADER, 2 * HEADER, 3), np.uint8)
    box = Box(0, 0, 2 * HEADER, HEADER)
    return Image.fromarray(overlay(label, str(number), box, ground=SHEET))
