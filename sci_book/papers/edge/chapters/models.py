"""The models of Edge's pages: which have records, in which precision, and which form the pair.

The records lie in the folder `edge` beside the other records: `<model>.parquet` of the model as it
is, and `<model>-<suffix>.parquet` for each of `SUFFIXES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book.papers.edge import calibration, negation
from sci_book.papers.edge.conditions import CAPTION_ROWS, KINDS, NEGATED, QUESTION_ROWS, SEPARATOR
from sci_book.papers.edge.correctness import right
from sci_book.papers.edge.printed import PAPER_PAIR
from sci_book.papers.shared import chapters, frame
from sci_book.papers.shared.chapters import Subject, located, model_names
from sci_book.papers.shared.figures import model_colours
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.tables import Table
from sci_book.results.records import read_records
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import of_mean, ratio
from sci_core.methods import Method

FOLDER = "edge"
PRECISIONS = ("int8", "nf4")
SMALL = "small"
SUFFIXES = (*PRECISIONS, SMALL, *(f"{SMALL}-{precision}" for precision in PRECISIONS))
SIZES = dict(zip(KINDS, (QUESTION_ROWS, CAPTION_ROWS), strict=True))
SMALL_COLOURS = ("#009e73", "#b45309", "#6b7280")
"""Of the smaller sisters of the models, in the order of a page."""
_STAND_IN = (
    "They are of one size and differ in architecture: a stand-in until a smaller model has records,"
    " and no test of compactness"
)

# --- what a model answered ------------------------------------------------------------------------


def answers(model: Subject, dataset: str, method: Method | str = "base") -> pd.DataFrame:
    """One experiment's answers by a method or a round, by row number; empty if it was not run.

    Columns `group`, `category`, `question` ("" where `category` holds none), `truth`, `text`,
    `parsed`, `right` (1 or 0, the paper's rule) and `confidence` (NaN where no logits were
    recorded). Rows with an error are left out.

    Raises:
        NotRecorded: the records hold no text of the method (`Subject.decoded`).
    """
    known = _answers(model, method)
    return known.get(dataset, known[""])


@lru_cache(maxsize=64)
def _answers(model: Subject, method: Method | str) -> dict[str, pd.DataFrame]:
    records, policy = model.records, model.decoded(method)
    about = records.frame["category"].str.partition(SEPARATOR)
    whole = records.frame[["dataset", "index", "group", "truth"]].assign(
        category=about[0],
        question=about[2],
        text=records.text(policy),
        parsed=records.parsed(policy),
        right=right(records, policy),
        confidence=calibration.recorded_confidence(records, policy),
    )
    parts = whole[records.ok].set_index("index").groupby("dataset")
    empty = {"": whole[:0].set_index("index").drop(columns="dataset")}
    return empty | {name: part.drop(columns="dataset") for name, part in parts}


@lru_cache(maxsize=32)
def probes(model: Subject, method: Method | str = "base", reading: str = "paper") -> pd.DataFrame:
    """The negation probes: a line a probe, with `kind`, `row`, `template`, `group`, `success`.

    A reply is judged against the model's own answer, which its probe holds.
    """
    parts = []
    for kind in KINDS:
        replies = answers(model, f"{NEGATED} {kind}", method)
        own = answers(model, kind)["text"]
        rows = replies.index.to_numpy() // len(negation.TEMPLATES)
        replies = replies.assign(kind=kind, row=rows)[np.isin(rows, own.index)]
        good = [
            negation.succeeds(reply.category, reply.text, own[reply.row], reading=reading)
            for reply in replies.itertuples()
        ]
        parts.append(replies.assign(success=np.array(good, dtype=float)))
    columns = ["kind", "row", "category", "group", "text", "success"]
    return pd.concat(parts)[columns].rename(columns={"category": "template"})


def paired(first: pd.DataFrame, second: pd.DataFrame, end: str = " two") -> pd.DataFrame:
    """What two models or policies did on the same rows; the second's columns have an `end`.

    Rows are the same if they have one label in the index and one group.
    """
    both = first.join(second.add_suffix(end), how="inner")
    return both[both["group"] == both[f"group{end}"]]


def paired_probes(first: pd.DataFrame, second: pd.DataFrame, end: str) -> pd.DataFrame:
    """The probes that two models or policies were both put; the second's columns have an `end`."""
    keys = ["kind", "row", "template", "group"]
    return first.merge(second, on=keys, suffixes=("", end))


def of_training(model: Subject, beside: Subject) -> Subject:
    """The training of a model in the folder of another model's training.

    Raises:
        NotRecorded: there is none.
    """
    for training in model.trainings:
        if training.path.parent == beside.path.parent:
            return training
    raise NotRecorded(f"{beside.path.parent} holds no records of {model.name}.")


def line(
    model: Subject,
    rows: Callable[[Subject], pd.DataFrame],
    column: str,
    span: tuple[float, float] = (0.0, 1.0),
    **keys: Any,
) -> dict[str, Any]:
    """A line of `frame`: the mean of a column of some rows, such as `answers`, of each training."""

    def columns(training: Subject) -> tuple[np.ndarray, np.ndarray]:
        some = rows(training)
        return of_mean(some[column], some["group"])

    return frame.of_sums(model, columns, ratio, span=span, **keys)


