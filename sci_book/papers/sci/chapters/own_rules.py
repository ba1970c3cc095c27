"""The book's own rule and its cheaper SCI5, judged on test rows by what was registered before.

`predictions_rules.yaml` derives and states what is claimed. The rule is computed from the recorded
logits of the rounds that SCI5 reads; the cheaper rounds were decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sci_book.files import read_yaml
from sci_book.papers.sci import rules
from sci_book.papers.sci.overhead import ratio
from sci_book.papers.shared.chapters import Subject, finding, overall, row
from sci_book.papers.shared.extended import CHEAPER, extended
from sci_book.papers.shared.tables import frame_of, number
from sci_book.resources import PAPER
from sci_book.results.statistics import Interval, verdict
from sci_book.run.method_sets import CHEAPER as CHEAPER_METHODS
from sci_book.run.method_sets import named
from sci_core.methods import METHODS, SCI5, SCI5_LITE

REGISTRATION = "registration_rules.yaml"
RULE = "rule"  # what the registered one is called there
SHARED = "SCI5 with the usual prior"  # one prior for a data set, and no dummy read


class PageModel(NamedTuple):
    """A model with its ordinary records, and with those of the cheaper rounds."""

    ordinary: Subject
    cheaper: Subject | None

    def reading(self, name: str) -> Subject | None:
        """The model with the records that a method is read from; None where there are none."""
        cheaper = {method.name for method in CHEAPER_METHODS} - {SCI5.name}
        if name in cheaper:
            return self.cheaper
        replayed = name in (RULE, SHARED) or named(name)[0] not in METHODS.values()
        return None if replayed and not len(self.ordinary.records.nodes.row) else self.ordinary


def load_predictions() -> dict[str, Any]:
    """`rule`, `beta`, the list `predictions`, and what a cheap method may cost."""
    return read_yaml(PAPER / "predictions_rules.yaml")


def models(subjects: Sequence[Subject], folder: str | Path) -> list[PageModel]:
    """The models with their cheaper records, in the folder of the extended ones."""
    return [PageModel(subject, extended(subject, folder, CHEAPER)) for subject in subjects]


def right(subject: Subject, name: str) -> np.ndarray:
    """1 or 0 for every row under the registered rule, another rule at SCI5's β, or a method."""
    registered = load_predictions()
    rule, beta = (registered["rule"], registered["beta"]) if name == RULE else (name, SCI5.beta)
    if rule not in rules.RULES or rule == SCI5.name:
        return subject.right(named(name)[0])
    rounds = rules.rounds_of(subject.records, subject.replay)
    return rules.right(rounds, subject.replay, rules.RULES[rule], beta)


def change(subject: Subject, name: str, other: str, part: str) -> Interval:
    """What `name` gains over `other` on a part of the test groups, as a share."""
    rows = subject.sets("any", rules.SPLIT)[part].to_numpy()
    return subject.difference(right(subject, name) - right(subject, other), rows)


def judged(models: Sequence[PageModel]) -> pd.DataFrame:
    """Every prediction for every model that has its records: rows of `compare`.

    `margin` in points, `id`, `model`, `name` beside.
    """
    registered = load_predictions()
    pairs = [
        (prediction, model, subject)
        for prediction in registered["predictions"]
        for model in models
        if (subject := model.reading(prediction["of"])) is not None
    ]
    lines = {}
    for prediction, model, subject in pairs:
        margin, title = prediction.get("margin", 0.0), model.ordinary.shown
        of, against, part = (prediction[key] for key in ("of", "against", "part"))
        gap = change(subject, of, against, part)
        word = verdict(gap, margin=margin) if model.ordinary.fit else "not comparable"
        lines[f"{title}: {label(of)} − {label(against)}, {part}"] = row(gap) | {
            "verdict": word, "p alone": gap.p(margin), "margin": 100 * margin,
            "id": prediction["id"], "model": title, "name": model.ordinary.name,
        }  # fmt: skip
    return frame_of(lines, "margin", "id", "model", "name")


def label(name: str) -> str:
    """How a page calls the rule, or a method."""
    registered = load_predictions()
    if name == RULE:
        return f"{registered['rule']}, β {registered['beta']:g}"
    return name.replace(" beta=", ", β ")


class Claim(NamedTuple):
    """A registered claim in words, its verdict, and what each model comes to."""

    id: str
    means: str
    verdict: str
    ends: str


def claims(frame: pd.DataFrame) -> list[Claim]:
    """Every registered claim, from the lines of `judged`; the last is about cost, and counted."""
    registered = load_predictions()
    made = []
    for prediction in registered["predictions"]:
        part = frame[frame["id"] == prediction["id"]]
        by_model = [finding(line["model"], line) for _, line in part.iterrows()]
        ends = "; ".join(by_model) if by_model else "no model has the records for it"
        word = overall(part["verdict"], part["p alone"])
        made.append(Claim(prediction["id"], prediction["means"], word, ends))
    tokens, most = registered["image_tokens"], registered["cost_at_most"]
    cost = ratio(SCI5_LITE, tokens)
    means = (
        f"SCI5-lite computes at most {most:g} times the base's tokens at {tokens:,} image tokens, "
        "black kept."
    )
    word = "holds" if cost <= most else "fails"
    return [*made, Claim("lite-is-cheap", means, word, f"{number(cost)} times, counted")]
