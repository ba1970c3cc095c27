"""Kinds of check that are this paper's alone (`data_manifests/audits/edge.yaml`).

The bins behind its calibration errors, the labels behind its shares, its tests of differences, and
what its rules make of short texts.
"""

from collections.abc import Sequence
from itertools import product
from numbers import Real

import numpy as np
from scipy.stats import norm

from sci_book.audit.kinds import Outcome, pool
from sci_book.audit.printed import EPSILON, Cell, counts_printed, rounds_to
from sci_book.papers.edge.negation import succeeds
from sci_book.papers.edge.printed import labels_of
from sci_book.papers.edge.statistics import Wald, exact_mcnemar, mcnemar_edwards, wald_difference
from sci_book.papers.edge.taxonomy import CATEGORIES, Failure, concordance, tree
from sci_book.papers.shared.blur import effective_sigma
from sci_book.papers.shared.corruptions import LEVELS
from sci_book.papers.shared.tables import number

Cells = Sequence[Cell]


def ece(printed: Cell, sizes: Cells, confidences: Cells, accuracies: Cells) -> Outcome:
    """A calibration error from its bins, whose confidences and accuracies are rounded too."""
    lines = [[cell.value for cell in cells] for cells in (sizes, confidences, accuracies)]
    n, confidence, accuracy = map(np.array, lines)
    value = float(n @ np.abs(accuracy / 100 - confidence) / n.sum())
    slack = printed.half + confidences[0].half + accuracies[0].half / 100 + EPSILON
    return Outcome(abs(value - printed.value) <= slack, {"value": value})


def bins(sizes: Cells, accuracies: Cells, n: Cell) -> Outcome:
    """Bins that hold n predictions, each with a whole number of right ones."""
    cells = [(share.text, int(size.value)) for share, size in zip(accuracies, sizes, strict=True)]
    once = sum(bool(counts_printed(*cell)) for cell in cells)
    twice = sum(bool(counts_printed(*cell, twice=True)) for cell in cells)
    total = int(sum(size.value for size in sizes))
    fits = total == n.value and twice == len(cells)
    return Outcome(fits, {"total": total, "bins": len(cells), "once": once, "twice": twice})


def right_in_bins(printed: Cell, sizes: Cells, accuracies: Cells, n: Cell) -> Outcome:
    """An accuracy over n predictions against the right ones of all bins."""
    cells = [(share.text, int(size.value)) for share, size in zip(accuracies, sizes, strict=True)]
    counts = [counts_printed(*cell, twice=True) for cell in cells]
    low, high = (sum(end(options, default=0) for options in counts) for end in (min, max))
    total = sum(size for _, size in cells)
    right = counts_printed(printed.text, int(n.value))
    values = {
        "right": _range(low, high),
        "percent": _range(100 * low / total, 100 * high / total, 2),
        "expected": _range(min(right), max(right)),
    }
    return Outcome(bool(set(range(low, high + 1)) & set(right)), values)


def lowest_bin(printed: Cell, sizes: Cells) -> Outcome:
    """The first of ten bins, counted from 0, that holds a prediction."""
    lowest = min(round(10 * float(cell.fields["item"][1:].partition(",")[0])) for cell in sizes)
    return Outcome(lowest == printed.value, {"lowest": lowest})


def labels_of_both(printed: Cell, one: Cells, two: Cells, n: Cell, category: str) -> Outcome:
    """A category's share of the labels of two models."""
    labels = [labels_of(cells, n) for cells in (one, two)]
    total, rows = sum(counts.get(category, 0) for counts in labels), 2 * int(n.value)
    fits = total in counts_printed(printed.text, rows) if all(labels) else None
    return Outcome(fits, {"total": total, "n": rows})


def kappa(printed: Cell, one: Cells, two: Cells, n: Cell) -> Outcome:
    """A concordance of labels of different pictures, against shuffled labels."""
    labels = [[c for c, k in labels_of(x, n).items() for _ in range(k)] for x in (one, two)]
    if not all(labels):
        return Outcome(None, {"low": "?", "high": "?", "distance": "an unknown number of"})
    chance = concordance(*labels)
    ends = {"low": number(chance.low, 3), "high": number(chance.high, 3)}
    # By chance or not, it tells nothing of how alike two models are.
    fits = None if chance.low <= printed.value <= chance.high else False
    return Outcome(fits, {**ends, "distance": f"{100 * chance.distance:.0f}"})


def mcnemar(printed: Cell, failures: Cells) -> Outcome:
    """McNemar's p with Edwards' correction, from the discordant pairs of either kind."""
    pairs = [round(cell.value) for cell in failures]
    edwards = mcnemar_edwards(*pairs)
    clamped, exact = mcnemar_edwards(*pairs, clamped=True), exact_mcnemar(*pairs)
    values = {"edwards": edwards, "clamped": clamped, "exact": exact}
    return Outcome(rounds_to(edwards, printed.text), values)


