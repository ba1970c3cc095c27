"""Tables 2 and 9: accuracy on DRBench, what a gain has to be measured against, and the contrasts.

Beside the paper's subsets stand three things its tables lack: null methods, flips from right to
wrong and back, and the rows where the base has something to lose (S∖B, and outside BS).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.papers.shared.chapters import READINGS, Subject, gain, paper_values, row, side
from sci_book.papers.shared.figures import WIDTH, estimates
from sci_book.papers.shared.tables import (
    Table,
    compare,
    interval,
    number,
    p_value,
    plain,
    side_by_side,
)
from sci_book.results.metrics import KINDS, flips, null_outcomes
from sci_book.results.records import Records
from sci_book.results.statistics import (
    cluster_bootstrap,
    holm,
    mcnemar,
    sign_flip_test,
    simultaneous_level,
)

INPUTS = ("V1", "V2", "V3", "black", "noise500", "noise400")
METHODS = ("TIE", "VCD", "M3ID", "M3ID generated clock", "SCI3", "SCI5", "SCI7")
DRAWN = ("base", "TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7")
SHOWN_AS = {"M3ID generated clock": "M3ID, own clock"}  # short enough for a column of labels
PAPER_SUBSETS = ("B", "S", "BS", "S∖B")
OTHER_SUBSETS = ("S∩L", "S∖L", "outside BS", "all")
FLIPPED = ("S", "S∖B", "outside BS", "all")

Claim = tuple[str, str, str]  # method, the method it is compared with, subset
CONTRASTS = (("SCI5", "base"), ("SCI5", "VCD"), ("SCI7", "SCI3"))
CLAIMS: tuple[Claim, ...] = (
    *((method, other, subset) for method, other in CONTRASTS for subset in PAPER_SUBSETS),
    ("SCI5", "runner-up", "B"),
)
HEADLINE: Claim = ("SCI5", "VCD", "BS")

Outcomes = Mapping[str, np.ndarray]


def outcomes(records: Records) -> dict[str, np.ndarray]:
    """By method, 1 or 0 for a right or wrong answer, NaN for a sample with an error.

    The base, each counterfactual input alone, the decoding methods, and the null methods: the
    base's runner-up, and the expected outcome of a uniform other answer (NaN for short answers,
    which have no options).
    """
    right = {name: records.correct(name) for name in ("base", *INPUTS, *METHODS)}
    found = {name: np.where(records.ok, outcome, np.nan) for name, outcome in right.items()}
    return found | null_outcomes(records)


def paper_accuracy(label: str | None) -> dict[tuple[str, str, str], float]:
    """The paper's Table 9, which holds Table 2, and what it implies for S∖B.

    Percent by (method, subset, question type); empty for a model the paper does not have. S∖B is
    BS without B, so the answers right on it are those right on BS less those right on B; both
    counts follow from the printed accuracies and the sizes in Table 1.
    """
    printed, sizes = paper_values("table09"), paper_values("table01")
    if label not in printed.index.get_level_values("model"):
        return {}
    values = printed[label].to_dict()
    for method in printed[label].index.unique("method"):
        for kind in KINDS:
            rows = {subset: sizes[label, "", subset, kind] for subset in ("B", "BS")}
            right = {
                subset: round(values[method, subset, kind] * n / 100) for subset, n in rows.items()
            }
            n = rows["BS"] - rows["B"]
            values[method, "S∖B", kind] = 100 * (right["BS"] - right["B"]) / n
    return values


def paper_differences(
    subjects: Sequence[Subject], claims: Sequence[Claim] = (HEADLINE,)
) -> dict[tuple[str, str], float]:
    """The paper's differences of two methods in points, by model and part of a claim."""
    numbers = {}
    for subject, (method, other, subset) in product(subjects, claims):
        printed = paper_accuracy(subject.label)
        pair = [printed.get((name, subset, "Overall")) for name in (method, other)]
        if None not in pair:
            numbers[subject.name, f"{method} − {other}, {subset}"] = pair[0] - pair[1]
    return numbers


