"""What each paper says of itself: its claims, its pocket data, and what a model is asked."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sci_book.data.datasets import Dataset, load_dataset
from sci_book.papers.shared.chapters import Named
from sci_book.results.records import Records, write_records
from sci_book.run.method_sets import STANDARD_METHODS
from sci_book.run.runner import Plan, evaluate, make_plan
from sci_core.families.models import VisionLanguageModel

OWN = "sci"
"""The paper that the book is about; the others are its companions."""


Measure = Callable[..., Sequence[Any]]
FindEvidence = Callable[[Sequence[Named], str | Path | None], Sequence[Any]]


@dataclass(frozen=True)
class Reading:
    """How a model is asked, as `runner.evaluate` takes it; what is None stays that paper's own.

    max_new_tokens  of every answer
    batch_size      questions at a time
    workers         processes
    """

    max_new_tokens: int | None = None
    batch_size: int | None = None
    workers: int | None = None

    def of_plan(self) -> dict[str, int]:
        """What is part of a run's stamp."""
        given = {"max_new_tokens": self.max_new_tokens, "batch_size": self.batch_size}
        return {name: value for name, value in given.items() if value is not None}


USUAL = Reading()


@dataclass(frozen=True)
class PaperSet:
    """The rows that a model is asked for a paper, before any is read.

    A model's records for the book's own paper are `<records>/<model>.parquet`; those of a companion
    lie in a folder of its name beside them.

    dataset   what is asked, or asked first
    parts     rows of each set, at most
    limit     rows of each set; all if None
    """

    paper: str
    dataset: Dataset
    parts: Mapping[str, int]
    limit: int | None

    @property
    def rows(self) -> int:
        return sum(self.parts.values())

    @property
    def runs(self) -> int:
        """How many evaluations the rows are read in."""
        return 1

    def plan(self, model: VisionLanguageModel, reading: Reading = USUAL) -> Plan:
        """How `dataset` will be read."""
        return make_plan(model, self.dataset, STANDARD_METHODS, **reading.of_plan())

    def read(self, model: VisionLanguageModel, out: Path, reading: Reading = USUAL) -> Records:
        """What the model answers; what was cut off goes on in the folder `out` where it stopped."""
        settings = {**reading.of_plan(), "workers": reading.workers}
        return evaluate(model, self.dataset, STANDARD_METHODS, out, **settings)

    def make(
        self,
        model: VisionLanguageModel,
        name: str,
        shards: Path,
        records: Path,
        reading: Reading = USUAL,
    ) -> None:
        """The model's records of this paper.

        Args:
            name: of the records' file.
            shards: the folder of the runs.
            records: the folder that holds the records, each companion's in its own.
        """
        out = shards / (name if self.paper == OWN else f"{name}-{self.paper}")
        write_records(self.file(records, name), self.read(model, out, reading))

    def file(self, records: Path, name: str) -> Path:
        """The file of a model's records."""
        folder = records if self.paper == OWN else records / self.paper
        return folder / f"{name}.parquet"


@dataclass(frozen=True)
class Paper:
    """One paper.

    name       of its claims, index and records: `claims_<name>.yaml`, `index_<name>.yaml`
    title      as the book's pages name it
    tables     numbers of its tables of results, and `figures` of its figures: the index is whole
               if it names them all
    tested     the dotted name of its `measures` and `evidence`, imported when they are asked for:
               who draws a paper's data needs no chapter, with its figures and the paper's numbers.
               An evidence has a `subject`; a measure returns parts of a claim (`Part`, `Sample`)
    units      of the numbers in its ledger
    counts     what n counts where two sets are compared, if it is not the rows of both
    data       its pocket data set, or None where its rows are made when they are asked
    folder     where that is drawn, by `draw`, from the code and the files `drawn_from`
    asked      the set of rows, made of a data set's name and a limit
    parts_of   of frozen records, each part with the data set that it answers
    precisions reduced ones that the pocket models have frozen records of
    checks     the dotted name of the kinds of check that its audit alone has, if there are some
    """

    name: str
    title: str
    tables: frozenset[int]
    figures: frozenset[int]
    tested: str
    asked: Callable[[str | None, int | None], PaperSet]
    parts_of: Callable[[Records], Iterable[tuple[Records, Dataset]]]
    units: str = "shares of 1"
    counts: str = ""
    data: str | None = None
    folder: Path | None = None
    draw: Callable[[Callable[[str], None]], None] | None = None
    drawn_from: tuple[Path, ...] = ()
    precisions: tuple[str, ...] = ()
    checks: str = ""

    @property
    def measures(self) -> Mapping[str, Measure]:
        """By name, what the claims are about: of evidence and a claim's arguments, the parts."""
        return imported(self.tested)[0]

    @property
    def evidence(self) -> FindEvidence:
        """Of the models and the folder of committed results: what there is on each, or None."""
        return imported(self.tested)[1]

    @property
    def claims(self) -> str:
        return f"claims_{self.name}.yaml"

    @property
    def index(self) -> str:
        return f"index_{self.name}.yaml"


def imported(dotted: str) -> Any:
    """What a dotted name stands for, its module imported."""
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def asked_of(paper: str, kind: type[PaperSet] = PaperSet) -> Callable[[str, int | None], PaperSet]:
    """The rows of a data set, for a paper that asks them as they are."""

    def asked(data: str, limit: int | None) -> PaperSet:
        dataset = load_dataset(data, limit=limit)
        return kind(paper, dataset, Counter(row.dataset for row in dataset), limit)

    return asked


def whole(data: str) -> Callable[[Records], list[tuple[Records, Dataset]]]:
    """Frozen records of one data set, which they answer in one part."""
    return lambda frozen: [(frozen, load_dataset(data))]
