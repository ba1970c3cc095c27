"""The small made-up records that a registration is held to, and what is measured on them.

    python benchmarks/golden.py records   # cut them anew from the book's records
    python benchmarks/golden.py values    # measure anew: what changes is an amendment

The set is a few question groups of each data set, with what the book's models answered. From it
three further trainings of each family are made, whose answers to a row are drawn from those to rows
of the same data set and truth: trainings differ, and none of them is one. Values are every part of
every claim for each family with its interval, each verdict, and every condition.
"""

import argparse
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from freeze_records import PAIR

from sci_book.files import write_whole
from sci_book.papers.shared import chapters, gate
from sci_book.pipeline import ledger, over_trainings
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.release import sums
from sci_book.resources import FROZEN_RECORDS, PAPER
from sci_book.results.drbench import in_hashed_share
from sci_book.results.records import Records, read_records, write_records
from sci_book.results.statistics import Interval

FOLDER = PAPER / "golden"
RECORDS, VALUES, SUMS = FOLDER / "records", FOLDER / "values.csv", FOLDER / "records.sha256"
TRAININGS = 4
SHARE = {"cvqa": 16, "edge": 8, "oric": 12, "metara": 4, "descriptions": 15}
"""One in so many question groups is kept of a companion's rows, of all others one in `OTHERS`."""
OTHERS = 30
DIGITS = 10
"""Of a value: sums may differ in the last places from one processor to the next."""


def cut() -> None:
    """Write the small set of records, and its checksums, of which a registration holds the one."""
    for name in PAIR:
        for path in sorted(FROZEN_RECORDS.glob(f"**/{name}*")):
            within = path.relative_to(FROZEN_RECORDS)
            if within.parts[0] != "extended" and not chapters.training_in(Path(within.parts[0])):
                (RECORDS / within).parent.mkdir(parents=True, exist_ok=True)
                (_cut_draws if path.suffix == ".csv" else _cut_records)(path, RECORDS / within)
    write_whole(SUMS, checksums().encode())


def checksums() -> str:
    """What `sha256sum --check` reads in the folder of the set: a line a file of its records."""
    files = sorted(path for path in RECORDS.rglob("*") if path.is_file())
    return sums({path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in files})


def _cut_records(path: Path, out: Path) -> None:
    records = read_records(path)
    small = records.take(_kept(path, records))
    write_records(out, small.rounded() if len(small.nodes.row) else small)


def _cut_draws(path: Path, out: Path) -> None:
    drawn, of = pd.read_csv(path), read_records(FROZEN_RECORDS / f"{path.stem}.parquet")
    kept = {*of.take(_kept(path, of)).keys}
    rows = [key in kept for key in zip(drawn["dataset"], drawn["index"], strict=True)]
    drawn[rows].to_csv(out, index=False)


def _kept(path: Path, records: Records) -> np.ndarray:
    share = SHARE.get(path.parent.name, OTHERS)
    return np.array([in_hashed_share(group, share, "golden") for group in records.frame["group"]])


def with_trainings(folder: Path) -> None:
    """Write the set to a folder, with further trainings of each model."""
    shutil.copytree(RECORDS, folder, dirs_exist_ok=True)
    for training, name in product(range(1, TRAININGS), PAIR):
        at = folder / f"training{training}"
        for path in sorted(RECORDS.glob(f"**/{name}.*")):
            out = at / path.relative_to(RECORDS)
            out.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".csv":
                shutil.copy(path, out)
            else:
                records = _another(read_records(path), training)
                called = f"{records.stamp['family']}-{training}"  # as the registered ones are
                write_records(out, replace(records, stamp={**records.stamp, "model": called}))


def _another(records: Records, training: int) -> Records:
    """The answers to each row drawn from those to rows of one data set, type and truth."""
    rng = np.random.default_rng(training)
    places = np.arange(len(records.table))
    alike = ["dataset", "question_type", "truth", "options"]
    for rows in records.frame.groupby(alike).indices.values():
        places[rows] = rng.choice(rows, len(rows))
    answers = records.table.take(places)
    for at, field in enumerate(records.table.schema):
        if ":" not in field.name and field.name != "nodes":  # of the row, not of an answer
            answers = answers.set_column(at, field, records.table.column(at))
    return replace(records, table=answers)


def measured(folder: Path) -> pd.DataFrame:
    """What is judged over the trainings in a folder: a row a part of a claim, and a condition.

    Of a claim and model: its words, how many trainings have it and what it lacks; of each part the
    estimate, both ends of its interval, to `DIGITS` digits, and the rows. What rests on committed
    results (time, fine-tuning) has none.
    """
    models = chapters.subjects(list(PAIR), folder)
    found = ledger.evaluate(load_claims(), models, None)
    found += over_trainings.judge(over_trainings.load_claims(), models)
    shown = {model.name: model.shown for model in models}
    lines = []
    for each in sorted(found, key=lambda of: [*shown].index(of.model)):
        known = {
            "claim": f"{each.claim.paper}: {each.claim.id}", "model": shown[each.model],
            "verdict": each.verdict, "word": each.word, "trainings": each.trainings,
            "lacks": each.unmet,
        }  # fmt: skip
        lines += [known | _values(*part) for part in each.parts] or [known]
    for model in models:
        for name, state in gate.over_trainings(model.trainings).items():
            lines.append({"claim": f"condition: {name}", "model": model.shown, "lacks": state})
    return pd.DataFrame(lines).astype({"trainings": "Int64", "n": "Int64"})


def _values(what: str, made: Interval, word: str) -> dict[str, Any]:
    numbers = {"estimate": made.estimate, "low": made.low, "high": made.high}
    shown = {name: f"{number:.{DIGITS}g}" for name, number in numbers.items()}
    return {"part": what, "of the part": word, **shown, "n": made.n}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("records", "values"))
    if parser.parse_args().what == "records":
        cut()
        return
    with TemporaryDirectory() as folder:
        with_trainings(Path(folder))
        write_whole(VALUES, measured(Path(folder)).to_csv(index=False).encode())


if __name__ == "__main__":
    main()
