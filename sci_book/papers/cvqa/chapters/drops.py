"""Tables 3, 4 and 5 and Figure 1: accuracy on original and counterfactual questions, and the drop.

A drop is original less counterfactual, so that a loss is positive; the paper prints its negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.cvqa.chapters import pairs
from sci_book.papers.cvqa.chapters.pairs import TYPES, Pairs
from sci_book.papers.cvqa.questions import SIDES, Side
from sci_book.papers.cvqa.scores import paired_drops
from sci_book.papers.shared import chapters
from sci_book.papers.shared.chapters import PAPER, Subject
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import INTERVAL, Table, interval, number, p_value, plain
from sci_book.results.drbench import in_hashed_share
from sci_book.results.statistics import holm

MOST_SAID = 6  # answers that are named
EXAMPLES = 2  # items of a kind that are shown
AS_UNDERSTOOD = "boolean, yes or no"
_COLUMNS = [
    "n",
    *(f"{name}{end}" for name in (*SIDES, "drop") for end in ("", "_low", "_high")),
    "p", "unread_original", "unread_counterfactual", "failed",
]  # fmt: skip
SIDE_COLOURS = {"original": "#0072b2", "counterfactual": "#dd6b20"}
SIDE_SHIFTS = {"original": -0.2, "counterfactual": 0.2}  # of bars in pairs


def read_table(number_: int) -> pd.DataFrame:
    """Table 3, 4, 5, 6 or 7 as transcribed; numbers as floats.

    Columns `model_type, model, type, original, counterfactual, change`.
    """
    frame = pd.read_csv(PAPER / f"cvqa_table{number_:02d}.csv", dtype=str, keep_default_na=False)
    columns = ["original", "counterfactual", "change"]
    return frame.drop(columns="table").assign(
        **{name: pd.to_numeric(frame[name]) for name in columns}
    )


def paper_table(number_: int) -> Table:
    """The paper's Table 3, 4, 5 or 6 as printed, one line a model."""
    frame = read_table(number_)
    wide = frame.pivot(index="model", columns="type", values=list(SIDES))
    order = list(dict.fromkeys(frame["model"]))
    columns = {f"{kind}, {side}": wide[side, kind].loc[order] for kind in TYPES for side in SIDES}
    return plain(
        pd.DataFrame(columns).rename_axis(index=None), name=f"paper-{number_:02d}", decimals=1,
        caption=f"The paper’s Table {number_}, percent right",
    )  # fmt: skip


def relative(subject: Subject, table: int = 3) -> pd.DataFrame:
    """The lines of the paper's model of the same family, by type; perhaps none."""
    known = pd.read_csv(PAPER / "cvqa_relatives.csv", dtype=str).set_index("label")["model"]
    frame, name = read_table(table).set_index("type"), known.get(subject.label or "")
    return frame[frame["model"].str.startswith(name)] if name else frame[:0]


def lines(subject: Subject) -> pd.DataFrame:
    """`scores.paired_drops` by type, in the paper's wording, and then in the one understood.

    One line a type as the paper asks; `AS_UNDERSTOOD` where the records hold those rows too.
    """
    asked, yesno = (_lines(pairs.of(subject, part)) for part in ("real", "yesno"))
    if not len(yesno):
        return asked
    yesno = yesno.rename(index={"boolean": AS_UNDERSTOOD})
    return pd.concat([asked, yesno]) if len(asked) else yesno


def claimed(table: pd.DataFrame) -> list[str]:
    """The lines that are tested: booleans as understood, where they were asked so."""
    replaced = "boolean" if AS_UNDERSTOOD in table.index else ""
    return [name for name in table.index if name != replaced]


def family(subjects: Sequence[Subject]) -> dict[str, pd.DataFrame]:
    """`lines` of every model; `p` is Holm's over the lines tested."""
    tables = {subject.name: lines(subject) for subject in subjects}
    names = [(name, line) for name, frame in tables.items() for line in claimed(frame)]
    p_values = [tables[name].loc[line, "p"] for name, line in names]
    for name in tables:
        tables[name]["p"] = np.nan
    for (name, line), p in zip(names, holm(p_values), strict=True):
        tables[name].loc[line, "p"] = p
    return tables


