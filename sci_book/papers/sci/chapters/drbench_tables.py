"""Tables 2 and 9: accuracy on DRBench, what a gain has to be measured against, and the contrasts.

Beside the paper's subsets stand three things its tables lack: null methods, flips from right to
wrong and back, and the rows where the base has something to lose (S∖B, and outside BS).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from sci_book.methods import BASELINES, SCI
from sci_book.papers.sci.chapters.shapes import (
    Frames,
    Sets,
    Subjects,
    by_kind,
    counts,
    ends,
    less,
    paired,
)
from sci_book.papers.shared.chapters import READINGS, Subject, gain, paper_values, side
from sci_book.papers.shared.tables import INTERVAL, Table, compare, number, p_value, plain
from sci_book.results.metrics import KINDS, NULLS, Flips, flips
from sci_book.results.statistics import holm, mcnemar, sign_flip_test
from sci_book.run.method_sets import STANDARD_METHODS

INPUTS = ("V1", "V2", "V3", "black", "noise500", "noise400")
METHODS = (*BASELINES, "M3ID generated clock", *SCI)
_NAMED = {method.name: method for method in STANDARD_METHODS}
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


def outcomes(subject: Subject, **constants: float) -> dict[str, np.ndarray]:
    """By name, `Subject.right` of the base, of each counterfactual input alone, of the decoding
    methods with the paper's constants but for those given, and of the nulls."""
    decoded = {name: replace(_NAMED[name], **constants) for name in METHODS}
    names = ("base", *INPUTS, *METHODS, *NULLS)
    return {name: subject.right(decoded.get(name, name)) for name in names}


@cache
def paper_accuracy(label: str | None) -> dict[tuple[str, str, str], float]:
    """The paper's Table 9, which holds Table 2, and what it implies for S∖B.

    Percent by (method, subset, question type); empty for a model the paper does not have. The
    answers right on S∖B are those right on BS less those right on B, by the sizes in Table 1.
    """
    printed, sizes = paper_values("table09"), paper_values("table01")
    if label not in printed.index.get_level_values("model"):
        return {}
    values = printed[label].to_dict()
    for method, kind in product(printed[label].index.unique("method"), KINDS):
        n, smaller = (sizes[label, "", subset, kind] for subset in ("BS", "B"))
        right = round(values[method, "BS", kind] * n / 100)
        right -= round(values[method, "B", kind] * smaller / 100)
        values[method, "S∖B", kind] = 100 * right / (n - smaller)
    return values


def paper_differences(subjects: Subjects) -> dict[tuple[str, str], float]:
    """The paper's `HEADLINE` in points, by model and part of the claim."""
    return {
        (subject.name, label(HEADLINE)): gap
        for subject in subjects
        if not np.isnan(gap := paper_gap(subject, *HEADLINE))
    }


def paper_gap(subject: Subject, method: str, other: str, subset: str) -> float:
    """The paper's difference of two methods on a subset in points; NaN where it has none."""
    printed = paper_accuracy(subject.label)
    return less(printed, (method, subset, "Overall"), (other, subset, "Overall"))


def accuracy_on(subset: str, accuracies: pd.DataFrame, subject: Subject) -> Table:
    """Every method on one subset of an `accuracy_table`: the paper's accuracy and ours by type."""
    part = accuracies[accuracies["subset"] == subset].set_index(["method", "question_type"])
    printed, methods = paper_accuracy(subject.label), part.index.unique("method")
    table = by_kind(
        {name: part.loc[name] for name in methods},
        {name: [printed.get((name, subset, kind)) for kind in KINDS] for name in methods},
        name=_identifier(f"{subject.name} {subset}"),
        caption=f"{subset} of {subject.shown}, accuracy in %; {counts(part.loc['base', 'n'])}",
        ours=side([subject]),
    )
    return replace(table, frame=table.frame.rename(index=SHOWN_AS))


def accuracy_elsewhere(subsets: Sequence[str], accuracies: pd.DataFrame, subject: Subject) -> Table:
    """The decoding methods and the nulls on subsets the paper does not report, with intervals."""
    part, columns = _overall(accuracies), {}
    for subset in subsets:
        lines = part.loc[subset].drop(index=list(INPUTS))
        head = f"{subset} (n = {lines.loc['base', 'n']:,})"
        columns[head, "%"] = lines["value"].map(number)
        columns[head, INTERVAL] = ends(lines)
    return Table(
        _identifier(" ".join((subject.name, *subsets))),
        pd.DataFrame(columns).rename(index=SHOWN_AS).rename_axis(index=None),
        f"{' and '.join(subsets)} of {subject.shown}, accuracy in %, all question types",
    )


def flip_table(right: Outcomes, sets: pd.DataFrame, subject: Subject) -> Table:
    """Rows that a method turns from right to wrong, and from wrong to right, against the base."""
    changes = {
        subset: {
            SHOWN_AS.get(name, name): flips(right["base"], right[name], sets[subset].to_numpy())
            for name in METHODS
        }
        for subset in FLIPPED
    }
    name = _identifier(f"{subject.name} flips")
    return flips_table(changes, name, f"Flips of {subject.shown} against the base")


