"""Self-Critical Inference in this book: its claims, its pocket data and what a model is asked."""

from collections.abc import Callable

from sci_book import resources
from sci_book.data.datasets import load_dataset
from sci_book.papers.shared.paper import OWN, Paper, asked_of, whole
from sci_book.pocket.lock import one_at_a_time

DATA, BEFORE = resources.DATA / "pocket", resources.DATA / "before"
SET, SET_BEFORE = "pocket", "pocket_before"
DESCRIBED = "pocket_descriptions"


def draw(say: Callable[[str], None] = print) -> None:
    """Draw what is missing of the twins and the descriptions, and check all by their manifests."""
    draw_missing(say)
    load_dataset(SET)
    load_dataset(DESCRIBED)


def draw_missing(say: Callable[[str], None] = print) -> None:
    """Draw what is missing of the twins and the descriptions."""
    from sci_book.pocket import descriptions, twins

    with one_at_a_time(DATA):
        twins.make(DATA, say)
        descriptions.write(DATA)


def draw_before(say: Callable[[str], None] = print) -> None:
    """Draw what is missing of the twins of the world before, and check them by their manifests."""
    from sci_book.pocket import twins, world

    with one_at_a_time(BEFORE):
        twins.make(BEFORE, say, world.BEFORE)
    load_dataset(SET_BEFORE)


PAPER = Paper(
    name=OWN,
    title="Self-Critical Inference",
    tables=frozenset(range(1, 11)),
    figures=frozenset(range(1, 6)),
    tested="sci_book.papers.sci.chapters.measures.TESTED",
    units="shares of 1, and multiples of the base’s time",
    data=SET,
    folder=DATA,
    draw=draw,
    asked=asked_of(OWN),
    parts_of=whole(SET),
    checks="sci_book.papers.sci.audit.OWN",
)
