"""Tables 4 and 10: the six data sets as they are, no row left out.

The methods run with the constraint of appendix B, beta = 0.8, and again with DRBench's 0.3. The
inputs of Table 10 are rounds decoded by themselves: its caption says "all counterfactual inference
results used by SCI5", and its black image answers at the blind level, which no method that keeps
the original round could reach. So every printed row has its counterpart here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters.drbench_tables import INPUTS
from sci_book.papers.sci.chapters.shapes import less
from sci_book.papers.shared.chapters import PAPER, Subject
from sci_book.results.drbench import split
from sci_book.results.metrics import KINDS, of_kind
from sci_book.run.method_sets import EDITED
from sci_core.counterfactuals import is_visual
from sci_core.methods import Method, sci

# The paper's data sets, in its order, with its abbreviations.
DATASETS = {
    "mmbench_cn": "MMB-C",
    "mmbench_en": "MMB-E",
    "mme": "MME",
    "ccbench": "CCB",
    "mmstar": "MMS",
    "vilp": "ViLP",
}
METHODS = EDITED
BETA = 0.8  # appendix B, for the original data sets

# SCI with the original and one counterfactual round; tau1 follows the paper's rule, 1 + N / 2.
ONE_ROUND = tuple(
    replace(sci(1, 0), name=f"base + {name}", visual=(name,))
    if is_visual(name)
    else replace(sci(0, 1), name=f"base + {name}", textual=(name,))
    for name in INPUTS
)


def with_beta(method: Method, beta: float) -> Method:
    """A preset at another beta, under the name its records have."""
    if beta == method.beta:
        return method
    return replace(method, name=f"{method.name} beta={beta:g}", beta=beta)


@cache
def columns(subject: Subject) -> dict[str, np.ndarray]:
    """Test rows without an error by data set, in the paper's order, then by question type."""
    test = (split(subject.records, "rows") == "test") & subject.records.ok
    heads = subject.records.frame["dataset"].map(column_of)  # a data set and its twin have one
    names = [head for head in DATASETS.values() if head in set(heads)]
    names += [head for head in heads.unique() if head not in names]
    masks = {name: test & (heads == name).to_numpy() for name in names}
    return masks | {kind: test & of_kind(subject.kinds, kind) for kind in KINDS}


def column_of(dataset: str) -> str:
    """The paper's abbreviation of a data set or of its twin; the name itself for another.

    A data set is the paper's if its name is, or ends in "_" and, one of the paper's.
    """
    for name, head in DATASETS.items():
        if dataset == name or dataset.endswith(f"_{name}"):
            return head
    return dataset


@cache
def paper_accuracy() -> dict[tuple[str, str, str], float]:
    """The paper's Table 10, which holds Table 4, in percent by (model, method, column)."""
    frame = pd.read_csv(PAPER / "table10.csv")
    heads = frame["dataset"].map(DATASETS).fillna(frame["question_type"])
    keys = zip(frame["model"], frame["method"], heads, strict=True)
    return dict(zip(keys, frame["value"].astype(float).tolist(), strict=True))


def paper_difference(label: str | None, method: str, other: str, column: str) -> float:
    """The paper's difference in points, NaN where it prints none."""
    return less(paper_accuracy(), (label, method, column), (label, other, column))


def unfitting_note(labels: Iterable[str | None]) -> str:
    """Rows of Table 10 that no counts fit, for some of the paper's models; "" for none of them."""
    by_label = {label: unfit("table10", label, "method") for label in dict.fromkeys(labels)}
    rows = [f"{label}, {' and '.join(names)}" for label, names in by_label.items() if names]
    if not rows:
        return ""
    return (
        "No whole number of right answers over the published sizes gives all the percentages "
        f"printed in these rows: {'; '.join(rows)}. They cannot be of one run over those rows."
    )