def flips_table(changes: Mapping[str, Mapping[str, Flips]], name: str, what: str) -> Table:
    """Flips by subset and line as a table, a pair of columns a subset."""
    columns = {
        (subset, head): {line: getattr(change, field) for line, change in lines.items()}
        for subset, lines in changes.items()
        for head, field in {"lost": "right_to_wrong", "won": "wrong_to_right"}.items()
    }
    caption = f"{what}, in rows; lost: right → wrong, won: wrong → right"
    return plain(pd.DataFrame(columns), name=name, caption=caption)


def contrasts(
    subject: Subject, sets: pd.DataFrame, right: Outcomes, claims: Sequence[Claim]
) -> pd.DataFrame:
    """Paired differences of accuracies in points, each claimed positive: rows of `tables.compare`.

    Two more columns: `sign_flip`, the p-value of the cluster sign-flip test, and `mcnemar`, the
    exact one, which takes rows for independent.
    """
    lines = {}
    for method, other, subset in claims:
        gaps, paper = right[method] - right[other], paper_gap(subject, method, other, subset)
        rows = sets[subset].to_numpy() & np.isfinite(gaps)  # of answers alone no runner-up is known
        lines[label((method, other, subset))] = {
            **paired(subject, gaps, rows, paper=paper),
            "sign_flip": sign_flip_test(gaps[rows], subject.groups[rows]),
            "mcnemar": mcnemar(right[method][rows], right[other][rows]),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def family(
    subjects: Subjects, sets: Sets, right: Mapping[str, Outcomes]
) -> dict[str, pd.DataFrame]:
    """The contrasts of several models as one family of `CLAIMS`, by the model's name.

    A column `holm` holds the p-values adjusted over all of them.
    """
    frames = {
        subject.name: contrasts(subject, sets[subject.name], right[subject.name], CLAIMS)
        for subject in subjects
    }
    every = pd.concat(frames)
    every["holm"] = holm(every["sign_flip"])
    return {name: every.loc[name] for name in frames}


def contrast_table(frame: pd.DataFrame, subject: Subject, caption: str) -> Table:
    """`family` of one model, without its p-values."""
    name = _identifier(f"{subject.name} contrasts")
    return compare(frame, name=name, caption=caption, ours=side([subject]))


def p_table(frames: Frames, subjects: Subjects) -> Table:
    """The p-values of a `family`: sign-flip, the same adjusted over all its lines, McNemar."""
    heads = {"sign_flip": "sign-flip", "holm": "Holm", "mcnemar": "McNemar"}
    columns = {
        (subject.shown, head): frames[subject.name][column].map(p_value)
        for subject in subjects
        for column, head in heads.items()
    }
    caption = (
        f"p-values; Holm: of the sign-flip test, over all {sum(map(len, frames.values()))} lines"
    )
    return Table("p-values", pd.DataFrame(columns), caption, folded=True)


def other_readings(subjects: Subjects, right: Mapping[str, Outcomes]) -> pd.DataFrame:
    """`HEADLINE` under both quantifiers and both splits, rows of `tables.compare`.

    The paper's number stands beside the reading
    that its tables fit: any, rows.
    """
    lines = {}
    for subject, reading in product(subjects, READINGS):
        sets = subject.sets(*reading)
        frame = contrasts(subject, sets, right[subject.name], [HEADLINE])
        line = frame.iloc[0].to_dict() | ({} if reading == READINGS[0] else {"paper": np.nan})
        lines[f"{subject.brief}: {reading[0]}, by {reading[1]}"] = line
    return pd.DataFrame.from_dict(lines, orient="index")


def label(claim: Claim) -> str:
    """A claim's row label; a star marks the one that cannot fail."""
    method, other, subset = claim
    return f"{method} − {other}, {subset}" + (" *" if (other, subset) == ("base", "B") else "")


def first_trap(subject: Subject, accuracies: pd.DataFrame, claims: pd.DataFrame) -> str:
    """What a method scores on B without merit, and what SCI5 scores there."""
    on_b = accuracies[accuracies["subset"] == "B"].set_index(["method", "question_type"])["value"]
    value = on_b.map(number)
    versus = claims.loc[label(("SCI5", "runner-up", "B"))]
    return (
        f"**{subject.shown}.** On B the base is right on {value['base', 'Overall']} % of the rows. "
        f"A uniformly drawn other answer is right on {value['uniform other', 'MCQ']} % of the "
        f"multiple-choice rows in B and on {value['uniform other', 'Others']} % of the yes/no "
        f"rows; the base's own runner-up on {value['runner-up', 'Overall']} % of all rows in B; "
        f"SCI5 on {value['SCI5', 'Overall']} %. Against the runner-up SCI5 "
        f"{gain(versus['reproduced'])}; the claim that it is the better of the two: "
        f"*{versus['verdict']}*."
    )


def second_trap(subject: Subject, accuracies: pd.DataFrame, right: Outcomes, sets) -> str:
    """How SCI5 differs from the base on the parts of S, and outside BS."""
    value = _overall(accuracies)["value"]
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


def _overall(accuracies: pd.DataFrame) -> pd.DataFrame:
    """The lines of Overall, by subset and method."""
    overall = accuracies[accuracies["question_type"] == "Overall"]
    return overall.set_index(["subset", "method"])


def _identifier(text: str) -> str:
    """A name fit for an id in a page."""
    return text.replace("∖", "-without-").replace("∩", "-and-").replace(" ", "-")
