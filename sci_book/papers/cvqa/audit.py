"""Kinds of check that are this paper's alone (`data_manifests/audits/cvqa.yaml`).

What only the public file can tell (the words of the questions, the answers' shares) is not here;
the tests of the file have it.
"""

from collections.abc import Sequence
from itertools import product
from math import sqrt
from operator import add, mul, sub

from scipy.stats import binomtest

from sci_book.audit.kinds import Outcome
from sci_book.audit.printed import Cell, sizes_behind
from sci_book.results.statistics import beyond_chance

Cells = Sequence[Cell]
LARGEST = 200  # rows of a type that are tried for Table 5
_OPERATIONS = {"+": add, "-": sub, "*": mul}


def tenth(printed: Cells, n: Cell, percent: Cell) -> Outcome:
    """Whether these percentages can be of that part of n rows.

    Such a part drawn at random holds about its part of each type, and not just that many, so sizes
    that are none of their type tell nothing by themselves.
    """
    part, sizes = n.value * percent.value / 100, _sizes(printed)
    near = any(abs(size - part) < 1 for size in sizes)
    values = {"part": part, "sizes": ", ".join(map(str, sizes)), "most": LARGEST}
    return Outcome(True if near else None if sizes else False, values)


def tenths(printed: Cells, sizes: Cells, percent: Cell) -> Outcome:
    """Whether types whose percentages are printed can be that part of all rows together."""
    total = int(sum(cell.value for cell in sizes))
    drawn = total * percent.value / 100
    fitting = {
        n.fields["id"]: _sizes([c for c in printed if c.fields["type"] == n.fields["id"]])
        for n in sizes
    }
    closest = min(map(sum, product(*fitting.values())), key=lambda n: abs(n - drawn))
    exact = [
        cell.fields["id"] for cell in sizes
        if tenth([c for c in printed if c.fields["type"] == cell.fields["id"]], cell, percent).fits
    ]  # fmt: skip
    share = 100 * closest / total
    values = {"total": total, "drawn": drawn, "closest": closest, "share": share}
    among = ", ".join(exact) or "no type"
    return Outcome(round(share) == percent.value, {**values, "among": among})


def random_level(at: Cells, worse: Cells, chance: Cell, n: Cell) -> Outcome:
    """Numbers said to be at chance or worse: exact tests, beyond chance among them all."""
    share, rows = chance.value / 100, int(n.value)
    other = []
    for cell, said in [*((c, "not told apart") for c in at), *((c, "below") for c in worse)]:
        test = binomtest(round(cell.value * rows / 100), rows, share)
        apart = beyond_chance(float(test.pvalue), len(at) + len(worse))
        word = ("above" if test.statistic > share else "below") if apart else "not told apart"
        if word != said:
            other.append(f"{cell.fields['model']}, {cell.fields['metric']}: {word}")
    values = {"count": len(at) + len(worse), "n": rows, "other": "; ".join(other) or "none"}
    return Outcome(not other, values)


def gains_nothing(printed: Cells, before: Cells, sizes: Cells) -> Outcome:
    """The largest of several gains against the noise of a paired difference of n rows.

    Such a difference is −1, 0 or 1 on every row, so its standard error is at most 1/√n.
    """
    rows = {cell.fields["id"]: cell.value for cell in sizes}
    gains = [(one.value - two.value, one) for one, two in zip(printed, before, strict=True)]
    gain, best = max(gains, key=lambda pair: pair[0])
    noise = 196 / sqrt(rows[best.fields["type"]])
    return Outcome(gain < noise, {"gain": gain, "best": best, "noise": noise})


def same_on_both_sides(printed: Cell, originals: Cells, counterfactuals: Cells) -> Outcome:
    """The models that have this number on either side: one."""
    pairs = zip(originals, counterfactuals, strict=True)
    same = [a.fields["model"] for a, b in pairs if a.value == b.value == printed.value]
    return Outcome(len(same) == 1, {"models": ", ".join(same) or "no model has these"})


def always_no(printed: Cell, among: Cells) -> Outcome:
    """Who is right less often than one who always says no; how often these say no, none prints."""
    under = [cell.fields["model"] for cell in among if cell.value < printed.value]
    values = {"under": len(under), "n": len(among), "models": ", ".join(under) or "none"}
    return Outcome(None, values)


def its_own_sum(printed: Cell, sum: Cell) -> Outcome:
    """Whether an example's sum such as "2-1+2=3", from left to right, is its new answer."""
    total, stated = sum.text.split("=")
    return Outcome(str(calculate(total)) == stated == printed.text, {})


def different_words(printed: Cell, questions: Cell, words: Cell) -> Outcome:
    """How many different words a type-token ratio means; only the public file tells if so many."""
    total = questions.value * words.value
    return Outcome(None, {"different": printed.value * total, "words": total})


def kinds_of_words(printed: Cell, verbs: Cells, nouns: Cells) -> Outcome:
    """Whether verbs and nouns can be so large a part of all words.

    Each has two ratios: its types over its own tokens, and its types over what is called "total #
    types". A ratio of types to types would make verbs and nouns together a small part of the
    vocabulary, so that the second is read as types over all tokens, as the type-token ratio is.
    """
    shares = {
        name: (100 * over_all.value / printed.value, 100 * over_all.value / over_own.value)
        for name, (over_own, over_all) in (("verb", verbs), ("noun", nouns))
    }
    types, tokens = (sum(values) for values in zip(*shares.values(), strict=True))
    what = " and ".join(
        f"{name}s are {of_types:.1f} % of the types and {of_tokens:.1f} % of the tokens"
        for name, (of_types, of_tokens) in shares.items()
    )
    return Outcome(types <= 100 and tokens <= 100, {"what": what})


def calculate(text: str) -> int:
    """A sum such as "2-1+2", from left to right."""
    parts = text.replace("+", " + ").replace("-", " - ").replace("*", " * ").split()
    value = int(parts[0])
    for operation, operand in zip(parts[1::2], parts[2::2], strict=True):
        value = _OPERATIONS[operation](value, int(operand))
    return value


def _sizes(printed: Cells) -> list[int]:
    return sizes_behind([cell.text for cell in printed], range(1, LARGEST + 1))


OWN = {
    check.__name__: check
    for check in (
        tenth, tenths, random_level, gains_nothing, same_on_both_sides, always_no, its_own_sum,
        different_words, kinds_of_words,
    )
}  # fmt: skip
