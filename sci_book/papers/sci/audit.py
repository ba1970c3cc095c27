"""What the audit of this paper asks that no other's does (`data_manifests/audits/sci.yaml`).

What it says of methods in words, its numbers in two tables, a size by search, and the reading of
"for all" that its tables fit; counts and regions are beside this file.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from sci_book.audit.findings import Finding, Findings, Mark, agreement
from sci_book.audit.kinds import Outcome
from sci_book.audit.printed import Cell, PrintedTables, counts_printed
from sci_book.papers.sci.audit_counts import count_findings, fits, mean_findings, title
from sci_book.papers.sci.audit_regions import gain_findings, region_findings
from sci_book.papers.shared.tables import number
from sci_book.results.drbench import construct

Cells = Sequence[Cell]
ROUNDS = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
LONGEST = 1_000  # a size searched for is shorter than this
EXACT = 1e-6  # printed decimals differ by more, or not at all
TWICE = "Another table prints another number for the same quantity."
# A table that leaves a setting out means the preset's.
PRESET = {"constraint": "yes", "tau1": "2.0", "tau2": "0.2"}
OF_A_QUANTITY = (
    "model", "method", "subset", "split", "dataset", "construction_model", "rounds", "constraint",
    "batched", "tau1", "tau2", "question_type", "metric",
)  # fmt: skip


def own(tolerance: float) -> dict[str, Callable[..., Any]]:
    """The paper's own checks, by name; a share may exceed what is printed by `tolerance` points."""
    found = {
        "counts": partial(count_findings, tolerance=tolerance),
        "means": mean_findings,
        "repeats": repeat_findings,
        "regions": partial(region_findings, tolerance=tolerance),
        "gains": partial(gain_findings, tolerance=tolerance),
        "smallest_size": partial(smallest_size, tolerance=tolerance),
    }
    kinds = (
        difference_somewhere, apart, types_and_sets, steadier, change_above, added_rounds,
        never_right, as_the_base, inside_b, outside_s, growth,
    )  # fmt: skip
    return {**found, **{kind.__name__: kind for kind in kinds}}


# --- sentences -----------------------------------------------------------------------------------


def difference_somewhere(
    printed: Cell, of: Cell, less: Cell, others: Cells, less_others: Cells
) -> Outcome:
    """A difference of two models; where it is another, the methods and types that have it."""
    what = f"{of} − {less} = {number(of.value - less.value)}"
    if abs(of.value - less.value - printed.value) < EXACT:
        return Outcome(True, {"what": what})
    instead = [
        f"{one.fields['method']}, {one.fields['question_type']}: {one} − {two}"
        for one, two in zip(others, less_others, strict=True)
        if one.fields["dataset"] == "all" and abs(one.value - two.value - printed.value) < EXACT
    ]
    what += f"; it is the difference of {', '.join(instead)}" if instead else ""
    return Outcome(False, {"what": what})


def apart(one: Cells, two: Cells) -> Outcome:
    """How far two models are apart; a sentence that names no margin cannot be told."""
    gaps = [
        f"{a.fields['method']} {number(abs(a.value - b.value))}"
        for a, b in zip(one, two, strict=True)
    ]
    return Outcome(None, {"apart": ", ".join(gaps)})


def types_and_sets(types: Cells, of_types: Cells, sets: Cells, of_sets: Cells) -> Outcome:
    """Whether a method is above another in all question types; its data sets are shown."""
    in_types, exceptions = _above(types, of_types)
    return Outcome(not exceptions, {"types": in_types, "sets": _above(sets, of_sets)[0]})


def steadier(first: Cells, others: Cells, base: Cells) -> Outcome:
    """Whether a method is above the base in more columns than any other."""
    columns = {_column(cell): cell.value for cell in base}
    counts: dict[str, int] = {}
    for cell in (*first, *others):
        method = cell.fields["method"]
        counts[method] = counts.get(method, 0) + (cell.value > columns[_column(cell)])
    own, *rest = counts.values()
    text = ", ".join(f"{method} {count}" for method, count in counts.items())
    return Outcome(own > max(rest), {"counts": text})


