"""Table 3: each model on the rows that another model stumbles over.

DRBench is built by one model (`built`) and answered by another (`answers`). Where both are the
same, the base is wrong on all of B by construction; where they differ, it is not, so that SCI has
something to lose there as well as something to win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from sci_book.papers.sci.chapters.drbench_tables import PAPER_SUBSETS, Outcomes, flips_table
from sci_book.papers.sci.chapters.shapes import Sets, Subjects, by_kind, counts, ends, paired
from sci_book.papers.sci.chapters.subset_sizes import of_kind
from sci_book.papers.shared import gate
from sci_book.papers.shared.chapters import PAPER, Subject, gain, row, side
from sci_book.papers.shared.figures import WIDTH
from sci_book.papers.shared.pages import address
from sci_book.papers.shared.svg import ON_PALE
from sci_book.papers.shared.tables import INTERVAL, Table, compare, interval, number, with_ends
from sci_book.results.drbench import split
from sci_book.results.metrics import KINDS, accuracy_table, flips
from sci_book.results.statistics import NO_DATA, holm, sign_flip_test
from sci_book.run import conditions

METHOD = "SCI5"  # the one method of Table 3
OPPONENTS = ("base", "VCD")
PRINTED = ("base", METHOD)
SHOWN = ("base", "VCD", METHOD, "runner-up", "uniform other")
NOBODY = "one model on another’s BS"  # the label of a line for which there is no pair
OVERLAP = ("in both models’ BS", "in that BS alone", "all test rows")

Right = Mapping[str, Outcomes]  # by model, as `drbench_tables.outcomes`
Pair = tuple[Subject, Subject]  # the model that built the rows, the model that answers


def pairs(subjects: Subjects, *, own: bool = False) -> list[Pair]:
    """Every model on every other model's rows; with `own`, on its own rows too."""
    return [pair for pair in product(subjects, repeat=2) if own or pair[0] is not pair[1]]


def asked(subjects: Subjects) -> Subjects:
    """The models that the claim is put to: those fit to be asked, or all if fewer than two are.

    One model that does not meet the conditions would else leave no pair to judge.
    """
    fit = [subject for subject in subjects if subject.fit]
    return fit if len(fit) > 1 else subjects


def left_out(subjects: Subjects) -> list[Subject]:
    """The models shown that the claim is not put to."""
    return [subject for subject in subjects if subject not in asked(subjects)]


def not_asked(subjects: Subjects, verdicts: Iterable[str]) -> str:
    """Which models stand in the tables alone, and why, in Markdown; "" if none.

    Args:
        verdicts: what the page's claims come to where they are put to every model shown.
    """
    left = left_out(subjects)
    if not left:
        return ""
    reasons = [
        f"{subject.shown}, which does not meet the [conditions]({address('conditions')}) "
        f"({gate.of_claim(gate.OF_SCI, {subject.shown: subject.unmet})})"
        for subject in left
    ]
    words = " or ".join(f"*{word}*" for word in sorted(set(verdicts)))
    return (
        f"The claim is not put to {' nor to '.join(reasons)}; its lines stand in the tables below. "
        f"Put to every model shown, the claims of this page would be {words} on each. The rule "
        "that leaves a model out came in one commit with the results of the book’s models, and is "
        f"an [amendment]({address('registration')})."
    )


def alone_table(subject: Subject) -> Table:
    """How often each rewording alone is right beside the original, on the rows that decide."""
    records, spec = gate.judged_on(subject.path, subject.records)
    table = conditions.measure(records, spec)
    lines = {}
    for line in table[table["id"] == "rewording"].itertuples():
        rows = records.ok & of_kind(replace(subject, records=records), line.group)
        if spec["split"] != "all":
            rows &= split(records) == spec["split"]
        original, reworded = (records.correct(name)[rows] for name in ("original", line.input))
        lines[f"{line.input}, {line.group}"] = {
            "original right, %": number(100 * original.mean(), 1),
            "reworded right, %": number(100 * reworded.mean(), 1),
            "difference, points": with_ends(line.estimate, line.low, line.high, 1),
            "allowed": f"± {number(line.margin, 0)}",
            "condition": line.state,
        }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    caption = f"{subject.shown}: each rewording alone beside the original, on the rows that decide"
    return Table(f"alone-{subject.name}", frame, caption)


@cache
def paper_accuracy() -> dict[tuple[str, str, str, str], float]:
    """The paper's Table 3 in percent, by (built, answers, method, question type)."""
    frame = pd.read_csv(PAPER / "table03.csv")
    keys = ["construction_model", "model", "method", "question_type"]
    return frame.set_index(keys)["value"].astype(float).to_dict()


