"""C-VQA in this book: its claims, its pocket data and what a model is asked."""

from __future__ import annotations

from collections.abc import Callable

from sci_book import resources
from sci_book.data.datasets import load_dataset
from sci_book.papers.cvqa import synthetic
from sci_book.papers.shared.paper import Paper, asked_of, whole
from sci_book.pocket import what_if
from sci_book.pocket.lock import one_at_a_time
from sci_book.pocket.world import WORLD

DATA = resources.DATA / "cvqa"
SET = "pocket_cvqa"
# A quarter of C-VQA-Real and a tenth of C-VQA-Synthetic: few enough for a pocket model to answer,
# by every method, in minutes.
TWIN = {"direct": 288, "indirect": 216, "boolean": 282}
STEPS = {"direct": 96, "indirect": 72, "boolean": 94}  # the first third of each
PUZZLES = {"seed": WORLD, "per_type": 50, "size": 96}  # pixels a side: as a pocket picture


def draw(say: Callable[[str], None] = print) -> None:
    """Draw those of C-VQA's pocket sets that are missing, and check all by their manifests."""
    with one_at_a_time(DATA):
        what_if.write(DATA / "real", sizes=TWIN, say=say)
        what_if.write(DATA / "steps", sizes=STEPS, say=say)
        what_if.write(DATA / "yesno", sizes={"boolean": TWIN["boolean"]}, say=say)
        synthetic.write(DATA / "synthetic", **PUZZLES, say=say)
    load_dataset(SET)


PAPER = Paper(
    name="cvqa",
    title="C-VQA",
    tables=frozenset(range(1, 8)),
    figures=frozenset(range(1, 10)),
    tested="sci_book.papers.cvqa.measures.TESTED",
    data=SET,
    folder=DATA,
    draw=draw,
    asked=asked_of("cvqa"),
    parts_of=whole(SET),
    checks="sci_book.papers.cvqa.audit.OWN",
)
