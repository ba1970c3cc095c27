"""What the paper prints of methods on DRBench's subsets: Table 9, which holds Table 2."""

from __future__ import annotations

from functools import cache
from itertools import product

from sci_book.papers.sci.chapters.shapes import less
from sci_book.papers.shared.chapters import Subject, paper_values
from sci_book.results.metrics import KINDS

INPUTS = ("V1", "V2", "V3", "black", "noise500", "noise400")


@cache
def paper_accuracy(label: str | None) -> dict[tuple[str, str, str], float]:
    """The paper's Table 9, which holds Table 2, and what it implies for S∖B.

    Percent by (method, subset, question type); empty for a model the paper does not have. The
    answers right on S∖B are those right on BS less those right on B, by the sizes in Table 1.
    """
    printed, sizes = paper_values("table09"), paper_values("table01")
    if label not in printed.index.get_level_values("model"):
        return {}
    values = printed[label].to_dict()
    for method, kind in product(printed[label].index.unique("method"), KINDS):
        n, smaller = (sizes[label, "", subset, kind] for subset in ("BS", "B"))
        right = round(values[method, "BS", kind] * n / 100)
        right -= round(values[method, "B", kind] * smaller / 100)
        values[method, "S∖B", kind] = 100 * right / (n - smaller)
    return values


def paper_gap(subject: Subject, method: str, other: str, subset: str) -> float:
    """The paper's difference of two methods on a subset in points; NaN where it has none."""
    printed = paper_accuracy(subject.label)
    return less(printed, (method, subset, "Overall"), (other, subset, "Overall"))
