"""What descriptions say against what the picture shows: lines of the frame, over trainings.

Of models with records of descriptions: their own, or `descriptions/<name>.parquet` beside them.
Every quantity is a share of sums over descriptions, as CHAIR is:

==================  ================================================================================
chair_i             of all mentions of things, those of things that are not there
chair_s             of all descriptions, those with such a mention
recall              of all things that are there, those named
repetition          of all mentions of things, those of things that were named before
length              words of a description; no share
phrases             of all phrases, those right in all that they say; of pocket descriptions alone
kind                of the things in phrases, those that are there
number, colour      of phrases on things that are there, those right in this; so also `symbol`, of
                    signs, and `place`, of all
==================  ================================================================================

`chair_i` and `phrases` are also known by position: of the first, second, third thing named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd

from sci_book.papers.shared import frame
from sci_book.papers.shared.chapters import Subject
from sci_book.pocket.descriptions import ASPECTS, judged
from sci_book.results import chair
from sci_book.results.drbench import split
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import ratio
from sci_core.methods import method

FOLDER = "descriptions"
POSITIONS = (1, 2, 3)
_PARTS = {
    "chair_i": ("invented", "named"),
    "chair_s": ("inventing", "descriptions"),
    "recall": ("found", "objects"),
    "repetition": ("repeated", "named"),
    "length": ("words", "descriptions"),
    "phrases": ("right", "phrases"),
    **{aspect: (f"{aspect} right", f"{aspect} said") for aspect in ASPECTS},
}
_BY_POSITION = ("chair_i", "phrases")


def shares(
    models: Iterable[Subject],
    quantity: str,
    *,
    methods: Sequence[str],
    against: Sequence[str] = (),
    position: int | None = None,
    than: int | None = None,
    part: Literal["test", "validation"] = "test",
) -> Iterator[dict[str, Any]]:
    """A quantity of each method's descriptions; with `against`, less that of each other method.

    `n` counts the descriptions that have what the quantity is a share of.

    Args:
        models: of one without descriptions there is no line.
        methods: names as `sci evaluate --methods` takes them, such as "SCI5(edit=first_token)", or
            those of rounds.
        position: of the things at this place of a description alone, 1 for the first.
        than: another such place, whose figure is subtracted.
        part: of the paper's split of rows.

    Raises:
        ValueError: no such quantity or position, or a quantity that is not known by position.
    """
    places = [position] if than is None else [position, than]
    if quantity not in _PARTS or (places != [None] and quantity not in _BY_POSITION):
        raise ValueError(
            f"There is no {quantity!r}{'' if places == [None] else ' by position'}; expected one "
            f"of {', '.join(_PARTS if places == [None] else _BY_POSITION)}."
        )
    if not {*places} <= {None, *POSITIONS}:
        raise ValueError(f"Positions are {', '.join(map(str, POSITIONS))}; got {places}.")
    for model, name, other in product(map(describing, models), methods, against or [None]):
        if model is None:
            continue
        names = [name] if other is None else [name, other]
        cells = [(one, column) for place, one in product(places, names)
                 for column in _columns(quantity, place)]  # fmt: skip
        reach = len(cells) // 4  # 0 of a share, 1 of a difference, 2 of one of differences
        yield frame.line(
            model,
            partial(_values, cells=cells),
            partial(_rows, part=part),
            None if quantity == "length" else (-float(reach), max(float(reach), 1.0)),
            statistic=apart,
            quantity=quantity,
            method=name,
            contrast=" − ".join(names),
            at=" − ".join(str(place) for place in places if place) or "all",
            **({"scale": 1} if quantity == "length" else {}),
        )


MEASURES: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    quantity: partial(shares, quantity=quantity) for quantity in _PARTS
}


def describing(model: Subject) -> Subject | None:
    """The model with its records of descriptions; None if it has none."""
    if (model.records.frame["question_type"] == chair.TYPE).any():
        return model
    try:
        return model.beside(FOLDER)
    except NotRecorded:
        return None


def apart(sums: np.ndarray) -> np.ndarray:
    """A ratio of two sums; of four that of the first two less the other; of eight the same of these
    differences."""
    half = len(sums) // 2
    if half == 1:
        return ratio(sums)
    return np.asarray(apart(sums[:half]) - apart(sums[half:]))


def _columns(quantity: str, position: int | None) -> tuple[str, ...]:
    return tuple(f"{part} {position}" if position else part for part in _PARTS[quantity])


def _values(training: Subject, cells: Sequence[tuple[str, str]]) -> np.ndarray:
    """The columns of these methods; NaN for a row in which there is nothing to take a share of."""
    found = np.stack([counts(training, name)[column].to_numpy() for name, column in cells])
    return np.where((found[1::2] > 0).any(axis=0), found, np.nan)


def _rows(training: Subject, part: str) -> np.ndarray:
    return split(training.records) == part


@lru_cache(maxsize=128)  # a handful of trainings of two models, under ten methods
def counts(training: Subject, name: str) -> pd.DataFrame:
    """What the shares are of, a row each: `chair.counts` and the same of phrases and positions.

    NaN for a row that is no answered description.
    """
    records = training.records
    policy = name if name in records.rounds else records.policy_of(method(name))
    if policy is None:
        raise NotRecorded(f"The descriptions of {training.name} hold none of {name}.")
    lines = [
        _of_row(named, judged(text, truth))
        for named, text, truth in zip(
            chair.mentions(records, policy), records.text(policy), records.frame["truth"],
            strict=True,
        )
    ]  # fmt: skip
    counted = chair.counts(records, policy)
    further = pd.DataFrame(lines, dtype=float).where(counted["words"].notna())
    return pd.concat([counted, further], axis=1)


def _of_row(
    named: Sequence[tuple[str, bool]], phrases: Sequence[dict[str, bool]]
) -> dict[str, int]:
    """What a description says, by its mentions of things and its phrases as `judged`."""
    right = [all(phrase.values()) for phrase in phrases]
    line = {
        "descriptions": 1,
        "inventing": any(not shown for _, shown in named),
        "phrases": len(phrases),
        "right": sum(right),
    }
    for aspect in ASPECTS:
        said = [phrase[aspect] for phrase in phrases if aspect in phrase]
        line |= {f"{aspect} said": len(said), f"{aspect} right": sum(said)}
    things = [fits for fits, phrase in zip(right, phrases, strict=True) if "kind" in phrase]
    for position in POSITIONS:
        mention, thing = named[position - 1 : position], things[position - 1 : position]
        line |= {
            f"named {position}": len(mention),
            f"invented {position}": sum(not shown for _, shown in mention),
            f"phrases {position}": len(thing),
            f"right {position}": sum(thing),
        }
    return line
