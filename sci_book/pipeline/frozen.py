"""Frozen records, compared with answers given anew.

A model's records of a companion lie in a folder of that paper's name beside its own, as
`<folder>/cvqa/<model>.parquet`; in a reduced precision, `<model>-int8.parquet` or `-nf4`.
"""

from collections.abc import Iterator
from pathlib import Path

from sci_book.data.catalogue import MODELS, model_entry
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import OWN
from sci_book.resources import CHECKPOINTS
from sci_book.results.records import read_records, read_stamp
from sci_book.run.provenance import as_recorded
from sci_book.run.verify import Verification, verify_subset
from sci_core.families.models import load_model


def frozen_files(name: str, folder: Path, full: bool) -> list[Path]:
    """A pocket model's frozen records of the companions; those in reduced precision if `full`."""
    companions = [paper for paper in PAPERS.values() if paper.name != OWN]
    files = [folder / paper.name / f"{name}.parquet" for paper in companions]
    files += [
        folder / paper.name / f"{name}-{precision}.parquet"
        for paper in companions
        for precision in paper.precisions
        if full
    ]
    return [path for path in files if path.is_file()]


def of_trainings(folder: Path) -> Iterator[tuple[Path, str, Path]]:
    """Each further training's checkpoint, its model's name, and its own folder of frozen records.

    Those whose records are of other weights, or are not there, are left out.
    """
    for name in sorted(path.stem for path in MODELS.glob("*.yaml")):
        called = model_entry(name).get("trainings")
        for checkpoint in sorted((CHECKPOINTS / "trainings").glob(called)) if called else ():
            within = folder / f"training{checkpoint.name.rpartition('-')[2]}"
            file = within / f"{name}.parquet"
            if file.is_file() and read_stamp(file)["model"] == checkpoint.name:
                yield checkpoint, name, within


def verify(checkpoint: Path, file: Path, share: int) -> Iterator[Verification]:
    """Answer 1 / `share` of the question groups of a frozen file anew, and compare.

    In reduced precision an answer may depend on what shares its batch: compare all, or none.

    Raises:
        RecordsError: they are of another model, data or decoding.
    """
    frozen = read_records(file)
    model = load_model(checkpoint, **as_recorded(frozen.stamp))
    paper = PAPERS.get(file.parent.name, PAPERS[OWN])
    for records, dataset in paper.parts_of(frozen):
        yield verify_subset(model, records, dataset, share=share)
