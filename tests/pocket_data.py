"""The pocket twins, which several files of tests ask of."""

from functools import cache

from sci_book.data.datasets import load_dataset
from sci_book.papers.sci.paper import draw_missing


@cache
def pocket():
    """Every row, read once a process; drawn where a file is missing."""
    draw_missing()
    return load_dataset("pocket")
