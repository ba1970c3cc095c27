"""The matrix: what every method changes, against the base, on every probe of the papers.

`data_manifests/paper/matrix.yaml` names the probes by the measures that the ledger uses, so a cell
is by its chapter's measure, with the interval that it has there. Of a single cell nothing is
claimed; `conclusion` judges one method over all probes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.files import json_text, read_yaml
from sci_book.methods import COMPARED, COMPARED_CONTROLS, CONTROLS, exported_methods
from sci_book.papers.registry import PAPERS
from sci_book.papers.sci.chapters.standard_sets import DATASETS as SHORT
from sci_book.papers.sci.overhead import cost
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import Subject, overall
from sci_book.papers.shared.figures import WIDTH, nothing
from sci_book.papers.shared.pages import address, title_of
from sci_book.papers.shared.paper import OWN
from sci_book.papers.shared.parameters import Names
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import (
    INTERVAL,
    MISSING,
    NOT_RECORDED,
    Table,
    interval,
    number,
    p_value,
    with_ends,
)
from sci_book.pipeline.findings import named
from sci_book.pipeline.ledger import companion_files
from sci_book.resources import PAPER
from sci_book.results.controls import READS
from sci_book.results.drbench import TEXTUAL, VISUAL
from sci_book.results.records import Records
from sci_book.results.stamps import NotRecorded
from sci_book.results.statistics import (
    FEWEST,
    LEVEL,
    Interval,
    Sample,
    beyond_chance,
    verdict,
)
from sci_core.methods import BASE, METHODS

METHOD = "METHOD"
"""Stands for the method's name among a probe's arguments."""
IMAGE_TOKENS = 320  # of the all_cells-up picture that the cost is counted on
SHOWN = (*COMPARED, *COMPARED_CONTROLS)
"""The columns; controls have cells on the probes of the book's own paper alone."""
_NAMED = 3  # groups of rows that a cell names on either side
_FULL = 10.0  # points from which on a colour grows no deeper
_FIELDS = ("paper", "label", "page", "measure", "better")


@dataclass(frozen=True)
class Probe:
    """What methods are compared on.

    paper       "sci" or one of the companions
    label       its name; `{part}` stands for the last word of the measure's name for a number
    page        the chapter with its numbers
    measure     of its paper's measures, and its `arguments`, in which `METHOD` is the method
    better      the side of zero on which a method gains
    """

    paper: str
    label: str
    page: str
    measure: str
    arguments: Mapping[str, Any]
    better: Literal["greater", "less"] = "greater"

    def parts(self, evidence: Any, method: str) -> Sequence[Any]:
        """What the measure says of a method; nothing where the records do not settle it."""
        if evidence is None:
            return []
        filled = {
            key: [text.replace(METHOD, method) for text in value]
            if isinstance(value, list)
            else value.replace(METHOD, method)
            for key, value in self.arguments.items()
        }
        try:
            return PAPERS[self.paper].measures[self.measure](evidence, **filled)
        except NotRecorded:
            return []