def rows_of(pair: Pair, sets: Sets, subset: str, kind: str = "Overall") -> np.ndarray:
    """Rows of a subset that one model built and the other answered without an error, a mask."""
    built, answers = pair
    return sets[built.name][subset].to_numpy() & answers.records.ok & of_kind(answers, kind)


def gaps(pair: Pair, right: Right, opponent: str) -> np.ndarray:
    """SCI5 less an opponent, both by the answering model, row by row."""
    outcomes = right[pair[1].name]
    return outcomes[METHOD] - outcomes[opponent]


def bs_table(built: Subject, subjects: Subjects, sets: Sets, right: Right) -> Table:
    """BS as one model built it, under every model: the paper's Table 3 beside ours.

    VCD and the null methods stand below the paper's two lines. A null is that of the model that
    answers: its own runner-up, or any option but its own. What its records lack is left out.
    """
    lines, paper = {}, {}
    for answers in subjects:
        rows = pd.DataFrame({"BS": rows_of((built, answers), sets, "BS")})
        every = {method: right[answers.name][method] for method in SHOWN}
        outcomes = {name: hits for name, hits in every.items() if not np.isnan(hits).all()}
        frame = accuracy_table(outcomes, answers.records.frame, rows)
        for method, part in frame.groupby("method", sort=False):
            label = f"{answers.brief}: {method}"
            lines[label] = part.set_index("question_type")
            paper[label] = [_printed((built, answers), method, kind) for kind in KINDS]
    n = {kind: int(rows_of((built, built), sets, "BS", kind).sum()) for kind in KINDS}
    caption = f"BS built by {built.shown}, accuracy in %; {counts(n)}"
    return by_kind(
        lines, paper, name=f"built-by-{built.name}", caption=caption, ours=side(subjects)
    )


def base_table(subjects: Subjects, sets: Sets, right: Right) -> Table:
    """Each model's base on all test rows: how much of a model it is."""
    tables, columns = [], {}
    for subject in subjects:
        base = {"base": right[subject.name]["base"]}
        tables.append(accuracy_table(base, subject.records.frame, sets[subject.name][["all"]]))
    for kind, lines in pd.concat(tables).groupby("question_type", sort=False):
        columns[kind, "%"] = [number(value) for value in lines["value"]]
        columns[kind, INTERVAL] = ends(lines)
    test = sets[subjects[0].name]["all"].to_numpy()
    n = {kind: int((test & of_kind(subjects[0], kind)).sum()) for kind in KINDS}
    caption = (
        f"The base on all test rows, accuracy in %; n = {n['Overall']:,}: {n['MCQ']:,} MCQ, "
        f"{n['Others']:,} Others, less those with an error"
    )
    frame = pd.DataFrame(columns, index=[subject.shown for subject in subjects])
    return Table("base", frame, caption)


def transfer(subjects: Subjects, sets: Sets, right: Right) -> pd.DataFrame:
    """SCI5 less the base on the BS that another model built, by question type.

    One line a pair of models and type, labelled "one on other’s BS, type"; rows of
    `tables.compare` and `holm`, the p-value of the cluster sign-flip test adjusted over all lines.
    With one model there is one line without a row.
    """
    every = list(product(pairs(subjects), KINDS[:2]))
    if not every:
        line = row(NO_DATA, claim="greater") | {"holm": np.nan}
        return pd.DataFrame.from_dict({NOBODY: line}, orient="index")
    lines, p = {}, []
    for pair, kind in every:
        answers, gap, rows = pair[1], gaps(pair, right, "base"), rows_of(pair, sets, "BS", kind)
        lines[f"{name_of(pair)}, {kind}"] = paired(
            answers, gap, rows, paper=_paper_gain(pair, kind), fit=_fit(pair)
        )
        p.append(sign_flip_test(gap[rows], answers.groups[rows]))
    return pd.DataFrame.from_dict(lines, orient="index").assign(holm=holm(p))


def transfer_table(frame: pd.DataFrame, ours: str) -> Table:
    """`transfer` as a table, its adjusted p-values last."""
    caption = "SCI5 − base on the BS of another model, in points, p by Holm"
    table = compare(frame, name="transfer", caption=caption, ours=ours)
    return replace(table, frame=table.frame.assign(p=[number(p, 4) for p in frame["holm"]]))


def paper_numbers(subjects: Subjects) -> dict[tuple[str, str], float]:
    """The paper's differences behind the page's claims in points, by model and part."""
    numbers = {}
    for pair in pairs(subjects):
        built, answers = pair
        ahead = _printed(pair, "base") - _printed((built, built), "base")
        numbers[answers.name, f"{METHOD} − base, BS of {built.shown}"] = _paper_gain(pair)
        numbers[built.name, f"base of {answers.shown} − of {built.shown}"] = ahead
    return numbers


