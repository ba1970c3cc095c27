"""Which questions the explorer shows, by rule: corrected, spoilt, unchanged, of every family."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sci_book.papers.shared.chapters import Subject
from sci_book.results.drbench import split
from sci_book.results.stamps import RecordsError

METHOD = "SCI5"
OUTCOMES = ("corrected", "spoilt", "right before and after", "wrong before and after")
_CHINESE = re.compile("_cn$|ccbench$")


class Chosen(NamedTuple):
    """A row of the records, and by model what `METHOD` makes of the base's answer to it."""

    row: int
    outcomes: tuple[str, ...]


def choose(models: Sequence[Subject]) -> list[Chosen]:
    """For each model, family, language and outcome the first test row of a picture not yet shown.

    Their records are of the same rows. Raises RecordsError if no test row was answered by all
    models, NotRecorded if some records have not what `METHOD` follows from.
    """
    first = models[0].records
    frame = first.frame
    asked = (split(first) == "test") & np.all([model.records.ok for model in models], axis=0)
    outcomes = np.stack([_outcomes(model) for model in models])
    languages = np.where(frame["dataset"].str.contains(_CHINESE), "Chinese", "English")
    families = frame["category"].to_numpy()
    pictures = frame["image_hash"].to_numpy()
    covered: set[tuple] = set()
    chosen: dict[int, Chosen] = {}
    seen: set[str] = set()
    for wanted in OUTCOMES:
        for row in np.flatnonzero(asked & (outcomes == wanted).any(axis=0)).tolist():
            cells = {
                (model, families[row], languages[row], outcome)
                for model, outcome in enumerate(outcomes[:, row])
            }
            new = {cell for cell in cells - covered if cell[-1] == wanted}
            if new and pictures[row] not in seen:
                covered |= cells
                seen.add(pictures[row])
                chosen[row] = Chosen(row, tuple(outcomes[:, row].tolist()))
    if not chosen:
        raise RecordsError("No test row of these records was answered under every round.")
    return [chosen[row] for row in sorted(chosen)]


def _outcomes(model: Subject) -> np.ndarray:
    before, after = model.right("base") == 1, model.right(METHOD) == 1
    return np.select([after & ~before, before & ~after, before & after], OUTCOMES[:3], OUTCOMES[3])
