"""The predictions about the dial, and what becomes of them on the records of its trainings.

`data_manifests/paper/predictions_dial.yaml` derives and states them. Each names its `measure`:

mean   a quantity's mean over the rows of all trainings at its `settings`, a question group
       with the rows of every training a cluster; so it speaks of these trainings and no others
slope  a quantity against another, over the trainings at its `settings`, those `beside` held; by
       least squares, Student's interval
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sci_book.files import read_yaml
from sci_book.papers.sci.dial import Samples, estimates, fitted
from sci_book.pocket.curriculum import SETTINGS
from sci_book.resources import PAPER
from sci_book.results.statistics import NO_DATA, Interval, Sample, slope, verdict

PREDICTIONS = "predictions_dial.yaml"
REGISTRATION = "registration_dial.yaml"
"""The day, the commit and the checksum of the predictions and of the dial."""


def load_predictions() -> dict[str, Any]:
    """The list `predictions`: `id`, `means`, `because`, `measure` and its arguments."""
    return read_yaml(PAPER / PREDICTIONS)


def outcomes(samples: Samples) -> pd.DataFrame:
    """A line a prediction: `means`, what is `claimed`, the interval of its measure, the verdict."""
    known = load_predictions()
    frame = turned(estimates(samples))
    lines = {}
    for each in known["predictions"]:
        if each["measure"] == "slope":
            found = _slope(each, frame)
        else:
            found = mean(each["of"], samples, each["settings"])
        margin = each.get("margin", 0.0)
        lines[each["id"]] = {
            "means": each["means"],
            "claimed": f"{'>' if each['claim'] == 'greater' else '<'} {margin:g}",
            **found._asdict(),
            "verdict": verdict(found, claim=each["claim"], margin=margin),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def turned(frame: pd.DataFrame) -> pd.DataFrame:
    """`estimates` with how far each training was turned.

    Columns `skew`, how often training showed the usual, s; `log odds`, log(s / (1 − s)); and
    `reword`, the share of its turns with another wording.
    """
    stages = [SETTINGS[name] for name in frame["setting"]]
    skew = np.array([stage.lot.skew for stage in stages])
    reword = [stage.mix.reword for stage in stages]
    odds = np.log(skew / (1 - skew))
    return frame.assign(**{"skew": skew, "log odds": odds, "reword": reword})


def _slope(prediction: Mapping, frame: pd.DataFrame) -> Interval:
    chosen = frame[frame["setting"].isin(prediction["settings"])]
    names = [prediction["against"], *prediction.get("beside", ())]
    fit = fitted(chosen, prediction["of"], names)
    return slope(fit, 0) if fit else NO_DATA


def mean(name: str, samples: Samples, settings: Sequence[str]) -> Interval:
    """A quantity's mean over the rows of all trainings at some settings."""
    parts = [each[name] for training, each in samples.items() if training.setting in settings]
    columns = ([getattr(part, key) for part in parts] for key in ("values", "clusters"))
    return Sample(name, *map(np.concatenate, columns)).interval