# --- the models of a page -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Recorded:
    """The models of a page that have records, in every precision and size.

    Attributes:
        variants: each with the suffix of its name: "" as it is, such as "nf4" or "small".
        colours: by name, the same in every figure; precisions of one model share it.
        missing: names of those without records, the smaller sister of the first among them.
    """

    variants: dict[Subject, str]
    colours: dict[str, str]
    missing: tuple[str, ...]

    @property
    def models(self) -> list[Subject]:
        """All that have records."""
        return list(self.variants)

    @property
    def full(self) -> list[Subject]:
        """Those as they are: of the size asked for and in no reduced precision."""
        return [model for model, suffix in self.variants.items() if not suffix]

    @property
    def unreduced(self) -> list[Subject]:
        """Those in no reduced precision, of either size."""
        return [model for model, suffix in self.variants.items() if suffix in ("", SMALL)]

    def named(self, name: str) -> Subject | None:
        """The model whose records are `<name>.parquet`; None if there are none."""
        return next((model for model in self.variants if model.name == name), None)

    def precision(self, model: Subject) -> str:
        """ "float32" (or what the stamp says), "int8" or "nf4"."""
        reduced = self.variants[model].rpartition("-")[2]
        return reduced if reduced in PRECISIONS else model.records.stamp["dtype"]

    @property
    def pair(self) -> tuple[Subject, ...]:
        """The compact and the large model beside the paper's two, or no model.

        The large one is the first model. The compact one is its smaller sister; until that has
        records, the second model stands in, and the two differ in architecture alone.
        """
        if not self.full:
            return ()
        large, *others = self.full
        compact = self.named(f"{large.name}-{SMALL}") or next(iter(others), None)
        return (compact, large) if compact else ()

    @property
    def compared(self) -> list[Subject]:
        """`full`, and the smaller sister if the pair has one: those that tables go into."""
        return list(dict.fromkeys([*self.full, *self.pair]))

    @property
    def sides(self) -> list[tuple[Subject, str, str]]:
        """Of the pair each model, the paper's beside it, and how its columns end where joined."""
        return list(zip(self.pair, PAPER_PAIR, ("", " large"), strict=False))


def read(models: Names, records: str | Path) -> Recorded:
    """The models of a page with all their precisions and sizes that have records.

    Args:
        models: names, paths or hub ids; `catalogue.model_name` names the records of each.

    Raises:
        ValueError: no model is named.
    """
    folder = located(records) / FOLDER
    variants, colours, missing = {}, {}, []
    named = model_colours(list(dict.fromkeys(model_names(models))))
    for index, (family, colour) in enumerate(named.items()):
        for suffix in ("", *SUFFIXES):
            path = folder / f"{'-'.join(filter(None, (family, suffix)))}.parquet"
            if path.is_file():
                model = _model(path, family, suffix)
                small = SMALL_COLOURS[index % len(SMALL_COLOURS)]
                variants[model] = suffix
                colours[model.name] = small if suffix.startswith(SMALL) else colour
            # Of the smaller sisters only that of the first model has a place in the tables.
            elif suffix == "" or (suffix == SMALL and index == 0):
                missing.append(path.stem)
    return Recorded(variants, colours, tuple(missing))


def _model(path: Path, family: str, suffix: str) -> Subject:
    label, _, title = chapters.titles(family, family)
    title = ", ".join([title, *filter(None, suffix.split("-"))])
    return Subject(path.stem, label, title, title, path, read_records(path), companion=FOLDER)


def about(recorded: Recorded) -> str:
    """Which models have no records, who stands for whom, what records hold: Markdown."""
    said = [f"`sci probe edge --model … --out …` makes records: {QUESTION_ROWS} questions and "
            f"{CAPTION_ROWS} captions of the pocket world, clean and blurred, with the logits of "
            "every step of the answers; the other experiments keep answers alone. A picture is a "
            "cluster of every interval. A model without records makes a verdict *not comparable*, "
            "unless another fails."]  # fmt: skip
    if recorded.pair:
        compact, large = recorded.pair
        alike = "They differ in scale alone" if recorded.variants[compact] == SMALL else _STAND_IN
        said.append(
            f"Beside {PAPER_PAIR[0]} stands the compact model, *{compact.shown}*; beside "
            f"{PAPER_PAIR[1]} the large one, *{large.shown}*. {alike}. The paper's two differ in "
            "scale, precision and architecture."
        )
    else:
        said.append("Fewer than two models have records: tables of a pair are empty.")
    if recorded.missing:
        names = ", ".join(recorded.missing)
        said.append(f"Without records of this paper, and so *not comparable*: {names}.")
    return " ".join(said)


def rows_table(recorded: Recorded) -> Table:
    """Rows of every experiment, and those with an error."""
    names = dict.fromkeys(
        name for model in recorded.models for name in model.records.stamp["datasets"]
    )
    lines = {
        model.shown: {
            **model.records.frame["dataset"].value_counts().reindex([*names], fill_value=0),
            "with an error": int((~model.records.ok).sum()),
        }
        for model in recorded.models
    }
    return table_of(lines, name="rows", caption="Rows read, by experiment").fold()


def stamp_of(recorded: Recorded) -> Table:
    """What settles a page's numbers."""
    return chapters.stamp_of(recorded.models, sizes=SIZES)
