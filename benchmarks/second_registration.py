"""Write the second registration, once four trainings of each family have ended.

    python benchmarks/second_registration.py

It fixes every file that decides a verdict, as the commit that is checked out has it, the trainings
that enter by the rule, and the seed of a fresh world of test rows. It is committed before a method
is decoded on any of these trainings, and written once: a later change is an amendment.
"""

import argparse
import datetime
import hashlib
import json
import sys
from collections.abc import Mapping
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import yaml
from trainings import ORDER  # beside this file

from sci_book.files import write_whole
from sci_book.pipeline import registration
from sci_book.pipeline.release import git
from sci_book.pocket import world
from sci_book.pocket.curriculum import seed_of
from sci_book.resources import CHECKPOINTS, FROZEN_RECORDS, PAPER, RESULTS
from sci_book.results.records import read_stamp

LEAST, MOST = 4, 5
"""So many trainings of a family at least, and at most, have a verdict over them."""
LEARNED = 65.0
"""Percent right that a training's base needs; below it has not learned the task."""
FAMILIES = tuple(dict.fromkeys(family for family, _ in ORDER))
SISTERS = tuple((family, name) for family, name in ORDER if not name.isdigit())
DECIDING = (
    "claims_*.yaml", "conditions.yaml", "second/*.yaml", "golden/values.csv",
    "golden/records.sha256",
)  # fmt: skip
"""Files in `data_manifests/paper`; beside them each family's recipe, which gives the seeds."""

HEAD = """\
# What was fixed before any method was judged on a training whose seed nobody chose; made by
# benchmarks/second_registration.py. `amendments` counts those that had been entered before.
"""
KNOWN = """\
Every predicate was written, and those of the papers were mended, with results of earlier trainings
at hand: of seeds 0, 1 and 2, of which seed 0 goes on from the first models. Of the trainings below
it was known how often each input alone is right on the rows that the conditions are judged on, and
so which conditions each meets. No method had been decoded on any, with one exception: for the file
of logits in reference/ each method chose one token for each of 1,200 test questions on the first of
Qwen2-VL; these were compared with one another, and with no truth. Days and commits are this
repository's own, and nobody else holds them.
"""
SUBJECTS = """\
As many of each family's trainings 0 to 4 as have ended, in order, at least four. The small sister
enters by the one seed that the rule gives her, when she has ended; no verdict over trainings counts
her. One whose base is under 65 % right on the rows that the conditions are judged on has not
learned the task: it is named, and the next takes its place. No other is left out, and none for how
a method scores on it. Training i of one family answers the rows of training i of the other.
"""
WORLD = """\
Every test row of the five papers' pocket data was drawn anew before this commit: in each
generator's seed the number below stands in the place of 8,000,000, and of C-VQA's puzzles in that
of 0. The twins of the world before it (the data set pocket_before), all their rows, are what the
conditions are judged on: what a training answers there is in data_manifests/records/conditions and,
of further ones, training1/conditions and so on.
"""


def entering(bases: Mapping[int, float]) -> tuple[list[int], list[int]]:
    """The trainings of a family that enter, and those that have not learned the task, in order.

    Args:
        bases: percent right of the base by number, of the trainings that have ended.
    """
    ended = [*takewhile(bases.__contains__, count())]
    learned = [number for number in ended if bases[number] >= LEARNED]
    return learned[:MOST], [number for number in ended if number not in learned]


def chosen(results: Path) -> tuple[dict[str, dict], dict[str, float]]:
    """What is fixed of each training that enters, and the base of each that has not learned.

    Raises:
        ValueError: too few trainings of a family have ended.
    """
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in results.glob("*.json")}
    base = {
        name: each["accuracy of each input alone, %"]["original"] for name, each in found.items()
    }
    names, unlearned = [], []
    for family in FAMILIES:
        of_family = [name.partition("-")[2] for name in found if name.startswith(f"{family}-")]
        numbers = [int(number) for number in of_family if number.isdigit()]
        enter, not_learned = entering({each: base[f"{family}-{each}"] for each in numbers})
        if len(enter) < LEAST:
            raise ValueError(
                f"{len(enter)} trainings of {family} have ended, one after another from 0, and "
                f"learned the task; {LEAST} are needed. `python benchmarks/trainings.py --plan` "
                "names those that are missing."
            )
        names += [f"{family}-{each}" for each in enter]
        unlearned += [f"{family}-{each}" for each in not_learned]
    fixed = {
        name: {"seed": found[name]["seed"], "revision": found[name]["revision"], "base": base[name]}
        for name in names
    }
    return fixed, {name: base[name] for name in unlearned}