def change_above(of: Cell, less: Cell, than_of: Cell, than_less: Cell) -> Outcome:
    """A change that is larger than another."""
    change, other = of.value - less.value, than_of.value - than_less.value
    return Outcome(change > other + EXACT, {"change": change, "other": other})


def added_rounds(among: Cells) -> Outcome:
    """Whether some combination of rounds is above each that it holds; the exceptions."""
    value = {frozenset(cell.fields["rounds"].split()): cell for cell in among}
    value = {rounds: cell for rounds, cell in value.items() if "original" in rounds}
    pairs = [(more, few) for more, few in product(value, repeat=2) if few < more]
    wrong = [
        f"{_rounds_of(more)} and {_rounds_of(few)}: {value[more]} against {value[few]}"
        for more, few in pairs
        if value[more].value <= value[few].value + EXACT
    ]
    what = f"true of {len(pairs) - len(wrong)} of {len(pairs)} comparisons"
    what += f"; not of {'; '.join(wrong)}" if wrong else ""
    return Outcome(len(wrong) < len(pairs), {"what": what})


def _above(first: Cells, second: Cells) -> tuple[str, int]:
    """How often the first of each pair is above the second, in words, and how often not."""
    other = {_column(cell): cell for cell in second}
    wrong = [cell for cell in first if cell.value <= other[_column(cell)].value + EXACT]
    text = f"true of {len(first) - len(wrong)} of {len(first)} comparisons"
    names = [f"{', '.join(_column(c)[:2])}: {c} against {other[_column(c)]}" for c in wrong]
    return text + (f"; not of {'; '.join(names)}" if wrong else ""), len(wrong)


def _column(cell: Cell) -> tuple[str, str, str]:
    fields = cell.fields
    return fields["model"], fields["dataset"], fields["question_type"]


def _rounds_of(rounds: frozenset[str]) -> str:
    return "+".join(sorted(rounds, key=ROUNDS.index))


# --- numbers in two tables -----------------------------------------------------------------------


def repeat_findings(printed: PrintedTables) -> Findings:
    """Every quantity that a search finds in two tables, compared; a line a pair of tables."""
    places: dict[tuple[str, ...], dict[str, dict]] = {}
    for name, frame in printed.tables.items():
        for line in frame.to_dict("records"):
            places.setdefault(_quantity(line), {})[name] = line
    pairs: dict[tuple[str, str], list] = {}
    for quantity, lines in places.items():
        for one, two in combinations(sorted(lines), 2):
            pairs.setdefault((one, two), []).append((quantity, lines[one], lines[two]))
    findings = {}
    for (one, two), shared in sorted(pairs.items()):
        differing = [case for case in shared if float(case[1]["value"]) != float(case[2]["value"])]
        texts = [
            f"{' '.join(filter(None, quantity))}: {a['value']} and {b['value']}"
            for quantity, a, b in differing
        ]
        findings[f"{title(one)} and {title(two)}"] = Finding(
            f"{title(one)}; {title(two)}",
            f"{len(shared)} numbers in both",
            "; ".join(texts) or "all the same",
            agreement(not differing),
            [
                Mark(line["table"], {k: v for k, v in line.items() if k != "value"}, TWICE)
                for _, *both in differing
                for line in both
            ],
        )
    return findings


def _quantity(line: Mapping[str, str]) -> tuple[str, ...]:
    """What a printed number is of, the same wherever it stands."""
    fields = {field: line.get(field, "") for field in OF_A_QUANTITY}
    if fields["construction_model"] == fields["model"]:
        fields["construction_model"] = ""
    if fields["dataset"] == "all":
        fields["dataset"] = ""
    if fields["method"] != "SCI":  # a method's name settles its rounds
        fields["rounds"] = ""
    for field, preset in PRESET.items():
        fields[field] = "" if fields[field] == preset else fields[field]
    return tuple(fields.values())


# --- sizes ---------------------------------------------------------------------------------------


