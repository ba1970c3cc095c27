"""What the claims and pages of the Edge Reliability Gap measure.

At the top the rows that a page and a claim share; below, by the names that the ledger uses, the
measures: each takes the evidence of a model and the claim's arguments, and returns the claim's
parts; none where nothing was run that it could be tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from sci_book.data.answers.rules import yes_no
from sci_book.papers.edge import scene
from sci_book.papers.edge.chapters.models import (
    SMALL,
    Recorded,
    answers,
    paired,
    paired_probes,
    probes,
    read,
)
from sci_book.papers.edge.conditions import BLURRED, CAPTIONS, CORRUPTED, KINDS, QUESTIONS
from sci_book.papers.edge.correctness import normalise
from sci_book.papers.edge.taxonomy import CATEGORIES, SHARED, Failure, tree
from sci_book.papers.shared.chapters import Named, Subject
from sci_book.papers.shared.evidence import Part
from sci_book.papers.shared.intervals import counted, ordered_pairs
from sci_book.results.statistics import Rows, Sample
from sci_core.methods import Method

TOP_BIN = 0.9
SCI = "SCI5"
OPEN, INVERTED = ("is_not", "absent"), "false_yn"
"""Templates that ask for what is absent, and the one that denies what is there."""

# --- rows that a page and a claim share -----------------------------------------------------------


def confident(model: Subject, kind: str) -> pd.DataFrame:
    """The answers of one kind that have a confidence."""
    said = answers(model, kind)
    return said[said["confidence"].notna()]


def exact(captions: pd.DataFrame) -> pd.Series:
    """1 for a caption that says its whole scene and nothing else, 0 for any other."""
    pairs = zip(captions["text"], captions["truth"], strict=True)
    return pd.Series([scene.exact(*pair) for pair in pairs], captions.index, dtype=float)


def passing_but_wrong(captions: pd.DataFrame) -> pd.Series:
    """1 for a caption that passes the paper's coarse rule and is not `exact`, 0 for any other."""
    return captions["right"].astype(float) * (1 - exact(captions))


def failures(model: Subject, kind: str, rule: Literal["paper", "scene"] = "scene") -> pd.DataFrame:
    """Wrong answers of one kind, with `label`, the tree's, and `scene`, what the scene says.

    By the rule "paper" a caption fails that its coarse rule calls wrong; by "scene" any that does
    not say the whole scene.
    """
    said = answers(model, kind)
    right = exact(said) if rule == "scene" and kind == CAPTIONS else said["right"]
    wrong = said[right == 0]
    unseen = answers(model, kind, "black")["text"].reindex(wrong.index, fill_value="")
    words, seen = [], []
    for answer, blind in zip(wrong.itertuples(), unseen, strict=True):
        words.append(tree(Failure(kind, answer.question, answer.truth, answer.text)))
        told = answer.truth, answer.text, blind
        asked = kind == QUESTIONS
        seen.append(
            scene.label_question(answer.category, *told) if asked else scene.label_caption(*told)
        )
    return wrong.assign(label=words, scene=seen)


def among(labels: pd.Series, category: str) -> pd.Series:
    """Which labels a category's share is of: those of A to C, or all for D and E."""
    return labels.isin(SHARED) if category in SHARED else labels.notna()


def changes(model: Subject, method: Method | str = "base") -> pd.DataFrame:
    """Each row clean and blurred: `right` and `right two`, and their difference, `drop`.

    Questions and captions together, by kind and row number.
    """
    parts = {}
    for kind in KINDS:
        both = paired(answers(model, kind, method), answers(model, f"{BLURRED} {kind}", method))
        parts[kind] = both.assign(drop=both["right"] - both["right two"])
    return pd.concat(parts, names=["kind", "row"])


def corrupted(model: Subject, method: Method | str = "base") -> pd.DataFrame:
    """Corrupted questions: `name`, `severity`, `right`, and `clean`, right on the clean picture."""
    rows = answers(model, f"{CORRUPTED} {QUESTIONS}", method)
    parts = rows["category"].str.rsplit(" ", n=1)
    clean = answers(model, QUESTIONS, method).groupby("group")["right"].mean()
    rows = rows.assign(
        name=parts.str[0], severity=parts.str[1].astype(int), clean=rows["group"].map(clean)
    )
    return rows[rows["clean"].notna()]