@dataclass(frozen=True)
class Cell:
    """What a method changes on a probe with a model, in points: percent, or hundredths.

    part    what its intervals are taken of, of the first training
    change  with the interval that covers by itself
    """

    probe: Probe
    label: str
    model: str
    shown: str
    training: int
    method: str
    part: Any
    change: Interval

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the cells of all trainings have in common."""
        return self.probe.paper, self.label, self.model, self.method

    @property
    def gain(self) -> float:
        """The change, turned so that more is better."""
        return self.change.estimate if self.probe.better == "greater" else -self.change.estimate

    def groups(self, side: Literal["gained", "lost"]) -> list[str] | None:
        """The groups of rows on which it does better, or worse; None for no mean over rows."""
        if not isinstance(self.part, Sample) or self.part.minus is not None:
            return None
        sign = (1 if self.probe.better == "greater" else -1) * (1 if side == "gained" else -1)
        return list(dict.fromkeys(map(str, self.part.clusters[sign * self.part.values > 0])))

    @property
    def state(self) -> str:
        """Where the interval lies: "gain", "loss", "open" if it reaches zero, "alike" if there is
        none, since all draws are alike or too few."""
        if np.isnan(self.change.low) or np.isnan(self.change.high):
            return "alike"
        if not (self.change.low > 0 or self.change.high < 0):
            return "open"
        return "gain" if self.gain > 0 else "loss"


def load_probes() -> list[Probe]:
    """The probes of `matrix.yaml`, in its order."""
    return [
        Probe(
            **{key: entry[key] for key in _FIELDS if key in entry},
            arguments={key: value for key, value in entry.items() if key not in _FIELDS},
        )
        for entry in read_yaml(PAPER / "matrix.yaml")
    ]


def cells(models: Names, records: str | Path) -> list[Cell]:
    """Every cell of the matrix that the records fill, over trainings where there are `FEWEST`.

    Of fewer each training has cells of its own.

    Args:
        models: names, paths or hub ids; `catalogue.model_name` names the records of each.
        records: their folder; further trainings are in the folders `training1`, … below it.
    """
    probes, trainings = load_probes(), chapters.by_training(chapters.subjects(models, records))
    found = [
        cell
        for subjects in trainings.values()
        for paper in PAPERS
        for subject, evidence in zip(
            subjects, PAPERS[paper].evidence(subjects, None), strict=True
        )
        for probe in probes
        if probe.paper == paper
        for method in (SHOWN if paper == OWN else COMPARED)
        for part in probe.parts(evidence, method)
        if (cell := _cell(probe, subject, subject.number, method, part)).change.n
    ]  # fmt: skip
    alike: dict[tuple, list[Cell]] = {}
    for cell in found:
        alike.setdefault(cell.key, []).append(cell)
    together = [_together(alike[cell.key], cell) for cell in found]
    return [cell for cell in together if cell is not None]


def _together(alike: Sequence[Cell], cell: Cell) -> Cell | None:
    """A cell as it stands; of enough trainings the first, over all of them, and no other."""
    if len(alike) < FEWEST:
        return cell
    change = cell.part.over([each.part.data for each in alike]).times(100)
    return replace(cell, change=change) if cell is alike[0] else None


def why_empty(records: Records) -> str:
    """Why a model's records fill no cell, and what would."""
    held = [method["name"] for method in records.stamp["methods"]]
    holds = (
        f"the records hold {', '.join(['the base', *held])}, in the rounds "
        f"{', '.join(records.rounds)}, and"
    )
    lacking = [name for name in (*TEXTUAL, *VISUAL) if name not in records.rounds]
    if lacking and {*held} & {*COMPARED}:
        return (
            f"{holds} not {', '.join(lacking)}, by which DRBench's rows are chosen. Evaluate again "
            f"with `--rounds {','.join(lacking)}`."
        )
    return (
        f"{holds} no method that the matrix compares can be read off or "
        f"recomputed from them. Decode {', '.join(COMPARED)} with `sci evaluate --methods "
        "standard`, or keep logits with `--record logits`."
    )


def _cell(probe: Probe, subject: Subject, training: int, method: str, part: Any) -> Cell:
    own = part.what.rpartition(", ")[2]
    label = probe.label.format(part=SHORT.get(own.removeprefix("pocket_"), own))
    change = part.interval.times(100)
    return Cell(probe, label, subject.name, subject.shown, training, method, part, change)


def sources(models: Names, records: str | Path) -> list[Path]:
    """The files that the matrix reads beside the models' own records."""
    trained = [training for model in named(models, records) for training in model.trainings]
    return companion_files(trained)


def costs() -> dict[str, float]:
    """Tokens of a question through the language model by method, in multiples of the base."""
    base = cost(BASE, IMAGE_TOKENS).read
    return {name: cost((METHODS | READS)[name], IMAGE_TOKENS).read / base for name in SHOWN}


def lines(all_cells: Sequence[Cell]) -> Iterator[tuple[Cell, dict[str, Cell]]]:
    """The matrix line by line: a cell of the line, and its cells by method."""
    by_line: dict[tuple, dict[str, Cell]] = {}
    for cell in all_cells:
        key = (cell.probe.paper, cell.label, cell.model, cell.training)
        by_line.setdefault(key, {})[cell.method] = cell
    for line in by_line.values():
        yield next(iter(line.values())), line


def gaps(all_cells: Sequence[Cell]) -> dict[tuple[str, int], dict[str, str]]:
    """By model and training, and by method, what stands in the place of a missing cell."""
    filled: dict[tuple[str, int], set[str]] = {}
    for cell in all_cells:
        filled.setdefault((cell.model, cell.training), set()).add(cell.method)
    return {
        key: {name: MISSING if name in methods else NOT_RECORDED for name in SHOWN}
        for key, methods in filled.items()
    }


def name_of(cell: Cell) -> str:
    """A model as a line names it, with its number where it is a further training."""
    return f"{cell.shown}, training {cell.training}" if cell.training else cell.shown


