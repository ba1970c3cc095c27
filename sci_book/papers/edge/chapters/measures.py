"""What the claims of the Edge Reliability Gap are about, by the names that the ledger uses.

Each measure takes the evidence of a model and the claim's arguments, and returns the claim's parts;
none where nothing was run that it could be tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.data.answers.rules import yes_no
from sci_book.papers.edge.chapters import (
    ablations,
    accuracy,
    blur,
    calibration,
    effects,
    negation,
    taxonomy,
)
from sci_book.papers.edge.chapters.models import SMALL, Found, Model, paired, paired_probes, read
from sci_book.papers.edge.conditions import BLURRED, CAPTIONS, CORRUPTED, KINDS, QUESTIONS
from sci_book.papers.edge.correctness import normalise
from sci_book.papers.edge.taxonomy import CATEGORIES
from sci_book.papers.shared.chapters import Named
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.intervals import ordered_pairs
from sci_book.results.statistics import Sample, share, wilson


@dataclass(frozen=True, eq=False)
class EdgeEvidence:
    """One model as it is, unquantised, and all of its family that has records."""

    subject: Model
    recorded: Found

    def variant(self, suffix: str) -> Model | None:
        """The model in another precision or size, if it has records."""
        return self.recorded.named(f"{self.subject.family}-{suffix}")


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[EdgeEvidence | None]:
    """What is known of each model here: None for one without records of this paper."""
    by_subject = []
    for subject in subjects:
        recorded = read([subject.name], subject.path.parent)
        model = recorded.named(subject.name)
        by_subject.append(EdgeEvidence(model, recorded) if model else None)
    return by_subject


def top_bin(of: EdgeEvidence, kind: str) -> list[Part]:
    """Share of answers whose confidence is in the top bin."""
    rows = calibration.sample(of.subject, kind)
    return _share(
        f"confidence of 0.9 or more, {kind}", rows["confidence"] >= calibration.TOP_BIN, rows
    )


def discrimination(of: EdgeEvidence, kind: str) -> list[Part]:
    """How often the right one of a right and a wrong answer is the more confident; ties halve."""
    rows = calibration.sample(of.subject, kind)
    if rows["right"].nunique() < 2:
        return []
    confidence, right = rows["confidence"].to_numpy(), rows["right"].to_numpy()
    interval = partial(ordered_pairs, confidence, right, rows["group"].to_numpy(dtype=object))
    return [Part(f"right above wrong, {kind}", interval)]


def overconfidence(of: EdgeEvidence, kind: str, against: str | None = None) -> list[Part | Sample]:
    """Confidence less accuracy; less that of another kind where one is named."""
    rows = [calibration.sample(of.subject, name) for name in (kind, against) if name]
    if not all(map(len, rows)):
        return []
    over = rows[0]["confidence"] - rows[0]["right"]
    if against is None:
        return _difference(kind, over, rows[0])
    other = _arrays(rows[1]["confidence"] - rows[1]["right"], rows[1])
    return [Sample(f"{kind} less {against}", *_arrays(over, rows[0]), other)]


def blur_drop(of: EdgeEvidence) -> list[Sample]:
    """Clean less blurred accuracy, on all questions and captions."""
    rows = blur.changes(of.subject)
    return _difference("accuracy, clean less blurred", rows["drop"], rows)


def sensitivity(of: EdgeEvidence, factor: str) -> list[Sample]:
    """Drop under blur of one variant less that of the model as it is: "nf4", "int8" or "small"."""
    other = of.variant(factor)
    if other is None:
        return []
    both = ablations.both_drops(other, of.subject)
    first = {SMALL: "smaller sister", "nf4": "NF4"}.get(factor, factor)
    return _difference(
        f"cost of blur, {first} less full model", both["drop"] - both["drop second"], both
    )


def passed(of: EdgeEvidence, templates: Sequence[str], kind: str) -> list[Part]:
    """Share of negation probes passed, by template."""
    rows = of.subject.probes()
    parts = []
    for template in templates:
        mine = rows[(rows["kind"] == kind) & (rows["template"] == template)]
        parts += _share(f"{template}, {kind}", mine["success"], mine)
    return parts


def open_less_inverted(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Success of the open templates less that of the false premise, picture by picture."""
    rows = negation.own_gap(of.subject, kind)
    return _difference(f"open negation less false premise, {kind}", rows["gap"], rows)


