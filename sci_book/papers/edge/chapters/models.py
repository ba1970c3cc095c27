"""The models of Edge's pages: which have records, in which precision, and which form the pair.

The records lie in the folder `edge` beside the other records: `<model>.parquet` of the model as it
is, and `<model>-<suffix>.parquet` for each of `SUFFIXES`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.catalogue import model_entry
from sci_book.papers.edge import calibration, negation
from sci_book.papers.edge.conditions import CAPTION_ROWS, KINDS, NEGATED, QUESTION_ROWS, SEPARATOR
from sci_book.papers.edge.correctness import right
from sci_book.papers.edge.printed import PAPER_PAIR
from sci_book.papers.shared.chapters import located, model_names, rows_read
from sci_book.papers.shared.figures import model_colours
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.stamp import checksum, provenance
from sci_book.papers.shared.tables import Table
from sci_book.results.records import Records, read_records

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


@dataclass(frozen=True, eq=False)
class Model:
    """One model in one precision, with its records.

    Attributes:
        name: its records are `<name>.parquet`.
        family: the name without precision and size.
        label: the papers' name of its family; None for a model that this book does not know.
        shown: what tables call it, such as "pocket Qwen2-VL, nf4".
        precision: "float32" (or what the stamp says), "int8" or "nf4".
        records: every experiment of `papers.edge.conditions`, of those that were run.
        colour: the same in every figure; precisions of one model share it.
    """

    name: str
    family: str
    label: str | None
    shown: str
    precision: str
    path: Path
    records: Records
    colour: str
    _known: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict, repr=False)

    def answers(self, dataset: str, policy: str = "base") -> pd.DataFrame:
        """One experiment's answers, by row number; empty if it was not run.

        Columns `group`, `category`, `question` ("" where `category` holds none), `truth`, `text`,
        `parsed`, `right` (1 or 0, the paper's rule) and `confidence` (NaN where no logits were
        recorded). Rows with an error are left out.
        """
        if policy not in self._known:
            about = self.records.frame["category"].str.partition(SEPARATOR)
            whole = self.records.frame[["dataset", "index", "group", "truth"]].assign(
                category=about[0],
                question=about[2],
                text=self.records.text(policy),
                parsed=self.records.parsed(policy),
                right=right(self.records, policy),
                confidence=calibration.recorded_confidence(self.records, policy),
            )
            parts = whole[self.records.ok].set_index("index").groupby("dataset")
            self._known[policy] = {name: part.drop(columns="dataset") for name, part in parts}
            self._known[policy][""] = whole[:0].set_index("index").drop(columns="dataset")
        return self._known[policy].get(dataset, self._known[policy][""])

    def probes(self, policy: str = "base", reading: str = "paper") -> pd.DataFrame:
        """The negation probes: a line a probe, with `kind`, `row`, `template`, `group`, `success`.

        A reply is judged against the model's own answer, which its probe holds.
        """
        parts = []
        for kind in KINDS:
            replies = self.answers(f"{NEGATED} {kind}", policy)
            own = self.answers(kind)["text"]
            rows = replies.index.to_numpy() // len(negation.TEMPLATES)
            replies = replies.assign(kind=kind, row=rows)[np.isin(rows, own.index)]
            good = [
                negation.succeeds(reply.category, reply.text, own[reply.row], reading=reading)
                for reply in replies.itertuples()
            ]
            parts.append(replies.assign(success=np.array(good, dtype=float)))
        columns = ["kind", "row", "category", "group", "text", "success"]
        return pd.concat(parts)[columns].rename(columns={"category": "template"})


@dataclass(frozen=True, eq=False)
class Found:
    """The models of a page that have records, in every precision and size.

    `missing` names those that have none, the smaller sister of the first model among them.
    """

    models: tuple[Model, ...]
    missing: tuple[str, ...]

    @property
    def full(self) -> tuple[Model, ...]:
        """Those as they are: of the size asked for and in no reduced precision."""
        return tuple(model for model in self.models if model.name == model.family)

    @property
    def unreduced(self) -> tuple[Model, ...]:
        """Those in no reduced precision, of either size."""
        return tuple(model for model in self.models if model.precision not in PRECISIONS)

    def named(self, name: str) -> Model | None:
        """The model whose records are `<name>.parquet`; None if there are none."""
        return next((model for model in self.models if model.name == name), None)

    @property
    def pair(self) -> tuple[Model, ...]:
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
    def compared(self) -> list[Model]:
        """`full`, and the smaller sister if the pair has one: those that tables go into."""
        return list(dict.fromkeys([*self.full, *self.pair]))

    @property
    def sides(self) -> list[tuple[Model, str, str]]:
        """Of the pair each model, the paper's beside it, and how its columns end where joined."""
        return list(zip(self.pair, PAPER_PAIR, ("", " large"), strict=False))


