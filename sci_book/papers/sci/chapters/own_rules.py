"""The book's own rule and its cheaper SCI5, judged on test rows by what was registered before.

`predictions_rules.yaml` derives and states what is claimed. The rule is computed from the recorded
logits of the rounds that SCI5 reads; the cheaper rounds were decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.files import read_yaml
from sci_book.papers.sci import rules
from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.chapters.frontier import SPLIT
from sci_book.papers.sci.chapters.shapes import differs, legend_below, name_lines, points
from sci_book.papers.shared.chapters import Subject, finding, overall, row
from sci_book.papers.shared.extended import CHEAPER, extended
from sci_book.papers.shared.figures import WIDTH, model_colours, nothing
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, compare, frame_of, number
from sci_book.resources import PAPER
from sci_book.results.statistics import NO_DATA, Interval, verdict
from sci_book.run.method_sets import CHEAPER as CHEAPER_METHODS
from sci_book.run.method_sets import named
from sci_core.methods import BASE, METHODS, SCI5, SCI5_LITE, sci

REGISTRATION = "registration_rules.yaml"
RULE = "rule"  # what the registered one is called there
SHARED = "SCI5 with the usual prior"  # one prior for a data set, and no dummy read
PARTS = ("BS", "all")
COSTS = (320, 1280)  # image tokens


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
    rows = subject.sets("any", SPLIT)[part].to_numpy()
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
    ratio = cost.ratio(SCI5_LITE, tokens)
    means = (
        f"SCI5-lite computes at most {most:g} times the base's tokens at {tokens:,} image tokens, "
        "black kept."
    )
    word = "holds" if ratio <= most else "fails"
    return [*made, Claim("lite-is-cheap", means, word, f"{number(ratio)} times, counted")]


def answer(frame: pd.DataFrame) -> str:
    """The verdict of all that is registered, and claim by claim what was found, in Markdown."""
    made = claims(frame)
    lines = [f"- *{claim.means}* {claim.verdict.capitalize()}: {claim.ends}." for claim in made]
    return "\n".join([f"**Verdict: {overall(claim.verdict for claim in made)}.**\n", *lines])


def judged_table(frame: pd.DataFrame) -> Table:
    """`judged` as a table."""
    caption = "What was predicted, on test groups of questions, in points"
    names = {name: f"{name}, above {number(margin, 1)}" for name, margin in frame["margin"].items()}
    lines = frame.rename(index=names)
    return compare(lines, name="judged", caption=caption, ours="change", paper=False)


def draw(frame: pd.DataFrame) -> Figure:
    """A line a prediction, a dot a model: its change with interval, and what it must lie above."""
    names = [name.split(": ", 1)[1].replace(label(RULE), RULE) for name in frame.index]
    lines = list(dict.fromkeys(names))
    figure, ax = plt.subplots(figsize=(WIDTH, 0.6 * max(len(lines), 3) + 0.8))
    if frame.empty:
        nothing(ax, "No model has records with logits, or of the cheaper rounds.")
        return figure
    models = list(frame["model"].unique())
    colours = model_colours(list(frame["name"].unique()))
    for name, (_, line) in zip(names, frame.iterrows(), strict=True):
        order, place = models.index(line["model"]), lines.index(name)
        shade = colours[line["name"]]
        height = place + 0.3 * (order - (len(models) - 1) / 2)
        ax.hlines(height, line["low"], line["high"], color=shade, linewidth=2.5)
        ax.plot(line["reproduced"], height, "o", color=shade, markersize=7, label=line["model"])
        ax.plot([line["margin"]] * 2, [place - 0.4, place + 0.4], color=INK, linewidth=1.2)
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    name_lines(ax, lines)
    ax.set_xlabel("change, points")
    legend_below(figure, ncols=len(models))
    return figure


def rounds_table(models: Sequence[PageModel]) -> Table:
    """The base, and SCI5 with other dummies: tokens, answers like SCI5's, what that changes."""
    without = sci(0, 2)
    methods = {method.name: method for method in (BASE, *CHEAPER_METHODS, without)}
    lines = {}
    for name, method in (methods | {SHARED: without}).items():
        lines[name] = {
            **{f"× base, {tokens:,}": number(cost.ratio(method, tokens)) for tokens in COSTS},
            f"first, {COSTS[-1]:,}": number(cost.ratio(method, COSTS[-1], cache="cold")),
            f"again, {COSTS[-1]:,}": number(cost.again(method, COSTS[-1])),
            **{key: text for model in models for key, text in _measured(model, name).items()},
        }
    caption = (
        "SCI5 with other dummies. Tokens in multiples of the base’s first question on a picture, "
        "by image tokens: black kept; “first” of a picture’s shape, when it is not; “again” of a "
        "further question on the same picture. On test groups: rows answered as SCI5 answers "
        f"them, %, and accuracy less SCI5’s in points, each with a {INTERVAL} of its own"
    )
    return Table("rounds", pd.DataFrame.from_dict(lines, orient="index"), caption)


def _measured(model: PageModel, name: str) -> dict[str, str]:
    title, subject = model.ordinary.shown, model.reading(name)
    heads = [f"{title}: as SCI5", *(f"{title}: {part}" for part in PARTS)]
    if name == SCI5.name or subject is None:
        return dict.fromkeys(heads, MISSING)
    changes = (change(subject, name, SCI5.name, part) for part in PARTS)
    return dict(zip(heads, map(points, (_agreement(subject, name), *changes)), strict=True))


def _agreement(subject: Subject, name: str) -> Interval:
    """The share of test rows that a decoded method answers as SCI5 does; of no row otherwise."""
    policy = subject.records.policy_of(named(name)[0]) if name != SHARED else None
    if policy is None:
        return NO_DATA
    same = ~differs(*(subject.records.parsed(name) for name in (policy, SCI5.name)))
    return subject.share(same, subject.sets("any", SPLIT)["all"].to_numpy())
