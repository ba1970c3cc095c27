"""Kinds of check that are this paper's alone (`data_manifests/audits/oric.yaml`).

Averages over four prompts, shares of yes, and scores that are no cosines.
"""

from collections.abc import Sequence

import numpy as np

from sci_book.audit.kinds import Outcome
from sci_book.audit.printed import EPSILON, Cell, rounds_to
from sci_book.papers.oric.scores import COUNTS, metrics

PROMPTS = 4


def subset(precision: Cell, recall: Cell, f1: Cell, n: Cell) -> Outcome:
    """A macro row of n questions of each label: the right answers of one prompt, or of a mean.

    Over as many questions of both labels no macro F1 is above the macro recall, of one prompt or
    of several.
    """
    size = int(n.value)
    tp, tn = (grid.ravel() for grid in np.meshgrid(np.arange(size + 1), np.arange(size + 1)))
    whole = np.full(len(tp), size)
    values = metrics(dict(zip(COUNTS, (tp, size - tn, tn, size - tp, whole, whole), strict=True)))
    if (values["f1"] > values["recall"] + EPSILON).any():
        raise AssertionError("On balanced labels no macro F1 is above its macro recall.")
    fits = np.ones(len(tp), bool)
    for name, cell in (("precision", precision), ("recall", recall), ("f1", f1)):
        fits &= np.abs(values[name] - cell.value) <= cell.half + EPSILON
    step = 100 / (2 * size * PROMPTS)
    above = f1.value > recall.value + recall.half + f1.half + EPSILON
    missed = not rounds_to(step * round(recall.value / step), recall.text)
    reasons = [
        *(
            [f"F1 {f1.value - recall.value:.2f} above recall: it is never above on {n} / {n}"]
            * above
        ),
        *([f"no mean of four prompts over {2 * size} questions is {recall} %"] * missed),
    ]
    what = "; ".join(reasons) or "no one prompt prints so; a mean of four may"
    if fits.any():
        what = f"{tp[fits][0]} of {n} yes and {tn[fits][0]} of {n} no right"
    marks = {"above": [f1] * above, "missed": [recall] * missed}
    fit = True if fits.any() else False if reasons else None
    return Outcome(fit, {"what": what, **marks})


def yes_proportion(printed: Cell, of_yes: Cell, of_no: Cell) -> Outcome:
    """(R_yes + 100 − R_no) / 2, less half the share of unknown answers to "no" questions."""
    value = (of_yes.value + 100 - of_no.value) / 2
    slack = printed.half + (of_yes.half + of_no.half) / 2 + EPSILON
    what = f"({of_yes} + 100 − {of_no}) / 2 = {value:.3f}"
    if printed.value > value + slack:
        return Outcome(False, {"what": f"{what}, and unknown answers only lower it"})
    if printed.value >= value - slack:
        return Outcome(True, {"what": what})
    unknown = 2 * (value - printed.value)
    what += (
        f": {unknown:.2f} % of the answers to no questions unknown, or labels that are not half "
        "and half"
    )
    return Outcome(None, {"what": what})


def scores_of_figure_4(printed: Sequence[Cell], means: Sequence[Cell]) -> Outcome:
    """Scores beside means of the same score; whether they are of one kind, nobody prints."""
    low, high = (end(cell.value for cell in means) for end in (min, max))
    return Outcome(None, {"low": low, "high": high, "total": sum(cell.value for cell in printed)})


def no_easier(pope: Sequence[Cell], oric: Sequence[Cell]) -> Outcome:
    """Some model better on POPE than on ORIC, or none worse there by more than a point."""
    pairs = list(zip(pope, oric, strict=True))
    what = "; ".join(f"{one.fields['model']} {one} and {two}" for one, two in pairs)
    gains = [one.value - two.value for one, two in pairs]
    return Outcome(max(gains) > 0 or min(gains) >= -1, {"what": what})


OWN = {check.__name__: check for check in (subset, yes_proportion, scores_of_figure_4, no_easier)}
