"""What a model of one's own is asked for each paper: which rows, how they are read, into what file.

A model's records for Self-Critical Inference are `<records>/<model>.parquet`; those of a companion
lie in a folder of its name beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sci_book.data.datasets import Dataset, load_dataset
from sci_book.papers.edge import conditions, run
from sci_book.papers.registry import PAPERS
from sci_book.pipeline import companions
from sci_book.pipeline.own_book import OWN
from sci_book.pipeline.reproduce import draw_pocket
from sci_book.results.records import write_records
from sci_book.run.method_sets import STANDARD_METHODS
from sci_book.run.runner import Plan, evaluate, make_plan
from sci_core.families.models import VisionLanguageModel

EDGE = "edge"
EXPERIMENTS = 4
"""Pictures as they are, blurred and corrupted, and probes of answers: they share a limit."""


@dataclass(frozen=True)
class PaperSet:
    """The rows of a paper, before any is read.

    dataset   what is asked first; for the Edge Reliability Gap, questions and captions as they are
    parts     rows of each set, at most: probes are made of right answers alone
    limit     rows of each set; all if None
    """

    paper: str
    dataset: Dataset
    parts: Mapping[str, int]
    limit: int | None

    @property
    def title(self) -> str:
        return PAPERS[self.paper].title

    @property
    def rows(self) -> int:
        return sum(self.parts.values())

    @property
    def runs(self) -> int:
        """How many evaluations the rows are read in."""
        return len(run.PARTS) if self.paper == EDGE else 1

    def plan(self, model: VisionLanguageModel) -> Plan:
        """How `dataset` will be read."""
        if self.paper == EDGE:
            return make_plan(model, self.dataset, run.METHODS, max_new_tokens=run.LONGEST)
        return make_plan(model, self.dataset, STANDARD_METHODS)

    def make(self, model: VisionLanguageModel, name: str, shards: Path, records: Path) -> None:
        """The model's records of this paper; what was cut off goes on where it stopped.

        Args:
            name: of the records' file.
            shards: the folder of the runs.
            records: the folder that holds the records, each companion's in its own.
        """
        out = shards / (name if self.paper == OWN else f"{name}-{self.paper}")
        if self.paper == EDGE:
            share = _share(self.limit)
            made = run.run(model, companions.edge_rows(share), out, limit=share)
        else:
            made = evaluate(model, self.dataset, STANDARD_METHODS, out)
        kept = made.answers_alone() if self.paper == "metara" else made
        write_records(self.file(records, name), kept)

    def file(self, records: Path, name: str) -> Path:
        """The file of a model's records."""
        folder = records if self.paper == OWN else records / self.paper
        return folder / f"{name}.parquet"


def paper_set(paper: str, data: str, limit: int | None) -> PaperSet:
    """What a model is asked for a paper; pocket data that are missing are drawn.

    Args:
        data: the data set of Self-Critical Inference; the companions have their own.
        limit: rows of each set, whole question groups; all if None.

    Raises:
        DatasetError: as `load_dataset`.
    """
    if paper == EDGE:
        clean = conditions.clean_rows(companions.edge_rows(_share(limit)))
        most = conditions.most_rows(clean, _share(limit))
        return PaperSet(paper, conditions.as_dataset(clean, EDGE), most, limit)
    name = data if paper == OWN else companions.SETS[paper]
    draw_pocket(name)
    dataset = load_dataset(name, limit=limit)
    return PaperSet(paper, dataset, Counter(row.dataset for row in dataset), limit)


def _share(limit: int | None) -> int | None:
    return None if limit is None else max(1, limit // EXPERIMENTS)