def says_yes(of: EdgeEvidence, kind: str) -> list[Part]:
    """Share of "yes" to the claim that what is shown is not."""
    rows = of.subject.probes()
    rows = rows[(rows["kind"] == kind) & (rows["template"] == negation.INVERTED)]
    yes = [yes_no(text) == "yes" for text in rows["text"]]
    return _share(f"answers yes, {kind}", yes, rows)


def collapse(of: EdgeEvidence) -> list[Sample]:
    """Probes that the model passes less those that its smaller sister does, on shared pictures."""
    small = of.variant(SMALL)
    if small is None:
        return []
    both = paired_probes(of.subject.probes(), small.probes(), " small")
    gap = both["success"] - both["success small"]
    return _difference("probes passed, model less smaller sister", gap, both)


def lead(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Accuracy less that of the smaller sister."""
    small = of.variant(SMALL)
    if small is None:
        return []
    both = paired(small.answers(kind), of.subject.answers(kind))
    gap = both["right two"] - both["right"]
    return _difference(f"accuracy on {kind}, model less smaller sister", gap, both)


def passes_but_wrong(of: EdgeEvidence) -> list[Part]:
    """Share of captions that the coarse rule takes for right and that misdescribe the scene."""
    rows = of.subject.answers(CAPTIONS)
    return _share("captions that pass but are wrong", accuracy.passes_but_wrong(rows), rows)


def category(of: EdgeEvidence, kind: str, name: str) -> list[Part]:
    """Share of a category among the labels A to C of the tree; captions by the whole scene."""
    count, among = taxonomy.shares(taxonomy.failures(of.subject, kind, "scene")["label"], name)
    what = f"{CATEGORIES[name]} ({name}), {kind}"
    return [Part(what, partial(wilson, count, among))] if among else []


def empty_failures(of: EdgeEvidence) -> list[Part]:
    """Of the pictures with a failure in any experiment, the share with one without a word.

    A picture comes back blurred and in several corruptions, so failures are no independent rows.
    """
    names = [*KINDS, *(f"{BLURRED} {kind}" for kind in KINDS), f"{CORRUPTED} {QUESTIONS}"]
    rows = pd.concat([of.subject.answers(name) for name in names])
    wrong = rows[rows["right"] == 0]
    empty = wrong[np.array([not normalise(text) for text in wrong["text"]], dtype=bool)]
    pictures = wrong["group"].nunique()
    interval = partial(wilson, empty["group"].nunique(), pictures)
    return [Part("pictures with a failure", interval)] if pictures else []


def change_by_sci(of: EdgeEvidence, what: str, method: str = effects.SCI) -> list[Sample]:
    """What a method adds to a measure of the base on the same rows, by kind: `effects.lines`."""
    if method not in of.subject.records.policies:
        return []
    return [
        Sample(line.what, line.values, line.clusters, span=(-1.0, 1.0))
        for line in effects.lines(of.subject, method)
        if line.what.startswith(what)
    ]


def _arrays(values: object, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(values, dtype=float), rows["group"].to_numpy(dtype=object)


def _share(what: str, values: object, rows: pd.DataFrame) -> list[Part]:
    """A share of rows."""
    return [Part(what, partial(share, *_arrays(values, rows)))] if len(rows) else []


def _difference(what: str, values: object, rows: pd.DataFrame) -> list[Sample]:
    """A mean of paired differences."""
    return [Sample(what, *_arrays(values, rows), span=(-1.0, 1.0))] if len(rows) else []


MEASURES: dict[str, Callable[..., Sequence[Sample | Part]]] = {
    measure.__name__: measure
    for measure in (
        top_bin, discrimination, overconfidence, blur_drop, sensitivity, passed,
        open_less_inverted, says_yes, collapse, lead, passes_but_wrong, category, empty_failures,
        change_by_sci,
    )
}  # fmt: skip
