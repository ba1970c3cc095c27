"""What a check can ask of printed numbers: one plain function a kind.

Each takes cells and says whether they fit, with the numbers that its sentences may name. `KINDS`
holds these sentences, which a check may replace by its own.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product as combinations
from math import floor as rounded_down
from math import prod
from numbers import Real
from typing import Any, NamedTuple

from sci_book.audit.printed import (
    EPSILON,
    Cell,
    counts_behind,
    counts_printed,
    half_unit,
    rounds_to,
)
from sci_book.results.statistics import wilson


class Outcome(NamedTuple):
    """Whether printed numbers fit (None: it cannot be told), and what sentences may name."""

    fits: bool | None
    values: Mapping[str, Any]


class Kind(NamedTuple):
    """A kind of check: its function, and the sentences of a check that has none of its own."""

    check: Callable[..., Outcome]
    printed: str
    follows: str


def total(
    printed: Sequence[Cell],
    parts: Sequence[Cell],
    weights: Sequence[Cell] = (),
    whole: bool = False,
) -> Outcome:
    """A sum of numbers, each times its weight (1); `whole`: rounded down."""
    factors = [cell.value for cell in weights] or [1.0] * len(parts)
    pairs = list(zip(factors, parts, strict=True))
    value = sum(factor * part.value for factor, part in pairs)
    slack = sum(abs(factor) * part.half for factor, part in pairs)
    places = max((len(part.text.partition(".")[2]) for part in parts), default=0)
    terms = " + ".join(f"{_times(factor)}{_plain(part)}" for factor, part in pairs)
    terms = terms.replace("+ −", "− ")
    value = float(rounded_down(value + EPSILON)) if whole else value
    near = all(abs(value - cell.value) <= slack + cell.half + EPSILON for cell in printed)
    return Outcome(near, {"terms": terms, "value": f"{value:,.{places}f}".replace("-", "−")})


def difference(printed: Sequence[Cell], of: Cell, less: Cell, exact: bool = False) -> Outcome:
    """A number less another; `exact`: all three as printed, though they are rounded."""
    outcome = total(printed, [of, less], _constants([1, -1]))
    near = all(abs(of.value - less.value - cell.value) <= 1e-6 for cell in printed)
    return outcome._replace(fits=near) if exact else outcome


def mean(printed: Sequence[Cell], parts: Sequence[Cell], weights: Sequence[Cell] = ()) -> Outcome:
    """A mean, weighted by other numbers; `last` is what the last part would have to be.

    Where weights are rounded shares, what one of them has too much another has too little.
    """
    terms = f"({' + '.join(map(_plain, parts))}) / {len(parts)}"
    if weights:
        pairs = zip(weights, parts, strict=True)
        terms = " + ".join(f"{_plain(size)} × {_plain(part)}" for size, part in pairs)
        terms = f"({terms}) / ({' + '.join(map(_plain, weights))})"
    weights = weights or _constants([1] * len(parts))
    sizes = [cell.value for cell in weights]
    value, slack = _mean(parts, sizes)
    values = [part.value for part in parts]
    slack += max(cell.half for cell in weights) / sum(sizes) * (max(values) - min(values))
    near = all(abs(value - cell.value) <= slack + cell.half + EPSILON for cell in printed)
    places = 1 + max(len(part.text.partition(".")[2]) for part in parts)
    others = sum(size * part.value for size, part in zip(sizes[:-1], parts[:-1], strict=True))
    last = (sum(sizes) * printed[0].value - others) / sizes[-1]
    text = f"{value:.{places}f}".removesuffix("0")  # the digit that no part has
    return Outcome(near, {"terms": terms, "value": text, "last": last})


def means(printed: Sequence[Cell], others: Sequence[Cell]) -> Outcome:
    """The means of two groups of numbers, which are to be one."""
    (one, slack), (other, more) = (_mean(cells, [1] * len(cells)) for cells in (printed, others))
    near = abs(one - other) <= slack + more + EPSILON
    return Outcome(near, {"one": one, "other": other, "count": len(others), "slack": slack + more})


def between(printed: Cell, parts: Sequence[Cell]) -> Outcome:
    """A mean of any weights, which is never below all of its parts or above them."""
    low = min(part.value - part.half for part in parts)
    high = max(part.value + part.half for part in parts)
    near = low - printed.half - EPSILON <= printed.value <= high + printed.half + EPSILON
    return Outcome(near, {"low": low, "high": high})


def ratio(printed: Cell, of: Cell, to: Cell, scale: Real = 1, exact: bool = False) -> Outcome:
    """A quotient, times `scale`; `exact`: of and to are whole numbers of things as printed."""
    above, below = (0.0, 0.0) if exact else (of.half, to.half)
    ends = [
        scale * (of.value + one * above) / (to.value + two * below)
        for one, two in combinations((-1, 1), repeat=2)
    ]
    half = half_unit(printed.text) + EPSILON
    near = min(ends) - half <= printed.value <= max(ends) + half
    places = len(printed.text.partition(".")[2])
    value = scale * of.value / to.value
    return Outcome(near, {"value": f"{value:.{places if exact else places + 2}f}"})


def product(printed: Cell, factors: Sequence[Cell], percent: bool = False) -> Outcome:
    """A product of numbers that are not negative; `percent`: the last one is a percentage."""
    low, value, high = (
        prod(cell.value + sign * cell.half for cell in factors) / (100 if percent else 1)
        for sign in (-1, 0, 1)
    )
    slack = printed.half + EPSILON
    near = low - slack <= printed.value <= high + slack
    terms = " × ".join(map(_plain, factors)) + (" %" if percent else "")
    return Outcome(near, {"terms": terms, "value": value})


def count(printed: Cell, n: Cell, times: int = 1) -> Outcome:
    """A percentage of n rows, each asked so many times: some whole number of them."""
    rows = int(n.value) * times
    counts = counts_printed(printed.text, rows)
    nearest = [round(printed.value * rows / 100)]
    return Outcome(bool(counts), {"counts": _either(counts or nearest), "n": rows})


def counts(printed: Sequence[Cell], n: Cell, of: str, others: Sequence[Cell] = ()) -> Outcome:
    """Percentages that share out n rows, but for `others`: whole numbers which add up to these.

    `of` is the field by which they are called.
    """
    rows = int(n.value - sum(cell.value for cell in others))
    choices = adding_up([cell.text for cell in printed], rows)
    names = [cell.fields[of] for cell in (*printed, *others)]
    known = [round(cell.value) for cell in others]
    texts = [
        ", ".join(f"{name} {k}" for name, k in zip(names, (*choice, *known), strict=True))
        for choice in choices
    ]
    return Outcome(bool(choices), {"counts": " or ".join(texts) or "no counts", "n": int(n.value)})


def pooled(printed: Cell, parts: Sequence[Cell], n: Cell) -> Outcome:
    """A percentage of the rows of several parts, n in each, whose percentages are printed."""
    count, rows = pool(parts, n)
    fits = _whole(parts, n) and count in counts_printed(printed.text, rows)
    return Outcome(fits, {"count": count, "n": rows})


def interval(low: Cell, high: Cell, parts: Sequence[Cell], n: Cell, level: Real) -> Outcome:
    """Wilson's interval of the share that several parts have together, n rows in each.

    `level` is the paper's, in percent.
    """
    count, rows = pool(parts, n)
    ends = [100 * value for value in wilson(count, rows, level / 100)[1:3]]
    near = rounds_to(ends[0], low.text) and rounds_to(ends[1], high.text)
    return Outcome(
        near and _whole(parts, n), {"count": count, "n": rows, "start": ends[0], "end": ends[1]}
    )


def f1(printed: Cell, precision: Cell, recall: Cell, averaged: bool = False) -> Outcome:
    """An F1; one that is averaged over several runs is never above that of the averages."""
    low, high = (
        _harmonic(*(max(cell.value + sign * cell.half, 0.0) for cell in (precision, recall)))
        + sign * printed.half
        for sign in (-1, 1)
    )
    near = printed.value <= high + EPSILON and (averaged or printed.value >= low - EPSILON)
    return Outcome(near, {"value": _harmonic(precision.value, recall.value)})


def repeated(printed: Cell, again: Cell) -> Outcome:
    """One number that is printed twice: some value rounds to both."""
    apart = abs(printed.value - again.value)
    slack = half_unit(printed.text) + half_unit(again.text)
    return Outcome(apart < max(slack - EPSILON, EPSILON), {})


def one_of(printed: Cell, among: Sequence[Cell]) -> Outcome:
    """A number that stands among others."""
    known = sorted({cell.text for cell in among}, key=float)
    near = any(repeated(printed, cell).fits for cell in among)
    return Outcome(near, {"among": ", ".join(known)})


def overlap(printed: Cell, first: Cell, second: Cell, whole: Cell | None = None) -> Outcome:
    """A percentage of all rows that is in two sets, whose percentages (or sizes of `whole`) are."""
    n = whole.value if whole else 100.0
    slack = first.half + second.half
    low = max(0.0, first.value + second.value - n)
    high = min(first.value, second.value)
    share, half = printed.value * n / 100, printed.half * n / 100
    near = low - slack - half - EPSILON <= share <= high + slack / 2 + half + EPSILON
    behind = counts_behind(printed.value, int(n), printed.half + EPSILON)
    return Outcome(near, {
        "low": low, "high": high, "chance": first.value * second.value / n,
        "counts": _either(behind), "n": int(n),
    })  # fmt: skip


def rows(printed: Cell, among: Sequence[Cell], of: Sequence[str]) -> Outcome:
    """How many rows a table has, by the fields `of`."""
    found = len({tuple(cell.fields[name] for name in of) for cell in among})
    return Outcome(found == printed.value, {"count": found})


def compared(greater: Sequence[Cell], less: Sequence[Cell], or_equal: bool = False) -> Outcome:
    """Each of some numbers above each of others; `least` and `most` are the two that come closest.

    `beyond` is how many of `greater` are not above `most`.
    """
    least = min(greater, key=lambda cell: cell.value)
    most = max(less, key=lambda cell: cell.value)
    above = 1e-6 * (-1 if or_equal else 1)
    beyond = [cell for cell in greater if cell.value <= most.value + above]
    return Outcome(not beyond, {"least": least, "most": most, "beyond": len(beyond)})


KINDS = {
    "sum": Kind(total, "{printed}", "{terms} = {value}"),
    "difference": Kind(difference, "{printed}", "{terms} = {value}"),
    "mean": Kind(mean, "{printed}", "{terms} = {value}"),
    "means": Kind(means, "{one:.2f}", "{other:.2f}"),
    "between": Kind(between, "{printed}", "{printed} lies outside {low:g} to {high:g}"),
    "ratio": Kind(ratio, "{printed}", "{of} / {to} = {value}"),
    "product": Kind(product, "{printed}", "{terms} = {value}"),
    "count": Kind(count, "{printed} %", "{counts} of {n:,}"),
    "counts": Kind(counts, "{printed} %", "{counts} of {n:,}"),
    "pooled": Kind(pooled, "{printed} %", "{count} of {n}"),
    "interval": Kind(
        interval, "[{low}, {high}]", "Wilson of {count} of {n}: [{start:.2f}, {end:.2f}]"
    ),
    "f1": Kind(f1, "{printed}", "harmonic mean of {precision} and {recall}: {value:.2f}"),
    "repeated": Kind(repeated, "{printed}", "{again}"),
    "one_of": Kind(one_of, "{printed}", "{among}"),
    "overlap": Kind(
        overlap,
        "{printed} % in both",
        "between {low:.1f} % and {high:.1f} %; {chance:.1f} % if independent",
    ),
    "rows": Kind(rows, "{printed}", "{count} rows"),
    "compared": Kind(compared, "", "{least} against {most}"),
}


# --- what several kinds, or a paper's own checks, share ------------------------------------------


def pool(parts: Sequence[Cell], n: Cell) -> tuple[int, int]:
    """The rows behind percentages of n rows each, and all rows."""
    each = int(n.value)
    return sum(round(cell.value * each / 100) for cell in parts), each * len(parts)


def _whole(parts: Sequence[Cell], n: Cell) -> bool:
    return all(counts_printed(cell.text, int(n.value)) for cell in parts)


def adding_up(percents: Sequence[str], n: int) -> list[tuple[int, ...]]:
    """The whole numbers of n rows that are printed as these percentages and add up to n."""
    candidates = [counts_printed(percent, n) for percent in percents]
    return [choice for choice in combinations(*candidates) if sum(choice) == n]


def _mean(parts: Sequence[Cell], sizes: Sequence[Real]) -> tuple[float, float]:
    """A weighted mean, and how far it may be off because its parts are rounded."""
    value, half = (
        sum(size * number for size, number in zip(sizes, numbers, strict=True)) / sum(sizes)
        for numbers in ([part.value for part in parts], [part.half for part in parts])
    )
    return value, half


def _constants(values: Sequence[Real]) -> list[Cell]:
    return [Cell(f"{value:g}") for value in values]


def _plain(cell: Cell) -> str:
    """A number as it stands in a sum: no plus sign, a true minus, thousands apart."""
    text = f"{cell.value:,.0f}" if cell.count and cell.value >= 1000 else cell.text
    return text.lstrip("+").replace("-", "−")


def _times(factor: float) -> str:
    return {1.0: "", -1.0: "−"}.get(factor, f"{factor:g} × ")


def _either(counts: Sequence[int]) -> str:
    return " or ".join(map("{:,}".format, counts))


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first + second else 0.0
