"""Tables 4 and 10: the six data sets as they are, no row left out.

The methods run with the constraint of appendix B, beta = 0.8, and again with DRBench's 0.3. The
inputs of Table 10 are rounds decoded by themselves: its caption says "all counterfactual inference
results used by SCI5", and its black image answers at the blind level, which no method that keeps
the original round could reach. So every printed row has its counterpart here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters.drbench_tables import INPUTS
from sci_book.papers.sci.chapters.shapes import Subjects, less, points
from sci_book.papers.sci.chapters.subset_sizes import of_kind
from sci_book.papers.shared.chapters import PAPER, Subject, side
from sci_book.papers.shared.tables import INTERVAL, Table, interval, number, plain, signed
from sci_book.results.drbench import split
from sci_book.results.metrics import KINDS
from sci_book.results.statistics import Interval
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


class Answered(NamedTuple):
    """What one method made of every row.

    right      1 or 0, NaN for a sample with an error
    unknown    no answer could be read: scored as wrong
    unsettled  the method was not decoded and its answer was not recorded under any other: read off
               the first token alone, or unknown where the answer is a short one
    """

    right: np.ndarray
    unknown: np.ndarray
    unsettled: np.ndarray


Runs = Mapping[str, Answered]  # by method


def with_beta(method: Method, beta: float) -> Method:
    """A preset at another beta, under the name its records have."""
    if beta == method.beta:
        return method
    return replace(method, name=f"{method.name} beta={beta:g}", beta=beta)


def answered(subject: Subject, method: str | Method) -> Answered:
    """What became of a method, or of a round alone (`Subject.answers`)."""
    said, ok = subject.answers(method), subject.records.ok
    unknown = np.array([answer is None for answer in said["answer"]], dtype=bool)
    return Answered(subject.right(method), unknown & ok, ~said["known"].to_numpy() & ok)


def outcomes(subject: Subject, beta: float, inputs: Sequence[str] = INPUTS) -> dict[str, Answered]:
    """The rows of Table 10, and those it lacks: base, inputs alone, methods at one beta."""
    runs = {name: answered(subject, name) for name in ("base", *inputs)}
    return runs | {method.name: answered(subject, with_beta(method, beta)) for method in METHODS}


def one_round(subject: Subject, beta: float) -> dict[str, Answered]:
    """The base, and SCI with each counterfactual round by itself beside the original."""
    runs = {method.name: answered(subject, replace(method, beta=beta)) for method in ONE_ROUND}
    return {"base": answered(subject, "base")} | runs


def columns(subject: Subject) -> dict[str, np.ndarray]:
    """Test rows without an error by data set, in the paper's order, then by question type."""
    test = (split(subject.records, "rows") == "test") & subject.records.ok
    heads = subject.records.frame["dataset"].map(column_of)  # a data set and its twin have one
    names = [head for head in DATASETS.values() if head in set(heads)]
    names += [head for head in heads.unique() if head not in names]
    masks = {name: test & (heads == name).to_numpy() for name in names}
    return masks | {kind: test & of_kind(subject, kind) for kind in KINDS}


def column_of(dataset: str) -> str:
    """The paper's abbreviation of a data set or of its twin; the name itself for another.

    A data set is the paper's if its name is, or ends in "_" and, one of the paper's.
    """
    for name, head in DATASETS.items():
        if dataset == name or dataset.endswith(f"_{name}"):
            return head
    return dataset


def difference(subject: Subject, runs: Runs, method: str, other: str, rows: np.ndarray) -> Interval:
    """One method less another on some rows, row by row; a share of the rows."""
    return subject.difference(runs[method].right - runs[other].right, rows)


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


def accuracy_tables(subject: Subject, runs: Runs, beta: float) -> list[Table]:
    """The model's `outcomes` at this beta, three columns of Table 10 to a table, with intervals."""
    masks, printed = columns(subject), paper_accuracy()
    heads = list(masks)[: -len(KINDS)]
    tables = []
    for part in (*(heads[first : first + 3] for first in range(0, len(heads), 3)), KINDS):
        cells: dict[tuple[str, str], list[str]] = {}
        for head in part:
            rows, top = masks[head], f"{head} (n = {masks[head].sum():,})"
            cells[top, "paper"] = [
                number(printed.get((subject.label, name, head))) for name in runs
            ]
            cells[top, side([subject])] = [
                points(subject.share(run.right, rows)) for run in runs.values()
            ]
        caption = (
            f"{subject.shown}, {', '.join(part)}: accuracy on test rows in % with {INTERVAL}s; "
            f"methods at β = {beta:g}"
        )
        name = "-".join([subject.name, f"{100 * beta:.0f}", *part])
        tables.append(Table(name, pd.DataFrame(cells, index=list(runs)), caption))
    return tables


def one_round_table(subject: Subject, runs: Runs, beta: float) -> Table:
    """Accuracy and difference to the base of `one_round`, by question type."""
    cells: dict[tuple[str, str], list[str]] = {}
    masks, names = columns(subject), [name for name in runs if name != "base"]
    for kind in KINDS:
        rows = masks[kind]
        levels = [subject.share(runs[name].right, rows) for name in names]
        gaps = [difference(subject, runs, name, "base", rows) for name in names]
        cells[kind, "%"] = [number(100 * level.estimate) for level in levels]
        cells[kind, "− base"] = [f"{signed(100 * gap.estimate)} {ends(gap)}" for gap in gaps]
    caption = (
        f"{subject.shown}: SCI with the original and one counterfactual round, β = {beta:g}; "
        f"accuracy in %, then the difference to the base in points with its {INTERVAL}"
    )
    return Table(f"{subject.name}-one-round", pd.DataFrame(cells, index=names), caption)


def unknown_table(subjects: Subjects, runs: Mapping[str, Runs]) -> Table:
    """Test answers that could not be read, and those the records do not settle, by method.

    Methods that have neither, with any of the models, are left out.
    """
    cells = {}
    for subject in subjects:
        rows, mine = columns(subject)["Overall"], runs[subject.name].values()
        cells[subject.shown, "unknown"] = [int(run.unknown[rows].sum()) for run in mine]
        cells[subject.shown, "not settled"] = [int(run.unsettled[rows].sum()) for run in mine]
    frame = pd.DataFrame(cells, index=list(runs[subjects[0].name]))
    listed, n = frame[(frame > 0).any(axis=1)], int(columns(subjects[0])["Overall"].sum())
    caption = (
        f"Answers that are unknown or not settled, of {n:,} test rows; the other "
        f"{len(frame) - len(listed)} of {len(frame)} methods and inputs have none"
    )
    return plain(listed, name="unknown", caption=caption)


def ends(share: Interval) -> str:
    """The ends of a share's interval, in points; nothing where there is none."""
    return interval(100 * share.low, 100 * share.high) if share.n else ""