def read(models: Names, records: str | Path) -> Found:
    """The models of a page with all their precisions and sizes that have records.

    Args:
        models: names, paths or hub ids; `catalogue.model_name` names the records of each.

    Raises:
        ValueError: no model is named.
    """
    folder = located(records) / FOLDER
    present, missing = [], []
    colours = model_colours(list(dict.fromkeys(model_names(models))))
    for index, (family, colour) in enumerate(colours.items()):
        for suffix in ("", *(f"-{name}" for name in SUFFIXES)):
            path = folder / f"{family}{suffix}.parquet"
            if path.is_file():
                present.append(_model(path, family, suffix.removeprefix("-"), index, colour))
            # Of the smaller sisters only that of the first model has a place in the tables.
            elif suffix == "" or (suffix == f"-{SMALL}" and index == 0):
                missing.append(path.stem)
    return Found(tuple(present), tuple(missing))


def about(recorded: Found) -> str:
    """Which models have no records, who stands for whom, what records hold: Markdown."""
    said = [f"`sci probe edge --model … --out …` makes records: {QUESTION_ROWS} questions and "
            f"{CAPTION_ROWS} captions of the pocket world, clean and blurred, with the logits of "
            "every step of the answers; the other experiments keep answers alone. A picture is a "
            "cluster of every interval. A model without records makes a verdict *not comparable*, "
            "unless another fails."]  # fmt: skip
    if recorded.pair:
        compact, large = recorded.pair
        alike = "They differ in scale alone" if compact.family == large.family else _STAND_IN
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


def rows_table(recorded: Found) -> Table:
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


def stamp_of(recorded: Found) -> Table:
    """What settles a page's numbers; rows that differ by model are named with it."""
    stamps = {model.name: model.records.stamp for model in recorded.models}
    data: dict[str, str] = {}
    for name in dict.fromkeys(name for stamp in stamps.values() for name in stamp["datasets"]):
        sums = {
            m: stamp["datasets"][name] for m, stamp in stamps.items() if name in stamp["datasets"]
        }
        if len(set(sums.values())) == 1:
            data[name] = next(iter(sums.values()))
        else:
            data |= {f"{name}, {model}": text for model, text in sums.items()}
    return provenance(
        models={name: stamp["revision"][:16] for name, stamp in stamps.items()},
        data=data,
        records={model.name: checksum([model.path]) for model in recorded.models},
        rows=rows_read(recorded.models[0].records, SIZES) if recorded.models else "",
    )


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


def _model(path: Path, family: str, suffix: str, index: int, colour: str) -> Model:
    records, label, title = read_records(path), None, family
    with suppress(ValueError):  # a model this book does not know
        entry = model_entry(family)
        label = entry["label"]
        title = f"pocket {label}" if entry["pocket"] else f"{label}, run here"
    size, _, reduced = suffix.rpartition("-") if suffix != SMALL else (suffix, "", "")
    title = ", ".join(filter(None, (title, size, reduced)))
    colour = SMALL_COLOURS[index % len(SMALL_COLOURS)] if size == SMALL else colour
    precision = reduced or records.stamp["dtype"]
    return Model(path.stem, family, label, title, precision, path, records, colour)