def models_of(subjects: Subjects) -> str:
    """ "pocket models", or what else the subjects are, for captions."""
    return "pocket models" if side(subjects) == "pocket" else "models run here"


def name_of(pair: Pair) -> str:
    """ "Qwen2-VL on LLaVA-NeXT’s BS"."""
    built, answers = pair
    return f"{answers.brief} on {built.brief}’s BS"


def matrix(subjects: Subjects, sets: Sets, right: Right, subset: str) -> pd.DataFrame:
    """Every model on every model's subset, its own included: one line a pair, in points.

    Columns `built`, `answers` (brief names), `own`, `n`, the accuracies `base`, `VCD` and `SCI5` in
    percent, and for each opponent `SCI5 − opponent`, with ` low`, ` high` and ` verdict` appended.
    """
    every = pairs(subjects, own=True)
    lines = []
    for pair in every:
        (built, answers), rows = pair, rows_of(pair, sets, subset)
        own, n = built is answers, int(rows.sum())
        line = {"built": built.brief, "answers": answers.brief, "own": own, "n": n}
        for method in (*OPPONENTS, METHOD):
            line[method] = 100 * float(right[answers.name][method][rows].mean()) if n else np.nan
        for opponent in OPPONENTS:
            gap, head = gaps(pair, right, opponent), versus(opponent)
            contrast = paired(answers, gap, rows, fit=_fit(pair))
            line[head] = contrast["reproduced"]
            line |= {f"{head} {end}": contrast[end] for end in ("verdict", "low", "high")}
        lines.append(line)
    return pd.DataFrame(lines)


def versus(opponent: str) -> str:
    """The head of a difference's column."""
    return f"{METHOD} − {opponent}"


def matrix_table(frame: pd.DataFrame, subset: str, models: str) -> Table:
    """`matrix` as a table, its lines by the model that built; `models` says whose they are."""
    columns: dict[tuple[str, str], list[str]] = {("", "n"): [f"{n:,}" for n in frame["n"]]}
    for method in (*OPPONENTS, METHOD):
        columns["accuracy, %", method] = [number(value) for value in frame[method]]
    for opponent in OPPONENTS:
        head = versus(opponent)
        columns[head, "points"] = [number(value) for value in frame[head]]
        columns[head, "interval"] = ends(frame, prefix=f"{head} ")
        if opponent == "base":
            columns[head, "verdict"] = frame[f"{head} verdict"].tolist()
    on_b = subset == "B"
    index = [
        f"{line.answers} on {_whose(line.own, line.built)} {subset}"
        + (" *" if line.own and on_b else "")
        for line in frame.itertuples()
    ]
    caption = f"{subset}, {models}" + (
        "; * the base is wrong on each of these rows by construction" if on_b else ""
    )
    name = f"matrix-{subset.replace('∖', '-without-')}"
    return Table(name, pd.DataFrame(columns, index=index), caption)


def overlap(subjects: Subjects, sets: Sets, right: Right) -> dict[str, list[dict]]:
    """SCI5 less the base on each part of another model's BS: rows of `compare`, in pairs' order."""
    parts: dict[str, list[dict]] = {name: [] for name in OVERLAP}
    for pair in pairs(subjects):
        mine, theirs = sets[pair[1].name]["BS"].to_numpy(), rows_of(pair, sets, "BS")
        masks = theirs & mine, theirs & ~mine, rows_of(pair, sets, "all")
        for name, rows in zip(OVERLAP, masks, strict=True):
            parts[name].append(paired(pair[1], gaps(pair, right, "base"), rows))
    return parts


def overlap_table(subjects: Subjects, sets: Sets, right: Right) -> Table:
    """SCI5 less the base on another model's BS, by whether the row is in one's own BS too.

    What is left of the trap off the diagonal: on shared rows the base may still be wrong by
    construction. The rest is free of rows chosen for the answering model's errors, and all test
    rows say what SCI5 does where no model chose.
    """
    columns = {}
    for name, lines in overlap(subjects, sets, right).items():
        frame = pd.DataFrame(lines or [row(NO_DATA)])
        columns[name, "n"] = [f"{n:,}" for n in frame["n"]]
        columns[name, "points"] = [number(value) for value in frame["reproduced"]]
        columns[name, INTERVAL] = ends(frame)
    frame = pd.DataFrame(columns, index=[name_of(pair) for pair in pairs(subjects)] or [NOBODY])
    caption = "SCI5 − base on the BS of another model, in points; each interval by itself"
    return Table("overlap", frame, caption)