# --- tables ------------------------------------------------------------------------------------


def accuracy_on(subset: str, accuracies: pd.DataFrame, subject: Subject) -> Table:
    """Every method on one subset: the paper's accuracy and ours by question type.

    Args:
        subset: one of those in `accuracies`.
        accuracies: of `sci_book.accuracy_table`, of this subject.
        subject: whose accuracies these are.
    """
    part = accuracies[accuracies["subset"] == subset].set_index(["method", "question_type"])
    methods = list(part.index.unique("method"))
    ours = pd.DataFrame(
        {kind: [part.loc[(name, kind), "value"] for name in methods] for kind in KINDS}, methods
    )
    printed = paper_accuracy(subject.label)
    paper = pd.DataFrame(
        {kind: [printed.get((name, subset, kind)) for name in methods] for kind in KINDS},
        methods,
        dtype=float,
    )
    counts = part.loc["base", "n"]
    caption = (
        f"{subset} of {subject.shown}, accuracy in %; n = {counts['Overall']:,} rows of ours: "
        f"{counts['MCQ']:,} MCQ, {counts['Others']:,} Others"
    )
    name = _identifier(f"{subject.name} {subset}")
    table = side_by_side(paper, ours, name=name, caption=caption, ours=side([subject]))
    total = part.xs("Overall", level="question_type").loc[methods]
    frame = table.frame.rename(index=SHOWN_AS)
    frame["Overall", "95 % interval"] = [
        interval(low, high) for low, high in zip(total["low"], total["high"], strict=True)
    ]
    return replace(table, frame=frame)


def accuracy_elsewhere(subsets: Sequence[str], accuracies: pd.DataFrame, subject: Subject) -> Table:
    """The decoding methods and the nulls on subsets the paper does not report, with intervals."""
    part = accuracies[accuracies["question_type"] == "Overall"].set_index(["subset", "method"])
    columns = {}
    for subset in subsets:
        lines = part.loc[subset].drop(index=list(INPUTS))
        head = f"{subset} (n = {lines.loc['base', 'n']:,})"
        ends = zip(lines["low"], lines["high"], strict=True)
        columns[head, "%"] = lines["value"].map(number)
        columns[head, "95 % interval"] = [interval(low, high) for low, high in ends]
    return Table(
        _identifier(" ".join((subject.name, *subsets))),
        pd.DataFrame(columns).rename(index=SHOWN_AS).rename_axis(index=None),
        f"{' and '.join(subsets)} of {subject.shown}, accuracy in %, all question types",
    )


def flip_table(right: Outcomes, sets: pd.DataFrame, subject: Subject) -> Table:
    """Rows that a method turns from right to wrong, and from wrong to right, against the base."""
    columns: dict[tuple[str, str], list[int]] = {}
    for subset in FLIPPED:
        rows = sets[subset].to_numpy()
        found = [flips(right["base"], right[name], rows) for name in METHODS]
        columns[subset, "lost"] = [each.right_to_wrong for each in found]
        columns[subset, "won"] = [each.wrong_to_right for each in found]
    return plain(
        pd.DataFrame(columns, index=list(METHODS)).rename(index=SHOWN_AS),
        name=_identifier(f"{subject.name} flips"),
        caption=(
            f"Flips of {subject.shown} against the base, in rows; lost: right → wrong, won: "
            "wrong → right"
        ),
    )


# --- contrasts ---------------------------------------------------------------------------------


