"""Kinds of check that are this paper's alone (`data_manifests/audits/metara.yaml`).

What counts as a failure, which way its columns point, and where its Table IV is from.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from math import factorial

import numpy as np
from scipy.stats import rankdata, spearmanr

from sci_book.audit.kinds import Outcome
from sci_book.audit.printed import EPSILON, Cell

Cells = Sequence[Cell]
SLACK = 0.1 + EPSILON  # between two numbers of one decimal, as every table prints


def what_a_failure_is() -> Outcome:
    """Over all outcomes of an original and one case: what equation 7 counts, what 3 to 6 imply."""
    outcomes = list(product((True, False), repeat=2))  # original right, case right
    failed = [not case for _, case in outcomes]
    violated = [original and not case for original, case in outcomes]
    differ = sum(one != other for one, other in zip(failed, violated, strict=True))
    values = {"n": len(outcomes), "failed": sum(failed), "violated": sum(violated)}
    return Outcome(not differ, {**values, "differ": differ})


def direction(finals: Cells, columns: Cells) -> Outcome:
    """Whether a model whose columns are low has a low final FR."""
    means = [np.mean(own) for own in _columns(finals, columns)]
    rho = float(spearmanr(means, [cell.value for cell in finals]).statistic)
    return Outcome(rho >= 0, {"rho": rho})


def equation_7(finals: Cells, columns: Cells) -> Outcome:
    """If columns are accuracies: how many models answer changed inputs better than originals."""
    own = _columns(finals, columns)
    right = [100 - cell.value for cell in finals]
    better = sum(share > max(cells) + SLACK for share, cells in zip(right, own, strict=True))
    means = [np.mean(cells) for cells in own]
    values = {"right": _range(right), "originals": _range(means), "better": better}
    return Outcome(None if better else True, {**values, "n": len(finals)})


def models_on_both(printed: Cell, among: Cells, ranks: Cells) -> Outcome:
    """How many models have values of both data sets by both methods."""
    models = [cell.fields["model"] for cell in among]
    both = [model for model in dict.fromkeys(models) if models.count(model) == 4]
    places = [cell.value for cell in ranks]
    values = {"both": len(both), "n": len(set(models)), "first": min(places), "last": max(places)}
    ranked = len({cell.fields["model"] for cell in ranks})
    return Outcome(len(both) == len(set(models)), {**values, "ranked": ranked})


def copied(printed: Cells, columns: Cells) -> Outcome:
    """Which failure rates are printed in a column of their data set that is no failure rate."""
    where = [(cell, names) for cell in printed if (names := _sources(cell, columns))]
    texts = [f"{_called(cell)}: {', '.join(names)}" for cell, names in where]
    return _copies([cell for cell, _ in where], texts, len(printed))


def of_others(printed: Cells, columns: Cells) -> Outcome:
    """Which of them stand there for other models alone, as far as family and size are printed."""
    others = []
    for cell in printed:
        names = _sources(cell, columns)
        model, base = cell.fields["model"], cell.fields["base"]
        if names and not any(name.startswith(model) and base in name for name in names):
            others.append(cell)
    return _copies(others, list(map(_called, others)), len(printed))


def ranks(printed: Cells, rates: Cells) -> Outcome:
    """Whether ranks are those of one data set's rates and of the other's, from the same end."""
    order = {cell.fields["model"]: cell for cell in printed}
    fits: dict[tuple[str, str], bool] = {}
    for dataset, (end, sign) in product(("E-VQA", "TextVQA"), (("lower", 1), ("higher", -1))):
        own = {c.fields["model"]: c.value for c in rates if c.fields["dataset"] == dataset}
        places = rankdata([sign * own[model] for model in order])
        fits[dataset, end] = np.array_equal(places, rankdata([c.value for c in order.values()]))
    texts = [
        f"{dataset}, {end} is better: {'fits' if fit else 'does not fit'}"
        for (dataset, end), fit in fits.items()
    ]
    said = ", ".join(f"{model} {cell.value:g}" for model, cell in order.items())
    both = any(fits["E-VQA", end] and fits["TextVQA", end] for end in ("lower", "higher"))
    return Outcome(both, {"said": said, "fitting": "; ".join(texts)})


def agreement_by_chance(ranks: Cells) -> Outcome:
    """How probable it is that two independent rankings agree, or are reversed."""
    return Outcome(None, {"n": len(ranks), "p": 2 / factorial(len(ranks))})


def ratio_of_highest(printed: Cell, high: Cells, low: Cells) -> Outcome:
    """By how many percent the highest of some is above the highest of others: "nearly"."""
    ratio = 100 * (max(c.value for c in high) / max(c.value for c in low) - 1)
    return Outcome(0 <= printed.value - ratio < 5, {"ratio": ratio})


def rising(printed: Cells) -> Outcome:
    """Rates that "generally" rise: each does, or none can tell, unless the last is the lowest."""
    row = [cell.value for cell in printed]
    order = ", ".join(f"{cell.fields['split']} {cell}" for cell in printed)
    lowest = row[-1] == min(row)
    if lowest or row[-1] == max(row):
        order += f"; the last is the {'lowest' if lowest else 'highest'}"
    fits = all(one <= two for one, two in pairwise(row))
    return Outcome(True if fits else False if lowest else None, {"order": order})


def spread(high: Cells, low: Cells) -> Outcome:
    """Whether the mean and the variance of some are above those of others."""
    rates = [[cell.value for cell in cells] for cells in (low, high)]
    (mean, variance), (higher, wider) = ((np.mean(row), np.var(row, ddof=1)) for row in rates)
    texts = {
        "lower": f"mean {mean:.1f}, variance {variance:.1f}",
        "higher": f"mean {higher:.1f}, variance {wider:.1f}",
    }
    return Outcome(bool(higher > mean and wider > variance), texts)


def one_backbone(finals: Cells) -> Outcome:
    """Whether all methods of one language model have one final FR."""
    rates: dict[str, dict[str, float]] = {}
    for cell in finals:
        fields = cell.fields
        rates.setdefault(fields["base"] or fields["model"], {})[fields["model"]] = cell.value
    shared = {base: own for base, own in rates.items() if len(own) > 1}
    apart = {b: own for b, own in shared.items() if max(own.values()) - min(own.values()) > SLACK}
    which = [
        f"{base}: {', '.join(f'{model} {value:.1f}' for model, value in own.items())}"
        for base, own in apart.items()
    ]
    return Outcome(not apart, {"n": len(shared), "apart": len(apart), "which": "; ".join(which)})


def _columns(finals: Cells, columns: Cells) -> list[list[float]]:
    """The columns of each row that has a final FR."""

    def row(cell: Cell) -> tuple[str, str]:
        return cell.fields["model"], cell.fields["base"]

    return [[c.value for c in columns if row(c) == row(final)] for final in finals]


def _sources(cell: Cell, columns: Cells) -> list[str]:
    """The models that other tables print a value for, in the column of its data set."""
    same = [
        c.fields for c in columns
        if c.fields["dataset"] == cell.fields["dataset"] and c.text == cell.text
    ]  # fmt: skip
    return [" ".join(filter(None, (f["model"], f["base"], f["split"]))) for f in same]


def _called(cell: Cell) -> str:
    return "{model} {base} on {dataset}".format(**cell.fields) + f" ({cell})"


def _copies(cells: Cells, texts: Sequence[str], n: int) -> Outcome:
    values = {"copies": cells, "count": len(cells), "n": n, "where": "; ".join(texts) or "none"}
    return Outcome(not cells, values)


def _range(values: Iterable[float]) -> str:
    values = list(values)
    return f"{min(values):.1f} to {max(values):.1f}"


OWN = {
    check.__name__: check
    for check in (
        what_a_failure_is, direction, equation_7, models_on_both, copied, of_others, ranks,
        agreement_by_chance, ratio_of_highest, rising, spread, one_backbone,
    )
}  # fmt: skip