def accuracy_table(subject: Subject, table: pd.DataFrame, title: str = "Accuracy") -> Table:
    """Both accuracies and the drop with their intervals, what could not be read, what failed."""
    frame = pd.DataFrame(index=pd.Index(table.index, name=None))
    for side in (*SIDES, "drop"):
        frame[side] = [
            f"{number(line[side])} {interval(line[f'{side}_low'], line[f'{side}_high'])}"
            for _, line in table.iterrows()
        ]
    for side in SIDES:
        frame[f"unread, {side}"] = table[f"unread_{side}"].astype(int)
    frame["n"] = table["n"].astype(int)
    frame["failed"] = table["failed"].astype(int)
    caption = f"{title} of {subject.shown} in percent, with {INTERVAL}s"
    return plain(frame, name=f"{title.lower().replace(' ', '-')}-{subject.name}", caption=caption)


def tests(tables: Mapping[str, pd.DataFrame], subjects: Sequence[Subject]) -> Table:
    """Sign-flip p-values of no drop, Holm's over all lines."""
    frame = pd.DataFrame({subject.shown: tables[subject.name]["p"] for subject in subjects})
    texts = frame.dropna(how="all").map(p_value).sort_index()
    caption = "p of no drop, sign-flip test over pictures, Holm"
    return plain(texts, name="tests", caption=caption)


def baselines(subject: Subject) -> Table:
    """What needs no model: the commonest counterfactual answer, and the original one kept."""
    items = pairs.of(subject, "real")
    truth, kinds = items.column("truth"), items.kinds
    rows = {}
    for kind in dict.fromkeys(kinds):
        original, counterfactual = truth[:, kinds == kind]
        counts = pd.Series(counterfactual).value_counts()
        rows[kind] = {
            "the commonest answer": f"“{counts.index[0]}”",
            "right with it": 100 * counts.iloc[0] / len(counterfactual),
            "right with the original’s answer": 100 * np.mean(original == counterfactual),
        }
    caption = "Without a model: counterfactual questions, percent"
    return table_of(rows, name="baselines", caption=caption)


def tenths(subjects: Sequence[Subject]) -> dict[str, pd.DataFrame]:
    """Table 5: the lines of a tenth of the pictures, chosen by a fixed hash, of every model."""
    tables = {}
    for subject in subjects:
        items = pairs.understood(subject)
        tables[subject.name] = _lines(items.where(in_tenth(items.groups)))
    return tables


def in_tenth(groups: np.ndarray) -> np.ndarray:
    """Which of these pictures are of the tenth that Table 5 is shown on."""
    return np.array([in_hashed_share(group, 10, "a tenth ") for group in groups], bool)


def tenth_table(subject: Subject, table: pd.DataFrame) -> Table:
    """Table 5 in shape: the drop on a tenth of the rows."""
    columns = {"drop": "reproduced", "n": "n", "drop_low": "low", "drop_high": "high"}
    paper = -read_table(5).set_index("type")["change"]
    frame = table[list(columns)].rename(columns=columns)
    return chapters.levels(
        frame.assign(paper=paper.reindex(frame.index)),
        name=f"tenth-{subject.name}", ours=subject.shown,
        caption=f"Drop on a tenth of the rows, in points; in the paper GPT-4V, "
        f"here {subject.shown}",
    )  # fmt: skip


def paper_numbers(subjects: Sequence[Subject]) -> dict[tuple[str, str], float]:
    """What the paper prints of each model's relative, by model and part of the claims."""
    numbers = {}
    for subject in subjects:
        plainly, steps = relative(subject, 3), relative(subject, 4)
        gains = steps["counterfactual"] - plainly["counterfactual"]
        for kind in TYPES if len(plainly) else ():
            numbers[subject.name, drop_part(kind)] = -plainly["change"].get(kind, np.nan)
            numbers[subject.name, step_part(kind)] = gains.get(kind, np.nan)
    return numbers


def drop_part(kind: str) -> str:
    """The name of a claim's part about the drop on one type of questions."""
    return f"drop of base, {kind}"


def step_part(kind: str) -> str:
    """The name of a claim's part about step by step less plainly."""
    return f"step by step, {kind}"


# --- Table 4 --------------------------------------------------------------------------------------


def both_prompts(subject: Subject) -> tuple[Pairs, Pairs]:
    """The items asked both ways, plainly and step by step, in one order.

    Plainly in the paper's wording, booleans too: "Let's think step by step:" alone differs.
    """
    plainly, steps = pairs.of(subject, "real"), pairs.of(subject, "steps")
    position = {key: k for k, key in enumerate(plainly.keys)}
    places = np.array([position.get(key, -1) for key in steps.keys], dtype=int)
    return plainly.where(places[places >= 0]), steps.where(places >= 0)