def flip_table(subjects: Subjects, sets: Sets, right: Right) -> Table:
    """Rows that SCI5 turns from right to wrong and from wrong to right, by pair and subset."""
    changes = {subset: {} for subset in PAPER_SUBSETS}
    for subset, (built, answers) in product(PAPER_SUBSETS, pairs(subjects, own=True)):
        label = f"{answers.brief} on {_whose(built is answers, built.brief)} rows"
        base, ours = (right[answers.name][method] for method in PRINTED)
        changes[subset][label] = flips(base, ours, rows_of((built, answers), sets, subset))
    return flips_table(changes, "flips", "SCI5 against the base")


def draw_matrices(matrices: Mapping[str, pd.DataFrame]) -> Figure:
    """A heat map for each subset (columns) and for base, SCI5 and their differences (rows).

    In each, a row a model that built the subset, a column a model that answers; a frame marks a
    model on its own rows, bold figures a difference whose interval leaves out zero.
    """
    heads = [*PRINTED, *(versus(opponent) for opponent in OPPONENTS)]
    models = list(next(iter(matrices.values()))["built"].unique())
    every = pd.concat(matrices.values())
    reach = float(np.nanmax(np.abs(every[heads[2:]].to_numpy()), initial=1.0))
    size = (WIDTH, 1.2 + len(heads) * (1.0 + 0.15 * len(models)))
    figure, axes = plt.subplots(len(heads), len(matrices), figsize=size, squeeze=False)
    for line, head in zip(axes, heads, strict=True):
        level = head in PRINTED
        scale = ("Blues", 0.0, 130.0) if level else ("PuOr_r", -1.6 * reach, 1.6 * reach)
        for ax, frame in zip(line, matrices.values(), strict=True):
            _draw_matrix(ax, frame, head, models, scale)
        line[0].set_yticks(range(len(models)), models)
        line[-1].yaxis.set_label_position("right")
        text = f"{head}, %" if level else f"{head},\npoints"
        line[-1].set_ylabel(text, rotation=270, va="bottom", fontweight="bold")
    for top, bottom, subset in zip(axes[0], axes[-1], matrices, strict=True):
        top.set_title(subset, loc="center")
        bottom.set_xticks(range(len(models)), models, rotation=90)
    figure.supxlabel("model that answers", fontsize=10)
    figure.supylabel("model that built the rows", fontsize=10)
    return figure


def left_over(subjects: Subjects, sets: Sets, right: Right) -> str:
    """What SCI5 does on the two parts of another model's BS, for the models asked, in Markdown."""
    models = asked(subjects)
    parts = overlap(models, sets, right)
    if not pairs(models):
        return ""
    shared, alone = (
        " and ".join(
            f"{gain(line['reproduced'])} {interval(line['low'], line['high'])} ({name_of(pair)})"
            for pair, line in zip(pairs(models), parts[name], strict=True)
        )
        for name in OVERLAP[:2]
    )
    text = (
        f"On rows that are in the other model’s BS alone, SCI5 {alone}. On rows that are in both "
        f"models’ BS, it {shared}."
    )
    sides = (parts[name] for name in OVERLAP[:2])
    if all(one["low"] > 0 > other["high"] for one, other in zip(*sides, strict=True)):
        text += " So all of its gain on another model’s BS comes from the rows in both."
    return text


def _draw_matrix(
    ax: Axes, frame: pd.DataFrame, head: str, models: Sequence[str], scale: tuple[str, float, float]
) -> None:
    values = frame.pivot(index="built", columns="answers", values=head).loc[models, models]
    colours, low, high = scale
    ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    size = {1: 10, 2: 10, 3: 8}.get(len(models), 7)
    for line in frame.to_dict("records"):
        place = models.index(line["answers"]), models.index(line["built"])
        text = number(line[head], 1)
        apart = line.get(f"{head} low", 0) > 0 or line.get(f"{head} high", 0) < 0
        weight = "bold" if apart else "normal"
        ax.text(*place, text, ha="center", va="center", fontsize=size, fontweight=weight,
                color=ON_PALE)  # fmt: skip
        if line["own"]:
            corner = place[0] - 0.47, place[1] - 0.45
            ax.add_patch(Rectangle(corner, 0.94, 0.9, fill=False, edgecolor=ON_PALE, lw=1.2))
    ax.set_xticks([])
    ax.set_yticks([])
    ax.tick_params(labelsize=9, length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


def _printed(pair: Pair, method: str, kind: str = "Overall") -> float:
    """The paper's number, or NaN; two models that share its name are no pair of the paper's."""
    built, answers = pair
    if built is not answers and built.label == answers.label:
        return np.nan
    return paper_accuracy().get((built.label, answers.label, method, kind), np.nan)


def _paper_gain(pair: Pair, kind: str = "Overall") -> float:
    return _printed(pair, METHOD, kind) - _printed(pair, "base", kind)


def _fit(pair: Pair) -> bool:
    return pair[0].fit and pair[1].fit


def _whose(own: bool, built: str) -> str:
    return "its own" if own else f"{built}’s"
