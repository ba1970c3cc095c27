"""ORIC in this book: its claims, its pocket data and what a model is asked."""

from __future__ import annotations

from sci_book.papers.oric.pocket_questions import DATA, QUESTIONS, SET, draw
from sci_book.papers.shared.paper import Paper, asked_of, whole

PAPER = Paper(
    name="oric",
    title="ORIC",
    tables=frozenset(range(1, 11)),
    figures=frozenset(range(1, 15)),
    tested="sci_book.papers.oric.chapters.measures.TESTED",
    units="shares of 1, and cosines",
    counts="where two sets are compared, n counts the first",
    data=SET,
    folder=DATA,
    draw=draw,
    drawn_from=(QUESTIONS,),
    asked=asked_of("oric"),
    parts_of=whole(SET),
    checks="sci_book.papers.oric.audit.OWN",
)
