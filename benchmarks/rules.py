"""What the book's own rules gain and lose on validation rows, on which alone they are developed.

    python benchmarks/rules.py --models pocket-qwen2vl,pocket-llavanext

Points against the base on each of four parts, and the least gain on BS that the test rows
could show with 80 % power, from the spread of its rows here. No test row is read.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.papers.sci import rules
from sci_book.papers.shared.chapters import Subject, subjects
from sci_book.results.statistics import difference
from sci_core.methods import METHODS

BETAS = (0.05, 0.1, 0.3, 0.5, 0.8, 0.95)
GAIN, PARTS = "BS", ("B", "outside BS", "BS", "all")
POWER = 2.80  # standard errors: a two-sided test at 5 % finds so large an effect in 80 % of cases


def developed(subject: Subject) -> pd.DataFrame:
    """By rule and β, the change on each part in points, and the `least` that test rows show."""
    sets, base = subject.sets("any", rules.SPLIT, "validation"), subject.right(METHODS["base"])
    of, lines = rules.rounds_of(subject.records, subject.replay), {}
    for name, rule in rules.RULES.items():
        for beta in BETAS:
            change = rules.right(of, subject.replay, rule, beta) - base
            rows = {part: sets[part].to_numpy() for part in PARTS}
            line = {part: 100 * change[mask].mean() for part, mask in rows.items()}
            line["least"] = least(subject, change, rows[GAIN])
            lines[f"{name}, β {beta:g}"] = line
    return pd.DataFrame.from_dict(lines, orient="index").round(2)


def least(subject: Subject, change: np.ndarray, rows: np.ndarray) -> float:
    """The gain on BS of test rows that would be found with 80 % power, in points.

    The standard error is that of these rows, smaller as there are more groups of test rows.
    """
    found = difference(change[rows], subject.groups[rows])
    tested = len(set(subject.groups[subject.sets("any", rules.SPLIT)[GAIN].to_numpy()]))
    return 100 * POWER * found.error * np.sqrt(found.clusters / max(tested, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="pocket-qwen2vl,pocket-llavanext")
    parser.add_argument("--records", type=Path, default=Path("data_manifests/records"))
    given = parser.parse_args()
    for subject in subjects(given.models.split(","), given.records):
        print(f"{subject.name}, validation rows, points against the base")
        print(developed(subject).sort_values(GAIN, ascending=False).to_string(), end="\n\n")


if __name__ == "__main__":
    main()