def conclusion(subjects: Sequence[Subject], all_cells: Sequence[Cell], method: str) -> str:
    """Whether a method gains on every probe with every model, in Markdown.

    A paper that a model has no cell of is not comparable.
    """
    judged = [cell for cell in all_cells if cell.method == method and not cell.training]
    words, sentences, fit = [], [], []
    for subject in subjects:
        own = [cell for cell in judged if cell.model == subject.name]
        papers = {cell.probe.paper for cell in own}
        absent = [paper.title for name, paper in PAPERS.items() if name not in papers]
        words += ["not comparable"] * len(absent)
        sentence = _counts(subject, own, method)
        if absent:
            sentence += f" It has no such records of {', '.join(absent)}."
        if subject.fit:
            fit += own
        else:
            words += ["not comparable"] * len(own)
            sentence += " That it meets the conditions of SCI is not shown: not judged."
        sentences.append(f"- {sentence}")
    found = [verdict(cell.change, claim=cell.probe.better) for cell in fit]
    p = [cell.change.p() for cell in fit]
    if fit:
        sentences.append(f"\n{_decides(fit, found, p, method)}")
    return "\n".join([f"**Verdict: {overall([*found, *words], p)}.**\n", *sentences])


def _decides(cells: Sequence[Cell], words: Sequence[str], p: Sequence[float], method: str) -> str:
    """On how many cells a method is worse beyond chance, and where most clearly."""
    worse = [
        (cell, value) for cell, word, value in zip(cells, words, p, strict=True)
        if word == "fails" and beyond_chance(value, len(cells))
    ]  # fmt: skip
    text = (
        f"Of {len(cells)} cells one in {2 / (1 - LEVEL):.0f} lies wholly on the worse side of 0 by "
        f"chance; so the sentence fails only where p is under {1 - LEVEL:.2g} / {len(cells)}. "
    )
    if not worse:
        return f"{text}It is nowhere."
    cell, value = max(worse, key=lambda both: min(map(abs, both[0].change[1:3])))
    return (
        f"{text}It is on {len(worse)} of them, most clearly on “{cell.label}” with {cell.shown}, "
        f"where {method} changes {with_ends(*cell.change[:3])} points (p {p_value(value)})."
    )


def _counts(subject: Subject, own: Sequence[Cell], method: str) -> str:
    states = [cell.state for cell in own]
    text = (
        f"{subject.shown}: {method} gains on {states.count('gain')} of {len(states)} probes and "
        f"loses on {states.count('loss')}; on {states.count('open')} the interval reaches zero."
    )
    alike = states.count("alike")
    return text + (f" On {alike} there is no interval." if alike else "")


def table(all_cells: Sequence[Cell], model: str, training: int = 0) -> Table:
    """One model's matrix as text, a line a probe."""
    own = [cell for cell in all_cells if (cell.model, cell.training) == (model, training)]
    empty = gaps(own)[model, training] if own else {}
    rows = {
        f"{PAPERS[head.probe.paper].title}: {head.label}": {
            name: _with_ends(line[name].change) if name in line else empty[name] for name in SHOWN
        }
        for head, line in lines(own)
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(SHOWN), dtype=object)
    priced = {name: f"{name} ({number(cost)} ×)" for name, cost in costs().items()}
    shown = f"{model}, training {training}" if training else model
    caption = f"{shown}: each method less the base, in points, with {INTERVAL}s; cost in tokens"
    return Table(f"matrix-{model}-{training}", frame.rename(columns=priced), caption)


