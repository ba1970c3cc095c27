"""Where changed answers go: from which letter to which, and whether one letter draws them."""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.sci.chapters.rewrite_effects import ROUNDS, changed, rows_of
from sci_book.papers.shared.chapters import SplitBy, Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.svg import ON_PALE
from sci_book.papers.shared.tables import MISSING, Table, interval, number, signed
from sci_book.results.statistics import difference

UNKNOWN = "?"
TYPES = {"mcq": "letters", "yesno": "yes/no"}
FULL = 15.0  # percent from which on a cell has the full colour, on every figure
LEAST = 20  # rows below which a line of percentages is not drawn


def transitions(subject: Subject, name: str, question_type: str, split_by: SplitBy) -> pd.DataFrame:
    """Rows by base answer (down) and answer to the rewritten prompt (across).

    `?`, unknown, is a line where the base has it, and a column where any rewrite has it.
    """
    rows = rows_of(subject, split_by)
    rows = rows & (subject.records.frame["question_type"] == question_type).to_numpy()
    read = {policy: _readable(subject.records.parsed(policy)[rows]) for policy in ("base", *ROUNDS)}
    rewritten = np.concatenate([read[policy] for policy in ROUNDS])
    down = _answers(subject, question_type, read["base"])
    across = _answers(subject, question_type, rewritten)
    counts = [[int(((read["base"] == a) & (read[name] == b)).sum()) for b in across] for a in down]
    return pd.DataFrame(counts, index=down, columns=across, dtype=int)


def pulls(subject: Subject, split_by: SplitBy) -> pd.DataFrame:
    """Where changed multiple-choice rows go, against a uniform choice among their other options.

    One line a rewrite and letter: `share` of the changed rows that go there, `uniform`, the share
    if each took any other of its options with equal chance, and their difference `gap` with `low`
    and `high`, all in percent; `n` changed rows.
    """
    rows = rows_of(subject, split_by)
    rows = rows & (subject.records.frame["question_type"] == "mcq").to_numpy()
    cases = []
    for name in ROUNDS:
        moved = rows & changed(subject, name)
        after, chance = _readable(subject.records.parsed(name)[moved]), _uniform(subject, moved)
        for answer in _answers(subject, "mcq", after):
            hit = (after == answer).astype(float)
            cases.append((name, answer, hit, chance.get(answer, np.zeros(len(hit))), moved))
    lines = []
    for name, answer, hit, chance, moved in cases:
        gap = difference(hit - chance, subject.groups[moved])
        means = (values.mean() if gap.n else np.nan for values in (hit, chance))
        lines.append((name, answer, *(100 * x for x in (*means, *gap[:3])), gap.n))
    columns = ["rewrite", "answer", "share", "uniform", "gap", "low", "high", "n"]
    return pd.DataFrame(lines, columns=columns)


def destinations(frame: pd.DataFrame, subject: Subject) -> Table:
    """`pulls` as a table: by rewrite the share of each answer, and its distance from uniform."""
    lines: dict[str, dict] = {}
    for line in frame.itertuples():
        cells = lines.setdefault(line.answer, {})
        cells[line.rewrite, "%"] = number(line.share, 1)
        ends = interval(line.low, line.high, 1)
        cells[line.rewrite, "− uniform"] = f"{signed(line.gap, 1)} {ends}" if line.n else MISSING
    columns = pd.MultiIndex.from_product([ROUNDS, ["%", "− uniform"]])
    table = pd.DataFrame.from_dict(lines, orient="index").reindex(columns=columns)
    caption = f"Where changed multiple-choice rows go, {subject.shown}, % of the changed rows"
    return Table(f"destinations-{subject.name}", table.fillna(MISSING), caption)


def drawn_to(frame: pd.DataFrame, subject: Subject) -> str:
    """The answers that draw changed rows beyond a uniform choice, by the interval alone."""
    texts = [
        f"{line.answer} under {line.rewrite} ({signed(line.gap, 1)} points)"
        for line in frame[frame["low"] > 0].itertuples()
    ]
    to = f"more often than by a uniform choice to {', '.join(texts)}"
    more = to if texts else "to no answer more often than by a uniform choice"
    return f"**{subject.shown}.** Changed rows go {more}."


def draw_transitions(subject: Subject, split_by: SplitBy) -> Figure:
    """Heat maps, question types down and rewrites across: where each base answer's rows go."""
    tables = {
        (kind, name): _percentages(transitions(subject, name, kind, split_by))
        for kind, name in product(TYPES, ROUNDS)
    }
    figure, axes = plt.subplots(len(TYPES), len(ROUNDS), figsize=(WIDTH, 3.7), height_ratios=[4, 2])
    for ax, table in zip(axes.flat, tables.values(), strict=True):
        _draw_heat(ax, table)
    for line, kind in zip(axes, TYPES.values(), strict=True):
        line[0].set_ylabel(f"base, {kind}", fontsize=9)
    for ax, name in zip(axes[0], ROUNDS, strict=True):
        ax.set_title(name, fontsize=10, loc="center")
    figure.supxlabel(f"answer to the rewrite, {subject.shown}", fontsize=9)
    return figure


def _readable(parsed: np.ndarray) -> np.ndarray:
    return np.where(pd.isna(parsed), UNKNOWN, parsed)


def _answers(subject: Subject, question_type: str, seen: np.ndarray) -> list[str]:
    """The answers of a question type, in their order, and `?` if there is one."""
    options = subject.records.frame["options"]
    letters = sorted(set("".join(options.unique())))
    names = letters if question_type == "mcq" else ["yes", "no"]
    return [*names, *([UNKNOWN] if UNKNOWN in seen else [])]


def _uniform(subject: Subject, rows: np.ndarray) -> dict[str, np.ndarray]:
    """For each letter, the chance of every one of some rows to go there, if it goes at random."""
    before = _readable(subject.records.parsed("base")[rows])
    options = subject.records.frame["options"].to_numpy(dtype=object)[rows]
    others = [set(has) - {was} for has, was in zip(options, before, strict=True)]
    return {
        name: np.array([(name in left) / max(len(left), 1) for left in others])
        for name in sorted(set("".join(options)))
    }


def _percentages(counts: pd.DataFrame) -> pd.DataFrame:
    """Each line in percent of its rows; NaN where it has fewer than `LEAST`."""
    total = counts.sum(axis=1)
    return 100 * counts.div(total.where(total >= LEAST), axis=0)


def _off_diagonal(table: pd.DataFrame) -> np.ndarray:
    same = table.index.to_numpy()[:, None] == table.columns.to_numpy()
    return np.where(same, np.nan, table.to_numpy(dtype=float))


def _draw_heat(ax: Axes, table: pd.DataFrame) -> None:
    """Colour for what moves; what stays is grey, and a line of too few rows has dashes."""
    if not table.size:
        ax.set_axis_off()
        return
    values, shades = table.to_numpy(dtype=float), _off_diagonal(table)
    colours = plt.get_cmap("Oranges").with_extremes(bad="#f3f4f6")
    ax.imshow(np.ma.masked_invalid(shades), cmap=colours, vmin=0, vmax=FULL, aspect="auto")
    for (down, across), value in np.ndenumerate(values):
        stays, dark = np.isnan(shades[down, across]), shades[down, across] > 0.6 * FULL
        ink = "#4b5563" if stays else "white" if dark else ON_PALE
        ax.text(across, down, number(value, 0), ha="center", va="center", color=ink, fontsize=8)
    ax.set_xticks(range(len(table.columns)), table.columns)
    ax.set_yticks(range(len(table.index)), table.index)
    ax.tick_params(labelsize=9)
    ax.grid(visible=False)
