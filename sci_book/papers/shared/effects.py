"""Does a method help? What the chapters that ask it of each companion's measures share.

One rule for all: a line is one method less another on the same rows, with its own interval, and
p-values are Holm's over the lines of all models of a page.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from sci_book.papers.shared.chapters import row
from sci_book.papers.shared.tables import frame_of
from sci_book.results.statistics import Interval, holm

Side = Literal["greater", "less"]


class Effect(NamedTuple):
    """One line: how much a method changes a measure.

    what      names the line
    claim     on which side of zero the better values lie
    interval  the change with its interval
    p         of the sign-flip test, not corrected; NaN for a change that is no mean over rows
    """

    what: str
    claim: Side
    interval: Interval
    p: float


def effect_frames(effects: Mapping[str, Sequence[Effect]]) -> dict[str, pd.DataFrame]:
    """The lines of each model of a page as rows of `tables.compare`, with `p` (Holm's), `claim`."""
    adjusted = iter(holm([e.p for lines in effects.values() for e in lines if not np.isnan(e.p)]))
    frames = {}
    for model, lines in effects.items():
        rows = {}
        for effect in lines:
            p = effect.p if np.isnan(effect.p) else next(adjusted)
            shown = row(effect.interval, claim=effect.claim)
            rows[effect.what] = {**shown, "p": p, "claim": effect.claim}
        frames[model] = frame_of(rows, "p", "claim")
    return frames
