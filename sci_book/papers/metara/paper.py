"""MetaRA in this book: its claims, its pocket data and what a model is asked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

from sci_book import resources
from sci_book.data.datasets import load_dataset
from sci_book.papers.metara import files
from sci_book.papers.metara.metavqa import compositions
from sci_book.papers.metara.originals import read_originals
from sci_book.papers.shared.paper import USUAL, Paper, PaperSet, Reading, asked_of, whole
from sci_book.pocket import metara as pocket_metara
from sci_book.pocket.lock import one_at_a_time
from sci_book.results.records import Records
from sci_core.families.models import VisionLanguageModel

DATA = resources.DATA / "metara"
SET = "pocket_metara"
# Originals of each task, and how many of them, from the first on, are also asked about in parts
# (MetaVQA) and on sheets: few enough for a pocket model to answer, by every method, in minutes.
ORIGINALS, IN_PARTS, ON_SHEETS = 72, 14, 10


def draw(say: Callable[[str], None] = print) -> None:
    """Draw those of MetaRA's pocket sets that are missing, and check all by their manifests.

    Each task's originals with their cases, and questions about wholes and parts of some; sheets of
    originals and cases in several orders, of both tasks together.
    """
    with one_at_a_time(DATA):
        _draw(say)
    load_dataset(SET)


def _draw(say: Callable[[str], None]) -> None:
    sequences = []
    for task in pocket_metara.SETS:
        folder = DATA / "originals" / task
        pocket_metara.write(folder, task, size=ORIGINALS, say=say)
        read = read_originals(folder)
        sequences += read.originals[:ON_SHEETS]
        if _missing(name := f"{SET}_{task}"):
            say(f"transforming {ORIGINALS} originals")
            files.write_cases(DATA, name, read.originals)
        if _missing(name := f"{SET}_metavqa_{task}"):
            composed = map(compositions, read.originals[:IN_PARTS])
            files.write_compositions(DATA, name, chain.from_iterable(composed))
    if _missing(name := f"{SET}_sheets"):
        say(f"laying {len(sequences)} originals and their cases on sheets")
        files.write_sheets(DATA, name, sequences)


def _missing(name: str) -> bool:
    """Whether a set of MetaRA is not drawn; its YAML file is written last."""
    return not (DATA / f"{name}.yaml").is_file()


class _AnswersAlone(PaperSet):
    """MetaRA's figures are of answers; logits would fill its file."""

    def read(self, model: VisionLanguageModel, out: Path, reading: Reading = USUAL) -> Records:
        return super().read(model, out, reading).answers_alone()


PAPER = Paper(
    name="metara",
    title="MetaRA",
    tables=frozenset(range(1, 7)),
    figures=frozenset(range(1, 10)),
    tested="sci_book.papers.metara.chapters.measures.TESTED",
    data=SET,
    folder=DATA,
    draw=draw,
    asked=asked_of("metara", _AnswersAlone),
    parts_of=whole(SET),
    checks="sci_book.papers.metara.audit.OWN",
)
