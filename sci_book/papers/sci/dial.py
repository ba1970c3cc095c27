"""The dial: what SCI gains on short trainings that differ in prior and in wordings.

Of every training (`data_manifests/pocket/dial.yaml`) there are records on the same rows. A quantity
is a mean over rows, so that one definition serves its estimate and its interval; over trainings, a
gain is set against what a model's own rounds tell before any SCI is decoded, habit and deficit:
habit is the share of the base's errors that repeat its answer to a picture of nothing (B), deficit
what V1 and V2 cost in accuracy on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sci_book.pocket.twins import is_usual
from sci_book.pocket.words import manifest
from sci_book.results.drbench import TEXTUAL, subsets
from sci_book.results.records import Records, read_records
from sci_book.results.statistics import Fit, Sample, least_squares
from sci_core.methods import METHODS

PARTS = ("B", "S∖B", "BS", "all")
KNOWN = ("habit", "deficit")
"""What a gain is set against: known of a model before any SCI is decoded."""


class Training(NamedTuple):
    """One training of the dial, by its setting and seed."""

    setting: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.setting}-seed{self.seed}"


Samples = Mapping[Training, Mapping[str, Sample]]
"""By training and name, what is measured of it."""


def trainings() -> list[Training]:
    """Every training of the dial, setting by setting."""
    dial = manifest("dial.yaml")
    return [Training(setting, seed) for setting in dial["settings"] for seed in dial["seeds"]]


def methods() -> list[str]:
    """The methods that every training is decoded with, beside the base."""
    return manifest("dial.yaml")["methods"]


def missing(folder: Path) -> list[Training]:
    """The trainings without records in a folder."""
    return [each for each in trainings() if not (folder / f"{each.name}.parquet").is_file()]


def read_dial(folder: Path) -> dict[Training, Records]:
    """The records of every training; raises RecordsError if one has none."""
    return {each: read_records(folder / f"{each.name}.parquet") for each in trainings()}


def quantities(records: Records) -> dict[str, Sample]:
    """Everything that is measured of one model, by name: values of rows with their groups.

    `V1 alone` and so on   the accuracy of every round alone
    `B`, `S`               their share of all rows
    `habit`                the share of the base's errors that is in B
    `deficit`              accuracy of the original less that of V1 and V2, their mean
    `SCI5 − base, S∖B`     a gain on each of `PARTS`; over VCD too. No row of one that was not
                           decoded with these constants
    `VCD corrects habit`   of the errors that VCD puts right, the share that is in B

    Rows with an error count nowhere. Raises RecordsError without V1, V2, black and noise500.
    """
    sets = subsets(records)
    right = {name: records.correct(name).astype(float) for name in records.rounds}
    wrong = records.ok & (right["original"] == 0)
    rewordings = np.mean([right[name] for name in TEXTUAL], axis=0)
    habits = sets["B"].to_numpy(dtype=float)
    taken = {f"{name} alone": (hit, records.ok) for name, hit in right.items()}
    taken |= {name: (sets[name].to_numpy(dtype=float), records.ok) for name in ("B", "S")}
    taken["habit"] = habits, wrong
    taken["deficit"] = right["original"] - rewordings, records.ok
    decoded = _decoded(records)
    for method, hit in decoded.items():
        for other in ("base", "VCD"):
            against = right["original"] if other == "base" else decoded[other]
            if method != other:
                gains = {part: (hit - against, sets[part].to_numpy()) for part in PARTS}
                taken |= {f"{method} − {other}, {part}": each for part, each in gains.items()}
    taken["VCD corrects habit"] = habits, wrong & (decoded["VCD"] == 1)
    return {name: _sample(records, name, *each) for name, each in taken.items()}


def by_usual(records: Records) -> dict[str, Sample]:
    """The base's accuracy where a pocket twin's answer is the usual one, and where it is not."""
    frame, right = records.frame, records.correct("original").astype(float)
    pairs = zip(frame["dataset"], frame["index"], strict=True)
    usual = np.array([is_usual(*pair) for pair in pairs], dtype=bool)
    parts = {"base, usual": usual, "base, unusual": ~usual}
    return {name: _sample(records, name, right, rows & records.ok) for name, rows in parts.items()}


def estimate(sample: Sample) -> float:
    """A quantity without its interval; NaN of no row."""
    return float(sample.values.mean()) if len(sample.values) else np.nan


def samples_of(dial: Mapping[Training, Records]) -> Samples:
    """Every quantity of every training, the base's accuracy on usual and other rows among them."""
    return {each: quantities(records) | by_usual(records) for each, records in dial.items()}


def estimates(samples: Samples) -> pd.DataFrame:
    """A line a training with the estimate of every quantity; `setting` and `seed` beside."""
    return pd.DataFrame(
        {**training._asdict(), **{name: estimate(sample) for name, sample in each.items()}}
        for training, each in samples.items()
    )


def fitted(frame: pd.DataFrame, of: str, by: Sequence[str]) -> Fit | None:
    """A quantity by others over the trainings that have it; None if none has."""
    known = frame[frame[of].notna()]
    return least_squares([known[name] for name in by], known[of]) if len(known) else None


def _decoded(records: Records) -> dict[str, np.ndarray]:
    """Of each of the dial's methods, whether it is right; NaN if the records do not hold it."""
    policies = {name: records.policy_of(METHODS[name]) for name in methods()}
    none = np.full(len(records.table), np.nan)
    return {
        name: records.correct(policy).astype(float) if policy else none
        for name, policy in policies.items()
    }


def _sample(records: Records, name: str, values: np.ndarray, rows: np.ndarray) -> Sample:
    groups, rows = records.frame["group"].to_numpy(dtype=object), rows & np.isfinite(values)
    return Sample(name, values[rows], groups[rows])