def smallest_size(printed: Cells, published: Cells, tolerance: float) -> Outcome:
    """The smallest size of which every number is a count, against a published one.

    With a size its multiples fit as well.
    """
    known = int(sum(cell.value for cell in published))
    values = [cell.value for cell in printed]
    fitting = (n for n in range(1, LONGEST) if all(fits(v, n, tolerance) for v in values))
    found = next(fitting, None)
    return Outcome(found == known, {"found": found or "none", "known": known})


# --- which "for all" -----------------------------------------------------------------------------
#
# Under greedy decoding each consequence of a reading is exact. So it is asked of models whose base
# is never right on B, as the definition has it; one that samples answers anew tells nothing.


def never_right(printed: Cell, n: Cell) -> Outcome:
    """A base that has no right answer on B, by the definition of B."""
    right = _right(printed, n)
    again = ": the base was asked again and sampled (section 4.4, Q1)" if right else ""
    return Outcome(right == 0, {"right": right, "again": again})


def as_the_base(printed: Cells, n: Cell, base: Cell) -> Outcome:
    """Inputs that ∀ leaves no right answer on B: each would answer as the base."""
    counts = {cell.fields["method"]: _right(cell, n) for cell in printed}
    shares = ", ".join(f"{cell.fields['method']} {cell} %" for cell in printed)
    wrong = [cell for cell, count in zip(printed, counts.values(), strict=True) if count]
    values = {"listed": _listed(counts), "shares": shares, "right": wrong}
    return Outcome(None if base.value else not wrong, values)


def inside_b(on_bs: Cells, n_bs: Cell, on_s: Cells, n_s: Cell, base: Cell) -> Outcome:
    """Right answers on B∖S, where under ∃ rewordings answer as the base."""
    right = {
        both.fields["method"]: _right(both, n_bs) - _right(one, n_s)
        for both, one in zip(on_bs, on_s, strict=True)
    }
    fits = None if base.value else not any(right.values())
    return Outcome(fits, {"listed": _listed(right)})


def outside_s(on_s: Cells, n: Cell, everywhere: Cells, sizes: Cells, base: Cell) -> Outcome:
    """Under ∃ nothing changes outside S, so all rows change as much as S does.

    Args:
        on_s: the base, then rewordings; `everywhere` has the same in every data set.
        sizes: of the data sets, in their order.
    """
    first, *others = [_right(cell, n) for cell in on_s]
    names = [cell.fields["method"] for cell in on_s]
    inside = {name: first - right for name, right in zip(names[1:], others, strict=True)}
    totals = {}
    for name in names:
        cells = [cell for cell in everywhere if cell.fields["method"] == name]
        if all(
            counts_printed(c.text, int(size.value)) for c, size in zip(cells, sizes, strict=True)
        ):
            totals[name] = sum(_right(c, size) for c, size in zip(cells, sizes, strict=True))
    lacking = [name for name in names if name not in totals]
    said = {"inside": _listed(inside)}
    if lacking:
        return Outcome(None, {**said, "what": f"Table 10's {' and '.join(lacking)} fit no counts"})
    fewer = {name: totals[names[0]] - totals[name] for name in names[1:]}
    what = f"on all rows: {_listed(fewer)}; ∃ wants the same as on S"
    return Outcome(None if base.value else inside == fewer, {**said, "what": what})


def growth(quantifier: Literal["any", "all"]) -> Outcome:
    """Whether a second dummy or rewording can only add rows, over every pattern of answers."""
    patterns = np.array(list(product([False, True], repeat=5))).T
    visual, textual, wrong = patterns[:2], patterns[2:4], patterns[4]
    few = construct(visual[:1], textual[:1], wrong, quantifier)[["B", "S", "BS"]]
    many = construct(visual, textual, wrong, quantifier)[["B", "S", "BS"]]
    lost, won = int((few & ~many).sum().sum()), int((~few & many).sum().sum())
    return Outcome(bool(won and not lost), {"n": wrong.size, "won": won, "lost": lost})


def _right(cell: Cell, n: Cell) -> int:
    """The right answers behind an accuracy of under 10,000 rows."""
    return round(cell.value * n.value / 100)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number(count, 0)}" for name, count in counts.items())


OWN = own(0.01)
