"""Whether a model meets what a claim rests on: the conditions, on the model's validation rows.

A claim about SCI says something only where a rewording asks the same question and a dummy shows
nothing (`data_manifests/paper/conditions.yaml`). On a model for which that is not so, or not known,
the book calls no verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import pandas as pd

from sci_book.results.drbench import split
from sci_book.results.records import Records, read_records
from sci_book.results.statistics import FEWEST
from sci_book.run import conditions

OF_SCI = ("rewording", "dummy", "above-chance")
"""What claims about SCI rest on: its rewordings, its dummies, and a base that can do the task."""
_NO_RECORDS = "undecided (it has no records of DRBench)"
SISTER = "small sister"
_LACKING = {
    "as-the-paper": "undecided (the paper has no such model)",
    "sister": "undecided (it has no smaller sister)",
}


@runtime_checkable
class Trained(Protocol):
    """One training of a model: `chapters.Subject`."""

    path: Path
    records: Records

    @property
    def printed(self) -> dict[str, float] | None: ...

    @property
    def unmet(self) -> dict[str, str]: ...


def measured(records: Records, path: Path, paper: dict[str, float] | None) -> pd.DataFrame:
    """Every condition of a model and of its smaller sister (`conditions.measure`).

    Args:
        records: of DRBench. Their validation rows count, or all rows of the records
            `conditions/<name>.parquet` beside, where there are some.
        path: of the records' file; the sister's is `<name>-small.parquet`.
        paper: accuracy in percent of the paper's model by question type, if this one stands for
            one.
    """
    tables = [conditions.measure(*judged_on(path, records), paper=paper)]
    sister = path.with_name(f"{path.stem}-small.parquet")
    if sister.is_file():
        tables.append(conditions.measure(*judged_on(sister, read_records(sister)), of=SISTER))
    return pd.concat(tables, ignore_index=True)


def judged_on(path: Path, records: Records) -> tuple[Records, dict]:
    """The records that the conditions are judged on, and the conditions for them."""
    spec, file = conditions.load_conditions(), path.parent / "conditions" / path.name
    if file.is_file():
        return read_records(file), {**spec, "split": "all"}
    return records, spec


def unmet(records: Records | None, path: Path, paper: dict[str, float] | None) -> dict[str, str]:
    """By condition, its state if that is not "met": "not met" or "undecided"; "" where it is met.

    Arguments as of `measured`; `records` is None for a model without any of DRBench.
    """
    if records is None:
        spec = conditions.load_conditions()
        return {condition["id"]: _NO_RECORDS for condition in spec["conditions"]}
    table = measured(records, path, paper)
    states = {str(name): conditions.overall(lines) for name, lines in table.groupby("id")}
    # No registered condition, and it stops a verdict only where it is not met for sure.
    unread = conditions.overall(conditions.readable(records)) == "not met"
    states[conditions.READABLE] = "not met" if unread else "met"
    return _LACKING | {name: "" if state == "met" else state for name, state in states.items()}


def over_trainings(trainings: Sequence[Trained]) -> dict[str, str]:
    """`unmet` of a model over the trainings of its recipe, as a claim is judged over them.

    Of `FEWEST` and more from intervals over them; of fewer the state that all have, or undecided.
    Of a smaller sister there is one training, beside the first; answers of one training that cannot
    be read are enough to stop a verdict.
    """
    each = [training.unmet for training in trainings]
    if len(trainings) < FEWEST:
        states = {name: {other[name] for other in each} for name in each[0]}
        over = {n: min(found) if len(found) == 1 else "undecided" for n, found in states.items()}
    else:
        spec = {**conditions.load_conditions(), "split": "all"}
        records, *further = map(_judged_rows, trainings)
        table = conditions.measure(records, spec, paper=trainings[0].printed, further=further)
        words = {str(name): conditions.overall(lines) for name, lines in table.groupby("id")}
        over = _LACKING | {name: "" if word == "met" else word for name, word in words.items()}
    if "sister" in each[0]:
        over["sister"] = each[0]["sister"]
    unread = any(other.get(conditions.READABLE) for other in each)
    return over | {conditions.READABLE: "not met" if unread else ""}


def _judged_rows(training: Trained) -> Records:
    records, spec = judged_on(training.path, training.records)
    every = spec["split"] == "all"
    return records if every else records.take(split(records) == spec["split"])


def of_claim(rests_on: Iterable[str], models: Mapping[str, Mapping[str, str]]) -> str:
    """What keeps a claim from being judged, "rewording not met, dummy undecided"; "" if nothing.

    Answers that cannot be read keep every claim from it that rests on anything.

    `models` holds `unmet`, by title, of the models that must meet what it rests on.
    """
    obstacles = []
    for model, states in models.items():
        names = [*rests_on, conditions.READABLE]
        if words := [f"{name} {states[name]}" for name in names if states.get(name)]:
            obstacles.append(", ".join(words) + (f" for {model}" if len(models) > 1 else ""))
    return "; ".join(obstacles)