def contrasts(
    subject: Subject,
    sets: pd.DataFrame,
    right: Outcomes,
    claims: Sequence[Claim],
    level: float,
) -> pd.DataFrame:
    """Paired differences of accuracies in points, as rows of `tables.compare`.

    Two more columns: `p`, of the cluster sign-flip test, and `mcnemar`, exact, which takes rows
    for independent. Each claim is that the difference is positive.

    Args:
        subject: the model.
        sets: its subsets.
        right: its outcomes.
        claims: (method, the method compared with, subset).
        level: coverage of each interval.
    """
    printed, lines = paper_accuracy(subject.label), {}
    for method, other, subset in claims:
        rows = sets[subset].to_numpy()
        one, two, clusters = right[method][rows], right[other][rows], subject.groups[rows]
        paper = [printed.get((name, subset, "Overall"), np.nan) for name in (method, other)]
        found = cluster_bootstrap(one - two, clusters, level=level)
        lines[label((method, other, subset))] = {
            **row(found, paper=paper[0] - paper[1], claim="greater", fit=subject.fit),
            "sign_flip": sign_flip_test(one - two, clusters),
            "mcnemar": mcnemar(one, two),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def family(
    subjects: Sequence[Subject],
    sets: Mapping[str, pd.DataFrame],
    right: Mapping[str, Outcomes],
    claims: Sequence[Claim] = CLAIMS,
) -> dict[str, pd.DataFrame]:
    """The contrasts of several models as one family of claims, by the model's name.

    Intervals are simultaneous over all of them, and a column `holm` holds the p-values adjusted
    over all of them.
    """
    level = simultaneous_level(0.95, len(claims) * len(subjects))
    found = {
        each.name: contrasts(each, sets[each.name], right[each.name], claims, level)
        for each in subjects
    }
    adjusted = iter(holm(np.concatenate([frame["sign_flip"] for frame in found.values()])))
    return {
        name: frame.assign(holm=[next(adjusted) for _ in frame.index])
        for name, frame in found.items()
    }


def contrast_table(frame: pd.DataFrame, subject: Subject, caption: str) -> Table:
    """`family` of one model, without its p-values."""
    name = _identifier(f"{subject.name} contrasts")
    return compare(frame, name=name, caption=caption, ours=side([subject]))


def p_table(found: Mapping[str, pd.DataFrame], subjects: Sequence[Subject]) -> Table:
    """The p-values of a `family`: sign-flip, the same adjusted over all its lines, McNemar."""
    heads = {"sign_flip": "sign-flip", "holm": "Holm", "mcnemar": "McNemar"}
    columns = {
        (each.shown, head): found[each.name][column].map(p_value)
        for each in subjects
        for column, head in heads.items()
    }
    caption = (
        f"p-values; Holm: of the sign-flip test, over all {sum(map(len, found.values()))} lines"
    )
    return Table("p-values", pd.DataFrame(columns), caption, folded=True)


def other_readings(subjects: Sequence[Subject], right: Mapping[str, Outcomes]) -> pd.DataFrame:
    """One claim under both quantifiers and both splits, rows of `tables.compare`.

    Intervals are simultaneous over the whole table. The paper's number stands beside the reading
    that its tables fit: any, rows.
    """
    level = simultaneous_level(0.95, len(READINGS) * len(subjects))
    lines = {}
    for subject in subjects:
        for quantifier, split_by in READINGS:
            sets = subject.sets(quantifier, split_by)
            line = (
                contrasts(subject, sets, right[subject.name], [HEADLINE], level).iloc[0].to_dict()
            )
            if (quantifier, split_by) != READINGS[0]:
                line["paper"] = np.nan
            lines[f"{subject.brief}: {quantifier}, by {split_by}"] = line
    return pd.DataFrame.from_dict(lines, orient="index")


def label(claim: Claim) -> str:
    """A claim's row label; a star marks the one that cannot fail."""
    method, other, subset = claim
    return f"{method} − {other}, {subset}" + (" *" if (other, subset) == ("base", "B") else "")


# --- figure and reading ------------------------------------------------------------------------


def draw_accuracies(subjects: Sequence[Subject], accuracies: Mapping[str, pd.DataFrame]) -> Figure:
    """A row a model, a panel a subset of the paper and S∖B: Overall accuracies with intervals."""
    figure, axes = plt.subplots(
        len(subjects),
        len(PAPER_SUBSETS),
        figsize=(WIDTH, 0.5 + 2.1 * len(subjects)),
        squeeze=False,
    )
    for line, subject in zip(axes, subjects, strict=True):
        _draw_model(line, accuracies[subject.name], subject)
        line[0].set_ylabel(subject.shown)
    handles = axes[0, 0].get_legend_handles_labels()[0]
    names = ["here", "paper"][: len(handles)]
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    for ax in axes[-1]:
        ax.set_xlabel("accuracy, %", fontsize=9)
    return figure


def _draw_model(axes: Iterable[Axes], accuracies: pd.DataFrame, subject: Subject) -> None:
    part = accuracies[accuracies["question_type"] == "Overall"].set_index(["subset", "method"])
    printed = paper_accuracy(subject.label)
    for ax, subset in zip(axes, PAPER_SUBSETS, strict=True):
        lines = part.loc[subset].loc[list(DRAWN)]
        keys = {name: (name, subset, "Overall") for name in DRAWN}
        estimates(
            ax,
            lines["value"].to_dict(),
            {name: (line["low"], line["high"]) for name, line in lines.iterrows()},
            {name: printed[key] for name, key in keys.items() if key in printed},
            ours=subject.shown,
            xlabel="",
        )
        ax.get_legend().remove()
        ax.set_title(f"{subset}, n = {lines['n'].iloc[0]:,}", fontsize=10)
        ax.set_xlim(-4, 104)
        ax.tick_params(labelsize=9)
        if subset != PAPER_SUBSETS[0]:
            ax.set_yticklabels([])


def first_trap(subject: Subject, accuracies: pd.DataFrame, claims: pd.DataFrame) -> str:
    """What a method scores on B without merit, and what SCI5 scores there."""
    value = _values(accuracies)
    versus = claims.loc[label(("SCI5", "runner-up", "B"))]
    return (
        f"**{subject.shown}.** On B the base is right on {value('base', 'B')} % of the rows. "
        f"A uniformly drawn other answer is right on {value('uniform other', 'B', 'MCQ')} % of the "
        f"multiple-choice rows in B and on {value('uniform other', 'B', 'Others')} % of the yes/no "
        f"rows; the base's own runner-up on {value('runner-up', 'B')} % of all rows in B; SCI5 on "
        f"{value('SCI5', 'B')} %. Against the runner-up SCI5 {gain(versus['reproduced'])}; the "
        f"claim that it is the better of the two: *{versus['verdict']}*."
    )


def second_trap(subject: Subject, accuracies: pd.DataFrame, right: Outcomes, sets) -> str:
    """How SCI5 differs from the base on the parts of S, and outside BS."""
    part = accuracies[accuracies["question_type"] == "Overall"].set_index(["subset", "method"])
    value = part["value"]
    on = {
        subset: gain(value[subset, "SCI5"] - value[subset, "base"])
        for subset in ("S∖B", "S∩L", "S∖L", "outside BS")
    }
    turned = flips(right["base"], right["SCI5"], sets["outside BS"].to_numpy())
    return (
        f"**{subject.shown}.** Against the base, SCI5 {on['S∖B']} on S∖B. Cut the other way, it "
        f"{on['S∩L']} on S∩L and {on['S∖L']} on S∖L. Outside BS it {on['outside BS']}: of "
        f"{turned.n:,} rows, {turned.right_to_wrong:,} turn from right to wrong and "
        f"{turned.wrong_to_right:,} from wrong to right."
    )


def _values(accuracies: pd.DataFrame):
    values = accuracies.set_index(["method", "subset", "question_type"])["value"]
    return lambda method, subset, kind="Overall": number(values[method, subset, kind])


def _identifier(text: str) -> str:
    """A name fit for an id in a page."""
    return text.replace("∖", "-without-").replace("∩", "-and-").replace(" ", "-")