def steps_lines(subjects: Sequence[Subject]) -> dict[str, pd.DataFrame]:
    """Table 4's lines of every model, told to think step by step."""
    return {subject.name: _lines(both_prompts(subject)[1]) for subject in subjects}


def said(subject: Subject, part: str) -> Table:
    """The commonest answers on counterfactual questions of each type, with their shares."""
    items = pairs.of(subject, part)
    texts = subject.records.text("base")[items.rows[1]]
    rows = {}
    for kind in dict.fromkeys(items.kinds):
        counts = pd.Series(texts[items.kinds == kind]).value_counts(normalize=True)[:MOST_SAID]
        rows[kind] = {
            str(k): f"“{t}” {100 * s:.0f} %" for k, (t, s) in enumerate(counts.items(), 1)
        }
    caption = f"What {subject.shown} says most often step by step, counterfactual questions"
    return table_of(rows, name=f"said-{subject.name}", caption=caption)


# --- Figure 1 -------------------------------------------------------------------------------------


def draw_drops(subjects: Sequence[Subject], tables: Mapping[str, pd.DataFrame]) -> Figure:
    """Figure 1, bottom: a pair of bars a type; the paper's model of the family as diamonds."""
    figure, axes = plt.subplots(1, len(subjects), figsize=(WIDTH, 3.4), sharey=True, squeeze=False)
    for ax, subject in zip(axes[0], subjects, strict=True):
        table = tables[subject.name].loc[claimed(tables[subject.name])]
        paper = relative(subject)
        for side in SIDES:
            shifted = bars(ax, side, table[side], table[f"{side}_low"], table[f"{side}_high"])
            marks = [paper[side].get(n.partition(",")[0], np.nan) for n in table.index]
            ax.plot(shifted, marks, "D", mfc="white", mec=INK, markersize=5)
        ax.plot([], [], "D", mfc="white", mec=INK, markersize=5, label="paper’s relative")
        ax.set_xticks(range(len(table)), [name.replace(", ", "\n") for name in table.index])
        ax.grid(axis="x", visible=False)
        ax.set_title(subject.shown)
    axes[0, 0].set_ylabel("accuracy, %")
    axes[0, 0].set_ylim(0, 100)
    axes[0, -1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def bars(ax: Axes, side: Side, heights: pd.Series, low: pd.Series, high: pd.Series) -> np.ndarray:
    """One side's bars with their intervals, left or right of the places 0, 1, …: their middles."""
    middles = np.arange(len(heights)) + SIDE_SHIFTS[side]
    ax.bar(middles, heights, 0.38, yerr=[heights - low, high - heights], color=SIDE_COLOURS[side],
           error_kw={"lw": 1, "ecolor": INK}, label=side)  # fmt: skip
    return middles


# --- Figures 6 and 7 ------------------------------------------------------------------------------


def examples(subject: Subject) -> Table | str:
    """Items answered rightly on one side alone: of each kind those first in the file.

    A sentence where the questions are not at hand.
    """
    questions, items = pairs.items_of(subject, "real"), pairs.of(subject, "real")
    if questions is None:
        return f"The questions that {subject.shown} answered are not at hand (`sci data make`)."
    right, said_ = items.right("base"), subject.records.text("base")[items.rows]
    rows = {}
    for kind in TYPES[:2]:
        for change, difference in (("lost", 1.0), ("gained", -1.0)):
            places = np.flatnonzero((right[0] - right[1] == difference) & (items.kinds == kind))
            for place in places[:EXAMPLES]:
                item = questions[items.numbers[place]]
                rows[f"{kind} {items.numbers[place]}, {change}"] = {
                    "original": f"{item.original} — {said_[0, place]}",
                    "counterfactual": f"{item.counterfactual} — {said_[1, place]} "
                    f"(right: {item.counterfactual_answer})",
                }
    caption = f"Right on one side alone, the first of each kind: {subject.shown}"
    return table_of(rows, name=f"prose-examples-{subject.name}", caption=caption)


def _lines(items: Pairs) -> pd.DataFrame:
    """`scores.paired_drops` by type, without the line of all; empty where there is no item."""
    if not len(items):
        return pd.DataFrame(columns=_COLUMNS)
    table = paired_drops(items.kinds, items.groups, items.right("base"), items.unread("base"))
    by_type = table.set_index("type").rename_axis(index=None)
    return by_type.drop(index="all", errors="ignore")
