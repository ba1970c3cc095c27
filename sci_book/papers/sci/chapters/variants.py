"""Does a conclusion turn on a choice that the paper leaves open? Variants against conclusions.

A *conclusion* is a paired difference that the paper states, or that its numbers imply. A *variant*
changes one named choice and leaves the rest at the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from sci_book.data.answers.rules import raw_prefix
from sci_book.papers.sci.chapters.drbench_tables import Claim, Outcomes, paper_accuracy
from sci_book.papers.shared.chapters import SplitBy, Subject, row
from sci_book.papers.shared.extended import extended, on_rows_of
from sci_book.results.drbench import Quantifier, split, subsets
from sci_book.results.records import Records
from sci_book.results.statistics import cluster_bootstrap, simultaneous_level
from sci_core.methods import M3ID, SCI3, SCI5, SCI7, TIE, VCD, Method

METHODS = (TIE, VCD, M3ID, SCI3, SCI5, SCI7)
CONCLUSIONS: tuple[Claim, ...] = (
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
SHARES = ("proven", "known")

Change = Callable[[Method], Method]


def _unchanged(method: Method) -> Method:
    return method


@dataclass(frozen=True)
class Variant:
    """One choice made otherwise.

    Attributes:
        name: its row in the tables.
        change: the method that takes the place of each of `METHODS`.
        quantifier: of DRBench; None keeps the chapter's.
        split_by: of the test rows; None keeps the chapter's.
        comparison: how DRBench compares answers.
        scoring: "parsed", or "prefix": right if the raw answer begins with the truth.
        source: the records: "" ordinary, "first token" of the extended ones, or a noise.
        own_sets: whether the subsets are built from the variant's answers; if not, from the
            ordinary ones of the same rows.
    """

    name: str
    change: Change = _unchanged
    quantifier: Quantifier | None = None
    split_by: SplitBy | None = None
    comparison: Literal["parsed", "raw_prefix"] = "parsed"
    scoring: Literal["parsed", "prefix"] = "parsed"
    source: str = ""
    own_sets: bool = True


def _with(only: Sequence[Method] = METHODS, **fields) -> Change:
    """Change fields of some methods."""
    names = {each.name for each in only}
    return lambda method: replace(method, **fields) if method.name in names else method


_SCI = (SCI3, SCI5, SCI7)


def variants(quantifier: Quantifier, split_by: SplitBy) -> tuple[Variant, ...]:
    """Every named variant, the chapter's own reading first."""
    other_quantifier: Quantifier = "all" if quantifier == "any" else "any"
    other_split: SplitBy = "groups" if split_by == "rows" else "rows"
    return (
        Variant(DEFAULT),
        Variant(
            {"any": "“any” (∃)", "all": "“all” (∀)"}[other_quantifier], quantifier=other_quantifier
        ),
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
        Variant("first token alone", source="first token"),
        Variant("noise wraps", source="wrap"),
        Variant("noise wraps, old subsets", source="wrap", own_sets=False),
        Variant("noise on tensor", source="normalized"),
        Variant("noise on tensor, old subsets", source="normalized", own_sets=False),
    )


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The conclusions under one variant, and under the default on the same rows.

    Attributes:
        variant: which.
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


def label(conclusion: Claim) -> str:
    """A conclusion in words: "SCI5 − VCD, BS"."""
    method, other, subset = conclusion
    return f"{method} − {other}, {subset}"


# --- evaluation --------------------------------------------------------------------------------


def evaluated(
    subject: Subject,
    folder: str | Path,
    quantifier: Quantifier,
    split_by: SplitBy,
    claims: int = len(CONCLUSIONS),
) -> list[Evaluated]:
    """Every variant of one model; those without records have no row.

    Args:
        subject: the model with its ordinary records.
        folder: of its extended records (`papers.shared.extended`).
        quantifier: of the default.
        split_by: of the default.
        claims: over how many conclusions the intervals of one variant are simultaneous.
    """
    level = simultaneous_level(0.95, claims)
    default, *others = variants(quantifier, split_by)
    recorded = _recorded(subject.records)
    reading = (quantifier, split_by)
    sets = _sets(subject, default, reading)
    reference = conclusions(subject, sets, recorded, level, printed=reading == ("any", "rows"))
    found = [Evaluated(default, reference, reference)]
    answered: dict[Method, Replayed] = {}
    parts: dict[str, pd.DataFrame] = {}
    for variant in others:
        if variant.source:
            found.append(_elsewhere(subject, folder, variant, reading, level, parts))
            continue
        changed = {each.name: variant.change(each) for each in METHODS}
        changed = {name: new for name, new in changed.items() if new not in METHODS}
        for method in set(changed.values()) - set(answered):
            answered[method] = _replayed(subject, method)
        right = recorded | {name: answered[new].right for name, new in changed.items()}
        if variant.scoring == "prefix":
            right = {name: by_prefix(subject.records, name) for name in right}
        only = set(changed) or None  # no change of a method: one of rows or of scores
        lines = conclusions(subject, _sets(subject, variant, reading), right, level, only=only)
        lines = lines.combine_first(reference.assign(paper=np.nan)).loc[reference.index]
        shares = [answered[new] for new in changed.values()]
        sure = [min(each[k] for each in shares) if shares else None for k in (1, 2)]
        found.append(Evaluated(variant, lines[reference.columns], reference, *sure))
    return found