def registered(commit: str, day: datetime.date, results: Path) -> dict[str, Any]:
    """The registration as values.

    Raises:
        ValueError: too few trainings of a family have ended.
    """
    trainings, unlearned = chosen(results)
    return {
        "registered": day,
        "commit": commit,
        "amendments": len(registration.load_amendments()),
        "files": {
            name: hashlib.sha256((PAPER / name).read_bytes()).hexdigest() for name in deciding()
        },
        "known": " ".join(KNOWN.split()),
        "subjects": " ".join(SUBJECTS.split()),
        "trainings": trainings,
        "sisters": {f"{family}-{name}": seed_of(family, name) for family, name in SISTERS},
        "not learned": unlearned,
        "world": " ".join(WORLD.split()),
        "world seed": seed_of(FAMILIES[0], "world"),
    }


def deciding() -> list[str]:
    """The files that decide, by their names in `data_manifests/paper`."""
    names = [
        path.relative_to(PAPER).as_posix()
        for pattern in DECIDING
        for path in sorted(PAPER.glob(pattern))
    ]
    return [*names, *(f"../pocket/recipe-{family}.yaml" for family in FAMILIES)]


def obstacles(made: Mapping[str, Any], records: Path) -> list[str]:
    """Why a registration may not be written now, in sentences."""
    said = registration.all_departures()
    if registration.SECOND in registration.of_claims():
        said.append(f"{registration.SECOND} is there; a change of it is no registration.")
    paths = [*((PAPER / name).resolve() for name in made["files"]), CHECKPOINTS / "trainings",
             RESULTS / "trainings", PAPER / registration.AMENDMENTS]  # fmt: skip
    if changed := git("status", "--porcelain", "--", *map(str, paths)):
        said.append(f"The commit does not hold these as they are; commit them first:\n{changed}")
    if getattr(world, "WORLD", None) != made["world seed"]:
        said.append(
            f"The test rows are not drawn by the rule yet. Let WORLD = {made['world seed']} in "
            "sci_book/pocket/world.py stand in the place of 8,000,000 in each generator's seed, "
            "and call `python benchmarks/redraw.py`."
        )
    lacking = {each["revision"]: name for name, each in made["trainings"].items()}
    revisions = set(lacking)
    for path in sorted(records.rglob("*.parquet")):
        stamp = read_stamp(path)
        if path.parent.name == "conditions":
            lacking.pop(stamp["revision"], None)
        elif stamp["revision"] in revisions:
            said.append(f"{path} has answers of methods on a training that would enter.")
    if lacking:
        said.append(
            f"What the conditions are judged on is missing of {', '.join(lacking.values())}. Make "
            "it with `python benchmarks/freeze_records.py --conditions`."
        )
    return said


def text_of(made: Mapping[str, Any]) -> str:
    """The registration's file."""
    return HEAD + yaml.safe_dump(dict(made), sort_keys=False, allow_unicode=True, width=100)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    try:
        made = registered(git("rev-parse", "HEAD"), datetime.date.today(), RESULTS / "trainings")
    except ValueError as error:
        sys.exit(str(error))
    if said := obstacles(made, FROZEN_RECORDS):
        sys.exit("\n".join(said))
    write_whole(PAPER / registration.SECOND, text_of(made).encode())
    print(f"{PAPER / registration.SECOND}: {', '.join(made['trainings'])}")


if __name__ == "__main__":
    main()