def ratio_of_drops(printed: Cell, clean: Cells, blurred: Cells) -> Outcome:
    """A ratio of two drops, infinite where a model does not drop."""
    none = [_called(one) for one, two in zip(clean, blurred, strict=True) if one.value == two.value]
    text = printed.text.replace("inf", "∞")
    return Outcome(None if none else False, {"ratio": text, "none": ", ".join(none)})


def factor(printed: Cell, clean: Cells, name: str) -> Outcome:
    """Whether the two models of a ratio, "one / another", differ in this factor alone.

    A model without a precision in its name has the only one that is listed for it.
    """
    listed, parts = [_called(cell) for cell in clean], []
    for model in printed.fields["model"].split(" / "):
        (known,) = (text for text in listed if text == model or text.startswith(f"{model} "))
        model, _, precision = known.partition(" ")
        architecture, _, size = model.rpartition("-")
        parts.append((architecture, size, precision))
    names = ("architecture", "scale", "precision")
    differ = [name for name, one, two in zip(names, *parts, strict=True) if one != two]
    return Outcome(differ == [name], {"differ": " and ".join(differ)})


def smallest_p(clean: Cells, blurred: Cells) -> Outcome:
    """The smallest p that the largest drop of all can have; nobody prints one."""
    most = max(one.value - two.value for one, two in zip(clean, blurred, strict=True))
    return Outcome(None, {"most": most, "p": exact_mcnemar(round(most), 0)})


def severity(printed: Cell) -> Outcome:
    """ImageNet-C's severity that is nearest to the blur."""
    sigmas, effective = LEVELS["gaussian_blur"], effective_sigma()
    nearest = 1 + int(np.argmin([abs(sigma - effective) for sigma in sigmas]))
    values = {"effective": effective, "first": sigmas[0], "second": sigmas[1], "nearest": nearest}
    return Outcome(nearest == printed.value, values)


def gap(printed: Cells, compact: Cells, large: Cells, n: Cell, level: Real) -> Outcome:
    """A gap between two shares: itself, the ends of its interval, z and p, as far as printed.

    `level` is the paper's, in percent.
    """
    wald, counts = _wald(compact, large, n, level / 100)
    computed = {"gap": 100 * wald.estimate, "gap low": 100 * wald.low, "gap high": 100 * wald.high,
                "z": wald.z, "p": wald.p}  # fmt: skip
    cells = {c.fields["metric"]: c.text for c in printed if c.fields["metric"] in computed}
    values = {
        **counts,
        "said": ", ".join(f"{name} {text}" for name, text in cells.items()),
        "computed": ", ".join(f"{name} {computed[name]:.4g}" for name in cells),
    }
    return Outcome(all(rounds_to(computed[name], text) for name, text in cells.items()), values)


def p_below(printed: Cell, compact: Cells, large: Cells, n: Cell) -> Outcome:
    """A bound of the p-value of such a gap."""
    wald, _ = _wald(compact, large, n)
    values = {"two": wald.p, "one": float(norm.sf(wald.z))}
    return Outcome(wald.p < printed.value, values)


def categories() -> Outcome:
    """Which categories the tree reaches, over every combination of a few short texts."""
    texts = ("yes", "red cat", "red dog", "no", "how many", "a long walk " * 10)
    failures = [Failure("", *combination) for combination in product(texts, repeat=3)]
    reached = [sorted({tree(f, as_printed=printed) for f in failures}) for printed in (True, False)]
    values = {"printed": ", ".join(reached[0]), "mended": ", ".join(reached[1]), "n": len(failures)}
    return Outcome(set(reached[0]) == set(CATEGORIES), values)


def no_of_false_yn() -> Outcome:
    """How many replies without the word "no" pass as a no."""
    replies = ("I know it is", "Unknown", "Yes, I notice it", "not sure")
    passing = {
        reading: sum(succeeds("false_yn", reply, "cat", reading=reading) for reply in replies)
        for reading in ("paper", "words")
    }
    return Outcome(not passing["paper"], {**passing, "n": len(replies), "all": ", ".join(replies)})


def _wald(compact: Cells, large: Cells, n: Cell, *level: float) -> tuple[Wald, dict[str, int]]:
    (few, rows), (many, _) = pool(compact, n), pool(large, n)
    wald = wald_difference(few, rows, many, rows, *level)
    return wald, {"compact": few, "large": many, "n": rows}


def _called(cell: Cell) -> str:
    return f"{cell.fields['model']} {cell.fields['item']}"


def _range(low: Real, high: Real, digits: int = 0) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return first if first == last else f"{first} to {last}"


OWN = {
    check.__name__: check
    for check in (
        ece, bins, right_in_bins, lowest_bin, labels_of_both, kappa, mcnemar, ratio_of_drops,
        factor, smallest_p, severity, gap, p_below, categories, no_of_false_yn,
    )
}  # fmt: skip