@lru_cache(maxsize=16)  # three claims and a page ask for the same
def changed_by(model: Subject, method: Method | str) -> tuple[Sample, ...]:
    """A method less the base in each of the paper's measures, on the same rows.

    Experiments that were not run are empty. An answer without a confidence (one of its tokens was
    not kept) counts in accuracy alone.

    Raises:
        NotRecorded: the records hold no text of the method.
    """
    found: list[Sample] = []

    def add(what: str, values: Rows, rows: pd.DataFrame):
        found.append(Sample(what, *_arrays(values, rows), span=(-1.0, 1.0)))

    for kind in KINDS:
        both = paired(answers(model, kind), answers(model, kind, method))
        add(f"accuracy, {kind}", both["right two"] - both["right"], both)
        known = both[both["confidence"].notna() & both["confidence two"].notna()]
        base = (known["confidence"] - known["right"]) ** 2
        brier = (known["confidence two"] - known["right two"]) ** 2 - base
        add(f"Brier score, {kind}", brier, known)
    whole = exact(both.assign(text=both["text two"])) - exact(both)  # `both` are captions
    add("whole scene, captions", whole, both)
    blurred = paired(changes(model), changes(model, method), " of method")
    for kind in KINDS:
        both = blurred[blurred.index.get_level_values("kind") == kind]
        add(f"drop under blur, {kind}", both["drop of method"] - both["drop"], both)
    both = paired(corrupted(model), corrupted(model, method))
    add("accuracy, corrupted questions", both["right two"] - both["right"], both)
    put = paired_probes(probes(model), probes(model, method), " two")
    for kind in KINDS:
        both = put[put["kind"] == kind]
        add(f"probes passed, {kind}", both["success two"] - both["success"], both)
    return tuple(found)


def less_is_better(what: str) -> bool:
    """Whether a measure of `changed_by` is better the smaller it is."""
    return what.startswith(("Brier score", "drop"))


# --- evidence and measures ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EdgeEvidence:
    """One model as it is, unquantised, and all of its family that has records."""

    subject: Subject
    recorded: Recorded

    def variant(self, suffix: str) -> Subject | None:
        """The model in another precision or size, if it has records."""
        return self.recorded.named(f"{self.subject.name}-{suffix}")


def evidence(subjects: Sequence[Named], results: str | Path | None) -> list[EdgeEvidence | None]:
    """What is known of each model here: None for one without records of this paper."""
    by_subject = []
    for subject in subjects:
        recorded = read([subject.name], subject.path.parent)
        model = recorded.named(subject.name)
        by_subject.append(EdgeEvidence(model, recorded) if model else None)
    return by_subject