class Replayed(NamedTuple):
    """Outcomes of a replayed method, and the shares of answers, in percent, that are certain."""

    right: np.ndarray
    proven: float
    known: float


def conclusions(
    subject: Subject,
    sets: pd.DataFrame,
    right: Outcomes,
    level: float,
    *,
    printed: bool = False,
    only: set[str] | None = None,
) -> pd.DataFrame:
    """The paired differences in points, as rows of `tables.compare`; each is claimed positive.

    Args:
        subject: the model, for the clusters and the paper's numbers.
        sets: its subsets.
        right: its outcomes.
        level: coverage of each interval.
        printed: whether the paper's numbers stand beside.
        only: methods, one of which a conclusion must be about; None for all conclusions.
    """
    values, lines = paper_accuracy(subject.label) if printed else {}, {}
    for method, other, subset in CONCLUSIONS:
        if only is not None and not only & {method, other}:
            continue
        rows = sets[subset].to_numpy()
        difference = (right[method] - right[other])[rows]
        one, two = (values.get((name, subset, "Overall"), np.nan) for name in (method, other))
        found = cluster_bootstrap(difference, subject.groups[rows], level=level)
        lines[label((method, other, subset))] = row(
            found, paper=one - two, claim="greater", fit=subject.fit
        )
    return pd.DataFrame.from_dict(lines, orient="index")


def by_prefix(records: Records, policy: str) -> np.ndarray:
    """1 where the raw lower-cased answer begins with the truth, else 0; NaN for an error.

    The reference implementation's rule: "10" is right where the truth is "1".
    """
    truth = records.frame["truth"].str.lower()
    pairs = zip(records.text(policy), truth, strict=True)
    begins = [raw_prefix(text, answer) == answer for text, answer in pairs]
    return np.where(records.ok, np.array(begins, dtype=float), np.nan)


def _recorded(records: Records, suffix: str = "") -> dict[str, np.ndarray]:
    names = {"base": "base"} | {each.name: f"{each.name}{suffix}" for each in METHODS}
    return {
        name: np.where(records.ok, records.correct(policy).astype(float), np.nan)
        for name, policy in names.items()
    }


def _replayed(subject: Subject, method: Method) -> Replayed:
    ok, found = subject.records.ok, subject.replay.answers(method)
    right = found["answer"].to_numpy(dtype=object) == subject.records.frame["truth"].to_numpy()
    shares = (100 * float(found[name][ok].mean()) if ok.any() else 100.0 for name in SHARES)
    return Replayed(np.where(ok, right.astype(float), np.nan), *shares)


def _sets(subject: Subject, variant: Variant, reading: tuple[Quantifier, SplitBy]) -> pd.DataFrame:
    quantifier, split_by = variant.quantifier or reading[0], variant.split_by or reading[1]
    test = split(subject.records, split_by) == "test"
    return subsets(subject.records, quantifier, variant.comparison) & test[:, None]


def _elsewhere(
    subject: Subject,
    folder: str | Path,
    variant: Variant,
    reading: tuple[Quantifier, SplitBy],
    level: float,
    parts: dict[str, pd.DataFrame],
) -> Evaluated:
    """A variant with records of its own; the default on its rows is the reference.

    `parts` keeps such references, for other variants on the same rows.
    """
    once = variant.source == "first token"
    other = extended(subject, folder, "" if once else variant.source)
    if other is None:
        nothing = conclusions(
            subject,
            _sets(subject, variant, reading) & False,
            _recorded(subject.records),
            level,
        )
        return Evaluated(variant, nothing, nothing)
    here = on_rows_of(subject, other)
    default = _recorded(here.records)
    sets = _sets(here, variant, reading)
    # A row that failed in either run is in no subset of the pair.
    both = (here.records.ok & other.records.ok)[:, None]
    rows = f"{other.records.stamp['rows']} {hash(both.tobytes())}"
    if rows not in parts:
        parts[rows] = conclusions(here, sets & both, default, level)
    own = _sets(other, variant, reading) if variant.own_sets else sets
    right = _recorded(other.records, " first token" if once else "")
    return Evaluated(variant, conclusions(other, own & both, right, level), parts[rows])
