"""Does a conclusion turn on a choice that the paper leaves open? Variants against conclusions.

A *conclusion* is a paired difference that the paper states, or that its numbers imply. A *variant*
changes one named choice and leaves the rest at the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from sci_book.data.answers.rules import raw_prefix
from sci_book.papers.sci.chapters.drbench_tables import paper_gap
from sci_book.papers.sci.chapters.shapes import paired
from sci_book.papers.shared.chapters import SplitBy, Subject
from sci_book.papers.shared.extended import extended, on_rows_of
from sci_book.results.drbench import Quantifier, split, subsets
from sci_book.results.records import Records
from sci_book.run.method_sets import EDITED
from sci_core.methods import BASE, M3ID, SCI3, SCI5, SCI7, TIE, VCD, Method

CONCLUSIONS: tuple[tuple[str, str, str], ...] = (
    ("SCI5", "base", "B"),
    ("SCI5", "base", "S"),
    ("SCI5", "base", "BS"),
    ("SCI5", "TIE", "BS"),
    ("SCI5", "VCD", "BS"),
    ("SCI5", "M3ID", "BS"),
    ("SCI7", "SCI3", "BS"),
    ("SCI5", "base", "S∖B"),
    ("SCI5", "base", "outside BS"),
    ("SCI5", "base", "all"),
)
DEFAULT = "default"
FIRST_TOKEN = "first token"
SHARES = ("proven", "known")

Change = Callable[[Method], Method]


@dataclass(frozen=True)
class Variant:
    """One choice made otherwise.

    Attributes:
        name: its row in the tables.
        change: the method that takes the place of each of `EDITED`.
        quantifier, split_by: of DRBench and of the test rows; None keeps the chapter's.
        comparison: how DRBench compares answers.
        scoring: "parsed", or "prefix": right if the raw answer begins with the truth.
        source: the records: "" ordinary, `FIRST_TOKEN` the extended ones, or a noise.
        own_sets: whether the subsets are built from the variant's answers; if not, from the
            ordinary ones of the same rows.
    """

    name: str
    change: Change = lambda method: method
    quantifier: Quantifier | None = None
    split_by: SplitBy | None = None
    comparison: Literal["parsed", "raw_prefix"] = "parsed"
    scoring: Literal["parsed", "prefix"] = "parsed"
    source: str = ""
    own_sets: bool = True


def _with(only: Sequence[Method] = EDITED, **fields) -> Change:
    """Change fields of some methods."""
    names = {method.name for method in only}
    return lambda method: replace(method, **fields) if method.name in names else method


_SCI = (SCI3, SCI5, SCI7)


def variants(quantifier: Quantifier, split_by: SplitBy) -> tuple[Variant, ...]:
    """Every named variant, the chapter's own reading first."""
    name, other = ("“all” (∀)", "all") if quantifier == "any" else ("“any” (∃)", "any")
    other_split = "groups" if split_by == "rows" else "rows"
    return (
        Variant(DEFAULT),
        Variant(name, quantifier=other),
        Variant(f"split by {other_split}", split_by=other_split),
        Variant("answers compared raw", comparison="raw_prefix"),
        Variant("compared and scored raw", comparison="raw_prefix", scoring="prefix"),
        Variant("log-probabilities", _with(log_probs=True)),
        Variant("M3ID, own clock", _with((M3ID,), clock="generated")),
        Variant("TIE, β = 0.5", _with((TIE,), beta=0.5)),
        Variant("VCD, β = 0.2", _with((VCD,), beta=0.2)),
        Variant("VCD, β = 0.1", _with((VCD,), beta=0.1)),
        Variant("all, β = 0.8", _with(beta=0.8)),
        Variant("SCI, β = 0.8", _with(_SCI, beta=0.8)),
        Variant("SCI, margin of SCI5", _with(_SCI, raw_margin=SCI5.margin)),
        Variant("first token alone", _with(edit="first_token"), source=FIRST_TOKEN),
        Variant("noise cut", source="clamp"),
        Variant("noise cut, old subsets", source="clamp", own_sets=False),
        Variant("noise on tensor", source="normalized"),
        Variant("noise on tensor, old subsets", source="normalized", own_sets=False),
    )


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The conclusions under one variant, and under the default on the same rows.

    Attributes:
        lines: rows of `tables.compare` by conclusion; the number `paper` under the default alone.
        reference: the same under the default; `lines` itself for the default.
        proven: share of replayed answers, in percent, that are proven; None where none was.
        known: share of them that follow from recorded tokens.
    """

    variant: Variant
    lines: pd.DataFrame
    reference: pd.DataFrame
    proven: float | None = None
    known: float | None = None


def evaluated(
    subject: Subject,
    folder: str | Path,
    quantifier: Quantifier,
    split_by: SplitBy,
) -> list[Evaluated]:
    """Every variant of one model; those without records have no row.

    The folder is that of the extended records (`papers.shared.extended`), quantifier and split are
    the default's.
    """
    reading = (quantifier, split_by)
    default, *others = variants(*reading)
    recorded, sets = _outcomes(subject, default), _sets(subject, default, reading)
    reference = conclusions(subject, sets, recorded, printed=reading == ("any", "rows"))
    results = [Evaluated(default, reference, reference)]
    replayed = cache(subject.replay.answers)  # several variants share a method
    parts: dict[str, pd.DataFrame] = {}
    for variant in others:
        if variant.source:
            results.append(_elsewhere(subject, folder, variant, reading, parts))
            continue
        changed = {method.name: variant.change(method) for method in EDITED}
        changed = {name: new for name, new in changed.items() if new not in EDITED}
        right, ok = recorded.copy(), subject.records.ok
        truth, shares = subject.records.frame["truth"].to_numpy(), []
        for name, new in changed.items():
            answers = replayed(new)
            hits = answers["answer"].to_numpy(dtype=object) == truth
            right[name] = np.where(ok, hits.astype(float), np.nan)
            shares.append(100 * answers.loc[ok, list(SHARES)].mean().fillna(1.0))
        if variant.scoring == "prefix":
            right = {name: by_prefix(subject.records, name) for name in right}
        only = set(changed) or None  # no change of a method: one of rows or of scores
        lines = conclusions(subject, _sets(subject, variant, reading), right, only=only)
        lines = lines.combine_first(reference.assign(paper=np.nan)).loc[reference.index]
        least = pd.DataFrame(shares).min().to_dict()
        results.append(Evaluated(variant, lines[reference.columns], reference, **least))
    return results


def conclusions(
    subject: Subject,
    sets: pd.DataFrame,
    right: Mapping[str, np.ndarray],
    *,
    printed: bool = False,
    only: set[str] | None = None,
) -> pd.DataFrame:
    """The paired differences in points, as rows of `tables.compare`; each is claimed positive.

    The paper's numbers stand beside if `printed`. A conclusion
    must be about one of the methods `only`, if some are named.
    """
    lines = {}
    for method, other, subset in CONCLUSIONS:
        if only is None or only & {method, other}:
            gap, rows = right[method] - right[other], sets[subset].to_numpy()
            paper = paper_gap(subject, method, other, subset) if printed else None
            line = paired(subject, gap, rows, paper=paper)
            lines[f"{method} − {other}, {subset}"] = line
    return pd.DataFrame.from_dict(lines, orient="index")


def by_prefix(records: Records, policy: str) -> np.ndarray:
    """1 where the raw lower-cased answer begins with the truth, else 0; NaN for an error.

    The reference implementation's rule: "10" is right where the truth is "1".
    """
    truth = records.frame["truth"].str.lower()
    pairs = zip(records.text(policy), truth, strict=True)
    begins = [raw_prefix(text, answer) == answer for text, answer in pairs]
    return np.where(records.ok, np.array(begins, dtype=float), np.nan)


def _outcomes(subject: Subject, variant: Variant) -> dict[str, np.ndarray]:
    methods = {method.name: variant.change(method) for method in EDITED}
    return {name: subject.right(method) for name, method in ({"base": BASE} | methods).items()}


def _sets(subject: Subject, variant: Variant, reading: tuple[Quantifier, SplitBy]) -> pd.DataFrame:
    quantifier, split_by = variant.quantifier or reading[0], variant.split_by or reading[1]
    test = split(subject.records, split_by) == "test"
    return subsets(subject.records, quantifier, variant.comparison) & test[:, None]


def _elsewhere(
    subject: Subject,
    folder: str | Path,
    variant: Variant,
    reading: tuple[Quantifier, SplitBy],
    parts: dict[str, pd.DataFrame],
) -> Evaluated:
    """A variant with records of its own; the default on its rows is the reference.

    `parts` keeps such references, for other variants on the same rows.
    """
    noise = "" if variant.source == FIRST_TOKEN else variant.source
    other = extended(subject, folder, noise)
    default = Variant(DEFAULT)
    if other is None:
        sets = _sets(subject, variant, reading) & False
        nothing = conclusions(subject, sets, _outcomes(subject, default))
        return Evaluated(variant, nothing, nothing)
    here = on_rows_of(subject, other)
    sets = _sets(here, variant, reading)
    # A row that failed in either run is in no subset of the pair.
    both = (here.records.ok & other.records.ok)[:, None]
    rows = f"{other.records.stamp['rows']} {hash(both.tobytes())}"
    if rows not in parts:
        parts[rows] = conclusions(here, sets & both, _outcomes(here, default))
    own = _sets(other, variant, reading) if variant.own_sets else sets
    right = _outcomes(other, variant)
    return Evaluated(variant, conclusions(other, own & both, right), parts[rows])