def top_bin(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Share of answers whose confidence is in the top bin."""
    rows = confident(of.subject, kind)
    return _share(f"confidence of 0.9 or more, {kind}", rows["confidence"] >= TOP_BIN, rows)


def discrimination(of: EdgeEvidence, kind: str) -> list[Part]:
    """How often the right one of a right and a wrong answer is the more confident; ties halve."""
    rows = confident(of.subject, kind)
    if rows["right"].nunique() < 2:
        return []
    confidence, right = rows["confidence"].to_numpy(), rows["right"].to_numpy()
    told = confidence, right, rows["group"].to_numpy(dtype=object)
    return [Part(f"right above wrong, {kind}", told, ordered_pairs)]


def overconfidence(of: EdgeEvidence, kind: str, against: str | None = None) -> list[Part | Sample]:
    """Confidence less accuracy; less that of another kind where one is named."""
    rows = [confident(of.subject, name) for name in (kind, against) if name]
    if not all(map(len, rows)):
        return []
    over = rows[0]["confidence"] - rows[0]["right"]
    if against is None:
        return _difference(kind, over, rows[0])
    other = _arrays(rows[1]["confidence"] - rows[1]["right"], rows[1])
    return [Sample(f"{kind} less {against}", *_arrays(over, rows[0]), other)]


def blur_drop(of: EdgeEvidence) -> list[Sample]:
    """Clean less blurred accuracy, on all questions and captions."""
    rows = changes(of.subject)
    return _difference("accuracy, clean less blurred", rows["drop"], rows)


def sensitivity(of: EdgeEvidence, factor: str) -> list[Sample]:
    """Drop under blur of one variant less that of the model as it is: "nf4", "int8" or "small"."""
    other = of.variant(factor)
    if other is None:
        return []
    both = paired(changes(other), changes(of.subject), " second")
    first = {SMALL: "smaller sister", "nf4": "NF4"}.get(factor, factor)
    return _difference(
        f"cost of blur, {first} less full model", both["drop"] - both["drop second"], both
    )


def passed(of: EdgeEvidence, templates: Sequence[str], kind: str) -> list[Sample]:
    """Share of negation probes passed, by template."""
    rows = probes(of.subject)
    parts = []
    for template in templates:
        mine = rows[(rows["kind"] == kind) & (rows["template"] == template)]
        parts += _share(f"{template}, {kind}", mine["success"], mine)
    return parts


def open_less_inverted(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Success of the open templates less that of the false premise, picture by picture.

    Pictures of which one of these probes failed to be answered are left out.
    """
    mine = probes(of.subject)
    mine = mine[mine["kind"] == kind]
    wide = mine.pivot(index=["row", "group"], columns="template", values="success")
    wide = wide.reindex(columns=[*OPEN, INVERTED]).dropna()
    gap = wide[[*OPEN]].mean(axis=1) - wide[INVERTED]
    return _difference(f"open negation less false premise, {kind}", gap, wide.reset_index())


def says_yes(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Share of "yes" to the claim that what is shown is not."""
    rows = probes(of.subject)
    rows = rows[(rows["kind"] == kind) & (rows["template"] == INVERTED)]
    yes = [yes_no(text) == "yes" for text in rows["text"]]
    return _share(f"answers yes, {kind}", yes, rows)


def collapse(of: EdgeEvidence) -> list[Sample]:
    """Probes that the model passes less those that its smaller sister does, on shared pictures."""
    small = of.variant(SMALL)
    if small is None:
        return []
    both = paired_probes(probes(of.subject), probes(small), " small")
    gap = both["success"] - both["success small"]
    return _difference("probes passed, model less smaller sister", gap, both)


def lead(of: EdgeEvidence, kind: str) -> list[Sample]:
    """Accuracy less that of the smaller sister."""
    small = of.variant(SMALL)
    if small is None:
        return []
    both = paired(answers(small, kind), answers(of.subject, kind))
    gap = both["right two"] - both["right"]
    return _difference(f"accuracy on {kind}, model less smaller sister", gap, both)


def passes_but_wrong(of: EdgeEvidence) -> list[Sample]:
    """Share of captions that the coarse rule takes for right and that misdescribe the scene."""
    rows = answers(of.subject, CAPTIONS)
    return _share("captions that pass but are wrong", passing_but_wrong(rows), rows)


def category(of: EdgeEvidence, kind: str, name: str) -> list[Part]:
    """Share of a category among the labels A to C of the tree; captions by the whole scene."""
    rows = failures(of.subject, kind)
    rows = rows[among(rows["label"], name)]
    values = _arrays(rows["label"] == name, rows)
    return [Part(f"{CATEGORIES[name]} ({name}), {kind}", values, counted)] if len(rows) else []


def empty_failures(of: EdgeEvidence) -> list[Part]:
    """Of the pictures with a failure in any experiment, the share with one without a word.

    A picture comes back blurred and in several corruptions, so failures are no independent rows.
    """
    names = [*KINDS, *(f"{BLURRED} {kind}" for kind in KINDS), f"{CORRUPTED} {QUESTIONS}"]
    rows = pd.concat([answers(of.subject, name) for name in names])
    wrong = rows[rows["right"] == 0]
    empty = wrong[np.array([not normalise(text) for text in wrong["text"]], dtype=bool)]
    pictures = wrong["group"].drop_duplicates().to_numpy(dtype=object)
    values = np.isin(pictures, empty["group"]).astype(float), pictures
    return [Part("pictures with a failure", values, counted)] if len(pictures) else []


def change_by_sci(of: EdgeEvidence, what: str, method: str = SCI) -> list[Sample]:
    """What a method adds to a measure of the base on the same rows, by kind: `changed_by`."""
    return [change for change in changed_by(of.subject, method) if change.what.startswith(what)]


def _arrays(values: object, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(values, dtype=float), rows["group"].to_numpy(dtype=object)


def _share(what: str, values: object, rows: pd.DataFrame) -> list[Sample]:
    """A share of rows."""
    return [Sample(what, *_arrays(values, rows), span=(0.0, 1.0))] if len(rows) else []


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
TESTED = MEASURES, evidence