def as_rows(all_cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The matrix as plain values, for JSON: a missing number is None."""
    return [
        {
            "paper": cell.probe.paper, "probe": cell.label, "page": cell.probe.page,
            "model": cell.model, "training": cell.training, "method": cell.method,
            **cell.change.as_json("change"), "better": cell.probe.better,
            "n": cell.change.n, "groups": cell.change.clusters,
            "gained": cell.groups("gained"), "lost": cell.groups("lost"),
        }
        for cell in all_cells
    ]  # fmt: skip


def as_html(all_cells: Sequence[Cell]) -> str:
    """The matrix as a table; `book/_assets/matrix.js` sorts and filters it and opens its cells."""
    priced = costs()
    controls = {name: {"label": CONTROLS[name].label, "rule": None} for name in COMPARED_CONTROLS}
    shown = exported_methods() | controls
    heads = "".join(
        f'<th scope="col" data-method="{escape(json_text(shown[name]))}">{shown[name]["label"]} '
        f"<small>{number(priced[name])} ×</small></th>"
        for name in SHOWN
    )
    body, empty = [], gaps(all_cells)
    for head, line in lines(all_cells):
        probe = head.probe
        title, model = PAPERS[probe.paper].title, name_of(head)
        attributes = {"page": address(probe.page), "title": title_of(probe.page)}
        attributes |= {"better": probe.better, "paper": title, "model": model}
        if probe.paper == OWN and probe.arguments["methods"] == [METHOD] and not head.training:
            attributes["explored"] = head.model
        first = f"{escape(head.label)} <small>{escape(f'{title}, {model}')}</small>"
        numbers = "".join(
            _as_html(line[name]) if name in line else f"<td>{gap}</td>"
            for name, gap in empty[head.model, head.training].items()
        )
        body.append(f'<tr{_data(attributes)}><th scope="row">{first}</th>{numbers}</tr>')
    return (
        '<div class="scoreboard-filter matrix-filter"></div>'
        '<div class="matrix-box"><table class="sci-table matrix"><caption>Each method less the '
        f"base, in points, with {INTERVAL}s; under a method’s name its cost in tokens, in "
        'multiples of the base’s</caption><thead><tr><th scope="col">probe</th>'
        f"{heads}</tr></thead><tbody>{''.join(body)}</tbody>"
        "</table></div>"
    )


def _with_ends(change: Interval) -> str:
    return with_ends(*change[:3], key=change.key)


def _as_html(cell: Cell) -> str:
    change = cell.change
    attributes = {"n": f"{change.n:,}", "groups": f"{change.clusters:,}"}
    for side in ("gained", "lost"):
        if (groups := cell.groups(side)) is not None:
            attributes |= {side: f"{len(groups):,}", f"{side}-groups": "\n".join(groups[:_NAMED])}
    ends = f"<small>{interval(change.low, change.high, 1)}</small>"
    classes = f"{cell.state} k{change.key}"
    return f'<td class="{classes}"{_data(attributes)}>{number(change.estimate, 1)} {ends}</td>'


def _data(attributes: Mapping[str, str]) -> str:
    return "".join(f' data-{key}="{escape(value)}"' for key, value in attributes.items())


def draw(all_cells: Sequence[Cell]) -> Figure:
    """A panel a model, a line a probe, a column a method: deeper where the change is larger.

    Controls, which few lines have, are left to the table.
    """
    own = [cell for cell in all_cells if not cell.training]
    models = list(dict.fromkeys(cell.shown for cell in own))
    labels = list(dict.fromkeys((cell.probe.paper, cell.label) for cell in own))
    if not labels:
        figure, ax = plt.subplots(figsize=(WIDTH, 1))
        nothing(ax, "No record fills a cell.")
        return figure
    figure, panels = plt.subplots(
        1, len(models), figsize=(WIDTH, 0.9 + 0.3 * len(labels)), sharey=True, squeeze=False
    )
    for ax, shown in zip(panels[0], models, strict=True):
        for cell in own:
            if cell.shown == shown and cell.method in COMPARED:
                _draw_cell(ax, labels.index((cell.probe.paper, cell.label)), cell)
        ax.set_title(shown, fontsize=9)
        ax.set_xticks(range(len(COMPARED)), COMPARED, fontsize=7)
        ax.set_xlim(-0.5, len(COMPARED) - 0.5)
        ax.tick_params(length=0, labeltop=True)  # a phone shows one end of so many lines
        ax.grid(visible=False)
        for place in range(1, len(labels)):
            if labels[place][0] != labels[place - 1][0]:
                ax.axhline(place - 0.5, color="#9ca3af", linewidth=0.8)
    panels[0, 0].set_yticks(range(len(labels)), [label for _, label in labels], fontsize=7)
    panels[0, 0].set_ylim(len(labels) - 0.5, -0.5)
    for paper in dict.fromkeys(paper for paper, _ in labels):
        mine = [place for place, (other, _) in enumerate(labels) if other == paper]
        panels[0, -1].text(
            len(COMPARED) - 0.3, (mine[0] + mine[-1]) / 2, PAPERS[paper].title, rotation=270,
            va="center", fontsize=7,
        )  # fmt: skip
    return figure


def _draw_cell(ax: Axes, line: int, cell: Cell) -> None:
    depth = min(abs(cell.gain) / _FULL, 1.0)
    ground = "#0072b2" if cell.gain > 0 else "#b91c1c"  # a pale one lets the page be seen
    place = COMPARED.index(cell.method)
    box = {"width": 0.96, "height": 0.92, "color": ground, "alpha": depth, "lw": 0}
    ax.add_patch(plt.Rectangle((place - 0.48, line - 0.46), **box))
    ax.text(
        place, line, number(cell.change.estimate, 1), ha="center", va="center", fontsize=6,
        fontweight="bold" if cell.state in ("gain", "loss") else "normal",
        color="white" if depth > 0.85 else INK,
    )  # fmt: skip
